"""Operations that move elements."""

from __future__ import annotations

from xdsl.ir import Operation

from .. import manipulation
from ..shapes import normalize_axes
from ..types import static_shape, tensor_type
from .tensors import Concatenated, Definition, Elements, Tensor, Writer

__all__ = ["MANIPULATION"]


def reshape(op: Operation, _: Writer, data: Tensor) -> Tensor:
    """The same elements in their order in another shape."""
    shape = static_shape(op.results[0].type)
    assert shape is not None
    return Elements(
        shape,
        data.element,
        lambda w, index: w.read(data, w.unflat(w.flat(index, shape), data.shape)),
    )


def transpose(op: manipulation.TransposeOp, _: Writer, data: Tensor) -> Tensor:
    rank = len(data.shape)
    given = range(rank)[::-1] if op.axes is None else op.axes.get_values()
    axes = normalize_axes(given, rank)
    return Elements(
        tuple(data.shape[axis] for axis in axes),
        data.element,
        lambda w, index: w.read(data, [index[axes.index(i)] for i in range(rank)]),
    )


def concatenate(op: manipulation.ConcatenateOp, w: Writer, *parts: Tensor) -> Tensor:
    shape = static_shape(op.result.type)
    assert shape is not None
    axis = op.axis.value.data % len(shape)
    if w.groups is not None:
        axis = next(i for i, group in enumerate(w.groups) if axis - len(shape) in group)
    sizes = [*parts[0].shape]
    sizes[axis] = sum(part.shape[axis] for part in parts)
    return Concatenated(tuple(sizes), tensor_type(op.result).element_type, axis, parts)


MANIPULATION: dict[type[Operation], Definition] = {
    manipulation.ConcatenateOp: concatenate,
    manipulation.ExpandDimsOp: reshape,
    manipulation.FlattenOp: reshape,
    manipulation.ReshapeOp: reshape,
    manipulation.SqueezeOp: reshape,
    manipulation.TransposeOp: transpose,
}
