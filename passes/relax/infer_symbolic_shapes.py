"""InferSymbolicShapes: say the sizes of unknown dimensions in the names of the parameters' ones."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from ...compiler.analysis.symbolic_shapes import SymbolicShapes, name_results
from ...dialects.signature import annotate_results
from ...dialects.sizes import Size
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ..generic.call_graph import CallGraph
from ..sizes import functions_with_unknown_sizes, retype_known_sizes
from .infer_type import infer_types


def infer_symbolic_shapes(module: ModuleOp, graph: CallGraph | None = None) -> None:
    """Write the sizes of unknown dimensions to the attributes `onnx.dims` of operations and of
    function results; sizes that are known become part of the types."""
    graph = CallGraph(module) if graph is None else graph
    if not (functions := functions_with_unknown_sizes(graph)):
        return
    if retype_known_sizes(functions, SymbolicShapes(module, graph)):
        infer_types(module, graph)
    # Once more after the types have changed: values were replaced, and the old answers are of
    # those.
    shapes = SymbolicShapes(module, graph)
    for function in functions:
        for op in walk(function):
            if op.results:
                annotate_results(op, [_names(shapes.of(value)) for value in op.results])
        name_results(function, shapes)


def _names(sizes: Sequence[Size] | None) -> list[str | None]:
    return [None if size.known is not None else size.text for size in sizes or ()]


class InferSymbolicShapes(ModulePass):
    """Annotate operations with their unknown dimensions, as expressions of those of parameters.

    The attribute `onnx.dims` of an operation lists the dimensions of each result: `unit` for one
    that is known, or has no name. Passes that need these sizes compute them, so that they cannot be
    out of date; `fold-symbolic-shapes` uses them. A size that turns out to be known becomes part of
    the type.
    Source: the symbolic shapes of Relax, which are part of its types.

    Before:

        func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["n", "m"]}) -> tensor<?x?xf32> {
          %0 = relax.concatenate %x, %x {axis = 0}
              : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
          func.return %0 : tensor<?x?xf32>
        }

    After:

        func.func @main(%x: tensor<?x?xf32> {onnx.dims = ["n", "m"]})
            -> (tensor<?x?xf32> {onnx.dims = ["2 * n", "m"]}) {
          %0 = relax.concatenate %x, %x {onnx.dims = [["2 * n", "m"]]}
              : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
          func.return %0 : tensor<?x?xf32>
        }
    """

    name = "infer-symbolic-shapes"
    required = ("infer-type",)
    preserves = ("infer-type", CallGraph)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        infer_symbolic_shapes(module, ctx.analyses.get(CallGraph, module))
