"""The writer of records: an instrument that writes events, times, changes and IR of a run, each
as a line of JSON."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..actions import Remark
from ..diagnostics import Diagnostic
from ..ir.location import place_text
from ..ir.walk import name_of
from ..registry import PassInfo
from ..run import PassFrame, Run
from .nesting import Entry
from .record_ir import Edit, RecordedModule, RecordedOp, place_in
from .spans import Span, SpanInstrument

FORMAT = 1
"""The version of the format; it changes when a field is removed, or its meaning changes."""

Event: TypeAlias = dict[str, Any]


@dataclass
class _RunState:
    """The recorded part of one run."""

    number: int
    module: RecordedModule = field(default_factory=RecordedModule)
    counters: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])


class _PausingClock(threading.local):
    """A clock that does not count the time that recording takes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.paused = 0.0

    def __call__(self) -> float:
        return self.clock() - self.paused

    @contextmanager
    def pause(self) -> Generator[None]:
        """Stop the clock in the body of the `with` statement."""
        start = self.clock()
        try:
            yield
        finally:
            self.paused += self.clock() - start


class RecordInstrument(SpanInstrument):
    """An instrument that records passes, analyses, phases, diagnostics, counters and IR as events,
    which docs/record.md describes.

    Each event is written to the file when it happens, so a crash loses nothing; without a file, and
    if `keep`, events are in `lines`. `title` is that of the report. The IR of a top-level op is
    printed when it changes, each text once. Changes of the module are tracked even if nothing is
    verified. Recorded times do not contain the time that recording takes.

    Errors: OSError, when the context is entered, for a file that cannot be opened; when it is left,
    for one that could not be written to its end. That file is deleted, and `lines` has the events.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str = "",
        keep: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._clock = _PausingClock(clock)
        super().__init__(self._clock)
        self.title = title
        self.lines: list[str] = []
        self._path = None if path is None else Path(path)
        self._keep = keep or path is None
        self._file: TextIOWrapper | None = None
        self._has_begun = False
        self._write_error: OSError | None = None
        self._lock = threading.RLock()
        self._runs: WeakKeyDictionary[Run, _RunState] = WeakKeyDictionary()
        self._run_count = 0
        self._ids: dict[Span, int] = {}
        self._id_count = 0
        self._session_count = 0
        self._errors: WeakKeyDictionary[PassFrame, BaseException] = WeakKeyDictionary()
        self._texts: set[str] = set()

    # Contexts

    def enter_pass_ctx(self) -> None:
        with self._lock:
            if self._path is not None and self._file is None and self._write_error is None:
                mode = "a" if self._has_begun else "w"
                self._file = self._path.open(mode, encoding="utf-8")
            if not self._has_begun:
                self._has_begun = True
                self._emit({"event": "record", "format": FORMAT, "title": self.title})
        super().enter_pass_ctx()

    def finalize_pass_ctx(self) -> None:
        super().finalize_pass_ctx()
        with self._lock:
            closed = [session for session in self.sessions if session.ended is not None]
            for session in closed[self._session_count :]:
                self._emit(self._span_event("session", session))
            self._session_count = len(closed)
            if self._here.contexts == 0:
                self._close()

    def _close(self) -> None:
        """Close the file; raise the error of the first event that was not written."""
        file, self._file = self._file, None
        try:
            if file is not None:
                file.close()
        except OSError as error:
            self._write_error = self._write_error or error
        if self._write_error is not None:
            error = self._write_error
            raise OSError(error.errno, error.strerror or str(error), str(self._path)) from error

    # Passes

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        with self._clock.pause():
            run = Run.current()
            if run not in self._runs:
                self._begin_run(run)
        super().run_before_pass(module, info)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self._errors[Run.current().frames[-1]] = error
        super().pass_failed(module, info, error)

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        with self._clock.pause():
            run = Run.current()
            if run not in self._runs:
                self._begin_run(run)
            outer = self.innermost
            self._emit(
                {
                    "event": "skip",
                    "run": self._runs[run].number,
                    "parent": self._ids.get(outer.item) if outer else None,
                    "name": info.name,
                    "text": info.text,
                    "reason": reason,
                    "time": self._time(self.clock()),
                }
            )

    def begin(self, run: Run, outer: Entry[Span] | None) -> Span:
        span = super().begin(run, outer)
        with self._clock.pause(), self._lock:
            self._id_count += 1
            self._ids[span] = self._id_count
            info = run.frames[-1].info
            self._emit(
                {
                    "event": "begin",
                    "pass": self._id_count,
                    "run": self._runs[run].number,
                    "parent": self._ids.get(outer.item) if outer else None,
                    "name": info.name,
                    "text": info.text,
                    "position": span.position,
                    "composite": info.composite,
                    "thread": span.thread,
                    "time": self._time(span.began),
                }
            )
        return span

    def end(self, item: Span, run: Run, frame: PassFrame, failed: bool) -> None:
        super().end(item, run, frame, failed)
        with self._clock.pause(), self._lock:
            state = self._runs[run]
            changed = run.version != item.version
            event: Event = {
                "event": "fail" if failed else "end",
                "pass": self._ids.pop(item),
                "time": self._time(item.ended or 0),
                "verify_seconds": round(item.verify_seconds, 7),
                "changed": changed,
            }
            if not frame.info.composite and (failed or run.version != state.module.version):
                event |= self._record_ir(state, run, failed)
                event["changed"] |= "ir" in event
            if counters := self._new_counters(state, run, frame.info.name):
                event["counters"] = counters
            if frame.reported is not None and frame.reported.rendered:
                event["diagnostics"] = [*map(_diagnostic_json, frame.reported.rendered)]
            if failed:
                event |= _error_json(self._errors.get(frame))
            self._emit(event)

    # Analyses and phases

    def end_analysis(self, item: Span, failed: bool) -> None:
        super().end_analysis(item, failed)
        self._emit(self._span_event("analysis", item))

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        outer, failure = self.innermost, Event()
        try:
            with super().phase(name):
                yield
        except BaseException as error:
            failure = _error_json(error)
            raise
        finally:
            holder = outer.item if outer is not None else self.sessions[-1]
            self._emit(self._phase_event(holder, holder.children[-1]) | failure)

    def _note_phase(self, holder: Span, name: str, seconds: float) -> Span:
        phase = super()._note_phase(holder, name, seconds)
        self._emit(self._phase_event(holder, phase))
        return phase

    # Parts of events

    def _begin_run(self, run: Run) -> None:
        run.watch()
        if run.patterns is None:
            run.patterns = {}
        with self._lock:
            self._runs[run] = state = _RunState(self._run_count)
            self._run_count += 1
            update = state.module.update(run)
            self._emit_texts(update.printed)
            self._emit(
                {
                    "event": "run",
                    "run": state.number,
                    "time": self._time(self.clock()),
                    **_edits_json(update.edits),
                    "counts": dict(state.module.counts),
                }
            )

    def _record_ir(self, state: _RunState, run: Run, failed: bool) -> Event:
        """Record the IR after a pass; return the fields of its event that are about IR."""
        update = state.module.update(run, failed)
        self._emit_texts(update.printed)
        found: Event = {}
        if update.edits:
            found = _edits_json(update.edits) | {"counts": dict(state.module.counts)}
        for kind, ops in (("created", update.created), ("erased", update.erased)):
            if ops:
                found[kind] = dict(Counter(map(name_of, ops)))
                found[f"{kind}_by"] = _numbers_by_pattern(ops, run.patterns or {})
        if update.moved:
            found["moved"] = update.moved
        if merged := _merged_json(run.merged, update.erased, state.module):
            found["merged"] = merged
        run.merged.clear()  # else these would keep erased ops alive
        if run.patterns is not None:
            run.patterns.clear()
        return found

    def _emit_texts(self, printed: Iterable[RecordedOp]) -> None:
        for op in printed:
            if op.hash not in self._texts:
                self._texts.add(op.hash)
                self._emit(op.as_event())

    def _new_counters(self, state: _RunState, run: Run, name: str) -> dict[str, int]:
        """Return what the counters of a pass were increased by since they were last recorded."""
        if name not in run.counts:
            return {}
        now = Counter(run.counts[name])
        before = state.counters.get(name, Counter())
        state.counters[name] = now
        return dict(now - before)

    def _span_event(self, kind: str, span: Span) -> Event:
        assert span.ended is not None
        return {
            "event": kind,
            "name": span.name,
            "thread": span.thread,
            "time": self._time(span.began),
            "seconds": round(span.ended - span.began, 7),
            "failed": span.failed,
        }

    def _phase_event(self, holder: Span, span: Span) -> Event:
        return self._span_event("phase", span) | {"parent": self._ids.get(holder)}

    def _time(self, time: float) -> float:
        return round(time - self.origin, 7)

    def _emit(self, event: Event) -> None:
        line = json.dumps(event, separators=(",", ":")) + "\n"
        with self._lock:
            if self._file is not None:
                try:
                    self._file.write(line)
                    self._file.flush()
                except OSError as error:
                    self._write_error = error
                    self._abandon_file(line)
                    self._keep = True
            if self._keep:
                self.lines.append(line)

    def _abandon_file(self, last: str) -> None:
        """Delete the file, which could not be written to its end, the line `last`; keep its other
        lines."""
        file, self._file = self._file, None
        with suppress(OSError):  # the first error is reported
            if file is not None:
                file.close()
        if (path := self._path) is not None and path.is_file():
            written = path.read_text("utf-8").splitlines(keepends=True)
            path.resolve().unlink()
            if not self._keep:
                self.lines += [line for line in written if line.endswith("\n") and line != last]


def _edits_json(edits: Iterable[Edit]) -> Event:
    """Return the changes of a module: hashes, and apart from them the numbers of their ops."""
    return {
        "ir": [[start, end, [op.hash for op in new]] for start, end, new in edits],
        "numbers": [op.numbers for _, _, new in edits for op in new],
    }


def _numbers_by_pattern(
    ops: Mapping[Operation, int], patterns: Mapping[Operation, str]
) -> dict[str, list[int]]:
    """Return the numbers of ops by the pattern that rewrote them, empty if it was none."""
    found: dict[str, list[int]] = {}
    for op, number in ops.items():
        found.setdefault(patterns.get(op, ""), []).append(number)
    return found


def _merged_json(
    merged: Mapping[Operation, Operation], erased: Mapping[Operation, int], module: RecordedModule
) -> dict[str, list[tuple[int, int]]]:
    """Return the numbers of merged ops, each with that of the op that remained, by its place."""
    found: dict[str, list[tuple[int, int]]] = {}
    for op, number in erased.items():
        into = merged.get(op)
        while into is not None and into in merged:
            into = merged[into]
        if into is not None and (kept := module.number(into)) is not None:
            found.setdefault(place_in(into), []).append((number, kept))
    return found


def _diagnostic_json(diagnostic: Diagnostic) -> dict[str, Any]:
    found: dict[str, Any] = {
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "location": place_text(diagnostic.location) if diagnostic.location else "",
    }
    if isinstance(diagnostic, Remark):
        found["remark"] = {
            "kind": diagnostic.kind.value,
            "name": diagnostic.name,
            "function": diagnostic.function,
            "arguments": diagnostic.arguments,
        }
        if diagnostic.category != diagnostic.pass_name:
            found["remark"]["category"] = diagnostic.category
    if diagnostic.notes:
        found["notes"] = [*map(_diagnostic_json, diagnostic.notes)]
    return found


def _error_json(error: BaseException | None) -> dict[str, Any]:
    """Return the exception of a pass; an instrument stopped the run if there is none."""
    if error is None:
        return {"error": None, "message": "stopped by an instrument", "notes": []}
    notes: list[str] = getattr(error, "__notes__", [])
    return {"error": type(error).__name__, "message": str(error), "notes": [*notes]}
