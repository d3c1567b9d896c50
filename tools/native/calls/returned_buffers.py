"""Arrays in the memory that machine code allocates for results of unknown size."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from .calling import Buffer

if TYPE_CHECKING:
    from ....interpreters.arrays import Array

__all__ = ["ReturnedBuffers"]

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
        return tuple([b.from_memory(b.in_place(memory)) for b, memory in self._read(words)])

    def free(self, words: Words) -> None:
        """Free the results of a call that has failed."""
        self._read(words)

    def _read(self, words: Words) -> list[tuple[Buffer, Memory]]:
        """Take over the memory of the results."""
        found: list[tuple[Buffer, Memory]] = []
        place, numbers = 0, words[:]
        for buffer in self._buffers:
            sizes = place + 3
            strides = sizes + len(buffer.shape)
            allocated, aligned, offset = numbers[place:sizes]
            first = aligned + offset * buffer.stored.itemsize
            memory = Memory(allocated, first, (*numbers[sizes:strides],), buffer.stored.str)
            found.append((buffer, memory))
            place = strides + len(buffer.shape)
        return found


class Memory:
    """An array in memory that machine code has allocated, for numpy's array interface. The memory
    is freed with this object, which numpy's arrays keep."""

    __slots__ = ("__array_interface__", "_allocated", "_free")

    def __init__(self, allocated: int, first: int, shape: tuple[int, ...], dtype: str) -> None:
        self._allocated, self._free = allocated, free()
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype,
            "data": (first, False),
        }

    def __del__(self) -> None:
        self._free(self._allocated)


@cache
def free():  # -> a function of ctypes
    """Return C's `free`, which belongs to the `malloc` that machine code calls."""
    function = ctypes.CDLL(None).free
    function.argtypes, function.restype = [ctypes.c_void_p], None
    return function
