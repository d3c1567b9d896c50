"""The effects of operations. `arith.extsi` has none, although xDSL, at least until 0.74, does not
give it the trait `Pure`, as it does to `arith.extui`."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from xdsl import traits
from xdsl.dialects.arith import ExtSIOp
from xdsl.ir import Operation
from xdsl.traits import EffectInstance, MemoryEffectKind

__all__ = ["get_effects", "is_side_effect_free", "only_has_effect"]


def get_effects(op: Operation) -> AbstractSet[EffectInstance] | None:
    """Return the effects of an operation; None if they are not known."""
    return frozenset() if isinstance(op, ExtSIOp) else traits.get_effects(op)


def is_side_effect_free(op: Operation) -> bool:
    """Return whether an operation is known to have no effects."""
    return isinstance(op, ExtSIOp) or traits.is_side_effect_free(op)


def only_has_effect(op: Operation, effect: MemoryEffectKind) -> bool:
    """Return whether an operation is known to have no effects of another kind."""
    return isinstance(op, ExtSIOp) or traits.only_has_effect(op, effect)
