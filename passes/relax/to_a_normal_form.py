"""ToANormalForm: graphs become operations in order, each in the scope that needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import IfOp, IndexSwitchOp
from xdsl.ir import Block, Operation
from xdsl.traits import is_side_effect_free

from ...dialects.relax.graph import GraphOp
from ...dialects.relax.ordering import dependence_order
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.remarks import Remarks
from .inline import LEFT_ALONE

__all__ = ["ToANormalForm", "inline_graphs", "sink_into_branches"]

BRANCHES = (IfOp, IndexSwitchOp)
"""The operations that compute one of their regions, once."""


def inline_graphs(
    root: Operation, gate: Callable[[], bool] | None = None
) -> tuple[int, list[Operation]]:
    """Put the operations of each `relax.graph` in `root` in its place, in the order in which they
    are computed; returns how many graphs there were, and the operations, each after those that it
    uses.

    `gate`, if given, is asked before each graph, and may keep it, and those in it, as they are.
    """
    graphs = 0
    inlined: dict[Operation, None] = {}
    ordered: list[Operation] = []
    pending = _first_ops(root)
    while pending:
        op = pending.pop()
        while op is not None:
            following = op.next_op
            if isinstance(op, GraphOp):
                if gate is None or gate():
                    graphs += 1
                    inlined |= dict.fromkeys(ops := _inline(op))
                    following = ops[0] if ops else following
            else:
                if op in inlined:
                    ordered.append(op)
                if op.regions:
                    if following is not None:
                        pending.append(following)
                    pending += _first_ops(op)
                    break
            op = following
    return graphs, ordered


def _first_ops(op: Operation) -> list[Operation]:
    """The first op of each block directly in `op`, last block first."""
    blocks = [block for region in op.regions for block in region.blocks]
    return [first for block in reversed(blocks) if (first := block.first_op) is not None]


def _inline(graph: GraphOp) -> list[Operation]:
    """Replace a graph by its operations; returns these."""
    *ops, end = dependence_order(graph.body.block)
    for op in ops:
        op.detach()
    block = graph.parent
    assert block is not None
    block.insert_ops_before(ops, graph)
    for old, new in zip(graph.results, end.operands, strict=True):
        old.replace_all_uses_with(new)
    graph.detach()
    graph.drop_all_references()
    return ops


def sink_into_branches(ops: Iterable[Operation], remarks: Remarks | None = None) -> int:
    """Move each operation without effects that only branches use to the start of the innermost one
    with all its uses; returns how many.

    `ops` come each after those that it uses. Nothing moves into loops and functions, where it would
    be computed another number of times.
    """
    sunk = 0
    # The users of a value come to their places before what it is computed by.
    for op in reversed([*ops]):
        if (branch := _branch_of_uses(op)) is not None and is_side_effect_free(op):
            op.detach()
            assert branch.first_op is not None
            branch.insert_op_before(op, branch.first_op)
            sunk += 1
            if remarks:
                remarks.passed(op, "Sunk", "computed in the branch that uses it")
    return sunk


def _branch_of_uses(op: Operation) -> Block | None:
    """The innermost branch, below the block of `op`, that has all uses of its results."""
    common: list[Block] | None = None
    for result in op.results:
        for use in result.uses:
            branches = _branches_around(use.operation, op.parent)
            shared = zip(branches if common is None else common, branches)
            common = [a for a, _ in takewhile(lambda pair: pair[0] is pair[1], shared)]
            if not common:
                return None
    return common[-1] if common else None


def _branches_around(op: Operation, outer: Block | None) -> list[Block]:
    """The blocks around `op` from below the block `outer` inwards, as far as they are branches."""
    blocks: list[Block] = []
    block = op.parent
    while block is not outer:
        if block is None or (holder := block.parent_op()) is None:
            return []
        # What is in a loop or a function is computed where that is.
        blocks = [block, *blocks] if isinstance(holder, BRANCHES) else []
        block = holder.parent
    return blocks


@dataclass(frozen=True)
class ToANormalForm(FunctionPass):
    """Replace dataflow graphs by their operations in order, what only a branch uses in the branch;
    source: `relay.ToANormalForm`.

    Primitive and composite functions are left as they are, and operations outside of graphs where
    they are.
    """

    name = "to-a-normal-form"
    opt_level = 1
    preserves = ("infer-type",)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if any(name in func.attributes for name in LEFT_ALONE):
            return
        graphs, ops = inline_graphs(func, ctx.gate(self.name))
        ctx.count("graphs", graphs)
        ctx.count("sunk", sink_into_branches(ops, ctx.remarks))
