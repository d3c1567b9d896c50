"""Products of matrices, reductions and scans, beside numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.tables import table_test
from support.tiles import computed_tile

RANDOM = np.random.default_rng(1)
DTYPES = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}


@table_test(
    "type, acc",
    [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64")],
)
def test_products_of_floats(type: str, acc: str):
    # Small integers, so that all sums are exact.
    shapes = (2, 4, 8), (2, 8, 4), (2, 4, 4)
    a, b, c = (RANDOM.integers(-4, 5, shape) for shape in shapes)
    text = f"%r = mmaf %a, %b, %c : tile<2x4x8x{type}>, tile<2x8x4x{type}>, tile<2x4x4x{acc}>"
    found = computed_tile(
        text,
        f"2x4x4x{acc}",
        a=(a.astype(DTYPES[type]), f"2x4x8x{type}"),
        b=(b.astype(DTYPES[type]), f"2x8x4x{type}"),
        c=(c.astype(DTYPES[acc]), f"2x4x4x{acc}"),
    )
    np.testing.assert_array_equal(found, a @ b + c)


def test_sums_of_f16_are_in_f32():
    a, b = np.full((1, 2), 300, np.float16), np.array([[300], [-300]], np.float16)
    operands = {"a": (a, "1x2xf16"), "b": (b, "2x1xf16"), "c": (np.ones((1, 1), "f2"), "1x1xf16")}
    text = "%r = mmaf %a, %b, %c : tile<1x2xf16>, tile<2x1xf16>, tile<1x1xf16>"
    assert computed_tile(text, "1x1xf16", **operands).tolist() == [[1]]


@table_test("lhs, rhs", [(a, b) for a in ("signed", "unsigned") for b in ("signed", "unsigned")])
def test_products_of_bytes(lhs: str, rhs: str):
    a, b = (RANDOM.integers(-128, 128, shape).astype(np.int8) for shape in ((4, 16), (16, 2)))
    c = RANDOM.integers(-(2**31), 2**31, (4, 2)).astype(np.int32)
    text = f"%r = mmai %a, %b, %c {lhs} {rhs} : tile<4x16xi8>, tile<16x2xi8>, tile<4x2xi32>"
    read = {"signed": np.int8, "unsigned": np.uint8}
    exact = a.view(read[lhs]).astype(np.int64) @ b.view(read[rhs]).astype(np.int64) + c
    operands = {"a": (a, "4x16xi8"), "b": (b, "16x2xi8"), "c": (c, "4x2xi32")}
    np.testing.assert_array_equal(computed_tile(text, "4x2xi32", **operands), exact.astype("i4"))


def test_scaled_products():
    a, b = np.ones((2, 64), np.float32), np.full((64, 2), 2, np.float32)
    scales = np.array([[1, 2], [4, 8]], np.float32), np.array([[1, 2], [0.5, 1]], np.float32)
    types = {"a": "2x64xf8E4M3FN", "b": "64x2xf8E4M3FN", "c": "2x2xf32"}
    types |= {"d": "2x2xf8E8M0FNU", "e": "2x2xf8E8M0FNU"}
    arrays = (a, b, np.ones((2, 2), np.float32), *scales)
    operands = {n: (x, types[n]) for n, x in zip("abcde", arrays, strict=True)}
    names = ", ".join(f"%{n}" for n in types)
    text = f"%r = mmaf_scaled {names} : {', '.join(f'tile<{t}>' for t in types.values())}"
    wide = a * np.repeat(scales[0], 32, 1), b * np.repeat(scales[1], 32, 0)
    np.testing.assert_array_equal(computed_tile(text, "2x2xf32", **operands), wide[0] @ wide[1] + 1)


def folded(kind: str, type: str, body: str, identity: str) -> str:
    """Return the text of a reduction or scan of %a along dimension 1."""
    head, result = {
        "reduce": ("reduce %a dim=1", "4"),
        "scan": ("scan %a dim=1 reverse=false", "4x8"),
        "back": ("scan %a dim=1 reverse=true", "4x8"),
    }[kind]
    return (
        f"%r = {head} "
        f"identities=[{identity} : {type}] : tile<4x8x{type}> -> tile<{result}x{type}> "
        f"(%x: tile<{type}>, %y: tile<{type}>) {{ {body} yield %z : tile<{type}> }}"
    )


FOLDS: list[tuple[str, str, str, np.ufunc]] = [
    ("f32", "%z = addf %x, %y : tile<f32>", "0.0", np.add),
    ("f64", "%z = mulf %x, %y : tile<f64>", "1.0", np.multiply),
    ("f32", "%z = maxf %x, %y : tile<f32>", "0xFF800000", np.maximum),
    ("i32", "%z = addi %x, %y : tile<i32>", "0", np.add),
    ("i8", "%z = mini %x, %y signed : tile<i8>", "127", np.minimum),
    (
        "i32",  # a body with control flow, which runs on scalars
        "%c = cmpi less_than %x, %y, signed : tile<i32> -> tile<i1> "
        "%z = if %c -> (tile<i32>) { yield %x : tile<i32> } else { yield %y : tile<i32> }",
        "2147483647",
        np.minimum,
    ),
]


@table_test("type, body, identity, function", FOLDS)
def test_reductions_and_scans(type: str, body: str, identity: str, function: np.ufunc):
    dtypes: dict[str, Any] = {**DTYPES, "i32": np.int32, "i8": np.int8}
    array = RANDOM.integers(-3, 4, (4, 8)).astype(dtypes[type])
    operand = {"a": (array, f"4x8x{type}")}
    found = computed_tile(folded("reduce", type, body, identity), f"4x{type}", **operand)
    np.testing.assert_array_equal(found, function.reduce(array, axis=1, dtype=array.dtype))
    found = computed_tile(folded("scan", type, body, identity), f"4x8x{type}", **operand)
    expected = function.accumulate(array, axis=1, dtype=array.dtype)
    np.testing.assert_array_equal(found, expected)
    found = computed_tile(folded("back", type, body, identity), f"4x8x{type}", **operand)
    expected = function.accumulate(array[:, ::-1], axis=1, dtype=array.dtype)[:, ::-1]
    np.testing.assert_array_equal(found, expected)


def test_a_reduction_of_two_tiles_keeps_the_order_of_elements():
    """The maximum with its first index, in an operation that does not commute."""
    text = """
      %i = iota : tile<8xi32>
      %v, %s = reduce %a, %i dim=0 identities=[0xFF800000 : f32, 0 : i32]
        : tile<8xf32>, tile<8xi32> -> tile<f32>, tile<i32>
      (%x: tile<f32>, %y: tile<f32>, %k: tile<i32>, %l: tile<i32>) {
        %c = cmpf greater_than ordered %x, %y : tile<f32> -> tile<i1>
        %m = select %c, %x, %y : tile<i1>, tile<f32>
        %n = select %c, %k, %l : tile<i1>, tile<i32>
        yield %m, %n : tile<f32>, tile<i32>
      }
      %r = reshape %s : tile<i32> -> tile<1xi32>"""
    array = np.array([1, 5, 2, 5, 0, 5, 3, 4], np.float32)
    assert computed_tile(text, "1xi32", a=(array, "8xf32")).tolist() == [1]
