"""The edges of control flow: operations without the interfaces, and remarks about them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.test import TestOp
from xdsl.ir import Operation, Region
from xdsl.traits import IsTerminator

from passline.passmanager import CollectingActions, RegionBranchTrait, RemarkKind
from passline.passmanager.dataflow.edges import ControlFlow, Edge
from passline.passmanager.ir.control_flow import REGION_BRANCHES, Constants, region_branch_of
from passline.passmanager.ir.walk import walk

from .test_sparse import parse


def edges_of(flow: ControlFlow, op: Operation) -> Sequence[Edge]:
    edges = flow.edges(op)
    assert edges is not None
    return edges


UNKNOWN = """
"test.op"() ({
^bb0(%a: i32):
  %0 = "test.op"(%a) : (i32) -> i32
  "test.termop"(%0) : (i32) -> ()
}) : () -> ()
"""


def test_an_operation_without_the_interface_may_do_anything() -> None:
    module = parse(UNKNOWN)
    actions = CollectingActions()
    flow = ControlFlow(module, actions)
    op = module.body.block.first_op
    assert isinstance(op, TestOp) and op.regions
    body = op.regions[0].block
    into, past = edges_of(flow, op)
    assert into.target is body and not into.operands and [*into.inputs] == [*body.args]
    assert past.target is op
    assert body.last_op is not None
    (out,) = edges_of(flow, body.last_op)
    assert out.target is None and [*out.operands] == [0]
    assert actions.remarks == [(RemarkKind.MISSED, "NoInterface")]


def test_a_plain_operation_has_no_edges() -> None:
    module = parse('%0 = "test.op"() : () -> i32\n"test.op"(%0) : (i32) -> ()')
    flow = ControlFlow(module)
    assert [flow.edges(op) is None for op in walk(module)] == [False, True, True]


def test_callers() -> None:
    module = parse("""
    func.func private @known() {
      func.return
    }
    func.func private @recursive() {
      func.call @recursive() : () -> ()
      func.call @known() : () -> ()
      func.call @missing() : () -> ()
      func.return
    }
    func.func private @declared()
    """)
    known, recursive, declared = module.body.block.ops
    flow = ControlFlow(module)
    calls = [op for op in recursive.regions[0].block.ops if op.name == "func.call"]
    assert flow.calls == {known: [calls[1]], recursive: [calls[0]], declared: []}
    assert flow.exposed == set()
    assert [flow.callee(call) for call in calls] == [recursive, known, None]
    # Seen from one function, the others are unknown.
    assert ControlFlow(recursive).exposed == {recursive}


class Once(RegionBranchTrait):
    """The regions of an operation run once, one after the other."""

    def successor_regions(
        self, op: Operation, point: Operation | None, constants: Constants = ()
    ) -> Sequence[Region | None]:
        if point is None:
            return [op.regions[0]]
        following = op.regions.index(point.parent_region()) + 1  # pyright: ignore[reportArgumentType]
        return [op.regions[following] if following < len(op.regions) else None]

    def successor_operands(
        self, op: Operation, point: Operation | None, successor: Region | None
    ) -> range:
        return range(len((point or op).operands))


def test_an_operation_of_another_project_joins() -> None:
    module = parse("""
    %0 = "test.op"() : () -> i32
    %1 = "test.op"(%0) ({
    ^bb0(%a: i32):
      "test.termop"(%a) : (i32) -> ()
    }, {
    ^bb0(%b: i32):
      "test.termop"(%b) : (i32) -> ()
    }) : (i32) -> i32
    """)
    REGION_BRANCHES.attach("test.op", Once())
    try:
        flow = ControlFlow(module)
        op = module.body.block.last_op
        assert op is not None and isinstance(region_branch_of(op), Once)
        first, second = (region.block for region in op.regions)
        ends = [block.last_op for block in (first, second)]
        steps = [op, *ends]
        assert [edges_of(flow, step)[0].target for step in steps if step] == [first, second, op]
        assert flow.arriving(op) == (op, *ends)
    finally:
        del REGION_BRANCHES.models["test.op"]
        REGION_BRANCHES.clear()
    assert region_branch_of(op) is None
    assert all(end is not None and end.has_trait(IsTerminator) for end in ends)
