"""The semantics of selection, clipping and conversion, with Python numbers as the oracle."""

from __future__ import annotations

import math
import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import constant, i4, run, ui8
from support.tables import table_test
from xdsl.dialects.builtin import (
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)

from passline.dialects.relax.elementwise.elementwise import AstypeOp, ClipOp, ReinterpretOp, WhereOp
from passline.dialects.relax.types import Element
from passline.passmanager.releases.floats import pack, unpack

ui1 = IntegerType(1, Signedness.UNSIGNED)
si1 = IntegerType(1, Signedness.SIGNED)
ui16, ui64 = IntegerType(16, Signedness.UNSIGNED), IntegerType(64, Signedness.UNSIGNED)

INTEGERS: list[Element] = [i1, ui1, si1, i4, i8, ui8, i16, i32, i64, ui64]
ALL: list[Element] = [f16, bf16, f32, f64, *INTEGERS]


def limits(type: Element) -> tuple[int, int]:
    assert isinstance(type, IntegerType)
    if type == i1 or type.signedness.data is Signedness.UNSIGNED:
        return 0, 2**type.bitwidth - 1
    return -(2 ** (type.bitwidth - 1)), 2 ** (type.bitwidth - 1) - 1


# where


def test_where_broadcasts():
    condition = constant([[True], [False]], i1)
    x, y = constant([1.0, math.nan, 3.0], f32), constant(0.0, f32)
    expected = np.array([[1, math.nan, 3], [0, 0, 0]], np.float32)
    np.testing.assert_array_equal(run(WhereOp(condition, x, y)), expected, strict=True)


def test_where_keeps_the_element_type():
    for element in ALL:
        x, y = constant([1, 1], element), constant([0, 0], element)
        chosen = run(WhereOp(constant([False, True], i1), x, y))
        expected = np.array([run(y)[0], run(x)[1]])
        np.testing.assert_array_equal(chosen, expected, strict=True)


# clip


def test_clip():
    for element in [f16, bf16, f32, f64, i8, i32, i64]:
        x = constant([-5, 0, 1, 5, 100], element)
        assert run(ClipOp(x, min=0, max=6)).tolist() == [0, 0, 1, 5, 6]
        assert run(ClipOp(x, min=-math.inf, max=math.inf)).tolist() == [-5, 0, 1, 5, 100]


def test_clip_bounds():
    x = constant([-5, 0, 5], i8)
    assert run(ClipOp(x, min=-1.5, max=2.5)).tolist() == [-1, 0, 2]
    assert run(ClipOp(x, min=4, max=1)).tolist() == [1, 1, 1]
    assert run(ClipOp(x, min=-1000, max=1e30)).tolist() == [-5, 0, 5]
    top = constant([2**63 - 1, -(2**63)], i64)
    assert run(ClipOp(top, min=-1e19, max=1e19)).tolist() == [2**63 - 1, -(2**63)]
    assert run(ClipOp(constant([3, 200], ui8), min=-1, max=300)).tolist() == [3, 200]
    truth = constant([False, True], i1)
    assert run(ClipOp(truth, min=-1, max=0)).tolist() == [False, False]
    assert run(ClipOp(truth, min=-1, max=2)).tolist() == [False, True]
    nan = run(ClipOp(constant([math.nan, math.inf], f32), min=0, max=1e300))
    assert math.isnan(nan[0]) and nan[1] == math.inf


# astype


def convert(value: float, source: Element, target: Element) -> float | bool:
    """Convert a number as C does, and to the nearest integer where C leaves it undefined."""
    if target in (i1, ui1):
        return value != 0
    if not isinstance(target, IntegerType):
        return round_to(value, target)
    low, high = limits(target)
    if isinstance(source, IntegerType):
        return (int(value) - low) % 2**target.bitwidth + low
    return 0 if math.isnan(value) else int(max(low, min(high, value)))


def round_to(value: float, target: Element) -> float:
    """By way of the bytes of a constant."""
    assert not isinstance(target, IntegerType)
    try:
        return unpack(target, pack(target, [value]), 1)[0]
    except (OverflowError, struct.error):
        return math.copysign(math.inf, value)


VALUES = [
    *(0.0, -0.0, 0.5, -0.5, 1.5, -1.75, 1 / 3, 1e-30, 5e-324),
    *(7.99, 8.0, -9.0, 127.5, 255.0, 256.0, -300.0, 65520.0),
    *(2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30),
    *(math.inf, -math.inf, math.nan),
    *(1 + 2**-8 + 2**-40, 3 + 2**-7 - 2**-40, 2.0**-134 * (1 + 2**-30)),  # nearly ties, of bf16
]


@table_test("source", [f16, bf16, f32, f64])
def test_astype_of_floats(source: Element):
    for target in ALL:
        values = [round_to(v, source) for v in VALUES]
        result = run(AstypeOp(constant(values, source), dtype=target))
        expected = [convert(v, source, target) for v in values]
        np.testing.assert_array_equal(result, np.array(expected, result.dtype), strict=True)


@table_test("source", INTEGERS)
def test_astype_of_integers(source: Element):
    for target in ALL:
        low, high = limits(source)
        nearly_a_tie = min(high, 2**25 + 2**17 + 1)  # of bf16
        values = sorted({low, low + 1, high // 3, high - 1, high, nearly_a_tie})
        operand = constant(np.array(values, np.int64 if low else np.uint64), source)
        result = run(AstypeOp(operand, dtype=target))
        expected = [convert(v, source, target) for v in values]
        np.testing.assert_array_equal(result, np.array(expected, result.dtype), strict=True)


@given(st.floats(width=64))
def test_astype_saturates(value: float):
    for target in (i8, ui8, i4, i64, ui64):
        (result,) = run(AstypeOp(constant([value], f64), dtype=target)).tolist()
        low, high = limits(target)
        if math.isnan(value):
            assert result == 0
        else:
            assert result == (low if value <= low else high if value >= high else int(value))


# reinterpret


@table_test(
    "source, target",
    [(f32, i32), (f64, ui64), (f16, bf16), (bf16, ui16), (i16, f16), (f16, i16), (i1, si1)],
)
def test_reinterpret_keeps_the_bits(source: Element, target: Element):
    bits = np.array([0, 1, 0x7F81, 0x7C01, 0x3F80, 0xFF80, 0x8000] if source != i1 else [0, 1])
    raw = constant(bits, IntegerType(source.bitwidth))
    start = raw if source == i1 else ReinterpretOp(raw, dtype=source)
    back = ReinterpretOp(ReinterpretOp(start, dtype=target), dtype=raw.value.type.element_type)
    np.testing.assert_array_equal(run(back), run(raw), strict=True)


def test_reinterpret():
    def bits(values: list[float], source: Element, target: Element) -> list[float]:
        return run(ReinterpretOp(constant(values, source), dtype=target)).tolist()

    assert bits([1.0, -0.0], f32, i32) == [0x3F800000, -(2**31)]
    assert bits([1.0, -2.0], bf16, ui16) == [0x3F80, 0xC000]
    assert bits([0x3F80], i16, bf16) == [1.0]
    assert bits([0x3C00], i16, f16) == [1.0]
    assert bits([-1, 5], i8, ui8) == [255, 5]
    assert bits([-1, 5], i4, IntegerType(4, Signedness.UNSIGNED)) == [15, 5]
    assert bits([True, False], i1, si1) == [-1, 0]
    assert run(ReinterpretOp(constant(1.0, f32), dtype=i32)).shape == ()
