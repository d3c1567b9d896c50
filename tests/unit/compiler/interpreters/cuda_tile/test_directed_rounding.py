"""Arithmetic that is rounded to zero, down and up, beside exact numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from support.tables import table_test
from support.tiles import Array, computed_tile

from passline.compiler.interpreters.arrays import round_bf16, widen_bf16

Exact = Callable[[Fraction, Fraction, Fraction], Fraction]

OPERATIONS: list[tuple[str, Exact]] = [
    ("addf %a, %b", lambda a, b, _: a + b),
    ("subf %a, %b", lambda a, b, _: a - b),
    ("mulf %a, %b", lambda a, b, _: a * b),
    ("divf %a, %b", lambda a, b, _: a / b),
    ("fma %a, %b, %c", lambda a, b, c: a * b + c),
]
DTYPES = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}


def tiles_of(type: str) -> list[Array]:
    random = np.random.default_rng(7)
    tiles = [random.normal(size=16).astype(DTYPES[type]) * 100 for _ in range(3)]
    return (
        [widen_bf16(round_bf16(tile.astype("f4"))) for tile in tiles] if type == "bf16" else tiles
    )


def next_in(type: str, number: Array, direction: float) -> float:
    """Return the next number of a type."""
    if type != "bf16":
        return float(np.nextafter(number, number.dtype.type(direction)))
    bits = np.asarray(number).view(np.uint32)
    step = 0x10000 if (direction > 0) == (number > 0) else -0x10000
    return float(np.asarray(bits + np.int64(step)).astype(np.uint32).view(np.float32))


@table_test("text, exact", OPERATIONS)
def test_results_are_the_neighbors_of_exact_ones(text: str, exact: Exact):
    for type in DTYPES:
        tiles = tiles_of(type)
        used = dict(zip("abc"[: 1 + text.count(",")], tiles))
        operands = {name: (tile, f"16x{type}") for name, tile in used.items()}
        results = {
            mode: computed_tile(
                f"%r = {text} rounding<{mode}> : tile<16x{type}>", f"16x{type}", **operands
            )
            for mode in ("negative_inf", "positive_inf", "zero")
        }
        for row in range(16):
            number = exact(*(Fraction(float(tile[row])) for tile in tiles))
            down, up = (results[m][row] for m in ("negative_inf", "positive_inf"))
            assert down <= number <= up
            assert next_in(type, down, np.inf) > number and next_in(type, up, -np.inf) < number
            assert results["zero"][row] == (down if number > 0 else up)


def test_square_roots():
    a = (np.array([2, 3, 4, 0], np.float32), "4xf32")
    low, high = (
        computed_tile(f"%r = sqrt %a rounding<{mode}> : tile<4xf32>", "4xf32", a=a)
        for mode in ("negative_inf", "positive_inf")
    )
    exact = np.sqrt(a[0].astype(np.float64))
    assert (low <= exact).all() and (exact <= high).all()
    assert (low == high).tolist() == [False, False, True, True]


def test_overflow_is_the_greatest_number_when_rounded_to_zero():
    a = (np.array([3e38, -3e38], np.float32), "2xf32")
    found = computed_tile("%r = addf %a, %a rounding<zero> : tile<2xf32>", "2xf32", a=a)
    assert found.tolist() == [np.finfo(np.float32).max, -np.finfo(np.float32).max]
