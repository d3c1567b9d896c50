# pyright: reportPrivateUsage=false
"""The building of IR operation by operation from parts that are known: for a reader that has no
text.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from .acceleration import is_accelerated
from .creation import append_op, is_plain, set_operands, set_results

__all__ = [
    "add_arguments",
    "add_block",
    "append",
    "create",
    "file_location",
    "order_uses",
    "set_regions",
]

_IS_OURS = is_accelerated("creating")
_new, _set = object.__new__, object.__setattr__


def file_location(filename: StringAttr, line: IntAttr, column: IntAttr) -> FileLineColLoc:
    """Return the location of these parts, which are not verified."""
    location = _new(FileLineColLoc)
    _set(location, "filename", filename)
    _set(location, "line", line)
    _set(location, "column", column)
    return location


def create(
    op_class: type[Operation],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
    location: LocationAttr,
) -> Operation:
    """Return a detached operation without regions and successors, with copies of the dicts."""
    if not _IS_OURS or not is_plain[op_class]:
        return op_class.create(
            operands=operands,
            result_types=result_types,
            properties=properties.copy(),
            attributes=attributes.copy(),
            location=location,
        )
    op = _new(op_class)
    op.properties = properties.copy()
    op.attributes = attributes.copy()
    op.location = location
    if result_types:
        set_results(op, result_types)
    if operands:
        set_operands(op, operands)
    return op


def _append_by_xdsl(block: Block, op: Operation) -> None:
    block.add_op(op)


append = append_op if _IS_OURS else _append_by_xdsl
"""Append a detached op to a block."""


def set_regions(op: Operation, regions: Sequence[Region]) -> None:
    """Add regions to an op that has none."""
    if not _IS_OURS:
        for region in regions:
            op.add_region(region)
        return
    for region in regions:
        region.parent = op
    op.regions = tuple(regions)


def add_block(region: Region, block: Block) -> None:
    """Append a detached block to a region; xDSL visits all that is around to look for a circle."""
    if not _IS_OURS:
        region.add_block(block)
        return
    block.parent = region
    if (last := region._last_block) is None:
        region._first_block = block
    else:
        last._next_block = block
        block._prev_block = last
    region._last_block = block


def add_arguments(block: Block, types: Sequence[Attribute]) -> None:
    """Add arguments to a block that has none."""
    if not _IS_OURS:
        for index, type in enumerate(types):
            block.insert_arg(type, index)
        return
    block._args = tuple(BlockArgument(type, block, index) for index, type in enumerate(types))


def order_uses(value: SSAValue, places: Sequence[int]) -> None:
    """Move each use of a value to its place in `places`, a permutation.

    Where xDSL does the work, the order stays: it has no interface for that.
    """
    if not _IS_OURS:
        return
    uses = [*value.uses]
    ordered = uses.copy()
    for use, place in zip(uses, places, strict=True):
        ordered[place] = use
    value.first_use = ordered[0]
    for before, use in zip([None, *ordered], ordered, strict=False):
        use._prev_use = before
        use._next_use = None
        if before is not None:
            before._next_use = use
