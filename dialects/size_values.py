"""The values of symbolic sizes: arithmetic on indices that computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from .sizes import Product, Size, Symbol

__all__ = ["SizeValues"]

Insert: TypeAlias = Callable[[Operation], SSAValue]
"""A function that inserts an operation and returns its result."""


class SizeValues:
    """The SSA values of sizes; equal expressions, and equal products in them, are one value."""

    def __init__(
        self,
        insert: Insert,
        constant: Callable[[int], SSAValue],
        symbol: Callable[[Symbol], SSAValue],
    ) -> None:
        """`insert` inserts the operations that compute sizes; `constant` and `symbol` return the
        values of numbers and of symbols."""
        self._insert = insert
        self._constant = constant
        self._symbol = symbol
        self._known: dict[Size | Product, SSAValue] = {}
        self._last = Size(())
        """The sum that was computed last."""

    def define(self, size: Size, value: SSAValue) -> None:
        """Let `value` be the value of `size`. If `size` is a single product, let it be the value of
        this product, too."""
        self._known[size] = value
        match size.terms:
            case ((factors, 1),):
                self._known[factors] = value
            case _:
                pass

    def of(self, size: Size) -> SSAValue:
        """Return the value of `size`."""
        if (found := self._known.get(size)) is None:
            found = self._known[size] = self._sum(size)
        return found

    def _sum(self, size: Size) -> SSAValue:
        if size.known is not None:
            return self._constant(size.known)
        total, terms = self._start(size)
        # Positive terms first, known ones last: n - 1 is one subtraction.
        for factors, number in sorted(terms, key=lambda term: (term[1] < 0, not term[0])):
            term = self._term(factors, abs(number))
            if total is None:
                total = term
                if number < 0:
                    total = self._insert(arith.SubiOp(self._constant(0), term))
            else:
                step = arith.SubiOp if number < 0 else arith.AddiOp
                total = self._insert(step(total, term))
        return self._constant(0) if total is None else total

    def _start(self, size: Size) -> tuple[SSAValue | None, Sequence[tuple[Product, int]]]:
        """Return the value of a sum with which `size` starts, None if there is none, and the other
        terms.

        Concatenated parts start at n, n + m, n + m + k, ...: each sum is the one before it plus a
        term.
        """
        last, self._last = self._last, size
        if len(size.terms) > 2 and last in self._known:
            others = (size - last).terms
            if len(others) + 1 < len(size.terms):
                return self._known[last], others
        return None, size.terms

    def _term(self, factors: Product, number: int) -> SSAValue:
        if not factors:
            return self._constant(number)
        value = self._product(factors)
        return value if number == 1 else self._insert(arith.MuliOp(value, self._constant(number)))

    def _product(self, factors: Product) -> SSAValue:
        if (found := self._known.get(factors)) is not None:
            return found
        *first, last = factors
        if first:
            value = self._insert(arith.MuliOp(self._product((*first,)), self._product((last,))))
        elif isinstance(last, Symbol):
            value = self._symbol(last)
        else:
            value = self._quotient(last.dividend, last.divisor)
        self._known[factors] = value
        return value

    def _quotient(self, dividend: Size, divisor: int) -> SSAValue:
        """Return the quotient, rounded down."""
        lhs, rhs = self.of(dividend), self._constant(divisor)
        if dividend.low is not None and dividend.low >= 0:
            return self._insert(arith.DivUIOp(lhs, rhs))
        # Division rounds toward zero: (x - divisor + 1) / divisor for a negative x.
        below = self._insert(arith.CmpiOp(lhs, self._constant(0), "slt"))
        lower = self._insert(arith.SubiOp(lhs, self._constant(divisor - 1)))
        return self._insert(arith.DivSIOp(self._insert(arith.SelectOp(below, lower, lhs)), rhs))
