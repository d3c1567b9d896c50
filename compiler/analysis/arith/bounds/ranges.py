"""Integer ranges and arithmetic on them (TVM `ConstIntBound`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Range"]


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
        # One end may still be known, as of [1, inf) times [-3, -1]; indices are rarely negative,
        # and the case is left out.
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
