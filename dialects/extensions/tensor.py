"""Operations of MLIR's dialect tensor that xDSL's lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DenseArrayBase, IndexType, TensorType, UnrankedTensorType, i64
from xdsl.dialects.utils.dynamic_index_list import DynamicIndexList
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect, SingleBlockImplicitTerminator
from xdsl.utils.exceptions import VerifyException

from .extended_op import ExtendedOp, extended

__all__ = ["TensorPadOp", "extend"]

Shaped: TypeAlias = TensorType[Attribute]

DYNAMIC = -(1 << 63)
"""The width in a list of static widths that stands for an operand."""


@irdl_op_definition
class ParallelInsertSliceOp(IRDLOperation):
    """Write the tensor of a thread into a part of the tensor that all threads share."""

    name = "tensor.parallel_insert_slice"

    source = operand_def(TensorType)
    dest = operand_def(TensorType)
    offsets = var_operand_def(IndexType())
    sizes = var_operand_def(IndexType())
    strides = var_operand_def(IndexType())
    static_offsets = prop_def(DenseArrayBase.constr(i64))
    static_sizes = prop_def(DenseArrayBase.constr(i64))
    static_strides = prop_def(DenseArrayBase.constr(i64))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$source `into` $dest ``"
        "custom<DynamicIndexList>($offsets, $static_offsets)"
        "custom<DynamicIndexList>($sizes, $static_sizes)"
        "custom<DynamicIndexList>($strides, $static_strides)"
        "attr-dict `:` type($source) `into` type($dest)"
    )
    custom_directives = (DynamicIndexList,)


@irdl_op_definition
class RankOp(IRDLOperation):
    """Return the number of dimensions of a tensor."""

    name = "tensor.rank"

    tensor = operand_def(base(TensorType) | base(UnrankedTensorType))
    result = result_def(IndexType())

    traits = traits_def(Pure())

    assembly_format = "$tensor attr-dict `:` type($tensor)"


@irdl_op_definition
class BitcastOp(IRDLOperation):
    """Read the bits of elements as those of another type of the same width."""

    name = "tensor.bitcast"

    source = operand_def(base(TensorType) | base(UnrankedTensorType))
    dest = result_def(base(TensorType) | base(UnrankedTensorType))

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($dest)"


@irdl_op_definition
class GenerateOp(IRDLOperation):
    """Compute each element of a tensor from its indices."""

    name = "tensor.generate"

    extents = var_operand_def(IndexType())
    result = result_def(TensorType)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(tensor.YieldOp))

    assembly_format = "$extents $body attr-dict `:` type($result)"


@irdl_op_definition
class ReshapeOp(ExtendedOp):
    """Read the elements of a tensor, in order, as those of a tensor of other sizes; both may be of
    an unknown number of dimensions."""

    PLAIN: ClassVar = tensor.ReshapeOp
    name = "tensor.reshape"

    source = operand_def()
    shape = operand_def(TensorType)
    result = result_def()

    traits = traits_def(Pure())

    assembly_format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)"

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        # A copy of this operation gets its operands later.
        if not operands or any(isinstance(op.type, UnrankedTensorType) for op in operands):
            return None
        shape = operands[-1].type
        has_any_rank = isinstance(shape, TensorType) and min(shape.get_shape(), default=0) < 0
        return None if has_any_rank else properties

    def verify_(self) -> None:
        for value in (self.source, self.result):
            if not isinstance(value.type, TensorType | UnrankedTensorType):
                raise VerifyException(f"expected tensors, got {value.type}")


class TensorPadOp(tensor.PadOp):
    """A `tensor.pad` whose type may know sizes that do not follow from the operands."""

    def verify_(self) -> None:
        self.get_irdl_definition().verify(self)
        low, high = self.static_low.get_values(), self.static_high.get_values()
        source = cast(Shaped, self.source.type)
        sizes, shape = source.get_shape(), self.result.type.get_shape()
        arguments = self.region.block.args
        if not len(low) == len(high) == len(shape) == len(arguments) == len(sizes):
            raise VerifyException(
                f"expected {len(sizes)} low widths, high widths, dimensions of the result and "
                f"block arguments, as the source has dimensions; got {len(low)}, {len(high)}, "
                f"{len(shape)} and {len(arguments)}"
            )
        rows = zip(sizes, low, high, shape, strict=True)
        for index, (size, before, after, whole) in enumerate(rows):
            if min(size, whole) >= 0 and DYNAMIC not in (before, after):
                if size + before + after != whole:
                    raise VerifyException(
                        f"expected size {size + before + after} in dimension {index} of the "
                        f"result, got {whole}"
                    )


EXTENSION: tuple[type[Operation], ...] = (
    BitcastOp,
    GenerateOp,
    TensorPadOp,
    ParallelInsertSliceOp,
    RankOp,
    ReshapeOp,
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect tensor with the operations above."""
    return extended(dialect, EXTENSION)
