# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
"""Floats of 4 and 8 bits, beside ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from support.releases import needs_xdsl
from support.tables import table_test

from passline.compiler.interpreters.arrays import codes_of, largest_of, numbers_of, round_small
from passline.dialects.relax.types import SmallFloat
from passline.passmanager.releases.floats import (
    NARROW_FLOATS,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
)

pytestmark = needs_xdsl("0.67", "floats of at most 8 bits")
_ALL: list[tuple[type[SmallFloat], str]] = [
    (Float4E2M1FNType, "float4_e2m1fn"),
    (Float8E4M3FNType, "float8_e4m3fn"),
    (Float8E4M3FNUZType, "float8_e4m3fnuz"),
    (Float8E5M2Type, "float8_e5m2"),
    (Float8E5M2FNUZType, "float8_e5m2fnuz"),
    (Float8E8M0FNUType, "float8_e8m0fnu"),
]
TYPES = [(cls(), name) for cls, name in _ALL if NARROW_FLOATS]


@table_test("element, name", TYPES)
def test_numbers_of_codes(element: SmallFloat, name: str):
    codes = np.arange(1 << element.bitwidth).astype(np.uint8)
    expected = codes.view(getattr(ml_dtypes, name)).astype(np.float32)
    np.testing.assert_array_equal(numbers_of(codes, element), expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(codes_of(expected[known], element), codes[known])


@table_test("element, name", TYPES)
def test_rounding(element: SmallFloat, name: str):
    random = np.random.default_rng(0)
    numbers = numbers_of(np.arange(1 << element.bitwidth).astype(np.uint8), element)
    finite = np.sort(numbers[np.isfinite(numbers)]).astype(np.float64)
    middles = (finite[1:] + finite[:-1]) / 2
    spread = random.standard_normal(2000) * 10.0 ** random.integers(-36, 38, 2000)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, *(largest_of(element) * f for f in (1.03, 1.07))]
    x = np.concatenate([finite, middles, spread, special]).astype(np.float32)
    x = x[~((abs(x) < 2.0**-126) & (x != 0))]  # ml_dtypes rounds denormals of f32 up
    if name == "float8_e8m0fnu":  # 0 is the least number here, NaN there
        np.testing.assert_array_equal(round_small(np.zeros(2), element), [2.0**-127] * 2)
        x = x[x != 0]
    with np.errstate(all="ignore"):
        expected = x.astype(getattr(ml_dtypes, name)).astype(np.float32)
    actual = round_small(x, element)
    np.testing.assert_array_equal(actual, expected)
    numeric = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[numeric], np.signbit(expected)[numeric])
