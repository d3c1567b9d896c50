"""The values that the predicates of `assume` can hold of."""

from __future__ import annotations

from xdsl.dialects.builtin import IntAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .attributes import BoundedAttr, DivByAttr, SameElementsAttr
from .constraints import width_of
from .types import PointerType, TensorViewType, TileType

MAX_DIVISOR = 1 << 62


def check_predicate(predicate: Attribute, type: Attribute) -> None:
    """Raise VerifyException unless the predicate can hold of a value of this type."""
    match predicate:
        case DivByAttr():
            _check_div_by(predicate, type)
        case SameElementsAttr():
            tile = _tile(type, "same_elements")
            _check_groups("same_elements", tile, predicate.values.get_values())
        case BoundedAttr():
            _check_bounded(predicate, type)
        case _:
            raise VerifyException(f"{predicate} is no predicate")


def _tile(type: Attribute, name: str, pointers: bool = True) -> TileType:
    elements = IntegerType | PointerType if pointers else IntegerType
    if not isinstance(type, TileType) or not isinstance(type.element_type, elements):
        what = "integers or pointers" if pointers else "integers"
        raise VerifyException(f"{name} is of tiles of {what}, got {type}")
    return type


def _check_div_by(predicate: DivByAttr, type: Attribute) -> None:
    divisor = predicate.divisor.data
    if not 0 < divisor <= MAX_DIVISOR or divisor & (divisor - 1):
        raise VerifyException(f"div_by {divisor}: expected a power of two, 2^62 at most")
    every, along = predicate.every, predicate.along
    if isinstance(type, TensorViewType) and not isinstance(every, IntAttr):
        return
    tile = _tile(type, "div_by" if not isinstance(every, IntAttr) else "div_by with 'every'")
    if not (isinstance(every, IntAttr) and isinstance(along, IntAttr)):
        return
    if not 0 <= along.data < len(shape := tile.get_shape()):
        raise VerifyException(f"div_by along {along.data}: {tile} has no such dimension")
    if not 0 <= every.data <= shape[along.data]:
        raise VerifyException(f"div_by every {every.data}: expected {shape[along.data]} at most")


def _check_groups(name: str, tile: TileType, sizes: tuple[int, ...]) -> None:
    shape = tile.get_shape()
    if len(sizes) != len(shape) or any(not 0 <= n <= size for n, size in zip(sizes, shape)):
        raise VerifyException(f"{name} {[*sizes]}: expected {[*shape]} at most")


def _check_bounded(predicate: BoundedAttr, type: Attribute) -> None:
    element = _tile(type, "bounded", pointers=False).element_type
    least = -(1 << width_of(element) - 1)
    bounds = [b.data for b in (predicate.lb, predicate.ub) if isinstance(b, IntAttr)]
    if any(not least <= bound < -least for bound in bounds):
        raise VerifyException(f"bounded: expected {least} to {-least - 1}, got {bounds}")
    if bounds != sorted(bounds):
        raise VerifyException(f"bounded: expected a lower bound of {bounds[1]} at most")
