"""Operations that change the shape of a tensor and keep its elements in row-major order."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
)
from xdsl.utils.exceptions import VerifyException

from ..attributes import (
    bool_prop,
    ints_prop,
    opt_ints_prop,
)
from ..base import OneResultOp
from ..interfaces import (
    CompositeOp,
    Conversion,
    LayoutRule,
    View,
    first_relayout,
)
from ..layout import Relayout
from ..shapes import (
    Shape,
    computed_size,
    is_static,
    normalize_axes,
    num_elements,
    shape_text,
)
from ..types import (
    TENSOR,
    number_type,
    shape_of,
    tensor_type,
    with_shape,
)

__all__ = ["ExpandDimsOp", "FlattenOp", "ReshapeOp", "SqueezeOp", "infer_reshape"]


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
