"""Operations on the lanes of vectors, repeated for each lane."""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.tir.ops import LanewiseOp
from ....dialects.vector_types import element_of, is_vector
from ....passmanager.fast.edit import insert_before

__all__ = ["repeat_for_lanes"]


def repeat_for_lanes(op: LanewiseOp) -> None:
    """Extract the scalars of each lane, do the operation on them, and insert the result.

    For two lanes, "arith.extsi" of %0 becomes:

        %1 = vector.extract %0[0] : i8 from vector<2xi8>
        %2 = arith.extsi %1 : i8 to i32
        %3 = vector.insert %2, %zeros[0] : i32 into vector<2xi32>
        %4 = vector.extract %0[1] : i8 from vector<2xi8>
        %5 = arith.extsi %4 : i8 to i32
        %6 = vector.insert %5, %3[1] : i32 into vector<2xi32>
    """
    type = op.res.type
    assert is_vector(type)

    def add(new: Operation) -> SSAValue:
        new.location = op.location
        insert_before(op, new)
        return new.results[0]

    def lane_of(value: SSAValue, lane: int) -> SSAValue:
        return add(vector.ExtractOp(value, [lane], element_of(value.type)))

    count = type.get_shape()[0]
    # Every lane is overwritten: what is in it at first does not matter.
    whole = add(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [0] * count)))  # pyright: ignore
    for lane in range(count):
        scalars = [lane_of(value, lane) for value in op.arguments]
        whole = add(vector.InsertOp(add(op.on(scalars, type.element_type)), whole, [lane]))
    Rewriter.replace_op(op, [], [whole])
