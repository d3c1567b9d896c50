# pyright: reportPrivateUsage=false
"""Names of blocks, which xDSL gives in the order of a region since 0.70."""

from __future__ import annotations

from xdsl.ir import Region
from xdsl.printer import Printer

__all__ = ["name_blocks"]

_ARE_NAMED = hasattr(Printer, "_populate_block_name")


def name_blocks(printer: Printer, region: Region) -> None:
    """Name the blocks of a region that is about to be printed; xDSL before 0.70 would name each
    where it is printed first, as a successor too, with numbers that regions in it share.
    """
    if _ARE_NAMED:
        return
    names = printer._blocks
    for index, block in enumerate(region.blocks):
        if block in names:
            continue
        if hint := block.name_hint:
            count = printer.block_names.get(hint, 0)
            printer.block_names[hint] = count + 1
            names[block] = f"{hint}_{count}" if count else hint
        else:
            names[block] = f"bb{index}"
