"""A line on the terminal that says which pass is running."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from ..run import Frame, Run
from .nesting import Entry, NestingInstrument

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

__all__ = ["ProgressInstrument"]


class ProgressInstrument(NestingInstrument[None]):
    """Shows a bar and `fold-constant (3 of 7)` on stderr while passes run, if that is a terminal.

    `total` is the number of passes in a run, those made of passes left out; without it the place in
    the pipeline is shown. The line comes after `delay` seconds and goes with the end of the
    outermost pass. It takes rich, and draws in a thread of its own; about 2 microseconds a pass.
    """

    def __init__(self, total: int | None = None, delay: float = 1.0) -> None:
        super().__init__()
        self.total = total
        self.delay = delay
        self.text = ""
        self._begun = 0
        self._running = 0
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._live: Live | None = None

    def begin(self, run: Run, outer: Entry[None] | None) -> None:
        frame = run.frames[-1]
        with self._lock:
            self._running += 1
            if self._running == 1:
                self._start()
            if not frame.info.composite:
                self._begun += 1
                self.text = f"{frame.info.name}{self._place(frame)}"

    def end(self, item: None, run: Run, frame: Frame, failed: bool) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                self._stop()

    def _place(self, frame: Frame) -> str:
        if self.total is None:
            return frame.place
        return f" ({self._begun} of {max(self._begun, self.total)})"

    def _start(self) -> None:
        self._begun = 0
        self.text = ""
        if sys.stderr.isatty():
            self._timer = threading.Timer(self.delay, self._show)
            self._timer.daemon = True
            self._timer.start()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._live is not None:
            self._live.stop()
        self._timer = self._live = None

    def _show(self) -> None:
        """Show the line, in the thread of the timer."""
        try:
            from rich.console import Console
            from rich.live import Live
        except ImportError:
            print("to show progress, install rich", file=sys.stderr)
            return
        # Nothing stands in for sys.stderr: the main thread may just then do so itself.
        self._live = Live(
            get_renderable=self._line,
            console=Console(stderr=True),
            refresh_per_second=10,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def _line(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        line = Table.grid(padding=(0, 1))
        bar = ProgressBar(self.total, self._begun - 1, width=20, pulse=self.total is None)
        line.add_row(bar, Text(f"{self.text} "))  # what others print comes right after it
        return line
