"""Operators that read and write elements at places that are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import shape_text
from ..errors import Unsupported
from ..node import Converter, Converters, Node, direct
from .expression import Expression, indices, size_along

_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


def gather(node: Node) -> SSAValue:
    """Negative places count from the end."""
    x, places = node.input(0), node.cast(node.input(1), i64)
    return node.op("take", x, places, axis=node.int("axis"), mode="raise")


def at_places(name: str, **attributes: str) -> Converter:
    """Return a converter to the operation `name` on data and places, which become i64, with
    attributes of the node as properties."""
    convert = direct(name, **attributes)
    return lambda node: convert(node.alike([node.input(0), node.cast(node.input(1), i64)]))


gather_nd = at_places("gather_nd", batch_dims="batch_dims")


def scatter_elements(node: Node) -> SSAValue:
    x, places, updates = node.input(0), node.cast(node.input(1), i64), node.input(2)
    reduction = node.choice("reduction", _REDUCTIONS, "none")
    axis = node.int("axis")
    return node.op("scatter_elements", x, places, updates, axis=axis, reduction=reduction)


def scatter_nd(node: Node) -> SSAValue:
    x, places, updates = node.input(0), node.cast(node.input(1), i64), node.input(2)
    reduction = node.choice("reduction", _REDUCTIONS, "none")
    return node.op("scatter_nd", x, places, updates, reduction=reduction)


def tensor_scatter(node: Node) -> SSAValue:
    """The update in the place of as many elements along an axis, of each batch from its index on;
    past the end it begins anew if the mode is circular."""
    past, update = node.input(0), node.input(1)
    axis = node.axis(node.int("axis", -2), past)
    sizes = node.sizes(update, node.rank(past))
    places = indices(sizes[axis], node)
    if node.has(2):
        places = Expression(node, node.input(2)).cast(i64).expand(1) + places
    else:
        places = places.expand(0)
    if node.choice("mode", {"linear": False, "circular": True}, "linear"):
        places = places % node.static_shape(past)[axis]
    others = [i for i in range(1, len(sizes)) if i != axis]
    places = places.expand(*others).broadcast(*sizes).value
    return node.op("scatter_elements", past, places, update, axis=axis)


def one_hot(node: Node) -> Expression:
    """Negative places count from the end; the values are off and on."""
    places, values = Expression(node, node.input(0)).cast(i64), Expression(node, node.input(2))
    off, on = (values.slice(0, i, i + 1).squeeze(0) for i in range(2))
    axis, depth = node.int("axis", -1), node.number_of(1)
    if depth is None:
        count = Expression(node, node.input(1)).cast(i64)
        count = count.op("squeeze") if count.rank else count
    else:
        count = places.scalar(int(depth))
    places = (places < 0).where(places + count, places)
    if depth is None:
        return places.op("dyn.one_hot", on, off, count, axis=axis)
    return places.op("one_hot", on, off, depth=int(depth), axis=axis)


def compress(node: Node) -> SSAValue:
    x, axis = node.input(0), node.opt_int("axis")
    if (condition := node.constant(1)) is None:
        return node.op("dyn.compress", x, node.input(1), axis=axis)
    places = node.array(np.flatnonzero(condition), i64)
    return node.op("take", x, places, axis=axis, mode="wrap")


def trilu(node: Node) -> SSAValue:
    k = node.input(1) if node.has(1) else node.full(0, i64)
    if node.rank(k):
        k = node.op("squeeze", k)
    return node.op("trilu", node.input(0), k, upper=bool(node.int("upper", 1)))


INDEXING: Converters = {
    "Compress": compress,
    "Gather": gather,
    "GatherElements": at_places("gather", axis="axis"),
    "GatherND": gather_nd,
    "NonZero": direct("nonzero"),
    "OneHot": one_hot,
    "Scatter": scatter_elements,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter,
    "Trilu": trilu,
}


# Converter of Unique: sort, and keep the first of equal elements.


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
