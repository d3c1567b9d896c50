"""The removal of operations whose results are used: the values that take their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator

from ...passmanager.ir.edit import erase

__all__ = ["erase_and_replace", "is_source", "is_terminator", "stand_in", "without"]

T = TypeVar("T")


def stand_in(value: SSAValue, near: Iterable[SSAValue], block: Block) -> SSAValue:
    """A value of the same type for the users in `block` of one that goes: one of `near`, an
    argument of the function, else a source, which is a conversion of nothing that no pass knows.
    """
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
    """The block in which the function, or whatever is isolated, that `block` is in begins."""
    while (holder := block.parent_op()) is not None and holder.parent is not None:
        if holder.has_trait(IsolatedFromAbove, value_if_unregistered=True):
            break
        block = holder.parent
    region = block.parent
    return block if region is None or region.first_block is None else region.first_block


def is_source(op: Operation) -> bool:
    return isinstance(op, UnrealizedConversionCastOp) and not op.operands and len(op.results) == 1


def is_terminator(op: Operation) -> bool:
    return op.has_trait(IsTerminator, value_if_unregistered=False) or bool(op.successors)


def erase_and_replace(op: Operation, values: Sequence[SSAValue | None] = ()) -> None:
    """Take an op out; users get the value of `values` if it fits, else a stand-in."""
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
    return [*items[:number], *items[number + 1 :]]
