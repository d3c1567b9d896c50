"""What passes did: how often they ran, what they counted, which ops they made and erased."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..ir.symbols import name_of
from ..ir.walk import walk
from ..run import Frame, Run
from .nesting import Entry, NestingInstrument, report_header

__all__ = ["PassStatistics", "StatisticsInstrument"]

Ops: TypeAlias = dict[int, Operation]
"""Ops by identity; that they are referred to keeps an identity from being given to another."""


@dataclass
class PassStatistics:
    """What all runs of one pass did."""

    runs: int = 0
    changed: int = 0
    failed: int = 0
    counters: Counter[str] = field(default_factory=Counter[str])
    created: Counter[str] = field(default_factory=Counter[str])
    """How many ops there were after a run and not before, by name; not of runs that failed."""
    erased: Counter[str] = field(default_factory=Counter[str])

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain dicts, sorted by name."""
        plain: dict[str, Any] = {"runs": self.runs, "changed": self.changed, "failed": self.failed}
        for kind in ("counters", "created", "erased"):
            plain[kind] = dict(sorted(getattr(self, kind).items()))
        return plain


@dataclass(eq=False, slots=True)
class _Open:
    """A pass that is running."""

    name: str
    leaf: bool
    version: int = 0
    ops: Ops | None = None
    """The ops of the module as seen last, if only this pass itself can have changed it since."""
    counted: dict[str, Counter[str]] | None = None
    """What had been counted before, if this is the outermost pass of a run."""


class StatisticsInstrument(NestingInstrument[_Open]):
    """Adds up, by name, what each pass did; a pass made of passes has no row of its own.

    What a pass has others do inside of it is theirs. A pass that changes the module costs one walk
    over it (0.2 microseconds an op), any pass the watching of changes, even where nothing is
    verified; beside that about 8 microseconds. Erased ops live until the pass ends.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self.passes: dict[str, PassStatistics] = {}

    def begin(self, run: Run, outer: Entry[_Open] | None) -> _Open:
        info = run.frames[-1].info
        item = _Open(info.name, not info.composite)
        if (around := _of_run(run, outer)) is None:
            item.counted = {name: Counter(counts) for name, counts in run.counts.items()}
        else:
            if around.leaf:
                self._look(around, run.module)
            item.ops = around.ops
        if item.leaf:
            run.watch()
            item.version = run.version
            item.ops = item.ops or _ops(run.module)
            with self._lock:
                self._of(item.name).runs += 1
        return item

    def end(self, item: _Open, run: Run, frame: Frame, failed: bool) -> None:
        if item.leaf:
            self._end_leaf(item, run, failed)
        if (around := _of_run(run, self.innermost)) is None:
            self._count(item, run)
        elif item.ops is None and around.leaf:
            around.ops = _ops(run.module)
        else:
            around.ops = item.ops

    def _end_leaf(self, item: _Open, run: Run, failed: bool) -> None:
        changed = not failed and run.version != item.version
        with self._lock:
            self._of(item.name).changed += changed
            self._of(item.name).failed += failed
        if changed:
            self._look(item, run.module)
        if failed:
            item.ops = None

    def _look(self, item: _Open, module: ModuleOp) -> None:
        """Put down to the pass what came and went since its ops were looked at last."""
        old, new = item.ops or {}, _ops(module)
        with self._lock:
            found = self._of(item.name)
            found.created.update(name_of(new[key]) for key in new.keys() - old.keys())
            found.erased.update(name_of(old[key]) for key in old.keys() - new.keys())
        item.ops = new

    def _count(self, item: _Open, run: Run) -> None:
        """Add what was counted in the run since its outermost pass began."""
        before = item.counted or {}
        with self._lock:
            for name, counts in run.counts.items():
                self._of(name).counters.update(counts - before.get(name, Counter()))

    def _of(self, name: str) -> PassStatistics:
        return self.passes.setdefault(name, PassStatistics())

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """The statistics of each pass, in the order in which they first ran."""
        return {name: found.as_dict() for name, found in self.passes.items()}

    def report(self, kind: Literal["text", "json"] = "text") -> str:
        """The statistics as MLIR writes them, the counters of a pass below it; or as JSON."""
        if kind == "json":
            return json.dumps(self.as_dict(), indent=2) + "\n"
        if not self.passes:
            return ""
        return "\n".join([*report_header("Pass statistics report"), *self._rows()]) + "\n"

    def _rows(self) -> Iterator[str]:
        counted = {name: [*_counted(found)] for name, found in self.passes.items()}
        width = max((len(str(n)) for rows in counted.values() for n, _ in rows), default=0)
        for name, found in self.passes.items():
            yield f"{name}: {_runs(found)}"
            for n, what in counted[name]:
                yield f"  (S) {n:>{width}} {what}"


def _of_run(run: Run, entry: Entry[_Open] | None) -> _Open | None:
    """The pass of `entry`, if it belongs to `run`."""
    return entry.item if entry is not None and entry.run is run else None


def _ops(module: ModuleOp) -> Ops:
    return {id(op): op for op in walk(module)}


def _runs(found: PassStatistics) -> str:
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'}, {found.changed} changed"
    return f"{runs}, {found.failed} failed" if found.failed else runs


def _counted(found: PassStatistics) -> Iterator[tuple[int, str]]:
    """How many of what, by name: first what the pass counted, then ops."""
    for name, n in sorted(found.counters.items()):
        yield n, name
    for name, n in sorted(found.created.items()):
        yield n, f"{name} created"
    for name, n in sorted(found.erased.items()):
        yield n, f"{name} erased"
