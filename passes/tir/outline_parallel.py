"""tir-outline-parallel: move the bodies of parallel loops into functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import IndexType, ModuleOp, UnitAttr, VectorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.region_utils import iter_used_values_defined_above
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from ...compiler.analysis.constant_evaluator import integer_constant
from ...compiler.analysis.iteration_ranges import FORK_WORK, extent_of, parallel_work, work_of
from ...dialects.target import target_of
from ...dialects.tir.functions import is_parameter
from ...dialects.tir.ops import CallOp, ForKind, ForKindAttr, ForOp, PrimFuncOp, YieldOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.effects import all_effects, own_effects
from ...passmanager.ir.walk import walk
from ..generic.purity import View
from ..loops import Index, LoopBuilder, chunk_of, known_index

PART = "tir.part"
"""The attribute of the call that computes a part of the iterations of a loop."""


def outline_parallel_loops(
    module: ModuleOp, threads: int, fork_work: int = FORK_WORK, *, actions: Actions = SILENT
) -> None:
    """Move the body of each outermost parallel loop in `module` into a function that computes a
    range of the iterations; the loop calls it once for each of `threads` threads.

    Loops with little work, and loops in the body of a parallel one, become serial.
    """
    if threads == 1:
        return
    names = {op.sym_name.data for op in module.ops if isinstance(op, PrimFuncOp)}
    for func in [op for op in module.ops if isinstance(op, PrimFuncOp)]:
        for loop in outermost(func):
            nest = nest_of(loop)
            # Serial before the estimate of work, and in the function: one fork for each nest.
            for inner in [op for op in walk(loop) if isinstance(op, ForOp)]:
                if inner.for_kind is ForKind.PARALLEL:
                    inner.kind = ForKindAttr(ForKind.SERIAL)
            count, work = 1, work_of(loop)
            for each in nest:
                count *= extent_of(each)
            # The fork costs more than it saves.
            if parallel_work(work, count, threads, fork_work) >= work:
                message = "runs on one thread: it has too little work"
                actions.missed(loop, "SerialLoop", message, work=work)
            elif actions.allowed(loop):
                actions.passed(loop, "Outlined", f"is shared by {threads} threads", work=work)
                actions.count("outlined-loops")
                Outlining(func, nest, threads, new_name(func, names)).run()


def outermost(func: PrimFuncOp) -> list[ForOp]:
    """Return the parallel loops of `func` that are in no other one, but for outlined ones."""
    found: list[ForOp] = []
    for op in walk(func):
        if isinstance(op, ForOp) and op.for_kind is ForKind.PARALLEL:
            if not any(other.is_ancestor(op) for other in found[-1:]):
                found.append(op)
    return [op for op in found if not any(PART in inner.attributes for inner in op.body.block.ops)]


def nest_of(loop: ForOp) -> list[ForOp]:
    """Return `loop` and the parallel loops with constant bounds that are all of its body, or of
    the body of one of these: operations before them have no effect."""
    nest = [loop]
    while True:
        *ops, _ = nest[-1].body.block.ops
        last = ops[-1] if ops else None
        if not isinstance(last, ForOp) or last.for_kind is not ForKind.PARALLEL:
            return nest
        # The number of all iterations is computed before the nest, where inner bounds must be
        # known.
        bounds = integer_constant(last.min), integer_constant(last.extent)
        if None in bounds or any(map(all_effects, ops[:-1])):
            return nest
        nest.append(last)


def new_name(func: PrimFuncOp, names: set[str]) -> str:
    """Return a name for a part of `func` that is not in `names`, and add it there."""
    number = 0
    while (name := f"{func.sym_name.data}_part{number or ''}") in names:
        number += 1
    names.add(name)
    return name


KEPT = ("passthrough", "tir.alias")
"""The attributes of a function that also hold for parts of it."""


@dataclass
class Outlining:
    """The move of the body of a nest of parallel loops into a function."""

    func: PrimFuncOp
    nest: Sequence[ForOp]
    threads: int
    name: str
    copies: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """The values from outside of the loop, and those in the new function."""
    arguments: list[SSAValue] = field(default_factory=list[SSAValue])
    """The values that are passed to the new function."""

    def run(self) -> None:
        loop = self.nest[0]
        attributes = {k: v for k, v in self.func.attributes.items() if k in KEPT}
        part = PrimFuncOp(self.name, [], visibility="private", attributes=attributes)
        part.location = loop.location
        block = part.body.block
        start, build = LoopBuilder(InsertPoint.at_end(block)), LoopBuilder(InsertPoint.before(loop))
        for value in captured(loop):
            self.capture(value, block)
        first, size = (block.insert_arg(IndexType(), len(block.args)) for _ in range(2))
        # The loop over a chunk, and the loop over chunks in its place.
        inner = ForOp(first, size)
        inner.location = loop.location
        start.insert(inner)
        self.move_body(inner)
        block.add_op(YieldOp())
        total = self.total(build)
        # One chunk for each thread: work that is even needs no more, and each call costs.
        chunks = min(total, self.threads) if isinstance(total, int) else self.threads
        outer = ForOp(build.value(0), build.value(chunks), kind=ForKind.PARALLEL)
        outer.location = loop.location
        build.insert(outer)
        inside = LoopBuilder(InsertPoint.at_end(outer.body.block))
        self.call(inside, outer.variable, total, chunks)
        outer.body.block.add_op(YieldOp())
        for old, new in self.copies.items():
            # After all were captured: the old operations were moved into the function with their
            # old operands.
            old.replace_uses_with_if(new, lambda use: part.is_ancestor(use.operation))
        # Arguments were added to the block as they were met.
        part.properties["function_type"] = part.function_type.from_lists(block.arg_types, [])
        part.arg_attrs = None
        Rewriter.insert_op(part, InsertPoint.after(self.func))
        Rewriter.erase_op(loop)

    def total(self, build: LoopBuilder) -> Index:
        """Return the number of iterations of the nest; of the inner loops it is known."""
        outer, *others = [known_index(loop.extent) for loop in self.nest]
        if not others:
            return outer
        return build.mul(outer, prod(extent for extent in others if isinstance(extent, int)))

    def call(self, build: LoopBuilder, number: BlockArgument, total: Index, chunks: int) -> None:
        """Insert the call that computes a chunk of the iterations."""
        bounds = map(build.value, chunk_of(build, number, total, chunks))
        call = CallOp(self.name, [*self.arguments, *bounds])
        call.attributes[PART] = UnitAttr()
        call.location = self.nest[0].location
        build.insert(call)

    def move_body(self, inner: ForOp) -> None:
        """Move the bodies of the nest into `inner`, whose variable counts all iterations."""
        target = inner.body.block
        build = LoopBuilder(InsertPoint.at_end(target))
        number: SSAValue = inner.variable
        values: list[SSAValue] = []
        # Of nests i < n and j < 4, iteration k is `i = k / 4`, `j = k % 4`: a chunk may begin
        # anywhere.
        for each in reversed(self.nest[1:]):
            extent = integer_constant(each.extent)
            assert extent is not None
            divisor = build.value(extent)
            values.append(build.insert(arith.RemUIOp(number, divisor)).result)
            number = build.insert(arith.DivUIOp(number, divisor)).result
        values.append(number)
        for each, value in zip(self.nest, reversed(values), strict=True):
            if integer_constant(each.min) != 0:
                value = build.insert(arith.AddiOp(value, each.min)).result
            each.variable.replace_all_uses_with(value)
            for op in [*each.body.block.ops]:
                if op not in self.nest and not isinstance(op, YieldOp):
                    op.detach()
                    build.insert(op)
        target.add_op(YieldOp())

    def capture(self, value: SSAValue, block: Block) -> None:
        """Add a value to the new function: a parameter, or a copy of the operation that computes
        it from others. Views are copied, so that each buffer has one parameter."""
        if value in self.copies:
            return
        op = value.owner
        if isinstance(op, Operation) and is_copied(op, value):
            for operand in op.operands:
                self.capture(operand, block)
            copy = op.clone(value_mapper={o: self.copies[o] for o in op.operands})
            block.add_op(copy)
            self.copies.update(zip(op.results, copy.results, strict=True))
            return
        given = self.stored(value) if isa(value.type, VectorType) else value
        argument = block.insert_arg(given.type, len(block.args))
        argument.name_hint = value.name_hint
        self.arguments.append(given)
        self.copies[value] = argument
        if isa(type := value.type, VectorType):
            build = LoopBuilder(InsertPoint.at_end(block))
            places = [build.value(0)] * len(type.get_shape())
            self.copies[value] = build.insert(vector.LoadOp(argument, places, type)).result

    def stored(self, value: SSAValue) -> SSAValue:
        """Return a buffer with the lanes of a vector that was read from memory before the loop:
        vectors are no parameters, and the memory may be written in the loop."""
        type = value.type
        assert isa(type, VectorType)
        build = LoopBuilder(InsertPoint.before(self.nest[0]))
        buffer = build.insert(memref.AllocaOp.get(type.element_type, shape=type.get_shape()))
        places = [build.value(0)] * len(type.get_shape())
        build.insert(vector.StoreOp(value, buffer.memref, places))
        return buffer.memref


def is_copied(op: Operation, value: SSAValue) -> bool:
    """Return whether the operation that computes `value` is copied into functions that need it."""
    # A constant is better known inside, where loops have it as a bound.
    if isinstance(op, arith.ConstantOp | View | memref.GetGlobalOp):
        return True
    # A scalar that can be passed is computed once, not by each thread.
    return not is_parameter(value.type) and not op.regions and not own_effects(op)


def captured(loop: ForOp) -> list[SSAValue]:
    """Return the values from outside of `loop` that operations in it use, in order."""
    first = [] if integer_constant(loop.min) == 0 else [loop.min]
    return [*dict.fromkeys((*first, *iter_used_values_defined_above(loop.body)))]


@dataclass(frozen=True)
class OutlineParallel(ModulePass):
    """Move the body of each parallel loop with enough work into a function that computes a range
    of its iterations; the loop calls it once for each thread, as many as the target of the module
    has cores. Other parallel loops become serial. Nothing happens on one core.

    The buffers of the new function are parameters, which do not overlap; what it allocates belongs
    to one thread.

    Before:

        builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
          tir.prim_func @f(%x: memref<262144xf32>) {
            %c0 = arith.constant 0 : index
            %c262144 = arith.constant 262144 : index
            tir.for parallel %i = %c0 extent %c262144 {
              %0 = memref.load %x[%i] : memref<262144xf32>
              %1 = math.exp %0 : f32
              memref.store %1, %x[%i] : memref<262144xf32>
            }
          }
        }

    After:

        builtin.module attributes {tir.target = "x86-64-v3{cores=2}"} {
          tir.prim_func @f(%x: memref<262144xf32>) {
            %c0 = arith.constant 0 : index
            %c262144 = arith.constant 262144 : index
            %0 = arith.constant 0 : index
            %1 = arith.constant 2 : index
            tir.for parallel %2 = %0 extent %1 {
              %3 = arith.constant 131072 : index
              %4 = arith.muli %2, %3 : index
              tir.call @f_part(%x, %4, %3) {tir.part} : memref<262144xf32>, index, index
            }
          }
          tir.prim_func private @f_part(%x: memref<262144xf32>, %0: index, %1: index) {
            tir.for %i = %0 extent %1 {
              %2 = memref.load %x[%i] : memref<262144xf32>
              %3 = math.exp %2 : f32
              memref.store %3, %x[%i] : memref<262144xf32>
            }
          }
        }
    """

    name = "tir-outline-parallel"

    fork_work: int = field(default=FORK_WORK, metadata={"minimum": 0})
    """The number of operations that take as long as starting threads and waiting for them."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        threads = target_of(module).cores
        outline_parallel_loops(module, threads, self.fork_work, actions=ctx.actions)
