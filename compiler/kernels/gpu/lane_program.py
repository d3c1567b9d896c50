"""Programs whose iterations are the lanes of tiles: scalars become tiles, conditions masks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import TypeAlias

from xdsl.dialects import arith, cf, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from ....dialects.cuda_tile import control_ops, elementwise_ops, memory_ops, module_ops
from ....dialects.cuda_tile.attributes import (
    AtomicRMWMode,
    ComparisonPredicate,
    MemoryOrderingSemantics,
    MemoryScope,
)
from ....dialects.cuda_tile.types import PointerType, TileType
from ....dialects.extensions.lists import REDUCTIONS
from ....dialects.tir.ops import AssumeOp, ForOp, PrefetchOp, YieldOp
from ....passmanager.ir.walk import walk
from ...analysis.constant_evaluator import integer_constant
from ...analysis.dependence import base_of
from ..choices import NoKernel
from .scalar_ops import DIVISIONS, constant, narrowed, on_tiles, tile_element
from .tile_writer import WEAK, TileReduction, TileWriter, tile_of

__all__ = ["REGISTERS", "LaneProgram", "Stride"]

REGISTERS = 16
"""The elements of a buffer that tiles hold; a larger one is memory."""

MODES = {
    "addi": AtomicRMWMode.ADD,
    "maxs": AtomicRMWMode.MAX,
    "mins": AtomicRMWMode.MIN,
}
"""The atomic operations of tiles, by the kinds of `memref.atomic_rmw`."""

LONG = 128
"""The extent of loops from which on it is a parameter: `tileiras` takes 0.2 ms for each iteration
that it knows."""

Stride: TypeAlias = int | SSAValue


@dataclass(frozen=True)
class LaneBuffer:
    """Elements in memory: the pointer to the first one, and the distances along dimensions."""

    pointer: SSAValue
    strides: Sequence[Stride]
    element: Attribute
    root: SSAValue
    """The buffer that this is a view of."""
    offset: SSAValue | None = None
    """The position of the first element."""


@dataclass(frozen=True)
class Registers:
    """A small buffer of each lane, whose elements are tiles."""

    shape: Sequence[int]
    mask: SSAValue | None
    """The lanes that have allocated it."""


def stored_in(ops: Sequence[Operation]) -> set[SSAValue]:
    """Return the buffers to which operations store, without views."""
    inner = (op for outer in ops for op in walk(outer))
    stores = [op for op in inner if isinstance(op, memref.StoreOp | memref.AtomicRMWOp)]
    return {base_of(op.memref) for op in stores}


class Outside:
    """The parameters that a program asks for; those of an element-wise function, which has none."""

    def scalar(self, value: SSAValue) -> SSAValue:
        """Return a value from outside; NoKernel if it cannot be a parameter."""
        raise NoKernel("an element-wise function uses other values than its operands")

    def number(self, value: int) -> SSAValue:
        """Return an index that is not constant in the program."""
        raise NoKernel("an element-wise function has long loops")

    def pointer(self, buffer: SSAValue) -> SSAValue:
        """Return the pointer to the first element of a buffer from outside."""
        raise NoKernel("an element-wise function needs memory")

    def dimension(self, buffer: SSAValue, axis: int) -> SSAValue:
        """Return the size of a dimension of a buffer from outside."""
        raise NoKernel("an element-wise function needs memory")

    def scratch(self, op: memref.AllocOp | memref.AllocaOp) -> SSAValue:
        """Return the pointer to memory that holds a buffer of each lane."""
        raise NoKernel("an element-wise function needs memory")


@dataclass
class LaneProgram:
    """The operations of an entry. A value that is equal in all lanes is a tile of rank 0."""

    w: TileWriter
    shape: tuple[int, ...]
    """The lanes."""
    index: IntegerType = i32
    """The type of indices."""
    lane: SSAValue | None = None
    """The numbers of the lanes in all tile blocks."""
    all_lanes: Stride = 1
    """The lanes of all tile blocks."""
    outside: Outside = field(default_factory=lambda: Outside())
    ordered: set[SSAValue] = field(default_factory=set[SSAValue])
    """The buffers whose accesses have an order: it is written to."""
    mask: SSAValue | None = None
    base_mask: SSAValue | None = None
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    buffers: dict[SSAValue, LaneBuffer | Registers] = field(
        default_factory=dict[SSAValue, LaneBuffer | Registers]
    )
    registers: dict[tuple[SSAValue, int], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int], SSAValue]
    )
    tokens: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    # Operations

    def block(self, block: Block) -> list[SSAValue]:
        """Write the operations of a block, and return the operands of its terminator."""
        for op in block.ops:
            if op.next_op is None:
                return [self.value(v) for v in op.operands]
            self.operation(op)
        return []

    def operation(self, op: Operation) -> None:
        """Write an operation; NoKernel if tiles have none for it."""
        match op:
            case ForOp():
                self.loop(op)
            case scf.IfOp():
                self.branch(op)
            case memref.LoadOp():
                self.values[op.res] = self.load(op.memref, op.indices)
            case memref.StoreOp():
                self.store(self.value(op.value), op.memref, op.indices)
            case memref.AtomicRMWOp():
                self.values[op.result] = self.combine(op)
            case memref.AllocaOp() | memref.AllocOp():
                self.allocate(op)
            case memref.DimOp():
                self.values[op.result] = self.size(op)
            case arith.ConstantOp():
                self.values[op.result] = constant(self.w, op, self.index)
            case cf.AssertOp():
                self.assertion(op)
            case AssumeOp() | PrefetchOp() | memref.DeallocOp() | YieldOp():
                pass
            case _ if len(op.results) == 1 and isinstance(op.results[0].type, MemRefType):
                self.buffer(op.results[0])
            case _:
                operands = [self.value(v) for v in op.operands]
                if isinstance(op, DIVISIONS) and integer_constant(op.rhs) in (None, 0):
                    operands[1] = self.where_masked(operands[1], 1)
                self.values[op.results[0]] = on_tiles(self.w, op, operands, self.index)

    def value(self, value: SSAValue) -> SSAValue:
        """Return a scalar as a tile."""
        if (found := self.values.get(value)) is None:
            found = self.values[value] = self.outside.scalar(value)
        return found

    def everywhere(self, tile: SSAValue) -> SSAValue:
        """Return a tile with an element for each lane."""
        return self.w.broadcast(tile, self.shape)

    def where_masked(self, tile: SSAValue, other: int) -> SSAValue:
        """Return a tile with another number in the lanes that are masked: it may be anything."""
        if self.mask is None:
            return tile
        return self.w.select(self.mask, tile, self.w.number(other, tile_of(tile).element_type))

    def number(self, value: int) -> SSAValue:
        return self.w.number(value, self.index)

    def assertion(self, op: cf.AssertOp) -> None:
        condition = self.value(op.arg)
        if self.mask is not None:
            true = self.w.number(True, i1, tile_of(self.mask).get_shape())
            idle = self.w.insert(elementwise_ops.XOrIOp(self.mask, true))
            condition = self.w.either(*self.w.together(condition, idle))
        self.w.block.add_op(module_ops.AssertOp(condition, message=op.msg))

    # Conditions

    @contextmanager
    def where(self, condition: SSAValue | None) -> Generator[None]:
        """Write operations for the lanes in which a condition holds."""
        outer = self.mask
        if condition is not None:
            self.mask = self.w.both(outer, condition)
        yield
        self.mask = outer

    def branch(self, op: scf.IfOp) -> None:
        condition = self.value(op.cond)
        with self.where(condition):
            then = self.block(op.true_region.block)
        if op.false_region.blocks:
            true = self.w.number(True, i1, tile_of(condition).get_shape())
            with self.where(self.w.insert(elementwise_ops.XOrIOp(condition, true))):
                otherwise = self.block(op.false_region.block)
            for result, *sides in zip(op.results, then, otherwise, strict=True):
                self.values[result] = self.w.select(condition, *sides)

    # Loops

    def loop(self, op: ForOp) -> None:
        """Write a loop to the maximum extent of all lanes; lanes that are done are masked."""
        known = integer_constant(op.extent)
        first, extent = self.value(op.min), self.value(op.extent)
        if known is not None and known > LONG:
            extent = self.outside.number(known)
        most = self.maximum(extent)
        registers, roots = self.carried(op)
        values = [*(self.registers[key] for key in registers), *(self.token(r) for r in roots)]
        types = [value.type for value in values]
        block = Block(arg_types=[TileType((), self.index), *types])
        outer, self.w.block = self.w.block, block
        number, *given = block.args
        self.hand_on(registers, roots, given)
        is_zero = integer_constant(op.min) == 0
        self.values[op.variable] = number if is_zero else self.w.add(first, number)
        with self.where(None if most is extent else self.w.less(number, extent)):
            self.block(op.body.block)
        last = [*(self.registers[key] for key in registers), *(self.tokens[r] for r in roots)]
        block.add_op(control_ops.ContinueOp(last))
        self.w.block = outer
        bounds = self.number(0), most, self.number(1)
        new = control_ops.ForOp(*bounds, values, types=[types], regions=[Region(block)])
        self.w.block.add_op(new)
        self.hand_on(registers, roots, new.results)

    def maximum(self, extent: SSAValue) -> SSAValue:
        """Return the maximum of an index over the lanes that are not masked."""
        if not tile_of(extent).get_shape():
            return extent
        line = self.w.reshape(self.where_masked(extent, 0), (prod(self.shape),))
        most = self.w.reduce(line, 0, TileReduction("maximum", -1))
        return self.w.reshape(most, ())

    def carried(self, op: ForOp) -> tuple[list[tuple[SSAValue, int]], list[SSAValue]]:
        """Return the registers that a loop changes, and the buffers whose accesses it orders."""
        inside = [*walk(op)]
        stored = {o.memref for o in inside if isinstance(o, memref.StoreOp)}
        registers = [key for key in self.registers if key[0] in stored]
        accesses = (o for o in inside if isinstance(o, memref.StoreOp | memref.LoadOp))
        used = dict.fromkeys(base_of(o.memref) for o in accesses)
        # All iterations have the same memory for a buffer that each of them allocates.
        own = {result for o in inside for result in o.results}
        large = {
            v for v in own if isa(v.type, MemRefType) and not fits_registers(v.type.get_shape())
        }
        ordered = self.ordered - own | large
        return registers, [root for root in used if root in ordered]

    def hand_on(
        self,
        registers: Sequence[tuple[SSAValue, int]],
        roots: Sequence[SSAValue],
        values: Sequence[SSAValue],
    ) -> None:
        self.registers.update(zip(registers, values))
        self.tokens.update(zip(roots, values[len(registers) :], strict=True))

    def token(self, root: SSAValue) -> SSAValue:
        """Return the token of the last access to a buffer."""
        if root not in self.tokens:
            self.tokens[root] = self.w.insert(memory_ops.MakeTokenOp())
        return self.tokens[root]

    # Buffers

    def allocate(self, op: memref.AllocOp | memref.AllocaOp) -> None:
        """Make a small buffer of tiles; a larger one is memory, of each lane."""
        buffer, type = op.memref, op.memref.type
        assert isa(type, MemRefType)
        shape = type.get_shape()
        if fits_registers(shape):
            self.buffers[buffer] = Registers(shape, self.mask)
            zero = self.w.number(0, tile_element(type.element_type, self.index), self.shape)
            self.registers.update({(buffer, i): zero for i in range(prod(shape))})
            return
        pointer = self.outside.scratch(op)
        self.ordered.add(buffer)
        # The same element of adjacent lanes is in adjacent places.
        strides: list[Stride] = [self.all_lanes]
        sizes = self.extents(buffer)
        for size in reversed(sizes[1:]):
            strides.insert(0, self.times(strides[0], size))
        strides = strides[len(strides) - len(sizes) :]
        self.buffers[buffer] = LaneBuffer(pointer, strides, type.element_type, buffer, self.lane)

    def extents(self, buffer: SSAValue) -> list[Stride]:
        """Return the sizes of a buffer that is allocated here."""
        assert isa(type := buffer.type, MemRefType)
        assert isinstance(op := buffer.owner, memref.AllocOp | memref.AllocaOp)
        sizes = iter(op.dynamic_sizes)
        return [self.value(next(sizes)) if n == DYNAMIC_INDEX else n for n in type.get_shape()]

    def size(self, op: memref.DimOp) -> SSAValue:
        assert isa(type := op.source.type, MemRefType)
        axis = integer_constant(op.index)
        if axis is not None and (size := type.get_shape()[axis]) != DYNAMIC_INDEX:
            return self.number(size)
        if axis is None:
            raise NoKernel("the size of a dimension whose number is computed")
        return self.outside.dimension(op.source, axis)

    def buffer(self, value: SSAValue) -> LaneBuffer | Registers:
        """Return a buffer, or a view of one."""
        if (found := self.buffers.get(value)) is None:
            found = self.buffers[value] = self.view(value)
        return found

    def view(self, value: SSAValue) -> LaneBuffer | Registers:
        assert isa(type := value.type, MemRefType)
        match value.owner:
            case memref.CastOp(source=source):
                return self.buffer(source)
            case memref.ReinterpretCastOp() as op:
                source = self.buffer(op.source)
                if isinstance(source, Registers):
                    raise NoKernel("a view of a small buffer")
                offset = self.mixed(op.static_offsets.get_values(), op.offsets)[0]
                strides = self.mixed(op.static_strides.get_values(), op.strides)
                place = source.offset
                if offset != 0:
                    place = self.sum(place, self.tile(offset))
                if isinstance(source.root.owner, memref.AllocaOp | memref.AllocOp):
                    if source.root in self.buffers and source.offset is self.lane is not None:
                        strides = [self.times(self.all_lanes, n) for n in strides]
                return LaneBuffer(source.pointer, strides, type.element_type, source.root, place)
            case _:
                pointer = self.outside.pointer(value)
                strides = self.strides(value)
                return LaneBuffer(pointer, strides, type.element_type, base_of(value))

    def strides(self, value: SSAValue) -> list[Stride]:
        """Return the strides of a buffer from outside."""
        assert isa(type := value.type, MemRefType)
        known = type.get_strides()
        if known is not None and None not in known:
            return [n for n in known if n is not None]
        if not isinstance(type.layout, NoneAttr):
            raise NoKernel(f"a buffer of type {type} with strides that are not known")
        strides: list[Stride] = [1]
        for axis in reversed(range(1, type.get_num_dims())):
            strides.insert(0, self.times(strides[0], self.dimension(value, axis)))
        return strides[: type.get_num_dims()]

    def dimension(self, value: SSAValue, axis: int) -> Stride:
        assert isa(type := value.type, MemRefType)
        if (size := type.get_shape()[axis]) != DYNAMIC_INDEX:
            return size
        return self.outside.dimension(value, axis)

    def mixed(self, static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[Stride]:
        """Return numbers of which some are operands."""
        rest = iter(dynamic)
        return [self.value(next(rest)) if n == DYNAMIC_INDEX else n for n in static]

    def tile(self, number: Stride) -> SSAValue:
        return self.number(number) if isinstance(number, int) else number

    def times(self, lhs: Stride, rhs: Stride) -> Stride:
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs * rhs
        if 1 in (lhs, rhs):
            return rhs if lhs == 1 else lhs
        return self.w.multiply(self.tile(lhs), self.tile(rhs))

    def sum(self, lhs: SSAValue | None, rhs: SSAValue) -> SSAValue:
        return rhs if lhs is None else self.w.add(lhs, rhs)

    # Accesses

    def load(self, buffer: SSAValue, indices: Sequence[SSAValue]) -> SSAValue:
        source = self.buffer(buffer)
        if isinstance(source, Registers):
            return self.register_of(buffer, source, indices)
        pointer = self.pointer(source, indices)
        mask = self.mask
        if not tile_of(pointer).get_shape():
            # One lane at least is not masked by the base mask.
            if mask is self.base_mask:
                mask = None
            elif mask is not None:
                pointer = self.w.broadcast(pointer, tile_of(mask).get_shape())
        elif mask is not None:
            mask = self.everywhere(mask)
        padding = None
        if mask is not None:
            padding = self.w.number(0, self.memory_element(source), tile_of(pointer).get_shape())
        token = self.token(source.root) if source.root in self.ordered else None
        op = memory_ops.LoadPtrTkoOp(pointer, mask, padding, token, memory_ordering_semantics=WEAK)
        value = self.w.insert(op)
        if token is not None:
            self.tokens[source.root] = op.result_token
        return self.loaded(value, source)

    def memory_element(self, buffer: LaneBuffer) -> Attribute:
        pointed = tile_of(buffer.pointer).element_type
        assert isinstance(pointed, PointerType)
        return pointed.pointee_type

    def loaded(self, value: SSAValue, buffer: LaneBuffer) -> SSAValue:
        """Return the elements in memory as those of tiles: bytes as i1, indices in their type."""
        if buffer.element == i1:
            return self.w.convert(value, i8, i1)
        if isinstance(buffer.element, IndexType):
            return self.w.convert(value, self.memory_element(buffer), self.index)
        return value

    def store(self, value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue]) -> None:
        target = self.buffer(buffer)
        if isinstance(target, Registers):
            self.set_register(value, buffer, target, indices)
            return
        value = self.w.convert(
            value,
            i1 if target.element == i1 else tile_of(value).element_type,
            self.memory_element(target),
        )
        value = narrowed(self.w, value, target.element)
        pointer, value = self.everywhere(self.pointer(target, indices)), self.everywhere(value)
        mask = None if self.mask is None else self.everywhere(self.mask)
        token = self.token(target.root) if target.root in self.ordered else None
        op = memory_ops.StorePtrTkoOp(pointer, value, mask, token, memory_ordering_semantics=WEAK)
        self.w.block.add_op(op)
        if token is not None:
            self.tokens[target.root] = op.result_token

    def combine(self, op: memref.AtomicRMWOp) -> SSAValue:
        """Combine an element in memory with a value, in any order, and return what it was."""
        target, kind = self.buffer(op.memref), REDUCTIONS[op.kind.value.data]
        if isinstance(target, Registers) or kind not in MODES:
            raise NoKernel(f"tiles have no atomic '{kind}'")
        new = memory_ops.AtomicRMWTkoOp(
            self.everywhere(self.pointer(target, op.indices)),
            self.everywhere(self.value(op.value)),
            None if self.mask is None else self.everywhere(self.mask),
            None,
            mode=MODES[kind],
            memory_ordering_semantics=MemoryOrderingSemantics.RELAXED,
            memory_scope=MemoryScope.DEVICE,
        )
        return self.w.insert(new)

    def pointer(self, buffer: LaneBuffer, indices: Sequence[SSAValue]) -> SSAValue:
        """Return the pointers to an element."""
        place = buffer.offset
        for index, stride in zip(indices, buffer.strides, strict=True):
            if integer_constant(index) != 0:
                place = self.sum(place, self.tile(self.times(self.value(index), stride)))
        if place is None:
            return buffer.pointer
        pointer = self.w.broadcast(buffer.pointer, tile_of(place).get_shape())
        return self.w.insert(elementwise_ops.OffsetOp(pointer, place))

    # Registers

    def places(
        self, registers: Registers, indices: Sequence[SSAValue]
    ) -> list[tuple[int, SSAValue | None]]:
        """Return the elements that indices may select, each with the condition that they do."""
        known = [integer_constant(index) for index in indices]
        found: list[tuple[int, SSAValue | None]] = []
        for number, place in enumerate(product(*map(range, registers.shape))):
            condition: SSAValue | None = None
            pairs = [*zip(place, known, indices, strict=True)]
            if any(k is not None and k != n for n, k, _ in pairs):
                continue
            for n, k, index in pairs:
                if k is None and registers.shape != (1,):
                    value, other = self.value(index), self.number(n)
                    equal = self.w.compare(ComparisonPredicate.EQUAL, value, other)
                    condition = self.w.both(condition, equal)
            found.append((number, condition))
        return found

    def register_of(
        self, buffer: SSAValue, registers: Registers, indices: Sequence[SSAValue]
    ) -> SSAValue:
        (first, _), *others = self.places(registers, indices)
        value = self.registers[buffer, first]
        for number, condition in others:
            assert condition is not None
            value = self.w.select(condition, self.registers[buffer, number], value)
        return value

    def set_register(
        self,
        value: SSAValue,
        buffer: SSAValue,
        registers: Registers,
        indices: Sequence[SSAValue],
    ) -> None:
        value = self.everywhere(value)
        for number, condition in self.places(registers, indices):
            if self.mask is not registers.mask:
                assert self.mask is not None
                condition = self.mask if condition is None else self.w.both(self.mask, condition)
            old = self.registers[buffer, number]
            new = value if condition is None else self.w.select(condition, value, old)
            self.registers[buffer, number] = new


def fits_registers(shape: Sequence[int]) -> bool:
    """Return whether a buffer of a lane is in registers."""
    return DYNAMIC_INDEX not in shape and prod(shape) <= REGISTERS
