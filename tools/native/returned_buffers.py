"""Arrays in the memory that machine code allocates for results of unknown size."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from .calling import Buffer

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = ["Results", "ReturnedBuffers"]


class Returned(NamedTuple):
    """One result in memory."""

    allocated: int
    """The address to free."""
    address: int
    """The address of the first element."""
    shape: tuple[int, ...]


class ReturnedBuffers:
    """The results of a function that returns buffers, which belong to its caller."""

    def __init__(self, names: Sequence[str], types: Sequence[MemRefType[Attribute]]) -> None:
        self.buffers = [
            Buffer(name, type, is_output=False) for name, type in zip(names, types, strict=True)
        ]
        self._words = ctypes.c_int64 * sum(3 + 2 * len(buffer.shape) for buffer in self.buffers)

    def new(self) -> Results:
        """Return space for the results of a call."""
        return Results(self.buffers, self._words())


class Results:
    """The results of one call, whose descriptors are in `words`."""

    def __init__(self, buffers: Sequence[Buffer], words: ctypes.Array[ctypes.c_int64]) -> None:
        self.buffers = buffers
        self.words = words

    def arrays(self) -> tuple[Array, ...]:
        """Return the results as arrays that free their memory when nothing refers to them."""
        pairs = zip(self.buffers, self._read(), strict=True)
        return tuple([buffer.from_memory(owned(buffer, each)) for buffer, each in pairs])

    def free(self) -> None:
        """Free the results of a call that has failed."""
        for each in self._read():
            free()(each.allocated)

    def _read(self) -> Iterator[Returned]:
        """Yield the results from MLIR's memref descriptors, one after the other."""
        place = 0
        for buffer in self.buffers:
            rank = len(buffer.shape)
            allocated, aligned, offset = self.words[place : place + 3]
            address = aligned + offset * buffer.stored.itemsize
            yield Returned(allocated, address, (*self.words[place + 3 : place + 3 + rank],))
            place += 3 + 2 * rank


def owned(buffer: Buffer, result: Returned) -> Array:
    """Return the array of a result; its memory is freed with it."""
    import weakref

    import numpy as np

    size = prod(result.shape) * buffer.stored.itemsize
    memory = (ctypes.c_char * size).from_address(result.address)
    weakref.finalize(memory, free(), result.allocated).atexit = False
    return np.ndarray(result.shape, buffer.stored, memoryview(memory))


@cache
def free():  # -> a function of ctypes
    """Return C's `free`, which belongs to the `malloc` that machine code calls."""
    function = ctypes.CDLL(None).free
    function.argtypes, function.restype = [ctypes.c_void_p], None
    return function
