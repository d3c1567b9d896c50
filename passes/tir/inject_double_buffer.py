"""InjectDoubleBuffer: each iteration of a loop fills the buffer that the next one reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp, StridedLayoutAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from ...compiler.analysis.memory.buffers import DOUBLE_BUFFER, Buffer, buffer_type, mixed_shape
from ...compiler.analysis.memory.double_buffers import DoubleBuffer, find_double_buffers
from ...dialects.tir.ops import ForOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.walk import walk
from ..generic.purity import Allocation
from ..loops import Index, LoopBuilder, known_index
from .base import PrimFuncPass

INDEX = IndexType()


def inject_double_buffers(func: PrimFuncOp, split: int = 1, *, actions: Actions = SILENT) -> None:
    """Double the allocations in loops of `func` that are marked `double_buffer_scope`.

    `split` is 0, 1 or an even number: see `LoopPipeliner`. If a marked allocation cannot be
    doubled, a warning gives the reason.
    """
    marked_loops: set[Operation] = set()
    ops = list(walk(func))
    for op in ops:
        if isinstance(op, Allocation) and DOUBLE_BUFFER in op.attributes:
            if isinstance(loop := op.parent_op(), ForOp):
                marked_loops.add(loop)
            else:
                actions.warning(op, f"{DOUBLE_BUFFER}: it is not in the body of a loop")
    # Inner loops first: outer ones are rebuilt from clones of them.
    warnings: list[tuple[Operation, str]] = []
    for loop in reversed([op for op in ops if isinstance(op, ForOp) and op in marked_loops]):
        found, refused = find_double_buffers(func, loop)
        warnings += reversed(refused.items())
        if found and actions.allowed(loop):
            LoopPipeliner(loop, found).run(split)
            actions.count("doubled", len(found))
    for op, reason in reversed(warnings):
        actions.warning(op, f"{DOUBLE_BUFFER}: {reason}")


class LoopPipeliner:
    """Rewrites one loop with double buffers: iteration `i` fills the half for iteration `i + 1`.

    Before the loop the first half is filled for the first iteration. The last iteration must not
    fill. With a `split` of

    * 0 a condition in the loop tests for it;
    * 1 it is peeled off, after the loop;
    * 2, 4, ... the loop runs that many iterations at once, in which the halves of the buffers
      are known; the remaining 1 to `split` iterations come after it.
    """

    def __init__(self, loop: ForOp, buffers: Sequence[DoubleBuffer]) -> None:
        self._loop = loop
        self._first, self._extent = known_index(loop.min), known_index(loop.extent)
        self._body = _LoopBody(loop, buffers)

    def run(self, split: int) -> None:
        """Replace the loop."""
        builder = LoopBuilder(InsertPoint.before(self._loop))
        # A fill may read out of bounds if there is no first iteration.
        with builder.when(0, self._extent) as prologue:
            if prologue is not None:
                self._body.fill(prologue, self._first, 0)
        if split == 0:
            self._keep_condition(builder)
        elif split == 1:
            self._peel_last(builder)
        else:
            self._unroll(builder, split)
        erase(self._loop)

    def _keep_condition(self, builder: LoopBuilder) -> None:
        with builder.loop(self._loop, self._first, self._extent) as (inside, variable):
            step = inside.sub(variable, self._first)
            following = inside.add(step, 1)
            with inside.when(following, self._extent) as then:
                if then is not None:
                    self._body.fill(then, then.add(variable, 1), then.parity(following))
            self._body.rest(inside, variable, inside.parity(step))

    def _peel_last(self, builder: LoopBuilder) -> None:
        last = builder.sub(self._extent, 1)
        with builder.loop(self._loop, self._first, last) as (inside, variable):
            step = inside.sub(variable, self._first)
            next_half = inside.parity(inside.add(step, 1))
            self._body.fill(inside, inside.add(variable, 1), next_half)
            self._body.rest(inside, variable, inside.parity(step))
        with builder.when(0, self._extent) as epilogue:
            if epilogue is not None:
                iteration = epilogue.add(self._first, last)
                self._body.rest(epilogue, iteration, epilogue.parity(last))

    def _unroll(self, builder: LoopBuilder, split: int) -> None:
        last = builder.sub(self._extent, 1)
        # `last / split` and not `extent / split`: the last iteration, which must not fill, is left
        # over.
        rounds = builder.at_least_0(builder.emit("floordiv", last, split))
        with builder.loop(self._loop, 0, rounds) as (inside, variable):
            base = inside.add(self._first, inside.mul(variable, split))
            for part in range(split):
                iteration = inside.add(base, part)
                # An even `split` begins each round at half 0, so that halves are constants.
                self._body.fill(inside, inside.add(iteration, 1), (part + 1) % 2)
                self._body.rest(inside, iteration, part % 2)
        done = builder.mul(rounds, split)
        for part in range(split):
            step = builder.add(done, part)
            with builder.when(step, self._extent) as epilogue:
                if epilogue is None:
                    break
                iteration = epilogue.add(self._first, step)
                if part + 1 < split:
                    following = epilogue.add(step, 1)
                    with epilogue.when(following, self._extent) as then:
                        if then is not None:
                            next_iteration = then.add(self._first, following)
                            self._body.fill(then, next_iteration, (part + 1) % 2)
                self._body.rest(epilogue, iteration, part % 2)


class _LoopBody:
    """The body of a loop in two parts that are cloned: filling the buffers, and the rest.

    The constructor doubles the buffers. The index of the half that a part uses is a placeholder, an
    argument of a detached block, which each clone replaces.
    """

    def __init__(self, loop: ForOp, buffers: Sequence[DoubleBuffer]) -> None:
        self._loop = loop
        block = loop.body.block
        self._read_half, self._written_half = Block(arg_types=[INDEX, INDEX]).args
        self._filled_views: list[Operation] = []
        for buffer in buffers:
            self._double(buffer)
        fills = {buffer.fill for buffer in buffers}
        filling = fills.union(self._filled_views, *(buffer.inputs for buffer in buffers))
        # Inputs of the fills that the rest uses too are cloned in both parts.
        only_filling = set(fills)
        # Backwards, so that all users of a value are decided before it.
        for op in reversed(list(block.ops)):
            uses = (use for result in op.results for use in result.uses)
            users = [block.find_ancestor_op_in_block(use.operation) for use in uses]
            if op in filling and all(user in only_filling for user in users):
                only_filling.add(op)
        ops = [op for op in block.ops if op is not block.last_op]
        self._fill_ops = [op for op in ops if op in filling]
        self._rest_ops = [op for op in ops if op not in only_filling]

    def fill(self, builder: LoopBuilder, iteration: Index, half: Index) -> None:
        """Clone the operations that fill a half of each buffer for `iteration`."""
        self._clone(self._fill_ops, builder, iteration, self._written_half, half)

    def rest(self, builder: LoopBuilder, iteration: Index, half: Index) -> None:
        """Clone the rest of the body for `iteration`, which reads a half of each buffer."""
        self._clone(self._rest_ops, builder, iteration, self._read_half, half)

    def _clone(
        self,
        ops: Iterable[Operation],
        builder: LoopBuilder,
        iteration: Index,
        placeholder: SSAValue,
        half: Index,
    ) -> None:
        values = {self._loop.variable: builder.value(iteration), placeholder: builder.value(half)}
        for op in ops:
            builder.insert(op.clone(values))

    def _double(self, buffer: DoubleBuffer) -> None:
        """Allocate both halves before the loop; the accesses in the body get a placeholder for the
        half."""
        old, type = buffer.allocation, buffer_type(buffer.allocation.memref)
        new = _build_double_allocation(old)
        insert_before(self._loop, new)
        shape = mixed_shape(type, old.dynamic_sizes)
        for use in list(old.memref.uses):
            op, at = use.operation, use.index
            # The fill is an iteration ahead: it writes the other half than the rest reads.
            is_fill = self._loop.body.block.find_ancestor_op_in_block(op) is buffer.fill
            half = self._written_half if is_fill else self._read_half
            # A copy takes a whole buffer, here a view of one half; other accesses get one more
            # index.
            if isinstance(op, memref.CopyOp):
                view = _build_half_view(new.memref, half, shape, type)
                insert_before(op, view)
                op.operands[at] = view.result
                if is_fill:
                    self._filled_views.append(view)
            else:
                op.operands = [*op.operands[:at], new.memref, half, *op.operands[at + 1 :]]
        erase(old)


def _build_double_allocation(old: Allocation) -> Allocation:
    """Return an allocation like `old` with a leading dimension of 2, without the mark."""
    type = buffer_type(old.memref)
    new = old.build(
        operands=[list(old.dynamic_sizes), []],
        result_types=[
            MemRefType(type.element_type, [2, *type.get_shape()], memory_space=type.memory_space)
        ],
        properties={"alignment": old.alignment},
        attributes={name: value for name, value in old.attributes.items() if name != DOUBLE_BUFFER},
    )
    new.location = old.location
    new.results[0].name_hint = old.memref.name_hint
    return new


def _build_half_view(
    both: SSAValue, half: SSAValue, shape: Sequence[Index], type: Buffer
) -> memref.SubviewOp:
    """Return a view of one half of `both`, in the shape and of the `type` of the old buffer."""
    strides: list[int | None] = [1]
    for size in reversed(type.get_shape()[1:]):
        last = strides[-1]
        # Strides of a dynamic size are dynamic; the subview computes them at run time.
        strides.append(None if size == DYNAMIC_INDEX or last is None else last * size)
    layout = StridedLayoutAttr(strides[::-1] if shape else [], None)
    ones, zeros = [1] * len(shape), [0] * len(shape)
    result = MemRefType(type.element_type, type.shape, layout, type.memory_space)
    return memref.SubviewOp.get(both, [half, *zeros], [1, *shape], [1, *ones], result)


@dataclass(frozen=True)
class InjectDoubleBuffer(PrimFuncPass):
    """Double the allocations in loops that have the attribute `double_buffer_scope`.

    Each iteration fills one half while it reads the other, which the last iteration filled.
    Source: `tir.InjectDoubleBuffer`.

    Before:

        tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          tir.for %i = %c0 extent %c8 {
            %b = memref.alloc() {double_buffer_scope} : memref<f32>
            %0 = memref.load %x[%i] : memref<8xf32>
            memref.store %0, %b[] : memref<f32>
            %1 = memref.load %b[] : memref<f32>
            memref.store %1, %y[%i] : memref<8xf32>
          }
        }

    After:

        tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
          %c0 = arith.constant 0 : index
          %c8 = arith.constant 8 : index
          %b = memref.alloc() : memref<2xf32>
          %0 = arith.constant 0 : index
          %1 = memref.load %x[%0] : memref<8xf32>
          memref.store %1, %b[%0] : memref<2xf32>
          %2 = arith.constant 7 : index
          tir.for %i = %0 extent %2 {
            %3 = arith.constant 1 : index
            %4 = arith.addi %i, %3 : index
            %5 = arith.constant 2 : index
            %6 = arith.remsi %4, %5 : index
            %7 = arith.addi %i, %3 : index
            %8 = memref.load %x[%7] : memref<8xf32>
            memref.store %8, %b[%6] : memref<2xf32>
            %9 = arith.remsi %i, %5 : index
            %10 = memref.load %b[%9] : memref<2xf32>
            memref.store %10, %y[%i] : memref<8xf32>
          }
          %11 = arith.constant 1 : index
          %12 = memref.load %b[%11] : memref<2xf32>
          memref.store %12, %y[%2] : memref<8xf32>
        }
    """

    name = "tir-inject-double-buffer"
    after = ("tir-vectorize-loop",)

    split_loop: int = field(default=1, metadata={"minimum": 0})
    """Iterations that the loop runs at once: 1, or an even number; 0 keeps a condition in the loop
    instead of iterations after it."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if self.split_loop < 0 or (self.split_loop > 1 and self.split_loop % 2):
            raise PassFailedException(
                f"split-loop is {self.split_loop}: expected 0, 1 or an even number"
            )
        inject_double_buffers(func, self.split_loop, actions=ctx.actions)
