"""Kernels of normalizations compute what the operations do."""

from __future__ import annotations

import numpy as np
import pytest
from evaluation import Array, constant
from legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64

from passline.dialects.relax import normalization as ops
from passline.dialects.relax.types import Element

FLOATS = [(f16, 2e-3), (bf16, 2e-2), (f32, 1e-6), (f64, 1e-14)]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(0, 3, shape)


@pytest.mark.parametrize(("element", "close"), FLOATS, ids=str)
@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0, 2.5])
@pytest.mark.parametrize("size", [1, 2, 5, 9])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_lrn(axis: int, size: int, beta: float, element: Element, close: float):
    x = constant(numbers(2, 4, 3), element)
    check_kernel(ops.LRNOp(x, size=size, axis=axis, alpha=0.3, beta=beta, bias=1.5), close)
