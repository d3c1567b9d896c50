"""Operations that join tensors along an axis: concatenate, stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ..attributes import (
    int_prop,
)
from ..base import OneResultOp
from ..interfaces import (
    Conversion,
    Injective,
    LayoutRule,
)
from ..layout import Relayout
from ..shapes import (
    Shape,
    combined_size,
    merge,
    normalize_axis,
    replace_dimension,
    shape_text,
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

__all__ = ["ConcatenateOp", "StackOp"]


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
