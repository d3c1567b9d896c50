"""Assertions in machine code: a function that fails returns early, and tells its caller why.

MLIR lowers `cf.assert` to a call of `abort`, which would end the process. Here each function that
may fail gets one more parameter, the status, which is memory of the caller: an assertion that fails
stores its number there, and nothing that follows in the function is executed. Each call of such a
function is followed by a test of the status.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile, zip_longest
from math import prod
from typing import TypeAlias

from xdsl.dialects import arith, cf, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FileLineColLoc,
    FixedBitwidthType,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....passes.generic.call_graph import CallGraph
from ....passes.tir.outline_parallel import PART
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import location_of, place_of
from ....passmanager.ir.walk import ancestors, ops_of, walk
from ...interpreters.signature import is_buffer
from ...interpreters.xdsl_interpreter import assertion_text
from .owned_memory import (
    Live,
    add_empty_buffer,
    allocation_of,
    allocations_before,
    is_poll,
    live_after,
    poll_condition,
)

FAILED, SITE, DEPTH, STOP = range(4)
"""The words of a status: the number of the assertion that failed, that of the innermost call around
it, the number of active calls of recursive functions, and whether the run is to stop, which another
thread may set. 0 is none."""
STATUS_WORDS = 4
STATUS = MemRefType(i64, [STATUS_WORDS])

STACK_BYTES = 1 << 22
"""The most bytes of the stack that recursive calls may take: half of what a thread usually has."""
HEAP_BYTES = 1 << 30
"""The most bytes of the heap that recursive calls may take."""
FRAME_BYTES = 512
"""The bytes of the stack that a call takes besides its buffers."""


@dataclass(frozen=True)
class Failures:
    """The assertions of a module, and the calls of functions that may fail, by number from 1 on."""

    assertions: list[tuple[str, FileLineColLoc | None]] = field(
        default_factory=list[tuple[str, FileLineColLoc | None]]
    )
    """The message and the location of each assertion."""
    sites: list[FileLineColLoc | None] = field(default_factory=list[FileLineColLoc | None])

    def __bool__(self) -> bool:
        return bool(self.assertions)

    part: int = 0
    """The number of the part of a module that these are of, of `parts`."""
    parts: int = 1
    """The number of parts. Each part numbers its own assertions: the numbers of all parts
    differ."""

    def add_assertion(self, op: cf.AssertOp) -> int:
        """Add an assertion, and return its number."""
        self.assertions.append((op.msg.data, location_of(op)))
        return self._number(len(self.assertions))

    def add_site(self, op: func.CallOp) -> int:
        """Add a call, and return its number."""
        self.sites.append(location_of(op))
        return self._number(len(self.sites))

    def _number(self, count: int) -> int:
        return (count - 1) * self.parts + self.part + 1

    @staticmethod
    def of_parts(failures: Sequence[Failures]) -> Failures:
        """Return what may fail in a module whose parts have numbered their own assertions."""
        assertions = zip_longest(*(each.assertions for each in failures), fillvalue=("", None))
        sites = zip_longest(*(each.sites for each in failures))
        return Failures([*chain.from_iterable(assertions)], [*chain.from_iterable(sites)])

    def text(self, status: Sequence[int]) -> str:
        """Return the error message for the status of a call that failed."""
        message, place = self.assertions[status[FAILED] - 1]
        return assertion_text(
            message, place, self.sites[status[SITE] - 1] if status[SITE] else None
        )


def report_assertions(
    module: ModuleOp, part: int = 0, parts: int = 1, elsewhere: Collection[str] = ()
) -> Failures:
    """Replace the assertions of a lowered module by returns, limit the depth of recursive calls,
    and return what may fail. Functions that may fail get the parameter of the status.

    The module is one of the `parts` of a larger one; functions that are only declared in it may
    fail if they are in `elsewhere`. PasslineError where a buffer that is computed after an
    assertion is a result of a block.
    """
    failures = Failures(part=part, parts=parts)
    graph = CallGraph(module)
    declared = [
        op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data in elsewhere
    ]
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks]
    recursive = [op for op in functions if op in graph.reachable(graph.callees(op))]
    asserting = [op for op in functions if ops_of(op, cf.AssertOp)]
    failing = callers_of(graph, [*recursive, *asserting, *declared])
    if not failing:
        return failures
    statuses = {op: add_status(op) for op in functions if op in failing}
    for function in recursive:
        limit_depth(function, statuses[function], depth_limit(recursive))
    for function in declared:
        pass_status(function)
    names = {op.sym_name.data for op in (*statuses, *declared)}
    for function, status in statuses.items():
        Guards(function, status, failures).insert(names)
    return failures


def callers_of(graph: CallGraph, functions: Sequence[Operation]) -> set[Operation]:
    """Return `functions` and all functions that call them, directly or through others."""
    found = set(functions)
    pending = list(functions)
    while pending:
        new = {op for op in graph.callers(pending.pop()) if isinstance(op, func.FuncOp)} - found
        found |= new
        pending += new
    return found


def add_status(function: func.FuncOp) -> BlockArgument:
    """Add the parameter of the status to a function, and return it."""
    entry = function.body.blocks[0]
    pass_status(function)
    return entry.insert_arg(STATUS, len(entry.args))


def pass_status(function: func.FuncOp) -> None:
    """Add the parameter of the status to the type of a function."""
    types = function.function_type
    if function.arg_attrs is not None:
        noalias = DictionaryAttr({"llvm.noalias": UnitAttr()})
        function.arg_attrs = ArrayAttr([*function.arg_attrs, noalias])
    function.function_type = FunctionType.from_lists([*types.inputs, STATUS], [*types.outputs])


# Recursion


def depth_limit(functions: Sequence[func.FuncOp]) -> int:
    """Return how many calls of recursive functions may be active at once."""
    stack = max(buffer_bytes(op, memref.AllocaOp) for op in functions) + FRAME_BYTES
    heap = max(buffer_bytes(op, memref.AllocOp) for op in functions)
    return max(1, min(STACK_BYTES // stack, HEAP_BYTES // max(heap, 1)))


def buffer_bytes(function: func.FuncOp, kind: type[memref.AllocOp | memref.AllocaOp]) -> int:
    """Return the bytes of the buffers of static shape that one call allocates."""
    total = 0
    for op in walk(function):
        if isinstance(op, kind) and is_buffer(type := op.results[0].type):
            element = type.element_type
            width = element.bitwidth if isinstance(element, FixedBitwidthType) else 64
            shape = type.get_shape()
            total += 0 if DYNAMIC_INDEX in shape else prod(shape) * -(-width // 8)
    return total


def limit_depth(function: func.FuncOp, status: SSAValue, limit: int) -> None:
    """Assert at the start of a function that at most `limit` calls are active."""
    start = function.body.blocks[0].first_op
    assert start is not None
    build = StatusBuilder(InsertPoint.before(start), status)
    depth = build.load(DEPTH)
    build.store(build.insert(arith.AddiOp(depth, build.number(1))), DEPTH)
    text = f"calls of @{function.sym_name.data} are nested too deeply: the limit is {limit}"
    within = build.insert(arith.CmpiOp(depth, build.number(limit), "slt"))
    Rewriter.insert_op(assertion := cf.AssertOp(within, text), InsertPoint.before(start))
    assertion.location = function.location
    for op in ops_of(function, func.ReturnOp):
        StatusBuilder(InsertPoint.before(op), status).store(depth, DEPTH)


# Guards


class Guards:
    """Inserts the tests of a function that end it as soon as an assertion has failed."""

    def __init__(self, function: func.FuncOp, status: SSAValue, failures: Failures) -> None:
        self.function = function
        self.status = status
        self.failures = failures
        self.end = function.body.blocks[-1].last_op
        """The operation that returns without a failure."""
        self.sources: dict[SSAValue, SSAValue] = {}
        """The values that new branches pass on, by their results."""
        self.exit = add_exit(function)
        """The block that returns after a failure."""
        self.live: dict[Operation, Live | None] = {}
        """The buffers that are live after an operation of the body at which the function may
        end."""
        self.frees: dict[Live, Block] = {}
        """The blocks that free a buffer and then the others that are live."""

    def insert(self, failing: Collection[str]) -> None:
        """Replace the assertions, and insert tests after the calls of functions in `failing`. The
        loops and branches around these are followed by a test, too, as are iterations of loops."""
        candidates = ops_of(self.function, cf.AssertOp, func.CallOp)
        points: set[Operation] = {op for op in candidates if is_point(op, failing)}
        points |= {parent for op in points for parent in parents(op, self.function)}
        returned = {self.allocation_of(value) for value in self.end.operands} if self.end else ()
        for block in self.function.body.blocks:
            self.live |= live_after(points, block, returned)
        for op in reversed([op for op in walk(self.function) if op in points]):
            if isinstance(op, cf.AssertOp):
                self.insert_assertion(op)
            elif isinstance(op, func.CallOp):
                self.insert_call(op)
            else:
                self.test_after(op, None)
                if isinstance(op, scf.ForOp | scf.ParallelOp | scf.WhileOp):
                    self.stop(op)

    def insert_assertion(self, op: cf.AssertOp) -> None:
        number = self.failures.add_assertion(op)
        if is_poll(op):
            op.operands[0] = poll_condition(op, self.status, STOP)
        self.guard(op, op.arg, (FAILED, number))
        Rewriter.erase_op(op)

    def insert_call(self, op: func.CallOp) -> None:
        op.operands = [*op.operands, self.status]
        if PART in op.attributes:  # a part of the function that the caller called
            self.test_after(op, None)
            return
        self.test_after(op, (SITE, self.failures.add_site(op)))

    def test_after(self, op: Operation, record: Record | None) -> None:
        """Test the status after `op`."""
        holds = self.holds(InsertPoint.after(op))
        assert isinstance(holds.owner, Operation)
        self.live[holds.owner] = self.live.get(op)
        self.guard(holds.owner, holds, record)

    def stop(self, loop: Operation) -> None:
        """Let the iterations of a loop that follow a failure do nothing."""
        if isinstance(loop, scf.WhileOp):
            end = loop.before_region.block.last_op
            assert end is not None
            holds = self.holds(InsertPoint.before(end))
            both = arith.AndIOp(end.operands[0], holds)
            Rewriter.insert_op(both, InsertPoint.before(end))
            end.operands[0] = both.result
        else:
            holds = self.holds(InsertPoint.at_start(loop.regions[0].block))
            assert isinstance(holds.owner, Operation)
            self.guard_in_block(holds.owner, holds, None)

    def holds(self, point: InsertPoint) -> SSAValue:
        """Return the condition that no assertion has failed."""
        build = StatusBuilder(point, self.status)
        return build.insert(arith.CmpiOp(build.load(FAILED), build.number(0), "eq"))

    def guard(self, op: Operation, condition: SSAValue, record: Record | None) -> None:
        """Execute what follows `op` only if `condition` holds; else set a word of the status."""
        if op.parent_op() is self.function:
            self.guard_in_body(op, condition, record)
        else:
            self.guard_in_block(op, condition, record)

    def guard_in_body(self, op: Operation, condition: SSAValue, record: Record | None) -> None:
        """Branch to the end of the function after `op`, which is directly in its body."""
        block, following = op.parent, op.next_op
        assert block is not None and following is not None
        failed = self.freeing(self.live[op])
        rest = block.split_before(following)
        if record is not None:
            freeing = failed
            self.function.body.add_block(failed := Block())
            StatusBuilder(InsertPoint.at_end(failed), self.status).record(record)
            failed.add_op(cf.BranchOp(freeing))
        block.add_op(cf.ConditionalBranchOp(condition, rest, [], failed, []))

    def freeing(self, live: Live | None) -> Block:
        """Return a block that frees buffers and goes to the exit.

        What is allocated first is freed last, so that assertions share blocks. With one block for
        each assertion, a detector of 1,000 kernels would free 500 buffers at each of them:

            a = alloc; assert 1; b = alloc; assert 2; free a; assert 3; free b
            1: a   2: b, 1   3: b
        """
        new: list[Live] = []
        while live is not None and live not in self.frees:
            new.append(live)
            live = live.others
        target = self.exit if live is None else self.frees[live]
        for each in reversed(new):
            block = Block([memref.DeallocOp.get(each.buffer), cf.BranchOp(target)])
            self.function.body.add_block(block)
            self.frees[each] = target = block
        return target

    def allocation_of(self, value: SSAValue) -> SSAValue:
        return allocation_of(value, self.sources)

    def guard_in_block(self, op: Operation, condition: SSAValue, record: Record | None) -> None:
        """Move what follows `op`, in the block of a loop or branch, into an `scf.if`.

        Buffers that are allocated before it are freed after it.
        """
        block = op.parent
        assert block is not None and (end := block.last_op) is not None
        rest = dict.fromkeys(ops_after(op))
        for other in [*rest]:
            if isinstance(other, memref.DeallocOp) and other.memref.owner not in rest:
                del rest[other]
        escaping = [value for value in dict.fromkeys(end.operands) if value.owner in rest]
        owners = {self.allocation_of(value) for value in escaping}
        lost = [value for value in allocations_before(op) if value in owners]
        for other in rest:
            other.detach()
        then = Block([*rest, scf.YieldOp(*escaping)])
        build = StatusBuilder(InsertPoint.at_end(otherwise := Block()), self.status)
        if record is not None:
            build.record(record)
        otherwise.add_ops(map(memref.DeallocOp.get, lost))
        zeros = [add_zero(value.type, end, otherwise) for value in escaping]
        otherwise.add_op(scf.YieldOp(*zeros))
        types = [value.type for value in escaping]
        branch = scf.IfOp(condition, types, Region(then), Region(otherwise))
        branch.location = op.location
        Rewriter.insert_op(branch, InsertPoint.after(op))
        results = dict(zip(escaping, branch.results, strict=True))
        self.sources |= zip(branch.results, escaping, strict=True)
        end.operands = [results.get(value, value) for value in end.operands]


Record: TypeAlias = tuple[int, int]
"""A word of the status, and the number that it gets."""


def is_point(op: Operation, failing: Collection[str]) -> bool:
    """Return whether a function may fail at `op`: an assertion, or a call of one in `failing`."""
    if isinstance(op, func.CallOp):
        return op.callee.string_value() in failing
    return isinstance(op, cf.AssertOp)


def parents(op: Operation, function: Operation) -> Iterator[Operation]:
    """Return the loops and branches of `function` that `op` is in, innermost first."""
    return takewhile(lambda around: around is not function, ancestors(op.parent_op()))


def ops_after(op: Operation) -> Iterator[Operation]:
    """Yield the operations between `op` and the last one of its block."""
    following = op.next_op
    while following is not None and following.next_op is not None:
        yield following
        following = following.next_op


def add_exit(function: func.FuncOp) -> Block:
    """Add a block to a function that frees its buffers and returns zeros; the body branches there
    after a failure.

    Buffers of static size that are allocated in a body of one block are allocated at its start, and
    freed at its end; others are freed where the body branches to the exit.
    """
    function.body.add_block(exit := Block())
    blocks = function.body.blocks
    for op in [*blocks[0].ops] if len(blocks) == 2 else ():
        if isinstance(op, memref.AllocOp) and not op.operands:
            op.detach()
            Rewriter.insert_op(op, InsertPoint.at_start(blocks[0]))
        elif isinstance(op, memref.DeallocOp) and blocks[0].last_op is not None:
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(blocks[0].last_op))
            if isinstance(op.memref.owner, memref.AllocOp) and not op.memref.owner.operands:
                exit.add_op(op.clone())
    zeros = [add_zero(type, function, exit) for type in function.function_type.outputs]
    exit.add_op(func.ReturnOp(*zeros))
    return exit


def add_zero(type: Attribute, user: Operation, block: Block) -> SSAValue:
    """Return a value of `type` that `user` gets after a failure, from the end of `block`; a buffer
    is an allocation, as without a failure."""
    if is_buffer(type):
        return add_empty_buffer(type, block)
    block.add_op(new := zero(type, user))
    return new.result


def zero(type: Attribute, user: Operation) -> arith.ConstantOp:
    """Return a constant of `type` that `user` gets after a failure; PasslineError for types without
    constants."""
    match type:
        case IndexType() | IntegerType():
            return arith.ConstantOp(IntegerAttr(0, type))
        case VectorType():
            return arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type, [0]))  # pyright: ignore
        case _ if isinstance(type, AnyFloat):
            return arith.ConstantOp(FloatAttr(0.0, type))
        case _:
            raise PasslineError(
                f"'{user.name}'{place_of(user)} cannot be compiled to machine code: an assertion "
                f"before it may fail, and there is no {type} for it then"
            )


class StatusBuilder:
    """A builder of accesses to a status."""

    def __init__(self, point: InsertPoint, status: SSAValue) -> None:
        self.point = point
        self.status = status

    def insert(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(op, self.point)
        return op.results[0]

    def number(self, value: int) -> SSAValue:
        return self.insert(arith.ConstantOp(IntegerAttr(value, i64)))

    def load(self, word: int) -> SSAValue:
        return self.insert(memref.LoadOp.get(self.status, [self.index(word)]))

    def store(self, value: SSAValue, word: int) -> None:
        store = memref.StoreOp.get(value, self.status, [self.index(word)])
        Rewriter.insert_op(store, self.point)

    def record(self, record: Record) -> None:
        """Set a word of the status, unless it is set already."""
        word, number = record
        old = self.load(word)
        is_unset = self.insert(arith.CmpiOp(old, self.number(0), "eq"))
        self.store(self.insert(arith.SelectOp(is_unset, self.number(number), old)), word)

    def index(self, word: int) -> SSAValue:
        return self.insert(arith.ConstantOp(IntegerAttr(word, IndexType())))
