"""Converter of Unique: sort, and keep the first of equal elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import shape_text
from ..errors import Unsupported
from ..node import Converters, Node
from .expression import Expression, indices, size_along

__all__ = ["UNIQUE", "uniques"]

MAX_ELEMENTS = 1 << 24
SORTS = 16
"""Slices of up to this many elements are ordered by sorting, longer ones by comparison."""


def unique(node: Node) -> Sequence[SSAValue]:
    """Convert Unique: the distinct elements, or slices along an axis; where each occurs first,
    which one each element is, and how often each occurs."""
    x, axis = Expression(node, node.input(0)), node.opt_int("axis")
    values = uniques(x, axis, bool(node.int("sorted", 1)))
    return [value.value for value in values]


def uniques(x: Expression, axis: int | None, ordered: bool) -> list[Expression]:
    """Return the four outputs of Unique."""
    if axis is None or x.rank == 1:
        x, axis = x.reshape(-1), 0
        order = x.op("argsort", axis=0)
        last = x.take(order, 0)
        differs = ~last.slice(0, 1, 2**63 - 1).equals(last.slice(0, 0, -1))
    else:
        axis = x.node.axis(axis, x.value)
        order, differs = ordered_slices(x, axis)
    return selected(x, axis, order, differs, ordered)


def ordered_slices(x: Expression, axis: int) -> tuple[Expression, Expression]:
    """Return the lexicographic order of the slices along an axis, and whether each after the first
    differs from the one before."""
    count, others = x.shape[axis], [i for i in range(x.rank) if i != axis]
    sizes = [x.shape[i] for i in others]
    if count == 0:
        raise Unsupported(f"input of shape {shape_text(x.shape)} without slices along axis {axis}")
    if DYNAMIC_INDEX in sizes:
        said = f"input of shape {shape_text(x.shape)}: slices along axis {axis} of unknown size"
        raise Unsupported(said)
    rows = x.transpose(axis, *others).reshape(-1 if count == DYNAMIC_INDEX else count, prod(sizes))
    order = order_by_sorting(rows) if 0 < prod(sizes) <= SORTS else order_by_comparison(rows)
    ranked = rows.take(order, 0)
    pairs = ranked.slice(0, 1, 2**63 - 1).equals(ranked.slice(0, 0, -1))
    return order, ~pairs.op("all", axis=[1])


def order_by_sorting(rows: Expression) -> Expression:
    """Return the lexicographic order of rows: they are sorted by each column, from the last one
    on; rows with the same element keep their order."""
    last = rows.shape[1] - 1
    order = rows.at(1, last).op("argsort", axis=0)
    for column in range(last - 1, -1, -1):
        order = order.take(rows.at(1, column).take(order, 0).op("argsort", axis=0), 0)
    return order


def order_by_comparison(rows: Expression) -> Expression:
    """Return the lexicographic order of rows: the place of a row is the number of smaller ones."""
    count, columns = rows.shape
    if count == DYNAMIC_INDEX or count * count * columns > MAX_ELEMENTS:
        raise Unsupported(f"slices of shape {shape_text(rows.shape)}")
    one, other = rows.expand(1), rows.expand(0)
    unequal = ~one.equals(other)
    first = unequal.cast(i64).op("argmax", axis=2, keepdims=True)
    smaller = (other < one).op("gather", first, axis=2).squeeze(2)
    before = np.tri(count, k=-1, dtype=np.bool_)  # of equal slices the first comes first
    same = ~unequal.op("any", axis=[2])
    smaller = smaller | (same & Expression(rows.node, rows.node.array(before, i1)))
    return smaller.cast(i64).sum(1).op("argsort", axis=0)


def selected(
    x: Expression, axis: int, order: Expression, differs: Expression, ordered: bool
) -> list[Expression]:
    """Return the outputs of Unique, given the sorted `order` of the slices and whether each, from
    the second on, differs from the one before."""
    node = x.node
    first = Expression(node, node.full(1, i1, (1,)))
    new = first.concat(differs, axis=0) if x.shape[axis] != 1 else first
    group = new.cast(i64).op("cumsum", axis=0) - 1
    starts = indices(size_along(x, axis), node).op("dyn.compress", new, axis=0)
    ends = starts.slice(0, 1, 2**63 - 1).concat(size_along(x, axis).expand(0), axis=0)
    places, counts = order.take(starts, 0), ends - starts
    inverse = group.take(order.op("argsort", axis=0), 0)
    if not ordered:
        found = places.op("argsort", axis=0)
        places, counts = places.take(found, 0), counts.take(found, 0)
        inverse = found.op("argsort", axis=0).take(inverse, 0)
    return [x.take(places, axis), places, inverse, counts]


UNIQUE: Converters = {"Unique": unique}
