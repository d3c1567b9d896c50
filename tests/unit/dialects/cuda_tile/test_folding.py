"""Constant folding, beside the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.tables import table_test
from support.tiles import computed_tile, entry_of
from xdsl.traits import HasFolder

from passline.compiler.interpreters.cuda_tile.tile_values import constant_array

INTEGERS = "[-128, -7, -1, 0, 1, 3, 100, 127]"
OTHERS = "[3, 2, -5, 7, -1, -3, 100, 127]"
COUNTS = "[0, 1, 2, 3, 4, 5, 6, 7]"
FLOATS = "[1.0, -2.5, 3.25, 0.1, 100.0, -0.0, 7.0, 0.333]"
DIVISORS = "[3.0, 0.7, -9.0, 0.1, 3.0, 11.0, -7.0, 1.5]"


def folded(text: str, result: str, before: str) -> tuple[Any, Any]:
    """Return what an operation is folded to, and what the interpreter computes."""
    entry = entry_of(f"() {{ {before}\n%r = {text}\nreturn }}")
    op = next(op for op in reversed(entry.body.block.ops) if op.results)
    folder = op.get_trait(HasFolder)
    assert folder is not None and (found := folder.fold(op)) is not None
    expected = computed_tile(f"{before}\n%r = {text}", result)
    constant: Any = found[0]
    return np.broadcast_to(constant_array(constant), expected.shape), expected


@table_test(
    "text",
    [
        "absi %a", "addi %a, %b", "andi %a, %b", "divi %a, %b signed", "divi %a, %b unsigned",
        "divi %a, %b signed rounding<positive_inf>", "divi %a, %b unsigned rounding<positive_inf>",
        "divi %a, %b signed rounding<negative_inf>", "maxi %a, %b signed", "maxi %a, %b unsigned",
        "mini %a, %b signed", "mini %a, %b unsigned", "muli %a, %b", "negi %a", "ori %a, %b",
        "remi %a, %b signed", "remi %a, %b unsigned", "shli %a, %n", "shri %a, %n signed",
        "shri %a, %n unsigned", "subi %a, %b", "xori %a, %b",
    ],
)  # fmt: skip
def test_integers_as_interpreted(text: str):
    values = {"a": INTEGERS, "b": OTHERS, "n": COUNTS}
    before = "\n".join(
        f"%{name} = constant <i8: {tile}> : tile<8xi8>" for name, tile in values.items()
    )
    found, expected = folded(f"{text} : tile<8xi8>", "8xi8", before)
    np.testing.assert_array_equal(found, expected)


@table_test("type", ["f16", "f32", "f64"])
@table_test(
    "text", ["absf %a", "addf %a, %b", "divf %a, %b", "mulf %a, %b", "negf %a", "subf %a, %b"]
)
def test_floats_as_interpreted(type: str, text: str):
    before = "\n".join(
        f"%{name} = constant <{type}: {tile}> : tile<8x{type}>"
        for name, tile in {"a": FLOATS, "b": DIVISORS}.items()
    )
    found, expected = folded(f"{text} : tile<8x{type}>", f"8x{type}", before)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@table_test(
    "text, result",
    [
        ("cmpi less_than %a, %b, signed : tile<8xi8> -> tile<8xi1>", "i1"),
        ("cmpi less_than %a, %b, unsigned : tile<8xi8> -> tile<8xi1>", "i1"),
        ("cmpf less_than ordered %x, %y : tile<8xf32> -> tile<8xi1>", "i1"),
        ("cmpf not_equal unordered %x, %y : tile<8xf32> -> tile<8xi1>", "i1"),
        ("exti %a signed : tile<8xi8> -> tile<8xi32>", "i32"),
        ("exti %a unsigned : tile<8xi8> -> tile<8xi32>", "i32"),
        ("trunci %wide : tile<8xi32> -> tile<8xi8>", "i8"),
        ("itof %a signed : tile<8xi8> -> tile<8xf16>", "f16"),
        ("itof %a unsigned : tile<8xi8> -> tile<8xf16>", "f16"),
        ("ftoi %x signed : tile<8xf32> -> tile<8xi8>", "i8"),
        ("ftof %x : tile<8xf32> -> tile<8xf16>", "f16"),
        ("select %both, %a, %b : tile<8xi1>, tile<8xi8>", "i8"),
    ],
)
def test_conversions_as_interpreted(text: str, result: str):
    before = f"""%a = constant <i8: {INTEGERS}> : tile<8xi8>
        %b = constant <i8: {OTHERS}> : tile<8xi8>
        %x = constant <f32: {FLOATS}> : tile<8xf32>
        %y = constant <f32: {DIVISORS}> : tile<8xf32>
        %wide = constant <i32: [1, 128, 255, 256, -1, -129, 1000, 65535]> : tile<8xi32>
        %both = constant <i1: [1, 0, 1, 0, 0, 1, 1, 0]> : tile<8xi1>"""
    found, expected = folded(text, f"8x{result}", before)
    np.testing.assert_array_equal(found, expected)
