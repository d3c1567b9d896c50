"""How arrays and numbers become the arguments of machine code."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, TypeAlias

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
    from ...dialects.relax.semantics.arrays import Array

__all__ = [
    "Number",
    "address",
    "check_buffer",
    "descriptor",
    "from_memory",
    "in_memory",
    "new_buffer",
    "number_type",
]

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


def check_buffer(name: str, type: MemRefType[Attribute], is_output: bool) -> None:
    """PasslineError if no array can be the buffer."""
    from ...dialects.tir.semantics.table import buffer_dtype

    buffer_dtype(type)
    element = type.element_type
    if isinstance(element, IntegerType) and element.bitwidth not in INTEGERS:
        widths = ", ".join(map(str, INTEGERS))
        raise PasslineError(f"parameter '{name}' is {type}: expected integers of {widths} bits")
    if not is_plain(type):
        raise PasslineError(f"parameter '{name}' is {type}: expected no layout")
    if is_output and DYNAMIC_INDEX in type.get_shape():
        raise PasslineError(f"result '{name}' is {type}, whose size is not known")


def new_buffer(type: MemRefType[Attribute]) -> Array:
    """Memory for a buffer of known shape."""
    import numpy as np

    from ...dialects.tir.semantics.table import buffer_dtype

    shape = type.get_shape()
    is_bf16 = isinstance(type.element_type, BFloat16Type)
    dtype = np.dtype(np.uint16) if is_bf16 else buffer_dtype(type)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -address(memory) % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def in_memory(array: Array, type: MemRefType[Attribute], *, writable: bool) -> Array:
    """The elements as machine code has them, one after the other: the array itself if it does."""
    import numpy as np

    from ...dialects.relax.semantics.arrays import round_bf16

    if isinstance(type.element_type, BFloat16Type):
        return np.ascontiguousarray(round_bf16(array)).reshape(array.shape)
    return np.require(array, requirements=["C", "A", "W"] if writable else ["C", "A"])


def from_memory(memory: Array, type: MemRefType[Attribute]) -> Array:
    """The elements as an array of the type's dtype."""
    from ...dialects.relax.semantics.arrays import widen_bf16

    return widen_bf16(memory) if isinstance(type.element_type, BFloat16Type) else memory


def address(array: Array) -> int:
    """Where the elements are."""
    return array.__array_interface__["data"][0]


def descriptor(memory: Array) -> ctypes.Array[ctypes.c_int64]:
    """What MLIR passes for a buffer: where it was allocated, where it is, an offset, its sizes and
    strides."""
    strides = [stride // memory.itemsize for stride in memory.strides]
    values = (address(memory), address(memory), 0, *memory.shape, *strides)
    return (ctypes.c_int64 * len(values))(*values)
