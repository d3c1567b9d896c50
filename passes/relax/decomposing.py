"""What the passes have in common that put simpler operations in the place of one."""

from __future__ import annotations

from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ...dialects.relax.interfaces import Decomposes
from ...passmanager.context import PassContext

__all__ = ["replace_by_parts"]


def replace_by_parts(op: Decomposes, rewriter: PatternRewriter) -> None:
    """Replace an operation by what it is the same as, if its types say enough.

    A result that is declared more or less precisely than that stays so, by a cast.
    """
    if (values := op.decompose(rewriter)) is None:
        PassContext.current().remarks.missed(
            op, "TypeNotKnown", "taken apart only if more is known of its types"
        )
        return
    pairs = zip(values, op.result_types, strict=True)
    rewriter.replace(op, (), [_as_type(value, type, rewriter) for value, type in pairs])


def _as_type(value: SSAValue, type: Attribute, rewriter: PatternRewriter) -> SSAValue:
    if value.type == type:
        return value
    return rewriter.insert(CastOp.create(operands=[value], result_types=[type])).dest
