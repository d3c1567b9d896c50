"""One entry made of loops: its program, whose lanes are iterations, and its launch.

A lane is the place of an element in a tile, as in a vector register. It is no thread: how many of
these compute a tile is up to the assembler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, cf, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerType,
    MemRefType,
    SymbolRefAttr,
    i32,
)
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.utils.hints import isa

from ....dialects.cuda_tile.module_ops import EntryOp, GetNumTileBlocksOp
from ....dialects.cuda_tile.types import PointerType, TileType
from ....dialects.tir.launch import LaunchOp, device_element
from ....dialects.tir.ops import ForOp, YieldOp
from ....passes.generic.purity import Allocation, View
from ....passmanager.ir.walk import walk
from ....passmanager.releases.memref import dim_op
from ...analysis.constant_evaluator import integer_constant
from ...analysis.dependence import base_of
from ..choices import NoKernel
from .lane_program import LaneProgram, Outside, Stride, stored_in
from .scalar_ops import tile_element
from .tile_builder import ENTRIES
from .tile_writer import TileWriter, power_of_two

__all__ = ["LoopEntry", "Nest", "is_host_op", "is_host_value"]

LANES = (128, 1024)
"""The least and the greatest number of lanes of a tile, of loops with many iterations."""
LOOPING_LANES = 256
"""The greatest number of lanes that have loops of their own, or of unknown loops."""


@dataclass(frozen=True)
class Nest:
    """Operations that become one entry, and their outer loops whose iterations are lanes."""

    ops: Sequence[Operation]
    loops: Sequence[ForOp] = ()

    @property
    def last(self) -> Operation:
        return self.ops[-1]


@dataclass
class LoopEntry(Outside):
    """One entry, and its launch."""

    name: str
    nest: Nest
    index: IntegerType
    """The type of indices."""
    cores: int
    """The multiprocessors of the device."""

    def __post_init__(self) -> None:
        self.w = TileWriter(self.name, ())
        self.arguments: list[SSAValue] = []
        self.parameters: dict[tuple[object, ...], SSAValue] = {}
        self.extents = [self.extent(loop) for loop in self.nest.loops]
        self.lanes = self.count_lanes() if self.nest.loops else 1
        shape = (self.lanes,) if self.nest.loops else ()
        self.program = LaneProgram(self.w, shape, self.index, outside=self)

    def extent(self, loop: ForOp) -> int | SSAValue:
        known = integer_constant(loop.extent)
        return loop.extent if known is None else known

    def count_lanes(self) -> int:
        """Return the lanes of a tile: enough blocks for all multiprocessors, or short tiles."""
        least, most = LANES
        if any(
            isinstance(op, ForOp)
            for op in (inner for each in self.nest.loops[-1].body.block.ops for inner in walk(each))
        ) or any(not isinstance(n, int) for n in self.extents):
            most = LOOPING_LANES
        total = self.known_total()
        if total is None:
            return most
        share = total // (4 * self.cores)
        return min(power_of_two(total), max(least, min(most, power_of_two(share))))

    def known_total(self) -> int | None:
        known = [n for n in self.extents if isinstance(n, int)]
        return prod(known) if len(known) == len(self.extents) else None

    # The program

    def write(self) -> None:
        program, nest = self.program, self.nest
        program.ordered |= self.ordered()
        if nest.loops:
            self.lane_numbers()
        self.prepare()
        if not nest.loops:
            for op in nest.ops:
                program.operation(op)
            return
        for loop, variable in zip(nest.loops, self.variables(), strict=True):
            first = program.value(loop.min)
            is_zero = integer_constant(loop.min) == 0
            program.values[loop.variable] = variable if is_zero else self.w.add(first, variable)
        for loop in nest.loops:
            for op in loop.body.block.ops:
                if op not in nest.loops and not isinstance(op, YieldOp):
                    program.operation(op)

    def ordered(self) -> set[SSAValue]:
        """Return the buffers that are stored to and accessed by more than one operation, or in a
        loop of each lane."""
        inner = [op for outer in self.nest.ops for op in walk(outer)]
        accesses = [op for op in inner if isinstance(op, memref.StoreOp | memref.LoadOp)]
        roots = [base_of(op.memref) for op in accesses]
        body = self.nest.loops[-1].body.block if self.nest.loops else None
        once = {
            root
            for op, root in zip(accesses, roots, strict=True)
            if roots.count(root) == 1 and op.parent is body
        }
        return stored_in(self.nest.ops) - once

    def lane_numbers(self) -> None:
        """Compute the number of each lane, and the mask of lanes beyond the iterations."""
        w, program = self.w, self.program
        block, *_ = w.block_indices()
        block = w.convert(block, i32, self.index)
        first = w.multiply(block, program.number(self.lanes))
        lane = w.add(first, w.convert(w.iota((self.lanes,), 0), i32, self.index))
        total = self.known_total()
        program.lane = lane
        program.all_lanes = self.all_lanes(total)
        if total is None or total % self.lanes:
            program.mask = w.less(lane, program.tile(self.total()))
        program.base_mask = program.mask

    def all_lanes(self, total: int | None) -> Stride:
        """Return the lanes of all tile blocks."""
        if total is not None:
            return -(-total // self.lanes) * self.lanes
        blocks = GetNumTileBlocksOp()
        self.w.block.add_op(blocks)
        number = self.w.convert(blocks.gridSize_x, i32, self.index)
        return self.w.multiply(number, self.program.number(self.lanes))

    def total(self) -> Stride:
        total: Stride = 1
        for n in self.extents:
            total = self.program.times(total, n if isinstance(n, int) else self.scalar(n))
        return total

    def variables(self) -> list[SSAValue]:
        """Return the variables of the loops, counted from 0; the last one varies fastest."""
        w, program = self.w, self.program
        assert program.lane is not None
        number, found = program.lane, list[SSAValue]()
        for extent in reversed(self.extents[1:]):
            if extent == 1:
                found.append(program.number(0))
                continue
            size = program.tile(extent if isinstance(extent, int) else self.scalar(extent))
            number, rest = w.divided(number, size)
            found.append(rest)
        return [number, *reversed(found)]

    def prepare(self) -> None:
        """Compute what all lanes share: values from outside, in the order in which they are
        defined."""
        inside = dict.fromkeys(op for outer in self.nest.ops for op in walk(outer))
        needed: dict[SSAValue, None] = {}

        def visit(value: SSAValue) -> None:
            owner = value.owner
            if value in needed or (isinstance(owner, Operation) and owner in inside):
                return
            if isinstance(owner, Block) and owner.parent_op() in inside:
                return
            if isinstance(owner, Operation) and (not is_host_value(value) or is_known_view(owner)):
                for operand in owner.operands:
                    visit(operand)
            needed[value] = None

        for op in inside:
            for value in op.operands:
                visit(value)
        for value in needed:
            if isinstance(value.type, MemRefType):
                if not isinstance(value.owner, memref.AllocaOp):
                    self.program.buffer(value)
            elif isinstance(value, OpResult) and not is_host_value(value):
                self.program.operation(value.op)
            else:
                self.program.value(value)

    # Parameters

    def scalar(self, value: SSAValue) -> SSAValue:
        if isinstance(value.owner, arith.ConstantOp):
            self.program.operation(value.owner)
            return self.program.values[value]
        element = tile_element(value.type, self.index)
        return self.parameter((value,), TileType((), element), lambda: value)

    def number(self, value: int) -> SSAValue:
        return self.parameter(
            ("number", value), TileType((), self.index), lambda: self.host_number(value)
        )

    def pointer(self, buffer: SSAValue) -> SSAValue:
        assert isa(type := buffer.type, MemRefType)
        element = device_element(type.get_element_type())
        return self.parameter((buffer,), TileType((), PointerType(element)), lambda: buffer)

    def dimension(self, buffer: SSAValue, axis: int) -> SSAValue:
        def size() -> SSAValue:
            number = self.on_host(arith.ConstantOp.from_int_and_width(axis, IndexType()))
            return self.on_host(dim_op(buffer, number))

        return self.parameter((buffer, axis), TileType((), self.index), size)

    def scratch(self, op: memref.AllocOp | memref.AllocaOp) -> SSAValue:
        assert isa(type := op.memref.type, MemRefType)
        if any(not is_host_value(size) for size in op.dynamic_sizes):
            raise NoKernel("a buffer of each lane whose size is computed in a loop")

        def memory() -> SSAValue:
            count = prod(n for n in type.get_shape() if n != DYNAMIC_INDEX)
            size = self.host_product([self.host_lanes(), count, *op.dynamic_sizes])
            new = MemRefType(type.element_type, [DYNAMIC_INDEX])
            return self.on_host(memref.AllocOp([size], [], new, op.alignment))

        element = device_element(type.get_element_type())
        return self.parameter((op,), TileType((), PointerType(element)), memory)

    def parameter(
        self, key: tuple[object, ...], type: TileType, argument: Callable[[], SSAValue]
    ) -> SSAValue:
        """Return the parameter for a value on the host, which is added if it is new."""
        if key not in self.parameters:
            self.arguments.append(argument())
            body = self.w.entry.body.block
            self.parameters[key] = body.insert_arg(type, len(body.args))
        return self.parameters[key]

    # The host

    def on_host(self, op: Operation) -> SSAValue:
        self.insert(op)
        return op.results[0]

    def insert(self, op: Operation) -> None:
        block = self.nest.last.parent
        assert block is not None
        block.insert_op_before(op, self.nest.last)

    def host_product(self, factors: Sequence[int | SSAValue]) -> SSAValue:
        known, total = 1, None
        for factor in factors:
            if isinstance(factor, int):
                known *= factor
            else:
                product = None if total is None else arith.MuliOp(total, factor)
                total = factor if product is None else self.on_host(product)
        if total is None:
            return self.host_number(known)
        if known == 1:
            return total
        return self.on_host(arith.MuliOp(total, self.host_number(known)))

    def host_number(self, value: int) -> SSAValue:
        return self.on_host(arith.ConstantOp.from_int_and_width(value, IndexType()))

    def blocks(self) -> int | SSAValue:
        """Return the number of tile blocks."""
        if not self.nest.loops:
            return 1
        if (total := self.known_total()) is not None:
            return -(-total // self.lanes)
        more = arith.AddiOp(self.host_product(self.extents), self.host_number(self.lanes - 1))
        return self.on_host(arith.DivUIOp(self.on_host(more), self.host_number(self.lanes)))

    def host_lanes(self) -> int | SSAValue:
        """Return the number of lanes of all tile blocks."""
        blocks = self.blocks()
        if isinstance(blocks, int):
            return blocks * self.lanes
        return self.host_product([blocks, self.lanes])

    def finish(self) -> EntryOp:
        """Write the launch, and return the entry."""
        blocks = self.blocks()
        one = self.host_number(1)
        callee = SymbolRefAttr(ENTRIES, [self.name])
        grid = self.host_number(blocks) if isinstance(blocks, int) else blocks
        launch = LaunchOp(callee, [grid, one, one], self.arguments)
        launch.location = self.nest.ops[0].location
        self.insert(launch)
        return self.w.finish()


def is_host_op(op: Operation) -> bool:
    """Return whether the host runs an operation, if it knows the operands."""
    if isinstance(op, memref.AllocaOp):
        return False
    if isinstance(op, Allocation | View | memref.DimOp | memref.DeallocOp | cf.AssertOp):
        return True
    return op.dialect_name() in ("arith", "math", "builtin") or isinstance(op, YieldOp)


def is_host_value(value: SSAValue) -> bool:
    """Return whether the host knows a value, which is not computed of elements of buffers."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        if (value := pending.pop()) in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Block):
            if isinstance(owner.parent_op(), ForOp):
                return False
        elif is_host_op(owner):
            pending += owner.operands
        else:
            return False
    return True


def is_known_view(op: Operation) -> bool:
    """Return whether the program computes the strides of a view; others are parameters."""
    return isinstance(op, memref.CastOp | memref.ReinterpretCastOp)
