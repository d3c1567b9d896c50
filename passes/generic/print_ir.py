"""PrintIR: print the module in the middle of a pipeline."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.instruments.ir.ir_text import ir_text

__all__ = ["PrintIR"]


@dataclass(frozen=True)
class PrintIR(ModulePass):
    """Print the module on stderr after the line `PrintIR(header):`.

    Source: `tvm.transform.PrintIR`, which logs it.
    """

    name = "print-ir"

    header: str = ""
    """The text in the parentheses, to tell several prints apart."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        print(f"PrintIR({self.header}):", file=sys.stderr)
        print(ir_text(module), file=sys.stderr)
