"""Memory planning for symbolic sizes: buffers whose sizes are multiples of one expression share
bytes as buffers of known sizes do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd

from ....compiler.analysis.memory.storage_plan import ALIGNMENT, LiveRange, plan_storage
from ....dialects.sizes import Size

__all__ = ["SizedRange", "UnitPlan", "plan_by_units"]


@dataclass(frozen=True)
class SizedRange:
    """The time from `first` to `last`, both included, in which a buffer of `size` bytes is used."""

    first: int
    last: int
    size: Size


@dataclass(frozen=True)
class UnitPlan:
    """Buffers whose sizes are multiples of `unit` bytes."""

    unit: Size
    total: int
    """The units that all of them take."""
    offsets: dict[int, int]
    """The offset of each buffer, by its number, in units."""


def plan_by_units(
    ranges: Sequence[SizedRange], covers: Callable[[Size, Size], bool]
) -> list[UnitPlan]:
    """Place buffers so that those live at one time do not overlap, in one area for each expression
    that sizes are multiples of: `4 * b * n` and `12 * b * n` share one.

    An expression that another `covers`, which is not smaller, shares the area of that. Units are
    multiples of `ALIGNMENT`.
    """
    factors, bases = zip(*(_split(each.size) for each in ranges)) if ranges else ((), ())
    areas: dict[Size, list[int]] = {}
    for number, base in enumerate(bases):
        areas.setdefault(base, []).append(number)
    for base in [*areas]:
        if (larger := next((b for b in areas if b != base and covers(b, base)), None)) is not None:
            areas[larger] += areas.pop(base)
    return [_plan(base, numbers, ranges, factors) for base, numbers in areas.items()]


def _split(size: Size) -> tuple[int, Size]:
    """Return the greatest common factor of the terms of a size, and the size divided by it."""
    common = gcd(*(factor for _, factor in size.terms))
    return common, Size(tuple((product, factor // common) for product, factor in size.terms))


def _plan(
    base: Size, numbers: Sequence[int], ranges: Sequence[SizedRange], factors: Sequence[int]
) -> UnitPlan:
    common = gcd(*(factors[number] for number in numbers))
    live = [
        LiveRange(ranges[n].first, ranges[n].last, factors[n] // common * ALIGNMENT)
        for n in numbers
    ]
    plan = plan_storage(live)
    unit = (base * Size.of(common) + Size.of(ALIGNMENT - 1)) // ALIGNMENT * Size.of(ALIGNMENT)
    offsets = {n: offset // ALIGNMENT for n, offset in zip(numbers, plan.offsets, strict=True)}
    return UnitPlan(unit, plan.total // ALIGNMENT, offsets)
