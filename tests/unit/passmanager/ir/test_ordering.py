"""The topological order of the operations of a graph."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Operation, Region, SSAValue

from passline.passmanager.ir.ordering import dependence_order, find_cycle


def op(operands: Sequence[SSAValue] = (), inner: Sequence[Operation] = ()) -> TestOp:
    regions = [Region(Block(inner))] if inner else []
    return TestOp(operands, [i32], regions=regions)


def graph(*ops: Operation) -> Block:
    """The block of a graph region."""
    return ModuleOp(ops).body.block


@given(st.permutations(range(8)), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_each_comes_after_what_it_uses(places: list[int], edges: set[tuple[int, int]]):
    """Ops at any places; of each edge the later number uses the lower."""
    uses = {number: [min(e) for e in edges if max(e) == number != min(e)] for number in range(8)}
    ops: list[TestOp] = []
    for number in range(8):
        operands = [ops[used].results[0] for used in uses[number]]
        ops.append(op(operands) if number % 2 else op(inner=[op(operands)]))
    block = graph(*(ops[number] for number in places))
    order = dependence_order(block)
    assert sorted(map(id, order)) == sorted(map(id, block.ops))
    for number, used in uses.items():
        assert all(order.index(ops[u]) < order.index(ops[number]) for u in used)
    assert find_cycle(block) is None


def test_what_does_not_depend_stays_as_written():
    a, b = op(), op()
    c = op([b.results[0]])
    assert dependence_order(graph(c, a, b)) == [b, c, a]
    assert dependence_order(graph(*(ops := [op() for _ in range(5)]))) == ops


def test_a_cycle_is_found_whatever_is_around_it():
    a, b, c = op(), op(), op()
    a.operands = [b.results[0]]
    b.operands = [a.results[0]]
    c.operands = [a.results[0]]
    block = graph(c, a, b)
    assert set(dependence_order(block)) == {a, b, c}
    assert find_cycle(block) in (a, b)


def test_an_op_that_is_used_in_its_own_region_is_a_cycle():
    inner = op()
    outer = op(inner=[inner])
    inner.operands = [outer.results[0]]
    assert find_cycle(graph(op(), outer)) is outer


def test_values_from_outside_are_no_dependences():
    outside = op()
    argument = Block(arg_types=[i32]).args[0]
    a = op([outside.results[0], argument])
    b = op(inner=[op([argument, a.results[0]])])
    assert dependence_order(graph(b, a)) == [a, b]
    assert find_cycle(graph(op([outside.results[0]]))) is None


@table_test("count", [20_000])
def test_a_long_chain_written_backwards(count: int):
    ops = [op()]
    for _ in range(count):
        ops.append(op([ops[-1].results[0]]))
    block = graph(*reversed(ops))
    assert dependence_order(block) == ops
    assert find_cycle(block) is None
