"""Instruments that print the module before or after passes."""

from __future__ import annotations

import sys

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from ..info import PassInfo
from ..instrument import PassInstrument

__all__ = ["PrintAfterAll", "PrintBeforeAll", "print_ir"]


def print_ir(title: str, module: ModuleOp) -> None:
    """Print the module on stderr under a banner as mlir-opt's, which Compiler Explorer knows."""
    print(f"// -----// IR Dump {title} //----- //", file=sys.stderr)
    Printer(stream=sys.stderr).print_op(module)
    print("\n", file=sys.stderr)


class PrintBeforeAll(PassInstrument):
    """Prints the module before each pass. Source: `tvm.ir.instrument.PrintBeforeAll`."""

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        print_ir(f"Before {info.name}", module)


class PrintAfterAll(PassInstrument):
    """Prints the module after each pass. Source: `tvm.ir.instrument.PrintAfterAll`."""

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        print_ir(f"After {info.name}", module)
