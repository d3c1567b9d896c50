"""The reason why an operation has no kernel."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from .kernel import kernel_of
from .legalizations import legalization_of
from .no_kernel import NoKernel

__all__ = ["missing_kernel"]


def missing_kernel(op: Operation) -> str | None:
    """Return why no kernel computes `op`, or None if one does."""
    if legalization_of(op) is None:
        return "it has no legalization"
    func = FuncOp(op.name, (op.operand_types, op.result_types))
    copy = op.clone(dict(zip(op.operands, func.args, strict=True)))
    func.body.block.add_ops([copy, ReturnOp(*copy.results)])
    try:
        kernel_of(func)
    except NoKernel as error:
        return str(error)
    return None
