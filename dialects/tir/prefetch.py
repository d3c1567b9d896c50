"""The prefetch of elements that will be read soon."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

__all__ = ["PrefetchOp"]


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """A hint that an element of a buffer will be read soon (TVM `prefetch`):

        tir.prefetch %x[%i, %j] : memref<4x8xf32>

    The element has to exist. The hint has no effect on results; it has no traits of effects, so
    that passes keep it.
    """

    name = "tir.prefetch"

    memref = operand_def(MemRefType[Attribute].constr(AnyAttr()))
    indices = var_operand_def(IndexType())

    assembly_format = "$memref `[` $indices `]` attr-dict `:` type($memref)"

    def __init__(self, memref: SSAValue, indices: Sequence[SSAValue]):
        super().__init__(operands=[memref, indices])

    def verify_(self) -> None:
        assert isa(self.memref.type, MemRefType)
        if len(self.indices) != (rank := self.memref.type.get_num_dims()):
            raise VerifyException(f"expected {rank} indices, got {len(self.indices)}")
