"""The parameters of a compiled function, and the conversion of arrays and numbers for it."""

from __future__ import annotations

import ctypes
from functools import cache, lru_cache, partial
from itertools import accumulate, pairwise
from math import prod
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    TensorType,
)
from xdsl.ir import Attribute

from ...dialects.relax.types import SmallFloat
from ...dialects.tir.ops import output_count
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.ir.location import place_of
from ...passmanager.limits import too_many_elements
from ..interpreters.signature import Function, argument_names, is_buffer, result_names
from .preparation.assertions import STATUS_WORDS

if TYPE_CHECKING:
    import numpy as np

    from ..interpreters.arrays import Array


WIDTHS = (1, 2, 4, 8, 16, 32, 64)
"""The widths of integers in buffers: those of less than 8 bits take a byte each."""
NUMBER_WIDTHS = (1, 8, 16, 32, 64)
"""The widths of integers that are passed as numbers."""
ALIGNMENT = 64
"""The bytes of a cache line."""
SMALL = 1024
"""Arrays of fewer bytes are not aligned: that would take more time than it saves."""
NOTHING = ctypes.c_char * 0
"""A type of no bytes, to ask for the address of a buffer of any size."""


def is_plain(type: MemRefType[Attribute]) -> bool:
    """Return whether a memref type has no layout: row-major order without gaps."""
    return isinstance(type.layout, NoneAttr)


class NumberParameter:
    """A parameter that is an integer, an index, an f32 or an f64; it is passed in an array without
    dimensions.

    PasslineError for other types, and for integers whose width is not in `NUMBER_WIDTHS`.
    """

    shape = ()
    narrow = None

    def __init__(self, name: str, type: Attribute) -> None:
        from ..interpreters.tir.table import buffer_dtype

        match type:
            case IntegerType() if type.bitwidth in NUMBER_WIDTHS:
                pass
            case IndexType() | Float32Type() | Float64Type():
                pass
            case _:
                widths = ", ".join(map(str, NUMBER_WIDTHS))
                raise PasslineError(
                    f"parameter '{name}' is {type}: expected a memref, index, f32, f64, or an "
                    f"integer of {widths} bits"
                )
        self.type = type
        self.stored = buffer_dtype(type)

    def in_memory(self, value: object, *, writable: bool) -> Array:
        """Return an array that holds `value`, converted as C does: f32 overflows to infinity."""
        import numpy as np

        with np.errstate(over="ignore"):
            return np.array(value).astype(self.stored)


class BufferParameter:
    """A parameter of memref type: it converts and allocates its arrays.

    PasslineError for integers whose width is not in `WIDTHS`, for a layout, and for an output
    whose shape is not static.
    """

    def __init__(self, name: str, type: MemRefType[Attribute], *, is_output: bool) -> None:
        import numpy as np

        from ..interpreters.tir.table import buffer_dtype

        element = type.element_type
        if isinstance(element, IntegerType) and element.bitwidth not in WIDTHS:
            widths = ", ".join(map(str, WIDTHS))
            raise PasslineError(f"parameter '{name}' is {type}: expected integers of {widths} bits")
        if not is_plain(type):
            raise PasslineError(f"parameter '{name}' is {type}: expected no layout")
        self.name, self.type = name, type
        self.shape = type.get_shape()
        if is_output and DYNAMIC_INDEX in self.shape:
            raise PasslineError(f"result '{name}' is {type}: expected a static shape")
        self.narrow = element if isinstance(element, BFloat16Type | SmallFloat) else None
        """The element type if it is one that callers have as f32."""
        bits = np.uint16 if isinstance(element, BFloat16Type) else np.uint8
        self.stored = buffer_dtype(type) if self.narrow is None else np.dtype(bits)
        """The dtype of the elements in memory, as machine code reads and writes them."""
        self._empty, self._array = np.empty, np.ndarray
        self.size = prod(self.shape) * self.stored.itemsize
        self.new = self._aligned
        """Allocate an uninitialized array, aligned to `ALIGNMENT` unless it is `SMALL`."""
        if self.size < SMALL:
            self.new = partial(np.empty, self.shape, self.stored)

    def check_size(self) -> None:
        """Raise PasslineError if the arrays would exceed the limit on tensors."""
        limit = PassContext.current().max_elements
        if DYNAMIC_INDEX not in self.shape and (reason := too_many_elements(self.shape, limit)):
            raise PasslineError(f"'{self.name}' is {self.type}: {reason}")

    def _aligned(self) -> Array:
        memory = self._empty(self.size + ALIGNMENT, "u1")
        return self._array(self.shape, self.stored, memory, -address(memory) % ALIGNMENT)

    def in_memory(self, array: Array, *, writable: bool) -> Array:
        """Return contiguous elements as machine code stores them, `array` itself if possible."""
        import numpy as np

        from ..interpreters.arrays import codes_of

        if self.narrow is not None and array.dtype != self.stored:
            bits = codes_of(array, self.narrow)
            return np.ascontiguousarray(bits).reshape(array.shape)
        return np.require(array, requirements=["C", "A", "W"] if writable else ["C", "A"])

    def from_memory(self, memory: Array) -> Array:
        """Return `memory` as the caller's array: narrow floats, stored as bits, become f32."""
        if self.narrow is None:
            return memory
        from ..interpreters.arrays import numbers_of

        return numbers_of(memory, self.narrow)


Parameter: TypeAlias = BufferParameter | NumberParameter


def parameters_of(function: Function) -> list[Parameter]:
    """Return, for each parameter, how it is passed.

    PasslineError for a function on tensors, one that returns numbers, and a parameter of another
    type than those of `BufferParameter` and `NumberParameter`.
    """
    name = f"function @{function.sym_name.data}{place_of(function)}"
    types = function.function_type
    if any(isinstance(type, TensorType) for type in (*types.inputs, *types.outputs)):
        raise PasslineError(f"{name} is on tensors: no pass has lowered it to buffers")
    if (number := next((type for type in types.outputs if not is_buffer(type)), None)) is not None:
        raise PasslineError(
            f"{name} returns numbers: in place of {number}, expected tensor<{number}>, computed by "
            f"operations of relax, or a parameter memref<{number}> to store it in"
        )
    outputs = output_count(function)
    inputs = len(types.inputs) - outputs
    names = [*argument_names(function), *(result_names(function) if outputs else [])]
    return [
        BufferParameter(name, type, is_output=i >= inputs)
        if is_buffer(type)
        else NumberParameter(name, type)
        for i, (name, type) in enumerate(zip(names, types.inputs, strict=True))
    ]


def address(array: Array) -> int:
    """Return the address of the first element."""
    try:  # twice as fast, but for writable contiguous arrays only
        return ctypes.addressof(NOTHING.from_buffer(array))  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return array.__array_interface__["data"][0]


# The words of a call: memory in which machine code tells how the call ended, and its results.
#
#   status | the next free byte | memory, offset and sizes of each result | room for small results
#
# A result is in memory that machine code has allocated, or, if it is small, in the room at an
# offset: it is copied there, so that nothing has to be freed.


FREE = STATUS_WORDS
"""The word with the offset of the first byte of the room that is free."""
ROOM = 512
"""The bytes of the room."""
STACK_ALIGNMENT = 16
"""The alignment of results in the room, and that of the memory of ctypes."""
MAX_SIZES = 1000
"""The number of sizes of results that are remembered."""
Words: TypeAlias = "ctypes.Array[ctypes.c_int64]"


class CallWords:
    """The layout of the words of a call, and the buffers that the function returns, which belong
    to its caller."""

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
        self.room = 8 * ends[-1] + -8 * ends[-1] % STACK_ALIGNMENT
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
