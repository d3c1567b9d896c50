"""Global memory: numbered flat buffers, addresses, and accesses by tiles of pointers.

An address is the number of a buffer, from 1 on, times 2^40, and the offset in bytes as a device
counts them: an element of bf16 has two, though numpy holds it as f32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ....dialects.cuda_tile import memory_ops as ops
from ....dialects.cuda_tile.attributes import AtomicRMWMode as Mode
from ....dialects.cuda_tile.types import PointerType
from .block_axis import by_block
from .device_buffer import DeviceBuffer
from .race_check import MemoryAccess, RaceChecker
from .tile_arithmetic import unsigned_bits
from .tile_values import (
    Array,
    Compute,
    element_of_value,
    fitting,
    is_exact_element,
    tile_dtype,
    tile_shape,
    to_bits,
)

__all__ = ["POINTER_ACCESS", "DeviceMemory", "combination", "poison"]

SPACE = 40
"""The bits of an offset in a buffer."""


@dataclass
class DeviceMemory:
    """The buffers of a launch, and who checks the accesses to them."""

    checker: RaceChecker | None = None
    buffers: list[DeviceBuffer] = field(default_factory=list[DeviceBuffer])
    blocks: int = 1
    """The number of tile blocks that run at once."""
    overwritten: list[tuple[Array, Any, Array]] = field(
        default_factory=list[tuple[Array, Any, Array]]
    )
    """The parts of arrays that a batch has written, with their elements before."""

    def add(self, name: str, element: Attribute, data: Array, is_new: bool = False) -> np.int64:
        """Add a buffer and return its address."""
        base = (len(self.buffers) + 1) << SPACE
        self.buffers.append(buffer := DeviceBuffer(name, element, data, base, is_new))
        if self.checker is not None:
            self.checker.watch(buffer.data, is_new)
        return np.int64(base)

    def buffer_at(self, address: int) -> DeviceBuffer:
        """Return the buffer of an address; InterpretationError if there is none."""
        number = int(address) >> SPACE
        if not 1 <= number <= len(self.buffers):
            raise InterpretationError(f"address {int(address)} is in no buffer")
        return self.buffers[number - 1]

    def parts(
        self, addresses: Array, element: Attribute
    ) -> Iterator[tuple[DeviceBuffer, Any, Array]]:
        """Yield the buffers that addresses are in, with which of the addresses these are, and the
        indices of their elements; InterpretationError if one exceeds its buffer."""
        if not addresses.size:
            return
        buffer = self.buffer_at(addresses.flat[0])
        index = buffer.elements(addresses, element)
        if index.view(np.uint64).max() < len(buffer.typed(element)):  # of most kernels
            yield buffer, ..., index
            return
        numbers = addresses >> SPACE
        for number in np.unique(numbers):
            buffer, where = self.buffer_at(int(number) << SPACE), numbers == number
            index = buffer.elements(addresses[where], element)
            outside = index >= len(buffer.typed(element))
            if outside.any():
                raise InterpretationError(
                    f"element {index[outside][0]} is outside of {buffer.name}, which has "
                    f"{len(buffer.typed(element))}"
                )
            yield buffer, where, index

    def note(self, access: MemoryAccess, buffer: DeviceBuffer, index: Array, token: int) -> int:
        """Tell the checker of an access; return the token after it."""
        if self.checker is None:
            return 0
        return self.checker.access(access, buffer, index, token)

    def keep(self, array: Array, where: Any) -> None:
        """Keep the elements of a part of an array, before a batch writes it."""
        if self.blocks > 1:
            self.overwritten.append((array, where, array[where].copy()))

    def undo(self) -> None:
        """Restore what the batch has written."""
        for array, where, elements in reversed(self.overwritten):
            array[where] = elements


def poison(element: Attribute, memory: DeviceMemory) -> object:
    """Return the value of elements that have none: a NaN or 0x55 if accesses are checked, so that
    their use is seen, else 0."""
    if memory.checker is None:
        return 0
    return {"f": np.nan, "b": True}.get(tile_dtype(element).kind, 0x55)


def pointee_of(op: Operation) -> Attribute:
    """Return the type of the elements at the pointers, the first operand."""
    pointer = element_of_value(op.operands[0])
    assert isinstance(pointer, PointerType)
    return pointer.pointee_type


def alike(*tiles: Any) -> Sequence[Array]:
    """Return tiles with the axis of blocks if one of them has it, and scalars as tiles."""
    shapes = {np.shape(tile) for tile in tiles}
    return tiles if len(shapes) == 1 else np.broadcast_arrays(*tiles)


# Loads and stores


def load(op: ops.LoadPtrTkoOp, memory: DeviceMemory) -> Compute:
    """Return the load by pointers."""
    access, element = MemoryAccess.of(op), pointee_of(op)
    dtype, undefined = tile_dtype(element), poison(element, memory)

    def gather(addresses: Array, token: int | None) -> tuple[Array, int]:
        values, after = np.empty(addresses.shape, dtype), token or 0
        for buffer, where, index in memory.parts(addresses, element):
            values[where] = buffer.typed(element)[index]
            after |= memory.note(access, buffer, index, token or 0)
        return values, after

    def compute(
        source: Array, mask: Array | None, padding: Array | None, token: int | None
    ) -> tuple[Array, int]:
        addresses = np.asarray(source)
        if mask is None or np.all(mask):
            values, after = gather(addresses, token)
            return values[()], after
        rest = undefined if padding is None else padding
        addresses, mask, rest = alike(addresses, mask, rest)
        values = np.array(rest, dtype)
        values[mask], after = gather(addresses[mask], token)
        return values[()], after

    return compute


def store(op: ops.StorePtrTkoOp, memory: DeviceMemory) -> Compute:
    """Return the store by pointers."""
    access, element = MemoryAccess.of(op), pointee_of(op)

    def compute(target: Array, value: Array, mask: Array | None, token: int | None) -> int:
        addresses, values = alike(np.asarray(target), value)
        after = token or 0
        if mask is not None and not np.all(mask):
            addresses, values, mask = alike(addresses, values, mask)
            addresses, values = addresses[mask], values[mask]
        for buffer, where, index in memory.parts(addresses, element):
            after |= memory.note(access, buffer, index, token or 0)
            data = buffer.typed(element)
            memory.keep(data, index)
            data[index] = values[where]
        return after

    return compute


# Atomic operations


def combination(mode: Mode, element: Attribute) -> Callable[[Array, Array], Array]:
    """Return the function of the old value and the operand that an atomic operation stores: one of
    numpy's, if it is exact."""
    if mode is Mode.XCHG:
        return lambda old, new: new
    function, dtype, fit = COMBINE[mode], tile_dtype(element), fitting(element)
    if mode in (Mode.UMAX, Mode.UMIN):
        return lambda old, new: function(unsigned_bits(old), unsigned_bits(new)).view(dtype)
    return function if is_exact_element(element) else lambda old, new: fit(function(old, new))


COMBINE: Mapping[Mode, np.ufunc] = {
    Mode.ADD: np.add,
    Mode.ADDF: np.add,
    Mode.AND: np.bitwise_and,
    Mode.MAX: np.maximum,
    Mode.MIN: np.minimum,
    Mode.OR: np.bitwise_or,
    Mode.UMAX: np.maximum,
    Mode.UMIN: np.minimum,
    Mode.XOR: np.bitwise_xor,
}


def exchange(
    op: ops.AtomicRMWTkoOp | ops.AtomicCASTkoOp,
    memory: DeviceMemory,
    function: Callable[..., Array],
) -> Compute:
    """Return the atomic operation that stores `function` of the old value and the operands; if
    pointers of a tile are equal, one after the other."""
    access, element = MemoryAccess.of(op), pointee_of(op)
    shape = tile_shape(op.result)
    at_once = not op.result.uses and isinstance(function, np.ufunc)

    def update(data: Array, index: Array, operands: list[Array]) -> Array:
        memory.keep(data, index)
        old = data[index]
        if at_once:
            cast(np.ufunc, function).at(data, index, *operands)
        elif len(np.unique(index)) == index.size:
            data[index] = function(old, *operands)
        else:
            for i, place in np.ndenumerate(index):
                old[i] = data[place]
                data[place] = function(data[place], *(operand[i] for operand in operands))
        return old

    def compute(pointers: Array, *others: Any) -> tuple[Array, int]:
        *operands, mask, token = others
        chosen = np.ones(shape, np.bool_) if mask is None else np.asarray(mask)
        addresses, after = np.asarray(pointers)[chosen], token or 0
        values = [np.asarray(operand)[chosen] for operand in operands]
        result = np.array(operands[0])  # of an element that is masked out, as of `atomic_cas`
        old = np.empty(addresses.shape, result.dtype)
        for buffer, where, index in memory.parts(addresses, element):
            after |= memory.note(access, buffer, index, token or 0)
            old[where] = update(buffer.typed(element), index, [v[where] for v in values])
        result[chosen] = old
        return result[()], after

    return compute


def read_modify_write(op: ops.AtomicRMWTkoOp, memory: DeviceMemory) -> Compute:
    """Return the atomic operation of a mode."""
    return exchange(op, memory, combination(op.mode.data, pointee_of(op)))


def compare_and_swap(op: ops.AtomicCASTkoOp, memory: DeviceMemory) -> Compute:
    """Return the atomic operation that stores where the old value equals another bit by bit."""
    element = pointee_of(op)

    def swapped(old: Array, expected: Array, new: Array) -> Array:
        return np.where(to_bits(old, element) == to_bits(expected, element), new, old)

    return exchange(op, memory, swapped)


def allocate(op: ops.AllocaOp, memory: DeviceMemory) -> Compute:
    """Return the allocation of a tile block."""
    size, pointer = op.num_elem.value.data, element_of_value(op.result)
    assert isinstance(pointer, PointerType)
    element = pointer.pointee_type

    def compute() -> np.int64:
        data = np.zeros(size, tile_dtype(element))
        return memory.add("the memory of 'cuda_tile.alloca'", element, data, is_new=True)

    return compute


def joined(*_: object) -> Compute:
    """Return the token after all of some tokens."""

    def compute(tokens: tuple[int, ...]) -> int:
        after = 0
        for token in tokens:
            after |= token
        return after

    return compute


def passed(*_: object) -> Compute:
    """Return the token as it is: grids do not overlap, and all pointers to an element are one."""

    def compute(token: int | None) -> int:
        return token or 0

    return compute


POINTER_ACCESS: Mapping[type[Operation], Callable[[Any, DeviceMemory], Compute]] = {
    ops.AllocaOp: by_block(allocate, always=True),
    ops.AtomicCASTkoOp: by_block(compare_and_swap, always=True),
    ops.AtomicRMWTkoOp: by_block(read_modify_write, always=True),
    ops.GdcLaunchDependentsTkoOp: passed,
    ops.GdcWaitTkoOp: passed,
    ops.JoinTokensOp: joined,
    ops.LoadPtrTkoOp: load,
    ops.MakeTokenOp: lambda op, memory: lambda: 0,
    ops.MemoryFenceAliasTkoOp: passed,
    ops.StorePtrTkoOp: store,
}
"""The semantics by class. A token is the set of accesses before it, as the bits of a number."""
