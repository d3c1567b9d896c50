"""Decompositions of relax operations into simpler ones, for `simplify-inference` and
`canonicalize-ops`.

All of them need the rank of the data. Parameters computed from constants alone become constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX, Float16Type, TensorType, f16
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.interpreters.arrays import element_of
from ...dialects.relax.data.reshape import ExpandDimsOp
from ...dialects.relax.elementwise.binary import AddOp, MultiplyOp
from ...dialects.relax.reduction import normalization as ops
from ...dialects.relax.reduction.nn import BiasAddOp
from ...dialects.relax.shapes import normalize_axes, normalize_axis
from ...dialects.relax.types import is_ranked
from ..constants.arrays import Known, constant_of, known
from ..constants.float_range import reassociates, scale_keeps_range
from .folding_builder import Folded, FoldingBuilder

__all__ = ["DECOMPOSITIONS"]

Decomposition: TypeAlias = Callable[[Any, Builder], Sequence[SSAValue] | None]
"""A function that inserts operations and returns the values that replace the results of an
operation; None, and nothing inserted, if the needed rank or sizes are unknown."""


def batch_norm(op: ops.BatchNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    """Decompose into one product and one sum: `data * scale + shift`.

    They are in the element type of the data, so that `fold-scale-axis` can move the product into
    the weights of a convolution. Scale and shift are computed in f32 or f64 and rounded once.
    In f16 the product may overflow where the sum would be finite: unless `_keeps_range` excludes
    that, product and sum are computed in f32, and the sum is rounded.
    """
    if not is_ranked(type := op.data.type):
        return None
    folder = FoldingBuilder(builder, element_of(type))
    scale = folder.rsqrt(folder.parameter(op.moving_var) + op.epsilon)
    if op.scale:
        scale = scale * folder.parameter(op.gamma)
    # (x - mean) * scale + beta is x * scale + (beta - mean * scale): with constants, two numbers
    # for each channel.
    shift = folder.parameter(op.moving_mean) * scale
    shift = (folder.parameter(op.beta) if op.center else 0.0) - shift
    axes, rank = _axes([op.axis], type)
    if isinstance(folder.element, Float16Type) and not _keeps_range(scale, shift):
        scale, shift = (folder.broadcast_along(term, axes, rank) for term in (scale, shift))
        product = folder.tensor(op.data) * scale
        return (folder.result(product + shift),)
    scaled = MultiplyOp(op.data, folder.result(folder.broadcast_along(scale, axes, rank)))
    builder.insert(scaled)
    return builder.insert(
        AddOp(scaled, folder.result(folder.broadcast_along(shift, axes, rank)))
    ).results


def _keeps_range(scale: Folded, shift: Folded) -> bool:
    """Return whether `data * scale + shift` is known to stay finite if its product is computed in
    f16, or need not stay finite (`relax.fastmath=reassoc`)."""
    if reassociates():
        return True
    if not isinstance(scale.tensor, Known) or not isinstance(shift.tensor, Known):
        return False
    return scale_keeps_range(scale.tensor.array, shift.tensor.array, f16)


def layer_norm(op: ops.LayerNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    """Decompose into `normalized * gamma + beta` over `op.axes`."""
    if not is_ranked(type := op.data.type):
        return None
    folder = FoldingBuilder(builder, element_of(type))
    axes, _ = _axes([*op.axes], type)
    data = _normalize(folder, folder.tensor(op.data), axes, op.epsilon)
    return _affine(folder, op, data, axes, type)


def instance_norm(op: ops.InstanceNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    """Decompose into `normalized * gamma + beta` over the spatial dimensions."""
    if not is_ranked(type := op.data.type):
        return None
    folder = FoldingBuilder(builder, element_of(type))
    channels, rank = _axes([op.axis], type)
    axes = [axis for axis in range(1, rank) if axis not in channels]
    data = _normalize(folder, folder.tensor(op.data), axes, op.epsilon)
    return _affine(folder, op, data, channels, type)


def group_norm(op: ops.GroupNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    """Decompose into a reshape that splits the channels into groups, a normalization of each
    group, and a reshape back.

    None also if `relax.reshape` cannot express the shape: the number of channels or more than one
    other dimension is unknown, or a dimension is 0.
    """
    if not is_ranked(type := op.data.type):
        return None
    (channels, *axes), _ = _axes([op.channel_axis, *op.axes], type)
    shape, groups = type.get_shape(), op.num_groups
    if shape[channels] == DYNAMIC_INDEX or shape.count(DYNAMIC_INDEX) > 1 or 0 in shape:
        return None
    folder = FoldingBuilder(builder, element_of(type))
    split = groups, shape[channels] // groups
    # Axes after the channels are one further, as these are two dimensions now.
    inner = [channels + 1, *(axis + (axis > channels) for axis in axes)]
    data = folder.reshape(
        folder.tensor(op.data), _newshape((*shape[:channels], *split, *shape[channels + 1 :]))
    )
    data = _normalize(folder, data, inner, op.epsilon)
    return _affine(folder, op, folder.reshape(data, _newshape(shape)), [channels], type)


def rms_norm(op: ops.RMSNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    """Decompose into `data * rsqrt(mean(data * data) + epsilon) * weight`."""
    if not is_ranked(type := op.data.type):
        return None
    folder = FoldingBuilder(builder, element_of(type))
    axes, rank = _axes([*op.axes], type)
    data = folder.tensor(op.data)
    # In f32 for f16, where the square of 256 is infinite: the maximum number is 65504.
    squares = folder.mean(data * data, axes)
    norm = folder.rsqrt(squares + op.epsilon)
    weight = folder.broadcast_along(folder.parameter(op.weight), axes, rank)
    return (folder.result(data * norm * weight),)


def l2_normalize(op: ops.L2NormalizeOp, builder: Builder) -> Sequence[SSAValue] | None:
    """Decompose into `data * rsqrt(max(sum(data * data), eps))`."""
    if not is_ranked(type := op.data.type):
        return None
    folder = FoldingBuilder(builder, element_of(type))
    axes, _ = _axes([*op.axis], type)
    data = folder.tensor(op.data)
    squares = folder.sum(data * data, axes)
    # max, where the other norms add epsilon: TVM's topi defines it so.
    norm = folder.rsqrt(folder.maximum(squares, op.eps))
    return (folder.result(data * norm),)


def bias_add(op: BiasAddOp, builder: Builder) -> Sequence[SSAValue] | None:
    """Decompose into a sum with the bias, expanded to broadcast along its axis."""
    if not is_ranked(type := op.data.type):
        return None
    axis = normalize_axis(op.axis, len(type.get_shape()))
    new = len(type.get_shape()) - axis - 1
    bias = op.bias
    if new and (elements := known(bias)) is not None:
        array, shape = elements.array, (*elements.shape, *(1,) * new)
        shaped = Known(array.reshape(shape) if array.ndim else array, shape)
        bias = builder.insert(constant_of(shaped, element_of(type))).result
    elif new:
        bias = builder.insert(ExpandDimsOp(bias, axis=[*range(1, new + 1)])).result
    return builder.insert(AddOp(op.data, bias)).results


def _axes(axes: Sequence[int], type: TensorType[Attribute]) -> tuple[Sequence[int], int]:
    """Return `axes` as non-negative numbers, and the rank of `type`."""
    rank = len(type.get_shape())
    return normalize_axes(axes, rank), rank


def _newshape(shape: Sequence[int]) -> list[int]:
    """Return `shape` as the property of `relax.reshape`, with -1 for an unknown size."""
    return [-1 if size == DYNAMIC_INDEX else size for size in shape]


def _normalize(folder: FoldingBuilder, data: Folded, axes: Sequence[int], epsilon: float) -> Folded:
    """Build `(data - mean) * rsqrt(variance + epsilon)`, with mean and variance over `axes`."""
    # Two passes over the data: mean(x * x) - mean(x)^2 would cancel where the mean is large.
    centered = data - folder.mean(data, axes)
    variance = folder.mean(centered * centered, axes)
    return centered * folder.rsqrt(variance + epsilon)


def _affine(
    folder: FoldingBuilder,
    op: ops.AffineNormOp,
    data: Folded,
    axes: Sequence[int],
    type: TensorType[Attribute],
) -> Sequence[SSAValue]:
    """Build `data * gamma + beta` along `axes`; `op` says whether it has gamma and beta."""
    rank = len(type.get_shape())
    if op.scale:
        data = data * folder.broadcast_along(folder.parameter(op.gamma), axes, rank)
    if op.center:
        data = data + folder.broadcast_along(folder.parameter(op.beta), axes, rank)
    return (folder.result(data),)


DECOMPOSITIONS: Mapping[type[Operation], Decomposition] = {
    BiasAddOp: bias_add,
    ops.BatchNormOp: batch_norm,
    ops.GroupNormOp: group_norm,
    ops.InstanceNormOp: instance_norm,
    ops.L2NormalizeOp: l2_normalize,
    ops.LayerNormOp: layer_norm,
    ops.RMSNormOp: rms_norm,
}
