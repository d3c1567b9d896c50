"""The work that a call gives to a device, and the device memory that calls take turns in using."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .device import Address, Device, Grid, Scalar
from .driver import OUT_OF_MEMORY, DriverError
from .host_kernels import HostKernels
from .shadows import StepPlace

if TYPE_CHECKING:
    import numpy as np

# Steps: what a call does, in order. They name memory by `StepPlace`, for any addresses.


class StepBuffer(NamedTuple):
    """Contiguous elements in the memory of a call."""

    place: StepPlace
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """The bytes of the elements."""
        return prod(self.shape) * self.dtype.itemsize


class KernelLaunch(NamedTuple):
    """A launch of a kernel; buffers are passed as addresses."""

    kernel: str
    grid: Grid
    arguments: Sequence[StepBuffer | Scalar]
    where: str
    """The location of the call that it computes, as ` at x.mlir:3:8`; empty if unknown."""
    origin: str = ""
    """The operations that were fused into the kernel, each with its location."""

    def __str__(self) -> str:
        return f"@{self.kernel}{self.where}" + (f" ({self.origin})" if self.origin else "")


class Copy(NamedTuple):
    """A copy of bytes."""

    target: StepPlace
    source: StepPlace
    size: int


class Fill(NamedTuple):
    """A pattern of 1, 2, 4 or 8 bytes that is written `times` times."""

    target: StepPlace
    pattern: bytes
    times: int


class HostCall(NamedTuple):
    """A call of a function without a tile program, on copies of its buffers in host memory."""

    function: str
    arguments: Sequence[StepBuffer | object]


Step: TypeAlias = KernelLaunch | Copy | Fill | HostCall


class Executor:
    """A device with the kernels of a program, which performs steps."""

    def __init__(
        self, device: Device, kernels: Mapping[str, object], host_kernels: HostKernels
    ) -> None:
        self.device = device
        self._kernels, self._host_kernels = kernels, host_kernels
        self.times: list[tuple[Step, object, object]] | None = None
        """The steps with the events before and after them, while they are timed."""

    def perform(self, step: Step, addresses: Sequence[int]) -> None:
        """Perform a step; `addresses` are those of the allocations."""
        if self.times is None:
            return self._perform(step, addresses)
        first = self.device.event()
        self._perform(step, addresses)
        self.times.append((step, first, self.device.event()))

    def _perform(self, step: Step, addresses: Sequence[int]) -> None:
        match step:
            case KernelLaunch(name, grid, arguments):
                given = [_scalar(argument, addresses) for argument in arguments]
                self.device.launch(self._kernels[name], str(step), grid, given)
            case Copy(target, source, size):
                self.device.copy(_at(target, addresses), _at(source, addresses), size)
            case Fill(target, pattern, count):
                self.device.fill(_at(target, addresses), pattern, count)
            case HostCall():
                self._call(step, addresses)

    def _call(self, step: HostCall, addresses: Sequence[int]) -> None:
        import numpy as np

        values: list[object] = []
        for argument in step.arguments:
            if isinstance(argument, StepBuffer):
                array = np.empty(argument.shape, argument.dtype)
                self.device.download(array, _at(argument.place, addresses))
                argument = array
            values.append(argument)
        written = self._host_kernels.call(step.function, values)
        for argument, array in zip(step.arguments, written, strict=True):
            if isinstance(argument, StepBuffer) and array is not None:
                self.device.upload(_at(argument.place, addresses), array)


def _at(place: StepPlace, addresses: Sequence[int]) -> int:
    return addresses[place.allocation] + place.offset


def _scalar(argument: StepBuffer | Scalar, addresses: Sequence[int]) -> Scalar:
    if not isinstance(argument, StepBuffer):
        return argument
    address = Address(_at(argument.place, addresses))
    address.size = argument.size
    return address


# Memory


ALIGNMENT = 256
"""The alignment of allocations in the arena of a call, and of the sizes of allocations."""


def aligned(size: int) -> int:
    """Return a size that is at least `size`, at least one, and a multiple of the alignment."""
    return max(1, -(-size // ALIGNMENT)) * ALIGNMENT


class MemoryPool:
    """Device memory that was freed, and is used again for allocations of the same size.

    Equal calls get equal addresses. As all work is on one stream, memory may be used again before
    the work that uses it is done.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._free: dict[int, list[Block]] = defaultdict(list)
        self._count = 0

    def allocate(self, size: int) -> StepMemory:
        """Allocate memory, which is freed when nothing refers to it; DriverError if there is too
        little."""
        size = aligned(size)
        if free := self._free[size]:
            return StepMemory(self, free.pop(0), size)
        self._count += 1
        try:
            return StepMemory(self, (self._count, self._device.allocate(size)), size)
        except DriverError as error:
            if error.code != OUT_OF_MEMORY:
                raise
            self.release()
            return StepMemory(self, (self._count, self._device.allocate(size)), size)

    def take_back(self, block: Block, size: int) -> None:
        """Keep memory for later allocations: first what was allocated first."""
        insort(self._free[size], block)

    def release(self) -> None:
        """Free the memory that nothing uses."""
        for blocks in self._free.values():
            while blocks:
                self._device.free(blocks.pop()[1])

    def __del__(self) -> None:
        self.release()


Block: TypeAlias = tuple[int, int]
"""The number of an allocation, and its address."""


class StepMemory:
    """An allocation of a pool."""

    def __init__(self, pool: MemoryPool, block: Block, size: int) -> None:
        self._pool, self._block, self.size = pool, block, size
        self.address = block[1]

    def __del__(self) -> None:
        self._pool.take_back(self._block, self.size)


def arena_places(
    events: Sequence[tuple[int, bool]], sizes: Sequence[int]
) -> tuple[dict[int, int], int]:
    """Return the offset of each allocation in an arena, and the size of the arena.

    `events` are the numbers of allocations in the order in which they were made (true) and freed
    (false); each gets the first gap that is large enough.
    """
    offsets: dict[int, int] = {}
    live: list[tuple[int, int]] = []
    end = 0
    for number, is_new in events:
        if not is_new:
            live = [row for row in live if row[0] != offsets.get(number)]
            continue
        size, start = aligned(sizes[number]), 0
        for begin, stop in live:
            if begin - start >= size:
                break
            start = stop
        offsets[number] = start
        insort(live, (start, start + size))
        end = max(end, start + size)
    return offsets, end
