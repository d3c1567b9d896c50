"""CancelTransposes: operations between a transposition and its inverse are computed as they were
before the first one."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.data.manipulation import LayoutTransformOp, TransposeOp
from ...dialects.relax.interfaces import AlongAxes, Conversion, LayoutRule
from ...dialects.relax.layout import Relayout
from ...dialects.relax.reduction.reduction import ReductionOp
from ...dialects.relax.types import is_tensor, shape_of
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import Rounding
from ..evaluation_code import load_relayout
from ..layouts import change_layouts


@dataclass(frozen=True)
class CancelTransposes(FunctionPass):
    """Remove transpositions that later ones undo, and let the operations in between follow.

    Models in NHWC have them around each convolution, which ONNX has in NCHW only.

    Before:

        func.func @f(%x: tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32> {
          %0 = relax.transpose %x {axes = [0, 2, 3, 1]}
            : (tensor<1x3x5x4xf32>) -> tensor<1x5x4x3xf32>
          %1 = relax.nn.relu %0 : (tensor<1x5x4x3xf32>) -> tensor<1x5x4x3xf32>
          %2 = relax.transpose %1 {axes = [0, 3, 1, 2]}
            : (tensor<1x5x4x3xf32>) -> tensor<1x3x5x4xf32>
          func.return %2 : tensor<1x3x5x4xf32>
        }

    After:

        func.func @f(%x: tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32> {
          %0 = relax.nn.relu %x : (tensor<1x3x5x4xf32>) -> tensor<1x3x5x4xf32>
          func.return %0 : tensor<1x3x5x4xf32>
        }
    """

    name = "cancel-transposes"
    opt_level = 3
    rounds = Rounding(changes=())
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (TransposeOp,)

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        load_relayout(ops)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        change_layouts(func, {TransposeOp.name: Canceled()}, actions=ctx.actions)


class Canceled:
    """The layout hook of transpositions: their results are the operands in another layout."""

    def __init__(self) -> None:
        self.moved: set[SSAValue] = set()
        """The values that will be in the layout from before a transposition."""

    def __call__(self, op: Operation) -> Conversion | None:
        assert isinstance(op, TransposeOp)
        if op.data in self.moved or (axes := op.order()) is None:
            return None
        found = Followers(op, axes, self.moved)
        outside = [v for v in found.operands if not is_moved(v, self.moved, axes)]
        # Each value that is needed in both layouts, or comes in the other one, is transformed.
        if found.canceled <= len(found.restored) + len(outside):
            return None
        self.moved |= found.values
        letters = ascii_uppercase[: len(axes)]
        relayout = Relayout.parse("".join(letters[axis] for axis in axes), letters)
        return Conversion([None], [relayout], forwards=True)


class Followers:
    """The operations after a transposition that can be computed without it, up to those that are
    computed so for another one."""

    def __init__(self, op: TransposeOp, axes: Sequence[int], moved: Container[SSAValue]) -> None:
        self.values: set[SSAValue] = {op.result}
        """The results of these operations, and that of the transposition."""
        self.operands: set[SSAValue] = set()
        """Their other operands."""
        self.restored: set[SSAValue] = set()
        """The values that other operations need as they are now."""
        self.canceled = 0
        """The transpositions back, and the operations that are computed so for another one."""
        pending = [op.result]
        while pending:
            for use in (value := pending.pop()).uses:
                user = use.operation
                if isinstance(user, TransposeOp):
                    back = [axes[axis] for axis in user.order() or ()]
                    self.canceled += back == [*range(len(axes))]
                elif not follows(user, len(axes)):
                    self.restored.add(value)
                elif not isinstance(user, ReductionOp):  # whose result is small
                    self.operands |= {*user.operands}
                    new = [result for result in user.results if result not in self.values]
                    self.values.update(new)
                    others = [result for result in new if result not in moved]
                    self.canceled += len(new) - len(others)
                    pending += others
        self.operands -= self.values


STAYING = (AlongAxes, LayoutTransformOp, TransposeOp)


def follows(op: Operation, rank: int) -> bool:
    """Return whether an operation costs as much in another order of dimensions. One along an axis,
    such as softmax, would read elements that are far from each other."""
    if isinstance(op, ReductionOp):
        return True
    if not isinstance(op, LayoutRule) or isinstance(op, STAYING):
        return False
    return all(rank_of(result) == rank for result in op.results)


def is_moved(value: SSAValue, moved: Container[SSAValue], axes: Sequence[int]) -> bool:
    """Return whether a value is, or can be, in the layout from before a transposition along `axes`
    at no cost."""
    rank = len(axes)
    owner = value.owner
    while value not in moved and isinstance(owner, Operation) and follows(owner, rank):
        value = owner.operands[0]
        owner = value.owner
    if isinstance(owner, TransposeOp):
        return owner.order() == axes
    if value in moved or isinstance(owner, ConstantOp | FullOp):
        return True
    return (own := rank_of(value)) is not None and own < rank


def rank_of(value: SSAValue) -> int | None:
    """Return the rank of a tensor; None if it is not known, and of other values."""
    shape = shape_of(value.type) if is_tensor(value.type) else None
    return None if shape is None else len(shape)
