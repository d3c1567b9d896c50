"""Replacement of an operation by its decomposition."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ..dialects.relax.interfaces import Decomposes
from ..passmanager.fast.pattern_driver import actions_of


def replace_by_decomposition(op: Operation, rewriter: PatternRewriter) -> None:
    """Replace `op` by its decomposition, if its types are known well enough.

    A cast is inserted where the type of a result is more or less precise than the declared one.
    """
    if (values := _decompose(op, rewriter)) is None:
        actions_of(rewriter).missed(
            op, "TypeNotKnown", "decomposed only if the rank and the needed sizes are known"
        )
        return
    pairs = zip(values, op.result_types, strict=True)
    rewriter.replace(op, (), [_as_type(value, type, rewriter) for value, type in pairs])


def _decompose(op: Operation, rewriter: PatternRewriter) -> Sequence[SSAValue] | None:
    """Insert the decomposition of `op`: its own (`Decomposes`), or the one in the table."""
    if isinstance(op, Decomposes):
        return op.decompose(rewriter)
    # Imported here, as it imports numpy.
    from .decompositions import DECOMPOSITIONS

    return DECOMPOSITIONS[type(op)](op, rewriter)


def _as_type(value: SSAValue, type: Attribute, rewriter: PatternRewriter) -> SSAValue:
    if value.type == type:
        return value
    return rewriter.insert(CastOp.create(operands=[value], result_types=[type])).dest
