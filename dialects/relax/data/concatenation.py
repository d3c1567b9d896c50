"""Concatenation and split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, var_operand_def, var_result_def
from xdsl.utils.exceptions import VerifyException

from ...numbers import ceildiv, maximum
from ..attributes import PropertyValue, int_prop, opt_int_prop, opt_ints_prop
from ..base import OneResultOp, TensorOp
from ..interfaces import Conversion, Injective, LayoutRule, first_relayout
from ..layout import Relayout
from ..shapes import (
    MAX_SIZE,
    Shape,
    combined_size,
    computed_size,
    merge,
    normalize_axis,
    replace_dimension,
    shape_text,
    slice_length,
)
from ..types import (
    TENSOR,
    Tensor,
    check_same_element,
    number_type,
    shape_of,
    tensor_type,
    with_shape,
)

__all__ = ["ConcatenateOp", "SplitOp", "StackOp", "split_slices"]


# Operations that join tensors along an axis: concatenate, stack.


@irdl_op_definition
class ConcatenateOp(LayoutRule, Injective, OneResultOp):
    """The concatenation of tensors along `axis` (`numpy.concatenate`, ONNX Concat)."""

    name = "relax.concatenate"

    tensors = var_operand_def(TENSOR)
    axis = int_prop(0)

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
            merged = (
                merge(replace_dimension(shape, axis, other[axis]), other) if same_rank else None
            )
            if merged is None:
                raise VerifyException(
                    f"shapes {shape_text(known[0])} and {shape_text(other)} "
                    f"do not concatenate along axis {axis}"
                )
            shape = merged
        sizes = [shape[axis] for shape in known]
        complete = len(known) == len(shapes)
        size = combined_size(sum, sizes) if complete else DYNAMIC_INDEX
        return (with_shape(type, replace_dimension(shape, axis, size)),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = most_common_relayout(relayouts)
        axis = normalize_axis(self.axis, relayout.rank)
        # Tensors of whole blocks: concatenate along the outer part of a split axis.
        properties = {"axis": relayout.dimensions([axis])[0]}
        return Conversion([relayout] * len(self.operands), [relayout], properties)


@irdl_op_definition
class StackOp(LayoutRule, Injective, OneResultOp):
    """Tensors of one shape, joined along a new dimension `axis` (`numpy.stack`)."""

    name = "relax.stack"

    tensors = var_operand_def(TENSOR)
    axis = int_prop(0)

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
        return (with_shape(type, (*shape[:axis], len(self.tensors), *shape[axis:])),)

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = most_common_relayout(relayouts)
        axis = normalize_axis(self.axis, relayout.rank + 1)
        grown, (at,) = relayout.with_new([axis])
        return Conversion([relayout] * len(self.operands), [grown], {"axis": at})


def most_common_relayout(relayouts: Sequence[Relayout | None]) -> Relayout:
    """Return the most frequent relayout of the operands that are in another layout."""
    found = [relayout for relayout in relayouts if relayout is not None]
    (key, _), *_ = Counter(relayout.key for relayout in found).most_common(1)
    return next(relayout for relayout in found if relayout.key == key)


def common_type(tensors: Sequence[SSAValue]) -> Tensor:
    """Return the type of the first tensor.

    VerifyException if the list is empty or the element types differ.
    """
    if not tensors:
        raise VerifyException("expected at least one operand")
    first, *others = [number_type(tensor) for tensor in tensors]
    for other in others:
        check_same_element(first.element_type, other.element_type)
    return first


# The operation that splits a tensor into parts along an axis.


MAX_SECTIONS = 1 << 20
"""The most parts of a tensor: each is a result of its own."""


@irdl_op_definition
class SplitOp(LayoutRule, Injective, TensorOp):
    """The parts of a tensor along `axis`, one for each result (`relax.split`).

    Either `indices` has the bounds between the parts, as in numpy slices, or `sections` is the
    number of parts of equal size; the last part may be smaller.
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
        sizes = part_sizes(size, self.indices, self.sections or 0)
        check_results(self, len(sizes))
        return [with_shape(type, shape and replace_dimension(shape, axis, size)) for size in sizes]

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Split a blocked axis between blocks; VerifyException if a part cuts a block."""
        relayout = first_relayout(relayouts)
        axis = normalize_axis(self.axis, relayout.rank)
        factor = relayout.factor(axis)
        properties: dict[str, PropertyValue] = {"axis": relayout.dimensions([axis])[0]}
        if factor > 1 and (indices := self.indices) is not None:
            if any(index % factor for index in indices):
                raise VerifyException(f"indices {[*indices]} are not all multiples of {factor}")
            properties["indices"] = [index // factor for index in indices]
        return Conversion([relayout], [relayout] * len(self.results), properties)


def check_results(op: TensorOp, number: int) -> None:
    """Raise VerifyException unless `op` has that number of results.

    An operation under construction, whose result types are being inferred, has none yet.
    """
    if op.results and len(op.results) != number:
        raise VerifyException(f"has {len(op.results)} results, but splits into {number}")


def part_sizes(size: int, indices: Sequence[int] | None, sections: int) -> list[int]:
    """Return the sizes of the parts of a dimension of that `size`."""
    if indices is None and sections < 1:
        raise VerifyException(f"sections is {sections}, expected at least 1")
    if sections > MAX_SECTIONS:
        raise VerifyException(f"sections is {sections}, expected at most {MAX_SECTIONS}")
    if size != DYNAMIC_INDEX:
        return [len(range(*part.indices(size))) for part in split_slices(size, indices, sections)]
    if indices is None:
        part = partial(ceildiv, b=sections)
        # That the parts are of equal size is not sure: the last is what the others leave.
        last = computed_size(lambda n: maximum(n - part(n) * (sections - 1), 0), size)
        return [computed_size(part, size)] * (sections - 1) + [last]
    bounds = pairwise([0, *indices, MAX_SIZE])
    return [computed_size(partial(slice_length, begin=a, end=b, step=1), size) for a, b in bounds]


def split_slices(size: int, indices: Sequence[int] | None, sections: int) -> list[slice]:
    """Return the parts of a dimension of known size, at `indices` or else in `sections` parts."""
    if indices is None:
        length = -(-size // sections)
        if length * (sections - 1) > size:
            raise VerifyException(f"dimension of size {size} does not split into {sections} parts")
        indices = [length * i for i in range(1, sections)]
    return [slice(*ends) for ends in zip([0, *indices], [*indices, size], strict=True)]
