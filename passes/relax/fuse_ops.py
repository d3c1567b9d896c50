"""FuseOps: operations that one kernel can compute become one function."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation

from ...compiler.analysis.fusion import FusionGraph, GraphPartitioner
from ...compiler.analysis.memory.buffers import is_in_place
from ...compiler.analysis.symbolic_shapes import SymbolicShapes
from ...dialects.numbers import as_number, product
from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.interfaces import View
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ..generic.call_graph import CallGraph
from ..sizes import functions_with_unknown_sizes
from .outliner import Outliner, fusible_functions, is_scalar_constant

_PRIMITIVE = {"relax.primitive": UnitAttr()}


def fuse_operations(
    func: Operation,
    outliner: Outliner,
    *,
    fuse_opt_level: int = 2,
    max_depth: int = 256,
    actions: Actions = SILENT,
    shapes: SymbolicShapes | None = None,
    keep_sizes: bool = False,
    skip: Collection[str] = (),
) -> None:
    """Outline the operations in `func` into primitive functions, each group of fused ones into one.

    An operation is fused with its immediate post-dominator if all operations between them can be
    fused too: an anchor with element-wise operations on its result, up to the next anchor; a
    broadcasting operation with injective ones on the way, up to a reduction; an injective operation
    with injective ones. A group therefore has one exit, and no path leaves it and returns. An
    operation that two anchors reach is fused with the later one, before which the result of the
    other is computed. A group has at most `max_depth` operations, and a single one at level 0. A
    kernel computes an operation again for each index at which others read it: for one element of
    its result, it computes at most four times as many.

    Groups of views and concatenations in place stay; so do operations with effects or regions,
    opaque ones, and those in graph regions. With `keep_sizes`, so do operations whose results are
    sizes that `shapes` know: nothing is left of them when sizes are computed where they are needed.
    Groups with an operation whose name is in `skip` stay. Dead operations and `relax.stop_fusion`
    are erased.
    """
    graph = FusionGraph(func, shapes, keep_sizes)
    partitioner = GraphPartitioner(graph, max_depth, actions)
    if fuse_opt_level > 0:
        partitioner.fuse()
    # Before the groups are outlined: a dead user would count as one outside of the group.
    for op, dead in zip(graph.ops, graph.dead, strict=True):
        if dead:
            erase(op)
    for ops in partitioner.groups():
        # A reshape alone is a view at run time; with other operations it is a change of indices.
        if needs_no_kernel(ops, shapes) or any(op.name in skip for op in ops):
            continue
        if not actions.allowed(ops[-1]):
            continue
        call = outliner.outline(ops, _PRIMITIVE)
        if len(ops) > 1:
            name = call.callee.root_reference.data
            actions.count("fused")
            actions.passed(call, "Fused", "in one function", Function=name, Ops=len(ops))
    # Only now, as they keep the operations before and after them in different groups.
    for op in graph.stops:
        op.result.replace_all_uses_with(op.input)
        erase(op)


def needs_no_kernel(ops: Sequence[Operation], shapes: SymbolicShapes | None = None) -> bool:
    """Return whether a group of operations computes nothing: `plan-memory` gives it a buffer. A
    view whose operand may have another number of elements has a kernel, which checks them."""
    return all(
        (isinstance(op, View) and (shapes is None or keeps_count(op, shapes)))
        or (isinstance(op, ConcatenateOp) and is_in_place(op))
        for op in ops
    )


def keeps_count(op: Operation, shapes: SymbolicShapes) -> bool:
    """Return whether the operand and the result of `op` are known to have as many elements."""
    before, after = shapes.of(op.operands[0]), shapes.of(op.results[0])
    if before is None or after is None:
        return False
    return product(map(as_number, before)) == product(map(as_number, after))


@dataclass(frozen=True)
class FuseOps(ModulePass):
    """Fuse operations into primitive functions; source: `relay.FuseOps` and `relax.FuseOps`.

    The functions are private and marked `relax.primitive`; equal groups share one function. As in
    Relay, an operation that is fused with no other gets a function too, and constants of rank 0 are
    copied into the functions.

    Before:

        func.func @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
          %0 = relax.nn.dense %x, %w : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
          %1 = relax.nn.relu %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
          func.return %1 : tensor<4x2xf32>
        }

    After:

        func.func @f(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
          %0 = func.call @fused_dense_relu(%x, %w)
            : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
          func.return %0 : tensor<4x2xf32>
        }
        func.func private @fused_dense_relu(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>)
            -> tensor<4x2xf32> attributes {relax.primitive} {
          %0 = relax.nn.dense %x, %w : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
          %1 = relax.nn.relu %0 : (tensor<4x2xf32>) -> tensor<4x2xf32>
          func.return %1 : tensor<4x2xf32>
        }
    """

    name = "fuse-ops"
    required = ("infer-type",)
    preserves = ("infer-type",)

    fuse_opt_level: int | None = field(default=None, metadata={"minimum": 0})
    """The level of fusion: 0 outlines each operation alone; by default the level of the context."""
    max_depth: int = field(default=256, metadata={"minimum": 1})
    """The maximal number of operations in a function."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        level = ctx.opt_level if self.fuse_opt_level is None else self.fuse_opt_level
        graph = ctx.analyses.get(CallGraph, module)
        shapes = SymbolicShapes(module, graph) if functions_with_unknown_sizes(graph) else None
        outliner = Outliner(module, is_scalar_constant, shapes, ctx.actions)
        for func in fusible_functions(module):
            fuse_operations(
                func,
                outliner,
                fuse_opt_level=level,
                max_depth=self.max_depth,
                actions=ctx.actions,
                shapes=shapes,
                keep_sizes=True,
            )
        outliner.finish()
