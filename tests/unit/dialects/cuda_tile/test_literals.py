"""The literals of constants: the numbers that they are, and their text."""

from __future__ import annotations

import math

import pytest
from support.releases import needs_xdsl
from xdsl.utils.exceptions import ParseError

from passline.dialects.cuda_tile.shape_ops import ConstantOp
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context


def read(text: str) -> ConstantOp:
    module = parse_module(make_ir_context(), f"%0 = cuda_tile.constant {text}", "test")
    assert isinstance(op := module.body.block.first_op, ConstantOp)
    return op


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("<i32: 0x80000000> : tile<i32>", (-(2**31),)),
        ("<i8: 255> : tile<i8>", (-1,)),
        ("<i8: [[1, 2], [3, 4]]> : tile<2x2xi8>", (1, 2, 3, 4)),
        ("<i1: [true, false, 1, 0]> : tile<4xi1>", (1, 0, 1, 0)),
        ("<f32: 0x3F800000> : tile<f32>", (1.0,)),
        ("<f32: [-0.5, 2.0e3]> : tile<2xf32>", (-0.5, 2000.0)),
        ("<f16: -70000.0> : tile<f16>", (-math.inf,)),
        ("<f64: 0x7FF0000000000000> : tile<f64>", (math.inf,)),
    ],
)
def test_values(text: str, values: tuple[float, ...]) -> None:
    found = read(text).value.get_values()
    assert (tuple(map(bool, found)) if "i1:" in text else found) == values


@needs_xdsl("0.71", "floats of 8 bits")
def test_floats_of_8_bits() -> None:
    assert read("<f8E4M3FN: [1.5, 0x40]> : tile<2xf8E4M3FN>").value.get_values() == (1.5, 2.0)


@pytest.mark.parametrize(
    "text",
    [
        "<f16: 3.140630e+00> : tile<f16>",  # 3.140625, a tie
        "<f16: [-0.000000e+00, 6.103520e-05]> : tile<2xf16>",
        "<f32: [1.000000e-01, 1.00000012]> : tile<2xf32>",
        "<f64: 1.2345678> : tile<f64>",
    ],
)
def test_printed_as_mlir_prints(text: str) -> None:
    assert f"constant {text}" in str(read(text))


@pytest.mark.parametrize(
    "text",
    [
        "<i8: 256> : tile<i8>",
        "<i8: -129> : tile<i8>",
        "<i32: true> : tile<i32>",
        "<f32: 0x100000000> : tile<f32>",
        "<i4: 1> : tile<i4>",
        "<i32: []> : tile<i32>",
        "<i32: [1]> : tile<i32>",
        "<i32: 1> : ptr<i32>",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(ParseError):
        read(text)
