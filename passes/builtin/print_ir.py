"""Print the module in the middle of a pipeline."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext

__all__ = ["PrintIR"]


@dataclass(frozen=True)
class PrintIR(ModulePass):
    """Print the module on stderr under the line `PrintIR(header):` and leave it as it is.

    Source: `tvm.transform.PrintIR`, which logs.
    """

    name = "print-ir"

    header: str = ""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        print(f"PrintIR({self.header}):", file=sys.stderr)
        Printer(stream=sys.stderr).print_op(module)
        print(file=sys.stderr)
