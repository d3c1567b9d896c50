"""The sanitizer of launches: accesses to the same element that nothing orders.

Tile blocks run in any order, and within a block accesses are ordered by tokens alone. Two accesses
to an element, of which one writes, are a race, unless both are atomic or otherwise stronger than
`weak`, or the second acquires what a release after the first has published.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from ....dialects.cuda_tile.attributes import (
    MemoryOrderingSemantics,
    MemoryOrderingSemanticsAttr,
    MemoryScope,
    MemoryScopeAttr,
)
from ....passmanager.ir.location import place_of
from .device_buffer import DeviceBuffer
from .tile_values import Array

__all__ = ["MemoryAccess", "RaceChecker"]

Bytes = NDArray[np.int64]
Block = tuple[int, int, int]

ACQUIRES = (MemoryOrderingSemantics.ACQUIRE, MemoryOrderingSemantics.ACQ_REL)
RELEASES = (MemoryOrderingSemantics.RELEASE, MemoryOrderingSemantics.ACQ_REL)


MAX_EVENTS = 512
"""The accesses of a block up to which it is known which tokens order something."""


class MemoryAccess(NamedTuple):
    """An operation on memory."""

    op: Operation
    reads: bool
    writes: bool
    is_strong: bool
    """Whether it may be concurrent with strong accesses of the same block."""
    is_shared: bool
    """Whether it may be concurrent with shared accesses of other blocks."""
    acquires: bool
    releases: bool

    @staticmethod
    def of(op: Operation) -> MemoryAccess:
        """Return the access that an operation does."""
        order = op.properties["memory_ordering_semantics"]
        assert isinstance(order, MemoryOrderingSemanticsAttr)
        scope = op.properties.get("memory_scope")
        wide = isinstance(scope, MemoryScopeAttr) and scope.data is not MemoryScope.TL_BLK
        strong, atomic = order.data is not MemoryOrderingSemantics.WEAK, ".atomic" in op.name
        return MemoryAccess(
            op,
            atomic or ".load" in op.name,
            atomic or ".store" in op.name,
            strong,
            strong and wide,
            order.data in ACQUIRES,
            order.data in RELEASES,
        )

    @property
    def verb(self) -> str:
        """The verb of a finding."""
        return "updates" if self.reads and self.writes else "writes" if self.writes else "reads"


class Event(NamedTuple):
    """An access that the current block has done."""

    access: MemoryAccess
    before: int
    """Its token operand."""
    places: Bytes
    """The sorted addresses, in this process, of the bytes that it accessed."""


@dataclass(eq=False)
class Shadow:
    """The shadow memory of the bytes from `low` to `high`: for each kind of access, by (writes,
    is_shared), the number of the first access to each byte."""

    low: int
    high: int
    first: dict[tuple[bool, bool], Bytes] = field(default_factory=dict[tuple[bool, bool], Bytes])
    reads: int = 0
    """The accesses of the block that runs which read, as the bits of a token."""
    writes: int = 0

    def table(self, writes: bool, is_shared: bool) -> Bytes:
        """Return the numbers of the first accesses of a kind; 0 is none."""
        if (writes, is_shared) not in self.first:
            self.first[writes, is_shared] = np.zeros(self.high - self.low, np.int64)
        return self.first[writes, is_shared]


@dataclass
class RaceChecker:
    """A checker of the accesses of a launch, which records them and reports those that race."""

    errors: dict[object, str] = field(default_factory=dict[object, str])
    """The findings by the operations that they are about."""
    _shadows: list[Shadow] = field(default_factory=list[Shadow])
    _accesses: list[tuple[Block, MemoryAccess]] = field(
        default_factory=list[tuple[Block, MemoryAccess]]
    )
    """All accesses of the launch; their numbers begin at 1."""
    _events: list[Event] = field(default_factory=list[Event])
    _start: int = 1
    """The number of the first access of the current block."""
    _block: Block = (0, 0, 0)
    _seen: set[Block] = field(default_factory=set[Block])
    """The current block, and those whose accesses it is ordered after, by acquire and release."""
    _released: defaultdict[int, set[Block]] = field(default_factory=lambda: defaultdict(set))
    _waiting: dict[Operation, bool] = field(default_factory=dict[Operation, bool])
    """Whether the token operand of an operation has ordered two accesses to the same element."""

    def watch(self, data: Array, is_new: bool) -> None:
        """Begin to record the accesses to a buffer. It shares the record of buffers that it
        overlaps; one that `is_new` does not, as those have been freed."""
        low, high = data.ctypes.data, data.ctypes.data + data.nbytes
        for shadow in [s for s in self._shadows if s.low < high and low < s.high]:
            self._shadows.remove(shadow)
            if not is_new:
                low, high = min(low, shadow.low), max(high, shadow.high)
        self._shadows.append(Shadow(low, high))

    def enter(self, block: Block) -> None:
        """Begin a block."""
        self._block, self._start = block, len(self._accesses) + 1
        self._events.clear()
        for shadow in self._shadows:
            shadow.reads = shadow.writes = 0
        self._seen = {block}

    def report(self, op: Operation, text: str) -> None:
        """Add a finding about an operation in the current block."""
        self.errors.setdefault(
            (op, text.partition(" ")[0]), f"{self._name(op, self._block)} {text}"
        )

    @property
    def warnings(self) -> list[str]:
        """A line for each operation whose token operand never ordered anything."""
        return [
            f"the token of '{op.name}'{place_of(op)} orders nothing"
            for op, useful in self._waiting.items()
            if not useful
        ]

    def access(self, access: MemoryAccess, buffer: DeviceBuffer, index: Array, token: int) -> int:
        """Check an access to the elements of a buffer at `index`; return its result token. `token`
        is its token operand."""
        if not index.size:
            return token
        elements, counts = np.unique(index, return_counts=True)
        places = places_of(buffer.data, elements)
        shadow = next(s for s in self._shadows if s.low <= places[0] < s.high)
        self._check_elements(access, buffer, elements[counts > 1], shadow, places)
        if access.acquires:
            self._seen.update(*(self._released[place] for place in places.tolist()))
        self._check_blocks(access, buffer, shadow, places)
        self._check_block(access, buffer, shadow, places, token)
        self._record(access, shadow, places, token)
        return token | 1 << len(self._events) - 1

    def _record(self, access: MemoryAccess, shadow: Shadow, places: Bytes, token: int) -> None:
        """Record an access."""
        table, where = shadow.table(access.writes, access.is_shared), places - shadow.low
        self._accesses.append((self._block, access))
        table[where] = np.where(table[where], table[where], len(self._accesses))
        bit = 1 << len(self._events)
        shadow.reads |= bit * access.reads
        shadow.writes |= bit * access.writes
        self._events.append(Event(access, token, places))
        if access.releases:
            for place in places.tolist():
                self._released[place] |= self._seen

    def _check_elements(
        self,
        access: MemoryAccess,
        buffer: DeviceBuffer,
        twice: Array,
        shadow: Shadow,
        places: Bytes,
    ) -> None:
        """Report an element that a store writes twice, or that is read before it has a value."""
        if access.writes and not access.is_strong and twice.size:
            self.report(access.op, f"writes element {twice[0]} of {buffer.name} twice")
        if access.reads and buffer.is_new:
            where = places - shadow.low
            written = shadow.table(True, False)[where] + shadow.table(True, True)[where]
            if not written.all():
                what = f"element {element_at(buffer.data, places[written == 0][0])}"
                self.report(access.op, f"reads {what} of {buffer.name} without a value")

    def _check_blocks(
        self, access: MemoryAccess, buffer: DeviceBuffer, shadow: Shadow, places: Bytes
    ) -> None:
        """Report a conflict with a block that ran before."""
        for (writes, is_shared), table in shadow.first.items():
            if not (writes or access.writes) or (is_shared and access.is_shared):
                continue
            numbers = table[places - shadow.low]
            others = (numbers > 0) & (numbers < self._start)
            for number in map(int, np.unique(numbers[others])):
                block, other = self._accesses[number - 1]
                if block not in self._seen:
                    self._conflict(access, buffer, places[numbers == number][0], block, other)
                    break

    def _check_block(
        self, access: MemoryAccess, buffer: DeviceBuffer, shadow: Shadow, places: Bytes, token: int
    ) -> None:
        """Report conflicts with earlier accesses of the same block that the token does not wait
        for, and note which tokens have ordered something."""
        others = shadow.writes | (shadow.reads if access.writes else 0)
        for i in bits_of(others & ~token):
            event = self._events[i]
            if access.is_strong and event.access.is_strong:
                continue
            if (common := common_places(places, event.places)).size:
                self._conflict(access, buffer, common[0], self._block, event.access)
        if not token:
            return
        self._waiting.setdefault(access.op, False)
        if all(self._waiting.values()):
            return
        if len(self._events) > MAX_EVENTS:
            self._waiting[access.op] = True  # it may have: to look at all of them takes too long
            return
        for i in bits_of(others & token):
            if common_places(places, self._events[i].places).size:
                self._waiting.update(dict.fromkeys(self._between(i, access.op, token), True))

    def _between(self, first: int, op: Operation, token: int) -> Iterator[Operation]:
        """Yield `op`, and the operations whose accesses come between the event `first` and `op` in
        the order of tokens."""
        yield op
        for i, event in enumerate(self._events):
            if token >> i & 1 and event.before >> first & 1:
                yield event.access.op

    def _conflict(
        self,
        access: MemoryAccess,
        buffer: DeviceBuffer,
        place: np.int64,
        block: Block,
        other: MemoryAccess,
    ) -> None:
        same = block == self._block
        element = f"element {element_at(buffer.data, place)} of {buffer.name}"
        what = (
            f"{self._name(access.op, self._block)} {access.verb} {element}, which "
            f"'{other.op.name}'{place_of(other.op)} {other.verb} "
        )
        if same:
            what += "in the same block; no token orders them"
        else:
            what += f"in block {block}; nothing orders blocks"
        self.errors.setdefault((access.op, other.op, same), what)

    @staticmethod
    def _name(op: Operation, block: Block) -> str:
        return f"'{op.name}'{place_of(op)} in block {block}"


def places_of(data: Array, elements: Array) -> Bytes:
    """Return the addresses of the bytes of elements of a flat array."""
    starts = data.ctypes.data + elements.astype(np.int64) * data.itemsize
    return (starts[:, None] + np.arange(data.itemsize)).ravel()


def element_at(data: Array, place: np.int64) -> int:
    """Return the index of the element of a flat array that has a byte."""
    return (int(place) - data.ctypes.data) // data.itemsize


def bits_of(token: int) -> Iterator[int]:
    """Yield the numbers of the accesses in a token."""
    while token:
        low = token & -token
        yield low.bit_length() - 1
        token ^= low


def common_places(places: Bytes, others: Bytes) -> Bytes:
    """Return the addresses in both of two sorted arrays, which are not empty."""
    if others[-1] < places[0] or places[-1] < others[0]:
        return places[:0]
    return np.intersect1d(places, others, assume_unique=True)
