"""mlir-opt: run MLIR's tool as a pass; unlike xDSL's pass, with errors and exact numbers."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.mlir_opt import MLIROptPass
from xdsl.utils.exceptions import ParseError, PassFailedException

from ...passmanager.ir.text.parser import parse_module
from ...passmanager.ir.text.printer import ExactPrinter, PrintStyle

VARIABLE = "PASSLINE_MLIR_OPT"
"""The environment variable that names the executable to use."""

_NAMES = ("mlir-opt-22", "mlir-opt-21", "mlir-opt-20", "mlir-opt-19", "mlir-opt")


def find_mlir_opt() -> str | None:
    """Return the path of the mlir-opt that the environment names, or else of the newest one on the
    PATH; None if there is none."""
    named = os.environ.get(VARIABLE)
    found = (shutil.which(name) for name in ([named] if named else _NAMES))
    return next((path for path in found if path is not None), None)


@dataclass(frozen=True)
class MLIROpt(MLIROptPass):
    """Run `mlir-opt` with the given arguments on the module, as text.

    The default executable is the one that the environment variable `XDSL_MLIR_OPT` names, or else
    `PASSLINE_MLIR_OPT`, or else the newest on the PATH.
    """

    name = "mlir-opt"
    changes_interface = True
    rounds = True  # some of its passes replace functions of math by approximations

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        unnamed = self.executable == "mlir-opt"
        executable = find_mlir_opt() if unnamed else shutil.which(self.executable)
        if executable is None:
            raise PassFailedException(
                f"'{self.executable}' is not installed; choose another with the option executable "
                f"or the environment variable XDSL_MLIR_OPT{f' or {VARIABLE}' if unnamed else ''}"
            )
        printer = ExactPrinter(stream := StringIO(), PrintStyle(generic=self.generic))
        printer.print_op(op)
        printer.print_metadata(ctx.loaded_dialects)
        command = [executable, *self.arguments]
        done = subprocess.run(command, input=stream.getvalue(), capture_output=True, text=True)
        if done.returncode != 0:
            raise PassFailedException(f"{executable} failed:\n{done.stderr.strip()}")
        try:
            new = parse_module(ctx, done.stdout, f"<output of {self.executable}>")
        except ParseError as error:
            raise PassFailedException(f"the output of {self.executable}: {error}") from error
        # The module keeps its identity, as passes do that change it in place.
        op.detach_region(0)
        op.add_region(new.detach_region(0))
        op.attributes = new.attributes
