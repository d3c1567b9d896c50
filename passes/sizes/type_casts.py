"""Casts after values were retyped: for users that need the declared types, and at regions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.func import ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.region_flow import flows
from ...dialects.relax.closures import InvokeOp
from ...dialects.relax.closures import YieldOp as LambdaYieldOp
from ...dialects.relax.graph import OutputOp
from ...dialects.relax.interfaces import InfersType
from ...dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ...dialects.relax.tuples import MatchCastOp
from ...dialects.relax.types import is_tensor, refine

__all__ = ["cast_at_regions", "cast_for_users"]


def cast_at_regions(holders: Iterable[Operation]) -> None:
    """Cast the values that flow into or out of the regions of `holders` to exactly the types that
    the regions declare, where these are less precise."""
    for holder in holders:
        for user, first, types in flows(holder):
            for index, (value, type) in enumerate(zip(user.operands[first:], types), first):
                # xDSL's verifier wants exactly the declared types here, where `infer-type` has more
                # precise ones.
                if value.type != type and refine(value.type, type) is not None:
                    user.operands[index] = _cast(value, type, InsertPoint.before(user))


def cast_for_users(declared: Mapping[SSAValue, Attribute]) -> None:
    """Cast retyped values back to their `declared` types for users that cannot adapt."""
    for value, type in declared.items():
        # One cast for all these users, directly after the value, where it dominates them.
        if uses := [use for use in value.uses if not _adapts(use)]:
            cast = _cast(value, type, _after_definition(value))
            for use in uses:
                use.operation.operands[use.index] = cast


def _cast(value: SSAValue, type: Attribute, where: InsertPoint) -> SSAValue:
    owner = value.owner
    location = owner.location if isinstance(owner, Operation) else None
    # `tensor.cast` takes tensors only; tuples with tensors in them need the cast of relax.
    cast = CastOp if is_tensor(type) else MatchCastOp
    op = cast.create(operands=[value], result_types=[type], location=location)
    Rewriter.insert_op(op, where)
    return op.results[0]


def _after_definition(value: SSAValue) -> InsertPoint:
    owner = value.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)


def _adapts(use: Use) -> bool:
    """Return whether the user accepts a more precise type, or `cast_at_regions` handles it."""
    match use.operation:
        case InvokeOp():
            # The closure. The verifier wants the arguments in exactly the types that the closure
            # declares.
            return use.index == 0
        case YieldOp() as end:
            return isinstance(end.parent_op(), IfOp | ForOp | WhileOp)
        case user:
            return isinstance(user, _ADAPTING)


_ADAPTING = (
    CallTIRInplaceOp,
    CallTIROp,
    CastOp,
    ConditionOp,
    ForOp,
    InfersType,
    LambdaYieldOp,
    OutputOp,
    ReturnOp,
    WhileOp,
)
