"""A log of what runs, what is left out and what fails."""

from __future__ import annotations

import sys

from xdsl.dialects.builtin import ModuleOp

from ..info import PassInfo
from ..instrument import PassInstrument
from ..run import Run

__all__ = ["PassLog"]


class PassLog(PassInstrument):
    """Writes a line on stderr when a pass starts, is skipped, or fails, indented by its depth.

    Source: LLVM's `-debug-pass-manager`, with the options of passes and why one is skipped.
    """

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        name = info.name if info.composite else info.text
        _write(len(Run.current().frames) - 1, f"Running pass: {name} on {module.name}")

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        depth = len(Run.current().frames)
        _write(depth, f"Skipping pass: {info.name} on {module.name} ({reason})")

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        depth = len(Run.current().frames) - 1
        _write(depth, f"Failed pass: {info.name} on {module.name} ({type(error).__name__})")


def _write(depth: int, line: str) -> None:
    sys.stderr.write(f"{'  ' * depth}{line}\n")  # in one piece: threads may write too
