"""Where buffers may share memory: from when to when they are in use -> where they lie."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

__all__ = ["ALIGNMENT", "Lifetime", "Plan", "aligned", "peak", "plan", "share"]

ALIGNMENT = 64
"""Bytes: a line of cache, and the widest vector."""

MAX_PAIRS = 1 << 20
"""The most pairs of buffers in use at once for which the better, slower way is tried."""

MAX_RATIO = 16
"""How many times larger or smaller the memory is that a buffer is given; TVM's number."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A buffer of `size` bytes that is in use from the time `first` to `last`, both included."""

    first: int
    last: int
    size: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Where each buffer begins in one piece of memory, and the size of that."""

    offsets: list[int]
    total: int


def aligned(size: int, alignment: int = ALIGNMENT) -> int:
    """The least multiple of `alignment` that is not below `size`."""
    return -(-size // alignment) * alignment


def peak(lifetimes: Sequence[Lifetime], alignment: int = ALIGNMENT) -> int:
    """The most bytes in use at once, below which no plan can go."""
    changes = [(life.first, aligned(life.size, alignment)) for life in lifetimes]
    changes += [(life.last + 1, -aligned(life.size, alignment)) for life in lifetimes]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def plan(lifetimes: Sequence[Lifetime], alignment: int = ALIGNMENT) -> Plan:
    """Place buffers in one piece of memory so that those in use at one time do not overlap.

    Every offset is a multiple of `alignment`. In the order of time, which costs n log n; where that
    does not reach the peak, the largest first as well, and the better of the two is taken.
    """
    sizes = [aligned(life.size, alignment) for life in lifetimes]
    by_time = _place_by_time(lifetimes, sizes)
    if by_time.total == peak(lifetimes, alignment):
        return by_time
    neighbours = _neighbours(lifetimes)
    if neighbours is None:
        return by_time
    return min(by_time, _place_by_size(neighbours, sizes), key=lambda plan: plan.total)


def share(lifetimes: Sequence[Lifetime], kinds: Sequence[object]) -> list[int]:
    """Give each buffer a number, the same to those that are to lie in one allocation.

    Buffers share only with their like in `kinds`. The smallest free allocation that is large enough
    is taken, else the largest free one, which grows; none that is more than 16 times larger or
    smaller. Source: TVM's `StoragePlanRewriter.FindAlloc`.
    """
    numbers = [0] * len(lifetimes)
    sizes: list[int] = []
    free: dict[object, list[tuple[int, int]]] = {}
    used: list[tuple[int, int]] = []
    for index in sorted(range(len(lifetimes)), key=lambda index: lifetimes[index].first):
        life = lifetimes[index]
        while used and used[0][0] < life.first:
            _, ended = heappop(used)
            number = numbers[ended]
            insort(free.setdefault(kinds[ended], []), (sizes[number], number))
        number = _take(free.get(kinds[index], []), life.size)
        if number is None:
            number = len(sizes)
            sizes.append(life.size)
        sizes[number] = max(sizes[number], life.size)
        numbers[index] = number
        heappush(used, (life.last, index))
    return numbers


def _take(free: list[tuple[int, int]], size: int) -> int | None:
    """Remove the allocation that fits best from those that are free."""
    at = bisect_left(free, (size, -1))
    if at < len(free) and free[at][0] <= size * MAX_RATIO:
        return free.pop(at)[1]
    if at > 0 and free[at - 1][0] * MAX_RATIO >= size:
        return free.pop(at - 1)[1]
    return None


# Placing


class _Memory:
    """What is free in a piece of memory that grows."""

    def __init__(self) -> None:
        self.total = 0
        self.ends: dict[int, int] = {}
        self.begins: dict[int, int] = {}
        self.gaps: list[tuple[int, int]] = []

    def take(self, size: int) -> int:
        """The offset of the smallest gap that is large enough, else the end, which moves."""
        at = bisect_left(self.gaps, (size, -1))
        if at < len(self.gaps):
            begin = self.gaps[at][1]
            end = self._fill(begin)
            if begin + size < end:
                self._open(begin + size, end)
            return begin
        begin = self.total
        if begin in self.begins:
            begin = self.begins[begin]
            self._fill(begin)
        self.total = begin + size
        return begin

    def free(self, begin: int, end: int) -> None:
        """Give a place back; it joins the gaps beside it."""
        if end in self.ends:
            end = self._fill(end)
        if begin in self.begins:
            begin = self.begins[begin]
            self._fill(begin)
        self._open(begin, end)

    def _open(self, begin: int, end: int) -> None:
        self.ends[begin] = end
        self.begins[end] = begin
        insort(self.gaps, (end - begin, begin))

    def _fill(self, begin: int) -> int:
        end = self.ends.pop(begin)
        del self.begins[end]
        del self.gaps[bisect_left(self.gaps, (end - begin, begin))]
        return end


def _place_by_time(lifetimes: Sequence[Lifetime], sizes: Sequence[int]) -> Plan:
    """Give each buffer, when it comes into use, the smallest place that is free."""
    offsets = [0] * len(lifetimes)
    memory = _Memory()
    used: list[tuple[int, int]] = []
    for index in sorted(range(len(lifetimes)), key=lambda index: lifetimes[index].first):
        if sizes[index] == 0:
            continue
        life = lifetimes[index]
        while used and used[0][0] < life.first:
            _, ended = heappop(used)
            memory.free(offsets[ended], offsets[ended] + sizes[ended])
        offsets[index] = memory.take(sizes[index])
        heappush(used, (life.last, index))
    return Plan(offsets, memory.total)


def _neighbours(lifetimes: Sequence[Lifetime]) -> list[list[int]] | None:
    """For each buffer those in use at the same time as it; None if that is too many."""
    neighbours: list[list[int]] = [[] for _ in lifetimes]
    used: list[int] = []
    pairs = 0
    for index in sorted(range(len(lifetimes)), key=lambda index: lifetimes[index].first):
        first = lifetimes[index].first
        used = [other for other in used if lifetimes[other].last >= first]
        pairs += len(used)
        if pairs > MAX_PAIRS:
            return None
        for other in used:
            neighbours[index].append(other)
            neighbours[other].append(index)
        used.append(index)
    return neighbours


def _place_by_size(neighbours: Sequence[Sequence[int]], sizes: Sequence[int]) -> Plan:
    """Give each buffer, the largest first, the lowest place that its neighbours leave."""
    offsets = [0] * len(sizes)
    placed = [False] * len(sizes)
    total = 0
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        taken = ((offsets[other], sizes[other]) for other in neighbours[index] if placed[other])
        offsets[index] = _lowest_place(taken, sizes[index])
        placed[index] = True
        total = max(total, offsets[index] + sizes[index])
    return Plan(offsets, total)


def _lowest_place(taken: Iterator[tuple[int, int]], size: int) -> int:
    place = 0
    for begin, length in sorted(taken):
        if place + size <= begin:
            break
        place = max(place, begin + length)
    return place
