"""The memrefs of a function on buffers of unknown sizes.

Buffers whose sizes depend on parameters alone are views of one arena, which is allocated at the
start of each call. A buffer whose sizes are computed later, and one that its block yields, is an
allocation of its own. All but what is yielded is freed at the end of its block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    UnrealizedConversionCastOp,
    i8,
)
from xdsl.ir import Block, Operation, SSAValue

from ....analysis.memory.storage_plan import ALIGNMENT, LiveRange, plan_storage
from ....dialects.sizes import Size
from ....passmanager.ir.edit import erase, insert_before
from ...sizes.size_values import SizeValues
from .arena import Arena, MemoryUse
from .buffer_values import Buffer, Memref, Storage, offset_of, root_of
from .symbolic_plan import SizedRange, plan_by_units

__all__ = ["DynamicArena", "extent"]

BYTES = MemRefType(i8, [DYNAMIC_INDEX])


Start: TypeAlias = tuple[SSAValue, SSAValue]
"""An allocation, and the offset of a storage in it."""


def extent(count: int | Size) -> Size:
    """Return a number of elements as a size."""
    return count if isinstance(count, Size) else Size.of(count)


def bytes_of(storage: Storage) -> Size:
    """Return the size of `storage` in bytes."""
    return extent(storage.count) * Size.of(storage.element_size)


class DynamicArena(Arena):
    """Plans the storage of a function with unknown sizes.

    `sizes.start` stands where the arena is allocated, after the operations that compute its size.
    """

    def __init__(self, sizes: SizeValues) -> None:
        super().__init__()
        self.sizes = sizes
        self.reserved: dict[Storage, Operation] = {}
        """The placeholders of allocations whose size is computed late."""
        self.received: list[Storage] = []
        """The storage of buffers that operations return, and that loops carry into a block."""
        self.views: dict[tuple[Buffer, Block], UnrealizedConversionCastOp] = {}
        """The placeholders of memrefs, by the block that uses them if it has to be that."""

    def reserve(self, storage: Storage, block: Block) -> None:
        """Let `storage` be an allocation at the end of `block`, if it is used."""
        place = UnrealizedConversionCastOp.create(result_types=[BYTES])
        block.add_op(place)
        self.reserved[storage] = place

    def memref(self, buffer: Buffer, blocks: Sequence[Block]) -> SSAValue:
        is_early = self.sizes.is_early(*buffer.sizes) and self.is_early(root_of(buffer.storage))
        block = blocks[0 if is_early else -1]
        if (cast := self.views.get((buffer, block))) is None:
            cast = UnrealizedConversionCastOp.create(result_types=[buffer.type])
            block.add_op(cast)
            self.views[buffer, block] = cast
        return cast.results[0]

    def is_early(self, root: Storage) -> bool:
        """Return whether the memory of `root` is there from the start of the function on."""
        return root not in self.reserved and (root.base is None or root.block is None)

    def stored(self) -> list[Storage]:
        return [s for s in super().stored() if not s.owned and s not in self.reserved]

    def use_of_memory(self, copies: int) -> MemoryUse:
        """Return the memory use after `place`; the bytes are those of buffers of known sizes."""
        stored = self.stored()
        known = sum(storage.size for storage in stored if isinstance(storage.count, int))
        return MemoryUse(len(stored), known, self.plan.total, copies)

    # Placement

    def place(self, block: Block) -> None:
        starts = self.allocate_arena() | self.allocate_others()
        placed: dict[tuple[Buffer, Block, int], SSAValue] = {}
        for (buffer, where), cast in self.views.items():
            root = Buffer(root_of(buffer.storage), buffer.type, buffer.sizes)
            offset = offset_of(buffer.storage)
            if (value := placed.get((root, where, offset))) is None:
                start = starts.get(root.storage)
                value = self.view(root, start, offset, self.position(root.storage, start, cast))
                placed[root, where, offset] = value
                if isinstance(value.owner, memref.ViewOp | memref.ReinterpretCastOp):
                    value.name_hint = buffer.storage.hint
            cast.results[0].replace_all_uses_with(value)
            erase(cast)
        self.free(starts)
        self.sizes.erase_unused()
        erase(self.sizes.start)

    def allocate_arena(self) -> dict[Storage, Start]:
        """Allocate the arena, and return it with the offset of each storage in it."""
        offsets, total = self.planned_offsets()
        if not offsets:
            return {}
        arena = self.allocation(total, self.sizes.start)
        arena.name_hint = "arena"
        return {storage: (arena, offset) for storage, offset in offsets.items()}

    def planned_offsets(self) -> tuple[dict[Storage, SSAValue], SSAValue]:
        """Return the offset of each storage in the arena, and the size of the arena: storage of
        known size comes first."""
        sizes, stored = self.sizes, self.stored()
        known = [s for s in stored if isinstance(s.count, int)]
        self.plan = plan_storage([LiveRange(s.first, s.last, s.size) for s in known])
        value = {s: sizes.value(Size.of(n), None) for s, n in zip(known, self.plan.offsets)}
        total = sizes.value(Size.of(self.plan.total), None)
        unknown = [s for s in stored if not isinstance(s.count, int)]
        ranges = [SizedRange(s.first, s.last, bytes_of(s)) for s in unknown]
        for plan in plan_by_units(ranges, sizes.covers):
            starts = {
                n: self.shifted(total, n, plan.unit) for n in sorted({*plan.offsets.values()})
            }
            value |= {unknown[number]: starts[n] for number, n in plan.offsets.items()}
            total = self.shifted(total, plan.total, plan.unit)
        return value, total

    def shifted(self, start: SSAValue, count: int, unit: Size) -> SSAValue:
        """Return the early value `start + count * unit`."""
        factors = self.sizes.value(Size.of(count), None), self.sizes.value(unit, None)
        return self.sizes.plus(start, self.sizes.times(*factors, None), None)

    def allocate_others(self) -> dict[Storage, Start]:
        """Allocate the storage that is not in the arena; return the memory of each, with the
        offset 0."""
        zero = self.sizes.value(Size.of(0), None)
        starts: dict[Storage, Start] = {}
        for storage in super().stored():
            if storage in self.reserved or storage.owned:
                place = self.reserved.get(storage) or self.first_of(storage)
                memory = self.allocation(self.sizes.value(bytes_of(storage), place), place)
                starts[storage] = memory, zero
        for place in self.reserved.values():
            erase(place)
        return starts

    def first_of(self, storage: Storage) -> Operation:
        """Return the operation before which an early `storage` that its block yields is
        allocated."""
        assert storage.block is not None and storage.block.first_op is not None
        is_outermost = storage.block is self.sizes.start.parent
        return self.sizes.start if is_outermost else storage.block.first_op

    def allocation(self, size: SSAValue, place: Operation) -> SSAValue:
        """Allocate `size` bytes before `place`."""
        op = memref.AllocOp.get(i8, ALIGNMENT, [DYNAMIC_INDEX], [size])
        insert_before(place, op)
        return op.memref

    def position(self, root: Storage, start: Start | None, cast: Operation) -> Operation:
        """Return the operation before which a view of `root` is inserted: the placeholder `cast`,
        unless the memory is allocated early in a block within that."""
        if start is None or not root.owned or root in self.reserved:
            return cast
        allocation = start[0].owner
        assert isinstance(allocation, Operation) and allocation.next_op is not None
        return cast if allocation.parent is cast.parent else allocation.next_op

    def view(
        self,
        root: Buffer,
        start: Start | None,
        offset: int,
        place: Operation,
    ) -> SSAValue:
        """Return the memref of the elements `offset` bytes after the start of `root`."""
        sizes = [self.sizes.value(size, place) for size in root.sizes]
        if start is None:
            assert offset == 0, "a part of a parameter would have a strided layout"
            return self.view_of_base(root, sizes, place)
        memory, first = start
        shift = self.sizes.plus(first, self.sizes.value(Size.of(offset), None), place)
        view = memref.ViewOp(memory, shift, sizes, root.type)
        insert_before(place, view)
        return view.result

    def view_of_base(self, buffer: Buffer, sizes: Sequence[SSAValue], place: Operation) -> SSAValue:
        """Return the memref of a parameter, a global or a buffer that an operation returned, its
        elements in the shape of `buffer`."""
        base = buffer.storage.base
        assert base is not None
        if isinstance(base, memref.GlobalOp):
            insert_before(place, get := memref.GetGlobalOp(base.sym_name.data, base.type))
            value: SSAValue = get.memref
        else:
            value = base
        if value.type == buffer.type and self.is_whole(buffer):
            return value
        shape, dynamic = buffer.type.get_shape(), iter(sizes)
        all_sizes = [next(dynamic) if n == DYNAMIC_INDEX else n for n in shape]
        strides = [*self.strides(buffer.type, buffer.sizes, place)]
        view = memref.ReinterpretCastOp(
            value,
            [],
            [size for size in all_sizes if isinstance(size, SSAValue)],
            [stride for stride in strides if isinstance(stride, SSAValue)],
            [0],
            shape,
            [DYNAMIC_INDEX if isinstance(stride, SSAValue) else stride for stride in strides],
            buffer.type,
        )
        insert_before(place, view)
        return view.result

    def is_whole(self, buffer: Buffer) -> bool:
        """Return whether `buffer` has the shape of its base."""
        return buffer.sizes == buffer.storage.sizes

    def strides(
        self, type: Memref, sizes: Sequence[Size], place: Operation
    ) -> Iterator[int | SSAValue]:
        """Yield the strides of a contiguous buffer."""
        dynamic = iter(sizes)
        shape = [next(dynamic) if n == DYNAMIC_INDEX else Size.of(n) for n in type.get_shape()]
        for axis in range(len(shape)):
            inner = type.get_shape()[axis + 1 :]
            if DYNAMIC_INDEX in inner:
                yield self.sizes.value(self.sizes.product(shape[axis + 1 :], place), place)
            else:
                yield prod(inner)

    def free(self, starts: dict[Storage, Start]) -> None:
        """Free what no block yields at the end of its block."""
        own = {memory: s for s, (memory, _) in starts.items() if s.owned or s in self.reserved}
        for memory in dict.fromkeys(memory for memory, _ in starts.values()):
            if memory not in own:
                self.deallocate(memory, self.sizes.start.parent)
            elif not own[memory].owned:
                self.deallocate(memory, own[memory].block)
        for storage in self.received:
            if not storage.owned:
                assert isinstance(storage.base, SSAValue)
                self.deallocate(storage.base, storage.block)

    def deallocate(self, memory: SSAValue, block: Block | None) -> None:
        """Free `memory` at the end of `block`."""
        assert block is not None and block.last_op is not None
        insert_before(block.last_op, memref.DeallocOp.get(memory))
