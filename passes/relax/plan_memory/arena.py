"""The memrefs of a function on buffers: parameters, globals, and views of allocations.

The offset of a buffer is known only after the live ranges of all buffers. Until then a cast without
operands is the placeholder of its memref.

Buffers whose sizes are known, or depend on parameters alone, are views of one arena, which is
allocated at the start of each call. A buffer whose sizes are computed later, and one that its block
yields, is an allocation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import NamedTuple, TypeAlias

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, UnrealizedConversionCastOp, i8
from xdsl.ir import Block, Operation, SSAValue

from ....compiler.analysis.memory.buffers import uses_of
from ....compiler.analysis.memory.storage_plan import (
    ALIGNMENT,
    LiveRange,
    StoragePlan,
    plan_storage,
)
from ....dialects.sizes import Size
from ....passmanager.fast.edit import erase, insert_before
from ...sizes import FunctionSizes, index_constant
from .buffer_values import Memref, Storage, TensorBuffer, offset_of, root_of, shape_of

# Memory planning for symbolic sizes: buffers whose sizes are multiples of one expression share
# bytes as buffers of known sizes do.


@dataclass(frozen=True)
class SizedRange:
    """The time from `first` to `last`, both included, in which a buffer of `size` bytes is used."""

    first: int
    last: int
    size: Size


@dataclass(frozen=True)
class UnitPlan:
    """Buffers whose sizes are multiples of `unit` bytes."""

    unit: Size
    total: int
    """The units that all of them take."""
    offsets: dict[int, int]
    """The offset of each buffer, by its number, in units."""


def plan_by_units(
    ranges: Sequence[SizedRange], covers: Callable[[Size, Size], bool]
) -> list[UnitPlan]:
    """Place buffers so that those live at one time do not overlap, in one area for each expression
    that sizes are multiples of: `4 * b * n` and `12 * b * n` share one.

    An expression that another `covers`, which is not smaller, shares the area of that. Units are
    multiples of `ALIGNMENT`.
    """
    factors, bases = zip(*(_split(each.size) for each in ranges)) if ranges else ((), ())
    areas: dict[Size, list[int]] = {}
    for number, base in enumerate(bases):
        areas.setdefault(base, []).append(number)
    for base in [*areas]:
        if (larger := next((b for b in areas if b != base and covers(b, base)), None)) is not None:
            areas[larger] += areas.pop(base)
    return [_plan(base, numbers, ranges, factors) for base, numbers in areas.items()]


def _split(size: Size) -> tuple[int, Size]:
    """Return the greatest common factor of the terms of a size, and the size divided by it."""
    common = gcd(*(factor for _, factor in size.terms))
    return common, Size(tuple((product, factor // common) for product, factor in size.terms))


def _plan(
    base: Size, numbers: Sequence[int], ranges: Sequence[SizedRange], factors: Sequence[int]
) -> UnitPlan:
    common = gcd(*(factors[number] for number in numbers))
    live = [
        LiveRange(ranges[n].first, ranges[n].last, factors[n] // common * ALIGNMENT)
        for n in numbers
    ]
    plan = plan_storage(live)
    unit = (base * Size.of(common) + Size.of(ALIGNMENT - 1)) // ALIGNMENT * Size.of(ALIGNMENT)
    offsets = {n: offset // ALIGNMENT for n, offset in zip(numbers, plan.offsets, strict=True)}
    return UnitPlan(unit, plan.total // ALIGNMENT, offsets)


class PlannedMemory(NamedTuple):
    """The memory that the intermediate results of a function take; bytes are those of buffers of
    known sizes."""

    buffers: int
    """The number of intermediate results in the arena."""
    before: int
    """The total bytes if each of them had a buffer of its own."""
    after: int
    """The bytes of the arena."""
    copies: int
    """The number of results that are copied to the buffer in which they are returned."""


Start: TypeAlias = tuple[SSAValue, SSAValue | int]
"""An allocation, and the offset of a storage in it."""


class Arena:
    """Plans the storage of a function, and replaces the placeholders of its buffers by memrefs.

    `sizes.start` stands where the arena is allocated, after the operations that compute its size.
    """

    def __init__(self, sizes: FunctionSizes, *, frees: bool) -> None:
        """`frees` says whether what no block yields is freed at the end of its block; the
        allocations of a function that frees nothing are those of its body."""
        self.sizes = sizes
        self.frees = frees
        self.computed: list[Storage] = []
        """The storage of all intermediate results; some is joined to other storage, or unused."""
        self.reserved: dict[Storage, Operation] = {}
        """The placeholders of allocations whose size is computed late."""
        self.received: list[Storage] = []
        """The storage of buffers that operations return, and that loops carry into a block."""
        self.views: dict[tuple[TensorBuffer, Block], UnrealizedConversionCastOp] = {}
        """The placeholders of memrefs, by the block that uses them if it has to be that."""
        self.constants: dict[int, SSAValue] = {}
        self.plan = StoragePlan([], 0)

    def reserve(self, storage: Storage, block: Block) -> None:
        """Let `storage` be an allocation at the end of `block`, if it is used."""
        self.reserved[storage] = place = UnrealizedConversionCastOp.create()
        block.add_op(place)

    def memref(self, buffer: TensorBuffer, blocks: Sequence[Block]) -> SSAValue:
        """Return the memref of `buffer`; if it is new, its placeholder is at the end of the first
        of `blocks`, those that are being filled, or of the last if its memory or its sizes are not
        there from the start on."""
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

    def used(self) -> list[Storage]:
        """Return the intermediate storage that needs bytes."""
        return [s for s in self.computed if s.joined is None and s.first >= 0]

    def is_apart(self, storage: Storage) -> bool:
        """Return whether `storage` is an allocation of its own."""
        return storage.owned or storage in self.reserved

    def stored(self) -> list[Storage]:
        """Return the storage that needs bytes in the arena."""
        return [storage for storage in self.used() if not self.is_apart(storage)]

    def use_of_memory(self, copies: int) -> PlannedMemory:
        """Return the memory use after `place`."""
        stored = self.stored()
        known = sum(storage.size for storage in stored if isinstance(storage.count, int))
        return PlannedMemory(len(stored), known, self.plan.total, copies)

    # Placement

    def place(self) -> None:
        """Allocate the memory, and replace each placeholder.

        Each root storage gets one memref of each type in a block, and each offset one constant.
        """
        starts = self.allocate_arena() | self.allocate_others()
        placed: dict[tuple[TensorBuffer, Block, int], SSAValue] = {}
        for (buffer, where), cast in self.views.items():
            root = TensorBuffer(root_of(buffer.storage), buffer.type, buffer.sizes)
            offset = offset_of(buffer.storage)
            if (value := placed.get((root, where, offset))) is None:
                start = starts.get(root.storage)
                value = self.view(root, start, offset, self.position(root.storage, start, cast))
                placed[root, where, offset] = value
                if value is not root.storage.base:
                    value.name_hint = buffer.storage.hint
            cast.results[0].replace_all_uses_with(value)
            erase(cast)
        if self.frees:
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

    def planned_offsets(self) -> tuple[dict[Storage, SSAValue | int], SSAValue | int]:
        """Return the offset of each storage in the arena, and the size of the arena: storage of
        known size comes first."""
        stored = self.stored()
        known = [s for s in stored if isinstance(s.count, int)]
        self.plan = plan_storage([LiveRange(s.first, s.last, s.size) for s in known])
        offsets: dict[Storage, SSAValue | int] = dict(zip(known, self.plan.offsets, strict=True))
        total: SSAValue | int = self.plan.total
        unknown = [s for s in stored if not isinstance(s.count, int)]
        ranges = [SizedRange(s.first, s.last, s.bytes) for s in unknown]
        for plan in plan_by_units(ranges, self.sizes.covers):
            starts = {
                n: self.shifted(total, n, plan.unit) for n in sorted({*plan.offsets.values()})
            }
            offsets |= {unknown[number]: starts[n] for number, n in plan.offsets.items()}
            total = self.shifted(total, plan.total, plan.unit)
        return offsets, total

    def shifted(self, start: SSAValue | int, count: int, unit: Size) -> SSAValue:
        """Return the early value `start + count * unit`."""
        sizes = self.sizes
        product = sizes.times(sizes.value(Size.of(count), None), sizes.value(unit, None), None)
        return sizes.plus(self.offset(start, 0, sizes.start), product, None)

    def allocate_others(self) -> dict[Storage, Start]:
        """Allocate the storage that is not in the arena; return the memory of each, with the
        offset 0."""
        starts: dict[Storage, Start] = {}
        for storage in filter(self.is_apart, self.used()):
            place = self.reserved.get(storage) or self.first_of(storage)
            starts[storage] = self.allocation(self.sizes.value(storage.bytes, place), place), 0
        for place in self.reserved.values():
            erase(place)
        return starts

    def first_of(self, storage: Storage) -> Operation:
        """Return the operation before which an early `storage` that its block yields is
        allocated."""
        assert storage.block is not None and storage.block.first_op is not None
        is_outermost = storage.block is self.sizes.start.parent
        return self.sizes.start if is_outermost else storage.block.first_op

    def allocation(self, size: SSAValue | int, place: Operation) -> SSAValue:
        """Allocate `size` bytes before `place`."""
        if isinstance(size, int):
            op = memref.AllocOp.get(i8, ALIGNMENT, [size])
        else:
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
        self, root: TensorBuffer, start: Start | None, offset: int, place: Operation
    ) -> SSAValue:
        """Return the memref of the elements `offset` bytes after the start of `root`."""
        sizes = [self.sizes.value(size, place) for size in root.sizes]
        if start is None:
            assert offset == 0, "a part of a parameter would have a strided layout"
            return self.view_of_base(root, sizes, place)
        memory, first = start
        view = memref.ViewOp(memory, self.offset(first, offset, place), sizes, root.type)
        insert_before(place, view)
        return view.result

    def offset(self, start: SSAValue | int, by: int, place: Operation) -> SSAValue:
        """Return the value of the offset `start + by` for an operation at `place`."""
        if not isinstance(start, int):
            return self.sizes.plus(start, self.sizes.value(Size.of(by), None), place)
        if self.frees:
            return self.sizes.value(Size.of(start + by), None)
        # All views are in the body: a constant stands before the first one that needs it.
        if (value := self.constants.get(start + by)) is None:
            insert_before(place, constant := index_constant(start + by))
            self.constants[start + by] = value = constant.result
        return value

    def view_of_base(
        self, buffer: TensorBuffer, sizes: Sequence[SSAValue], place: Operation
    ) -> SSAValue:
        """Return the memref of a parameter, a global or a buffer that an operation returned, its
        elements in the shape of `buffer`."""
        base = buffer.storage.base
        assert base is not None
        if isinstance(base, memref.GlobalOp):
            insert_before(place, get := memref.GetGlobalOp(base.sym_name.data, base.type))
            value: SSAValue = get.memref
        else:
            value = base
        if value.type == buffer.type and buffer.sizes == buffer.storage.sizes:
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

    def strides(
        self, type: Memref, sizes: Sequence[Size], place: Operation
    ) -> Iterator[int | SSAValue]:
        """Yield the strides of a contiguous buffer."""
        shape = shape_of(type, sizes)
        for axis in range(len(shape)):
            inner = type.get_shape()[axis + 1 :]
            if DYNAMIC_INDEX in inner:
                yield self.sizes.value(self.sizes.product(shape[axis + 1 :], place), place)
            else:
                yield prod(inner)

    def free(self, starts: dict[Storage, Start]) -> None:
        """Free what no block yields after its last use."""
        own = {memory: s for s, (memory, _) in starts.items() if self.is_apart(s)}
        arenas = dict.fromkeys(memory for memory, _ in starts.values() if memory not in own)
        freed: list[tuple[SSAValue, Block | None]] = [
            *((memory, self.sizes.start.parent) for memory in arenas),
            *((memory, storage.block) for memory, storage in own.items() if not storage.owned),
        ]
        for storage in self.received:
            if not storage.owned:
                assert isinstance(storage.base, SSAValue)
                freed.append((storage.base, storage.block))
        uses = LastUses()
        for memory, block in freed:
            assert block is not None
            insert_before(uses.end_of(memory, block), memref.DeallocOp.get(memory))


class LastUses:
    """The last uses of buffers in blocks to which only deallocations are added."""

    def __init__(self) -> None:
        self.places: dict[Block, dict[Operation, int]] = {}
        """The positions of the operations in a block."""

    def end_of(self, memory: SSAValue, block: Block) -> Operation:
        """Return the operation in `block` after the last that uses `memory` or a view of it; the
        terminator if there is none."""
        if (places := self.places.get(block)) is None:
            self.places[block] = places = {op: n for n, op in enumerate(block.ops)}
        users = [block.find_ancestor_op_in_block(use.operation) for use in uses_of(memory)]
        last = max((op for op in users if op is not None), key=places.__getitem__, default=None)
        end = block.last_op if last is None else last.next_op
        assert end is not None
        return end
