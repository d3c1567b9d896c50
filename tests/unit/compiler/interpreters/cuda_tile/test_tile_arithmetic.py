"""Operations on each element of tiles, beside numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.tables import table_test
from support.tiles import Array, computed_tile

from passline.compiler.interpreters.arrays import round_bf16, widen_bf16
from passline.compiler.interpreters.cuda_tile.tile_arithmetic import ELEMENTWISE
from passline.passmanager.errors import PasslineError

SIZE = 32
RANDOM = np.random.default_rng(0)
FLOATS: dict[str, Callable[[Array], Array]] = {
    "f16": lambda array: array.astype(np.float16),
    "bf16": lambda array: widen_bf16(round_bf16(array.astype(np.float32))),
    "f32": lambda array: array.astype(np.float32),
    "f64": lambda array: array.astype(np.float64),
}
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def floats(type: str, count: int) -> list[Array]:
    """Return random tiles with zeros, infinities and NaN."""
    tiles = [RANDOM.normal(size=SIZE) * 3 for _ in range(count)]
    for number, tile in enumerate(tiles):
        tile[:7] = np.roll([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0], number)
    return [FLOATS[type](tile) for tile in tiles]


def integers(type: str, count: int) -> list[Array]:
    """Return random tiles of all bits."""
    size = np.dtype(INTEGERS[type]).itemsize
    return [
        RANDOM.integers(0, 256, SIZE * size, np.uint8).view(INTEGERS[type]) for _ in range(count)
    ]


def applied(text: str, types: str, tiles: list[Array], result: str) -> Array:
    """Return the result of an operation `text` on %a, %b, ..."""
    names = "abc"[: len(tiles)]
    operands = {n: (tile, f"{SIZE}x{types}") for n, tile in zip(names, tiles, strict=True)}
    return computed_tile(f"%r = {text}", f"{SIZE}x{result}", **operands)


def inverse_root(a: Array) -> Array:
    return 1 / np.sqrt(a)


def product_and_sum(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


OPERATIONS: list[tuple[str, Callable[..., Any]]] = [
    ("absf %a", np.abs),
    ("negf %a", np.negative),
    ("ceil %a", np.ceil),
    ("floor %a", np.floor),
    ("cos %a", np.cos),
    ("sin %a", np.sin),
    ("tan %a", np.tan),
    ("cosh %a", np.cosh),
    ("sinh %a", np.sinh),
    ("tanh %a", np.tanh),
    ("log %a", np.log),
    ("log2 %a", np.log2),
    ("exp %a", np.exp),
    ("exp2 %a", np.exp2),
    ("sqrt %a", np.sqrt),
    ("rsqrt %a", inverse_root),
    ("addf %a, %b", np.add),
    ("subf %a, %b", np.subtract),
    ("mulf %a, %b", np.multiply),
    ("divf %a, %b", np.divide),
    ("remf %a, %b", np.fmod),
    ("pow %a, %b", np.power),
    ("atan2 %a, %b", np.arctan2),
    ("maxf %a, %b", np.fmax),
    ("minf %a, %b", np.fmin),
    ("maxf %a, %b propagate_nan", np.maximum),
    ("minf %a, %b propagate_nan", np.minimum),
    ("fma %a, %b, %c", product_and_sum),
]


@table_test("text, function", OPERATIONS)
def test_floats_beside_f64(text: str, function: Callable[..., Any]):
    for type, rounded in FLOATS.items():
        tiles = floats(type, 1 + text.count(","))
        with np.errstate(all="ignore"):
            expected = rounded(np.asarray(function(*(t.astype(np.float64) for t in tiles))))
        digits = {"f16": 2e-3, "bf16": 1.6e-2, "f32": 3e-6, "f64": 1e-13}[type]
        found = applied(f"{text} : tile<{SIZE}x{type}>", type, tiles, type)
        np.testing.assert_allclose(found, expected, digits, digits * 1e-3, err_msg=type)
        if text[:4] in ("addf", "subf", "mulf", "absf", "negf", "divf", "sqrt"):
            np.testing.assert_array_equal(found, expected, err_msg=type)


def unsigned(array: Array) -> list[int]:
    """Return integers as unsigned ones of Python."""
    return array.view(f"u{array.itemsize}").tolist()


def exactly(function: Callable[[int, int], int], *lists: list[int]) -> list[int]:
    """Return a function of numbers of Python."""
    return [function(a, b) for a, b in zip(*lists, strict=True)]


def toward_zero(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


BINARY: list[tuple[str, bool, Callable[[int, int], int]]] = [
    ("addi %a, %b", True, lambda a, b: a + b),
    ("subi %a, %b", True, lambda a, b: a - b),
    ("muli %a, %b", True, lambda a, b: a * b),
    ("andi %a, %b", True, lambda a, b: a & b),
    ("ori %a, %b", True, lambda a, b: a | b),
    ("xori %a, %b", True, lambda a, b: a ^ b),
    ("maxi %a, %b signed", True, max),
    ("maxi %a, %b unsigned", False, max),
    ("mini %a, %b signed", True, min),
    ("mini %a, %b unsigned", False, min),
    ("divi %a, %b signed", True, toward_zero),
    ("divi %a, %b unsigned", False, lambda a, b: a // b),
    ("divi %a, %b signed rounding<positive_inf>", True, lambda a, b: -(-a // b)),
    ("divi %a, %b unsigned rounding<positive_inf>", False, lambda a, b: -(-a // b)),
    ("divi %a, %b signed rounding<negative_inf>", True, lambda a, b: a // b),
    ("remi %a, %b signed", True, lambda a, b: a - toward_zero(a, b) * b),
    ("remi %a, %b unsigned", False, lambda a, b: a % b),
    ("absi %a", True, lambda a, _: abs(a)),
    ("negi %a", True, lambda a, _: -a),
]


@table_test("text, is_signed, function", BINARY)
def test_integers_beside_python(text: str, is_signed: bool, function: Callable[[int, int], int]):
    for type, dtype in INTEGERS.items():
        a, b = integers(type, 2)
        b[b == 0] = 1
        lists = [x.tolist() if is_signed else unsigned(x) for x in (a, b)]
        exact = [n % (1 << 8 * a.itemsize) for n in exactly(function, *lists)]
        expected = np.array(exact, f"u{a.itemsize}").view(dtype)
        tiles = [a, b][: 1 + text.count(",")]
        found = applied(f"{text} : tile<{SIZE}x{type}>", type, tiles, type)
        np.testing.assert_array_equal(found, expected, err_msg=type)


@table_test("type", INTEGERS)
def test_shifts_and_high_products(type: str):
    (a, b), width = integers(type, 2), 8 * np.dtype(INTEGERS[type]).itemsize
    amount = np.abs(b % np.asarray(width, b.dtype)).astype(b.dtype)
    tile, mask, by = f"tile<{SIZE}x{type}>", (1 << width) - 1, amount.tolist()

    def check(text: str, expected: list[int], *tiles: Array) -> None:
        bits = np.array([n & mask for n in expected], f"u{width // 8}").view(INTEGERS[type])
        np.testing.assert_array_equal(applied(f"{text} : {tile}", type, [*tiles], type), bits)

    check("shli %a, %b", exactly(lambda x, y: x << y, a.tolist(), by), a, amount)
    check("shri %a, %b signed", exactly(lambda x, y: x >> y, a.tolist(), by), a, amount)
    check("shri %a, %b unsigned", exactly(lambda x, y: x >> y, unsigned(a), by), a, amount)
    high = exactly(lambda x, y: x * y >> width, unsigned(a), unsigned(b))
    check("mulhii %a, %b", high, a, b)


@table_test(
    "text, expected",
    [
        ("addi %a, %b", [False, True, True, False]),
        ("muli %a, %b", [False, False, False, True]),
        ("maxi %a, %b signed", [False, False, False, True]),
        ("maxi %a, %b unsigned", [False, True, True, True]),
        ("xori %a, %b", [False, True, True, False]),
        ("negi %a", [False, False, True, True]),
        ("mulhii %a, %b", [False, False, False, False]),
    ],
)
def test_booleans_have_one_bit(text: str, expected: list[bool]):
    tiles = [np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)]
    operands = {n: (tile, "4xi1") for n, tile in zip("ab", tiles, strict=True)}
    found = computed_tile(f"%r = {text} : tile<4xi1>", "4xi1", **operands)
    assert found.tolist() == expected


RELATIONS: dict[str, Callable[..., Any]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal": np.greater_equal,
}


@table_test("relation", RELATIONS)
def test_comparisons(relation: str):
    function = RELATIONS[relation]
    a, b = integers("i8", 2)
    b[::3] = a[::3]
    for sign, read in (("signed", np.int8), ("unsigned", np.uint8)):
        text = f"cmpi {relation} %a, %b, {sign} : tile<{SIZE}xi8> -> tile<{SIZE}xi1>"
        expected = function(a.view(read), b.view(read))
        np.testing.assert_array_equal(applied(text, "i8", [a, b], "i1"), expected)
    x, y = floats("f32", 2)
    y[::3] = x[::3]
    nan = np.isnan(x) | np.isnan(y)
    assert nan.any()
    for order in ("ordered", "unordered"):
        text = f"cmpf {relation} {order} %a, %b : tile<{SIZE}xf32> -> tile<{SIZE}xi1>"
        expected = np.where(nan, order == "unordered", function(x, y))
        np.testing.assert_array_equal(applied(text, "f32", [x, y], "i1"), expected)


@table_test(
    "text, source, result, values, expected",
    [
        ("exti %a signed", "i8", "i32", [-1, 127], [-1, 127]),
        ("exti %a unsigned", "i8", "i32", [-1, 127], [255, 127]),
        ("exti %a signed", "i1", "i8", [1, 0], [-1, 0]),
        ("exti %a unsigned", "i1", "i8", [1, 0], [1, 0]),
        ("trunci %a", "i32", "i8", [300, -129], [44, 127]),
        ("trunci %a", "i32", "i1", [2, 3], [0, 1]),
        ("itof %a signed", "i8", "f16", [-1, 127], [-1, 127]),
        ("itof %a unsigned", "i8", "f32", [-1, 127], [255, 127]),
        ("itof %a unsigned", "i64", "f64", [-1, 1], [2.0**64, 1]),
        ("itof %a signed", "i32", "bf16", [257, 3], [256, 3]),
        ("ftoi %a signed", "f32", "i32", [-1.9, 2.9], [-1, 2]),
        ("ftoi %a unsigned", "f64", "i64", [2.0**63, 3.5], [-(2**63), 3]),
        ("ftoi %a unsigned", "f32", "i8", [255.5, 3.5], [-1, 3]),
        ("ftof %a", "f32", "f16", [1 + 2**-11, 1e6], [1, np.inf]),
        ("ftof %a", "f32", "bf16", [1 + 2**-8, 1 + 3 * 2**-8], [1, 1 + 2**-6]),
        ("ftof %a", "f32", "tf32", [1 + 2**-11, 1 + 3 * 2**-11], [1, 1 + 2**-9]),
        ("ftof %a", "f32", "f8E4M3FN", [500.0, 1.1], [np.nan, 1.125]),
        ("ftof %a", "f32", "f8E5M2", [1.1, 1e9], [1, np.inf]),
        ("ftof %a", "f32", "f4E2M1FN", [5.1, -0.2], [6, -0.0]),
        ("ftof %a rounding<zero>", "f32", "f8E8M0FNU", [5.0, 4.0], [4, 4]),
        ("ftof %a rounding<positive_inf>", "f32", "f8E8M0FNU", [5.0, 4.0], [8, 4]),
        ("bitcast %a", "f32", "i32", [1.0, -0.0], [0x3F800000, -(2**31)]),
        ("bitcast %a", "i16", "bf16", [0x3F80, -0x8000], [1.0, -0.0]),
        ("bitcast %a", "f8E5M2", "i8", [1.0, -1.0], [0x3C, 0x3C - 128]),
    ],
)
def test_conversions(
    text: str, source: str, result: str, values: list[float], expected: list[float]
):
    dtypes = {**INTEGERS, "i1": np.bool_, "f16": np.float16, "f64": np.float64}
    array = np.array(values).astype(dtypes.get(source, np.float32))
    types = f"tile<2x{source}> -> tile<2x{result}>"
    found = computed_tile(f"%r = {text} : {types}", f"2x{result}", a=(array, f"2x{source}"))
    np.testing.assert_array_equal(found.astype(np.float64), np.array(expected, np.float64))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_a_choice_and_its_zeros():
    a, b = (np.array(x, np.float32) for x in ([0.0, -0.0, np.nan, 1], [-0.0, 0.0, 2, np.nan]))
    operands = {"a": (a, "4xf32"), "b": (b, "4xf32")}
    for text, signs in (("maxf", [0, 0]), ("minf", [1, 1])):
        found = computed_tile(f"%r = {text} %a, %b : tile<4xf32>", "4xf32", **operands)
        assert np.signbit(found[:2]).tolist() == signs
        assert found[2:].tolist() == [2, 1]
        bits = f"%m = {text} %a, %b : tile<4xf32>\n%r = bitcast %m : tile<4xf32> -> tile<4xi32>"
        found_bits = computed_tile(bits, "4xi32", **operands)
        np.testing.assert_array_equal(found_bits, found.view(np.int32))
    text = "%c = cmpf greater_than ordered %a, %b : tile<4xf32> -> tile<4xi1>\n"
    text += "%r = select %c, %a, %b : tile<4xi1>, tile<4xf32>"
    np.testing.assert_array_equal(computed_tile(text, "4xf32", **operands), [-0.0, 0, 2, np.nan])


def test_division_by_zero_is_an_error():
    zero = (np.zeros(2, np.int32), "2xi32")
    with pytest.raises(PasslineError, match="'cuda_tile.divi' .* division by zero"):
        computed_tile("%r = divi %a, %a signed : tile<2xi32>", "2xi32", a=zero)


def test_subnormal_numbers_are_flushed_on_request():
    tiny = (np.array([1e-40, -1e-40, 1.0, 2e-38], np.float32), "4xf32")
    found = computed_tile("%r = addf %a, %a flush_to_zero : tile<4xf32>", "4xf32", a=tiny)
    np.testing.assert_array_equal(found, np.array([0, -0.0, 2, 4e-38], np.float32))
    assert np.signbit(found).tolist() == [False, True, False, False]


def test_all_operations_have_semantics():
    from passline.dialects.cuda_tile.dialect import CUDA_TILE
    from passline.dialects.cuda_tile.elementwise_forms import ElementwiseForm

    assert {c for c in CUDA_TILE.operations if issubclass(c, ElementwiseForm)} == set(ELEMENTWISE)


def test_integer_powers():
    x, n = np.array([2, -2, 0.5, 0], np.float32), np.array([10, 3, -1, 0], np.int32)
    text = "%r = fpowi %a, %b : tile<4xf32>, tile<4xi32>"
    found = computed_tile(text, "4xf32", a=(x, "4xf32"), b=(n, "4xi32"))
    np.testing.assert_array_equal(found, np.array([1024, -8, 2, 1], np.float32))


@table_test(
    "type, sign, expected",
    [
        ("i8", "signed", [127, -128, 0, -5]),
        ("i8", "unsigned", [-1, 0, 0, 0]),
        ("i64", "signed", [10**9, -(2**63), 0, -5]),
        ("i64", "unsigned", [10**9, 0, 0, 0]),
    ],
)
def test_saturating_conversion(type: str, sign: str, expected: list[int]):
    x = np.array([1e9, -np.inf, np.nan, -5.5], np.float32)
    text = f"%r = ftoi %a {sign} saturating : tile<4xf32> -> tile<4x{type}>"
    assert computed_tile(text, f"4x{type}", a=(x, "4xf32")).tolist() == expected
