"""Decompositions of operations of relax into simpler ones, for simplify-inference and
canonicalize-ops; constant parameters are computed at once.

Each returns None if the rank of the data is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relax import normalization as ops
from ...dialects.relax.binary import AddOp, MultiplyOp
from ...dialects.relax.nn import BiasAddOp
from ...dialects.relax.reshape import ExpandDimsOp
from ...dialects.relax.shapes import normalize_axes, normalize_axis
from ...dialects.relax.types import is_ranked
from ...interpreters.arrays import element_of
from ..rewriting.folding_builder import Calculator, Term, constant_of, known_array

__all__ = ["DECOMPOSITIONS"]

Decomposition: TypeAlias = Callable[[Any, Builder], Sequence[SSAValue] | None]
"""Inserts operations that compute the results of an operation; None if its types say too little."""


def batch_norm(op: ops.BatchNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    """One product and one sum, in the element type of the data, so that a convolution can take in
    the product; the factors are rounded to it once."""
    if not is_ranked(type := op.data.type):
        return None
    calc = Calculator(builder, element_of(type))
    scale = calc.rsqrt(calc.add(calc.parameter(op.moving_var), calc.number(op.epsilon)))
    if op.scale:
        scale = calc.multiply(scale, calc.parameter(op.gamma))
    shift = calc.multiply(calc.parameter(op.moving_mean), scale)
    if op.center:
        shift = calc.subtract(calc.parameter(op.beta), shift)
    else:
        shift = calc.subtract(calc.number(0.0), shift)
    axes, rank = _axes([op.axis], type)
    scaled = MultiplyOp(op.data, calc.result(calc.along(scale, axes, rank)))
    builder.insert(scaled)
    return builder.insert(AddOp(scaled, calc.result(calc.along(shift, axes, rank)))).results


def layer_norm(op: ops.LayerNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    if not is_ranked(type := op.data.type):
        return None
    calc = Calculator(builder, element_of(type))
    axes, _ = _axes([*op.axes], type)
    data = _normalize(calc, calc.tensor(op.data), axes, op.epsilon)
    return _affine(calc, op, data, axes, type)


def instance_norm(op: ops.InstanceNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    if not is_ranked(type := op.data.type):
        return None
    calc = Calculator(builder, element_of(type))
    channels, rank = _axes([op.axis], type)
    axes = [axis for axis in range(1, rank) if axis not in channels]
    data = _normalize(calc, calc.tensor(op.data), axes, op.epsilon)
    return _affine(calc, op, data, channels, type)


def group_norm(op: ops.GroupNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    """None, too, if the number of channels is not known, more than one other dimension is not, or
    one is 0, of which no reshape could say what it is to be."""
    if not is_ranked(type := op.data.type):
        return None
    (channels, *axes), _ = _axes([op.channel_axis, *op.axes], type)
    shape, groups = type.get_shape(), op.num_groups
    if shape[channels] == DYNAMIC_INDEX or shape.count(DYNAMIC_INDEX) > 1 or 0 in shape:
        return None
    calc = Calculator(builder, element_of(type))
    split = groups, shape[channels] // groups
    inner = [channels + 1, *(axis + (axis > channels) for axis in axes)]
    data = calc.reshape(
        calc.tensor(op.data), _newshape((*shape[:channels], *split, *shape[channels + 1 :]))
    )
    data = _normalize(calc, data, inner, op.epsilon)
    return _affine(calc, op, calc.reshape(data, _newshape(shape)), [channels], type)


def rms_norm(op: ops.RMSNormOp, builder: Builder) -> Sequence[SSAValue] | None:
    if not is_ranked(type := op.data.type):
        return None
    calc = Calculator(builder, element_of(type))
    axes, rank = _axes([*op.axes], type)
    data = calc.tensor(op.data)
    squares = calc.mean(calc.multiply(data, data), axes)
    norm = calc.rsqrt(calc.add(squares, calc.number(op.epsilon)))
    weight = calc.along(calc.parameter(op.weight), axes, rank)
    return (calc.result(calc.multiply(calc.multiply(data, norm), weight)),)


def l2_normalize(op: ops.L2NormalizeOp, builder: Builder) -> Sequence[SSAValue] | None:
    if not is_ranked(type := op.data.type):
        return None
    calc = Calculator(builder, element_of(type))
    axes, _ = _axes([*op.axis], type)
    data = calc.tensor(op.data)
    squares = calc.sum(calc.multiply(data, data), axes)
    norm = calc.rsqrt(calc.maximum(squares, calc.number(op.eps)))
    return (calc.result(calc.multiply(data, norm)),)


def bias_add(op: BiasAddOp, builder: Builder) -> Sequence[SSAValue] | None:
    """A sum with the bias expanded: if that is a constant, with another one."""
    if not is_ranked(type := op.data.type):
        return None
    axis = normalize_axis(op.axis, len(type.get_shape()))
    new = len(type.get_shape()) - axis - 1
    bias = op.bias
    if new and (known := known_array(bias)) is not None:
        shaped = known.reshape(-1, *(1,) * new)
        bias = builder.insert(constant_of(shaped, element_of(type))).result
    elif new:
        bias = builder.insert(ExpandDimsOp(bias, axis=[*range(1, new + 1)])).result
    return builder.insert(AddOp(op.data, bias)).results


def _axes(axes: Sequence[int], type: TensorType[Attribute]) -> tuple[Sequence[int], int]:
    """The axes counted from the first one, and the rank."""
    rank = len(type.get_shape())
    return normalize_axes(axes, rank), rank


def _newshape(shape: Sequence[int]) -> list[int]:
    """The shape as `relax.reshape` says it."""
    return [-1 if size == DYNAMIC_INDEX else size for size in shape]


def _normalize(calc: Calculator, data: Term, axes: Sequence[int], epsilon: float) -> Term:
    """The tensor less its mean, over the root of its variance, both over `axes`."""
    centered = calc.subtract(data, calc.mean(data, axes))
    variance = calc.mean(calc.multiply(centered, centered), axes)
    return calc.multiply(centered, calc.rsqrt(calc.add(variance, calc.number(epsilon))))


def _affine(
    calc: Calculator,
    op: ops.AffineNormOp,
    data: Term,
    axes: Sequence[int],
    type: TensorType[Attribute],
) -> Sequence[SSAValue]:
    """The product with `gamma` and the sum with `beta`, as far as the operation has them."""
    rank = len(type.get_shape())
    if op.scale:
        data = calc.multiply(data, calc.along(calc.parameter(op.gamma), axes, rank))
    if op.center:
        data = calc.add(data, calc.along(calc.parameter(op.beta), axes, rank))
    return (calc.result(data),)


DECOMPOSITIONS: Mapping[type[Operation], Decomposition] = {
    BiasAddOp: bias_add,
    ops.BatchNormOp: batch_norm,
    ops.GroupNormOp: group_norm,
    ops.InstanceNormOp: instance_norm,
    ops.L2NormalizeOp: l2_normalize,
    ops.LayerNormOp: layer_norm,
    ops.RMSNormOp: rms_norm,
}
