"""StorageRewrite: allocations with disjoint live ranges share memory, and move out of loops."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, NoneAttr, i8, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.memory.buffers import DOUBLE_BUFFER, Buffer, byte_size, is_flat
from ...compiler.analysis.memory.live_ranges import (
    AllocationUses,
    OpNumbers,
    find_uses,
    number_ops,
    peak_bytes,
)
from ...compiler.analysis.memory.storage_groups import (
    StorageGroup,
    chain_in_place_updates,
    group_storage,
)
from ...compiler.analysis.memory.storage_plan import ALIGNMENT
from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ..generic.purity import Allocation, View
from .base import PrimFuncPass
from .loop_conditions import no_vectorized_loops


def rewrite_storage(func: PrimFuncOp, *, reuse: bool = True, actions: Actions = SILENT) -> None:
    """Merge, hoist and remove the allocations of `func`.

    Unused allocations are removed; with `reuse`, allocations with disjoint live ranges share
    memory; allocations in special memory become one; and each is hoisted out of loops as far as
    possible. Errors: a vectorized loop.
    """
    numbers = number_ops(func)
    # The lanes of a loop are iterations that run at once: they would need a buffer each.
    for op, how in no_vectorized_loops(func)[:1]:
        actions.error(op, f"{how}: run tir-vectorize-loop before tir-storage-rewrite")
        return
    actions.count("bytes-before", peak_bytes(numbers))
    allocations = _find_allocations(numbers, actions)
    if reuse:
        chains = chain_in_place_updates(allocations, numbers)
    else:
        chains = [[uses] for uses in allocations]
    actions.count("in-place", len(allocations) - len(chains))
    # All groups are known before the first is merged, which invalidates the numbers.
    for group in list(group_storage(chains, numbers, reuse=reuse)):
        if actions.allowed(group.members[0].op):
            merge_group(group, numbers, actions)
    actions.count("bytes-after", peak_bytes(number_ops(func)))


def _find_allocations(numbers: OpNumbers, actions: Actions) -> list[AllocationUses]:
    """Return the allocations whose uses are all known; remove those without uses."""
    known: list[AllocationUses] = []
    for op in [op for op in numbers if isinstance(op, Allocation)]:
        uses = find_uses(op, numbers)
        rebase_views(uses)
        if DOUBLE_BUFFER in op.attributes:
            uses.escape = "it is marked for double buffering"
        if uses.escape:
            actions.missed(op, "Escapes", f"the allocation is left as it is: {uses.escape}")
        elif uses.accesses:
            known.append(uses)
        elif not uses.shape_queries and actions.allowed(op):
            # Views of views are behind those they view.
            for view in reversed(uses.views):
                erase(view)
            erase(op)
            actions.count("removed")
    return known


def rebase_views(uses: AllocationUses) -> None:
    """Make each `memref.reinterpret_cast` of a view a cast of the viewed buffer itself.

    This is equivalent, as its offset counts from the start of the memory; and the view in between
    may get another type.
    """
    for view in uses.views:
        if isinstance(view, memref.ReinterpretCastOp):
            base = view.source
            # Views of another memory space, or of bytes with an offset, start elsewhere.
            while isinstance(base.owner, View) and not isinstance(
                base.owner, memref.MemorySpaceCastOp | memref.ViewOp
            ):
                base = base.owner.operands[0]
            if base is not view.source:
                view.operands[0] = base


def merge_group(group: StorageGroup, numbers: OpNumbers, actions: Actions = SILENT) -> None:
    """Replace the members of `group` by one allocation before the first of them, hoisted.

    A group of one allocation is only hoisted.
    """
    # The first member dominates what the others dominate, once it is hoisted to their common block.
    earliest = min(group.members, key=lambda member: numbers[member.op])
    target = earliest.outermost_block
    before = target.find_ancestor_op_in_block(earliest.op)
    assert before is not None
    actions.count("reused", len(group.members) - 1)
    for member in group.members[1:]:
        actions.passed(member.op, "Shared", "the allocation is part of another")
    actions.count("hoisted", sum(member.op.parent is not target for member in group.members))
    types = {member.type for member in group.members}
    common = _common_type(types) if not any(group.offsets) else None
    # The allocation of the first member serves as it is, with its attributes.
    if len(types) == 1 and common:
        base = earliest.op
        if base is not before:
            base.detach()
            insert_before(before, base)
    else:
        base = _build_allocation(group, common, earliest)
        insert_before(before, base)
    if len(group.members) > 1:
        base.alignment = _common_alignment(group.members, always=common is None)
    shifts = _build_shifts(base, group.offsets) if common is None else {}
    for member, offset in zip(group.members, group.offsets, strict=True):
        if member.op is not base:
            _replace_by_view(member, base, shifts.get(offset))


def _common_type(types: Set[Buffer]) -> Buffer | None:
    """Return the largest of `types` if each other is a prefix of it, else None."""
    if len(types) == 1 or (
        all(map(is_flat, types)) and len({type.element_type for type in types}) == 1
    ):
        # `memref<8xf32>` is the start of `memref<16xf32>`: no bytes and no `memref.view` are
        # needed.
        return max(types, key=lambda type: byte_size(type) or 0)
    return None


def _build_allocation(
    group: StorageGroup, common: Buffer | None, like: AllocationUses
) -> Allocation:
    """Return an allocation for all members: of the type `common`, or of bytes if that is None."""
    if common is None:
        ends = zip(group.members, group.offsets, strict=True)
        total = max(offset + (byte_size(member.type) or 0) for member, offset in ends)
        common = MemRefType(i8, [total], NoneAttr(), like.type.memory_space)
    base = type(like.op).get(
        common.element_type, shape=common.shape, memory_space=common.memory_space
    )
    base.location = like.op.location
    return base


def _common_alignment(members: Iterable[AllocationUses], always: bool) -> IntegerAttr | None:
    """Return the largest alignment of `members`; with `always` it is at least ALIGNMENT."""
    given = [member.op.alignment for member in members]
    sizes = [alignment.value.data for alignment in given if alignment is not None]
    # Bytes have no alignment of their own, and members of any type are put in them.
    if always:
        sizes.append(ALIGNMENT)
    return IntegerAttr(max(sizes), i64) if sizes else None


def _build_shifts(base: Allocation, offsets: Iterable[int]) -> dict[int, SSAValue]:
    """Insert constants for `offsets` after the allocation `base`; return them by offset."""
    constants = {
        offset: arith.ConstantOp(IntegerAttr.from_index_int_value(offset))
        for offset in sorted(set(offsets))
    }
    Rewriter.insert_op(list(constants.values()), InsertPoint.after(base))
    return {offset: constant.result for offset, constant in constants.items()}


def _replace_by_view(member: AllocationUses, base: Allocation, shift: SSAValue | None) -> None:
    """Replace an allocation by `base`, or by a view of it; `shift` is the offset into bytes."""
    type, old = member.type, member.op.memref
    if type == base.memref.type:
        old.replace_all_uses_with(base.memref)
        erase(member.op)
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
    """Let allocations that are not live at one time share memory, and hoist them out of loops.

    Unused allocations are removed. Errors: a vectorized loop. Source: `tir.StorageRewrite`.

    Before:

        tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
          %a = memref.alloc() : memref<8xf32>
          "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
          "memref.copy"(%a, %x) : (memref<8xf32>, memref<8xf32>) -> ()
          %b = memref.alloc() : memref<8xf32>
          "memref.copy"(%y, %b) : (memref<8xf32>, memref<8xf32>) -> ()
          "memref.copy"(%b, %y) : (memref<8xf32>, memref<8xf32>) -> ()
        }

    After:

        tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
          %a = memref.alloc() : memref<8xf32>
          "memref.copy"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
          "memref.copy"(%a, %x) : (memref<8xf32>, memref<8xf32>) -> ()
          "memref.copy"(%y, %a) : (memref<8xf32>, memref<8xf32>) -> ()
          "memref.copy"(%a, %y) : (memref<8xf32>, memref<8xf32>) -> ()
        }
    """

    name = "tir-storage-rewrite"
    requires = (no_vectorized_loops,)

    merge_static_smem: bool = False
    """Do not share memory: a later pass does."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        rewrite_storage(func, reuse=not self.merge_static_smem, actions=ctx.actions)
