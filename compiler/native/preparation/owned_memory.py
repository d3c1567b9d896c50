"""The memory to free when an assertion fails.

A function that returns buffers, and a branch or loop that yields them, allocates them, and leaves
them to its caller or to the block around it. All other memory is freed at the end of its block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from types import MappingProxyType

from xdsl.dialects import arith, cf, func, llvm, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....passes.generic.call_graph import CallGraph
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import place_of
from ....passmanager.ir.walk import ops_of, walk
from ...analysis.constant_evaluator import integer_constant

ZERO = IntegerAttr(0, IndexType())
FIRST_PAGE = 4096
"""No memory is below this address: an aligned null pointer is."""

VIEWS = (memref.CastOp, memref.ReinterpretCastOp, memref.ViewOp)
"""The operations that return a view of the allocation of their first operand."""


SOURCES = frozenset({func.CallOp, scf.ForOp, scf.IfOp, scf.WhileOp})
"""The operations that return buffers for the block around to free."""


def allocation_of(value: SSAValue, sources: Mapping[SSAValue, SSAValue]) -> SSAValue:
    """Return the allocation that `value` is a view of. `sources` maps values to what they stand
    for."""
    while True:
        if value in sources:
            value = sources[value]
        elif isinstance(value.owner, VIEWS):
            value = value.owner.operands[0]
        else:
            return value


def allocations_before(op: Operation) -> list[OpResult]:
    """Return the buffers that operations before `op` in its block allocate at run time, or get from
    a function, a branch or a loop that does."""
    found: list[OpResult] = []
    other = op.prev_op
    while other is not None:
        found += allocated(other)
        other = other.prev_op
    return found


def allocated(op: Operation) -> Sequence[OpResult]:
    """Return the buffers that `op` allocates at run time, or gets from a function, a branch or a
    loop that does."""
    kind = type(op)
    if kind in SOURCES or (kind is memref.AllocOp and op.operands):
        return [result for result in op.results if isinstance(result.type, MemRefType)]
    return ()


@dataclass(frozen=True, eq=False)
class Live:
    """A buffer to free after a failure, and the others, which were allocated before it."""

    buffer: SSAValue
    others: Live | None


def live_after(
    points: Collection[Operation], block: Block, returned: Collection[SSAValue]
) -> dict[Operation, Live | None]:
    """Return the buffers that are live after each of the operations `points` that is in `block`:
    those that it, or a block after it, would have freed, or the function `returned`."""
    found: dict[Operation, Live | None] = {}
    live: Live | None = None
    for op in block.ops:
        if isinstance(op, memref.DeallocOp):
            live = without(live, op.memref)
        for value in allocated(op):
            if value in returned or is_freed(value, block.parent_region()):
                live = Live(value, live)
        if op in points:
            found[op] = live
    return found


def without(live: Live | None, buffer: SSAValue) -> Live | None:
    """Return the live buffers except `buffer`."""
    later: list[SSAValue] = []
    rest = live
    while rest is not None and rest.buffer is not buffer:
        later.append(rest.buffer)
        rest = rest.others
    if rest is None:
        return live
    return reduce(lambda others, value: Live(value, others), reversed(later), rest.others)


def is_freed(value: SSAValue, region: Region | None) -> bool:
    """Return whether `value` is freed in a block of `region`."""
    frees = [use.operation for use in value.uses if isinstance(use.operation, memref.DeallocOp)]
    return any(free.parent_region() is region for free in frees)


def check_returned(module: ModuleOp) -> None:
    """Raise PasslineError if a function returns a buffer that its caller cannot free: one that it
    does not allocate, a part of one, or one twice."""
    for end in ops_of(module, func.ReturnOp):
        buffers = [value for value in end.operands if isinstance(value.type, MemRefType)]
        allocations = [allocation_of(value, {}) for value in buffers]
        is_twice = len({*allocations}) < len(allocations)
        if is_twice or any(map(is_kept, allocations)) or any(map(is_part, buffers)):
            raise PasslineError(
                f"'{end.name}'{place_of(end)} returns a buffer that the function does not "
                "allocate, a part of one, or one twice: the caller frees each of them"
            )


def is_kept(value: SSAValue) -> bool:
    """Return whether a buffer is not allocated by its function, or freed at the end of it."""
    owner = value.owner
    if isinstance(owner, Block):
        return isinstance(owner.parent_op(), func.FuncOp) and owner.prev_block is None
    return isinstance(owner, memref.GetGlobalOp | memref.AllocaOp)


def is_part(value: SSAValue) -> bool:
    """Return whether a buffer does not start, or may not start, where its allocation does. Other
    views than `memref.view` have an offset in their types, which are then not returned."""
    while isinstance(value.owner, VIEWS):
        view = value.owner
        value = view.operands[0]
        if isinstance(view, memref.ViewOp):
            shift = view.byte_shift.owner
            if not (isinstance(shift, arith.ConstantOp) and shift.value == ZERO):
                return True
    return False


def assert_allocated(module: ModuleOp) -> None:
    """Insert an assertion after each allocation of unknown size that there was enough memory."""
    for op in [op for op in ops_of(module, memref.AllocOp) if op.operands]:
        pointer = memref.ExtractAlignedPointerAsIndexOp.get(op.memref)
        limit = arith.ConstantOp(IntegerAttr(FIRST_PAGE, IndexType()))
        is_there = arith.CmpiOp(pointer.aligned_pointer, limit, "uge")
        assertion = cf.AssertOp(is_there, "there is not enough memory")
        ops = [pointer, limit, is_there, assertion]
        for new in ops:
            new.location = op.location
        Rewriter.insert_op(ops, InsertPoint.after(op))


def add_empty_buffer(type: MemRefType[Attribute], block: Block) -> SSAValue:
    """Allocate, at the end of `block`, a buffer that stands for a result after a failure; its
    unknown dimensions are 0."""
    zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
    shape, unknown = type.get_shape(), type.get_shape().count(DYNAMIC_INDEX)
    new = memref.AllocOp.get(
        type.element_type, None, shape, [zero] * unknown, type.layout, type.memory_space
    )
    block.add_ops([zero, new])
    return new.memref


# Polls in machine code: a long run checks at intervals whether it is to stop.
#
# A poll asserts that a word of the status is 0. Another thread may set that word while the code
# runs: the assertion then fails, which ends the run.


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
