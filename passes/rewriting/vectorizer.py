"""The rewriting of a loop whose iterations become the lanes of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import cast

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryEffectKind, is_side_effect_free, only_has_effect
from xdsl.utils.hints import isa

from ...analysis.constants import integer_constant
from ...analysis.lanes import ALLOCATIONS, Lanes, is_expandable
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, YieldOp
from ...passmanager.ir.walk import walk
from .cloning import BinaryOp, Constants, compute, copy_ops

__all__ = ["vectorize"]


def vectorize(loop: ForOp, count: int, constants: Constants, predicate: bool = False) -> int | None:
    """Replace a loop of so many iterations by its body, done on vectors; returns how many pieces of
    it stay loops, as they cannot be, or None if all has to, as lanes may write the same element.

    `predicate` allows accesses under a mask in the place of branches.
    """
    if Lanes(loop, count, predicate).shared_store() is not None:
        loop.kind = ForKindAttr(ForKind.SERIAL)
        return None
    expand_buffers(loop, count, constants)
    lanes = Lanes(loop, count, predicate)
    lanes.plan()
    return Vectorizer(lanes, constants).run()


# Buffers


def expand_buffers(loop: ForOp, count: int, constants: Constants) -> None:
    """Give the buffers that a loop allocates, and nobody else sees, a last dimension: its lanes."""
    buffers = [op for op in walk(loop) if isinstance(op, ALLOCATIONS) and is_expandable(op)]
    buffers = [op for op in buffers if not any(loop.is_ancestor(n.owner) for n in op.operands)]
    if not buffers:
        return
    start = loop.body.block.first_op
    assert start is not None
    place = partial(insert, before=start)
    lane = compute(arith.SubiOp, loop.variable, loop.min, constants, place)
    for op in buffers:
        expand_buffer(op, count, lane)


def expand_buffer(op: memref.AllocOp | memref.AllocaOp, count: int, lane: SSAValue) -> None:
    """Add a last dimension to a buffer, and `lane` to the indices of its accesses."""
    type = op.memref.type
    assert isa(type, MemRefType)
    wide = MemRefType(type.element_type, [*type.get_shape(), count], type.layout, type.memory_space)
    new = op.create(
        operands=op.operands,
        result_types=[wide],
        properties=op.properties.copy(),
        attributes=op.attributes.copy(),
        location=op.location,
    )
    for use in [*op.memref.uses]:
        use.operation.operands = [*use.operation.operands, lane]
    Rewriter.replace_op(op, new)


def insert(op: Operation, before: Operation) -> None:
    """Put an operation before another."""
    block = before.parent
    assert block is not None
    block.insert_op_before(op, before)


# Vectors


class Vectorizer:
    """The rewriting of one loop: beside each operation that varies comes what does it for all
    lanes; then the old ones go, and the loop leaves its body behind.
    """

    def __init__(self, lanes: Lanes, constants: Constants) -> None:
        self.lanes = lanes
        self.count = lanes.count
        self.constants = constants
        self.vectors: dict[SSAValue, SSAValue] = {}
        """Of values what they are in all lanes."""
        self.parts: dict[SSAValue, list[SSAValue]] = {}
        """The same lane by lane."""
        self.firsts: dict[SSAValue, SSAValue] = {lanes.loop.variable: lanes.loop.min}
        """Of indices that vary what they are in the first lane."""
        self.masks: dict[Operation, SSAValue] = {}
        self.replaced: set[Operation] = set()
        self.serial = 0

    def run(self) -> int:
        """Replace the loop; returns how many loops are left in its place."""
        loop = self.lanes.loop
        old = [*walk(loop)][1:]
        self.visit_block(loop.body.block)
        self.erase(old)
        end = loop.body.block.last_op
        assert end is not None
        end.detach()
        assert not loop.variable.uses
        Rewriter.inline_block(loop.body.block, InsertPoint.before(loop), (loop.min,))
        loop.detach()
        loop.erase()
        return self.serial

    def erase(self, ops: Sequence[Operation]) -> None:
        """Erase what was replaced, and what was computed for it only."""
        for op in reversed(ops):
            if any(result.uses for result in op.results):
                continue
            writes = op.regions or not only_has_effect(op, MemoryEffectKind.READ)
            if op in self.replaced or (op.results and not writes):
                op.detach()
                op.erase()

    def visit_block(self, block: Block) -> None:
        """Do on vectors what has effects."""
        rest = self.lanes.rest.get(block)
        for op in tuple(block.ops):
            if op is rest:
                ops = [op]
                while (following := ops[-1].next_op) is not None:
                    ops.append(following)
                self.run_serially(ops[:-1])
                return
            self.visit(op)

    def visit(self, op: Operation) -> None:
        """Do an operation on vectors, if it has effects; others are done when they are needed."""
        if op in self.lanes.serial:
            self.run_serially([op])
            return
        match op:
            case memref.StoreOp():
                self.store(op)
            case scf.IfOp() if op in self.lanes.masked:
                self.mask(op)
            case scf.IfOp():
                for region in op.regions:
                    for block in region.blocks:
                        self.visit_block(block)
                if any(map(self.lanes.varies, op.results)):
                    self.widen(op)
            case ForOp():
                self.visit_block(op.body.block)
            case _:
                pass

    def vector(self, value: SSAValue) -> SSAValue:
        """What a value is in all lanes, computed where the value is."""
        pending = [value]
        while pending:
            if self.is_made(top := pending[-1]):
                pending.pop()
            elif missing := [v for v in self.inputs(top) if not self.is_made(v)]:
                pending += missing
            else:
                self.make(pending.pop())
        if value not in self.vectors:
            self.vectors[value] = self.joined(value)
        return self.vectors[value]

    def is_made(self, value: SSAValue) -> bool:
        return value in self.vectors or value in self.parts

    def inputs(self, value: SSAValue) -> Sequence[SSAValue]:
        """The values that have to be made before one."""
        op = value.owner
        if isinstance(op, Block) or self.lanes.stride(value) is not None:
            return ()
        if op not in self.lanes.wide:
            return [v for v in op.operands if self.lanes.stride(v) is None]
        return [v for n, v in enumerate(op.operands) if not self.lanes.is_kept(op, n)]

    def make(self, value: SSAValue) -> None:
        """Make the vector of a value, or its parts, with its inputs at hand."""
        match self.lanes.stride(value), value.owner:
            case 0, _:
                self.vectors[value] = self.splat(value)
            case int(stride), _:
                self.vectors[value] = self.ramp(value, stride)
            case _, memref.LoadOp() as op if self.lanes.is_contiguous(op):
                self.vectors[value] = self.load(op)
            case _, Operation() as op if op in self.lanes.wide:
                self.lanewise(op)
            case _, owner:
                assert isinstance(owner, Operation)
                self.by_hand(owner)

    def splat(self, value: SSAValue) -> SSAValue:
        """A value that is the same in all lanes in each of them."""
        type = self.lanes.vector_type(value.type)
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr | FloatAttr):
            return self.dense(value.type, [op.value.value.data] * self.count)
        new = vector.BroadcastOp(value, type)
        loop = self.lanes.loop
        if not loop.is_ancestor(op):
            insert(new, loop)
        elif isinstance(op, Block):
            Rewriter.insert_op(new, InsertPoint.at_start(op))
        else:
            Rewriter.insert_op(new, InsertPoint.after(op))
        return new.vector

    def dense(self, type: Attribute, values: Sequence[int | float]) -> SSAValue:
        """A constant vector."""
        of = cast(VectorType[IntegerType], self.lanes.vector_type(type))
        numbers = cast(Sequence[int], values)
        return self.constants.get(DenseIntOrFPElementsAttr.from_list(of, numbers))

    def ramp(self, value: SSAValue, stride: int) -> SSAValue:
        """An index that grows by a constant from lane to lane."""
        steps = [stride * lane for lane in range(self.count)]
        first = self.first(value)
        if (start := integer_constant(first)) is not None:
            return self.dense(IndexType(), [start + step for step in steps])
        before = self.lanes.loop if isinstance(value.owner, Block) else value.owner
        start = vector.BroadcastOp(first, self.lanes.vector_type(IndexType()))
        new = arith.AddiOp(start, self.dense(IndexType(), steps))
        insert(start, before)
        insert(new, before)
        return new.result

    def load(self, op: memref.LoadOp) -> SSAValue:
        """Neighboring elements."""
        type = self.lanes.vector_type(op.res.type)
        indices = [self.first(index) for index in op.indices]
        if (mask := self.masks.get(op)) is None:
            new = vector.LoadOp(op.memref, indices, type)
            new.properties |= op.properties
        else:
            zeros = self.dense(op.res.type, [0] * self.count)
            new = vector.MaskedLoadOp(op.memref, indices, mask, zeros, type)
        self.put(new, op)
        return new.result

    def store(self, op: memref.StoreOp) -> None:
        value = self.vector(op.value)
        indices = [self.first(index) for index in op.indices]
        if (mask := self.masks.get(op)) is None:
            new = vector.StoreOp(value, op.memref, indices)
            new.properties |= op.properties
        else:
            new = vector.MaskedStoreOp(op.memref, indices, mask, value)
        self.put(new, op)
        self.replaced.add(op)

    def lanewise(self, op: Operation) -> None:
        """Do an operation on vectors."""
        new = op.create(
            operands=[
                v if self.lanes.is_kept(op, n) else self.vector(v)
                for n, v in enumerate(op.operands)
            ],
            result_types=[self.lanes.vector_type(type) for type in op.result_types],
            properties=op.properties.copy(),
            attributes=op.attributes.copy(),
        )
        self.put(new, op)
        self.vectors.update(zip(op.results, new.results, strict=True))

    def by_hand(self, op: Operation) -> None:
        """Do an operation lane by lane."""
        self.parts.update({result: [] for result in op.results})
        for lane in range(self.count):
            operands = {v: self.in_lane(v, lane, op) for v in op.operands}
            insert(new := op.clone_without_regions(operands), op)
            for old, result in zip(op.results, new.results, strict=True):
                self.parts[old].append(result)

    def joined(self, value: SSAValue) -> SSAValue:
        """The vector of what was computed lane by lane."""
        op = value.owner
        assert isinstance(op, Operation)
        whole = self.dense(value.type, [0] * self.count)
        for lane, part in enumerate(self.parts[value]):
            insert(new := vector.InsertOp(part, whole, [lane]), op)
            whole = new.result
        return whole

    def in_lane(self, value: SSAValue, lane: int, before: Operation) -> SSAValue:
        """What a value is in one lane."""
        stride = self.lanes.stride(value)
        if stride == 0:
            return value
        if stride is not None:
            return self.compute(arith.AddiOp, self.first(value), stride * lane, before)
        if value in self.parts:
            return self.parts[value][lane]
        insert(new := vector.ExtractOp(self.vectors[value], [lane], value.type), before)
        return new.result

    def first(self, value: SSAValue) -> SSAValue:
        """What an index is in the first lane, computed where it is."""
        if not self.lanes.varies(value):
            return value
        for op in self.computed_by([value], self.firsts):
            for copy in copy_ops([op], self.firsts, self.constants):
                insert(copy, op)
        return self.firsts[value]

    def computed_by(
        self, values: Iterable[SSAValue], known: Mapping[SSAValue, SSAValue]
    ) -> list[Operation]:
        """The operations without effects that vary of which values are computed, in order, as far
        as what they compute is not known.
        """
        found: dict[Operation, None] = {}
        pending = [op for v in values if (op := self.copied(v)) is not None and v not in known]
        while pending:
            op = pending[-1]
            operands = [o for v in op.operands if (o := self.copied(v)) and v not in known]
            if missing := [o for o in operands if o not in found]:
                pending += missing
            else:
                found[pending.pop()] = None
        return [*found]

    def copied(self, value: SSAValue) -> Operation | None:
        """The operation that gives a value that varies, if it may be done again elsewhere."""
        op = value.owner
        if not self.lanes.varies(value) or isinstance(op, Block) or op.regions:
            return None
        return op if is_side_effect_free(op) and op not in self.replaced else None

    def compute(
        self, kind: BinaryOp, lhs: SSAValue, rhs: SSAValue | int, before: Operation
    ) -> SSAValue:
        """What an operation on indices gives, computed there unless it is known."""
        rhs = self.constants.index(rhs) if isinstance(rhs, int) else rhs
        return compute(kind, lhs, rhs, self.constants, partial(insert, before=before))

    def put(self, new: Operation, old: Operation) -> None:
        """Put an operation where the one is that it replaces, under its names."""
        insert(new, old)
        new.location = old.location
        for result, before in zip(new.results, old.results, strict=True):
            result.name_hint = before.name_hint

    # Branches

    def mask(self, op: scf.IfOp) -> None:
        """Do a branch on all lanes, with accesses for those only in which the condition holds."""
        index, limit = self.lanes.masked[op]
        left = self.compute(arith.SubiOp, limit, self.first(index), op)
        # What create_mask takes is cut off to 32 bits on the way to LLVM.
        left = self.compute(arith.MaxSIOp, left, 0, op)
        left = self.compute(arith.MinSIOp, left, self.count, op)
        insert(mask := vector.CreateMaskOp([left], self.lanes.vector_type(i1)), op)
        *ops, _ = op.true_region.block.ops
        for inner in ops:
            inner.detach()
            insert(inner, op)
            self.masks[inner] = mask.mask_vector
        for inner in ops:
            self.visit(inner)
        self.replaced.add(op)

    def widen(self, op: scf.IfOp) -> None:
        """Let a branch whose condition is the same for all lanes give vectors."""
        wide = [self.lanes.varies(result) for result in op.results]
        for region in op.regions:
            end = region.block.last_op
            assert end is not None
            values = zip(end.operands, wide, strict=True)
            end.operands = [self.vector(v) if is_wide else v for v, is_wide in values]
        types = zip(op.result_types, wide, strict=True)
        branch, other = op.regions
        new = scf.IfOp(
            op.cond,
            [self.lanes.vector_type(type) if is_wide else type for type, is_wide in types],
            op.detach_region(branch),
            op.detach_region(other),
            op.attributes.copy(),
        )
        self.put(new, op)
        for old, result, is_wide in zip(op.results, new.results, wide, strict=True):
            if is_wide:
                self.vectors[old] = result
            else:
                old.replace_all_uses_with(result)
        self.replaced.add(op)

    # Loops

    def run_serially(self, ops: Sequence[Operation]) -> None:
        """Move operations that follow each other into a loop over the lanes."""
        loop = self.lanes.loop
        serial = ForOp(loop.min, loop.extent)
        serial.location = loop.location
        serial.variable.name_hint = loop.variable.name_hint
        insert(serial, ops[0])
        serial.body.block.add_op(end := YieldOp())
        inside = [*chain.from_iterable(map(walk, ops))]
        own: set[SSAValue] = {result for op in inside for result in op.results}
        own.update(arg for op in inside for r in op.regions for b in r.blocks for arg in b.args)
        used = dict.fromkeys(
            v for op in inside for v in op.operands if v not in own and self.lanes.varies(v)
        )
        values = self.values_in(serial, used)
        for op in inside:
            op.operands = [values.get(value, value) for value in op.operands]
        for op in ops:
            op.detach()
            insert(op, end)
        self.serial += 1

    def values_in(self, serial: ForOp, used: Iterable[SSAValue]) -> dict[SSAValue, SSAValue]:
        """What values that vary are in an iteration of a loop over the lanes."""
        end = serial.body.block.last_op
        assert end is not None
        values: dict[SSAValue, SSAValue] = {self.lanes.loop.variable: serial.variable}
        computed = self.computed_by(used, values)
        leaves = [*used, *(value for op in computed for value in op.operands)]
        lane: SSAValue | None = None
        for value in dict.fromkeys(leaves):
            if self.lanes.varies(value) and value not in values and self.copied(value) is None:
                lane = lane or self.compute(arith.SubiOp, serial.variable, serial.min, end)
                new = vector.ExtractOp(self.vector(value), [lane], value.type)
                insert(new, end)
                values[value] = new.result
        for op in copy_ops(computed, values, self.constants):
            insert(op, end)
        return values
