"""The size of a range whose bounds are operands."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.numbers import (
    Computed,
    Insert,
    Number,
    Scalar,
    ceildiv,
    equal,
    less,
    maximum,
    select,
)
from ....dialects.relax.data.creation import ArangeOp
from ....dialects.relax.dimensions import Facts, number_of
from ....dialects.relax.types import is_integer, tensor_type

__all__ = ["number_of_steps"]


def number_of_steps(op: ArangeOp, facts: Facts) -> Number:
    """Return the number of steps from `start` to `stop`, or 0 if it is not finite.

    The kernel asserts that it is finite.
    """
    element_type = tensor_type(op.start).element_type
    # Float bounds have no known elements, so that a run alone knows how they are rounded.
    if not is_integer(element_type):
        return Computed(_float_steps, tuple(map(Scalar, op.operands)))
    start, stop, step = (number_of(facts, value) for value in op.operands)
    if isinstance(step, int) and step > 0:
        return ceildiv(maximum(stop - start, 0), step)
    return _integer_steps(start, stop, step)


def _integer_steps(start: Number, stop: Number, step: Number) -> Number:
    """Return the number of integers start + i * step before `stop`; 0 for a step of 0."""
    is_zero = equal(step, 0)
    rounding = select(less(step, 0), 1, -1)
    distance = stop - start + step + rounding
    # The minimum integer divided by -1 is a trap of the processor.
    distance = maximum(distance, -(2**63) + 1)
    count = Computed("divsi", (distance, select(is_zero, 1, step)))
    return select(is_zero, 0, maximum(count, 0))


def _float_steps(insert: Insert, *numbers: SSAValue) -> SSAValue:
    """Return the number of floats start + i * step before `stop`; 0 if it is not finite.

    The quotient may be rounded to an integer, so the count is corrected by products, which are
    exact if the numbers are those of f32."""

    def of(cls: Callable[..., Operation], *operands: SSAValue) -> SSAValue:
        return insert(cls(*operands))

    def number(value: float) -> SSAValue:
        return insert(arith.ConstantOp(FloatAttr(value, f64)))

    def compare(lhs: SSAValue, predicate: str, rhs: SSAValue) -> SSAValue:
        return insert(arith.CmpfOp(lhs, rhs, predicate))

    start, stop, step = (x if x.type == f64 else insert(arith.ExtFOp(x, f64)) for x in numbers)
    distance, is_down = of(arith.SubfOp, stop, start), compare(step, "olt", number(0))
    distance = of(arith.SelectOp, is_down, of(arith.NegfOp, distance), distance)
    step = of(arith.SelectOp, is_down, of(arith.NegfOp, step), step)
    quotient = of(arith.DivfOp, distance, step)
    is_some = of(
        arith.AndIOp,
        *(
            compare(quotient, predicate, number(bound))
            for predicate, bound in (("ogt", 0.0), ("olt", 2.0**62))
        ),
    )
    quotient = of(arith.SelectOp, is_some, quotient, number(0))
    steps = insert(arith.FPToSIOp(quotient, i64))
    one, zero = (insert(arith.ConstantOp(IntegerAttr(n, i64))) for n in (1, 0))

    def reaches(steps: SSAValue) -> SSAValue:
        """Return whether `start` plus this many steps is at or beyond `stop`."""
        product = of(arith.MulfOp, insert(arith.SIToFPOp(steps, f64)), step)
        return compare(product, "oge", distance)

    more, fewer = of(arith.AddiOp, steps, one), of(arith.SubiOp, steps, one)
    steps = of(
        arith.SelectOp,
        reaches(steps),
        of(arith.SelectOp, reaches(fewer), fewer, steps),
        more,
    )
    steps = of(arith.SelectOp, is_some, steps, zero)
    return insert(arith.IndexCastOp(steps, IndexType()))
