"""arith on integers, compared with exact arithmetic on the limits of types, and conversions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from support.tables import table_test

from passline.passmanager.errors import PasslineError
from tests.support.programs.computed import computed, program

BITS = {"i1": 1, "i8": 8, "i33": 33, "i64": 64, "index": 64}


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (value >> width - 1 << width)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNED: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "minsi": min,
    "maxsi": max,
    "andi": lambda a, b: a & b,
    "ori": lambda a, b: a | b,
    "xori": lambda a, b: a ^ b,
    "divsi": quotient,
    "remsi": lambda a, b: a - quotient(a, b) * b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
}
UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "minui": min,
    "maxui": max,
    "divui": lambda a, b: a // b,
    "remui": lambda a, b: a % b,
    "ceildivui": lambda a, b: -(-a // b),
}


def limits(width: int) -> set[int]:
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    return {v for v in (low, low + 1, -3, -1, 0, 1, 2, high // 3, high) if low <= v <= high}


def computed_all(op: str, type: str, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the results of an operation on all pairs, as signed numbers."""
    text = f"""
      func.func @main(%a: {type}, %b: {type}) -> {type} {{
        %r = "arith.{op}"(%a, %b) : ({type}, {type}) -> {type}
        return %r : {type}
      }}"""
    function = program(text)
    return [signed(int(function(*pair)[0]), BITS[type]) for pair in pairs]


@pytest.mark.parametrize("op", [*SIGNED, *UNSIGNED])
def test_integers(op: str):
    for type in BITS:
        width, mask = BITS[type], (1 << BITS[type]) - 1
        pairs = [*product(limits(width), limits(width))]
        if "div" in op or "rem" in op:
            pairs = [(a, b) for a, b in pairs if b and (a, b) != (-(1 << width - 1), -1)]
        exact = [
            SIGNED[op](a, b) if op in SIGNED else UNSIGNED[op](a & mask, b & mask) for a, b in pairs
        ]
        assert computed_all(op, type, pairs) == [signed(value, width) for value in exact]


@table_test("op", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"])
def test_division_by_zero_is_reported(op: str):
    message = f"'arith.{op}'.* cannot be computed: division by zero"
    for type in ["i1", "i64", "index"]:
        with pytest.raises(PasslineError, match=message):
            computed_all(op, type, [(1, 0)])


def test_integers_of_vectors_and_tensors_wrap_around():
    for type in ("vector<2xi8>", "tensor<2xi8>"):
        text = f"""
          func.func @main() -> i8 {{
            %i = arith.constant 1 : index
            %a = arith.constant dense<[1, 100]> : {type}
            %b = arith.muli %a, %a : {type}
            %m = arith.maxui %a, %b : {type}
            %r = {"vector.extract %m[1]" if "vector" in type else "tensor.extract %m[%i]"}
                : {"i8 from " if "vector" in type else ""}{type}
            return %r : i8
          }}"""
        assert computed(text) == [100]  # 10000 is 16 in 8 bits


@table_test(
    "op, type, pair, results",
    [
        ("addui_extended", "i8", (200, 100), [44, True]),
        ("addui_extended", "i64", (-1, 1), [0, True]),
        ("addui_extended", "i64", (2**62, 2**62), [-(2**63), False]),
        ("mului_extended", "i8", (200, 100), [32, 78]),
        ("mulsi_extended", "i8", (-56, 100), [32, -22]),
        ("mulsi_extended", "i64", (-1, -1), [1, 0]),
        ("mului_extended", "i64", (-1, -1), [1, -2]),
    ],
)
def test_extended(op: str, type: str, pair: tuple[int, int], results: list[int]):
    second = "i1" if op.startswith("add") else type
    text = f"""
      func.func @main(%a: {type}, %b: {type}) -> ({type}, {second}) {{
        %r, %s = "arith.{op}"(%a, %b) : ({type}, {type}) -> ({type}, {second})
        return %r, %s : {type}, {second}
      }}"""
    assert computed(text, *pair) == results


@table_test(
    "op, types, value, result",
    [
        ("arith.fptoui", "f32 -> i8", np.float32(200), -56),
        ("arith.fptoui", "f32 -> i8", np.float32(-3), 0),
        ("arith.fptosi", "f32 -> i8", np.float32(200), 127),
        ("arith.fptosi", "f64 -> i64", np.float64(2.0**62), 2**62),
        ("arith.fptosi", "f64 -> i64", np.float64(np.inf), 2**63 - 1),
        ("arith.fptoui", "f64 -> i64", np.float64(2.0**63), -(2**63)),
        ("arith.uitofp", "i64 -> f32", np.int64(2**40 + 2**16 + 1), float(2**40 + 2**17)),
        ("arith.uitofp", "i8 -> f32", np.int8(-1), 255.0),
        ("arith.sitofp", "i1 -> f32", np.True_, -1.0),
        ("arith.index_cast", "i8 -> index", np.int8(-56), -56),
        ("math.round", "f32 -> f32", np.float32(0.49999997), 0.0),
        ("math.round", "f32 -> f32", np.float32(8388609), 8388609.0),
        ("math.round", "f32 -> f32", np.float32(-2.5), -3.0),
        ("math.roundeven", "f32 -> f32", np.float32(-2.5), -2.0),
        ("math.ctpop", "i64 -> i64", np.int64(-1), 64),
        ("math.absi", "i8 -> i8", np.int8(-128), -128),
    ],
)
def test_conversions(op: str, types: str, value: Any, result: float):
    source, target = types.split(" -> ")
    text = f"""
      func.func @main(%a: {source}) -> {target} {{
        %r = "{op}"(%a) : ({source}) -> {target}
        return %r : {target}
      }}"""
    assert computed(text, value) == [result]


@pytest.mark.parametrize("type", ["i8", "i64", "index"])
def test_powers_wrap_around(type: str):
    text = f"""
      func.func @main(%a: {type}, %b: {type}) -> {type} {{
        %r = "math.ipowi"(%a, %b) : ({type}, {type}) -> {type}
        return %r : {type}
      }}"""
    assert computed(text, 3, 41) == [signed(3**41, BITS[type])]
    assert computed(text, 3, -1) == [0]
    assert computed(text, -1, -3) == [-1]


@pytest.mark.parametrize(("addend", "result"), [(2.0**-80, 2.0**-23), (0, 0), (-(2.0**-80), 0)])
def test_fma_rounds_once(addend: float, result: float):
    text = """
      func.func @main(%a: f32, %b: f32) -> f32 {
        %r = "math.fma"(%a, %a, %b) : (f32, f32, f32) -> f32
        return %r : f32
      }"""
    near = 1 + 2.0**-12  # its square is 1 + 2^-11, and half of the last bit of an f32
    assert computed(text, np.float32(near), np.float32(addend)) == [1 + 2.0**-11 + result]


def test_integers_of_more_than_64_bits_are_passed_on_but_not_computed():
    text = "func.func @main(%a: i128) -> i128 {{ {} return %a : i128 }}"
    assert computed(text.format(""), 2**62) == [2**62]
    with pytest.raises(PasslineError, match="type i128 has no numpy semantics"):
        computed(text.format("%b = arith.addi %a, %a : i128"), 1)
