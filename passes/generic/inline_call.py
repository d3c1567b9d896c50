"""Replacement of a call by the body of what it calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, UnknownLoc
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, ReturnLike

from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.calls import CALLABLES, CALLS, CallOpInterface
from ...passmanager.ir.external_models import Implementations
from ...passmanager.ir.walk import name_of, walk

RETURNS: Final = Implementations(ReturnLike, {"llvm.return": ReturnLike()})
"""The terminators that pass their operands to the caller: those with xDSL's `ReturnLike`."""


def mismatch(call: Operation, region: Region) -> str:
    """Return why `call` cannot be replaced by the body in `region`, or an empty text."""
    interface = CALLS[type(call)]
    assert interface is not None
    returns = [*_ends(region)]
    if not any(RETURNS[type(end)] is not None for end in returns):
        name = name_of(returns[0]) if returns else "its terminator"
        return f"'{name}' does not implement {ReturnLike.__name__}"
    types = [value.type for value in interface.get_arguments(call)]
    results = [result.type for result in call.results]
    if types != [arg.type for arg in region.blocks[0].args] or any(
        results != [value.type for value in end.operands]
        for end in returns
        if RETURNS[type(end)] is not None
    ):
        return "the call has other types than the function"
    if len(region.blocks) > 1 and not _takes_blocks(call):
        return "the function has several blocks, which cannot stand where the call is"
    return ""


def _ends(region: Region) -> Iterator[Operation]:
    """Yield the terminators by which control leaves `region`."""
    for block in region.blocks:
        end = block.last_op
        if end is not None and not end.successors:
            if end.has_trait(IsTerminator, value_if_unregistered=False):
                yield end


def _takes_blocks(call: Operation) -> bool:
    """Return whether the region around `call` may have several blocks."""
    region, around = call.parent_region(), call.parent_op()
    if region is None or around is None:
        return False
    several = region.first_block is not region.last_block
    return several or CALLABLES[type(around)] is not None or around.name == "scf.execute_region"


def replace_by_body(call: Operation, region: Region) -> None:
    """Replace `call` by the operations of `region`, which are moved out of it.

    The block of `call` is split if the body has several blocks. An operation has the location
    `callsite(its own at that of the call)`.
    """
    interface = CALLS[type(call)]
    assert interface is not None
    blocks = [*region.blocks]
    for block in blocks:
        for op in block.ops:
            for inner in walk(op):
                inner.location = called_from(inner.location, call.location)
        for argument in block.args:
            argument.location = called_from(argument.location, call.location)
    # Uses are moved before operations, so that nothing of the body refers to the parameters.
    for parameter, value in zip(blocks[0].args, interface.get_arguments(call), strict=True):
        parameter.replace_all_uses_with(value)
    if len(blocks) == 1:
        _replace_by_block(call, blocks[0])
    else:
        _replace_by_blocks(call, blocks, interface)


def _replace_by_block(call: Operation, body: Block) -> None:
    end = body.last_op
    assert end is not None
    results: Sequence[SSAValue] = tuple(end.operands)
    insert_before(call, *_detached(body, end))
    for old, new in zip(call.results, results, strict=True):
        old.replace_all_uses_with(new)
    erase(end)
    erase(call)


def _replace_by_blocks(call: Operation, blocks: list[Block], interface: CallOpInterface) -> None:
    before = call.parent
    assert before is not None and before.parent is not None
    after = before.split_before(call, arg_types=[result.type for result in call.results])
    for old, new in zip(call.results, after.args, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    for block in blocks:
        end = block.last_op
        if end is not None and RETURNS[type(end)] is not None:
            branch = interface.get_branch(after, tuple(end.operands))
            branch.location = end.location
            insert_before(end, branch)
            erase(end)
    entry, *others = blocks
    for block in others:
        assert block.parent is not None
        before.parent.insert_block_before(block.parent.detach_block(block), after)
    before.add_ops(_detached(entry))
    erase(call)


def _detached(block: Block, end: Operation | None = None) -> list[Operation]:
    """Detach the operations of `block`, but for `end`, and return them."""
    ops = [op for op in block.ops if op is not end]
    for op in ops:
        op.detach()
    return ops


def called_from(callee: LocationAttr, caller: LocationAttr) -> LocationAttr:
    """Return the location of an operation at `callee` that is inlined into a call at `caller`."""
    if isinstance(callee, UnknownLoc):
        return caller
    return callee if isinstance(caller, UnknownLoc) else CallSiteLoc(callee, caller)
