"""The effects of operations. `arith.extsi` has none, although xDSL, at least until 0.74, does not
give it the trait `Pure`, as it does to `arith.extui`."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import cache

from xdsl import traits
from xdsl.dialects.arith import ExtSIOp
from xdsl.ir import Operation
from xdsl.traits import EffectInstance, MemoryEffectKind

__all__ = ["get_effects", "is_side_effect_free", "only_has_effect"]


def get_effects(op: Operation) -> AbstractSet[EffectInstance] | None:
    """Return the effects of an operation; None if they are not known."""
    return frozenset() if _is_pure(type(op)) else traits.get_effects(op)


def is_side_effect_free(op: Operation) -> bool:
    """Return whether an operation is known to have no effects."""
    return _is_pure(type(op)) or traits.is_side_effect_free(op)


def only_has_effect(op: Operation, effect: MemoryEffectKind) -> bool:
    """Return whether an operation is known to have no effects of another kind."""
    return _is_pure(type(op)) or traits.only_has_effect(op, effect)


# xDSL asks all traits of a class each time, and makes sets of effects.
@cache
def _is_pure(op_class: type[Operation]) -> bool:
    """Return whether all operations of a class have no effects."""
    effects = op_class.get_traits_of_type(traits.MemoryEffect)
    pure = bool(effects) and all(type(effect) in _NONE for effect in effects)
    return pure or issubclass(op_class, ExtSIOp)


_NONE = (traits.NoMemoryEffect, traits.Pure)
