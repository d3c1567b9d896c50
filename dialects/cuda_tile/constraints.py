"""Constraints on the types of operands and results, and checks that verifiers share.

Checks raise VerifyException.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from typing_extensions import TypeVar
from xdsl.dialects.builtin import FixedBitwidthType, Float32Type, i1, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint
from xdsl.utils.exceptions import VerifyException

from ...passmanager.releases.attributes import VerificationContext
from .attributes import AtomicRMWMode, AtomicRMWModeAttr, RoundingMode, RoundingModeAttr
from .elements import FLOATS, INTEGERS, NARROW_FLOATS
from .types import PointerType, TileType, scalar


@dataclass(frozen=True)
class TileOf(AttrConstraint[TileType]):
    """The constraint that a type is a tile with one of some element types, a type or its class;
    with `scalar`, of rank 0."""

    elements: tuple[Attribute | type[Attribute], ...] = ()
    scalar: bool = False

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not (
            isinstance(attr, TileType)
            and (not self.elements or self.contains(attr.element_type))
            and not (self.scalar and attr.shape.data)
        ):
            raise VerifyException(f"expected {self}, got {attr}")

    def contains(self, element: Attribute) -> bool:
        """Return whether tiles of this element type satisfy the constraint."""
        return element in self.elements or isinstance(
            element, tuple(e for e in self.elements if isinstance(e, type))
        )

    def __str__(self) -> str:
        kind = "a scalar tile" if self.scalar else "a tile"
        if not self.elements:
            return kind
        names = [e.name.split(".")[-1] if isinstance(e, type) else str(e) for e in self.elements]
        return f"{kind} of {' or '.join(names)}"

    def can_infer(self, var_constraint_names: AbstractSet[str]) -> bool:
        return self.scalar and len(self.elements) == 1 and isinstance(self.elements[0], Attribute)

    def infer(self, context: object) -> TileType:
        (element,) = self.elements
        assert isinstance(element, Attribute)
        return scalar(element)

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, object]
    ) -> AttrConstraint[TileType]:
        return self


TILE = TileOf()
INT = TileOf(INTEGERS)
FLOAT = TileOf(FLOATS)
ANY_FLOAT = TileOf((*FLOATS, *NARROW_FLOATS))
NUMBER = TileOf((*INTEGERS, *FLOATS, *NARROW_FLOATS))
POINTER = TileOf((PointerType,))
BOOL = TileOf((i1,))
SCALAR_BOOL = TileOf((i1,), scalar=True)
SCALAR_INT = TileOf(INTEGERS, scalar=True)
SCALAR_I32 = TileOf((i32,), scalar=True)
SCALAR_POINTER = TileOf((PointerType,), scalar=True)


def tile(type: Attribute) -> TileType:
    """Return the type of a value that is a tile by its constraint."""
    assert isinstance(type, TileType)
    return type


def width_of(element: Attribute) -> int:
    """Return the number of bits of a number."""
    assert isinstance(element, FixedBitwidthType)
    return element.bitwidth


def element_width(type: Attribute) -> int:
    """Return the number of bits of an element of tiles of numbers."""
    return width_of(tile(type).element_type)


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


_INTEGER_MODES = frozenset(AtomicRMWMode) - {AtomicRMWMode.ADDF, AtomicRMWMode.XCHG}


def check_mode(mode: AtomicRMWModeAttr, element: Attribute) -> None:
    """Check that an atomic operation computes on elements of this type."""
    if mode.data in _INTEGER_MODES and element not in (i32, i64):
        raise VerifyException(f"'{mode.data}' is for i32 and i64, not for {element}")
    if mode.data is AtomicRMWMode.ADDF and element not in FLOATS:
        raise VerifyException(f"'{mode.data}' is for f16, bf16, f32 and f64, not for {element}")
    if mode.data is AtomicRMWMode.XCHG and width_of(element) not in (32, 64):
        raise VerifyException(f"'{mode.data}' is for numbers of 32 or 64 bits, not for {element}")


def check_rounding(mode: RoundingModeAttr, allowed: Sequence[RoundingMode]) -> None:
    """Raise VerifyException unless the rounding mode is one of those allowed."""
    if mode.data not in allowed:
        raise VerifyException(f"rounding {mode.data}: expected {', '.join(allowed)}")
