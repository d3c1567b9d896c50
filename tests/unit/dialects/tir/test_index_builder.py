"""The folding of index arithmetic while it is built."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation

from passline.dialects.tir.builder import Index, TirBuilder
from passline.dialects.tir.index_builder import IndexValue
from passline.dialects.tir.ops import PrimFuncOp


def builder() -> TirBuilder:
    return TirBuilder(PrimFuncOp("f", [IndexType()]))


def is_computed(value: Index, by: type[Operation]) -> bool:
    return isinstance(value, IndexValue) and isinstance(value.value.owner, by)


@pytest.mark.parametrize("extent", [1, 3, 4])
def test_a_sum_of_multiples_and_a_small_variable_is_divided_without_a_division(extent: int):
    b = builder()
    n = b.index_of(b.func.body.block.args[0])
    with b.loop(extent) as i, b.loop(2) as j:
        place = n * 8 + (j * 4 + (i + 12))
        quotient = place // 4
        assert (place % 4) == i
        assert quotient == (n * 2 + j + 3)


def test_other_sums_are_divided():
    b = builder()
    n = b.index_of(b.func.body.block.args[0])
    with b.loop(5) as i, b.loop(4) as j:
        for place in (
            n * 4 + i,  # i may be 4
            n * 6 + j,
            n * 4 + j + 1,
            i + j,
            n + j,
        ):
            quotient, remainder = place // 4, place % 4
            assert is_computed(quotient, arith.DivUIOp)
            assert is_computed(remainder, arith.RemUIOp)
    with b.loop(3, min=1) as i:
        assert is_computed(i // 4, arith.DivUIOp)
