"""Interfaces of operations whose classes do not have the trait: models by the operation's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from xdsl.ir import Operation
from xdsl.traits import OpTrait

from .per_class import PerClass

__all__ = ["Implementations"]

T = TypeVar("T", bound=OpTrait)


class Implementations(PerClass[Operation, T | None], Generic[T]):
    """The implementations of one interface, by class of operation; None for a class without.

    A class joins the interface by having `trait`. For the operations of xDSL's own dialects, which
    lack the trait, `models` has implementations by the name of the operation (MLIR: external
    models), so that no dialect is imported for them. A trait of the class comes first, but for the
    operations in `instead`, whose trait in xDSL fails.
    """

    def __init__(
        self, trait: type[T], models: Mapping[str, T], instead: Mapping[str, T] | None = None
    ) -> None:
        super().__init__(self._find)
        self.trait = trait
        self.models = dict(models)
        self._instead = instead or {}

    def _find(self, cls: type[Operation]) -> T | None:
        if (model := self._instead.get(cls.name)) is not None:
            return model
        own = cls.get_trait(self.trait) if hasattr(cls, "traits") else None
        return self.models.get(cls.name) if own is None else own

    def attach(self, name: str, model: T) -> None:
        """Let the operations called `name` have the interface, implemented by `model`."""
        self.models[name] = model
        self.clear()
