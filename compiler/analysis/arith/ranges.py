"""Integer ranges, and the ranges of atoms (TVM `ConstIntBound`, `ConstIntBoundAnalyzer`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Operation, SSAValue

from ....passes.generic.integer_ranges import (
    NO_INTEGER,
    IntegerRange,
    both,
    full,
    has_range,
    of_type,
    range_of_result,
)
from ....passes.generic.scoped_dict import ScopedDict
from .linear_form import DIVISIONS, Atom, AtomKind, LinearForm

# Integer ranges and arithmetic on them (TVM `ConstIntBound`).


class Range(NamedTuple):
    """The integers from `low` to `high`, both included, without `holes`; None is unbounded.

    A range may be empty: `low` is above `high` then. Operations return a range that includes all
    results; only sums, products with integers and `meet` keep holes.
    """

    low: int | None = None
    high: int | None = None
    holes: frozenset[int] = frozenset()

    @property
    def constant(self) -> int | None:
        """The only integer of the range; None if there are several."""
        return self.low if self.low == self.high else None

    @property
    def is_empty(self) -> bool:
        """Whether the range contains no integer."""
        return self.low is not None and self.high is not None and self.low > self.high

    def __add__(self, other: Range) -> Range:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the range of `a + b` for `a` in this range and `b` in `other`."""
        low = None if self.low is None or other.low is None else self.low + other.low
        high = None if self.high is None or other.high is None else self.high + other.high
        if (shift := other.constant) is not None:
            return Range(low, high, frozenset(hole + shift for hole in self.holes))
        if (shift := self.constant) is not None:
            return Range(low, high, frozenset(hole + shift for hole in other.holes))
        return Range(low, high)

    def __neg__(self) -> Range:
        return self * -1

    def __mul__(self, factor: Range | int) -> Range:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the range of `a * b` for `a` in this range, and `b` an integer or in another."""
        if isinstance(factor, Range):
            return self._product(factor)
        ends = [None if end is None else end * factor for end in (self.low, self.high)]
        if factor < 0:
            ends.reverse()
        # The factor is not 0: 0 times a range is 0, also if that has a hole at 0.
        holes = self.holes if factor == 1 else frozenset(hole * factor for hole in self.holes)
        return Range(ends[0], ends[1], holes)

    def unscaled(self, factor: int) -> Range:
        """Return the integers `a` for which `factor * a` is in this range; `factor` is not 0."""
        within = self
        if factor < 0:
            within, factor = -self, -factor
        # Both ends are rounded inward, as integers between multiples are hit by no `a`: `2*a <= 5`
        # is `a <= 2`. A hole between multiples disappears for the same reason.
        low = None if within.low is None else -(-within.low // factor)
        high = None if within.high is None else within.high // factor
        holes = frozenset(hole // factor for hole in within.holes if hole % factor == 0)
        return Range(low, high, holes)

    def _product(self, other: Range) -> Range:
        a, b = self, other
        if a.low is not None and b.low is not None and min(a.low, b.low) >= 0:
            high = None if a.high is None or b.high is None else a.high * b.high
            return Range(a.low * b.low, high)
        # One end may still be known, as for [1, inf) times [-3, -1]. This case is left out, as
        # indices are rarely negative.
        if a.low is None or a.high is None or b.low is None or b.high is None:
            return Range()
        ends = [one * two for one in (a.low, a.high) for two in (b.low, b.high)]
        return Range(min(ends), max(ends))

    def __floordiv__(self, divisor: int) -> Range:
        """Return the range of `a // divisor` for `a` in this range; `divisor` is positive."""
        low = None if self.low is None else self.low // divisor
        return Range(low, None if self.high is None else self.high // divisor)

    def meet(self, other: Range) -> Range:
        """Return the integers in both ranges."""
        low = self.low if other.low is None else other.low
        if low is not None and self.low is not None:
            low = max(low, self.low)
        high = self.high if other.high is None else other.high
        if high is not None and self.high is not None:
            high = min(high, self.high)
        holes = self.holes | other.holes
        # `0 <= x` without 0 is `1 <= x`: comparisons look at the ends only.
        while low in holes:
            low += 1
        while high in holes:
            high -= 1
        return Range(low, high, holes)

    def join(self, other: Range) -> Range:
        """Return the smallest range that includes both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Range(low, high, self.holes & other.holes)

    @staticmethod
    def of_minimum(ranges: Sequence[Range]) -> Range:
        """Return the range of the minimum of integers, one in each of `ranges`."""
        lows = [one.low for one in ranges if one.low is not None]
        highs = [one.high for one in ranges if one.high is not None]
        low = min(lows) if len(lows) == len(ranges) else None
        return Range(low, min(highs) if highs else None)

    @staticmethod
    def of_maximum(ranges: Sequence[Range]) -> Range:
        """Return the range of the maximum of integers, one in each of `ranges`."""
        return -Range.of_minimum([-one for one in ranges])


# Ranges of atoms from the ranges of their operands (TVM `ConstIntBoundAnalyzer`).


RangeOf = Callable[[LinearForm], Range]


def range_of_function(atom: Atom, range_of: RangeOf) -> Range:
    """Return the range of `atom` that follows from its kind and the ranges of its operands.

    `range_of` gives the range of an operand; it is called for the operands that matter only.
    """
    match atom.kind:
        case AtomKind.VALUE:
            return Range()
        case AtomKind.LOOP:
            first, last = map(range_of, atom.operands)
            return Range(first.low, last.high)
        case AtomKind.FLOORDIV | AtomKind.DIV:
            return _range_of_quotient(atom, range_of)
        case AtomKind.MOD:
            # The range of the dividend is not used. With a constant divisor it would narrow the
            # result only if it lies between two multiples, and then `CanonicalArithmetic.mod` makes
            # no atom.
            divisor = range_of(atom.operands[1])
            if divisor.low is None or divisor.low <= 0:
                return Range()
            return Range(0, None if divisor.high is None else divisor.high - 1)
        case AtomKind.REM:
            return _range_of_remainder(atom, range_of)
        case AtomKind.MIN:
            return Range.of_minimum([*map(range_of, atom.operands)])
        case AtomKind.MAX:
            return Range.of_maximum([*map(range_of, atom.operands)])
        case AtomKind.MUL:
            return _range_of_product(atom, range_of)
        case AtomKind.OP:
            assert atom.value is not None and isinstance(atom.value.owner, Operation)
            return _range_of_result(atom.value.owner, atom.operands, range_of)


def _range_of_quotient(atom: Atom, range_of: RangeOf) -> Range:
    dividend, divisor = map(range_of, atom.operands)
    if divisor.low is None or divisor.low <= 0:
        return Range()
    if dividend.low is not None and dividend.low >= 0:
        low = 0 if divisor.high is None else dividend.low // divisor.high
        return Range(low, None if dividend.high is None else dividend.high // divisor.low)
    # With a negative dividend, the largest divisor gives the largest quotient: -8 by 2 to 4 is from
    # -4 to -2. Divisors that are not constant are rare in index arithmetic, so the range is given
    # up.
    if divisor.constant is None:
        return Range()
    found = dividend // divisor.low
    if atom.kind is AtomKind.FLOORDIV or found.low is None:
        return found
    # Rounding to 0 gives at most 0 for a negative dividend, where rounding down gives less.
    return Range(found.low, None if found.high is None else max(found.high, 0))


def _range_of_remainder(atom: Atom, range_of: RangeOf) -> Range:
    dividend, divisor = map(range_of, atom.operands)
    if divisor.low is None or divisor.high is None:
        return Range(0 if dividend.low is not None and dividend.low >= 0 else None)
    # A divisor of 0 gives no remainder, so a range that includes it does no harm.
    most = max(abs(divisor.low), abs(divisor.high)) - 1
    low = -most if dividend.low is None else max(-most, min(dividend.low, 0))
    return Range(low, most if dividend.high is None else min(most, max(dividend.high, 0)))


def _range_of_product(atom: Atom, range_of: RangeOf) -> Range:
    found = Range(1, 1)
    for operand in atom.operands:
        found = found * range_of(operand)
    if all(atom.operands.count(operand) % 2 == 0 for operand in atom.operands):
        found = found.meet(Range(0))  # a square
    return found


def _range_of_result(op: Operation, operands: tuple[LinearForm, ...], range_of: RangeOf) -> Range:
    if isinstance(op, arith.SelectOp):
        return range_of(operands[1]).join(range_of(operands[2]))
    found = range_of_result(op, map(_bounded, map(range_of, operands), op.operand_types))
    if found is None:
        return Range()
    low, high = _bounds(found)
    if isinstance(op.results[0].type, IndexType):  # an index does not overflow, and has no limits
        least, most = full(found.width).signed
        return Range(None if low == least else low, None if high == most else high)
    return Range(low, high)


def _bounded(within: Range, type: Attribute) -> IntegerRange:
    """Return the integers of a type that are in a range."""
    if not has_range(type):
        return NO_INTEGER
    limits = of_type(type)
    least, most = _bounds(limits)
    low = least if within.low is None else max(within.low, least)
    high = most if within.high is None else min(within.high, most)
    return both(1, unsigned=(low, high)) if limits.width == 1 else both(limits.width, (low, high))


def _bounds(within: IntegerRange) -> tuple[int, int]:
    # True counts as 1.
    return within.unsigned if within.width == 1 else within.signed


# The atoms of an analyzer, each of them one object.


class AtomTable(ScopedDict[tuple[object, ...], Atom]):
    """Hash-consed atoms, found by a key of the caller's choice."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def new(self, kind: AtomKind, operands: tuple[LinearForm, ...], value: SSAValue | None) -> Atom:
        """Return a new atom, which is not in the table."""
        atoms = [atom for operand in operands for atom, _ in operand.terms]
        depth = max((atom.depth for atom in atoms), default=0) + 1
        has_division = kind in DIVISIONS or (
            kind is AtomKind.MUL and any(atom.has_division for atom in atoms)
        )
        # Not the length of the table, which lacks VALUE atoms and shrinks at the end of a scope. If
        # two atoms had one number, equal sums could be sorted in two ways, and be different forms.
        self._count += 1
        return Atom(self._count, kind, operands, value, depth, has_division)

    def function(self, kind: AtomKind, *operands: LinearForm) -> LinearForm:
        """Return the atom that is a function of `operands`; it is not an SSA value."""
        key = (kind, operands)
        if (atom := self.get(key)) is None:
            atom = self.new(kind, operands, None)
            self.put(key, atom)
        return LinearForm.of(atom)

    def product(self, factors: Sequence[Atom]) -> Atom:
        """Return the atom that is the product of one or more atoms, in any order."""
        if len(factors) == 1:
            return factors[0]
        # Sorted and flat (`factors_of`), so that `(a * b) * c` and `c * (b * a)` are one atom.
        in_order = sorted(factors, key=lambda atom: atom.number)
        product = self.function(AtomKind.MUL, *map(LinearForm.of, in_order)).atom
        assert product is not None
        return product


def factors_of(atom: Atom) -> list[Atom]:
    """Return the factors of a product of atoms; for any other atom, the atom alone."""
    if atom.kind is AtomKind.MUL:
        factors = [operand.atom for operand in atom.operands]
        if None not in factors:
            return [factor for factor in factors if factor is not None]
    return [atom]
