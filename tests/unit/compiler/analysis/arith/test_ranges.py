"""Ranges include each result of an operation on integers of them; predicates are decided right."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import get_args

import pytest
from support.tables import table_test

from passline.compiler.analysis.arith.expressions import NEGATED, SWAPPED, Predicate, decide
from passline.compiler.analysis.arith.ranges import Range

ENDS = (None, -3, -1, 0, 2)
INTEGERS = range(-9, 10)
COMPARE: dict[Predicate, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
}


def members(of: Range) -> set[int]:
    """Return the integers near 0 that a range includes."""
    low = INTEGERS.start if of.low is None else of.low
    high = INTEGERS.stop - 1 if of.high is None else of.high
    return set(range(low, high + 1)) - of.holes


RANGES = [
    Range(low, high, holes)
    for low, high in product(ENDS, ENDS)
    for holes in (frozenset[int](), frozenset([0]))
    if members(Range(low, high, holes))
]


def includes(of: Range, integer: int) -> bool:
    at_least = of.low is None or of.low <= integer
    return at_least and (of.high is None or integer <= of.high) and integer not in of.holes


def test_sums_and_products_are_included() -> None:
    for a, b in product(RANGES, RANGES):
        for x, y in product(members(a), members(b)):
            assert includes(a + b, x + y) and includes(a * b, x * y), (a, b, x, y)


@pytest.mark.parametrize("factor", [-3, -1, 1, 2])
def test_scaled_and_unscaled_are_inverse(factor: int) -> None:
    for of in RANGES:
        assert all(includes(of * factor, factor * x) for x in members(of))
        unscaled = of.unscaled(factor)
        for x in INTEGERS:
            assert includes(unscaled, x) == includes(of, factor * x), (of, factor, x)


def test_meet_join_minimum_and_maximum() -> None:
    for a, b in product(RANGES, RANGES):
        meet, join = a.meet(b), a.join(b)
        for x in INTEGERS:
            assert includes(meet, x) == (includes(a, x) and includes(b, x))
            assert includes(join, x) or not (includes(a, x) or includes(b, x))
        for x, y in product(members(a), members(b)):
            assert includes(Range.of_minimum([a, b]), min(x, y))
            assert includes(Range.of_maximum([a, b]), max(x, y))


@table_test("predicate", get_args(Predicate))
def test_a_predicate_is_decided_if_all_integers_agree(predicate: Predicate) -> None:
    compare = COMPARE[predicate]
    for of in RANGES:
        answers = {compare(x, 0) for x in members(of)}
        answer = decide(predicate, of)
        assert answer is None or answers == {answer}, (predicate, of)
        if of.low is not None and of.high is not None and not of.holes:
            assert (answer is None) == (len(answers) == 2), (predicate, of)


@table_test("predicate", get_args(Predicate))
def test_negated_and_swapped(predicate: Predicate) -> None:
    for a, b in product(range(-1, 2), repeat=2):
        assert COMPARE[NEGATED[predicate]](a, b) is not COMPARE[predicate](a, b)
        assert COMPARE[SWAPPED[predicate]](b, a) is COMPARE[predicate](a, b)
