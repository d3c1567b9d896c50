"""ToANormalForm: order the operations of graphs, each in the innermost branch that uses it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...dialects.relax.graph import GraphOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import FunctionPass
from ...passmanager.conditions import condition
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.ordering import dependence_order
from ...passmanager.ir.walk import first_ops, walk
from ..generic.call_graph import is_opaque
from ..generic.control_flow_sink import sink_operations


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
            if ops := inline_graphs(func, ctx.actions):
                sink_operations(func, ctx.actions, {*ops})
