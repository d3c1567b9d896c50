"""Checks that verifiers of several operations share; each raises VerifyException."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import FixedBitwidthType, Float32Type, i32, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .attributes import (
    AtomicRMWMode,
    AtomicRMWModeAttr,
    MemoryOrderingSemantics,
    MemoryOrderingSemanticsAttr,
    MemoryScopeAttr,
    RoundingMode,
    RoundingModeAttr,
)
from .elements import FLOATS
from .types import TileType

__all__ = [
    "LOAD_ORDERS",
    "STORE_ORDERS",
    "check_access",
    "check_atomic",
    "check_f32",
    "check_mode",
    "check_rounding",
    "check_same_element",
    "check_same_shape",
    "check_types",
    "tile",
    "width_of",
]

LOAD_ORDERS = (
    MemoryOrderingSemantics.WEAK,
    MemoryOrderingSemantics.RELAXED,
    MemoryOrderingSemantics.ACQUIRE,
)
STORE_ORDERS = (
    MemoryOrderingSemantics.WEAK,
    MemoryOrderingSemantics.RELAXED,
    MemoryOrderingSemantics.RELEASE,
)


def tile(type: Attribute) -> TileType:
    """Return the type of a value that is a tile by its constraint."""
    assert isinstance(type, TileType)
    return type


def width_of(element: Attribute) -> int:
    """Return the number of bits of a number."""
    assert isinstance(element, FixedBitwidthType)
    return element.bitwidth


def check_same_shape(*types: Attribute) -> None:
    """Check that tiles have one shape."""
    first = tile(types[0])
    for type in types[1:]:
        if tile(type).shape != first.shape:
            raise VerifyException(f"expected tiles of one shape, got {first} and {type}")


def check_same_element(*types: Attribute) -> None:
    """Check that tiles have one element type, and one rank."""
    first = tile(types[0])
    for type in types[1:]:
        if tile(type).element_type != first.element_type:
            raise VerifyException(f"expected tiles of one element type, got {first} and {type}")
        if len(tile(type).shape) != len(first.shape):
            raise VerifyException(f"expected tiles of one rank, got {first} and {type}")


def check_types(what: str, expected: Sequence[Attribute], got: Sequence[Attribute]) -> None:
    """Check that the types of `what` are the expected ones."""
    if [*expected] != [*got]:
        texts = [", ".join(map(str, types)) for types in (expected, got)]
        raise VerifyException(f"{what}: expected ({texts[0]}), got ({texts[1]})")


def check_f32(what: str, type: Attribute) -> None:
    """Check that a modifier is one of an operation on f32."""
    if not isinstance(element := tile(type).element_type, Float32Type):
        raise VerifyException(f"{what} is for f32, not for {element}")


def check_access(
    order: MemoryOrderingSemanticsAttr,
    scope: MemoryScopeAttr | None,
    allowed: Collection[MemoryOrderingSemantics],
) -> None:
    """Check the order of an access to memory, which has a scope unless it is weak."""
    if order.data not in allowed:
        raise VerifyException(f"memory order {order.data}: expected {', '.join(allowed)}")
    if (order.data is MemoryOrderingSemantics.WEAK) != (scope is None):
        expected = "no memory scope" if scope is not None else "a memory scope"
        raise VerifyException(f"memory order {order.data}: expected {expected}")


_INTEGER_MODES = frozenset(AtomicRMWMode) - {AtomicRMWMode.ADDF, AtomicRMWMode.XCHG}


def check_mode(mode: AtomicRMWModeAttr, element: Attribute) -> None:
    """Check that an atomic operation computes on elements of this type."""
    if mode.data in _INTEGER_MODES and element not in (i32, i64):
        raise VerifyException(f"'{mode.data}' is for i32 and i64, not for {element}")
    if mode.data is AtomicRMWMode.ADDF and element not in FLOATS:
        raise VerifyException(f"'{mode.data}' is for f16, bf16, f32 and f64, not for {element}")
    if mode.data is AtomicRMWMode.XCHG and width_of(element) not in (32, 64):
        raise VerifyException(f"'{mode.data}' is for numbers of 32 or 64 bits, not for {element}")


def check_atomic(order: MemoryOrderingSemanticsAttr) -> None:
    """Check the memory order of an atomic operation."""
    if order.data is MemoryOrderingSemantics.WEAK:
        raise VerifyException("memory order weak: expected relaxed, acquire, release or acq_rel")


def check_rounding(mode: RoundingModeAttr, allowed: Sequence[RoundingMode]) -> None:
    """Raise VerifyException unless the rounding mode is one of those allowed."""
    if mode.data not in allowed:
        raise VerifyException(f"rounding {mode.data}: expected {', '.join(allowed)}")
