"""tir-remove-assume: remove assumptions, and what only computes them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ...dialects.tir.ops import AssumeOp, PrimFuncOp
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.ir.walk import walk
from .base import PrimFuncPass
from .remove_no_op import remove_no_ops


def remove_assumptions(func: PrimFuncOp, actions: Actions = SILENT) -> int:
    """Erase each `tir.assume` of `func`, and the loops and loads that have no effect without them;
    return how many assumptions were erased."""
    removed = 0
    for op in [op for op in walk(func) if isinstance(op, AssumeOp)]:
        if actions.allowed(op):
            actions.passed(op, "Removed", "an assumption is not computed")
            erase(op)
            removed += 1
    if removed:
        actions.count("assumptions", removed)
        remove_no_ops(func, actions)
    return removed


@dataclass(frozen=True)
class RemoveAssume(PrimFuncPass):
    """Remove assumptions, with the loops and loads that only they need; source:
    `tirx.RemoveAssume`.

    Before:

        tir.prim_func @f(%a: memref<16xi32>) {
          %c0 = arith.constant 0 : index
          %c16 = arith.constant 16 : index
          %zero = arith.constant 0 : i32
          tir.for %i = %c0 extent %c16 {
            %0 = memref.load %a[%i] : memref<16xi32>
            %1 = arith.cmpi eq, %0, %zero : i32
            tir.assume %1
          }
          memref.store %zero, %a[%c0] : memref<16xi32>
        }

    After:

        tir.prim_func @f(%a: memref<16xi32>) {
          %c0 = arith.constant 0 : index
          %zero = arith.constant 0 : i32
          memref.store %zero, %a[%c0] : memref<16xi32>
        }
    """

    name = "tir-remove-assume"
    acts_on = (AssumeOp,)

    def transform_function(self, func: PrimFuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if not func.is_declaration:
            remove_assumptions(func, ctx.actions)
