"""The memrefs of a function on buffers: parameters, globals, and views of one allocation.

The offset of a buffer is known only after the live ranges of all buffers. Until then a cast without
operands is the placeholder of its memref.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, UnrealizedConversionCastOp, i8
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from ....analysis.memory.storage_plan import ALIGNMENT, LiveRange, StoragePlan, plan_storage
from .buffer_values import Buffer, Memref, Storage, offset_of, root_of

__all__ = ["Arena", "MemoryUse"]


class MemoryUse(NamedTuple):
    """The memory that the intermediate results of a function take."""

    buffers: int
    """The number of intermediate results in the arena."""
    before: int
    """The total bytes if each of them had a buffer of its own."""
    after: int
    """The bytes of the arena."""
    copies: int
    """The number of results that are copied to the buffer in which they are returned."""


class Arena:
    """Plans the storage of a function, and replaces the placeholders of its buffers by memrefs."""

    def __init__(self) -> None:
        self.computed: list[Storage] = []
        """The storage of all intermediate results; some is joined to other storage, or unused."""
        self.placeholders: dict[Buffer, UnrealizedConversionCastOp] = {}
        self.plan = StoragePlan([], 0)

    def memref(self, buffer: Buffer, blocks: Sequence[Block]) -> SSAValue:
        """Return the memref of `buffer`; if it is new, its placeholder is at the end of the first
        of `blocks`, those that are being filled."""
        if (cast := self.placeholders.get(buffer)) is None:
            cast = UnrealizedConversionCastOp.create(result_types=[buffer.type])
            blocks[0].add_op(cast)
            self.placeholders[buffer] = cast
        return cast.results[0]

    def stored(self) -> list[Storage]:
        """Return the storage that needs bytes in the arena."""
        return [s for s in self.computed if s.joined is None and s.first >= 0]

    def use_of_memory(self, copies: int) -> MemoryUse:
        """Return the memory use after `place`."""
        sizes = [storage.size for storage in self.stored()]
        return MemoryUse(len(sizes), sum(sizes), self.plan.total, copies)

    def place(self, block: Block) -> None:
        """Allocate the arena at the start of `block`, the body of the function, and replace each
        placeholder.

        Each root storage gets one memref of each type, and each offset one constant.
        """
        stored = self.stored()
        self.plan = plan_storage([LiveRange(s.first, s.last, s.size) for s in stored])
        allocation = memref.AllocOp.get(i8, ALIGNMENT, [self.plan.total])
        allocation.memref.name_hint = "arena"
        if stored:
            first = block.first_op
            assert first is not None
            block.insert_op_before(allocation, first)
        offsets = dict(zip(stored, self.plan.offsets, strict=True))
        placed: dict[tuple[Buffer, int], SSAValue] = {}
        shifts: dict[int, arith.ConstantOp] = {}
        for buffer, cast in self.placeholders.items():
            root = Buffer(root_of(buffer.storage), buffer.type)
            offset = offset_of(buffer.storage)
            if (value := placed.get((root, offset))) is None:
                if (base := root.storage.base) is None:
                    offset_in_arena = offsets[root.storage] + offset
                    new, value = view_of_arena(allocation, offset_in_arena, root.type, shifts)
                else:
                    assert offset == 0, "a part of a parameter would have a strided layout"
                    new, value = view_of_base(base, root.type)
                if new:
                    value.name_hint = buffer.storage.hint
                block.insert_ops_before(new, cast)
                placed[root, offset] = value
            cast.results[0].replace_all_uses_with(value)
            cast.detach()


def view_of_arena(
    arena: memref.AllocOp, offset: int, type: Memref, shifts: dict[int, arith.ConstantOp]
) -> tuple[Sequence[Operation], SSAValue]:
    """Build the view of type `type` at `offset` bytes; return the new operations and the view.

    `shifts` has the constants of offsets; a missing one is added.
    """
    new: list[Operation] = []
    if (shift := shifts.get(offset)) is None:
        shift = arith.ConstantOp(IntegerAttr(offset, IndexType()))
        shifts[offset] = shift
        new.append(shift)
    new.append(view := memref.ViewOp(arena, shift, [], type))
    return new, view.result


def view_of_base(
    base: BlockArgument | OpResult | memref.GlobalOp, type: Memref
) -> tuple[Sequence[Operation], SSAValue]:
    """Build the memref of a parameter or a global, its elements in the shape of `type`; return the
    new operations and the memref."""
    new: list[Operation] = []
    if isinstance(base, memref.GlobalOp):
        new.append(get := memref.GetGlobalOp(base.sym_name.data, base.type))
        value = get.memref
    else:
        value: SSAValue = base
    if value.type != type:
        shape = type.get_shape()
        strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
        cast = memref.ReinterpretCastOp(value, [], [], [], [0], shape, strides, type)
        new.append(cast)
        value = cast.result
    return new, value
