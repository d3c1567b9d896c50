"""Tables of pairs: a few rows of a grid of parameters, in place of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import TypeAlias

import pytest
from support.budget import THOROUGH
from xdsl.ir import Attribute

__all__ = ["pairs"]

Pair: TypeAlias = tuple[tuple[int, int], ...]
"""Two columns, each with the index of a value."""


def pairs(**values: Iterable[object]) -> pytest.MarkDecorator:
    """Parametrize a test with rows that hold each pair of values of two parameters at least once;
    in a thorough run with the whole grid."""
    columns = [[*column] for column in values.values()]
    rows = [*product(*columns)] if THOROUGH else _rows_of_pairs(columns)
    return pytest.mark.parametrize(", ".join(values), rows, ids=_id)


def _rows_of_pairs(columns: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
    """Return rows of values of the columns, with each pair of values of two columns in one row at
    least."""
    grid: list[tuple[int, ...]] = [*product(*(range(len(column)) for column in columns))]
    left: list[tuple[tuple[int, ...], set[Pair]]] = [
        (row, {*combinations(enumerate(row), 2)}) for row in grid
    ]
    chosen: list[tuple[int, ...]] = []
    while left:
        row, covered = max(left, key=lambda entry: len(entry[1]))
        chosen.append(row)
        left = [(other, found - covered) for other, found in left if found - covered]
    return [tuple(column[i] for column, i in zip(columns, row)) for row in sorted(chosen)]


def _id(value: object) -> str | None:
    """Return the name of an attribute in the identifier of a test; pytest names other values."""
    return str(value) if isinstance(value, Attribute) else None
