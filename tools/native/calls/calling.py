"""Conversion of arrays and numbers to arguments of machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from struct import Struct
from typing import TYPE_CHECKING, TypeAlias, cast

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

from ....dialects.relax.types import SmallFloat
from ....dialects.tir.ops import output_count
from ....interpreters.signature import Function, argument_names, is_buffer, result_names
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import place_of
from ....passmanager.limits import too_many_elements
from ..preparation.assertions import STATUS_WORDS

if TYPE_CHECKING:
    from ....interpreters.arrays import Array

__all__ = [
    "Buffer",
    "Number",
    "Status",
    "address",
    "descriptor",
    "is_plain",
    "number_type",
    "parameters_of",
    "status_passing",
]

Number: TypeAlias = "type[ctypes._SimpleCData[int]] | type[ctypes._SimpleCData[float]]"  # pyright: ignore[reportPrivateUsage]
"""A number type of C, as ctypes has it."""

INTEGERS: dict[int, type[ctypes._SimpleCData[int]]] = {  # pyright: ignore[reportPrivateUsage]
    1: ctypes.c_uint8,
    8: ctypes.c_int8,
    16: ctypes.c_int16,
    32: ctypes.c_int32,
    64: ctypes.c_int64,
}
WIDTHS = (1, 2, 4, 8, 16, 32, 64)
"""The widths of integers in buffers: those of less than 8 bits take a byte each."""
ALIGNMENT = 64
"""The bytes of a cache line."""
SMALL = 1024
"""The bytes from which on aligned arrays save more time than they cost."""
NOTHING = ctypes.c_char * 0
MAX_SHAPES = 1000
"""The number of shapes whose layouts are remembered."""
Status = ctypes.c_int64 * STATUS_WORDS
"""The status of a call, zeros before it."""


def number_type(name: str, type: Attribute) -> Number:
    """Return the C type of a parameter of type `type`; PasslineError if it is not a number of C."""
    match type:
        case IndexType():
            return ctypes.c_int64
        case IntegerType() if type.bitwidth in INTEGERS:
            return INTEGERS[type.bitwidth]
        case Float32Type():
            return ctypes.c_float
        case Float64Type():
            return ctypes.c_double
        case _:
            raise PasslineError(f"parameter '{name}' is {type}: expected a buffer or a C number")


def is_plain(type: MemRefType[Attribute]) -> bool:
    """Return whether a memref type has no layout: its elements are contiguous, in row-major
    order."""
    return isinstance(type.layout, NoneAttr)


class Buffer:
    """A parameter of memref type: it checks, copies and allocates its arrays.

    PasslineError for integers whose width is not in `WIDTHS`, for a layout, and for an output
    whose shape is not static.
    """

    def __init__(self, name: str, type: MemRefType[Attribute], *, is_output: bool) -> None:
        import numpy as np

        from ....interpreters.tir.table import buffer_dtype

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
        self.dtype = buffer_dtype(type)
        """The dtype of the arrays of a caller."""
        self.narrow = element if isinstance(element, BFloat16Type | SmallFloat) else None
        """The element type if it is one that callers have as f32."""
        bits = np.uint16 if isinstance(element, BFloat16Type) else np.uint8
        self.stored = self.dtype if self.narrow is None else np.dtype(bits)
        """The dtype of the elements in memory, as machine code reads and writes them."""
        self._empty, self._array = np.empty, np.ndarray
        self._size = prod(self.shape) * self.stored.itemsize

    def check_size(self) -> None:
        """Raise PasslineError if the arrays would exceed the limit on tensors."""
        if DYNAMIC_INDEX not in self.shape and (reason := too_many_elements(self.shape)):
            raise PasslineError(f"'{self.name}' is {self.type}: {reason}")

    def new(self) -> Array:
        """Allocate an uninitialized array for the parameter, aligned to `ALIGNMENT` bytes if it is
        large: of a small one, a call would take longer."""
        if self._size < SMALL:
            return self._empty(self.shape, self.stored)
        memory = self._empty(self._size + ALIGNMENT, "u1")
        return self._array(self.shape, self.stored, memory, -address(memory) % ALIGNMENT)

    def is_in_memory(self, value: object) -> bool:
        """Return whether `value` is an array that can be passed without a copy, if its shape fits.
        A quick test: False also for some arrays that `in_memory` would return as they are."""
        if not isinstance(value, self._array) or self.narrow is not None:
            return False
        array = cast("Array", value)
        return array.dtype == self.stored and array.flags.carray

    def in_place(self, shape: Sequence[int], memory: bytearray) -> Array:
        """Return memory that holds an array of `shape` as this array."""
        return self._array(shape, self.stored, memory)

    def in_memory(self, array: Array, *, writable: bool) -> Array:
        """Return the elements contiguous in row-major order, in the type that machine code uses;
        `array` itself if it already is so."""
        import numpy as np

        from ....interpreters.arrays import round_bf16
        from ....interpreters.small_floats import codes_of

        if self.narrow is not None:
            if isinstance(self.narrow, BFloat16Type):
                bits = round_bf16(array)
            else:
                bits = codes_of(array, self.narrow)
            return np.ascontiguousarray(bits).reshape(array.shape)
        return np.require(array, requirements=["C", "A", "W"] if writable else ["C", "A"])

    def from_memory(self, memory: Array) -> Array:
        """Return `memory` as an array for the caller: narrow floats, which are stored as bits,
        become f32."""
        if self.narrow is None:
            return memory
        from ....interpreters.arrays import widen_bf16
        from ....interpreters.small_floats import numbers_of

        if isinstance(self.narrow, BFloat16Type):
            return widen_bf16(memory)
        return numbers_of(memory, self.narrow)


def parameters_of(function: Function) -> list[Buffer | Number]:
    """Return, for each parameter, how it is passed; PasslineError if the function does not take
    buffers and numbers only, or returns values."""
    name = f"function @{function.sym_name.data}{place_of(function)}"
    types = function.function_type
    if any(isinstance(type, TensorType) for type in (*types.inputs, *types.outputs)):
        raise PasslineError(f"{name} is on tensors: no pass has lowered it to buffers")
    if not all(map(is_buffer, types.outputs)):
        raise PasslineError(f"{name} returns numbers: expected one that writes them into buffers")
    outputs = output_count(function)
    inputs = len(types.inputs) - outputs
    names = [*argument_names(function), *(result_names(function) if outputs else [])]
    return [
        Buffer(name, type, is_output=i >= inputs) if is_buffer(type) else number_type(name, type)
        for i, (name, type) in enumerate(zip(names, types.inputs, strict=True))
    ]


def address(array: Array) -> int:
    """Return the address of the first element."""
    try:  # twice as fast, but for writable contiguous arrays only
        return ctypes.addressof(NOTHING.from_buffer(array))  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return array.__array_interface__["data"][0]


@lru_cache(MAX_SHAPES)
def layout(shape: tuple[int, ...]) -> bytes:
    """Return the rest of a descriptor after its pointers, for contiguous memory: the offset, the
    sizes and the strides."""
    strides = [prod(shape[i:]) for i in range(1, len(shape) + 1)]
    return words(1 + 2 * len(shape))(0, *shape, *strides)


@cache
def words(count: int) -> Callable[..., bytes]:
    """Return the function that stores `count` integers of 64 bits."""
    return Struct(f"={count}q").pack


def descriptor(memory: Array) -> bytes:
    """Return MLIR's memref descriptor of a contiguous array: the allocated and the aligned pointer,
    then its layout."""
    place = address(memory)
    return words(2)(place, place) + layout(memory.shape)


def status_passing(
    by_pointer: bool,
) -> Callable[[ctypes.Array[ctypes.c_int64]], object]:
    """Return the function that makes a status an argument: the array itself, of which ctypes passes
    the address, or its descriptor."""

    def status_descriptor(status: ctypes.Array[ctypes.c_int64]) -> bytes:
        place = ctypes.addressof(status)
        return words(5)(place, place, 0, STATUS_WORDS, 1)

    return (lambda status: status) if by_pointer else status_descriptor
