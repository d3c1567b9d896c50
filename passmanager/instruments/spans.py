"""Spans of time, and the instrument that writes them as a trace."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

from ..output.files import check_writable, replace_file
from ..run import PassFrame, Run
from .nesting import Entry, NestingInstrument, anchors_of_frame

# Spans of time: the start and end of passes, analyses and phases of a tool, nested as they ran.


LOAD = "Load"
"""The phase in which the code of passes and dialects is imported."""


@dataclass(eq=False, slots=True)
class Span:
    """One run of a pass, one analysis computed in it, or one phase of a tool; times are in
    seconds.
    """

    name: str
    began: float
    category: Literal["pass", "analysis", "phase"] = "phase"
    text: str = ""
    """The pass with its options."""
    position: str = ""
    """The position of the pass in its pipeline: `3 of 7`."""
    anchors: tuple[str, ...] = ()
    """The anchors of the pass, outermost first."""
    thread: int = field(default_factory=threading.get_native_id)
    ended: float | None = None
    verify_seconds: float = 0.0
    failed: bool = False
    version: int = 0
    """The version of the module at the start of the pass."""
    changed: bool | None = None
    """Whether the pass changed the module, None if unknown."""
    children: list[Span] = field(default_factory=list["Span"])

    @property
    def seconds(self) -> float:
        """The duration; of an open span, up to the last known end of a child."""
        if self.ended is not None:
            return self.ended - self.began
        return max((c.began + c.seconds - self.began for c in self.children), default=0.0)

    @property
    def own_seconds(self) -> float:
        """The time spent outside of the children."""
        return self.seconds - sum(child.seconds for child in self.children)

    @property
    def self_seconds(self) -> float:
        """The time spent outside of the children and of verification."""
        return self.own_seconds - self.verify_seconds


class SpanInstrument(NestingInstrument[Span]):
    """An instrument that keeps the spans of passes, analyses and phases, also after its context is
    left.

    A session is a span around the others: in one thread, while a context is entered or anything
    runs.
    """

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        super().__init__()
        self.clock = clock
        self.origin = clock()
        """The time that others are relative to."""
        self.sessions: list[Span] = []

    @property
    def spans(self) -> list[Span]:
        """The outermost passes and phases."""
        return [span for session in self.sessions for span in session.children]

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Time the body of the `with` statement as a phase, which is beside passes or around
        them.
        """
        self._close_abandoned()
        outer = self._open_session()
        entry = Entry(Span(name, self.clock()))
        outer.children.append(entry.item)
        self._here.open.append(entry)
        try:
            yield
        except BaseException:
            entry.item.failed = True
            raise
        finally:
            entry.item.ended = self.clock()
            # Closes the passes inside that ended without an event, too.
            while entry in self._here.open:
                self._close_last(failed=True)
            self._close_session()

    def enter_pass_ctx(self) -> None:
        super().enter_pass_ctx()
        self._open_session()

    def add_load(self, seconds: float) -> None:
        """Add a phase `Load`: imports took the last `seconds`, of which the first may have been
        before the context was entered.
        """
        self.add_phase(LOAD, seconds)

    def add_phase(self, name: str, seconds: float) -> None:
        """Add a phase that took `seconds` up to now, as something else measured them."""
        self._note_phase(self._open_session(), name, seconds)
        self._close_session()

    def finalize_pass_ctx(self) -> None:
        super().finalize_pass_ctx()
        self._close_session()

    def begin(self, run: Run, outer: Entry[Span] | None) -> Span:
        holder = outer.item if outer else self._open_session()
        frame = run.frames[-1]
        position = frame.place.strip(" ()")
        if frame.load_time:
            self._note_phase(holder, LOAD, frame.load_time)
        anchors = anchors_of_frame(frame)
        span = Span(frame.info.name, self.clock(), "pass", frame.info.text, position, anchors)
        span.version = run.version
        holder.children.append(span)
        return span

    def end(self, item: Span, run: Run, frame: PassFrame, failed: bool) -> None:
        item.ended = self.clock()
        item.began -= frame.worker_time
        item.verify_seconds = frame.verify_time
        item.failed = failed
        self._close_session()

    def begin_analysis(self, analysis: type, outer: Entry[Span] | None) -> Span:
        holder = outer.item if outer else self._open_session()
        holder.children.append(span := Span(f"(A) {analysis.__name__}", self.clock(), "analysis"))
        return span

    def end_analysis(self, item: Span, failed: bool) -> None:
        item.ended = self.clock()
        item.failed = failed
        self._close_session()

    def _note_phase(self, holder: Span, name: str, seconds: float) -> Span:
        """Add a phase that ends now to the children of `holder`, and return it."""
        now = self.clock()
        phase = Span(name, now - seconds, ended=now)
        if holder in self.sessions and not holder.children:  # the first event
            holder.began = min(holder.began, phase.began)
            self.origin = min(self.origin, phase.began)
        holder.children.append(phase)
        return phase

    def _open_session(self) -> Span:
        """Return the innermost open span, or a new session."""
        if self.innermost is None:
            session = Span("session", self.clock())
            self.sessions.append(session)
            self._here.open.append(Entry(session))
        return self._here.open[-1].item

    def _close_session(self) -> None:
        """Close the session if it is the only open span, and no context is entered."""
        if not self._here.contexts and len(self._here.open) == 1:
            self._here.open.pop().item.ended = self.clock()


# The instrument that writes a trace for Perfetto and chrome://tracing.


class TraceInstrument(SpanInstrument):
    """An instrument that writes passes and phases as Chrome trace events to a file, each time its
    context is left.

    The file is replaced as a whole and has all contexts so far. Changes of the module are tracked
    even if nothing is verified. A pass takes about 4 microseconds more, 7 if nothing is verified,
    and writing its event 9. Errors: OSError, when the context is entered, or when it is left, for a
    file that cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, clock: Callable[[], float] = perf_counter
    ) -> None:
        super().__init__(clock)
        self._path = None if path is None else Path(path)

    def enter_pass_ctx(self) -> None:
        if self._path is not None:
            check_writable(self._path)
        super().enter_pass_ctx()

    def finalize_pass_ctx(self) -> None:
        super().finalize_pass_ctx()
        if self._path is not None:
            replace_file(self._path, [self.render()])

    def begin(self, run: Run, outer: Entry[Span] | None) -> Span:
        run.watch()
        return super().begin(run, outer)

    def end(self, item: Span, run: Run, frame: PassFrame, failed: bool) -> None:
        super().end(item, run, frame, failed)
        if not failed:  # after a failure the changes are rolled back, or not looked for
            item.changed = run.version != item.version

    def render(self) -> str:
        """Return the trace as JSON, a line for each event; open spans are left out."""
        events = ",\n".join(json.dumps(event) for event in self._events(self.spans))
        return f'{{"traceEvents": [\n{events}\n]}}\n'

    def _events(self, spans: list[Span]) -> Iterator[dict[str, Any]]:
        for span in spans:
            if span.ended is not None:
                yield self._event(span, span.name, span.began, span.ended, _arguments(span))
                if span.verify_seconds:
                    yield self._event(
                        span, "verify", span.ended - span.verify_seconds, span.ended, {}
                    )
            yield from self._events(span.children)

    def _event(
        self, span: Span, name: str, began: float, ended: float, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "name": name,
            "cat": span.category,
            "ph": "X",  # a complete event: a beginning and a duration, in microseconds
            "ts": round((began - self.origin) * 1e6, 3),
            "dur": round((ended - began) * 1e6, 3),
            "pid": os.getpid(),
            "tid": span.thread,
            "args": arguments,
        }


def _arguments(span: Span) -> dict[str, Any]:
    """Return what is known of a span besides its times."""
    known: dict[str, Any] = {"pass": span.text, "position": span.position, "changed": span.changed}
    return {k: v for k, v in known.items() if v not in ("", None)} | {"failed": span.failed}
