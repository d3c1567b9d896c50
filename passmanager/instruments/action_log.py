"""The instrument that logs each pass on each op that it visits."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..anchors import Anchored
from ..base import FunctionPass
from ..instrument import PassInstrument
from ..ir.location import location_of
from ..ir.text.printer import PLAIN
from ..ir.walk import name_of
from ..registry import PassInfo
from ..run import Run
from .printing import ir_text

_HEADING = replace(PLAIN, skip_regions=True)


class SourcePlace(NamedTuple):
    """A file, or a line or column of it; None stands for all."""

    file: str
    line: int | None = None
    column: int | None = None

    @staticmethod
    def parse(text: str) -> SourcePlace:
        """Return the place that `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN` is."""
        match = re.fullmatch(r"(.+?)(?::(\d+))?(?::(\d+))?", text)
        if match is None:
            raise ValueError(f"expected FILE, FILE:LINE or FILE:LINE:COLUMN, got '{text}'")
        line, column = (None if part is None else int(part) for part in match.groups()[1:])
        return SourcePlace(match[1], line, column)

    def has(self, op: Operation) -> bool:
        """Return whether an op is there."""
        if (loc := location_of(op)) is None or loc.filename.data != self.file:
            return False
        return self.line in (None, loc.line.data) and self.column in (None, loc.column.data)


class ActionLog(PassInstrument):
    """An instrument that writes a line when a pass begins on an op, and when it ends.

    A function pass, and a pass under an anchor, has lines for each op that it visits, another pass
    for the module. `path` is a file, or `-` for stdout. With `places`, as `x.mlir:3`, only the ops
    there are logged. Errors: OSError, when the context is entered, for a file that cannot be
    written; ValueError for a place that is none. Source: MLIR's `--log-actions-to` and
    `--log-mlir-actions-filter`.
    """

    def __init__(self, path: Path | str, places: Iterable[str] = ()) -> None:
        self.path = Path(path)
        self.places = tuple(map(SourcePlace.parse, places))
        # Standard output as it is now: a tool may redirect it while passes run.
        self._stream: TextIO | None = sys.stdout if str(path) == "-" else None
        self._lock = threading.Lock()

    def enter_pass_ctx(self) -> None:
        if self._stream is None:
            self._stream = open(self.path, "w", buffering=1)  # noqa: SIM115  closed at the end

    def finalize_pass_ctx(self) -> None:
        if str(self.path) != "-" and self._stream is not None:
            self._stream.close()
            self._stream = None

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if not info.composite and not _has_visits():
            self._begin(module, info)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        if not info.composite and not _has_visits():
            self._end(module)

    def before_visit(self, op: Operation, info: PassInfo) -> None:
        self._begin(op, info)

    def after_visit(self, op: Operation, info: PassInfo) -> None:
        self._end(op)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        if not info.composite and self._is_logged(
            op := Run.current().frames[-1].function or module
        ):
            self._write(f"failed `pass-execution` on `{name_of(op)}`: {type(error).__name__}")

    def _begin(self, op: Operation, info: PassInfo) -> None:
        if self._is_logged(op):
            heading = ir_text(op, _HEADING).partition("\n")[0]
            heading += "...}" if heading.endswith("{") else ""
            action = f"Action `pass-execution` running `{info.name}`"
            self._write(f"begins {action} on Operation `{name_of(op)}` ({heading})")

    def _end(self, op: Operation) -> None:
        if self._is_logged(op):
            self._write("completed `pass-execution`")

    def _is_logged(self, op: Operation) -> bool:
        return not self.places or any(place.has(op) for place in self.places)

    def _write(self, line: str) -> None:
        with self._lock:
            if self._stream is not None:
                self._stream.write(f"[thread {threading.get_native_id()}] {line}\n")


def _has_visits() -> bool:
    """Return whether the running pass is told of op by op."""
    return isinstance(Run.current().frames[-1].pass_, Anchored | FunctionPass)
