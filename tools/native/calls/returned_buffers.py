"""Arrays in the memory that machine code allocates for results of unknown size."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache, lru_cache
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from .calling import Buffer

if TYPE_CHECKING:
    from ....interpreters.arrays import Array

__all__ = ["ReturnedBuffers"]

MAX_SIZES = 1000
"""The number of sizes of results that are remembered."""
Words: TypeAlias = "ctypes.Array[ctypes.c_int64]"


class ReturnedBuffers:
    """The results of a function that returns buffers, which belong to its caller."""

    def __init__(self, names: Sequence[str], types: Sequence[MemRefType[Attribute]]) -> None:
        self._buffers = [
            Buffer(name, type, is_output=False) for name, type in zip(names, types, strict=True)
        ]
        self._words = ctypes.c_int64 * sum(3 + 2 * len(buffer.shape) for buffer in self._buffers)

    def new(self) -> Words:
        """Return space for MLIR's memref descriptors of the results of a call, one after the
        other."""
        return self._words()

    def arrays(self, words: Words) -> tuple[Array, ...]:
        """Return the results as arrays that free their memory when nothing refers to them."""
        return tuple([b.from_memory(array) for b, array in self._read(words)])

    def free(self, words: Words) -> None:
        """Free the results of a call that has failed."""
        self._read(words)

    def _read(self, words: Words) -> list[tuple[Buffer, Array]]:
        """Take over the memory of the results."""
        found: list[tuple[Buffer, Array]] = []
        place, numbers = 0, words[:]
        for buffer in self._buffers:
            sizes = place + 3
            strides = sizes + len(buffer.shape)
            allocated, aligned, offset = numbers[place:sizes]
            shape = numbers[sizes:strides]
            size = buffer.stored.itemsize
            memory = memory_of(prod(shape) * size).from_address(aligned + offset * size)
            memory.allocated = allocated
            found.append((buffer, buffer.in_place(shape, cast("bytearray", memory))))
            place = strides + len(buffer.shape)
        return found


class Memory(ctypes.Structure):
    """Bytes that machine code has allocated, which are freed with this object. Numpy's arrays keep
    it: by the protocol of buffers, which takes a third of the time of `__array_interface__`."""

    allocated: int
    """The address that `malloc` has returned."""

    def __del__(self) -> None:
        free()(self.allocated)


@lru_cache(MAX_SIZES)
def memory_of(size: int) -> type[Memory]:
    """Return the type of memory of `size` bytes: ctypes wants a type for each size."""

    class Sized(Memory):
        _fields_ = (("bytes", ctypes.c_char * size),)

    return Sized


@cache
def free():  # -> a function of ctypes
    """Return C's `free`, which belongs to the `malloc` that machine code calls."""
    function = ctypes.CDLL(None).free
    function.argtypes, function.restype = [ctypes.c_void_p], None
    return function
