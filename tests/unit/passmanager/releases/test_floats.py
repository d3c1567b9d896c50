"""Floats of older releases of xDSL: bf16, as the newest one packs it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import table_test
from xdsl.dialects.builtin import BFloat16Type

from passline.passmanager.releases import floats

BF16 = BFloat16Type()
MAX = 2.0**127 * (2 - 2**-7)


@pytest.fixture(autouse=True)
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the module do what xDSL does since 0.73."""
    monkeypatch.setattr(floats, "_ROUNDS_BF16", False)


@table_test(
    ("value", "nearest"),
    [
        (1.0, 1.0),
        (1 + 2**-8, 1.0),  # a tie goes to the even one
        (1 + 3 * 2**-8, 1 + 2**-6),
        (1 + 2**-8 + 2**-40, 1 + 2**-7),
        (-(1 + 2**-8 + 2**-40), -(1 + 2**-7)),
        (MAX, MAX),
        (MAX + 2.0**118, MAX),
        (MAX + 2.0**119, math.inf),
        (-1e300, -math.inf),
        (2.0**-133, 2.0**-133),  # the least denormal
        (2.0**-134, 0.0),
        (1.5 * 2.0**-133, 2.0**-132),
        (math.inf, math.inf),
    ],
)
def test_a_number_is_rounded_once(value: float, nearest: float) -> None:
    assert floats.rounded(value, BF16) == nearest


def test_signs_of_zero_and_nan_are_kept() -> None:
    assert math.copysign(1, floats.rounded(-0.0, BF16)) == -1
    assert math.copysign(1, floats.rounded(-(2.0**-140), BF16)) == -1
    assert math.isnan(floats.rounded(math.nan, BF16))


@given(st.integers(0, 0xFFFF))
def test_a_number_of_the_type_stays(bits: int) -> None:
    data = bits.to_bytes(2, "little")
    (value,) = floats.unpack(BF16, data, 1)
    if not math.isnan(value):
        assert floats.pack(BF16, [value]) == data and floats.rounded(value, BF16) == value
