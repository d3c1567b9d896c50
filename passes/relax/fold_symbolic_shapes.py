"""FoldSymbolicShapes: use equalities of sizes that are unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Operation, SSAValue

from ...compiler.analysis.symbolic_shapes import Sizes, SymbolicShapes
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.data.indexing import StridedSliceOp
from ...dialects.relax.data.manipulation import BroadcastToOp, ReshapeOp, TileOp, TransposeOp
from ...dialects.relax.dynamic.data_movement import (
    DynamicBroadcastToOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicStridedSliceOp,
    DynamicTileOp,
)
from ...dialects.relax.types import is_ranked, static_shape
from ...dialects.sizes import Size
from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase, insert_before
from ...passmanager.ir.walk import walk
from ..generic.call_graph import CallGraph
from ..sizes import functions_with_unknown_sizes, retype_known_sizes
from .infer_type import infer_types

# Each of them returns its first operand if that has the shape of the result.
_IDENTITIES = (
    BroadcastToOp,
    DynamicBroadcastToOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicStridedSliceOp,
    DynamicTileOp,
    ReshapeOp,
    StridedSliceOp,
    TileOp,
)

_RESHAPES = (DynamicReshapeOp, ReshapeOp)


def fold_symbolic_shapes(
    module: ModuleOp, graph: CallGraph | None = None, actions: Actions = SILENT
) -> None:
    """Simplify the operations whose result has a shape that is known symbolically.

    A reshape, broadcast, tile or slice to the shape that its operand has is removed, and so are
    several reshapes that end where they began; a reshape to a shape that is computed becomes one
    with `newshape`, if at most one dimension is neither known nor a copy; a transposition of
    matrices between reshapes of the dimensions around them becomes one transposition; integers that
    are known, such as elements of a shape, become constants; sizes that are known become part of
    the types.
    """
    graph = CallGraph(module) if graph is None else graph
    if not (functions := functions_with_unknown_sizes(graph)):
        return
    folder = _Folder(SymbolicShapes(module, graph), actions)
    for function in functions:
        folder.run(function)
    if retype_known_sizes(functions, folder.shapes):
        infer_types(module, graph, actions)


class _Folder:
    """Replaces operations in order, so that users see the values that replace their operands."""

    def __init__(self, shapes: SymbolicShapes, actions: Actions) -> None:
        self.shapes = shapes
        self.actions = actions

    def run(self, function: FuncOp) -> None:
        # In order: an operand that was replaced has its shape under the new value (`move`).
        for op in [*walk(function)]:
            if len(op.results) != 1 or op.results[0].first_use is None:
                continue
            # The most is gained by removing an operation, the least by another form of it.
            new = self.same(op) or self.constant(op) or self.transposed(op) or self.reshape(op)
            if new is None or not self.actions.allowed(op):
                continue
            self.actions.passed(op, "Folded", "replaced, as its shape is known symbolically")
            self.actions.count("folded")
            result = op.results[0]
            if isinstance(new, Operation):
                new.location = op.location
                insert_before(op, new)
                new = new.results[0]
            self.shapes.move(result, new)
            result.replace_all_uses_with(new)
            erase(op)

    def same(self, op: Operation) -> SSAValue | Operation | None:
        """Return the operand of an operation that changes nothing; a cast if the types differ."""
        if not isinstance(op, _IDENTITIES) or not _keeps_order(op, self.shapes):
            return None
        result = op.results[0]
        # Two reshapes that undo each other: the shape of the first operand is that of the result.
        for data in _sources(op):
            if (shape := self.shapes.of(data)) is None or shape != self.shapes.of(result):
                continue
            if data.type == result.type:
                return data
            return CastOp.create(operands=[data], result_types=[result.type])
        return None

    def constant(self, op: Operation) -> Operation | None:
        """Return the constant for a vector or scalar of integers that are all known."""
        if isinstance(op, ConstantOp | FullOp):
            return None
        elements = self.shapes.elements_of(op.results[0])
        numbers = [n.known for n in elements or () if n is not None and n.known is not None]
        # In part known elements are used by the operations that read them.
        if elements is None or len(numbers) < len(elements):
            return None
        type = op.results[0].type
        if not is_ranked(type) or type.element_type != i64 or static_shape(type) is None:
            return None
        value = DenseIntOrFPElementsAttr(
            TensorType(i64, type.get_shape()), BytesAttr(i64.pack(numbers))
        )
        return ConstantOp.create(result_types=[type], properties={"value": value})

    def transposed(self, op: Operation) -> Operation | None:
        """Return the transposition that exchanges the last two dimensions if `op`, a reshape, is
        the last of the operations that do so with all other dimensions as one."""
        if not isinstance(op, DynamicReshapeOp) or not isinstance(op.data.owner, TransposeOp):
            return None
        merged = op.data.owner.data.owner
        if op.data.owner.axes != (0, 2, 1) or not isinstance(merged, DynamicReshapeOp):
            return None
        shape = self.shapes.of(merged.data)
        if shape is None or (rank := len(shape)) < 4:
            return None
        if any((size.known or 0) < 1 for size in (*shape[1:-2], shape[-1])):
            return None
        # A size that is 0 copies one of three dimensions instead. If the first one is 0, so is the
        # product of all but the last two; if the last one is, there is none to copy.
        matrix = shape[-2:]
        if self.shapes.elements_of(merged.newshape) != (Size.of(-1), *matrix):
            return None
        if self.shapes.elements_of(op.newshape) != (*shape[:-2], *matrix[::-1]):
            return None
        new = TransposeOp(merged.data, axes=[*range(rank - 2), rank - 1, rank - 2])
        return new if new.result.type == op.result.type else None

    def reshape(self, op: Operation) -> Operation | None:
        """Return the static form of a reshape to a computed shape."""
        if not isinstance(op, DynamicReshapeOp):
            return None
        shape, target = self.shapes.of(op.data), self.shapes.of(op.result)
        if shape is None or target is None:
            return None
        newshape = _newshape(shape, target)
        if newshape is None or op.known_values() is not None:
            return None
        return ReshapeOp(op.data, newshape=newshape, result_types=op.result_types)


def _sources(op: Operation) -> Iterator[SSAValue]:
    """Yield the first operand; for a reshape, also those of the reshapes before it."""
    yield (data := op.operands[0])
    if isinstance(op, _RESHAPES):
        while isinstance(data.owner, _RESHAPES):
            yield (data := data.owner.operands[0])


def _newshape(shape: Sizes, target: Sizes) -> list[int] | None:
    """Return `newshape` of a reshape from `shape` to `target`; None if it cannot say that."""
    newshape = [_new_size(i, size, shape) for i, size in enumerate(target)]
    # 0 copies a dimension in `newshape`, so a size of 0 cannot be said; one -1 can be computed.
    if 0 in (size.known for size in target) or newshape.count(-1) > 1:
        return None
    return newshape


def _new_size(i: int, size: Size, shape: Sizes) -> int:
    if size.known is not None:
        return size.known
    # (b, s, 64) to (b, s, 8, 8) is [0, 0, 8, 8], whatever b and s are.
    return 0 if i < len(shape) and shape[i] == size else -1


def _keeps_order(op: Operation, shapes: SymbolicShapes) -> bool:
    """Return whether the elements of a result with the shape of the operand are in its order."""
    match op:
        case StridedSliceOp():
            return all(step == 1 for step in op.strides or ())
        case DynamicStridedSliceOp():
            strides = shapes.elements_of(op.strides)
            return strides is not None and all(s is not None and s.known == 1 for s in strides)
        case _:
            return True


@dataclass(frozen=True)
class FoldSymbolicShapes(ModulePass):
    """Simplify shape computations, using which unknown sizes are equal.

    A reshape, broadcast, tile or slice to the shape that its operand has already is removed; a
    reshape to a shape that is computed from shapes becomes static where 0 and -1 can say it; known
    elements of shapes become constants.

    Before:

        func.func @main(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
          %shape = relax.shape_of %x : (tensor<?x6xf32>) -> tensor<2xi64>
          %0 = relax.exp %x : (tensor<?x6xf32>) -> tensor<?x6xf32>
          %1 = relax.dyn.reshape %0, %shape : (tensor<?x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
          func.return %1 : tensor<?x6xf32>
        }

    After:

        func.func @main(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
          %shape = relax.shape_of %x : (tensor<?x6xf32>) -> tensor<2xi64>
          %0 = relax.exp %x : (tensor<?x6xf32>) -> tensor<?x6xf32>
          func.return %0 : tensor<?x6xf32>
        }
    """

    name = "fold-symbolic-shapes"
    opt_level = 2
    required = ("infer-type",)
    preserves = (CallGraph,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        fold_symbolic_shapes(module, ctx.analyses.get(CallGraph, module), ctx.actions)
