"""Operations that move elements without computing with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod
from typing import ClassVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from .attributes import (
    PropertyValue,
    bool_prop,
    int_prop,
    ints_prop,
    opt_int_prop,
    opt_ints_prop,
    string_prop,
)
from .base import TensorOp
from .constant import is_integer
from .interfaces import (
    AlongAxes,
    Axes,
    CompositeOp,
    Conversion,
    Injective,
    LayoutRule,
    ScaleAxisRule,
    Scaling,
    View,
    of_first,
)
from .layout import Layout, Relayout
from .shapes import Shape, is_static, merge, normalize_axes, normalize_axis, shape_text
from .types import TENSOR, Tensor, check_number, shape_of, tensor_type, with_shape

__all__ = [
    "BroadcastToOp",
    "ConcatenateOp",
    "ExpandDimsOp",
    "FlattenOp",
    "FlipOp",
    "LayoutTransformOp",
    "RepeatOp",
    "ReshapeOp",
    "ReverseSequenceOp",
    "SplitOp",
    "SqueezeOp",
    "StackOp",
    "TileOp",
    "TransposeOp",
    "broadcast_to",
    "count",
    "reshape",
    "sections_of",
]


def number_type(value: SSAValue) -> Tensor:
    """The type of a tensor of numbers; VerifyException for any other value."""
    check_number(type := tensor_type(value))
    return type


def count(shape: Iterable[int]) -> int:
    """The number of elements; DYNAMIC_INDEX if it is not known."""
    dimensions = (*shape,)
    if 0 in dimensions:
        return 0
    return prod(dimensions) if is_static(dimensions) else DYNAMIC_INDEX


# One tensor, the same elements


@irdl_op_definition
class ReshapeOp(View, TensorOp):
    """The same elements, in the same order, in another shape (`relax.reshape`, ONNX Reshape).

    In `newshape`, 0 copies the dimension at its place, unless `allowzero`; one -1 is what is left.
    """

    name = "relax.reshape"

    data = operand_def(TENSOR)
    newshape = ints_prop()
    allowzero = bool_prop(False)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        newshape, allowzero = self.newshape, bool(self.allowzero)
        return (with_shape(type, reshape(shape_of(type), newshape, allowzero)),)


def reshape(shape: Shape | None, newshape: Sequence[int], allowzero: bool) -> Shape:
    """The shape after `relax.reshape` of a tensor of that shape, or of any shape.

    Dimensions that are copied need not be known to find the one that is -1.
    """
    check_newshape(newshape, allowzero)
    copied = () if allowzero else tuple(i for i, n in enumerate(newshape) if n == 0)
    if shape is None:
        return tuple(DYNAMIC_INDEX if n < 0 or i in copied else n for i, n in enumerate(newshape))
    if copied and copied[-1] >= len(shape):
        raise VerifyException(
            f"newshape {[*newshape]} copies dimension {copied[-1]}, "
            f"shape {shape_text(shape)} has {len(shape)}"
        )
    left = [d for i, d in enumerate(shape) if i not in copied]
    total, known = count(left), prod(d for d in left if d != DYNAMIC_INDEX)
    given = prod(n for i, n in enumerate(newshape) if n >= 0 and i not in copied)
    if -1 in newshape:
        fits = total == DYNAMIC_INDEX or total % given == 0
    elif total == DYNAMIC_INDEX:
        fits = given % known == 0
    else:
        fits = total == given or 0 in (shape[i] for i in copied)
    rest = total // given if fits and total != DYNAMIC_INDEX and given else DYNAMIC_INDEX
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
    """VerifyException unless the list can be that of a reshape."""
    if wrong := [n for n in newshape if n < -1]:
        raise VerifyException(f"newshape {[*newshape]} has {wrong[0]}, which is no size")
    if newshape.count(-1) > 1:
        raise VerifyException(f"newshape {[*newshape]} has more than one -1")
    if allowzero and -1 in newshape and 0 in newshape:
        raise VerifyException(f"newshape {[*newshape]} has -1 beside a dimension of size 0")


def _elements(shape: Shape) -> str:
    known = prod(d for d in shape if d != DYNAMIC_INDEX)
    text = str(known) if is_static(shape) else f"a multiple of {known}"
    return f"{text} element{'' if text == '1' else 's'}"


@irdl_op_definition
class FlattenOp(CompositeOp, View, TensorOp):
    """The same elements in one dimension (`relax.flatten`)."""

    name = "relax.flatten"

    data = operand_def(TENSOR)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = shape_of(type)
        return (with_shape(type, (DYNAMIC_INDEX if shape is None else count(shape),)),)

    def decompose(self, builder: Builder) -> Sequence[SSAValue]:
        return builder.insert(ReshapeOp(self.data, newshape=(-1,))).results


@irdl_op_definition
class TransposeOp(LayoutRule, ScaleAxisRule, Injective, TensorOp):
    """A tensor with its dimensions in another order, reversed if no `axes` say which
    (`numpy.transpose`)."""

    name = "relax.transpose"

    data = operand_def(TENSOR)
    axes = opt_ints_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        shape = shape_of(type)
        if self.axes is None:
            return (with_shape(type, shape and shape[::-1]),)
        axes = self.axes
        rank = len(axes) if shape is None else len(shape)
        if len(axes) != rank or {*normalize_axes(axes, rank)} != {*range(rank)}:
            raise VerifyException(f"axes {[*axes]} are no permutation of {[*range(rank)]}")
        if shape is None:
            return (with_shape(type, (DYNAMIC_INDEX,) * rank),)
        return (with_shape(type, tuple(shape[axis] for axis in axes)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """The result as it was, by other axes."""
        relayout = of_first(relayouts)
        old = range(relayout.rank)[::-1] if self.axes is None else self.axes
        axes = [relayout.dimension(axis) for axis in normalize_axes(old, relayout.rank)]
        return Conversion([relayout], [None], {"axes": axes}, forwards=axes == sorted(axes))

    def scale_result(self, axes: Axes) -> Scaling | None:
        if (order := self._order()) is None:
            return None
        return Scaling({0: tuple(order[axis] for axis in axes)})

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        if (order := self._order()) is None:
            return None
        return Scaling(result=tuple(order.index(axis) - len(order) for axis in axes))

    def _order(self) -> list[int] | None:
        """The dimension of the data that each one of the result is, counted from the last."""
        if (shape := shape_of(tensor_type(self.data))) is None:
            return None
        rank = len(shape)
        axes = range(rank)[::-1] if self.axes is None else self.axes
        return [axis % rank - rank for axis in axes]


@irdl_op_definition
class SqueezeOp(LayoutRule, View, TensorOp):
    """A tensor without some dimensions of size 1, without `axis` all of them (`numpy.squeeze`)."""

    name = "relax.squeeze"

    data = operand_def(TENSOR)
    axis = opt_ints_prop()
    result = result_def(TENSOR)

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
        relayout = of_first(relayouts)
        shape = shape_of(tensor_type(self.data))
        if self.axis is not None:
            axes = normalize_axes(self.axis, relayout.rank)
        elif shape is not None and is_static(shape):
            axes = [i for i, size in enumerate(shape) if size == 1]
        else:
            raise VerifyException("it is not known which dimensions are 1")
        properties = {"axis": sorted(relayout.dimensions(axes))}
        return Conversion([relayout], [relayout.without(axes)], properties)


@irdl_op_definition
class ExpandDimsOp(LayoutRule, View, TensorOp):
    """A tensor with dimensions of size 1 put in, at `axis` of the result (`numpy.expand_dims`)."""

    name = "relax.expand_dims"

    data = operand_def(TENSOR)
    axis = ints_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        if (shape := shape_of(type)) is None:
            return (with_shape(type, None),)
        rank = len(shape) + len(self.axis)
        axes = normalize_axes(self.axis, rank)
        old = iter(shape)
        return (with_shape(type, tuple(1 if i in axes else next(old) for i in range(rank))),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = of_first(relayouts)
        rank = relayout.rank + len(self.axis)
        grown, axes = relayout.with_new(sorted(normalize_axes(self.axis, rank)))
        return Conversion([relayout], [grown], {"axis": axes})


@irdl_op_definition
class FlipOp(AlongAxes, Injective, TensorOp):
    """A tensor with the order of elements along some dimensions reversed (`numpy.flip`)."""

    AXES: ClassVar = ("axis",)
    SPLITS: ClassVar = True

    name = "relax.flip"

    data = operand_def(TENSOR)
    axis = ints_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        if (shape := shape_of(type)) is not None:
            normalize_axes(self.axis, len(shape))
        return (type,)


@irdl_op_definition
class ReverseSequenceOp(AlongAxes, Injective, TensorOp):
    """A tensor in which the first elements along `seq_axis` are reversed, so many for each index
    along `batch_axis` as `seq_lengths` says (`relay.reverse_sequence`, ONNX ReverseSequence)."""

    AXES: ClassVar = ("seq_axis", "batch_axis")

    name = "relax.reverse_sequence"

    data = operand_def(TENSOR)
    seq_lengths = operand_def(TENSOR)
    seq_axis = int_prop(1)
    batch_axis = int_prop(0)
    result = result_def(TENSOR)

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
                f"seq_lengths have shape {shape_text(size)}, "
                f"but dimension {batch} of shape {shape_text(shape)} needs {shape_text(expected)}"
            )
        return (type,)


def check_indices(what: str, type: Tensor) -> None:
    """VerifyException unless the elements can be indices: integers, i1 is none."""
    check_number(type)
    element = type.element_type
    if not is_integer(element) or element.bitwidth == 1:
        raise VerifyException(f"{what} of element type {element} are no integers")


@irdl_op_definition
class LayoutTransformOp(LayoutRule, Injective, TensorOp):
    """A tensor with dimensions permuted, split and joined (`relay.layout_transform`)."""

    name = "relax.layout_transform"

    input = operand_def(TENSOR)
    src_layout = string_prop()
    dst_layout = string_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        check_number(type := tensor_type(self.input))
        src, dst = Layout.parse(self.src_layout), Layout.parse(self.dst_layout)
        return (with_shape(type, src.transform(shape_of(type), dst)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """The result as it was, from another layout."""
        relayout = of_first(relayouts)
        src = relayout.along(Layout.parse(self.src_layout)).dst
        forwards = src.text == self.dst_layout
        return Conversion([relayout], [None], {"src_layout": src.text}, forwards=forwards)


# One tensor, its elements more than once


@irdl_op_definition
class BroadcastToOp(LayoutRule, Injective, TensorOp):
    """A tensor repeated along new dimensions and those of size 1 (`numpy.broadcast_to`)."""

    name = "relax.broadcast_to"

    data = operand_def(TENSOR)
    shape = ints_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        return (with_shape(type, broadcast_to(shape_of(type), self.shape)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout, shape = of_first(relayouts), self.shape
        if len(shape) != relayout.rank:
            raise VerifyException("it adds dimensions")
        properties = {"shape": relayout.transform(shape)}
        return Conversion([relayout.unsplit()], [relayout], properties)


def broadcast_to(shape: Shape | None, target: Shape) -> Shape:
    """The shape after broadcasting to `target`; VerifyException if a dimension does not fit."""
    if wrong := [d for d in target if d < 0 and d != DYNAMIC_INDEX]:
        raise VerifyException(f"shape {[*target]} has {wrong[0]}, which is no size")
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
class TileOp(LayoutRule, Injective, TensorOp):
    """A tensor repeated as a whole along each dimension (`numpy.tile`)."""

    name = "relax.tile"

    data = operand_def(TENSOR)
    reps = ints_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        reps = self.reps
        if wrong := [n for n in reps if n < 0]:
            raise VerifyException(f"reps {[*reps]} have {wrong[0]}, which is no number of times")
        if (shape := shape_of(type)) is None:
            return (type,)
        rank = max(len(shape), len(reps))
        shape = (1,) * (rank - len(shape)) + shape
        reps = (1,) * (rank - len(reps)) + reps
        return (with_shape(type, tuple(count(pair) for pair in zip(shape, reps, strict=True))),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout, reps = of_first(relayouts), self.reps
        if len(reps) > relayout.rank:
            raise VerifyException("it adds dimensions")
        reps = (1,) * (relayout.rank - len(reps)) + reps
        return Conversion([relayout], [relayout], {"reps": relayout.spread(reps, 1)})


@irdl_op_definition
class RepeatOp(AlongAxes, Injective, TensorOp):
    """A tensor with each element repeated along `axis`; without one, in one dimension
    (`numpy.repeat`)."""

    AXES: ClassVar = ("axis",)

    name = "relax.repeat"

    data = operand_def(TENSOR)
    repeats = int_prop()
    axis = opt_int_prop()
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        repeats, shape = self.repeats, shape_of(type)
        if repeats < 0:
            raise VerifyException(f"repeats is {repeats}, which is no number of times")
        if self.axis is None:
            flat = (DYNAMIC_INDEX,) if shape is None else shape
            return (with_shape(type, (count((*flat, repeats)),)),)
        if shape is None:
            return (type,)
        axis = normalize_axis(self.axis, len(shape))
        return (with_shape(type, replaced(shape, axis, count((shape[axis], repeats)))),)


def replaced(shape: Shape, axis: int, *dimensions: int) -> Shape:
    """The shape with other dimensions in the place of one."""
    return shape[:axis] + dimensions + shape[axis + 1 :]


# Several tensors


@irdl_op_definition
class ConcatenateOp(LayoutRule, Injective, TensorOp):
    """Tensors one after the other along `axis` (`numpy.concatenate`, ONNX Concat)."""

    name = "relax.concatenate"

    tensors = var_operand_def(TENSOR)
    axis = int_prop(0)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = common_type(self.tensors)
        shapes = [shape_of(tensor_type(tensor)) for tensor in self.tensors]
        known = [shape for shape in shapes if shape is not None]
        if not known:
            return (with_shape(type, None),)
        axis = normalize_axis(self.axis, len(known[0]))
        shape = known[0]
        for other in known:
            same_rank = len(other) == len(shape)
            merged = merge(replaced(shape, axis, other[axis]), other) if same_rank else None
            if merged is None:
                raise VerifyException(
                    f"shapes {shape_text(known[0])} and {shape_text(other)} "
                    f"do not concatenate along axis {axis}"
                )
            shape = merged
        sizes = [shape[axis] for shape in known]
        complete = len(known) == len(shapes) and is_static((*sizes,))
        return (with_shape(type, replaced(shape, axis, sum(sizes) if complete else DYNAMIC_INDEX)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = prevailing(relayouts)
        axis = normalize_axis(self.axis, relayout.rank)
        # Whole blocks after one another: the axis of a split one is the outer part.
        properties = {"axis": relayout.dimensions([axis])[0]}
        return Conversion([relayout] * len(self.operands), [relayout], properties)


def prevailing(relayouts: Sequence[Relayout | None]) -> Relayout:
    """That of the most operands, of those that are in another layout."""
    found = [relayout for relayout in relayouts if relayout is not None]
    (key, _), *_ = Counter(relayout.key for relayout in found).most_common(1)
    return next(relayout for relayout in found if relayout.key == key)


@irdl_op_definition
class StackOp(LayoutRule, Injective, TensorOp):
    """Tensors of one shape one after the other along a new dimension `axis` (`numpy.stack`)."""

    name = "relax.stack"

    tensors = var_operand_def(TENSOR)
    axis = int_prop(0)
    result = result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = common_type(self.tensors)
        shape: Shape | None = None
        for tensor in self.tensors:
            other = shape_of(tensor_type(tensor))
            if shape is None or other is None:
                shape = other if shape is None else shape
            elif (merged := merge(shape, other)) is not None:
                shape = merged
            else:
                raise VerifyException(
                    f"shapes {shape_text(shape)} and {shape_text(other)} do not stack: they differ"
                )
        if shape is None:
            return (with_shape(type, None),)
        axis = normalize_axis(self.axis, len(shape) + 1)
        return (with_shape(type, shape[:axis] + (len(self.tensors),) + shape[axis:]),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = prevailing(relayouts)
        axis = normalize_axis(self.axis, relayout.rank + 1)
        grown, (at,) = relayout.with_new([axis])
        return Conversion([relayout] * len(self.operands), [grown], {"axis": at})


def common_type(tensors: Sequence[SSAValue]) -> Tensor:
    """The type of the first tensor; VerifyException if there is none, or their elements differ."""
    if not tensors:
        raise VerifyException("expected at least one operand")
    first, *others = [number_type(tensor) for tensor in tensors]
    for other in others:
        if other.element_type != first.element_type:
            raise VerifyException(
                f"element types {first.element_type} and {other.element_type} differ"
            )
    return first


@irdl_op_definition
class SplitOp(LayoutRule, Injective, TensorOp):
    """The parts of a tensor along `axis`, as many as there are results (`relax.split`).

    They begin at 0 and at each of the `indices`, as numpy slices, or are `sections` parts of one
    size, of which the last may be smaller.
    """

    name = "relax.split"

    data = operand_def(TENSOR)
    indices = opt_ints_prop()
    sections = opt_int_prop()
    axis = int_prop(0)
    parts = var_result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        if (self.indices is None) == (self.sections is None):
            raise VerifyException("expected either indices or sections")
        shape = shape_of(type)
        axis = 0 if shape is None else normalize_axis(self.axis, len(shape))
        size = DYNAMIC_INDEX if shape is None else shape[axis]
        indices = None if self.indices is None else self.indices
        sections = 0 if self.sections is None else self.sections
        sizes = part_sizes(size, indices, sections)
        check_results(self, len(sizes))
        return [with_shape(type, shape and replaced(shape, axis, size)) for size in sizes]

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Where the axis is split, whole blocks are taken."""
        relayout = of_first(relayouts)
        axis = normalize_axis(self.axis, relayout.rank)
        factor = relayout.factor(axis)
        properties: dict[str, PropertyValue] = {"axis": relayout.dimensions([axis])[0]}
        if factor > 1 and self.indices is not None:
            indices = self.indices
            if any(index % factor for index in indices):
                raise VerifyException(f"indices {[*indices]} are not all multiples of {factor}")
            properties["indices"] = [index // factor for index in indices]
        return Conversion([relayout], [relayout] * len(self.results), properties)


def check_results(op: TensorOp, number: int) -> None:
    """VerifyException if an operation does not have that number of results; one that is being made
    has none yet."""
    if op.results and len(op.results) != number:
        raise VerifyException(f"has {len(op.results)} results, but splits into {number}")


def part_sizes(size: int, indices: Sequence[int] | None, sections: int) -> list[int]:
    """The sizes of the parts of a dimension, each DYNAMIC_INDEX if it is not known itself."""
    if indices is None and sections < 1:
        raise VerifyException(f"sections is {sections}, but there is at least one part")
    if size == DYNAMIC_INDEX:
        return [DYNAMIC_INDEX] * (sections if indices is None else len(indices) + 1)
    return [len(range(*part.indices(size))) for part in sections_of(size, indices, sections)]


def sections_of(size: int, indices: Sequence[int] | None, sections: int) -> list[slice]:
    """The parts of a dimension of known size."""
    if indices is None:
        length = -(-size // sections)
        if length * (sections - 1) > size:
            raise VerifyException(f"dimension of size {size} does not split into {sections} parts")
        indices = [length * i for i in range(1, sections)]
    return [slice(*ends) for ends in zip([0, *indices], [*indices, size], strict=True)]
