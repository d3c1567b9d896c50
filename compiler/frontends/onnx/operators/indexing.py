"""Operators that read and write elements at places that are inputs."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..node import Converter, Converters, Node, direct

__all__ = ["INDEXING"]

_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


def gather(node: Node) -> SSAValue:
    """Negative places count from the end."""
    x, indices = node.input(0), node.cast(node.input(1), i64)
    return node.op("take", x, indices, axis=node.int("axis"), mode="raise")


def at_places(name: str, **attributes: str) -> Converter:
    """Return a converter to the operation `name` on data and places, which become i64, with
    attributes of the node as properties."""
    convert = direct(name, **attributes)
    return lambda node: convert(node.alike([node.input(0), node.cast(node.input(1), i64)]))


gather_nd = at_places("gather_nd", batch_dims="batch_dims")


def scatter_elements(node: Node) -> SSAValue:
    x, indices, updates = node.input(0), node.cast(node.input(1), i64), node.input(2)
    reduction = node.choice("reduction", _REDUCTIONS, "none")
    axis = node.int("axis")
    return node.op("scatter_elements", x, indices, updates, axis=axis, reduction=reduction)


def scatter_nd(node: Node) -> SSAValue:
    x, indices, updates = node.input(0), node.cast(node.input(1), i64), node.input(2)
    reduction = node.choice("reduction", _REDUCTIONS, "none")
    return node.op("scatter_nd", x, indices, updates, reduction=reduction)


def tensor_scatter(node: Node) -> SSAValue:
    """The update in the place of as many elements along an axis, of each batch from its index on;
    past the end it begins anew if the mode is circular."""
    past, update = node.input(0), node.input(1)
    axis = node.axis(node.int("axis", -2), past)
    sizes = node.sizes(update, node.rank(past))
    node.check_size(sizes[axis])
    places = node.array(np.arange(sizes[axis]), i64)
    if node.has(2):
        starts = node.op("expand_dims", node.cast(node.input(2), i64), axis=[1])
        places = node.op("add", starts, places)
    else:
        places = node.op("expand_dims", places, axis=[0])
    if node.choice("mode", {"linear": False, "circular": True}, "linear"):
        places = node.op("floor_mod", places, node.full(node.static_shape(past)[axis], i64))
    others = [i for i in range(1, len(sizes)) if i != axis]
    places = node.op("expand_dims", places, axis=others) if others else places
    places = node.op("broadcast_to", places, shape=sizes)
    return node.op("scatter_elements", past, places, update, axis=axis)


def one_hot(node: Node) -> SSAValue:
    """Negative places count from the end; the values are off and on."""
    indices, values, axis = node.cast(node.input(0), i64), node.input(2), node.int("axis", -1)
    off, on = (
        node.op("squeeze", node.op("strided_slice", values, begin=[i], end=[i + 1]), axis=[0])
        for i in range(2)
    )
    if (depth := node.number_of(1)) is not None:
        count = int(depth)
        indices = from_start(node, indices, node.full(count, i64))
        return node.op("one_hot", indices, on, off, depth=count, axis=axis)
    count_value = node.cast(node.input(1), i64)
    if node.rank(count_value):
        count_value = node.op("squeeze", count_value)
    indices = from_start(node, indices, count_value)
    return node.op("dyn.one_hot", indices, on, off, count_value, axis=axis)


def from_start(node: Node, indices: SSAValue, count: SSAValue) -> SSAValue:
    """Places that all count from the start."""
    negative = node.op("less", indices, node.full(0, i64))
    return node.op("where", negative, node.op("add", indices, count), indices)


def compress(node: Node) -> SSAValue:
    x, axis = node.input(0), node.opt_int("axis")
    if (condition := node.constant(1)) is None:
        return node.op("dyn.compress", x, node.input(1), axis=axis)
    indices = node.array(np.flatnonzero(condition), i64)
    return node.op("take", x, indices, axis=axis, mode="wrap")


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
