"""Converters of the other operators of com.microsoft: shapes, indices, images, sequences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converter, Converters, Node
from ..operators.elementwise import identity
from ..operators.expression import Expression, constant, indices, inputs, total
from ..operators.indexing import gather_nd, trilu, uniques
from ..operators.linear_algebra import inverse
from ..operators.manipulation import pad, range_
from ..operators.regions import linear_taps, pixels
from ..operators.resize import grid_sample

OPSET = 13
"""The opset of ONNX whose operators have the form of those of the same name here."""


def as_in_onnx(convert: Converter) -> Converter:
    """Return the converter of an operator that is as in ONNX."""
    return lambda node: convert(node.alike(node.inputs, opset=OPSET))


def expand_dims(node: Node) -> SSAValue:
    if (axis := node.int_of(1)) is None:
        raise Unsupported("the axis is not known")
    return node.op("expand_dims", node.input(0), axis=[axis])


def numbers(node: Node) -> SSAValue:
    """Convert Range, whose step is 1 by default."""
    step = node.input(2) if node.has(2) else node.like(1, node.input(0))
    given = [node.op("reshape", v, newshape=[]) if node.rank(v) else v for v in node.all_inputs()]
    return range_(node.alike([*given[:2], step if len(given) < 3 else given[2]], opset=OPSET))


def unfold_tensor(node: Node) -> Expression:
    """Convert UnfoldTensor: the windows along an axis, whose elements become the last axis."""
    x = Expression(node, node.input(0))
    axis, size, step = (
        node.axis(node.int("dim", -1), x.value),
        node.int("size"),
        node.int("step", 1),
    )
    count = (node.static_shape(x.value)[axis] - size) // step + 1
    if count < 1 or size < 1 or step < 1:
        raise Unsupported(f"windows of {size} elements in {x.shape[axis]}")
    places = np.arange(count)[:, None] * step + np.arange(size)
    taken = x.take(constant(node, places, i64), axis)
    order = [i for i in range(taken.rank) if i != axis + 1]
    return taken.transpose(*order, axis + 1)


def unique(node: Node) -> Sequence[SSAValue]:
    """Convert Unique: the elements in the order in which they occur, which of them each element
    is, and their counts."""
    values, _, inverse_, counts = uniques(Expression(node, node.input(0)), None, False)
    return [values.value, inverse_.value, counts.value]


def is_all_finite(node: Node) -> Expression:
    """Return whether no element of any input is infinite or NaN."""
    tests = ["isinf"] if node.int("isinf_only") else ["isnan"] if node.int("isnan_only") else []
    finite = (~x.op(tests[0]) if tests else x.op("isfinite") for x in inputs(node))
    return reduce(Expression.__and__, (each.op("all") for each in finite))


def c_dist(node: Node) -> Expression:
    """Convert CDist: the distances of the rows of two matrices."""
    a, b = inputs(node, 0, 1)
    kinds = {"euclidean": True, "sqeuclidean": False}
    root = node.choice("metric", kinds, "sqeuclidean")
    difference = a.expand(1) - b.expand(0)
    squares = (difference * difference).sum(-1)
    return squares.op("sqrt") if root else squares


def n_gram_repeat_block(node: Node) -> Expression:
    """Convert NGramRepeatBlock: -inf for each word that would repeat an n-gram of the words
    before."""
    words, scores = inputs(node, 0, 1)
    batch, length = node.sizes(words.value, 2)
    size = node.int("ngram_size")
    count = length - size + 1
    if size < 1 or count < 1:
        return scores
    hits = (
        words.slice(1, i, i + count).equals(words.slice(1, count + i, count + i + 1))
        for i in range(size - 1)
    )
    hit = reduce(Expression.__and__, hits) if size > 1 else None
    following = words.slice(1, size - 1, length).cast(i64)
    barred = Expression(node, node.full(-inf, scores.element, (batch, count)))
    updates = barred if hit is None else hit.where(-inf, scores.scalar(inf))
    return scores.op("scatter_elements", following, updates, axis=1, reduction="min")


def crop_and_resize(node: Node) -> Expression:
    """Convert CropAndResize: regions, in relative coordinates, resized to one size."""
    x, rois, batch = inputs(node, 0, 1, 2)
    if (crop := node.ints_of(3)) is None or len(crop) != 2:
        raise Unsupported("crop_size is not known")
    linear = node.choice("mode", {"bilinear": True, "nearest": False}, "bilinear")
    image = x.transpose(0, 2, 3, 1)
    taps: list[list[tuple[Expression, Expression]]] = []
    inside: list[Expression] = []
    for i, (count, size) in enumerate(zip(crop, node.sizes(x.value, 4)[2:], strict=True)):
        start, end = (rois.at(1, j).expand(1) * (size - 1) for j in (i, i + 2))
        if count > 1:
            number = indices(count, node).cast(x.element)
            places = start + number * ((end - start) / (count - 1))
            places = (number.equals(count - 1)).where(end, places)
        else:
            places = (start + end) * 0.5
        places = places.expand(2) if i == 0 else places.expand(1)
        inside.append((places >= 0.0) & (places <= size - 1.0))
        nearest = (places + 0.5).op("floor")
        taps.append(linear_taps(places) if linear else [(nearest, nearest)])
    terms: list[Expression] = []
    place = batch.cast(i64).expand(1, 2)
    for y, y_weight in taps[0]:
        for z, z_weight in taps[1]:
            shape = y.cast(i64) * 0 + z.cast(i64) * 0
            taken = pixels(image, *(v + shape.cast(v.element) for v in (place, y, z)))
            terms.append(taken * (y_weight * z_weight).expand(3) if linear else taken)
    outside = node.float("extrapolation_value")
    result = (inside[0] & inside[1]).expand(3).where(total(terms), outside)
    return result.transpose(0, 3, 1, 2)


TENSORS: Converters = {
    "CDist": c_dist,
    "CropAndResize": crop_and_resize,
    "ExpandDims": expand_dims,
    "GatherND": as_in_onnx(gather_nd),
    "GridSample": as_in_onnx(grid_sample),
    "Inverse": inverse,
    "IsAllFinite": is_all_finite,
    "NGramRepeatBlock": n_gram_repeat_block,
    "Pad": as_in_onnx(pad),
    "Range": numbers,
    "SampleOp": identity,
    "Trilu": as_in_onnx(trilu),
    "UnfoldTensor": unfold_tensor,
    "Unique": unique,
}
