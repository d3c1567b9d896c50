# pyright: reportPrivateUsage=false
"""Names of blocks, which xDSL gives in the order of a region since 0.70."""

from __future__ import annotations

from xdsl.ir import Region
from xdsl.printer import Printer

__all__ = ["NAMES_REGIONS", "name_blocks"]

NAMES_REGIONS = hasattr(Printer, "_populate_block_name")
"""Whether xDSL names the blocks of a region before it prints them: before 0.70 it names each where
it is printed first, as a successor too, with numbers that regions in it share."""


def name_blocks(printer: Printer, region: Region) -> None:
    """Name the blocks of a region that is about to be printed."""
    names, block, index = printer._blocks, region.first_block, 0
    while block is not None:
        if block not in names:
            if hint := block.name_hint:
                count = printer.block_names.get(hint, 0)
                printer.block_names[hint] = count + 1
                names[block] = f"{hint}_{count}" if count else hint
            else:
                names[block] = f"bb{index}"
        block, index = block.next_block, index + 1
