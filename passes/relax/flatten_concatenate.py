"""FlattenConcatenate: a concatenation of concatenations is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relax.concatenation import ConcatenateOp
from ...dialects.relax.types import shape_of, tensor_type
from ...passmanager.context import PassContext
from ...passmanager.rewriting import PatternPass

__all__ = ["FlattenConcatenate", "JoinAll"]


@dataclass
class JoinAll(RewritePattern):
    """Take the operands of an operand that is a concatenation along the same axis, too."""

    max_operands: int

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatenateOp, rewriter: PatternRewriter, /) -> None:
        if not any(isinstance(tensor.owner, ConcatenateOp) for tensor in op.tensors):
            return
        if (axis := _axis(op)) is None:
            return
        tensors = [part for tensor in op.tensors for part in _parts(tensor, axis)]
        if len(tensors) > max(self.max_operands, len(op.tensors)):
            PassContext.current().remarks.missed(
                op,
                "TooManyOperands",
                "stays nested",
                Operands=len(tensors),
                Limit=self.max_operands,
            )
        elif tensors != [*op.tensors]:
            op.operands = tensors
            rewriter.handle_operation_modification(op)


def _parts(tensor: SSAValue, axis: int) -> Sequence[SSAValue]:
    """What a tensor is joined of along an axis."""
    inner = tensor.owner
    return inner.tensors if isinstance(inner, ConcatenateOp) and _axis(inner) == axis else [tensor]


def _axis(op: ConcatenateOp) -> int | None:
    """The axis counted from the first one; None if it is not known."""
    axis, shape = op.axis, shape_of(tensor_type(op.result))
    if shape is None:
        return None if axis < 0 else axis
    return axis % len(shape)


@dataclass(frozen=True)
class FlattenConcatenate(PatternPass):
    """Concatenate what concatenations are made of at once, also where these have other uses: then
    what is made of a part need not wait for the whole.

    What loses its last use goes.
    """

    name = "flatten-concatenate"
    opt_level = 1
    required = ("infer-type",)
    preserves = ("infer-type",)
    remove_dead = True

    max_operands: int = 256
    """The most operands of a concatenation: nested ones of n tensors become n * n / 2 operands."""

    def patterns(self) -> Sequence[RewritePattern]:
        return (JoinAll(self.max_operands),)
