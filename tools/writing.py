"""The text of the result in the target `mlir`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_spec

from ..passmanager.diagnostics.diagnostics import Severity, print_message
from ..passmanager.ir.text.printer import PrintStyle, module_text
from ..passmanager.ir.text.resources import ELIDED
from ..passmanager.releases.targets import MLIRTarget
from .observation import TERMINAL_ELEMENTS, print_style, terminal_style

__all__ = ["mlir_text"]


def mlir_text(module: ModuleOp, ctx: Context, args: argparse.Namespace, program: str) -> str:
    """Return the text of a result, which keeps every bit of the constants unless the options, or a
    terminal, elide large ones; the latter is said in the name of `program`."""
    target = MLIRTarget.from_spec(parse_spec(args.target))
    given = print_style(args)
    style = replace(
        _where_it_goes(given, args.output_file),
        generic=target.print_generic_format or args.print_op_generic,
        properties_as_attributes=target.print_properties_as_attributes or args.print_no_properties,
        debuginfo=target.print_debuginfo or args.print_debuginfo,
    )
    text = module_text(module, ctx, style)
    elided = style.elide_elements == TERMINAL_ELEMENTS and f"<{ELIDED}>" in text
    if elided and given.elide_elements is None and not args.quiet:
        said = (
            f"constants of more than {TERMINAL_ELEMENTS} elements are elided on a terminal; "
            "a file of -o, a pipe, and --large-elements-as-resources have them all"
        )
        print_message(Severity.NOTE, said, program)
    return text


def _where_it_goes(style: PrintStyle, output_file: str | None) -> PrintStyle:
    """Return the style for the output file, or for stdout."""
    return style if output_file not in (None, "-") else terminal_style(style, sys.stdout)
