"""Operations of arith on each lane of vectors.

MLIR has all operations of arith on vectors too; xDSL, at least until 0.74, has its conversions and
comparisons, and a select by a vector of conditions, on scalars only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DictionaryAttr, StringAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..vector_types import is_vector

__all__ = ["LANEWISE", "LanewiseOp"]

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
