"""Concatenations whose operands can be computed where the result has them."""

from __future__ import annotations

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import ConstantLike, IsTerminator

from ....dialects.relax.data.concatenation import ConcatenateOp
from ....dialects.relax.shapes import normalize_axis
from ....dialects.relax.tuples import TupleGetItemOp
from ....dialects.relax.types import is_tensor, static_shape
from .last_uses import source_of, users_of

__all__ = ["is_contiguous", "is_in_place"]


def is_contiguous(op: ConcatenateOp) -> bool:
    """Return whether each operand is contiguous in the result: sizes before the axis are 1."""
    type = op.result.type
    if (shape := static_shape(type)) is None or not is_tensor(type):
        return False
    if any(static_shape(operand.type) is None for operand in op.tensors):
        return False
    axis = normalize_axis(op.axis, len(shape))
    return isinstance(type.element_type, FixedBitwidthType) and all(n == 1 for n in shape[:axis])


def is_in_place(op: ConcatenateOp) -> bool:
    """Return whether `op` needs no kernel: `plan-memory` has each operand computed in its part of
    the result.

    Each operand is then computed in the block of `op`, and is part of no other contiguous
    concatenation; and the result is not returned, as its buffer belongs to the caller.
    """
    sources = [source_of(operand) for operand in op.tensors]
    return (
        is_contiguous(op)
        and len(op.tensors) > 1
        # A value that is concatenated twice can be computed in one place only.
        and len({*sources}) == len(sources)
        and all(_is_computed_for(source, op) for source in sources)
        and not any(map(_is_terminator, users_of(op.result)))
    )


def _is_computed_for(source: SSAValue, op: ConcatenateOp) -> bool:
    """Return whether `source` is computed in the block of `op`, and only `op` concatenates it."""
    owner = source.owner
    if not isinstance(owner, Operation) or owner.parent is not op.parent:
        return False
    if isinstance(owner, TupleGetItemOp) or owner.has_trait(
        ConstantLike, value_if_unregistered=False
    ):
        return False
    return not any(
        _is_terminator(user)
        or (user is not op and isinstance(user, ConcatenateOp) and is_contiguous(user))
        for user in users_of(source)
    )


def _is_terminator(op: Operation) -> bool:
    return op.has_trait(IsTerminator, value_if_unregistered=True)
