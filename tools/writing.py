"""The text of the result in the target `mlir`, and the error of the other targets."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import parse_spec

from ..passmanager.diagnostics.diagnostics import Severity, print_message
from ..passmanager.errors import PasslineError
from ..passmanager.ir.location import place_of
from ..passmanager.ir.text.printer import module_text
from ..passmanager.ir.text.resources import ELIDED
from ..passmanager.releases.targets import MLIRTarget
from .observation import TERMINAL_ELEMENTS, print_style, terminal_style

__all__ = ["mlir_text", "unprintable"]


def mlir_text(module: ModuleOp, ctx: Context, args: argparse.Namespace, program: str) -> str:
    """Return the text of a result; constants that a terminal elides are noted by `program`."""
    target = MLIRTarget.from_spec(parse_spec(args.target))
    given = print_style(args)
    style = replace(
        terminal_style(given, sys.stdout) if args.output_file in (None, "-") else given,
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


def unprintable(target: str, module: ModuleOp, error: Exception) -> PasslineError:
    """Return the error for a module that a target of xDSL's has no text for.

    The targets assert that they know each operation; the text of the assertion starts with it.
    """
    said = str(error).split("\n")[0]
    ops = (
        op for op in module.walk() if said.startswith(f"{type(op).__name__}(") or op.name in said
    )
    what, reason = "the module", said
    if (op := next(ops, None)) is not None:
        what = f"'{op.name}'{place_of(op)}"
        reason = "" if said.endswith("(") else said
    because = f": {reason}" if reason else "; lower it to the operations of the target first"
    return PasslineError(f"target '{target}' cannot print {what}{because}")
