"""mlir-opt: run MLIR's tool as a pass; unlike xDSL's pass, with errors and exact numbers."""

from __future__ import annotations

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
from .mlir_tool import VARIABLE, find_mlir_opt

__all__ = ["MLIROpt"]


@dataclass(frozen=True)
class MLIROpt(MLIROptPass):
    """Run `mlir-opt` with the given arguments on the module, as text.

    The default executable is the environment variable `XDSL_MLIR_OPT`, or else the one with which
    machine code is made: the environment variable `PASSLINE_MLIR_OPT`, or the newest on the PATH.
    """

    name = "mlir-opt"
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
