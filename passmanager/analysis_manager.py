"""Analyses: facts about the IR, computed once and kept while they are true."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar, cast

from xdsl.ir import Operation

from .errors import PassDependencyError
from .instrumentor import PassInstrumentor
from .ir.changes import Changes

__all__ = ["AnalysisManager"]

A = TypeVar("A")
Key = tuple[type[object], Operation]


@dataclass
class _Entry:
    """A computed analysis, the top-level op that it is about, and the analyses that it was made
    from.
    """

    result: object
    top_level: Operation
    uses: set[Key] = field(default_factory=set[Key])


class AnalysisManager:
    """The analyses of one run.

    An analysis is a plain class, constructed from the op that it is about; one whose constructor
    takes a second argument gets this manager, and may ask it for others. A result is kept until a
    pass that does not list its class in `preserves` has changed the op; for the module that is any
    change. It then goes together with every result that was made from it. A pass that wants an
    analysis of what it has itself just changed constructs the class directly. `watch` is called
    before something is computed; `instruments` gives those to tell of what happens.
    """

    def __init__(
        self,
        watch: Callable[[], None] = lambda: None,
        instrumentor: Callable[[], PassInstrumentor] = PassInstrumentor,
    ) -> None:
        self._watch = watch
        self._instrumentor = instrumentor
        self._entries: dict[Key, _Entry] = {}
        self._computing: list[_Entry] = []
        self._pending: list[Key] = []

    def get(self, analysis: type[A], op: Operation) -> A:
        """The analysis of `op`, computed if it is not at hand.

        Errors: PassDependencyError if analyses need each other in a circle.
        """
        key = (analysis, op)
        if self._computing:
            self._computing[-1].uses.add(key)
        if (entry := self._entries.get(key)) is None:
            entry = self._compute(analysis, op)
        return cast(A, entry.result)

    def cached(self, analysis: type[A], op: Operation) -> A | None:
        """The analysis of `op` if it is at hand."""
        entry = self._entries.get((analysis, op))
        return None if entry is None else cast(A, entry.result)

    def _compute(self, analysis: type, op: Operation) -> _Entry:
        key = (analysis, op)
        if key in self._pending:
            names = " -> ".join(cls.__name__ for cls, _ in (*self._pending, key))
            raise PassDependencyError(f"analyses need each other in a circle: {names}")
        self._watch()
        entry = _Entry(None, _top_level(op))
        instrumentor = self._instrumentor()
        instrumentor.before_analysis(op, analysis)
        self._pending.append(key)
        self._computing.append(entry)
        try:
            entry.result = analysis(op, self) if _takes_manager(analysis) else analysis(op)
        except BaseException as error:
            instrumentor.analysis_failed(op, analysis, error)
            raise
        finally:
            self._pending.pop()
            self._computing.pop()
        self._entries[key] = entry
        instrumentor.after_analysis(op, analysis)
        return entry

    def __iter__(self) -> Iterator[Key]:
        """What is at hand: pairs of an analysis class and an op."""
        return iter(tuple(self._entries))

    def invalidate(self, changes: Changes, preserved: Collection[type]) -> None:
        """After a pass: drop what its changes made untrue and what was made from that."""
        if not self._entries:
            return
        gone = set(changes.removed)
        touched = gone | changes.top_level
        dropped = {
            (cls, op)
            for (cls, op), entry in self._entries.items()
            if entry.top_level in gone
            or (cls not in preserved and (entry.top_level in touched or op.parent is None))
        }
        known = tuple(self._entries)
        while dropped:
            for key in dropped:
                del self._entries[key]
            dropped = {key for key, e in self._entries.items() if not e.uses.isdisjoint(dropped)}
        for cls, op in known:
            if (cls, op) not in self._entries:
                self._instrumentor().analysis_invalidated(op, cls)

    def clear(self, error: BaseException) -> None:
        """Drop everything, because of `error`, which gets the failures of instruments as notes."""
        known = tuple(self._entries)
        self._entries.clear()
        for cls, op in known:
            self._instrumentor().analysis_invalidated(op, cls, error)


def _top_level(op: Operation) -> Operation:
    """The op directly in the module that holds `op`; the module itself for the module."""
    while (parent := op.parent_op()) is not None and parent.parent is not None:
        op = parent
    return op


@cache
def _takes_manager(analysis: type) -> bool:
    """Whether the constructor takes a second argument, the manager."""
    parameters = inspect.signature(analysis).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1
