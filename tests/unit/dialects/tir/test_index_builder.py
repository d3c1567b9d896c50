"""The folding of index arithmetic while it is built."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from passline.dialects.tir.builder import Index, TirBuilder
from passline.dialects.tir.ops import PrimFuncOp


def builder() -> TirBuilder:
    return TirBuilder(PrimFuncOp("f", [IndexType()]))


def is_computed(value: Index, by: type[Operation]) -> bool:
    return isinstance(value, SSAValue) and isinstance(value.owner, by)


@pytest.mark.parametrize("extent", [1, 3, 4])
def test_a_sum_of_multiples_and_a_small_variable_is_divided_without_a_division(extent: int):
    b = builder()
    (n,) = b.func.body.block.args
    with b.loop(extent) as i, b.loop(2) as j:
        place = b.add(b.mul(n, 8), b.add(b.mul(j, 4), b.add(i, 12)))
        quotient = b.floordiv(place, 4)
        assert b.mod(place, 4) is i
        assert quotient == b.add(b.add(b.mul(n, 2), j), 3)


def test_other_sums_are_divided():
    b = builder()
    (n,) = b.func.body.block.args
    with b.loop(5) as i, b.loop(4) as j:
        for place in (
            b.add(b.mul(n, 4), i),  # i may be 4
            b.add(b.mul(n, 6), j),
            b.add(b.add(b.mul(n, 4), j), 1),
            b.add(i, j),
            b.add(n, j),
        ):
            quotient, remainder = b.floordiv(place, 4), b.mod(place, 4)
            assert is_computed(quotient, arith.DivUIOp)
            assert is_computed(remainder, arith.RemUIOp)
    with b.loop(3, min=1) as i:
        assert is_computed(b.floordiv(i, 4), arith.DivUIOp)
