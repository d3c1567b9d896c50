"""Dot products of bytes that are packed into words."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr, VectorType, i32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    EqAttrConstraint,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

__all__ = ["Dp4aOp"]


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
