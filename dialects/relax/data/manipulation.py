"""Reshapes, permutations and broadcasts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def
from xdsl.utils.exceptions import VerifyException

from ..attributes import bool_prop, int_prop, ints_prop, opt_int_prop, opt_ints_prop, string_prop
from ..base import OneResultOp, SameTypeOp
from ..interfaces import (
    AlongAxes,
    Axes,
    CompositeOp,
    Conversion,
    Injective,
    LayoutRule,
    ScaleAxisRule,
    Scaling,
    View,
    first_relayout,
)
from ..layout import Layout, Relayout
from ..shapes import (
    Shape,
    computed_size,
    is_static,
    merge,
    normalize_axes,
    normalize_axis,
    num_elements,
    replace_dimension,
    shape_text,
)
from ..types import TENSOR, check_indices, number_type, shape_of, tensor_type, with_shape

__all__ = [
    "BroadcastToOp",
    "ExpandDimsOp",
    "FlattenOp",
    "FlipOp",
    "LayoutTransformOp",
    "RepeatOp",
    "ReshapeOp",
    "ReverseSequenceOp",
    "SqueezeOp",
    "TileOp",
    "TransposeOp",
    "infer_broadcast_to",
    "infer_reshape",
]


# Operations that change the shape of a tensor and keep its elements in row-major order.


@irdl_op_definition
class ReshapeOp(View, OneResultOp):
    """A tensor with the same elements in row-major order and another shape (ONNX Reshape).

    In `newshape`, 0 copies the dimension with the same index, unless `allowzero`; at most one -1 is
    inferred from the number of elements.
    """

    name = "relax.reshape"

    data = operand_def(TENSOR)
    newshape = ints_prop()
    allowzero = bool_prop(False)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = infer_reshape(shape_of(type), self.newshape, self.allowzero)
        return (with_shape(type, shape),)


def infer_reshape(shape: Shape | None, newshape: Sequence[int], allowzero: bool) -> Shape:
    """Return the result shape of `relax.reshape`; `shape` is None for an unranked operand.

    Copied dimensions cancel out: the -1 is inferred from the other dimensions only, so that it is
    known for `?x6` to `[0, 2, -1]`: `?x2x3`. VerifyException if the numbers of elements differ.
    """
    check_newshape(newshape, allowzero)
    copied = () if allowzero else tuple(i for i, n in enumerate(newshape) if n == 0)
    if shape is None:
        return tuple(DYNAMIC_INDEX if n < 0 or i in copied else n for i, n in enumerate(newshape))
    if copied and copied[-1] >= len(shape):
        raise VerifyException(
            f"newshape {[*newshape]} copies dimension {copied[-1]}, "
            f"but shape {shape_text(shape)} has {len(shape)} dimensions"
        )
    left = [d for i, d in enumerate(shape) if i not in copied]
    total, known = num_elements(left), prod(d for d in left if d != DYNAMIC_INDEX)
    given = prod(n for i, n in enumerate(newshape) if n >= 0 and i not in copied)
    if -1 in newshape:
        fits = total == DYNAMIC_INDEX or total % given == 0
    elif total == DYNAMIC_INDEX:
        fits = given % known == 0
    else:
        fits = total == given or 0 in (shape[i] for i in copied)
    fits_some = fits and given > 0
    rest = computed_size(lambda n: n // given, total) if fits_some else DYNAMIC_INDEX
    result = tuple(
        shape[i] if i in copied else rest if n < 0 else n for i, n in enumerate(newshape)
    )
    if not fits:
        raise VerifyException(
            f"shape {shape_text(shape)} of {_elements(shape)} does not reshape to "
            f"{[*newshape]} of {_elements(result)}"
        )
    return result


def check_newshape(newshape: Sequence[int], allowzero: bool) -> None:
    """Raise VerifyException unless `newshape` is valid for a reshape of some tensor."""
    if wrong := [n for n in newshape if n < -1]:
        raise VerifyException(f"newshape {[*newshape]} has {wrong[0]}, which is not a size")
    if newshape.count(-1) > 1:
        raise VerifyException(f"newshape {[*newshape]} has more than one -1")
    if allowzero and -1 in newshape and 0 in newshape:
        # There are 0 elements whatever the -1 stands for, so it cannot be inferred.
        raise VerifyException(f"newshape {[*newshape]} has both -1 and a dimension of size 0")


def _elements(shape: Shape) -> str:
    """Return the number of elements as text, for messages."""
    known = prod(d for d in shape if d != DYNAMIC_INDEX)
    text = str(known) if is_static(shape) else f"a multiple of {known}"
    return f"{text} element{'' if text == '1' else 's'}"


@irdl_op_definition
class FlattenOp(CompositeOp, View, OneResultOp):
    """A tensor with the same elements in one dimension (`relax.flatten`)."""

    name = "relax.flatten"

    data = operand_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = shape_of(type)
        return (with_shape(type, (DYNAMIC_INDEX if shape is None else num_elements(shape),)),)

    def decompose(self, builder: Builder) -> Sequence[SSAValue]:
        return builder.insert(ReshapeOp(self.data, newshape=(-1,))).results


@irdl_op_definition
class SqueezeOp(LayoutRule, View, OneResultOp):
    """A tensor without the dimensions `axis`, of size 1 (`numpy.squeeze`).

    Without `axis` all dimensions of size 1 are removed.
    """

    name = "relax.squeeze"

    data = operand_def(TENSOR)
    axis = opt_ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        if (shape := shape_of(type)) is None:
            return (with_shape(type, None),)
        if self.axis is None:
            result = tuple(d for d in shape if d != 1) if is_static(shape) else None
            return (with_shape(type, result),)
        axes = normalize_axes(self.axis, len(shape))
        if wrong := [axis for axis in axes if shape[axis] not in (1, DYNAMIC_INDEX)]:
            raise VerifyException(
                f"dimension {wrong[0]} of shape {shape_text(shape)} is {shape[wrong[0]]}, not 1"
            )
        return (with_shape(type, tuple(d for i, d in enumerate(shape) if i not in axes)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        shape = shape_of(tensor_type(self.data))
        if self.axis is not None:
            axes = normalize_axes(self.axis, relayout.rank)
        elif shape is not None and is_static(shape):
            axes = [i for i, size in enumerate(shape) if size == 1]
        else:
            raise VerifyException("without axis, the dimensions of size 1 are unknown")
        properties = {"axis": sorted(relayout.dimensions(axes))}
        return Conversion([relayout], [relayout.without(axes)], properties)


@irdl_op_definition
class ExpandDimsOp(LayoutRule, View, OneResultOp):
    """A tensor with new dimensions of size 1 (`numpy.expand_dims`).

    `axis` has their positions in the result.
    """

    name = "relax.expand_dims"

    data = operand_def(TENSOR)
    axis = ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        if (shape := shape_of(type)) is None:
            return (with_shape(type, None),)
        rank = len(shape) + len(self.axis)
        axes = normalize_axes(self.axis, rank)
        sizes = iter(shape)
        return (with_shape(type, tuple(1 if i in axes else next(sizes) for i in range(rank))),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        rank = relayout.rank + len(self.axis)
        grown, axes = relayout.with_new(sorted(normalize_axes(self.axis, rank)))
        return Conversion([relayout], [grown], {"axis": axes})


# Operations that permute the elements of a tensor: transposition, layouts, reversal.


@irdl_op_definition
class TransposeOp(LayoutRule, ScaleAxisRule, Injective, OneResultOp):
    """A tensor with permuted dimensions (`numpy.transpose`).

    Dimension i of the result is dimension `axes[i]` of the data; without `axes` the order is
    reversed.
    """

    name = "relax.transpose"

    data = operand_def(TENSOR)
    axes = opt_ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = shape_of(type)
        if (axes := self.axes) is None:
            return (with_shape(type, shape and shape[::-1]),)
        rank = len(axes) if shape is None else len(shape)
        if len(axes) != rank or {*normalize_axes(axes, rank)} != {*range(rank)}:
            raise VerifyException(f"axes {[*axes]} are not a permutation of {[*range(rank)]}")
        if shape is None:
            return (with_shape(type, (DYNAMIC_INDEX,) * rank),)
        return (with_shape(type, tuple(shape[axis] for axis in axes)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Produce the original result by transposing along other axes."""
        relayout = first_relayout(relayouts)
        old = range(relayout.rank)[::-1] if self.axes is None else self.axes
        axes = [relayout.dimension(axis) for axis in normalize_axes(old, relayout.rank)]
        return Conversion([relayout], [None], {"axes": axes}, forwards=axes == sorted(axes))

    def scale_result(self, axes: Axes) -> Scaling | None:
        if (order := self.order()) is None:
            return None
        return Scaling({0: tuple(order[axis] - len(order) for axis in axes)})

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        if (order := self.order()) is None:
            return None
        rank = len(order)
        return Scaling(result=tuple(order.index(axis % rank) - rank for axis in axes))

    def order(self) -> list[int] | None:
        """Return the dimension of the data for each dimension of the result, counted from the
        first; None if the rank is unknown."""
        if (axes := self.axes) is None:
            shape = shape_of(tensor_type(self.data))
            return None if shape is None else [*range(len(shape))][::-1]
        return [axis % len(axes) for axis in axes]


@irdl_op_definition
class LayoutTransformOp(LayoutRule, Injective, OneResultOp):
    """A tensor transformed from `src_layout` to `dst_layout` (`relay.layout_transform`).

    Dimensions are permuted, split into blocks and joined: `NCHW` to `NCHW4c`.
    """

    name = "relax.layout_transform"

    input = operand_def(TENSOR)
    src_layout = string_prop()
    dst_layout = string_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.input)
        src, dst = Layout.parse(self.src_layout), Layout.parse(self.dst_layout)
        return (with_shape(type, src.transform(shape_of(type), dst)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Produce the original result from another source layout."""
        relayout = first_relayout(relayouts)
        src = relayout.along(Layout.parse(self.src_layout)).dst
        forwards = src.text == self.dst_layout
        return Conversion([relayout], [None], {"src_layout": src.text}, forwards=forwards)


@irdl_op_definition
class FlipOp(AlongAxes, Injective, SameTypeOp):
    """A tensor with the order of elements reversed along the dimensions `axis` (`numpy.flip`)."""

    AXES: ClassVar = ("axis",)
    SPLITS: ClassVar = True

    name = "relax.flip"

    data = operand_def(TENSOR)
    axis = ints_prop()


@irdl_op_definition
class ReverseSequenceOp(AlongAxes, Injective, OneResultOp):
    """A batch of sequences, each with its first elements reversed (ONNX ReverseSequence).

    Sequence i of `batch_axis` has its first `seq_lengths[i]` elements along `seq_axis` reversed
    (`relay.reverse_sequence`).
    """

    AXES: ClassVar = ("seq_axis", "batch_axis")

    name = "relax.reverse_sequence"

    data = operand_def(TENSOR)
    seq_lengths = operand_def(TENSOR)
    seq_axis = int_prop(1)
    batch_axis = int_prop(0)

    def infer_types(self) -> Sequence[Attribute]:
        type, lengths = number_type(self.data), tensor_type(self.seq_lengths)
        check_indices("seq_lengths", lengths)
        if (shape := shape_of(type)) is None:
            return (type,)
        seq = normalize_axis(self.seq_axis, len(shape))
        batch = normalize_axis(self.batch_axis, len(shape))
        if seq == batch:
            raise VerifyException(f"seq_axis and batch_axis are both {seq}")
        size, expected = shape_of(lengths), (shape[batch],)
        if size is not None and merge(size, expected) is None:
            raise VerifyException(
                f"seq_lengths has shape {shape_text(size)}, "
                f"but dimension {batch} of shape {shape_text(shape)} needs {shape_text(expected)}"
            )
        return (type,)


# Operations that repeat the elements of a tensor: broadcast_to, tile, repeat.


@irdl_op_definition
class BroadcastToOp(LayoutRule, Injective, OneResultOp):
    """A tensor repeated along new dimensions and dimensions of size 1 (`numpy.broadcast_to`)."""

    name = "relax.broadcast_to"

    data = operand_def(TENSOR)
    shape = ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        return (with_shape(type, infer_broadcast_to(shape_of(type), self.shape)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout, shape = first_relayout(relayouts), self.shape
        if len(shape) != relayout.rank:
            raise VerifyException("the broadcast adds dimensions")
        properties = {"shape": relayout.transform(shape)}
        return Conversion([relayout.unsplit()], [relayout], properties)


def infer_broadcast_to(shape: Shape | None, target: Shape) -> Shape:
    """Return the result shape of `relax.broadcast_to`; VerifyException if a dimension does not fit.

    `shape` is None for an unranked operand.
    """
    if wrong := [d for d in target if d < 0 and d != DYNAMIC_INDEX]:
        raise VerifyException(f"shape {[*target]} has {wrong[0]}, which is not a size")
    if shape is None:
        return target
    pairs = zip(reversed(shape), reversed(target), strict=False)
    fits = all(a in (b, 1) or DYNAMIC_INDEX in (a, b) for a, b in pairs)
    if len(shape) > len(target) or not fits:
        raise VerifyException(
            f"shape {shape_text(shape)} does not broadcast to {shape_text(target)}"
        )
    return target


@irdl_op_definition
class TileOp(LayoutRule, Injective, OneResultOp):
    """A tensor repeated as a whole, `reps[i]` times along dimension i (`numpy.tile`)."""

    name = "relax.tile"

    data = operand_def(TENSOR)
    reps = ints_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        reps = self.reps
        if wrong := [n for n in reps if n < 0]:
            raise VerifyException(f"reps {[*reps]} has {wrong[0]}, expected at least 0")
        if (shape := shape_of(type)) is None:
            return (type,)
        rank = max(len(shape), len(reps))
        shape = (1,) * (rank - len(shape)) + shape
        reps = (1,) * (rank - len(reps)) + reps
        return (
            with_shape(type, tuple(num_elements(pair) for pair in zip(shape, reps, strict=True))),
        )

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout, reps = first_relayout(relayouts), self.reps
        if len(reps) > relayout.rank:
            raise VerifyException("tiling adds dimensions")
        reps = (1,) * (relayout.rank - len(reps)) + reps
        return Conversion([relayout], [relayout], {"reps": relayout.spread(reps, 1)})


@irdl_op_definition
class RepeatOp(AlongAxes, Injective, OneResultOp):
    """A tensor with each element repeated along `axis` (`numpy.repeat`).

    Without `axis` the tensor is flattened first.
    """

    AXES: ClassVar = ("axis",)

    name = "relax.repeat"

    data = operand_def(TENSOR)
    repeats = int_prop()
    axis = opt_int_prop()

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        repeats, shape = self.repeats, shape_of(type)
        if repeats < 0:
            raise VerifyException(f"repeats is {repeats}, expected at least 0")
        if self.axis is None:
            flat = (DYNAMIC_INDEX,) if shape is None else shape
            return (with_shape(type, (num_elements((*flat, repeats)),)),)
        if shape is None:
            return (type,)
        axis = normalize_axis(self.axis, len(shape))
        return (
            with_shape(type, replace_dimension(shape, axis, num_elements((shape[axis], repeats)))),
        )
