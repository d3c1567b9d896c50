"""The words of a call: memory in which machine code tells how the call ended, and its results.

    status | the next free byte | memory, offset and sizes of each result | room for small results

A result is in memory that machine code has allocated, or, if it is small, in the room at an offset:
it is copied there, so that nothing has to be freed.
"""

from __future__ import annotations

import ctypes
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from math import prod
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ...interpreters.signature import Function, is_buffer, result_names
from ..preparation.assertions import STATUS_WORDS
from .parameters import BufferParameter

if TYPE_CHECKING:
    import numpy as np

    from ...interpreters.arrays import Array

__all__ = ["FREE", "CallWords", "Words"]

FREE = STATUS_WORDS
"""The word with the offset of the first byte of the room that is free."""
ROOM = 512
"""The bytes of the room."""
ALIGNMENT = 16
"""The alignment of results in the room, and that of the memory of ctypes."""
MAX_SIZES = 1000
"""The number of sizes of results that are remembered."""
Words: TypeAlias = "ctypes.Array[ctypes.c_int64]"


class CallWords:
    """The layout of the words of a call, and the buffers that the function returns."""

    def __init__(self, function: Function) -> None:
        import numpy as np

        types = [type for type in function.function_type.outputs if is_buffer(type)]
        names = result_names(function) if types else []
        self.buffers = [
            BufferParameter(name, type, is_output=False)
            for name, type in zip(names, types, strict=True)
        ]
        ends = [*accumulate((2 + len(b.shape) for b in self.buffers), initial=FREE + 1)]
        self.places = ends[:-1]
        """The word of each buffer with the address of its memory, before its offset and sizes."""
        self.room = 8 * ends[-1] + -8 * ends[-1] % ALIGNMENT
        """The offset of the room."""
        self.end = self.room + ROOM if self.buffers else self.room
        self.new = ctypes.c_int64 * (self.end // 8)
        """Allocate the words of a call, which are zero."""
        self._numbers = Struct(f"={ends[-1]}q").unpack_from
        self._array = np.ndarray
        self._parts = [
            (place, place + 1, slice(place + 2, end), buffer.stored)
            for buffer, (place, end) in zip(self.buffers, pairwise(ends), strict=True)
        ]

    def results(self, words: Words) -> list[Array]:
        """Return the results as arrays that free their memory when nothing refers to them."""
        numbers, array = self._numbers(words), self._array
        results: list[Array] = []
        for place, offset, sizes, dtype in self._parts:
            shape = numbers[sizes]
            memory = memory_of(shape, dtype).from_address(m) if (m := numbers[place]) else words
            results.append(array(shape, dtype, cast("bytearray", memory), numbers[offset]))
        return results


@lru_cache(MAX_SIZES)
def memory_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> type[ctypes.Array[ctypes.c_char]]:
    """Return the type of objects that own memory of an array, allocated by machine code, and free
    it in the end: ctypes wants a type for each size. Numpy's arrays keep the object by the protocol
    of buffers, which takes a third of the time of `__array_interface__`."""
    release = free()

    class Memory(ctypes.c_char * (prod(shape) * dtype.itemsize)):
        def __del__(self) -> None:
            release(ctypes.addressof(self))

    return Memory


@cache
def free():  # -> a function of ctypes
    """Return C's `free`, which belongs to the `malloc` that machine code calls."""
    function = ctypes.CDLL(None).free
    function.argtypes, function.restype = [ctypes.c_void_p], None
    return function
