"""Predicates of integer comparisons: negated, swapped, decided by ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from .bounds.ranges import Range

__all__ = ["CMPI_NUMBER", "NEGATED", "SIGNED", "SWAPPED", "ULT", "Predicate", "decide"]

Predicate = Literal["eq", "ne", "slt", "sle", "sgt", "sge"]
"""A signed comparison of two integers, named as in `arith.cmpi`."""

CMPI_NUMBER: Mapping[Predicate, int] = {
    "eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5,
}  # fmt: skip
"""The number of a predicate in `arith.cmpi`."""

ULT = 6
"""The first number of an unsigned predicate in `arith.cmpi`."""

SIGNED: Sequence[Predicate] = ("eq", "ne", "slt", "sle", "sgt", "sge", "slt", "sle", "sgt", "sge")
"""For each number of a predicate in `arith.cmpi`, the signed predicate: the same comparison of
integers that are not negative."""

NEGATED: Mapping[Predicate, Predicate] = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle",
}  # fmt: skip
"""The predicate that holds exactly where another one does not."""

SWAPPED: Mapping[Predicate, Predicate] = {
    "eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle",
}  # fmt: skip
"""The predicate of `b` and `a` for one of `a` and `b`."""


def decide(predicate: Predicate, difference: Range) -> bool | None:
    """Return whether all integers of `difference` compare with 0 as `predicate` says, or none of
    them does; None if some do."""
    low, high, holes = difference
    match predicate:
        case "slt" | "sge":
            if high is not None and high < 0:
                return predicate == "slt"
            return predicate == "sge" if low is not None and low >= 0 else None
        case "sgt" | "sle":
            if low is not None and low > 0:
                return predicate == "sgt"
            return predicate == "sle" if high is not None and high <= 0 else None
        case "eq" | "ne":
            # Equality needs a range of one integer, difference an end or a hole beside 0; a hole
            # elsewhere says nothing.
            if low == high == 0:
                return predicate == "eq"
            is_apart = (low is not None and low > 0) or (high is not None and high < 0)
            return predicate == "ne" if is_apart or 0 in holes else None
