"""Numbers that are too large for their type, or for Python, have a place in the text."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.releases import needs_xdsl
from support.tables import table_test
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    f80,
    f128,
    i8,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from passline.passmanager.fast.reading.locating_parser import LocatingParser
from passline.passmanager.ir.text.float_bits import bits_of, value_of
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context
from passline.passmanager.releases.floats import PACKS_BF16

MANY = "9" * 6000
HAS_BF16 = needs_xdsl("0.64", "dense constants of bf16")


def dense(type: IntegerType | AnyFloat, values: Sequence[float]) -> DenseIntOrFPElementsAttr:
    """Return a constant with one dimension."""
    data = type.pack([*values])  # pyright: ignore[reportArgumentType]
    return DenseIntOrFPElementsAttr(TensorType(type, [len(values)]), BytesAttr(data))


TOO_MANY = "a number of 6000 digits: at most 4300 are supported"


@table_test(
    ("line", "wrong", "message"),
    [
        ("%0 = arith.constant 300 : i8", "300", "300 is out of range for type i8"),
        ("%0 = arith.constant -1 : ui8", "-1", "-1 is out of range for type ui8"),
        ('"x.y"() {a = [1 : i32, 70000 : i16]} : () -> ()', "70000", "out of range for type i16"),
        ('"x.y"() {a = 99999999999999999999} : () -> ()', "99999999999999999999", "type i64"),
        ("%0 = arith.constant dense<[1, 300]> : tensor<2xi8>", "300", "300 is out of range"),
        ("%0 = arith.constant dense<[[1], [-129]]> : tensor<2x1xi8>", "-129", "-129 is out of"),
        ("%0 = arith.constant dense<300> : tensor<2xi8>", "300", "300 is out of range"),
        (f"%0 = arith.constant dense<{1 << 63}> : tensor<2xindex>", f"{1 << 63}", "64 bits"),
        ('"x.y"() {a = dense<(1, 300)> : tensor<1xcomplex<i8>>} : () -> ()', "(1, 300)", "300 is"),
        ('"x.y"() {a = dense<(1.5, 2.5)> : tensor<1xcomplex<i8>>} : () -> ()', "(1.5", "integer"),
        ('"x.y"() {a = dense<1> : tensor<1xcomplex<i8>>} : () -> ()', "1>", "of complex<i8>"),
        ('"x.y"() {a = array<i8: 1, 300>} : () -> ()', "300", "300 is out of range"),
        ('"x.y"() {a = array<i65: 1>} : () -> ()', "i65", "integers of up to 64 bits"),
        ('"x.y"() {a = array<f32: 1.0e39>} : () -> ()', "1.0e39", "too large for f32"),
        ("%0 = arith.constant 1.0e39 : f32", "1.0e39", "the number is too large for f32"),
        ("%0 = arith.constant 1.0e400 : f64", "1.0e400", "the number is too large for f64"),
        ("%0 = arith.constant -70000.0 : f16", "-70000.0", "the number is too large for f16"),
        ("%0 = arith.constant 0x123456789 : f32", "0x1", "0x123456789 are not the bits of a"),
        ("%0 = arith.constant -0x1 : f32", "-0x1", "the bits of a float have no sign"),
        ("%0 = arith.constant 0x3FFF8000000000000001 : f80", "0x3F", "are not the bits of a"),
        ("%0 = relax.constant dense<[1.0, 1.0e39]> : tensor<2xf32>", "1.0e39", "too large for f32"),
        pytest.param(
            "%0 = relax.constant dense<[1.0, 1.0e39]> : tensor<2xbf16>",
            "1.0e39",
            "large for bf16",
            marks=HAS_BF16,
        ),
        ("%0 = relax.constant dense<1.0e400> : tensor<2xf64>", "1.0e400", "too large for f64"),
        pytest.param(
            "%0 = relax.constant dense<[0x7F80, 0x1FFFF]> : tensor<2xbf16>",
            "0x1F",
            "not the bits",
            marks=HAS_BF16,
        ),
        ("%0 = relax.constant dense<1.0> : tensor<2xf80>", "tensor", "constants of f80 are not"),
        ("%0 = relax.constant dense<1> : tensor<2xi65>", "tensor", "constants of i65 are not"),
        ("%0 = relax.full 300 : tensor<2xi8>", "300", "not an element of tensor<2xi8>"),
        ("%0 = arith.constant 1 : i99999999", "i99999999", "integers have at most 16777215 bits"),
        ('%0 = "x.y"() : () -> tensor<-5xi32>', "-5", "Expected shape type"),
        ('"x.y"() {a = @"\\FF"} : () -> ()', "@", "the name of a symbol is not UTF-8"),
        (f"%0 = arith.constant {MANY} : i32", MANY, TOO_MANY),
        (f"%0 = arith.constant {MANY}.0 : f32", MANY, "the number is too large for f32"),
        (f"%0 = relax.constant dense<[1, {MANY}]> : tensor<2xi32>", MANY, TOO_MANY),
        (f'%0 = "x.y"() : () -> tensor<{MANY}xi32>', MANY, TOO_MANY),
        (f'%0 = "x.y"() : () -> i{MANY}', f"i{MANY}", "integers have at most 16777215 bits"),
        (f'"x.y"() {{a = affine_map<(d0) -> (d0 + {MANY})>}} : () -> ()', MANY, TOO_MANY),
        (f'"x.y"() {{a = strided<[{MANY}]>}} : () -> ()', MANY, TOO_MANY),
        (f'"x.y"() : () -> () loc("f":{MANY}:1)', MANY, TOO_MANY),
        (f'%0:{MANY} = "x.y"() : () -> i32', MANY, TOO_MANY),
    ],
)
def test_the_place_of_a_number_that_does_not_fit(line: str, wrong: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_module(make_ir_context(allow_unregistered=True), f"\n{line}\n", "a.mlir")
    assert message in caught.value.msg
    assert caught.value.span.start == 1 + line.index(wrong)


@table_test(
    ("text", "value"),
    [
        ("255 : i8", IntegerAttr(-1, 8)),
        ("-128 : i8", IntegerAttr(-128, 8)),
        ("255 : ui8", IntegerAttr(255, IntegerType(8, Signedness.UNSIGNED))),
        ("3.4028234663852886e38 : f32", FloatAttr(3.4028234663852886e38, f32)),
        ("0x7F800000 : f32", FloatAttr(math.inf, f32)),
        ("dense<[255, -128]> : tensor<2xi8>", dense(i8, [-1, -128])),
        *(
            [("dense<[1.0, 0x7F80]> : tensor<2xbf16>", dense(bf16, [1.0, math.inf]))]
            if PACKS_BF16
            else []
        ),
    ],
)
def test_numbers_at_the_ends_of_their_range(text: str, value: Attribute) -> None:
    assert LocatingParser(make_ir_context(), text, "a.mlir").parse_attribute() == value


@table_test("type", [f16, f32, f64, f80, f128])
@table_test("value", [0.0, -0.0, 1.0, -1.5, 6.0e-8, 65504.0, math.inf, -math.inf])
def test_bits_are_those_of_the_number(value: float, type: AnyFloat) -> None:
    bits, width = bits_of(value, type)
    again = value_of(bits, type)
    assert width == type.bitwidth and again is not None
    expected = FloatAttr(value, type).value.data
    assert (again, math.copysign(1, again)) == (expected, math.copysign(1, expected))


@given(st.floats(allow_nan=False))
def test_f128_and_f80_hold_all_of_f64(value: float) -> None:
    for type in (f80, f128):
        assert value_of(bits_of(value, type)[0], type) == value


@table_test(
    ("value", "type", "bits"),
    [  # as mlir-opt prints and reads them
        (math.nan, f80, 0x7FFFC000000000000000),
        (-math.inf, f80, 0xFFFF8000000000000000),
        (1.0, f80, 0x3FFF8000000000000000),
        (math.nan, f128, 0x7FFF8000000000000000000000000000),
        (1e300, f128, 0x43E37E43C8800759C000000000000000),
        (5e-324, f128, 0x3BCD0000000000000000000000000000),
    ],
)
def test_known_bits(value: float, type: AnyFloat, bits: int) -> None:
    assert bits_of(value, type) == (bits, type.bitwidth)


def test_bits_that_are_no_number_of_python() -> None:
    assert value_of(1, f128) is None
    assert value_of(1 << 128, f128) is None
    assert value_of(1 << 16, f16) is None
