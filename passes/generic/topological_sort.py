"""TopologicalSort: put the operations of graph regions after those whose results they use."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.dominance import is_graph_region
from ...passmanager.ir.ordering import dependence_order
from ...passmanager.ir.walk import walk


def sort_topologically(root: Operation, actions: Actions = SILENT) -> None:
    """Sort the operations of each block of the graph regions in `root`, itself included.

    Users come after the operations that define what they use, as far as there is no cycle; a block
    that is in such an order stays as it is. The regions of unregistered operations, about which
    nothing is known, are left alone.
    """
    for op in [*walk(root)]:
        if isinstance(op, UnregisteredOp):
            continue
        for region in op.regions:
            if is_graph_region(region):
                for block in region.blocks:
                    _sort(block, actions)


def _sort(block: Block, actions: Actions) -> None:
    order = dependence_order(block)
    first = next((op for op, now in zip(order, block.ops, strict=True) if op is not now), None)
    if first is None or not actions.allowed(first):
        return
    actions.passed(first, "Sorted", "operations of the block put in topological order")
    actions.count("sorted-blocks")
    for op in order:
        op.detach()
    block.add_ops(order)


class TopologicalSort(ModulePass):
    """Put the operations of graph regions in an order in which uses follow definitions.

    Operations that do not depend on each other keep their order. Source: MLIR's pass of this name.

    Before:

        %0 = arith.addi %1, %1 : i32
        %1 = arith.constant 1 : i32

    After:

        %0 = arith.constant 1 : i32
        %1 = arith.addi %0, %0 : i32
    """

    name = "topological-sort"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        sort_topologically(module, ctx.actions)
