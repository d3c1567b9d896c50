"""The replacement of an operation by simpler ones."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ...dialects.relax.interfaces import Decomposes
from ...passmanager.worklist import actions_of

__all__ = ["replace_by_parts"]


def replace_by_parts(op: Operation, rewriter: PatternRewriter) -> None:
    """Replace an operation by its decomposition, if its types say enough.

    A result that is declared more or less precisely than that stays so, by a cast.
    """
    if (values := _parts(op, rewriter)) is None:
        actions_of(rewriter).missed(
            op, "TypeNotKnown", "taken apart only if more is known of its types"
        )
        return
    pairs = zip(values, op.result_types, strict=True)
    rewriter.replace(op, (), [_as_type(value, type, rewriter) for value, type in pairs])


def _parts(op: Operation, rewriter: PatternRewriter) -> Sequence[SSAValue] | None:
    """Insert the decomposition of an operation: its own, or that of the table."""
    if isinstance(op, Decomposes):
        return op.decompose(rewriter)
    from .decompositions import DECOMPOSITIONS

    return DECOMPOSITIONS[type(op)](op, rewriter)


def _as_type(value: SSAValue, type: Attribute, rewriter: PatternRewriter) -> SSAValue:
    if value.type == type:
        return value
    return rewriter.insert(CastOp.create(operands=[value], result_types=[type])).dest
