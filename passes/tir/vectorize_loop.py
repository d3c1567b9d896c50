"""VectorizeLoop: the iterations of a loop become the lanes of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypeIs
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects.tir.ops import ForKind, ForKindAttr, ForOp, PrimFuncOp
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ..rewriting.cloning import Constants
from ..rewriting.vectorizer import vectorize
from .base import PrimFuncPass
from .unroll_loop import constant_extent, expand

__all__ = ["VectorizeLoop", "vectorize_function"]


def vectorize_function(func: PrimFuncOp, ctx: PassContext, predicate: bool) -> None:
    """Vectorize the loops of a function that say so, the outer ones where they are nested."""
    constants = Constants(func)
    for loop in [op for op in walk(func) if is_vectorized(op)]:
        # It is serial by now if it is in another.
        if is_vectorized(loop) and is_allowed(loop, ctx):
            vectorize_one(loop, constants, ctx, predicate)


def is_vectorized(op: Operation) -> TypeIs[ForOp]:
    return isinstance(op, ForOp) and op.for_kind is ForKind.VECTORIZED


def is_allowed(loop: ForOp, ctx: PassContext) -> bool:
    """Report what may not be in a loop that is vectorized, and make those in it serial."""
    allowed = True
    for op in walk(loop):
        if isinstance(op, scf.WhileOp):
            ctx.diagnostics.error(op, "is in a vectorized loop").note(loop, "that is here")
            allowed = False
        elif op is not loop and is_vectorized(op):
            ctx.diagnostics.warning(op, "is in a vectorized loop: it is run as a serial one")
            op.kind = ForKindAttr(ForKind.SERIAL)
    return allowed


def vectorize_one(loop: ForOp, constants: Constants, ctx: PassContext, predicate: bool) -> None:
    """Vectorize a loop and say how that went."""
    count = constant_extent(loop)
    if count is None:
        hint = loop.extent.name_hint
        name = f" %{hint}" if hint else ""
        ctx.diagnostics.error(loop, f"cannot be vectorized: the extent{name} is no constant")
        return
    if count < 2:
        expand(loop, count, constants)
        return
    location = loop.location
    if (serial := vectorize(loop, count, constants, predicate)) is None:
        ctx.remarks.missed(loop, "SharedStore", "is serial: lanes may write the same element")
        return
    ctx.count("vectorized")
    ctx.count("scalarized", serial)
    ctx.remarks.passed(location, "Vectorized", "vectorized", Lanes=count)
    if serial:
        message = "has pieces that cannot be done on vectors, and are loops"
        ctx.remarks.missed(location, "Scalarized", message, Loops=serial)


@dataclass(frozen=True)
class VectorizeLoop(PrimFuncPass):
    """Replace `vectorized` loops, of constant extent, by operations on vectors; source:
    `tir.VectorizeLoop`.

    What cannot be done on vectors is done in serial loops. Iterations do not depend on each other;
    a loop that stores at a place that is not another in each iteration becomes serial.
    """

    name = "tir-vectorize-loop"

    enable_vectorize: bool = True
    """Whether there are to be vectors; else vectorized loops become serial ones."""
    enable_buffer_level_predication: bool = False
    """Whether a branch of which the condition is that an index is less than a limit becomes
    accesses under a mask."""

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if self.enable_vectorize:
            vectorize_function(func, ctx, self.enable_buffer_level_predication)
            return
        for loop in walk(func):
            if is_vectorized(loop):
                loop.kind = ForKindAttr(ForKind.SERIAL)
