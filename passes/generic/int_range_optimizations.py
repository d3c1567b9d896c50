"""IntRangeOptimizations: the ranges of integers, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.fast.edit import erase
from ...passmanager.ir.walk import ops_of
from ...passmanager.releases.floats import key_of
from .canonicalize.constants import truncated_integer
from .integer_ranges import IntegerRanges, has_range
from .sccp import ConstantValue, replace_by_constants

__all__ = ["IntRangeOptimizations"]


def optimize_by_ranges(root: Operation, actions: Actions = SILENT) -> None:
    """Replace the values in `root` of which only one number is possible, and the remainders that
    are their dividends."""
    known = IntegerRanges(root, actions=actions)

    def constant_of(value: SSAValue) -> ConstantValue | None:
        state, type = known.state(value), value.type
        number = None if state is None else state.number
        if number is None or not has_range(type):
            return None
        attribute = truncated_integer(number, type)
        owner = value.owner
        source = owner if isinstance(owner, arith.ConstantOp) else None
        return ConstantValue((arith.ConstantOp.name, key_of(attribute), type), attribute, source)

    replace_by_constants(root, constant_of, known.reached, actions)
    for op in ops_of(root, arith.RemSIOp, arith.RemUIOp):
        if _is_dividend(op, known) and actions.allowed(op):
            actions.passed(op, "Folded", "is its dividend, which is below the divisor")
            actions.count("folded")
            op.result.replace_all_uses_with(op.lhs)
            erase(op)


def _is_dividend(op: arith.RemSIOp | arith.RemUIOp, known: IntegerRanges) -> bool:
    """Return whether a remainder is its dividend, which is below the divisor."""
    a, b = (known.state(operand) for operand in op.operands)
    if a is None or b is None:
        return False
    if isinstance(op, arith.RemUIOp):
        return a.unsigned[1] < b.unsigned[0]
    return a.signed[0] >= 0 and a.signed[1] < b.signed[0]


@dataclass(frozen=True)
class IntRangeOptimizations(ModulePass):
    """Replace integers of which the range has one number, comparisons among them, and remainders of
    dividends below the divisor.

    Ranges are followed through blocks, regions, and calls of private functions, by the interfaces
    of control flow. Source: MLIR's `int-range-optimizations`.

    Before:

        func.func @f(%n: index) -> (i1, index) {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %ten = arith.constant 10 : index
          %0 = arith.remui %n, %ten : index
          %1 = arith.cmpi ult, %0, %ten : index
          %2 = arith.remui %0, %ten : index
          func.return %1, %2 : i1, index
        }

    After:

        func.func @f(%n: index) -> (i1, index) {
          %0 = arith.constant true
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %ten = arith.constant 10 : index
          %1 = arith.remui %n, %ten : index
          func.return %0, %1 : i1, index
        }
    """

    name = "int-range-optimizations"
    opt_level = 1
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        optimize_by_ranges(module, ctx.actions)
