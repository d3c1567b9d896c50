"""Edits that make a module smaller, and the values that replace results of erased ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator

from ...passmanager.fast.edit import erase

__all__ = ["Edit", "erase_and_replace", "is_source", "is_terminator", "stand_in", "without"]

Edit: TypeAlias = Callable[[], None]
"""Removes one thing from a module; does nothing if an earlier edit removed it already."""


T = TypeVar("T")


def stand_in(value: SSAValue, near: Iterable[SSAValue], block: Block) -> SSAValue:
    """Return a value of the type of `value` for its users in `block`: one of `near`, an argument of
    the function, or else a source: an `unrealized_conversion_cast` without operands, which no pass
    folds."""
    entry = _entry(block)
    for other in (*near, *entry.args):
        if other is not value and other.type == value.type:
            return other
    for op in entry.ops:
        if not is_source(op):
            break
        if op.results[0].type == value.type and op.results[0] is not value:
            return op.results[0]
    source = UnrealizedConversionCastOp.create(result_types=[value.type])
    if isinstance(value.owner, Operation):
        source.location = value.owner.location
    if (first := entry.first_op) is None:
        entry.add_op(source)
    else:
        entry.insert_op_before(source, first)
    return source.results[0]


def _entry(block: Block) -> Block:
    """Return the entry block of the innermost op isolated from above that holds `block`."""
    while (holder := block.parent_op()) is not None and holder.parent is not None:
        if holder.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            break
        block = holder.parent
    region = block.parent
    return block if region is None or region.first_block is None else region.first_block


def is_source(op: Operation) -> bool:
    """Return whether an op is a source: a conversion without operands."""
    return isinstance(op, UnrealizedConversionCastOp) and not op.operands and len(op.results) == 1


def is_terminator(op: Operation) -> bool:
    """Return whether an op ends its block."""
    return op.has_trait(IsTerminator, value_if_unregistered=False) or bool(op.successors)


def erase_and_replace(op: Operation, values: Sequence[SSAValue | None] = ()) -> None:
    """Erase an op; its users get the value of `values` if the type fits, else a stand-in."""
    assert op.parent is not None
    near = [operand for operand in op.operands if operand not in op.results]
    for number, result in enumerate(op.results):
        if result.first_use is not None:
            value = values[number] if number < len(values) else None
            fits = value is not None and value.type == result.type and value not in op.results
            new = value if fits else None
            result.replace_all_uses_with(new or stand_in(result, near, op.parent))
    erase(op)


def without(items: Sequence[T], number: int) -> list[T]:
    """Return the items without the one at index `number`."""
    return [*items[:number], *items[number + 1 :]]
