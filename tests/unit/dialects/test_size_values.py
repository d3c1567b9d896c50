"""The values of symbolic sizes."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation, SSAValue

from passline.dialects.size_values import SizeValues
from passline.dialects.sizes import Size, Symbol


def built(*sizes: Size) -> list[Operation]:
    """Return the operations that compute sizes one after the other."""
    ops: list[Operation] = []

    def insert(op: Operation) -> SSAValue:
        ops.append(op)
        return op.results[0]

    def symbol(_: Symbol) -> SSAValue:
        return TestOp(result_types=[IndexType()]).results[0]

    values = SizeValues(
        insert, lambda n: arith.ConstantOp.from_int_and_width(n, IndexType()).result, symbol
    )
    for size in sizes:
        values.of(size)
    return ops


def test_a_sum_continues_the_last_one():
    parts = [Size.symbol(f"n{i}") for i in range(60)]
    starts = [Size.of(0)]
    for part in parts:
        starts.append(starts[-1] + part)
    assert [type(op) for op in built(*starts)] == [arith.AddiOp] * 59


def test_a_sum_of_other_terms_is_computed_anew():
    a, b, c, d, e, f = (Size.symbol(name) for name in "abcdef")
    first, *others = built(a + b + c, d + e + f)
    assert len(others) == 3 and first.results[0] not in others[1].operands
