"""The cache of analyses of one run, and their invalidation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar, cast

from xdsl.ir import Operation

from .errors import PassDependencyError
from .instrument import PassInstrumentor
from .ir.changes import Changes
from .ir.walk import top_level_op

A = TypeVar("A")
Key = tuple[type[object], Operation]


@dataclass
class _Entry:
    """A computed analysis, the top-level op that contains its op, and the analyses it was computed
    from.
    """

    result: object
    top_level: Operation
    uses: set[Key] = field(default_factory=set[Key])


class AnalysisManager:
    """The cache of the analyses of one run.

    An analysis is a plain class, constructed from an op. If its constructor takes a second
    argument, it gets this manager, to ask for other analyses. A result stays cached until a pass
    that does not list its class in `preserves` changes the top-level op around the op; an analysis
    of the module is dropped at any change. All results computed from a dropped one are dropped,
    too. A pass that needs an analysis of IR that it has just changed constructs the class itself.

    `watch` is called before anything is computed; `instrumentor` returns the dispatcher of events.
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
        """Return the analysis of `op`, computed unless it is cached.

        Errors: PassDependencyError if analyses need each other in a cycle.
        """
        key = (analysis, op)
        if self._computing:  # the analysis being computed depends on this one
            self._computing[-1].uses.add(key)
        if (entry := self._entries.get(key)) is None:
            entry = self._compute(analysis, op)
        return cast(A, entry.result)

    def cached(self, analysis: type[A], op: Operation) -> A | None:
        """Return the analysis of `op` if it is cached, else None."""
        entry = self._entries.get((analysis, op))
        return None if entry is None else cast(A, entry.result)

    def _compute(self, analysis: type, op: Operation) -> _Entry:
        key = (analysis, op)
        if key in self._pending:
            names = " -> ".join(cls.__name__ for cls, _ in (*self._pending, key))
            raise PassDependencyError(f"analyses need each other in a cycle: {names}")
        self._watch()
        entry = _Entry(None, top_level_op(op))
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
        """Iterate over the keys of all cached analyses: pairs of an analysis class and an op."""
        return iter(tuple(self._entries))

    def invalidate(self, changes: Changes, preserved: Collection[object]) -> None:
        """Drop the analyses that the changes of a pass made invalid, except those of the
        `preserved` classes, and all computed from dropped ones.
        """
        if not self._entries:
            return
        removed = set(changes.removed)
        changed = removed | changes.top_level
        # Analyses of removed ops are dropped, also those of `preserved` classes.
        dropped = {
            (cls, op)
            for (cls, op), entry in self._entries.items()
            if entry.top_level in removed
            or (cls not in preserved and (entry.top_level in changed or op.parent is None))
        }
        known = tuple(self._entries)
        while dropped:  # then the analyses computed from them, and so on
            for key in dropped:
                del self._entries[key]
            dropped = {key for key, e in self._entries.items() if not e.uses.isdisjoint(dropped)}
        for cls, op in known:
            if (cls, op) not in self._entries:
                self._instrumentor().analysis_invalidated(op, cls)

    def clear(self, error: BaseException) -> None:
        """Drop all analyses because of `error`, which gets the exceptions of instruments as
        notes.
        """
        known = tuple(self._entries)
        self._entries.clear()
        for cls, op in known:
            self._instrumentor().analysis_invalidated(op, cls, error)


@cache
def _takes_manager(analysis: type) -> bool:
    """Return whether the constructor of an analysis takes a second argument, the manager."""
    parameters = inspect.signature(analysis).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1
