"""The base class of instruments that keep a stack of the running passes."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..instrument import PassInstrument
from ..registry import PassInfo
from ..run import PassFrame, Run

T = TypeVar("T")


class Entry(NamedTuple, Generic[T]):
    """The item that an instrument keeps for a running pass; for anything else, `run` is None.

    `analysis` is the analysis being computed in the pass, if the item is for one.
    """

    item: T
    run: Run | None = None
    frame: PassFrame | None = None
    depth: int = 0
    analysis: type | None = None

    @property
    def abandoned(self) -> bool:
        """Whether the pass ended without an event, because a hook of another instrument raised."""
        if self.run is None:
            return False
        frames = self.run.frames
        return len(frames) < self.depth or frames[self.depth - 1] is not self.frame


class _OpenEntries(threading.local, Generic[T]):
    """The open entries of one thread, outermost first, and the number of contexts entered in it."""

    def __init__(self) -> None:
        self.open: list[Entry[T]] = []
        self.contexts = 0


class NestingInstrument(PassInstrument, Generic[T]):
    """An instrument that keeps an item for each pass from its start to its end, also if it fails.

    Each thread has its own stack, so that simultaneous runs do not mix.
    """

    def __init__(self) -> None:
        self._here = _OpenEntries[T]()

    @abstractmethod
    def begin(self, run: Run, outer: Entry[T] | None) -> T:
        """Return the item for the pass `run.frames[-1]`, which starts inside of `outer`."""

    @abstractmethod
    def end(self, item: T, run: Run, frame: PassFrame, failed: bool) -> None:
        """Handle the end of a pass; `failed` is also true if another instrument raised before or
        after it.
        """

    def begin_analysis(self, analysis: type, outer: Entry[T] | None) -> T | None:
        """Return the item for an analysis that is computed inside of `outer`, or None to keep
        nothing.
        """
        return None

    def end_analysis(self, item: T, failed: bool) -> None:
        """Handle the end of an analysis; `failed` is also true if another instrument raised."""

    @property
    def innermost(self) -> Entry[T] | None:
        """The innermost open entry of this thread."""
        return self._here.open[-1] if self._here.open else None

    def enter_pass_ctx(self) -> None:
        self._here.contexts += 1

    def finalize_pass_ctx(self) -> None:
        self._here.contexts = max(0, self._here.contexts - 1)
        self._close_abandoned()
        # Removed from its last context while passes run, it gets no event at their end.
        while not self._here.contexts and (last := self.innermost) and last.run:
            self._close_last(failed=True)

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        self._close_abandoned()
        item = self.begin(run, self.innermost)
        self._here.open.append(Entry(item, run, run.frames[-1], len(run.frames)))

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._close_pass(failed=False)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self._close_pass(failed=True)

    def run_before_analysis(self, op: Operation, analysis: type) -> None:
        run = Run.current()
        self._close_abandoned()
        item = self.begin_analysis(analysis, self.innermost)
        if item is not None:
            entry = Entry(item, run, run.frames[-1], len(run.frames), analysis)
            self._here.open.append(entry)

    def run_after_analysis(self, op: Operation, analysis: type) -> None:
        self._close_analysis(analysis, failed=False)

    def analysis_failed(self, op: Operation, analysis: type, error: BaseException) -> None:
        self._close_analysis(analysis, failed=True)

    def _close_analysis(self, analysis: type, failed: bool) -> None:
        """Close the entry of an analysis, and the entries left open inside it."""
        frame = Run.current().frames[-1]
        while (last := self.innermost) and (last.abandoned or last.frame is frame):
            if last.frame is frame and last.analysis is None:
                return  # the pass itself: this instrument was added after the analysis began
            if last.analysis is analysis and not last.abandoned:
                return self._close_last(failed)
            self._close_last(failed=True)

    def _close_pass(self, failed: bool) -> None:
        """Close the entry of the pass whose hook is called, and the entries left open inside it."""
        frame = Run.current().frames[-1]
        while last := self.innermost:
            if last.frame is frame and last.analysis is None:
                return self._close_last(failed)
            if not (last.abandoned or last.frame is frame):
                return
            self._close_last(failed=True)

    def _close_abandoned(self) -> None:
        """Close the entries of passes that ended without an event."""
        while (last := self.innermost) and last.abandoned:
            self._close_last(failed=True)

    def _close_last(self, failed: bool) -> None:
        item, run, frame, _, analysis = self._here.open.pop()
        if analysis is not None:
            self.end_analysis(item, failed)
        elif run is not None and frame is not None:
            self.end(item, run, frame, failed)


def report_header(title: str) -> list[str]:
    """Return the lines above a report, in the format of MLIR."""
    rule, line = f"==={'-' * 73}===", f"... {title} ..."
    return [rule, " " * ((80 - len(line)) // 2) + line, rule]


def by_anchor(
    items: Sequence[T], anchors_of: Callable[[T], Sequence[str]], level: int
) -> Iterator[tuple[str, list[T]]]:
    """Yield runs of items with the same anchor at a level, empty for those that have none, in the
    order in which they are."""
    for anchor, group in groupby(items, lambda item: "".join(anchors_of(item)[level : level + 1])):
        yield anchor, [*group]


def anchors_of_frame(frame: PassFrame) -> tuple[str, ...]:
    """Return the anchors that a pipeline wrote around a pass, outermost first."""
    return tuple(map(str, getattr(frame.pass_, "anchors", ())))


def anchor_row(anchor: str) -> str:
    """Return the heading of the passes under an anchor, as in mlir-opt's reports."""
    return f"'{anchor}' Pipeline"
