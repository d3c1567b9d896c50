"""Arithmetic on sizes in callers of kernels, for the rules of sizes of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.types import is_ranked, static_shape
from ..no_kernel import NoKernel

__all__ = ["Number", "Rule", "Scope", "SizeOf", "rank_of", "vector_length"]


class Scope(Protocol):
    """A place in a function where sizes can be computed."""

    def size(self, value: SSAValue, axis: int) -> SSAValue:
        """Return the size of a dimension of a tensor."""
        ...

    def element(self, value: SSAValue, index: int) -> SSAValue:
        """Return an element of a vector of integers, or of a scalar, as an index."""
        ...

    def number(self, value: SSAValue) -> SSAValue:
        """Return the number in a scalar, in its type."""
        ...

    def constants(self, value: SSAValue) -> Sequence[int]:
        """Return the integers of a constant vector; NoKernel if it is none."""
        ...

    def constant(self, number: int) -> SSAValue:
        """Return a constant of type index."""
        ...

    def insert(self, op: Operation) -> SSAValue:
        """Insert a pure operation and return its result."""
        ...


Number: TypeAlias = SSAValue | int

Rule: TypeAlias = Callable[[Any, int, Scope], SSAValue]
"""A function that returns the size of a dimension of the result of an operation."""


def rank_of(value: SSAValue) -> int:
    """Return the rank of a tensor."""
    type = value.type
    assert is_ranked(type)
    return type.get_num_dims()


class SizeOf:
    """Arithmetic on sizes in a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def number(self, value: Number) -> SSAValue:
        return self.scope.constant(value) if isinstance(value, int) else value

    def of(self, cls: Callable[..., Operation], *operands: Number) -> SSAValue:
        return self.scope.insert(cls(*map(self.number, operands)))

    def compare(self, lhs: Number, predicate: str, rhs: Number) -> SSAValue:
        return self.scope.insert(arith.CmpiOp(self.number(lhs), self.number(rhs), predicate))

    def select(self, condition: SSAValue, then: Number, otherwise: Number) -> SSAValue:
        return self.of(arith.SelectOp, condition, then, otherwise)

    def positive(self, value: Number) -> SSAValue:
        """Return `value`, or 0 if it is negative: the kernel asserts that it is not."""
        return self.of(arith.MaxSIOp, value, 0)

    def is_axis(self, element: SSAValue, axis: int, rank: int) -> SSAValue:
        """Return whether an element of a list of axes, which may be negative, is `axis`."""
        from_end = self.compare(element, "eq", axis - rank)
        return self.of(arith.OrIOp, self.compare(element, "eq", axis), from_end)

    def ceildiv(self, value: Number, divisor: int) -> SSAValue:
        """Return a quotient of numbers that are not negative, rounded up."""
        return self.of(arith.DivUIOp, self.of(arith.AddiOp, value, divisor - 1), divisor)

    def slice_length(self, size: SSAValue, begin: Number, end: Number, step: Number) -> SSAValue:
        """Return the number of elements of a Python slice of a dimension; for a step of 0, of one
        with a step of 1."""
        if isinstance(step, int):
            is_down = None
            low, high = (0, size) if step > 0 else (-1, self.of(arith.SubiOp, size, 1))
        else:
            is_down = self.compare(step, "slt", 0)
            low = self.select(is_down, -1, 0)
            high = self.of(arith.AddiOp, size, low)

        def bound(number: Number) -> SSAValue:
            from_end = self.of(arith.AddiOp, number, size)
            number = self.select(self.compare(number, "slt", 0), from_end, number)
            return self.of(arith.MaxSIOp, self.of(arith.MinSIOp, number, high), low)

        first, last = bound(begin), bound(end)
        if isinstance(step, int):
            ends = (last, first) if step > 0 else (first, last)
            return self.ceildiv(self.positive(self.of(arith.SubiOp, *ends)), abs(step))
        assert is_down is not None
        distance = self.of(arith.SubiOp, last, first)
        distance = self.select(is_down, self.of(arith.SubiOp, 0, distance), distance)
        step = self.select(is_down, self.of(arith.SubiOp, 0, step), step)
        step = self.select(self.compare(step, "eq", 0), 1, step)
        # Not as in `ceildiv`: the step may be the greatest integer.
        whole = self.of(arith.DivUIOp, self.of(arith.SubiOp, distance, 1), step)
        is_empty = self.compare(distance, "slt", 1)
        return self.select(is_empty, 0, self.of(arith.AddiOp, whole, 1))


def vector_length(value: SSAValue) -> int:
    """Return the number of elements of a vector; NoKernel if it is not known."""
    if (shape := static_shape(value.type)) is None:
        raise NoKernel("the number of its parameters is not known")
    return shape[0] if shape else 1
