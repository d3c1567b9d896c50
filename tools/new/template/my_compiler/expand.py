"""A function pass: expands powers to multiplications."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from passline.passmanager import SILENT, Actions, FunctionPass, PassContext

from .dialect import PowerOp

__all__ = ["Expand", "expand_powers", "power"]


def expand_powers(func: FuncOp, max_exponent: int, actions: Actions = SILENT) -> None:
    """Replace the powers in `func` by multiplications, except above `max_exponent`."""
    for op in [op for op in func.walk() if isinstance(op, PowerOp)]:
        exponent = op.exponent.value.data
        if exponent > max_exponent:
            actions.missed(op, "LargeExponent", "too large", Exponent=exponent, Limit=max_exponent)
        elif actions.allowed(op):
            builder = Builder(InsertPoint.before(op))
            Rewriter.replace_op(op, [], [power(builder, op.base, exponent)])
            actions.count("expanded")


def power(builder: Builder, base: SSAValue, exponent: int) -> SSAValue:
    """Build `base` to the power of `exponent` with at most 2 log2(exponent) multiplications."""
    if exponent == 0:
        return builder.insert(arith.ConstantOp(IntegerAttr(1, i64))).result
    if exponent == 1:
        return base
    half = power(builder, base, exponent // 2)
    square = builder.insert(arith.MuliOp(half, half)).result
    return builder.insert(arith.MuliOp(square, base)).result if exponent % 2 else square


@dataclass(frozen=True)
class Expand(FunctionPass):
    """Expand powers to multiplications.

    Before:

        func.func @f(%x: i64) -> i64 {
          %a = my_compiler.power %x, 3
          func.return %a : i64
        }

    After:

        func.func @f(%x: i64) -> i64 {
          %0 = arith.muli %x, %x : i64
          %1 = arith.muli %0, %x : i64
          func.return %1 : i64
        }
    """

    name = "my-compiler-expand"
    opt_level = 1
    required = ("my-compiler-simplify",)

    max_exponent: int = 64
    """Larger powers are left as they are."""

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        expand_powers(func, self.max_exponent, ctx.actions)
