"""Tables that other projects extend, with one entry for each dialect."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from xdsl.ir import Operation

__all__ = ["DialectTable", "dialect_of", "is_registered_here"]

_log = logging.getLogger(__name__)

T = TypeVar("T")


def dialect_of(op: type[Operation]) -> str:
    """Return the name of the dialect of an operation class."""
    return op.name.partition(".")[0]


_registered_here: set[str] = set()
"""The dialects of which a table got an entry in this process."""


def is_registered_here(dialect: str) -> bool:
    """Return whether an entry of a dialect, in any table, was set in this process: no file tells
    what it is."""
    return dialect in _registered_here


class DialectTable(Generic[T]):
    """A table of facts about the operations of dialects: dialect name -> entry.

    An entry comes from `register`, else from `builtin`, else from the entry point of `group` that
    has the name of the dialect. It is loaded when it is first asked for.
    """

    def __init__(self, group: str, builtin: Mapping[str, Callable[[], T]]) -> None:
        self._group = group
        self._factories = dict(builtin)
        self._loaded: dict[str, T | None] = {}  # None: there is no entry, or it failed to load

    def register(self, dialect: str, entry: T) -> None:
        """Set the entry of a dialect for this process."""
        self._loaded[dialect] = entry
        _registered_here.add(dialect)

    def __contains__(self, dialect: str) -> bool:
        """Return whether a dialect has an entry, without loading it."""
        return (
            dialect in self._factories
            or self._loaded.get(dialect) is not None
            or dialect in self._entry_points
        )

    def names(self) -> set[str]:
        """Return the names that have an entry."""
        loaded = {name for name, entry in self._loaded.items() if entry is not None}
        return {*self._factories, *loaded, *self._entry_points}

    def get(self, dialect: str) -> T | None:
        """Return the entry of a dialect, or None. An entry point that fails to load is ignored with
        a warning.
        """
        if dialect not in self._loaded:
            self._loaded[dialect] = self._load(dialect)
        return self._loaded[dialect]

    def _load(self, dialect: str) -> T | None:
        if dialect in self._factories:
            return self._factories[dialect]()
        if (plugin := self._entry_points.get(dialect)) is None:
            return None
        try:
            return plugin.load()
        except Exception as error:
            _log.warning("%s '%s' cannot be loaded: %r", self._group, dialect, error)
            return None

    @cached_property
    def _entry_points(self) -> Mapping[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self._group)}
