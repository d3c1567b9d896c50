"""FlattenConcatenate: merge nested concatenations along one axis, and divide long ones of unknown
size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.graph import StopFusionOp
from ...dialects.relax.types import shape_of, tensor_type
from ...passmanager.fast.pattern_driver import actions_of
from ...passmanager.rewriting import PatternPass


@dataclass
class MergeConcatenations(RewritePattern):
    """Replace the operands that are concatenations along the same axis by their operands."""

    max_operands: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatenateOp, rewriter: PatternRewriter, /) -> None:
        if not any(isinstance(tensor.owner, ConcatenateOp) for tensor in op.tensors):
            return
        if (axis := _axis(op)) is None:
            return
        tensors = [part for tensor in op.tensors for part in _parts(tensor, axis)]
        # A chain in which each concatenation has other uses, as in DenseNet, would become n
        # concatenations of up to n operands.
        if len(tensors) > max(self.max_operands, len(op.tensors)):
            actions_of(rewriter).missed(
                op,
                "TooManyOperands",
                "stays nested",
                Operands=len(tensors),
                Limit=self.max_operands,
            )
        elif tensors != [*op.tensors]:
            # In place: the driver visits `op` again, for the next level.
            op.operands = tensors
            rewriter.handle_operation_modification(op)


@dataclass
class DivideConcatenations(RewritePattern):
    """Replace a concatenation of many operands along an axis of unknown size by one of shorter
    concatenations.

    Each part of the result begins at the sum of the sizes before it, which the kernel computes. The
    addresses in the loop of each part contain this sum, so that the time that LLVM takes grows with
    the square of the number of parts.
    """

    max_unknown: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatenateOp, rewriter: PatternRewriter, /) -> None:
        axis, tensors = _axis(op), [*op.tensors]
        if axis is None or len(tensors) <= self.max_unknown or not is_unknown(op.result, axis):
            return
        groups = [
            ConcatenateOp(*tensors[i : i + self.max_unknown], axis=axis)
            for i in range(0, len(tensors), self.max_unknown)
        ]
        # Without these, fuse-ops would fuse all of them into one kernel, as long as before. Apart,
        # those of equal types share a kernel.
        apart = [StopFusionOp(group) for group in groups]
        new = ConcatenateOp(*apart, axis=axis)
        rewriter.replace(op, [*groups, *apart, new])


def is_unknown(value: SSAValue, axis: int) -> bool:
    """Return whether dimension `axis` of a tensor has an unknown size, and the rank is known."""
    shape = shape_of(tensor_type(value))
    return shape is not None and shape[axis] == DYNAMIC_INDEX


def _parts(tensor: SSAValue, axis: int) -> Sequence[SSAValue]:
    """Return the operands of the concatenation along `axis` that makes `tensor`, or `tensor`."""
    inner = tensor.owner
    return inner.tensors if isinstance(inner, ConcatenateOp) and _axis(inner) == axis else [tensor]


def _axis(op: ConcatenateOp) -> int | None:
    """Return the axis of `op`, counted from the first dimension; None if it is counted from the
    last one, and the rank is unknown."""
    axis, shape = op.axis, shape_of(tensor_type(op.result))
    if shape is None:
        return None if axis < 0 else axis
    return axis % len(shape)


@dataclass(frozen=True)
class FlattenConcatenate(PatternPass):
    """Merge nested concatenations along one axis into one, which takes all their operands.

    An inner concatenation with other uses stays for these. A concatenation of many operands along
    an axis of unknown size is divided into shorter ones, with a `relax.stop_fusion` after each.

    Before:

        func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<7xf32> {
          %0 = relax.concatenate %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
          %1 = relax.concatenate %0, %x : (tensor<5xf32>, tensor<2xf32>) -> tensor<7xf32>
          func.return %1 : tensor<7xf32>
        }

    After:

        func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<7xf32> {
          %0 = relax.concatenate %x, %y, %x
              : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<7xf32>
          func.return %0 : tensor<7xf32>
        }
    """

    name = "flatten-concatenate"
    opt_level = 1
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (ConcatenateOp,)
    remove_dead = True

    max_operands: int = field(default=256, metadata={"minimum": 0})
    """Merge up to this number of operands; n nested concatenations can need n * n / 2 operands."""

    max_unknown: int = field(default=16, metadata={"minimum": 2})
    """Divide concatenations of more operands along an axis whose size is not known."""

    def patterns(self) -> Sequence[RewritePattern]:
        return MergeConcatenations(self.max_operands), DivideConcatenations(self.max_unknown)
