"""Constraints on the types of operands and results of CUDA Tile IR."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from typing_extensions import TypeVar
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint
from xdsl.utils.exceptions import VerifyException

from ...passmanager.releases.attributes import VerificationContext
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
