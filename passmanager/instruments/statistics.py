"""The instrument that counts runs of passes, their counters, and the ops they created and
erased.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..ir.walk import name_of, walk
from ..output.html import block, element, table
from ..run import PassFrame, Run
from .nesting import (
    Entry,
    NestingInstrument,
    anchor_row,
    anchors_of_frame,
    by_anchor,
    report_header,
)

Ops: TypeAlias = dict[int, Operation]
"""Ops by `id`. The references keep the ids of erased ops from being reused."""


@dataclass
class PassStatistics:
    """The statistics of all runs of one pass."""

    runs: int = 0
    changed: int = 0
    failed: int = 0
    counters: Counter[str] = field(default_factory=Counter[str])
    created: Counter[str] = field(default_factory=Counter[str])
    """The number of ops that exist after a run and not before, by name; without failed runs."""
    erased: Counter[str] = field(default_factory=Counter[str])
    descriptions: Mapping[str, str] = field(default_factory=dict[str, str])
    """The counters that the pass declares, which are shown if they are 0, too."""

    def as_dict(self) -> dict[str, Any]:
        """Return the statistics as plain dicts, sorted by name."""
        plain: dict[str, Any] = {"runs": self.runs, "changed": self.changed, "failed": self.failed}
        for kind in ("counters", "created", "erased"):
            plain[kind] = dict(sorted(getattr(self, kind).items()))
        return plain


@dataclass(eq=False, slots=True)
class _Open:
    """The state of a pass that is running."""

    name: str
    leaf: bool
    version: int = 0
    ops: Ops | None = None
    """The ops of the module when last recorded, if only this pass itself can have changed it
    since.
    """
    counted: dict[str, Counter[str]] | None = None
    """The counters of the run before this pass, if it is the outermost one."""
    own: Counter[str] | None = None
    """The counters of all passes of this name before this pass."""


@dataclass
class _Instance:
    """A pass at one place of a pipeline."""

    name: str
    around: tuple[str, ...]
    """The composites and anchors around the pass, outermost first, but for the whole pipeline."""
    statistics: PassStatistics


class StatisticsInstrument(NestingInstrument[_Open]):
    """An instrument that sums up the statistics of leaf passes by name.

    The changes of a pass that another pass calls are counted for the called one. A pass that
    changes the module costs one walk over it (0.2 microseconds an op); any pass costs the tracking
    of changes, even if nothing is verified, and about 8 microseconds. Erased ops stay alive until
    the pass ends.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self.passes: dict[str, PassStatistics] = {}
        self._instances: dict[tuple[str, ...], _Instance] = {}
        """The passes at their places, by the texts and places of the passes around them."""

    def begin(self, run: Run, outer: Entry[_Open] | None) -> _Open:
        info = run.frames[-1].info
        item = _Open(info.name, not info.composite)
        if (outer_item := _of_run(run, outer)) is None:
            item.counted = {name: Counter(counts) for name, counts in run.counts.items()}
        else:
            if outer_item.leaf:
                self._record_ops(outer_item, run.module)
            item.ops = outer_item.ops
        if item.leaf:
            run.watch()
            item.version = run.version
            # The ops recorded after the previous pass are reused, if nothing changed since.
            item.ops = item.ops or _ops(run.module)
            item.own = Counter(run.counts.get(item.name))
            with self._lock:
                found = self._statistics_of(item.name)
                found.runs += 1
                found.descriptions = getattr(run.frames[-1].pass_, "statistics", {})
                self._instance_of(run, found.descriptions).runs += 1
        return item

    def end(self, item: _Open, run: Run, frame: PassFrame, failed: bool) -> None:
        if item.leaf:
            self._end_leaf(item, run, failed)
        if (outer_item := _of_run(run, self.innermost)) is None:
            self._count(item, run)
        elif item.ops is None and outer_item.leaf:
            outer_item.ops = _ops(run.module)
        else:
            outer_item.ops = item.ops

    def _end_leaf(self, item: _Open, run: Run, failed: bool) -> None:
        changed = not failed and run.version != item.version
        counted = Counter[str](run.counts.get(item.name)) - (item.own or Counter[str]())
        with self._lock:
            for found in self._statistics_of(item.name), self._instance_of(run):
                found.changed += changed
                found.failed += failed
            self._instance_of(run).counters.update(counted)
        if changed:
            self._record_ops(item, run.module)
        if failed:
            item.ops = None

    def _record_ops(self, item: _Open, module: ModuleOp) -> None:
        """Count the ops created and erased since the ops of the pass were last recorded."""
        old, new = item.ops or {}, _ops(module)
        with self._lock:
            found = self._statistics_of(item.name)
            found.created.update(name_of(new[key]) for key in new.keys() - old.keys())
            found.erased.update(name_of(old[key]) for key in old.keys() - new.keys())
        item.ops = new

    def _count(self, item: _Open, run: Run) -> None:
        """Add the counters of the run since its outermost pass started."""
        before = item.counted or {}
        with self._lock:
            for name, counts in run.counts.items():
                self._statistics_of(name).counters.update(counts - before.get(name, Counter()))

    def _statistics_of(self, name: str) -> PassStatistics:
        return self.passes.setdefault(name, PassStatistics())

    def _instance_of(
        self, run: Run, descriptions: Mapping[str, str] | None = None
    ) -> PassStatistics:
        """Return the statistics of the running pass at its place."""
        key = tuple(frame.info.text + frame.place for frame in run.frames)
        if key not in self._instances:
            frame = run.frames[-1]
            around = [each.info.name for each in run.frames[1:-1]]
            around += map(anchor_row, anchors_of_frame(frame))
            found = PassStatistics(descriptions=descriptions or {})
            self._instances[key] = _Instance(frame.info.name, tuple(around), found)
        return self._instances[key].statistics

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return the statistics of each pass, in the order of their first runs."""
        return {name: found.as_dict() for name, found in self.passes.items()}

    def report(self, kind: Literal["text", "pipeline", "json"] = "text") -> str:
        """Return the statistics in the format of MLIR, with the counters below each pass, or as
        JSON: of all passes of a name together, or with `pipeline` of each place in the pipelines.
        """
        if kind == "json":
            return json.dumps(self.as_dict(), indent=2) + "\n"
        if not self.passes:
            return ""
        rows = self._rows() if kind == "text" else _tree([*self._instances.values()], 0)
        return "\n".join([*report_header("Pass statistics report"), *rows]) + "\n"

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.passes)} passes>"

    def _repr_html_(self) -> str:
        rows = [
            (name, s.runs, s.changed, s.failed, ", ".join(f"{n} {what}" for n, what in _counted(s)))
            for name, s in self.passes.items()
        ]
        header = ("pass", "runs", "changed", "failed", "counted")
        return block(element("p", repr(self).strip("<>")), table(header, rows))

    def _rows(self) -> Iterator[str]:
        counted = {name: [*_counted(found)] for name, found in self.passes.items()}
        width = _width(row for rows in counted.values() for row in rows)
        for name, found in self.passes.items():
            yield f"{name}: {_runs(found)}"
            yield from _counters(counted[name], width)


def _tree(instances: list[_Instance], level: int) -> Iterator[str]:
    """Yield the lines about passes at their places, below those about what is around them."""
    indent = "  " * level
    for heading, group in by_anchor(instances, lambda each: each.around, level):
        if heading:
            yield indent + heading
            yield from _tree(group, level + 1)
            continue
        for each in group:
            yield f"{indent}{each.name}: {_runs(each.statistics)}"
            counted = [*_counted(each.statistics)]
            yield from (indent + line for line in _counters(counted, _width(counted)))


def _width(counted: Iterable[tuple[int, str]]) -> int:
    """Return the number of digits of the largest number."""
    return max((len(str(n)) for n, _ in counted), default=0)


def _counters(counted: Iterable[tuple[int, str]], width: int) -> Iterator[str]:
    for n, description in counted:
        yield f"  (S) {n:>{width}} {description}"


def _of_run(run: Run, entry: Entry[_Open] | None) -> _Open | None:
    """Return the pass of `entry` if it belongs to `run`, else None."""
    return entry.item if entry is not None and entry.run is run else None


def _ops(module: ModuleOp) -> Ops:
    return {id(op): op for op in walk(module)}


def _runs(found: PassStatistics) -> str:
    runs = f"{found.runs} run{'' if found.runs == 1 else 's'}, {found.changed} changed"
    return f"{runs}, {found.failed} failed" if found.failed else runs


def _counted(found: PassStatistics) -> Iterator[tuple[int, str]]:
    """Yield pairs of a number and its description, sorted: the pass's counters, then ops."""
    descriptions = found.descriptions
    for name in sorted({*found.counters, *descriptions}):
        text = f" - {descriptions[name]}" if name in descriptions else ""
        yield found.counters[name], name + text
    for name, n in sorted(found.created.items()):
        yield n, f"{name} created"
    for name, n in sorted(found.erased.items()):
        yield n, f"{name} erased"
