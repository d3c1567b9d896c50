"""Steps of networks: operations, and branches, loops, functions, tuples and graphs around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, IndexType, i1
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.closures import InvokeOp, LambdaOp, YieldOp
from passline.dialects.relax.graph import GraphOp, MatchCastOp, OutputOp, TupleGetItemOp, TupleOp
from passline.dialects.relax.types import make_tensor_type

from .builder import NetworkBuilder
from .rules import LINEAR, RULES
from .rules.rounding import INEXACT
from .values import NotApplicable, TracedValue

__all__ = ["add_steps"]

MAX_ATTEMPTS = 200
"""Steps end early after this many rules that did not apply."""


def add_steps(b: NetworkBuilder, steps: int, depth: int) -> None:
    """Add steps, fewer if too many attempts fail; structures nest to `depth`."""
    done = failed = 0
    while done < steps and failed < MAX_ATTEMPTS:
        try:
            add_step(b, depth)
            done += 1
        except (NotApplicable, VerifyException):
            failed += 1


def add_step(b: NetworkBuilder, depth: int) -> None:
    """Add an operation of a random rule, or a structure.

    NotApplicable or VerifyException if it does not fit.
    """
    if b.dynamic and b.random.random() < 0.15:
        cast(b)
        return
    if depth and b.random.random() < 0.3:
        b.random.choice(STRUCTURES)(b, depth - 1)
        return
    b.placeholders = {}
    rule = b.random.choice(RULES)
    if b.special and rule in LINEAR:
        raise NotApplicable  # moving a scale may introduce or remove a product of infinity and 0
    op = rule(b)
    b.add(op, rounds=isinstance(op, INEXACT))


def pick(b: NetworkBuilder) -> TracedValue:
    """Pick one of the last values."""
    return b.random.choice(b.values[-4:])


def same(result: SSAValue, known: TracedValue) -> TracedValue:
    """Return `result` as another name of the value `known`."""
    return TracedValue(result, known.array, known.perturbed)


def add_results(b: NetworkBuilder, op: Operation, known: Sequence[TracedValue]) -> None:
    """Add an operation whose results are `known`."""
    b.block.add_op(op)
    b.values += map(same, op.results, known)


def cast(b: NetworkBuilder) -> None:
    """Forget, or restore, dimensions of a value, or its rank."""
    known = pick(b)
    shape = [DYNAMIC_INDEX if b.random.coin() else n for n in known.shape]
    type = make_tensor_type(known.element, None if b.random.random() < 0.2 else tuple(shape))
    add_results(b, MatchCastOp(known.value, result_types=[type]), [known])


def body(b: NetworkBuilder, depth: int) -> TracedValue:
    """Add a few steps to the current block; return the last value, or one of the others."""
    add_steps(b, b.random.randint(0, 3), depth)
    return pick(b) if b.random.random() < 0.3 else b.values[-1]


def like(b: NetworkBuilder, known: TracedValue) -> TracedValue:
    """Return a value of the type of `known`: one in scope, or a new one."""
    found = [other for other in b.values if other.value.type == known.value.type]
    if found:
        return b.random.choice(found[-4:])
    other = b.constant(known.shape, known.element)
    if other.value.type == known.value.type:
        return other
    b.block.add_op(op := MatchCastOp(other.value, result_types=[known.value.type]))
    return same(op.result, other)


def branch(b: NetworkBuilder, depth: int) -> None:
    """Add an `scf.if` with a result."""
    condition, truth = b.condition()
    with b.region() as (taken, _):
        first = body(b, depth)
        taken.add_op(scf.YieldOp(first.value))
    with b.region() as (other, _):
        add_steps(b, b.random.randint(0, 2), depth)
        second = like(b, first)
        other.add_op(scf.YieldOp(second.value))
    op = scf.IfOp(condition, [first.value.type], [taken], [other])
    add_results(b, op, [first if truth else second])


def function(b: NetworkBuilder, depth: int) -> None:
    """Add a lambda, and one or two calls of it."""
    arguments = [pick(b) for _ in range(b.random.randint(0, 2))]
    with b.region(arguments) as (block, _):
        known = body(b, depth)
        block.add_op(YieldOp(known.value))
    b.block.add_op(made := LambdaOp(block, [known.value.type]))
    closure: SSAValue = made.result
    if b.random.random() < 0.2:  # a closure that returns the closure
        outer = Block([YieldOp(closure)])
        b.block.add_op(nested := LambdaOp(outer, [closure.type]))
        b.block.add_op(call := InvokeOp(nested.result, []))
        closure = call.res[0]
    for _ in range(b.random.randint(1, 2)):
        add_results(b, InvokeOp(closure, [a.value for a in arguments]), [known])


def callee(b: NetworkBuilder, depth: int) -> None:
    """Add a function to the module, and one or two calls of it."""
    arguments = [pick(b) for _ in range(b.random.randint(1, 3))]
    with b.region(arguments, callee=True) as (block, _):
        results = [body(b, depth) for _ in range(b.random.randint(1, 2))]
        block.add_op(ReturnOp(*(known.value for known in results)))
    types = [known.value.type for known in results]
    name = f"f{len(b.functions)}"
    visibility = "private" if b.random.coin() else "public"
    type = FunctionType.from_lists(block.arg_types, types)
    b.functions.append(FuncOp(name, type, Region(block), visibility))
    for _ in range(b.random.randint(1, 2)):
        add_results(b, CallOp(name, [a.value for a in arguments], types), results)


def pair(b: NetworkBuilder, _: int) -> None:
    """Add a tuple and reads of its elements."""
    known = [pick(b) for _ in range(b.random.randint(1, 3))]
    b.block.add_op(made := TupleOp(*(k.value for k in known)))
    for _ in range(b.random.randint(1, 2)):
        index = b.random.randrange(len(known))
        add_results(b, TupleGetItemOp(made.result, index=index), [known[index]])


def graph(b: NetworkBuilder, depth: int) -> None:
    """Add a graph, whose operations stand in any order."""
    with b.region() as (block, _):
        known = body(b, depth)
    ops = [*block.ops]
    for op in ops:
        op.detach()
    b.random.shuffle(ops)
    block.add_ops([*ops, OutputOp(known.value)])
    add_results(b, GraphOp(block, [known.value.type]), [known])


def loop(b: NetworkBuilder, depth: int) -> None:
    """Add an `scf.for` that runs once, or not at all, or a dead one that runs more often."""
    start, trips = pick(b), b.random.choice([1, 1, 0, 2])
    lower, upper, step = (b.index(n) for n in (0, trips, 1))
    with b.region([start]) as (block, _):
        block.insert_arg(IndexType(), 0)
        add_steps(b, b.random.randint(0, 3), depth)
        end = like(b, start)
        block.add_op(scf.YieldOp(end.value))
    op = scf.ForOp(lower, upper, step, [start.value], block)
    if trips < 2:
        add_results(b, op, [end if trips else start])
    else:
        b.block.add_op(op)


def repeated(b: NetworkBuilder, depth: int) -> None:
    """Add an `scf.while` whose condition is checked once and fails."""
    start = pick(b)
    with b.region([start]) as (before, _):
        passed = body(b, depth)
        before.add_op(false := arith.ConstantOp.from_int_and_width(0, i1))
        before.add_op(scf.ConditionOp(false.result, passed.value))
    with b.region([passed]) as (after, _):
        add_steps(b, b.random.randint(0, 2), depth)
        after.add_op(scf.YieldOp(like(b, start).value))
    op = scf.WhileOp([start.value], [passed.value.type], Region(before), Region(after))
    add_results(b, op, [passed])


STRUCTURES: Sequence[Callable[[NetworkBuilder, int], None]] = (
    branch,
    branch,
    function,
    function,
    callee,
    pair,
    graph,
    loop,
    repeated,
)
"""The structures to draw from; one listed n times is drawn n times as often."""
