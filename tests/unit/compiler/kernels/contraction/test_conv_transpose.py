"""Rows of transposed convolutions, whose sums lie by remainder of the stride."""

from __future__ import annotations

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import constant
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import f32

from passline.dialects.relax.contraction.convolution import Conv2dTransposeOp


def transposed(
    width: int, size: int, stride: int, dilation: int = 1, before: int = 1
) -> Conv2dTransposeOp:
    """Return a transposed convolution with these windows in both dimensions."""
    rng = np.random.default_rng(width)
    data = constant(rng.normal(0, 2, (1, 2, 3, width)), f32)
    weight = constant(rng.normal(0, 2, (2, 3, size, size)), f32)
    padding = [before, before, 0, 0]
    return Conv2dTransposeOp(
        data, weight, strides=[stride] * 2, dilation=[dilation] * 2, padding=padding
    )


CASES = {
    "adjacent rows": (18, 3, 1),
    "each element once": (16, 2, 2),
    "windows that overlap": (20, 4, 2),
    "taps in one phase of two only": (19, 3, 2),
    "a stride that is no power of two": (17, 4, 3),
    "a stride of more than a vector": (3, 9, 8),
    "positions without a tap": (18, 2, 4),
    "dilated taps": (18, 3, 2, 2),
    "dilated taps with a stride of three": (9, 3, 3, 2),
    "one column": (1, 4, 2),
    "more padding than a stride": (18, 6, 2, 1, 3),
}


@pytest.mark.parametrize("case", CASES)
def test_rows(case: str):
    check_kernel(transposed(*CASES[case]), 1e-4, 1e-3)


@needs_native
def test_machine_code():
    check_machine_code({name: transposed(*case) for name, case in CASES.items()})
