"""The text of IR as instruments print it, also of invalid IR, and the banners above it."""

from __future__ import annotations

import sys
from dataclasses import replace
from io import StringIO
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...ir.checks.verifier import verify
from ...ir.text.printer import PLAIN, ExactPrinter, PrintStyle
from ...registration.info import PassInfo
from ...run import Run

__all__ = ["banner", "ir_text", "is_valid", "print_ir", "print_text", "title_of", "top_level"]


def ir_text(op: Operation, style: PrintStyle = PLAIN, *, trusted: bool = True) -> str:
    """Return the text of `op` with the resources that it refers to.

    Unless `trusted`, `op` is verified, and printed in generic form if it is invalid. An op that
    cannot be printed in either form becomes a comment that gives the error.
    """
    why = ""
    custom = not style.generic and (trusted or is_valid(op))
    for generic in (False, True) if custom else (True,):
        try:
            printer = ExactPrinter(stream := StringIO(), replace(style, generic=generic))
            printer.print_op(op)
            printer.print_metadata(run.ir_context.loaded_dialects if (run := Run.active()) else ())
            return stream.getvalue()
        except Exception as error:
            why = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"// '{op.name}' cannot be printed: {why}"


def is_valid(op: Operation) -> bool:
    """Return whether `op` verifies."""
    try:
        verify(op)
    except Exception:  # A verifier may fail in any way on IR that it does not expect.
        return False
    return True


def banner(title: str) -> str:
    """Return the line above printed IR, in the format that Compiler Explorer reads."""
    return f"// -----// {title} //----- //"


def title_of(info: PassInfo) -> str:
    """Return a pass as banners name it: its name, and its pipeline text if it has options."""
    return info.name if info.text == info.name else f"{info.name}: {info.text}"


def print_ir(
    title: str,
    op: Operation,
    stream: TextIO | None = None,
    style: PrintStyle = PLAIN,
    *,
    trusted: bool = True,
) -> None:
    """Print `op` on stderr, or `stream`, under the banner `IR Dump title`; see `ir_text`."""
    print_text(title, ir_text(op, style, trusted=trusted), stream)


def print_text(title: str, text: str, stream: TextIO | None = None) -> None:
    """Print `text` on stderr, or `stream`, under the banner `IR Dump title`."""
    # In one call, so that the output of other threads does not come between.
    (stream or sys.stderr).write(f"{banner(f'IR Dump {title}')}\n{text}\n\n")


def top_level(module: ModuleOp) -> list[Operation]:
    """Return the ops directly in `module`, which may be invalid."""
    return [op for region in module.regions for block in region.blocks for op in block.ops]
