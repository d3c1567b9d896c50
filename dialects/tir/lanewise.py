"""Operations on lanes of vectors, dot products and prefetches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DictionaryAttr,
    IndexType,
    MemRefType,
    StringAttr,
    UnitAttr,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    EqAttrConstraint,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ..arith_types import is_vector

__all__ = ["LANEWISE", "Dp4aOp", "LanewiseOp", "PrefetchOp"]


# Operations of arith on each lane of vectors.
#
# MLIR has all operations of arith on vectors too; xDSL, at least until 0.74, has its conversions
# and comparisons, and a select by a vector of conditions, on scalars only.


LANEWISE: Mapping[str, type[Operation]] = {
    kind.name: kind
    for kind in (
        *(arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.ExtFOp, arith.TruncFOp),
        *(arith.SIToFPOp, arith.UIToFPOp, arith.FPToSIOp, arith.FPToUIOp),
        *(arith.IndexCastOp, arith.BitcastOp, arith.CmpiOp, arith.CmpfOp, arith.SelectOp),
    )
}
"""The operations that `tir.lanewise` may name, which have one result and cannot trap."""


@irdl_op_definition
class LanewiseOp(IRDLOperation):
    """Do a conversion, a comparison or a select of arith on each lane of vectors of one length:

        %1 = tir.lanewise "arith.extsi"(%0) : (vector<16xi8>) -> vector<16xi32>
        %3 = tir.lanewise "arith.cmpi"(%1, %2) {with = {predicate = 2 : i64}}
             : (vector<16xi32>, vector<16xi32>) -> vector<16xi1>

    `with` holds the properties of the operation. In MLIR, the operation itself takes vectors.
    """

    name = "tir.lanewise"

    function = prop_def(StringAttr)
    arguments = var_operand_def(VectorType)
    settings = opt_prop_def(DictionaryAttr, prop_name="with")
    res = result_def(VectorType)

    traits = traits_def(Pure())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$function `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"

    def __init__(self, op: Operation, arguments: Sequence[SSAValue], type: Attribute):
        """Do what `op` does to scalars, to the lanes of `arguments`."""
        super().__init__(
            operands=[arguments],
            result_types=[type],
            properties={
                "function": StringAttr(op.name),
                "with": DictionaryAttr(op.properties) if op.properties else None,
            },
        )

    def on(self, arguments: Sequence[SSAValue], type: Attribute) -> Operation:
        """Return the operation of arith on `arguments` with a result of `type`: scalars, or, as
        MLIR has it but xDSL does not verify it, vectors."""
        return LANEWISE[self.function.data].create(
            operands=arguments,
            result_types=[type],
            properties=dict(self.settings.data) if self.settings is not None else {},
            location=self.location,
        )

    def verify_(self) -> None:
        types = [v.type for v in (*self.arguments, self.res) if is_vector(v.type)]
        if len({type.shape for type in types}) != 1 or len(types[0].shape) != 1:
            raise VerifyException("expected vectors of one dimension, all of the same length")
        if self.function.data not in LANEWISE:
            known = ", ".join(LANEWISE)
            raise VerifyException(f'has no "{self.function.data}": expected one of {known}')
        *operands, result = [type.element_type for type in types]
        lane = self.on(Block(arg_types=operands).args, result)
        try:
            lane.verify()
        except VerifyException as error:
            raise VerifyException(f"in each lane, {self.function.data}: {error}") from None
        finally:
            lane.drop_all_references()


# Dot products of bytes that are packed into words.


@irdl_op_definition
class Dp4aOp(IRDLOperation):
    """Add the dot product of four bytes and four bytes to a sum, which wraps around (TVM `dp4a`):

        %1 = tir.dp4a %data, %weights, %sum : i32

    Each operand is an i32, or a vector of them, lane by lane. Byte 0 of a word is that of its
    lowest bits. The bytes of `data` are unsigned, those of `weights` signed, as for `vpdpbusd` of
    x86 and `usdot` of Arm. With `exact_pairs`, the sums of the products of bytes 0 and 1, and of
    bytes 2 and 3, are known to fit in an i16, as `vpmaddubsw` of AVX2 needs it.
    """

    T: ClassVar = VarConstraint("T", EqAttrConstraint(i32) | VectorType.constr(i32))

    name = "tir.dp4a"

    data = operand_def(T)
    weights = operand_def(T)
    sum = operand_def(T)
    exact_pairs = opt_prop_def(UnitAttr)
    res = result_def(T)

    traits = traits_def(Pure())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$data `,` $weights `,` $sum attr-dict `:` type($res)"

    def __init__(
        self, data: SSAValue, weights: SSAValue, sum: SSAValue, *, exact_pairs: bool = False
    ):
        super().__init__(
            operands=[data, weights, sum],
            result_types=[sum.type],
            properties={"exact_pairs": UnitAttr() if exact_pairs else None},
        )


# The prefetch of elements that will be read soon.


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
