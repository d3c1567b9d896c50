"""Decompositions of operations into simpler ones, and the builder that folds constants in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX, BFloat16Type, Float16Type, TensorType, f16, f32
from xdsl.ir import Attribute, Operation, SSAValue

from ..compiler.interpreters.arrays import Array, dtype_of, element_of
from ..dialects.numbers import Function, Term
from ..dialects.relax.base import TensorOp
from ..dialects.relax.data.manipulation import ExpandDimsOp, ReshapeOp, TransposeOp
from ..dialects.relax.elementwise.binary import AddOp, MaximumOp, MultiplyOp, SubtractOp
from ..dialects.relax.elementwise.elementwise import AstypeOp
from ..dialects.relax.elementwise.unary import RsqrtOp
from ..dialects.relax.reduction import normalization as ops
from ..dialects.relax.reduction.nn import BiasAddOp
from ..dialects.relax.reduction.reduction import MeanOp, SumOp
from ..dialects.relax.shapes import normalize_axes, normalize_axis
from ..dialects.relax.types import Element, is_ranked
from .arrays import Known, compute, constant_of, known
from .float_rounding import reassociates, scale_keeps_range

# FoldingBuilder: builds operations, and computes those on constants at once.


class Folded(Term["Folded | float", "Folded"]):
    """A tensor: its elements if they are known, else an SSA value. A number stands for a tensor of
    rank 0."""

    def __init__(self, folder: FoldingBuilder, tensor: Known | SSAValue) -> None:
        self.folder = folder
        self.tensor = tensor

    def apply(self, function: Function, a: Folded | float, b: Folded | float) -> Folded:
        cls, compute = FUNCTIONS[function]
        return self.folder.apply(cls, compute, a, b)


Folded.partners = (Folded, float, int)
FUNCTIONS: Mapping[Function, tuple[type[TensorOp], Callable[..., Array]]] = {
    "add": (AddOp, np.add),
    "sub": (SubtractOp, np.subtract),
    "mul": (MultiplyOp, np.multiply),
}


class FoldingBuilder:
    """Builds operations on tensors of one element type; folds operations on constants
    (MLIR: `OpBuilder::createOrFold`).

    Known elements stay so until an operation needs them as an operand; then they become one
    constant. Computes in f32 for f16 and bf16, as the semantics of the decomposed operations does.
    """

    def __init__(self, builder: Builder, element: Element) -> None:
        self.builder = builder
        self.element = element
        self.wide: Element = f32 if isinstance(element, Float16Type | BFloat16Type) else element

    def tensor(self, value: SSAValue) -> Folded:
        """Return `value` in the type of the computation."""
        return Folded(self, self._astype(value, self.element, self.wide))

    def parameter(self, value: SSAValue) -> Folded:
        """Return `value` in the type of the computation, known if it is a constant."""
        if (elements := known(value)) is None:
            return self.tensor(value)
        array = elements.array.astype(dtype_of(self.wide), copy=False)
        return Folded(self, Known(array, elements.shape))

    def number(self, number: float) -> Folded:
        """Return `number` as a tensor of rank 0."""
        return Folded(self, Known(np.asarray(number, dtype_of(self.wide)), ()))

    def result(self, term: Folded) -> SSAValue:
        """Return `term` converted back to the element type, as an SSA value."""
        if isinstance(term.tensor, Known):
            return self._insert(constant_of(term.tensor, self.element))
        return self._astype(term.tensor, self.wide, self.element)

    def maximum(self, lhs: Folded, rhs: Folded | float) -> Folded:
        return self.apply(MaximumOp, np.maximum, lhs, rhs)

    def rsqrt(self, term: Folded) -> Folded:
        return self.apply(RsqrtOp, _rsqrt, term)

    def mean(self, term: Folded, axes: Sequence[int]) -> Folded:
        """Build the mean over `axes`, which stay with size 1."""
        # Not folded, unlike the others: only data is reduced, and where that is constant,
        # `fold-constant` evaluates the whole operation.
        return Folded(self, self._insert(MeanOp(self._operand(term), axis=axes, keepdims=True)))

    def sum(self, term: Folded, axes: Sequence[int]) -> Folded:
        """Build the sum over `axes`, which stay with size 1."""
        return Folded(self, self._insert(SumOp(self._operand(term), axis=axes, keepdims=True)))

    def reshape(self, term: Folded, shape: Sequence[int]) -> Folded:
        return Folded(self, self._insert(ReshapeOp(self._operand(term), newshape=shape)))

    def broadcast_along(self, term: Folded, axes: Sequence[int], rank: int) -> Folded:
        """Transpose and reshape `term` to broadcast with a tensor of rank `rank`: its
        dimensions become the dimensions `axes` of that tensor."""
        # Axes (3, 1) of rank 4: the parameter is transposed, then gets a dimension of 1 between.
        order = sorted(range(len(axes)), key=axes.__getitem__)
        first = min(axes, default=rank)
        new = [axis - first for axis in range(first, rank) if axis not in axes]
        parameter = term.tensor
        if isinstance(parameter, Known):
            return Folded(self, _broadcast_along(parameter, order, new))
        if order != [*range(len(axes))]:
            parameter = self._insert(TransposeOp(parameter, axes=order))
        return Folded(self, self._insert(ExpandDimsOp(parameter, axis=new)) if new else parameter)

    def apply(
        self, cls: type[TensorOp], function: Callable[..., Array], *terms: Folded | float
    ) -> Folded:
        """Compute a function of known tensors, or build the operation."""
        tensors = [term if isinstance(term, Folded) else self.number(term) for term in terms]
        elements = [term.tensor for term in tensors if isinstance(term.tensor, Known)]
        if len(elements) == len(tensors):
            return Folded(self, compute(function, *elements))
        return Folded(self, self._insert(cls(*map(self._operand, tensors))))

    def _operand(self, term: Folded) -> SSAValue:
        if isinstance(term.tensor, Known):
            return self._insert(constant_of(term.tensor, self.wide))
        return term.tensor

    def _astype(self, value: SSAValue, old: Element, new: Element) -> SSAValue:
        return value if old == new else self._insert(AstypeOp(value, dtype=new))

    def _insert(self, op: Operation) -> SSAValue:
        return self.builder.insert(op).results[0]


def _broadcast_along(term: Known, order: Sequence[int], new: Sequence[int]) -> Known:
    """Transpose a known tensor, and insert dimensions of size 1 that become the dimensions `new`
    of the result."""
    # Sizes (3, 5) along the axes (3, 1) of rank 4: transposed to (5, 3), then (5, 1, 3), which
    # broadcasts.
    array, sizes = term.array, iter([term.shape[axis] for axis in order])
    rank = len(order) + len(new)
    shape = tuple(1 if axis in new else next(sizes) for axis in range(rank))
    # A fill is one number for each shape: there is nothing to transpose.
    return Known(np.expand_dims(array.transpose(order), tuple(new)) if array.ndim else array, shape)


def _rsqrt(array: Array) -> Array:
    return 1 / np.sqrt(array)


# Decompositions of relax operations into simpler ones, for `simplify-inference` and
# `canonicalize-ops`.
#
# All of them need the rank of the data. Parameters computed from constants alone become constants.


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
