"""How arrays and numbers become the arguments of machine code."""

from __future__ import annotations

import ctypes
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute

from ...passmanager.errors import PasslineError
from .preparation import is_plain

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = ["Buffer", "Number", "address", "descriptor", "number_type"]

Number: TypeAlias = "type[ctypes._SimpleCData[int]] | type[ctypes._SimpleCData[float]]"  # pyright: ignore[reportPrivateUsage]
"""A type of C."""

INTEGERS: dict[int, type[ctypes._SimpleCData[int]]] = {  # pyright: ignore[reportPrivateUsage]
    1: ctypes.c_uint8,
    8: ctypes.c_int8,
    16: ctypes.c_int16,
    32: ctypes.c_int32,
    64: ctypes.c_int64,
}
ALIGNMENT = 64


def number_type(name: str, type: Attribute) -> Number:
    """How a number is passed; PasslineError if there is no way."""
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


class Buffer:
    """A parameter that is a buffer, and the arrays that it may be; PasslineError if there are none,
    or if it is to be allocated and its size is not known."""

    def __init__(self, name: str, type: MemRefType[Attribute], *, is_output: bool) -> None:
        import numpy as np

        from ...interpreters.tir.table import buffer_dtype

        element = type.element_type
        if isinstance(element, IntegerType) and element.bitwidth not in INTEGERS:
            widths = ", ".join(map(str, INTEGERS))
            raise PasslineError(f"parameter '{name}' is {type}: expected integers of {widths} bits")
        if not is_plain(type):
            raise PasslineError(f"parameter '{name}' is {type}: expected no layout")
        self.shape = type.get_shape()
        if is_output and DYNAMIC_INDEX in self.shape:
            raise PasslineError(f"result '{name}' is {type}, whose size is not known")
        self.dtype = buffer_dtype(type)
        """Of the arrays of a caller."""
        self.is_bf16 = isinstance(element, BFloat16Type)
        self.stored = np.dtype(np.uint16) if self.is_bf16 else self.dtype
        """Of what is in memory."""

    def new(self) -> Array:
        """Memory for it."""
        import numpy as np

        size = prod(self.shape) * self.stored.itemsize
        memory = np.empty(size + ALIGNMENT, np.uint8)
        start = -address(memory) % ALIGNMENT
        return memory[start : start + size].view(self.stored).reshape(self.shape)

    def is_in_memory(self, value: object) -> bool:
        """Whether a value is an array that can be passed as it is, which is soon found out."""
        import numpy as np

        if not isinstance(value, np.ndarray):
            return False
        array = cast("Array", value)
        fits = array.dtype == self.stored == self.dtype and array.shape == self.shape
        return fits and array.flags.carray

    def in_memory(self, array: Array, *, writable: bool) -> Array:
        """The elements one after the other, as machine code has them: the array itself if it
        does."""
        import numpy as np

        from ...interpreters.arrays import round_bf16

        if self.is_bf16:
            return np.ascontiguousarray(round_bf16(array)).reshape(array.shape)
        return np.require(array, requirements=["C", "A", "W"] if writable else ["C", "A"])

    def from_memory(self, memory: Array) -> Array:
        """The elements as an array for the caller."""
        from ...interpreters.arrays import widen_bf16

        return widen_bf16(memory) if self.is_bf16 else memory


def address(array: Array) -> int:
    """Where the elements are."""
    return array.__array_interface__["data"][0]


def descriptor(memory: Array) -> ctypes.Array[ctypes.c_int64]:
    """What MLIR passes for a buffer: where it was allocated, where it is, an offset, its sizes and
    strides."""
    strides = [stride // memory.itemsize for stride in memory.strides]
    values = (address(memory), address(memory), 0, *memory.shape, *strides)
    return (ctypes.c_int64 * len(values))(*values)
