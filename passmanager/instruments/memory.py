"""The instrument that measures the memory that passes allocate."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..run import PassFrame, Run
from .nesting import Entry, NestingInstrument, report_header


@dataclass(eq=False, slots=True)
class MemoryUse:
    """The memory use of one run of a pass, in bytes that Python has allocated since tracing
    began.
    """

    name: str
    before: int
    peak: int
    """The maximum while the pass ran."""
    after: int = 0
    failed: bool = False
    children: list[MemoryUse] = field(default_factory=list["MemoryUse"])

    @property
    def growth(self) -> int:
        """The difference between the end and the start of the pass."""
        return self.after - self.before


class _Tracing:
    """The tracemalloc of the process, shared by all instruments: reading the peak resets it for
    all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._started = False
        self._open: list[MemoryUse] = []

    def acquire(self) -> None:
        """Start tracing, unless it is on already."""
        with self._lock:
            self._users += 1
            if not tracemalloc.is_tracing():
                tracemalloc.start()
                self._started = True

    def release(self) -> None:
        """Stop tracing if this was its last user, and tracing was off before the first."""
        with self._lock:
            self._users -= 1
            if not self._users and self._started:
                tracemalloc.stop()
                self._started = False

    def begin(self, name: str) -> MemoryUse:
        """Start to measure a pass."""
        with self._lock:
            now = self._measure()
            self._open.append(use := MemoryUse(name, now, now))
            return use

    def end(self, use: MemoryUse) -> None:
        """Finish the measurement of a pass."""
        with self._lock:
            use.after = self._measure()
            self._open.remove(use)

    def _measure(self) -> int:
        """Return the allocated bytes, and update the peak of all passes that are being measured."""
        # There is one peak, since its last reset: before each reset all open passes account for it.
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for use in self._open:
            use.peak = max(use.peak, peak)
        return now


_tracing = _Tracing()


class MemoryInstrument(NestingInstrument[MemoryUse]):
    """An instrument that measures with tracemalloc the peak and the growth of the memory that
    Python allocates.

    Tracing is on while the context is entered, and makes passes about 4 times slower; a measurement
    takes about 20 microseconds a pass. Allocations of other threads count as well.
    """

    def __init__(self) -> None:
        super().__init__()
        self.passes: list[MemoryUse] = []

    def enter_pass_ctx(self) -> None:
        super().enter_pass_ctx()
        _tracing.acquire()

    def finalize_pass_ctx(self) -> None:
        super().finalize_pass_ctx()
        _tracing.release()

    def begin(self, run: Run, outer: Entry[MemoryUse] | None) -> MemoryUse:
        use = _tracing.begin(run.frames[-1].info.name)
        (outer.item.children if outer else self.passes).append(use)
        return use

    def end(self, item: MemoryUse, run: Run, frame: PassFrame, failed: bool) -> None:
        _tracing.end(item)
        item.failed = failed

    def report(self) -> str:
        """Return a line for each pass, nested ones below their pipeline: peak, growth and name."""
        if not self.passes:
            return ""
        peak = _size(max(use.peak for use in self.passes))
        title = [*report_header("Memory report"), f"  Peak Memory: {peak}", ""]
        columns = "  ----Peak----  ---Growth---  ----Name----"
        return "\n".join([*title, columns, *_rows(self.passes, 0)]) + "\n"


def _rows(uses: list[MemoryUse], depth: int) -> Iterator[str]:
    for use in uses:
        name = f"{'  ' * depth}{use.name}{' (failed)' if use.failed else ''}"
        yield f"  {_size(use.peak):>12}  {_size(use.growth):>12}  {name}"
        yield from _rows(use.children, depth + 1)


def _size(size: int) -> str:
    if abs(size) < 1 << 20:
        return f"{size / (1 << 10):.1f} KiB"
    return f"{size / (1 << 20):.1f} MiB"
