"""Polls in machine code: a long run checks at intervals whether it is to stop.

A poll asserts that a word of the status is 0. Another thread may set that word while the code runs:
the assertion then fails, which ends the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import prod
from types import MappingProxyType

from xdsl.dialects import arith, cf, func, llvm, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....passes.generic.analysis.call_graph import CallGraph
from ....passmanager.ir.walk import ops_of, walk
from ...analysis.constants import integer_constant

__all__ = [
    "INTERRUPTED",
    "Work",
    "insert_polls",
    "insert_polls_in_long",
    "is_poll",
    "poll_condition",
]

INTERRUPTED = "the run was interrupted"
"""The message of polls."""

LONG_RUN = 10**8
"""The operations of a run that takes long: some hundredths of a second."""
LONG_ITERATION = 10**5
"""The operations of an iteration that takes much longer than a poll."""
UNKNOWN = 10**3
"""The iterations that a loop of unknown length is taken to have."""


def insert_polls(
    module: ModuleOp, entry: str, elsewhere: Mapping[str, int] = MappingProxyType({})
) -> bool:
    """Insert polls into the loops of a lowered module if a call of `entry` may take long; return
    whether it may. Iterations of a loop that take little time are not interrupted. `elsewhere` is
    the number of operations of each function that the module only declares."""
    work = Work(module, elsewhere)
    return work.of_function(entry) >= LONG_RUN and insert_polls_in_long(module, work)


def insert_polls_in_long(module: ModuleOp, work: Work) -> bool:
    """Insert polls into the functions of a lowered module that may take long, whoever calls them;
    return whether there are any."""
    polled = False
    for function in [op for op in module.ops if isinstance(op, func.FuncOp)]:
        if work.of_function(function.sym_name.data) >= LONG_RUN and not function.is_declaration:
            since = 0  # operations after the last poll: a detector calls many small kernels
            for call in [op for op in function.body.blocks[0].ops if isinstance(op, func.CallOp)]:
                since += work.of(call)
                if since >= LONG_ITERATION:
                    insert_poll(InsertPoint.after(call), call)
                    since, polled = 0, True
    for op in ops_of(module, scf.ForOp, scf.ParallelOp):
        if work.of(op) >= LONG_RUN and work.of_iteration(op) >= LONG_ITERATION and can_stop(op):
            insert_poll_at_end(op.body.block)
            polled = True
    for op in ops_of(module, scf.WhileOp):
        insert_poll_at_end(op.after_region.block)
        polled = True
    return polled


def insert_poll_at_end(body: Block) -> None:
    """Insert a poll at the end of an iteration, where no value is computed after it."""
    assert (end := body.last_op) is not None
    insert_poll(InsertPoint.before(end), end)


def insert_poll(point: InsertPoint, near: Operation) -> None:
    """Insert a poll with the location of `near`."""
    yes = arith.ConstantOp(IntegerAttr(1, i1))
    poll = cf.AssertOp(yes, INTERRUPTED)
    yes.location = poll.location = near.location
    Rewriter.insert_op((yes, poll), point)


def is_poll(op: cf.AssertOp) -> bool:
    """Return whether an assertion is a poll."""
    return op.msg.data == INTERRUPTED


def poll_condition(op: Operation, status: SSAValue, word: int) -> SSAValue:
    """Insert before `op` the condition that a word of the status is 0. It is read each time: by an
    atomic load, which LLVM does not move out of loops."""

    def insert(new: Operation) -> SSAValue:
        new.location = op.location
        Rewriter.insert_op(new, InsertPoint.before(op))
        return new.results[0]

    place = insert(memref.ExtractAlignedPointerAsIndexOp.get(status))
    first = insert(arith.IndexCastOp(place, i64))
    offset = insert(arith.ConstantOp(IntegerAttr(8 * word, i64)))
    pointer = insert(llvm.IntToPtrOp(insert(arith.AddiOp(first, offset))))
    value = insert(llvm.LoadOp(pointer, i64, alignment=8, ordering=MONOTONIC))
    zero = insert(arith.ConstantOp(IntegerAttr(0, i64)))
    return insert(arith.CmpiOp(value, zero, "eq"))


MONOTONIC = 2
"""The number of LLVM's ordering."""


def can_stop(op: scf.ForOp | scf.ParallelOp) -> bool:
    """Return whether `op` carries scalars and vectors only: after a failure it goes on with other
    values, which for these can be made."""
    numbers = (IntegerType, IndexType, AnyFloat, VectorType)
    return all(isinstance(type, numbers) for type in op.result_types)


class Work:
    """The estimated numbers of operations that functions, loops and their iterations execute."""

    def __init__(
        self, module: ModuleOp, elsewhere: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self._functions: dict[str, int] = {}
        self._bodies: dict[Operation, int] = defaultdict(int)
        for function in CallGraph(module).callees_first():
            if isinstance(function, func.FuncOp):
                for op in reversed([op for op in walk(function) if op.regions]):  # inner ones first
                    self._bodies[op] = sum(
                        self.of(inner) if inner.regions or isinstance(inner, func.CallOp) else 1
                        for region in op.regions
                        for block in region.blocks
                        for inner in block.ops
                    )
                name = function.sym_name.data
                self._functions[name] = elsewhere.get(name, self._bodies[function])

    def of_function(self, name: str) -> int:
        """Return the operations of a call; a recursive function is taken to run long."""
        return self._functions.get(name, LONG_RUN)

    def of_iteration(self, op: Operation) -> int:
        """Return the operations of the regions of `op`, each executed once."""
        return self._bodies[op]

    def of(self, op: Operation) -> int:
        """Return the operations of `op` and of all that it executes."""
        match op:
            case func.CallOp():
                return self._functions.get(op.callee.string_value(), 1)
            case scf.ForOp() | scf.ParallelOp():
                return trips(op) * self.of_iteration(op)
            case scf.WhileOp():
                return max(LONG_RUN, UNKNOWN * self.of_iteration(op))
            case _:
                return 1 + self.of_iteration(op)


def trips(op: scf.ForOp | scf.ParallelOp) -> int:
    """Return the number of iterations, or a guess."""
    if isinstance(op, scf.ForOp):
        return trips_of(op.lb, op.ub, op.step)
    return prod(map(trips_of, op.lowerBound, op.upperBound, op.step))


def trips_of(start: SSAValue, end: SSAValue, step: SSAValue) -> int:
    """Return the number of iterations from `start` up to `end`, or a guess."""
    first, last, by = map(integer_constant, (start, end, step))
    if first is None or last is None or by is None or by <= 0:
        return UNKNOWN
    return max(0, -(-(last - first) // by))
