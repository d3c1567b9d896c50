"""The effects of loads and stores, which depend on their memory order."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from .attributes import MemoryOrderingSemantics, MemoryOrderingSemanticsAttr

__all__ = ["LoadEffect", "StoreEffect"]

_READ = EffectInstance(MemoryEffectKind.READ)
_WRITE = EffectInstance(MemoryEffectKind.WRITE)


def _is_weak(op: Operation) -> bool:
    order = op.properties.get("memory_ordering_semantics")
    return order == MemoryOrderingSemanticsAttr(MemoryOrderingSemantics.WEAK)


@dataclass(frozen=True)
class LoadEffect(MemoryEffect):
    """A read; one that is ordered with other threads is a write as well, so that passes keep it."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {_READ} if _is_weak(op) else {_READ, _WRITE}


@dataclass(frozen=True)
class StoreEffect(MemoryEffect):
    """A write; one that is ordered with other threads is a read as well, so that passes keep it."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {_WRITE} if _is_weak(op) else {_READ, _WRITE}
