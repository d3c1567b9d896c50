"""The types of the dialect llvm for the types of MLIR's other dialects, and buffers as values.

A buffer is a pointer to its first element, and an i64 for each size and each stride that its type
leaves open; an offset is added to the pointer. MLIR makes a structure of all of them, the
descriptor, which hides from LLVM what does not alias.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    Signedness,
    VectorType,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute, SSAValue

from ...dialects.arith_types import is_vector
from ...dialects.numbers import Value

POINTER = LLVMPointerType()


class Word(Value["Number"]):
    """An i64: a size, a stride or a position. Sums and products do not overflow."""

    __slots__ = ()


Number: TypeAlias = int | Word
Word.partners = (int, Word)
"""A number that is known, or an i64."""


@dataclass(frozen=True)
class LLVMBuffer:
    """A buffer in the dialect llvm."""

    pointer: SSAValue
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    element: Attribute
    """The type of an element in memory."""


def is_buffer(type: Attribute) -> TypeIs[MemRefType[Attribute]]:
    """Return whether `type` is that of a buffer of known rank."""
    return isinstance(type, MemRefType)


@cache
def lowered_types(type: Attribute) -> tuple[Attribute, ...]:
    """Return the types of the values that stand for a value of `type`: itself, if it is a type of
    the dialect llvm already, or of a dialect that is not known."""
    if is_buffer(type):
        # `memref<?x8xf32>` is a pointer and one i64; `memref<4x8xf32>` a pointer alone.
        return (POINTER, *[i64] * len(open_numbers(type)))
    return (lowered_type(type),)


def lowered_type(type: Attribute) -> Attribute:
    """Return the type of the one value that stands for a value of `type`.

    A vector of several dimensions becomes one of all its elements, in row-major order.
    """
    match type:
        case IndexType():
            return i64
        # LLVM's integers have no sign: the operations on them do.
        case IntegerType() if type.signedness.data is not Signedness.SIGNLESS:
            return IntegerType(type.bitwidth)
        case _ if is_vector(type):
            shape, element = type.get_shape(), lowered_type(type.element_type)
            # The same object, which is compared by identity later.
            if len(shape) == 1 and element == type.element_type:
                return type
            scalable = type.scalable_dims if len(shape) == 1 else None
            return VectorType(element, [prod(shape)], scalable)
        case MemRefType():
            return POINTER
        case _:
            return type


def open_numbers(type: MemRefType[Attribute]) -> list[int]:
    """Return the indices of the unknown numbers of a type, among its sizes and then its strides.

    Without a layout the strides follow from the sizes.
    """
    numbers = [*type.get_shape()]
    if not isinstance(type.layout, NoneAttr):
        numbers += [DYNAMIC_INDEX if s is None else s for s in type.get_strides() or ()]
    return [place for place, number in enumerate(numbers) if number == DYNAMIC_INDEX]
