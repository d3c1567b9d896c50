"""The instrument that shows the running pass on the terminal."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from ..output.status import THREAD
from ..run import PassFrame, Run
from .nesting import Entry, NestingInstrument

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table


class ProgressInstrument(NestingInstrument[None]):
    """An instrument that shows a bar and `fold-constant (3 of 7)` on stderr while passes run, if
    that is a terminal.

    `total` is the number of leaf passes in a run; without it the position in the pipeline is shown.
    The line appears after `delay` seconds and disappears at the end of the outermost pass. It needs
    rich, which draws in a thread of its own, and takes about 2 microseconds a pass.
    """

    observes_ir = False

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

    def end(self, item: None, run: Run, frame: PassFrame, failed: bool) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                self._stop()

    def _place(self, frame: PassFrame) -> str:
        if self.total is None:
            return frame.place
        return f" ({self._begun} of {max(self._begun, self.total)})"

    def _start(self) -> None:
        self._begun = 0
        self.text = ""
        if sys.stderr.isatty():
            self._timer = threading.Timer(self.delay, self._show)
            self._timer.daemon = True
            self._timer.name = THREAD
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
        # sys.stderr is not redirected: the main thread may redirect it at the same time.
        self._live = Live(
            get_renderable=self._line,
            console=Console(stderr=True),
            refresh_per_second=10,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        before = threading.enumerate()
        self._live.start()
        for thread in threading.enumerate():
            if thread not in before:  # it draws, and a forked process does not
                thread.name = THREAD

    def _line(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        line = Table.grid(padding=(0, 1))
        # A single pass would stand at 0 % to its end.
        pulse = self.total is None or self.total < 2
        bar = ProgressBar(self.total, self._begun - 1, width=20, pulse=pulse)
        line.add_row(bar, Text(f"{self.text} "))  # other output continues on this line
        return line
