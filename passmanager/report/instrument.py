"""The instrument that writes the report of a run as a page of HTML."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from ..instruments.ir.record import RecordInstrument
from ..output.files import check_writable, replace_file

__all__ = ["ReportInstrument"]


class ReportInstrument(RecordInstrument):
    """An instrument that writes a record of the run as one HTML file, each time its context is
    left; the record is written to `record` too, if given.

    The file is replaced as a whole. Errors: OSError, when the context is entered, or when it is
    left, for a file that cannot be written. `write` can then write another.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        record: str | os.PathLike[str] | None = None,
        *,
        title: str = "",
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        super().__init__(record, title=title, keep=True, clock=clock)
        self._page = Path(path)
        self.written: Path | None = None
        """The file that the report was last written to."""

    def enter_pass_ctx(self) -> None:
        check_writable(self._page)
        super().enter_pass_ctx()

    def finalize_pass_ctx(self) -> None:
        try:
            super().finalize_pass_ctx()
        finally:  # write the report even if the file of the record could not be written
            if self._here.contexts == 0:
                self.write(self._page)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the report of the passes that have run so far to the file `path`."""
        from .page import render_page
        from .recording import read_recording

        replace_file(Path(path), [render_page(read_recording(self.lines))])
        self.written = Path(path)
