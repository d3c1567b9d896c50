"""The body of a function or loop: its terminator and its syntax."""

from __future__ import annotations

from xdsl.ir import Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure

__all__ = ["YieldOp", "print_body"]


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of the body of a function or loop; its text omits it."""

    name = "tir.yield"

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict"


def print_body(printer: Printer, body: Region) -> None:
    """Print the body of a function or loop, whose arguments are printed before it."""
    block = body.blocks[0]
    end = block.last_op
    # `{}` without block arguments is parsed as a region without blocks.
    prints_end = end is None or bool(end.attributes) or (not block.args and block.first_op is end)
    printer.print_region(
        body,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=prints_end,
    )
