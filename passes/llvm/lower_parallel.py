"""LowerParallel: threads of OpenMP share the iterations of parallel loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp, UnknownLoc, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.region_utils import iter_used_values_defined_above

from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.clone import clone
from ...passmanager.fast.edit import erase, insert_before, replace_all_uses
from ...passmanager.ir.walk import ancestors, ops_of, walk
from .lower_func import FORK
from .lower_scf import replace_by_loops

REPEATED = (arith.ConstantOp, memref.GetGlobalOp)
"""Operations that are repeated in a function, rather than have their results passed to it."""


def share_loops(module: ModuleOp, threads: int) -> None:
    """Move the body of each parallel loop that is in no other one, and has no results, into a
    function that runs a range of its iterations, and call it for `threads` threads.

    The range is in the first two parameters. Of several dimensions, threads share the first.
    """
    names = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
    for function in [op for op in module.ops if isinstance(op, func.FuncOp)]:
        loops = ops_of(function, scf.ParallelOp)
        # Reductions would need a value for each thread, and an order in which they are combined.
        for loop in [op for op in loops if not op.results and not is_in_parallel_loop(op)]:
            share(module, function, loop, threads, names)


def is_in_parallel_loop(op: Operation) -> bool:
    """Return whether `op` is in a parallel loop."""
    return any(isinstance(around, scf.ParallelOp) for around in ancestors(op.parent_op()))


def share(
    module: ModuleOp, function: func.FuncOp, loop: scf.ParallelOp, threads: int, names: set[str]
) -> None:
    """Move the body of one loop."""
    base, number = f"{function.sym_name.data}.body", 0
    while (name := f"{base}{number or ''}") in names:
        number += 1
    names.add(name)
    values = values_from_outside(loop)
    # A constant that is passed would not be one in the function, where LLVM unrolls by it.
    passed = [value for value in values if not isinstance(value.owner, REPEATED)]
    types = [IndexType(), IndexType(), *(value.type for value in passed)]
    new = func.FuncOp(name, (types, ()), visibility="private")
    new.location = loop.location
    entry = new.body.block
    copies: dict[SSAValue, SSAValue] = dict(zip(passed, entry.args[2:], strict=True))
    for value in values:
        if isinstance(owner := value.owner, REPEATED):
            entry.add_op(copy := clone(owner))
            copies[value] = copy.results[0]
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    size = arith.SubiOp(loop.upperBound[0], loop.lowerBound[0])
    # The number of iterations: from 0 to 10 by 4 there are 3.
    count = arith.CeilDivSIOp(size.result, loop.step[0])
    call = func.CallOp(name, [zero.result, count.result, *passed], [])
    call.attributes[FORK] = IntegerAttr(threads, i64)
    for op in (zero, size, count, call):
        op.location = loop.location
    insert_before(loop, zero, size, count, call)
    loop.detach()
    move_iterations(loop, entry, copies)
    module.body.block.insert_op_after(new, function)


def values_from_outside(loop: scf.ParallelOp) -> list[SSAValue]:
    """Return the values from outside of a loop that its iterations use, or that say where they
    are."""
    used = iter_used_values_defined_above(loop.body)
    return [*dict.fromkeys((*used, *loop.lowerBound, *loop.upperBound[1:], *loop.step))]


def move_iterations(
    loop: scf.ParallelOp, entry: Block, copies: Mapping[SSAValue, SSAValue]
) -> None:
    """Run the iterations of a loop, from the number in the first argument of `entry` up to that in
    the second, at its end; `copies` are the values to use in place of others."""
    for op in walk(loop):
        op.operands = [copies.get(operand, operand) for operand in op.operands]
    (start, *starts), (_, *ends), (step, *steps) = loop.lowerBound, loop.upperBound, loop.step
    inner = loop.detach_region(loop.body)
    block = inner.block
    body = Block(arg_types=[IndexType()])
    product = arith.MuliOp(body.args[0], step)
    # Threads share iteration numbers; `start + number * step` is the old variable.
    index = arith.AddiOp(start, product.result)
    replace_all_uses(block.args[0], index.result)
    block.erase_arg(block.args[0])
    # The other dimensions stay a parallel loop in the function, and become loops below.
    if starts:
        rest: list[Operation] = [scf.ParallelOp(starts, ends, steps, inner)]
    else:
        assert isinstance(end := block.last_op, scf.ReduceOp)
        erase(end)
        rest = [*block.ops]
        for op in rest:
            op.detach()
    body.add_ops([product, index, *rest, scf.YieldOp()])
    one = arith.ConstantOp(IntegerAttr(1, IndexType()))
    first, last, *_ = entry.args
    entry.add_ops([one, scf.ForOp(first, last, one.result, [], body), func.ReturnOp()])
    for op in [*entry.walk()]:
        if isinstance(op.location, UnknownLoc):
            op.location = loop.location
        if isinstance(op, scf.ParallelOp):
            replace_by_loops(op)
    loop.erase(safe_erase=False)


@dataclass(frozen=True)
class LowerParallel(ModulePass):
    """Let threads share the iterations of parallel loops without results: the body of a loop
    becomes a function of a range of iterations, and `lower-func` turns the call of it into one of
    the OpenMP runtime, which calls it once for each thread.

    Loops in other parallel loops, and those that reduce, run on one thread.

    Before:

        func.func @f(%x: memref<8xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c8 = arith.constant 8 : index
          %y = arith.constant 1.0 : f32
          "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
          ^bb0(%i: index):
            memref.store %y, %x[%i] : memref<8xf32>
            scf.reduce
          }) : (index, index, index) -> ()
          func.return
        }

    After:

        func.func @f(%x: memref<8xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c8 = arith.constant 8 : index
          %y = arith.constant 1.000000e+00 : f32
          %0 = arith.constant 0 : index
          %1 = arith.subi %c8, %c0 : index
          %2 = arith.ceildivsi %1, %c1 : index
          func.call @f.body(%0, %2, %x) {omp.fork = 2 : i64} : (index, index, memref<8xf32>) -> ()
          func.return
        }
        func.func private @f.body(%0: index, %1: index, %2: memref<8xf32>) {
          %y = arith.constant 1.000000e+00 : f32
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %3 = arith.constant 1 : index
          scf.for %4 = %0 to %1 step %3 {
            %5 = arith.muli %4, %c1 : index
            %i = arith.addi %c0, %5 : index
            memref.store %y, %2[%i] : memref<8xf32>
          }
          func.return
        }
    """

    name = "lower-parallel"
    before = ("lower-scf",)

    threads: int = field(default=2, metadata={"minimum": 1})
    """The threads that share a loop; with 1, nothing changes."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        if self.threads > 1:
            share_loops(module, self.threads)
