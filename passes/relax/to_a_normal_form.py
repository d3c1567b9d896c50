"""ToANormalForm: order the operations of graphs, each in the innermost branch that uses it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.scf import IfOp, IndexSwitchOp
from xdsl.ir import Block, Operation

from ...dialects.relax.graph import GraphOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.conditions import condition
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.effects import all_effects
from ...passmanager.ir.ordering import dependence_order
from ...passmanager.ir.walk import first_ops, walk
from ..generic.call_graph import is_opaque

BRANCHES = (IfOp, IndexSwitchOp)
"""The operations that run one of their regions, once."""


@condition("a-normal-form", "no operation is in a dataflow graph, so that all are in order")
def a_normal_form(func: Operation) -> Iterator[tuple[Operation, str]]:
    """Yield the dataflow graphs in a function that passes look into."""
    if not is_opaque(func):
        yield from ((op, "is a graph") for op in walk(func) if isinstance(op, GraphOp))


def inline_graphs(root: Operation, actions: Actions = SILENT) -> list[Operation]:
    """Replace each `relax.graph` nested in `root` by its operations, in dependence order.

    Returns these operations, each after those whose results it uses. A graph that `actions` does
    not allow to be replaced stays, with the graphs in it.
    """
    inlined: dict[Operation, None] = {}
    ordered: list[Operation] = []
    pending = first_ops(root)
    while pending:
        op = pending.pop()
        while op is not None:
            following = op.next_op
            if isinstance(op, GraphOp):
                if actions.allowed(op):
                    actions.count("graphs")
                    inlined |= dict.fromkeys(ops := _inline(op))
                    # Graphs in the graph are met next, as its operations stand here now.
                    following = ops[0] if ops else following
            else:
                if op in inlined:
                    ordered.append(op)
                if op.regions:
                    if following is not None:
                        pending.append(following)
                    pending += first_ops(op)
                    break
            op = following
    return ordered


def _inline(graph: GraphOp) -> list[Operation]:
    """Replace `graph` by its operations in dependence order, and return them."""
    *ops, end = dependence_order(graph.body.block)
    for op in ops:
        op.detach()
    insert_before(graph, *ops)
    for old, new in zip(graph.results, end.operands, strict=True):
        old.replace_all_uses_with(new)
    erase(graph)
    return ops


def sink_into_branches(ops: Iterable[Operation], actions: Actions = SILENT) -> None:
    """Move each pure operation that only one branch uses to the start of that branch.

    The branch is the innermost one with all uses. `ops` are in dependence order. Nothing moves
    into loops and functions, whose bodies may run more than once, or never.
    """
    # Backwards, so that the users of an operation have moved before it.
    for op in reversed([*ops]):
        if (branch := _branch_of_uses(op)) is not None and not all_effects(op):
            op.detach()
            assert branch.first_op is not None
            insert_before(branch.first_op, op)
            actions.passed(op, "Sunk", "moved into the branch that uses it")
            actions.count("sunk")


def _branch_of_uses(op: Operation) -> Block | None:
    """Return the innermost branch nested in the block of `op` with all uses of its results."""
    # The branches around each use, from the outside in; what all have in common is where it may go.
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
    """Return the branches around `op` inside of the block `outer`, outermost first; if `op` is in
    a loop or function, only the branches around that."""
    blocks: list[Block] = []
    block = op.parent
    while block is not outer:
        if block is None or (holder := block.parent_op()) is None:
            return []
        # An operation that a loop or function uses may sink to its block, but not into its body.
        blocks = [block, *blocks] if isinstance(holder, BRANCHES) else []
        block = holder.parent
    return blocks


@dataclass(frozen=True)
class ToANormalForm(FunctionPass):
    """Replace dataflow graphs by their operations in order; sink operations into branches.

    A pure operation of a graph that only one branch uses moves into that branch; operations
    outside of graphs stay where they are. Primitive and composite functions are left as they are.
    Source: `relay.ToANormalForm`, there a module pass; graphs are in functions here.

    Before:

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.graph -> tensor<4xf32> {
            %2 = relax.negative %1 : (tensor<4xf32>) -> tensor<4xf32>
            %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
            relax.output %2 : tensor<4xf32>
          }
          func.return %0 : tensor<4xf32>
        }

    After:

        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.negative %0 : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }
    """

    name = "to-a-normal-form"
    opt_level = 1
    preserves = ("infer-type",)
    ensures = (a_normal_form,)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not is_opaque(func):
            sink_into_branches(inline_graphs(func, ctx.actions), ctx.actions)
