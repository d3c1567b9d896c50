"""VectorizeLoop: the iterations of a loop become the lanes of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from typing_extensions import TypeIs
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import BFloat16Type, MemRefType, ModuleOp, i1
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ...compiler.analysis.constant_evaluator import constant_extent
from ...compiler.analysis.vectorization_plan import (
    VectorizationPlan,
    find_shared_store,
    is_expandable,
)
from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, PrimFuncOp, YieldOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.conditions import Condition
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.effects import READS, own_effects
from ...passmanager.ir.walk import walk
from ...passmanager.releases.floats import PACKS_BF16
from ..generic.purity import Allocation
from ..loops import ConstantPool, clone_ops, create_or_fold, expand_loop
from .base import PrimFuncPass
from .lane_values import LaneValues, insert_in_place_of
from .loop_conditions import no_vectorized_loops, vectorizable_loops

# Vectorization of one loop: its iterations become the lanes of vectors.
#
# Example, for 4 lanes:
#
#     tir.for vectorized %v = %c0 extent %c4 {        %0 = vector.load %a[%c0]
#       %0 = memref.load %a[%v]                  ->   %1 = arith.addf %0, %0 : vector<4xf32>
#       %1 = arith.addf %0, %0 : f32                  vector.store %1, %b[%c0]
#       memref.store %1, %b[%v]
#     }


def vectorize_loop(
    loop: ForOp,
    count: int,
    constants: ConstantPool,
    *,
    predicate: bool = False,
    actions: Actions = SILENT,
) -> None:
    """Replace `loop`, of `count` iterations, by its body on vectors of `count` lanes.

    Operations that cannot be done on vectors run in serial loops over the lanes. If two lanes may
    store to the same element, the whole loop becomes serial. `predicate` allows replacing a branch
    on `index < limit` by masked accesses.
    """
    if find_shared_store(loop) is not None:
        loop.kind = ForKindAttr(ForKind.SERIAL)
        actions.missed(loop, "SharedStore", "is serial: lanes may write the same element")
        return
    if not PACKS_BF16 and any(
        isinstance(value.type, BFloat16Type) for op in walk(loop) for value in op.results
    ):
        loop.kind = ForKindAttr(ForKind.SERIAL)
        actions.missed(loop, "VectorsOfBF16", "is serial: this xDSL has no vectors of bf16")
        return
    location = loop.location
    # Before the plan, which then sees accesses whose last index is the lane.
    privatize_buffers(loop, count, constants)
    vectorizer = LoopVectorizer(VectorizationPlan(loop, count, predicate), constants)
    vectorizer.run()
    actions.count("vectorized")
    actions.passed(location, "Vectorized", "vectorized", Lanes=count)
    if serial := vectorizer.serial_loops:
        actions.count("scalarized", serial)
        message = "has parts that cannot be done on vectors, and run in serial loops"
        actions.missed(location, "Scalarized", message, Loops=serial)


# Buffers


def privatize_buffers(loop: ForOp, count: int, constants: ConstantPool) -> None:
    """Add a last dimension of `count` lanes to the buffers that `loop` allocates for itself.

    Each lane gets a copy of its own, and the accesses of the lanes are contiguous.
    """
    buffers = [op for op in walk(loop) if isinstance(op, Allocation) and is_expandable(op, loop)]
    if not buffers:
        return
    start = loop.body.block.first_op
    assert start is not None
    insert = partial(insert_before, start)
    lane = create_or_fold(arith.SubiOp, loop.variable, loop.min, constants, insert)
    for op in buffers:
        _add_lane_dimension(op, count, lane)


def _add_lane_dimension(op: Allocation, count: int, lane: SSAValue) -> None:
    """Add a last dimension to a buffer, and the index `lane` to its accesses."""
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


# Operations


class LoopVectorizer:
    """Rewrites one loop by its plan.

    Operations with effects are rewritten in order, and request the vectors that they need from
    `LaneValues`. Then the old operations are erased, and the body replaces the loop.
    `serial_loops` is the number of loops over the lanes that were inserted.
    """

    def __init__(self, plan: VectorizationPlan, constants: ConstantPool) -> None:
        self.plan = plan
        self.strides = plan.strides
        self.constants = constants
        self.values = LaneValues(plan, constants)
        self.serial_loops = 0

    def run(self) -> None:
        """Rewrite the body of the loop, and replace the loop by it."""
        loop = self.plan.loop
        old = [*walk(loop)][1:]
        self._visit_block(loop.body.block)
        self._erase_old(old)
        end = loop.body.block.last_op
        assert end is not None
        end.detach()
        # What is left of its users is the same in all lanes, as `0 * %i`.
        users = [use.operation for use in loop.variable.uses]
        assert not any(self.strides.varies(result) for op in users for result in op.results)
        Rewriter.inline_block(loop.body.block, InsertPoint.before(loop), (loop.min,))
        erase(loop)

    def _erase_old(self, ops: Sequence[Operation]) -> None:
        """Erase the operations of `ops` that were replaced, and those without effects that nothing
        uses any more."""
        for op in reversed(ops):  # users before the operations that they use
            if any(result.uses for result in op.results):
                continue
            only_reads = not op.regions and not own_effects(op) & ~READS
            if op in self.values.replaced or (op.results and only_reads):
                erase(op)

    def _visit_block(self, block: Block) -> None:
        tail = self.plan.serial_tail.get(block)
        for op in tuple(block.ops):
            if op is tail:
                # The first operation without a vector and all after it: its users are among them.
                ops = [op]
                while (following := ops[-1].next_op) is not None:
                    ops.append(following)
                self._run_serially(ops[:-1])
                return
            self._visit(op)

    def _visit(self, op: Operation) -> None:
        """Rewrite `op` if it has effects; pure operations are rewritten when they are needed."""
        if op in self.plan.serial:
            self._run_serially([op])
            return
        match op:
            case memref.StoreOp():
                self._store(op)
            case scf.IfOp() if op in self.plan.masked:
                self._mask(op)
            case scf.IfOp():
                for region in op.regions:
                    for block in region.blocks:
                        self._visit_block(block)
                if any(map(self.strides.varies, op.results)):
                    self._widen(op)
            case ForOp():
                self._visit_block(op.body.block)
            case _:
                pass

    def _store(self, op: memref.StoreOp) -> None:
        value = self.values.vector(op.value)
        indices = [self.values.first(index) for index in op.indices]
        if (mask := self.values.masks.get(op)) is None:
            new = vector.StoreOp(value, op.memref, indices)
            new.properties |= op.properties
        else:
            new = vector.MaskedStoreOp(op.memref, indices, mask, value)
        insert_in_place_of(op, new)
        self.values.replaced.add(op)

    # Branches

    def _mask(self, op: scf.IfOp) -> None:
        """Run a branch on all lanes; its accesses are masked by the condition `index < limit`."""
        index, limit = self.plan.masked[op]
        arithmetic = self.values.arithmetic
        active = arithmetic(arith.SubiOp, limit, self.values.first(index), op)
        # MLIR truncates the operand of create_mask to 32 bits on the way to LLVM: clamp it first.
        active = arithmetic(arith.MaxSIOp, active, 0, op)
        active = arithmetic(arith.MinSIOp, active, self.plan.count, op)
        insert_before(op, mask := vector.CreateMaskOp([active], self.plan.vector_type(i1)))
        *ops, _ = op.true_region.block.ops
        for inner in ops:
            inner.detach()
            insert_before(op, inner)
            self.values.masks[inner] = mask.mask_vector
        for inner in ops:
            self._visit(inner)
        self.values.replaced.add(op)

    def _widen(self, op: scf.IfOp) -> None:
        """Let a branch with a uniform condition yield vectors for the results that vary."""
        wide = [self.strides.varies(result) for result in op.results]
        for region in op.regions:
            end = region.block.last_op
            assert end is not None
            values = zip(end.operands, wide, strict=True)
            end.operands = [self.values.vector(v) if is_wide else v for v, is_wide in values]
        types = zip(op.result_types, wide, strict=True)
        then, otherwise = op.regions
        new = scf.IfOp(
            op.cond,
            [self.plan.vector_type(type) if is_wide else type for type, is_wide in types],
            op.detach_region(then),
            op.detach_region(otherwise),
            op.attributes.copy(),
        )
        insert_in_place_of(op, new)
        for old, result, is_wide in zip(op.results, new.results, wide, strict=True):
            if is_wide:
                self.values.vectors[old] = result
            else:
                old.replace_all_uses_with(result)
        self.values.replaced.add(op)

    # Loops over the lanes

    def _run_serially(self, ops: Sequence[Operation]) -> None:
        """Move neighboring operations into a loop over the lanes."""
        loop = self.plan.loop
        # The same iterations as the lanes, so that operations can be moved in as they are.
        serial = ForOp(loop.min, loop.extent)
        serial.location = loop.location
        serial.variable.name_hint = loop.variable.name_hint
        insert_before(ops[0], serial)
        serial.body.block.add_op(end := YieldOp())
        inside = [*chain.from_iterable(map(walk, ops))]
        defined: set[SSAValue] = {result for op in inside for result in op.results}
        defined.update(arg for op in inside for r in op.regions for b in r.blocks for arg in b.args)
        used = dict.fromkeys(
            v for op in inside for v in op.operands if v not in defined and self.strides.varies(v)
        )
        values = self._values_in(serial, used)
        for op in inside:
            op.operands = [values.get(value, value) for value in op.operands]
        for op in ops:
            op.detach()
            insert_before(end, op)
        self.serial_loops += 1

    def _values_in(self, serial: ForOp, used: Iterable[SSAValue]) -> dict[SSAValue, SSAValue]:
        """Return the values `used` in one iteration of `serial`, a loop over the lanes.

        Pure operations are recomputed from the loop variable; the other values are extracted from
        their vectors.
        """
        end = serial.body.block.last_op
        assert end is not None
        values: dict[SSAValue, SSAValue] = {self.plan.loop.variable: serial.variable}
        recomputed = self.values.recomputed(used, values)
        leaves = [*used, *(value for op in recomputed for value in op.operands)]
        lane: SSAValue | None = None
        for value in dict.fromkeys(leaves):
            is_leaf = self.strides.varies(value) and value not in values
            if is_leaf and self.values.pure_owner(value) is None:
                lane = lane or self.values.arithmetic(
                    arith.SubiOp, serial.variable, serial.min, end
                )
                new = vector.ExtractOp(self.values.vector(value), [lane], value.type)
                insert_before(end, new)
                values[value] = new.result
        for op in clone_ops(recomputed, values, self.constants):
            insert_before(end, op)
        return values


def vectorize_loops(
    func: PrimFuncOp, *, predicate: bool = False, actions: Actions = SILENT
) -> None:
    """Vectorize the `vectorized` loops of `func`; of nested ones only the outermost.

    `predicate` allows masked accesses in place of branches. Errors: a loop whose extent is not
    constant, and an `scf.while` in a loop.
    """
    constants = ConstantPool(func)
    for loop in [op for op in walk(func) if is_vectorized(op)]:
        # A loop nested in an earlier one has become serial.
        if is_vectorized(loop) and can_vectorize(loop, actions):
            _vectorize(loop, constants, predicate, actions)


def make_loops_serial(func: PrimFuncOp) -> None:
    """Make the `vectorized` loops of `func` serial."""
    for loop in walk(func):
        if is_vectorized(loop):
            loop.kind = ForKindAttr(ForKind.SERIAL)


def is_vectorized(op: Operation) -> TypeIs[ForOp]:
    """Return whether `op` is a loop of kind `vectorized`."""
    return isinstance(op, ForOp) and op.for_kind is ForKind.VECTORIZED


def can_vectorize(loop: ForOp, actions: Actions) -> bool:
    """Report an error for each `scf.while` in `loop`, or if its extent is not a constant; return
    False if there was one.

    Vectorized loops nested in `loop` become serial, with a warning.
    """
    violations = vectorizable_loops(loop)
    for op, how in violations:
        error = actions.error(op, how)
        if op is not loop:
            error.note(loop, "is the vectorized loop")
    for op in walk(loop):
        if op is not loop and is_vectorized(op):
            actions.warning(op, "is in a vectorized loop: it runs as a serial loop")
            op.kind = ForKindAttr(ForKind.SERIAL)
    return not violations


def _vectorize(loop: ForOp, constants: ConstantPool, predicate: bool, actions: Actions) -> None:
    count = constant_extent(loop)
    assert count is not None
    if not actions.allowed(loop):
        return
    if count < 2:
        # A vector of one lane is a scalar, and one of none does not exist.
        expand_loop(loop, count, constants)
    else:
        vectorize_loop(loop, count, constants, predicate=predicate, actions=actions)


@dataclass(frozen=True)
class VectorizeLoop(PrimFuncPass):
    """Replace `vectorized` loops of constant extent by vector operations.

    Operations that have no vector form run in serial loops over the lanes. The iterations of the
    loop must not depend on each other; a loop in which two iterations may store to the same
    element becomes serial. Source: `tir.VectorizeLoop`.

    Before:

        tir.prim_func @f(%x: memref<8xf32>, %y: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          tir.for vectorized %i = %c0 extent %c8 {
            %0 = memref.load %x[%i] : memref<8xf32>
            %1 = arith.mulf %0, %y : f32
            memref.store %1, %x[%i] : memref<8xf32>
          }
        }

    After:

        tir.prim_func @f(%x: memref<8xf32>, %y: f32) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %0 = vector.broadcast %y : f32 to vector<8xf32>
          %1 = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
          %2 = arith.mulf %1, %0 : vector<8xf32>
          vector.store %2, %x[%c0] : memref<8xf32>, vector<8xf32>
        }
    """

    name = "tir-vectorize-loop"
    ensures = (no_vectorized_loops,)

    enable_vectorize: bool = True
    """Make vectors; if false, vectorized loops become serial ones."""
    enable_buffer_level_predication: bool = False
    """Turn branches on `index < limit` into masked loads and stores."""

    @property
    def requires(self) -> Sequence[Condition]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What vectorized loops are like, if they become vectors."""
        return (vectorizable_loops,) if self.enable_vectorize else ()

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if self.enable_vectorize:
            predicate = self.enable_buffer_level_predication
            vectorize_loops(func, predicate=predicate, actions=ctx.actions)
        else:
            make_loops_serial(func)
