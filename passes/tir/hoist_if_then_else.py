"""HoistIfThenElse: a branch that is the same in all iterations is taken outside of the loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.interfaces import ConditionallySpeculatableInterface
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import (
    ConstantLike,
    MemoryEffectKind,
    RecursiveMemoryEffect,
    get_effects,
    is_side_effect_free,
    is_speculatable,
)
from xdsl.utils.hints import isa

from ...dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ...passmanager.remarks import Remarks
from .base import PrimFuncPass

__all__ = ["HoistIfThenElse", "hoist_ifs"]

UNSEEN = {MemoryEffectKind.READ, MemoryEffectKind.ALLOC}
"""Effects of statements that may stand beside the branch: nobody notices how often they are run."""

VIEWS = (
    memref.CastOp,
    memref.CollapseShapeOp,
    memref.ExpandShapeOp,
    memref.ReinterpretCastOp,
    memref.SubviewOp,
    memref.ViewOp,
)


def hoist_ifs(
    func: PrimFuncOp, through_threads: bool = False, remarks: Remarks | None = None
) -> int:
    """Move each `scf.if` out of all loops whose iterations agree on its condition, and in which
    nothing else has an effect; returns how many loops were passed.

    A loop is there in each branch afterwards, with its kind and annotations. What the condition is
    computed of moves too. One that could fail is moved only out of a loop that is known to run, and
    one that reads a buffer if the loop does not write it. Not out of thread-bound loops unless
    `through_threads`.
    """
    hoisting = _Hoisting(func, through_threads, remarks or None)
    loops = [op for op in walk(func) if isinstance(op, ForOp)]
    while loops:
        # Loops from the inside out: what leaves an inner one is in the next.
        loops += hoisting.visit(loops.pop())
    return hoisting.hoisted


class _Hoisting:
    """The state of one run."""

    def __init__(self, func: PrimFuncOp, through_threads: bool, remarks: Remarks | None) -> None:
        self.func = func
        self.through_threads = through_threads
        self.remarks = remarks
        self.hoisted = 0
        self.unseen: dict[Operation, bool] = {}

    def visit(self, loop: ForOp) -> Sequence[ForOp]:
        """Take the branch out of a loop; returns the loops that are in it now."""
        if loop.for_kind is ForKind.THREAD_BINDING and not self.through_threads:
            return ()
        branch = self.only_effect(loop)
        if not isinstance(branch, scf.IfOp) or branch.results:
            return ()
        needed = _needed(branch.cond, loop)
        if reason := self.reason_to_stay(branch, needed, loop):
            if self.remarks is not None:
                self.remarks.missed(branch, "NotHoisted", reason)
            return ()
        if self.remarks is not None:
            self.remarks.passed(branch, "Hoisted", "taken outside of the loop")
        self.hoisted += 1
        return _exchange(loop, branch, needed)

    def only_effect(self, loop: ForOp) -> Operation | None:
        """The one statement of the body that has an effect; None if there are others or none."""
        found = None
        for op in loop.body.block.ops:
            if not self.is_unseen(op):
                if found is not None:
                    return None
                found = op
        return found

    def is_unseen(self, op: Operation) -> bool:
        """Whether `op` has no effect but on what it computes."""
        if not op.regions:
            return _has_unseen_effects(op)
        if op not in self.unseen:
            self.unseen[op] = op.has_trait(
                RecursiveMemoryEffect, value_if_unregistered=False
            ) and all(map(self.is_unseen, _ops_in(op)))
        return self.unseen[op]

    def reason_to_stay(self, branch: scf.IfOp, needed: Sequence[Operation], loop: ForOp) -> str:
        """Why the ops that the condition needs cannot be moved out of a loop; empty if they can."""
        values = [branch.cond, *(value for op in needed for value in op.operands)]
        if loop.variable in values:
            return "the condition depends on the loop's variable"
        for op in needed:
            if isinstance(op, memref.LoadOp):
                if self.may_write(loop, op.memref):
                    return "the condition reads what the loop may write"
            elif op.regions or not is_side_effect_free(op):
                return f"the condition is computed by '{op.name}'"
            if not _is_run(loop) and not _cannot_fail(op):
                return f"the loop may have no iteration, and '{op.name}' may fail then"
        return ""

    def may_write(self, loop: ForOp, buffer: SSAValue) -> bool:
        """Whether `loop` may write the memory of a buffer."""
        origin = self.origin(buffer)
        for op in walk(loop):
            if op.regions and op.has_trait(RecursiveMemoryEffect, value_if_unregistered=False):
                continue
            if not _has_unseen_effects(op):
                places = {self.origin(v) for v in op.operands if isinstance(v.type, MemRefType)}
                if not places or not places.isdisjoint((origin, None)) or origin is None:
                    return True
        return False

    def origin(self, buffer: SSAValue) -> SSAValue | None:
        """The parameter or allocation that a buffer is a part of; None if that is not known."""
        while isinstance(buffer.owner, VIEWS):
            buffer = buffer.owner.operands[0]
        if isinstance(buffer.owner, memref.AllocOp | memref.AllocaOp):
            return buffer
        is_parameter = isinstance(buffer, BlockArgument) and buffer.owner.parent_op() is self.func
        return buffer if is_parameter and "tir.alias" not in self.func.attributes else None


def _has_unseen_effects(op: Operation) -> bool:
    effects = get_effects(op)
    return effects is not None and all(effect.kind in UNSEEN for effect in effects)


def _needed(condition: SSAValue, loop: ForOp) -> list[Operation]:
    """What computes a value in the body of a loop, in order."""
    block = loop.body.block
    found: set[Operation] = set()
    pending = [condition]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in found:
            found.add(owner)
            pending += owner.operands
    return [op for op in block.ops if op in found] if found else []


def _is_run(loop: ForOp) -> bool:
    """Whether a loop is known to have an iteration."""
    extent = ConstantLike.get_constant_value(loop.extent)
    return isa(extent, IntegerAttr[IndexType]) and extent.value.data > 0


def _cannot_fail(op: Operation) -> bool:
    if isinstance(op, ConditionallySpeculatableInterface):
        return op.is_speculatable()
    return is_speculatable(op) or isinstance(op, memref.DimOp)


def _ops_in(op: Operation) -> Iterable[Operation]:
    return (inner for region in op.regions for block in region.blocks for inner in block.ops)


def _exchange(loop: ForOp, branch: scf.IfOp, needed: Sequence[Operation]) -> list[ForOp]:
    """Put a loop into the branches of an `scf.if` in its body; returns the loops."""
    parent, place = loop.parent, loop.next_op
    assert parent is not None and place is not None  # a block does not end with a loop
    for op in needed:
        op.detach()
    parent.insert_ops_before(needed, loop)
    loop.detach()
    condition, attributes = branch.cond, branch.attributes
    then, otherwise = (_detach_block(region) for region in branch.regions)
    places = [(loop, branch)]
    if then is not None and otherwise is not None:
        values: dict[SSAValue, SSAValue] = {}
        copy = loop.clone(values)
        for op in otherwise.walk():
            op.operands = [values.get(operand, operand) for operand in op.operands]
        pairs = zip(loop.body.block.ops, copy.body.block.ops, strict=True)
        places += [(copy, new) for old, new in pairs if old is branch and isinstance(new, scf.IfOp)]
    cases = [case for case in (then, otherwise) if case is not None]
    for (_, inner), case in zip(places, cases, strict=True):
        _replace_by_body(inner, case)
    loops = [inner for inner, _ in places]
    blocks = [Block() if then is None else Block(loops[:1])]
    if otherwise is not None:
        blocks.append(Block(loops[-1:]))
    for block in blocks:
        block.add_op(scf.YieldOp())
    outer = scf.IfOp(condition, (), *([block] for block in blocks), attr_dict=attributes)
    outer.location = branch.location
    parent.insert_op_before(outer, place)
    return loops


def _detach_block(region: Region) -> Block | None:
    """Take the block out of a region; None if there is none, or nothing in it."""
    if not region.blocks or (block := region.blocks[0]).first_op is block.last_op:
        return None
    return region.detach_block(block)


def _replace_by_body(branch: scf.IfOp, body: Block) -> None:
    """Put the ops of a block, which is used up, where the `scf.if` is; what only the other branch
    needs goes.
    """
    parent, end = branch.parent, body.last_op
    assert parent is not None and end is not None
    body.erase_op(end)
    ops = list(body.ops)
    for op in ops:
        op.detach()
    parent.insert_ops_before(ops, branch)
    parent.erase_op(branch)
    for op in reversed(list(parent.ops)):
        is_used = any(result.first_use is not None for result in op.results)
        if op.results and not op.regions and not is_used and _has_unseen_effects(op):
            parent.erase_op(op)


@dataclass(frozen=True)
class HoistIfThenElse(PrimFuncPass):
    """Take an `scf.if` out of the loops whose iterations agree on its condition; source:
    `tir.HoistIfThenElse`, `src/tir/transforms/hoist_if_then_else.cc`.
    """

    name = "tir-hoist-if-then-else"

    support_block_scope_hoisting: bool = False
    """Whether an `scf.if` leaves thread-bound loops, too."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("hoisted", hoist_ifs(func, self.support_block_scope_hoisting, ctx.remarks))
