"""Memory planning: live ranges and sizes of buffers -> offsets in one arena, or shared allocations.

Placing buffers of given live ranges in the smallest arena is dynamic storage allocation, which is
NP-hard; both planners here are greedy.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from xdsl.dialects.scf import ForOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.relax.graph import MatchCastOp
from ....dialects.relax.interfaces import View
from ....dialects.relax.kernels import CallTIRInplaceOp, CallTIROp

ALIGNMENT = 64
"""The alignment in bytes: one cache line, and the widest vector."""

MAX_PAIRS = 1 << 20
"""The most pairs of overlapping live ranges for which buffers are also placed by size."""

MAX_RATIO = 16
"""The largest ratio between the size of a buffer and of the allocation it shares, as in TVM."""


@dataclass(frozen=True, slots=True)
class LiveRange:
    """The time from `first` to `last`, both included, in which a buffer of `size` bytes is used."""

    first: int
    last: int
    size: int


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """The offset of each buffer in an arena, and the size of the arena, in bytes."""

    offsets: list[int]
    total: int


def align_up(size: int, alignment: int = ALIGNMENT) -> int:
    """Round `size` up to a multiple of `alignment`."""
    return -(-size // alignment) * alignment


def peak_size(ranges: Sequence[LiveRange], alignment: int = ALIGNMENT) -> int:
    """Return the most bytes that are live at once: a lower bound for every plan."""
    changes = [(live.first, align_up(live.size, alignment)) for live in ranges]
    changes += [(live.last + 1, -align_up(live.size, alignment)) for live in ranges]
    peak = now = 0
    # At equal times negative changes sort first: a buffer is freed before the next one begins.
    for _, change in sorted(changes):
        now += change
        peak = max(peak, now)
    return peak


# Offsets in an arena


def plan_storage(ranges: Sequence[LiveRange], alignment: int = ALIGNMENT) -> StoragePlan:
    """Place buffers in one arena so that those live at one time do not overlap.

    All offsets are multiples of `alignment`. Buffers are placed by time, best fit, in O(n log n);
    if that exceeds the lower bound, also greedily by size, and the smaller arena is taken.
    Source: Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net Inference, 2020
    ("greedy by size for offset calculation"); TFLite and TVM's USMP do the same.
    """
    sizes = [align_up(live.size, alignment) for live in ranges]
    # Buffers of 1, 2 and 3 units live at the times 1-2, 1-3 and 3-4, at most 5 at once. By time
    # they get the offsets 0, 1 and 3, as the gap of 1 is too small for 3: 6 in all. By size the one
    # of 3 comes first: 0, 3 and 0, and 5 in all.
    by_time = _place_by_time(ranges, sizes)
    if by_time.total == peak_size(ranges, alignment):
        return by_time
    overlaps = _find_overlaps(ranges)
    if overlaps is None:
        return by_time
    return min(by_time, _place_by_size(overlaps, sizes), key=lambda plan: plan.total)


def _place_by_time(ranges: Sequence[LiveRange], sizes: Sequence[int]) -> StoragePlan:
    """Place buffers in the order of their first use, each in the smallest gap that holds it."""
    offsets = [0] * len(ranges)
    free_list = _FreeList()
    live: list[tuple[int, int]] = []
    for index in sorted(range(len(ranges)), key=lambda index: ranges[index].first):
        if sizes[index] == 0:
            continue
        current = ranges[index]
        # `last` is included: the operands and results of an operation overlap.
        while live and live[0][0] < current.first:
            _, ended = heappop(live)
            free_list.free(offsets[ended], offsets[ended] + sizes[ended])
        offsets[index] = free_list.allocate(sizes[index])
        heappush(live, (current.last, index))
    return StoragePlan(offsets, free_list.total)


class _FreeList:
    """A best-fit allocator on an arena that grows: the gaps between allocations, coalesced.

    Invariant: no two gaps touch each other. `gaps` is sorted by size, then offset.
    """

    def __init__(self) -> None:
        self.total = 0
        self._end_of: dict[int, int] = {}
        self._begin_of: dict[int, int] = {}
        self._gaps: list[tuple[int, int]] = []

    def allocate(self, size: int) -> int:
        """Return the offset of the smallest gap of at least `size` bytes, or of the end.

        A gap at the end is extended.
        """
        # Offsets are at least 0, so -1 finds the first gap of the size, at the lowest offset.
        at = bisect_left(self._gaps, (size, -1))
        if at < len(self._gaps):
            begin = self._gaps[at][1]
            end = self._remove_gap(begin)
            if begin + size < end:
                self._add_gap(begin + size, end)
            return begin
        begin = self.total
        if begin in self._begin_of:
            begin = self._begin_of[begin]
            self._remove_gap(begin)
        self.total = begin + size
        return begin

    def free(self, begin: int, end: int) -> None:
        """Free the bytes from `begin` to `end`, and join the gap with those on both sides."""
        if end in self._end_of:
            end = self._remove_gap(end)
        if begin in self._begin_of:
            begin = self._begin_of[begin]
            self._remove_gap(begin)
        self._add_gap(begin, end)

    def _add_gap(self, begin: int, end: int) -> None:
        self._end_of[begin] = end
        self._begin_of[end] = begin
        insort(self._gaps, (end - begin, begin))

    def _remove_gap(self, begin: int) -> int:
        end = self._end_of.pop(begin)
        del self._begin_of[end]
        del self._gaps[bisect_left(self._gaps, (end - begin, begin))]
        return end


def _find_overlaps(ranges: Sequence[LiveRange]) -> list[list[int]] | None:
    """Return the live ranges that overlap each one; None for more than MAX_PAIRS pairs."""
    overlaps: list[list[int]] = [[] for _ in ranges]
    live: list[int] = []
    pairs = 0
    for index in sorted(range(len(ranges)), key=lambda index: ranges[index].first):
        first = ranges[index].first
        # A sweep in the order of `first`: O(n * live), where `_place_by_time` needs only a heap.
        live = [other for other in live if ranges[other].last >= first]
        pairs += len(live)
        if pairs > MAX_PAIRS:
            return None
        for other in live:
            overlaps[index].append(other)
            overlaps[other].append(index)
        live.append(index)
    return overlaps


def _place_by_size(overlaps: Sequence[Sequence[int]], sizes: Sequence[int]) -> StoragePlan:
    """Place buffers largest first, each at the lowest offset free of those it overlaps in time."""
    offsets = [0] * len(sizes)
    placed = [False] * len(sizes)
    total = 0
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        taken = ((offsets[other], sizes[other]) for other in overlaps[index] if placed[other])
        offsets[index] = _lowest_offset(taken, sizes[index])
        placed[index] = True
        total = max(total, offsets[index] + sizes[index])
    return StoragePlan(offsets, total)


def _lowest_offset(taken: Iterator[tuple[int, int]], size: int) -> int:
    """Return the lowest offset of `size` bytes outside of `taken`, pairs of offset and size."""
    lowest = 0
    for begin, length in sorted(taken):
        if lowest + size <= begin:
            break
        lowest = max(lowest, begin + length)
    return lowest


# Shared allocations


def share_storage(ranges: Sequence[LiveRange], kinds: Sequence[Hashable]) -> list[int]:
    """Return for each buffer the number of the allocation it is put in, from 0.

    Buffers of equal `kinds` whose live ranges do not overlap may share an allocation. A buffer
    takes the smallest free allocation that is large enough, else the largest free one, which grows.
    It never takes one that is more than MAX_RATIO times larger or smaller.
    Source: TVM's `StoragePlanRewriter.FindAlloc`.
    """
    numbers = [0] * len(ranges)
    sizes: list[int] = []
    free: dict[Hashable, list[tuple[int, int]]] = {}
    live: list[tuple[int, int]] = []
    for index in sorted(range(len(ranges)), key=lambda index: ranges[index].first):
        current = ranges[index]
        while live and live[0][0] < current.first:
            _, ended = heappop(live)
            number = numbers[ended]
            insort(free.setdefault(kinds[ended], []), (sizes[number], number))
        # With no limit, a scalar would keep megabytes from a later buffer.
        number = _take_best_fit(free.get(kinds[index], []), current.size)
        if number is None:
            number = len(sizes)
            sizes.append(current.size)
        sizes[number] = max(sizes[number], current.size)
        numbers[index] = number
        heappush(live, (current.last, index))
    return numbers


def _take_best_fit(free: list[tuple[int, int]], size: int) -> int | None:
    """Remove from `free`, pairs of size and number, the allocation that fits `size` best."""
    at = bisect_left(free, (size, -1))
    if at < len(free) and free[at][0] <= size * MAX_RATIO:
        return free.pop(at)[1]
    if at > 0 and free[at - 1][0] * MAX_RATIO >= size:
        return free.pop(at - 1)[1]
    return None


# The last uses of tensors, through views of them.


def source_of(value: SSAValue) -> SSAValue:
    """Return the value that `value` is a view of, or itself."""
    while isinstance(value.owner, View | MatchCastOp):
        value = value.owner.operands[0]
    return value


def users_of(value: SSAValue) -> list[Operation]:
    """Return the operations that use `value` or a view of it, once for each use."""
    found: list[Operation] = []
    for use in value.uses:
        found.append(user := use.operation)
        if isinstance(user, View | MatchCastOp):
            found += users_of(user.results[0])
    return found


def dies_at(op: Operation, value: SSAValue) -> bool:
    """Return whether the call `op` may overwrite its operand `value`.

    A kernel in the same block computed the value, or a loop carries it into this block. `op` uses
    it once, and nothing uses it or a view of it later.

    Only calls of kernels and views may use it: a tuple, a concatenation, a region or a terminator
    would keep it in a way that is not followed here.
    """
    source = source_of(value)
    match source.owner:
        case Block() as block if block is op.parent and _is_carried(block):
            pass
        case CallTIROp() | CallTIRInplaceOp() as maker if maker.parent is op.parent:
            pass
        case _:
            return False
    users = users_of(source)
    # A second operand that is the same buffer would be read after it was overwritten.
    if users.count(op) != 1:
        return False
    return all(
        # `is_before_in_block` walks on from `user`, to the end of the block if it is not before.
        user is op
        or (
            isinstance(user, View | MatchCastOp | CallTIROp | CallTIRInplaceOp)
            and user.parent is op.parent
            and user.is_before_in_block(op)
        )
        for user in users
    )


def _is_carried(block: Block) -> bool:
    """Return whether the arguments of `block` are what a loop carries from turn to turn."""
    match block.parent_op():
        case ForOp():
            return True
        case WhileOp() as loop:
            # The arguments of the region `before` may be passed on by its condition.
            return block is loop.after_region.block
        case _:
            return False
