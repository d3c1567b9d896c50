"""Special values: NaN, infinities, signed zeros, denormals, the extremes of integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from support.operations.evaluation import Array
from xdsl.dialects.builtin import IntegerType

from passline.compiler.interpreters.arrays import bounds, dtype_of, fit, is_bool
from passline.dialects.relax.types import Element

__all__ = ["special_numbers"]

FLOATS = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -2.0, 3.0, 0.5, 1e-40, -6e-8, 1e-310)
"""The last three are denormal: in f32 and bf16, in f16, in f64."""


def special_numbers(element: Element, shape: Sequence[int], rng: np.random.Generator) -> Array:
    """Draw an array of special values and a few small numbers."""
    dtype = dtype_of(element)
    if is_bool(element):
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if isinstance(element, IntegerType):
        low, high = bounds(element)
        return np.asarray(rng.choice(np.array([low, high, 0, 1], dtype), shape))
    with np.errstate(all="ignore"):
        return np.asarray(fit(np.asarray(rng.choice(FLOATS, shape), dtype), element))
