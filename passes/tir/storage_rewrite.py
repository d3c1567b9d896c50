"""Let allocations that are not in use at the same time share memory, and make them outside of
loops.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, NoneAttr, i8, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...analysis.memory.buffers import DOUBLE_BUFFER, Buffer, View, byte_size, is_flat, scope_of
from ...analysis.memory.in_place import join_in_place
from ...analysis.memory.live_ranges import (
    Allocation,
    Numbers,
    Stored,
    lifetime,
    number,
    peak_bytes,
    step_of,
    stored,
)
from ...analysis.memory.storage_plan import ALIGNMENT, Lifetime, plan, share
from ...dialects.tir.ops import ForKind, ForOp, PrimFuncOp
from ...passmanager.context import PassContext
from ...passmanager.remarks import Remarks
from .base import PrimFuncPass

__all__ = ["Counts", "StorageRewrite", "rewrite_storage"]

PLAIN_TAGS = {"dyn", "workspace", "vtcm"}
"""Tags of memory that is allocated as any other; what has another tag is one allocation."""

REGISTERS = {"local", "warp"}
"""Memory without a tag that is left to who allocates registers."""

MIN_BYTES = 5
"""Smaller buffers share no memory."""


@dataclass
class Counts:
    """What was done to allocations."""

    removed: int = 0
    hoisted: int = 0
    reused: int = 0
    in_place: int = 0


@dataclass
class Piece:
    """Allocations that become one, and the byte at which each begins in it."""

    members: list[Stored]
    offsets: list[int]


def rewrite_storage(func: PrimFuncOp, numbers: Numbers, reuse: bool, remarks: Remarks) -> Counts:
    """Remove allocations that nothing uses, let others share memory if `reuse`, merge those with a
    tag into one, and make each as far outside as it may be. `numbers` are those of the function.
    """
    counts = Counts()
    known: list[Stored] = []
    for op in [op for op in numbers if isinstance(op, Allocation)]:
        allocation = stored(op, numbers)
        rebase(allocation)
        if DOUBLE_BUFFER in op.attributes:
            allocation.escape = "it is to be doubled"
        if allocation.escape:
            remarks.missed(op, "Escapes", f"the allocation is left as it is: {allocation.escape}")
        elif allocation.touches:
            known.append(allocation)
        elif not allocation.shapes:
            remove(allocation)
            counts.removed += 1
    # All before the first is made, which moves operations out of their order.
    for piece in list(pieces(known, numbers, reuse, counts)):
        counts.reused += len(piece.members) - 1
        for member in piece.members[1:]:
            remarks.passed(member.op, "Shared", "the allocation is part of another")
        counts.hoisted += make(piece, numbers)
    return counts


def rebase(allocation: Stored) -> None:
    """Let views that say which part of the allocation they are be views of it, not of a view."""
    for view in allocation.views:
        if isinstance(view, memref.ReinterpretCastOp):
            base = view.source
            while isinstance(base.owner, View) and not isinstance(
                base.owner, memref.MemorySpaceCastOp | memref.ViewOp
            ):
                base = base.owner.operands[0]
            if base is not view.source:
                view.operands[0] = base


def remove(allocation: Stored) -> None:
    """Erase an allocation with its views, which nothing else uses."""
    for view in reversed(allocation.views):
        Rewriter.erase_op(view)
    Rewriter.erase_op(allocation.op)


# Who shares with whom


def pieces(
    allocations: Sequence[Stored], numbers: Numbers, reuse: bool, counts: Counts
) -> Iterable[Piece]:
    """The allocations in groups that share memory."""
    groups = [[allocation] for allocation in allocations]
    if reuse:
        groups = _in_place(allocations, numbers)
        counts.in_place = len(allocations) - len(groups)
    merged: dict[Hashable, list[list[Stored]]] = defaultdict(list)
    sharing: list[list[Stored]] = []
    for group in groups:
        if is_tagged(group[0]):
            merged[_place(group[0])].append(group)
        elif reuse and may_share(group[0]):
            sharing.append(group)
        else:
            yield Piece(group, [0] * len(group))
    shared: dict[int, list[Stored]] = defaultdict(list)
    lives = [_union(group, numbers) for group in sharing]
    for at, group in zip(share(lives, [_kind(g[0]) for g in sharing]), sharing, strict=True):
        shared[at] += group
    for members in shared.values():
        yield Piece(members, [0] * len(members))
    for groups in merged.values():
        lives = [_union(group, numbers) for group in groups]
        if not reuse:
            lives = [Lifetime(0, 0, life.size) for life in lives]
        members = [member for group in groups for member in group]
        places = zip(plan(lives).offsets, groups, strict=True)
        yield Piece(members, [offset for offset, group in places for _ in group])


def _in_place(allocations: Sequence[Stored], numbers: Numbers) -> list[list[Stored]]:
    joined = [allocation for allocation in allocations if may_share(allocation)]
    groups: dict[int, list[Stored]] = defaultdict(list)
    firsts = join_in_place(joined, [_same(allocation) for allocation in joined], numbers)
    for first, allocation in zip(firsts, joined, strict=True):
        groups[first].append(allocation)
    alone = [[allocation] for allocation in allocations if not may_share(allocation)]
    return [*groups.values(), *alone]


def _union(group: Sequence[Stored], numbers: Numbers) -> Lifetime:
    lives = [lifetime(member, numbers) for member in group]
    first, last = min(life.first for life in lives), max(life.last for life in lives)
    return Lifetime(first, last, lives[0].size)


def may_share(allocation: Stored) -> bool:
    """Whether its memory may be that of another: it is neither a few bytes nor registers."""
    size = byte_size(allocation.type)
    return scope_of(allocation.type) not in REGISTERS and (size is None or size >= MIN_BYTES)


def is_tagged(allocation: Stored) -> bool:
    """Whether it is part of the one allocation of its memory."""
    _, dot, tag = scope_of(allocation.type).partition(".")
    return bool(dot) and tag not in PLAIN_TAGS and byte_size(allocation.type) is not None


def _place(allocation: Stored) -> Hashable:
    """What all that is one allocation has in common."""
    return type(allocation.op), allocation.home, allocation.type.memory_space


def _same(allocation: Stored) -> Hashable:
    """What allocations of the same size and type have in common."""
    op = allocation.op
    attributes = tuple(sorted(op.attributes.items(), key=lambda item: item[0]))
    return _place(allocation), allocation.type, tuple(op.operands), attributes


def _kind(allocation: Stored) -> Hashable:
    """What allocations that may share have in common."""
    convertible = is_flat(allocation.type) and byte_size(allocation.type) is not None
    if convertible and not allocation.op.attributes:
        return _place(allocation)
    return _same(allocation)


# Making them


def make(piece: Piece, numbers: Numbers) -> int:
    """Make one allocation of some, where all are used after; returns how many left their block."""
    earliest = min(piece.members, key=lambda member: numbers[member.op])
    before = step_of(earliest.op, earliest.home)
    assert before is not None
    hoisted = sum(member.op.parent is not earliest.home for member in piece.members)
    types = {member.type for member in piece.members}
    whole = _whole(types) if not any(piece.offsets) else None
    if len(types) == 1 and whole:
        base = earliest.op
        if base is not before:
            base.detach()
            Rewriter.insert_op(base, InsertPoint.before(before))
    else:
        base = _allocation(piece, whole, earliest)
        Rewriter.insert_op(base, InsertPoint.before(before))
    if len(piece.members) > 1:
        base.alignment = _alignment(piece.members, always=whole is None)
    shifts = _shifts(base, piece.offsets) if whole is None else {}
    for member, offset in zip(piece.members, piece.offsets, strict=True):
        if member.op is not base:
            _replace(member, base, shifts.get(offset))
    return hoisted


def _whole(types: Set[Buffer]) -> Buffer | None:
    """The type of which all the types are a part, from its first element on; None if none is."""
    if len(types) == 1 or (
        all(map(is_flat, types)) and len({type.element_type for type in types}) == 1
    ):
        return max(types, key=lambda type: byte_size(type) or 0)
    return None


def _allocation(piece: Piece, whole: Buffer | None, like: Stored) -> Allocation:
    """What holds all: of the type `whole`, or bytes."""
    if whole is None:
        ends = zip(piece.members, piece.offsets, strict=True)
        total = max(offset + (byte_size(member.type) or 0) for member, offset in ends)
        whole = MemRefType(i8, [total], NoneAttr(), like.type.memory_space)
    base = type(like.op).get(whole.element_type, shape=whole.shape, memory_space=whole.memory_space)
    base.location = like.op.location
    return base


def _alignment(members: Iterable[Stored], always: bool) -> IntegerAttr | None:
    given = [member.op.alignment for member in members]
    sizes = [alignment.value.data for alignment in given if alignment is not None]
    if always:
        sizes.append(ALIGNMENT)
    return IntegerAttr(max(sizes), i64) if sizes else None


def _shifts(base: Allocation, offsets: Iterable[int]) -> dict[int, SSAValue]:
    """Constants for the offsets, after the allocation."""
    constants = {
        at: arith.ConstantOp(IntegerAttr.from_index_int_value(at)) for at in sorted(set(offsets))
    }
    Rewriter.insert_op(list(constants.values()), InsertPoint.after(base))
    return {offset: constant.result for offset, constant in constants.items()}


def _replace(member: Stored, base: Allocation, shift: SSAValue | None) -> None:
    """Put a view of the allocation `base`, or it itself, where one was."""
    type, old = member.type, member.op.memref
    if type == base.memref.type:
        old.replace_all_uses_with(base.memref)
        Rewriter.erase_op(member.op)
        return
    view: Operation
    if shift is not None:
        view = memref.ViewOp(base.memref, shift, [], type)
    else:
        (size,) = type.get_shape()
        view = memref.ReinterpretCastOp.from_dynamic(base.memref, [0], [size], [1], type)
    view.location = member.op.location
    Rewriter.replace_op(member.op, view)


@dataclass(frozen=True)
class StorageRewrite(PrimFuncPass):
    """Let allocations share memory, and make them outside of loops; source: `tir.StorageRewrite`.

    Errors: a vectorized loop.
    """

    name = "tir-storage-rewrite"

    merge_static_smem: bool = False
    """Leave it to a later pass to share memory."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        numbers = number(func)
        for op in numbers:
            if isinstance(op, ForOp) and op.for_kind is ForKind.VECTORIZED:
                ctx.diagnostics.error(
                    op, "a vectorized loop: run tir-vectorize-loop before tir-storage-rewrite"
                )
                return
        before = peak_bytes(numbers)
        counts = rewrite_storage(func, numbers, not self.merge_static_smem, ctx.remarks)
        ctx.count("removed", counts.removed)
        ctx.count("hoisted", counts.hoisted)
        ctx.count("reused", counts.reused)
        ctx.count("in-place", counts.in_place)
        ctx.count("bytes-before", before)
        ctx.count("bytes-after", peak_bytes(number(func)))
