"""Operators that read and write elements at places that are inputs."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..node import Converter, Converters, Node, direct
from .expression import Expression, indices

__all__ = ["INDEXING"]

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
