"""The instrument that logs passes and analyses."""

from __future__ import annotations

import sys

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..instrument import PassInstrument
from ..ir.walk import name_of, symbol_of
from ..registry import PassInfo
from ..run import Run


class PassLog(PassInstrument):
    """An instrument that prints a line on stderr when a pass starts, is skipped or fails, and when
    an analysis is computed, fails or is invalidated, indented by the depth of the pipeline.

    Source: LLVM's `-debug-pass-manager`; adds the options of passes and the reasons of skipped
    ones.
    """

    observes_ir = False

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        name = info.name if info.composite else info.text
        _write(len(Run.current().frames) - 1, f"Running pass: {name} on {module.name}")

    def pass_skipped(self, module: ModuleOp, info: PassInfo, reason: str) -> None:
        depth = len(Run.current().frames)
        _write(depth, f"Skipping pass: {info.name} on {module.name} ({reason})")

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        depth = len(Run.current().frames) - 1
        _write(depth, f"Failed pass: {info.name} on {module.name} ({type(error).__name__})")

    def run_before_analysis(self, op: Operation, analysis: type) -> None:
        _write(len(Run.current().frames), f"Running analysis: {analysis.__name__} on {_unit(op)}")

    def analysis_failed(self, op: Operation, analysis: type, error: BaseException) -> None:
        subject = f"{analysis.__name__} on {_unit(op)} ({type(error).__name__})"
        _write(len(Run.current().frames), f"Failed analysis: {subject}")

    def analysis_invalidated(self, op: Operation, analysis: type) -> None:
        subject = f"{analysis.__name__} on {_unit(op)}"
        _write(len(Run.current().frames), f"Invalidating analysis: {subject}")


def _unit(op: Operation) -> str:
    """Return the name of the op of an analysis: `func.func @f`."""
    name = symbol_of(op)
    return f"{name_of(op)} @{name}" if name else name_of(op)


def _write(depth: int, line: str) -> None:
    sys.stderr.write(f"{'  ' * depth}{line}\n")  # in one call, as other threads may print too
