# pyright: reportPrivateUsage=false
"""The building of IR operation by operation from parts that are known: for a reader that has no
text.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
    SSAValues,
    Use,
)

from .acceleration import is_accelerated
from .creation import is_plain

__all__ = [
    "add_arguments",
    "add_block",
    "create",
    "order_uses",
    "set_regions",
]

_IS_OURS = is_accelerated("creating")
_new = object.__new__


def create(
    block: Block,
    op_class: type[Operation],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
    location: LocationAttr,
) -> Operation:
    """Return a new operation at the end of a block, without regions and successors, with copies of
    the dicts."""
    if not _IS_OURS or not is_plain[op_class]:
        op = op_class.create(
            operands=operands,
            result_types=result_types,
            properties=properties.copy(),
            attributes=attributes.copy(),
            location=location,
        )
        block.add_op(op)
        return op
    # All in one function: each call would take a tenth of the time.
    op = _new(op_class)
    op.properties = properties.copy()
    op.attributes = attributes.copy()
    op.location = location
    if result_types:
        results: list[OpResult] = []
        for index, type in enumerate(result_types):
            result = _new(OpResult)
            result._type = type
            result.op = op
            result.index = index
            results.append(result)
        op.results = SSAValues(results)
    if operands:
        uses: list[Use] = []
        for index, operand in enumerate(operands):
            use = _new(Use)
            use._operation = op
            use._index = index
            if (first := operand.first_use) is not None:
                use._next_use = first
                first._prev_use = use
            operand.first_use = use
            uses.append(use)
        op._operands = SSAValues(operands)
        op._operand_uses = tuple(uses)
    op.parent = block
    if (last := block._last_op) is None:
        block._first_op = op
    else:
        last._next_op = op
        op._prev_op = last
    block._last_op = op
    return op


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
