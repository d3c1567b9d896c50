"""Operations of MLIR's dialect tensor that xDSL's lacks."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DenseArrayBase, IndexType, TensorType, UnrankedTensorType, i64
from xdsl.dialects.utils.dynamic_index_list import DynamicIndexList
from xdsl.ir import Dialect, Operation
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

from .extended_op import extended

__all__ = ["extend"]


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


EXTENSION: tuple[type[Operation], ...] = (BitcastOp, GenerateOp, ParallelInsertSliceOp, RankOp)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect tensor with the operations above."""
    return extended(dialect, EXTENSION)
