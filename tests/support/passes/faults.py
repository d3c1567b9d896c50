"""Passes with a fault each, for tests of tools that find faults; `MENDED` has those without."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i1, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.elementwise.binary import EqualOp
from passline.passmanager import FunctionPass, ModulePass, PassContext, PatternPass
from passline.passmanager.ir.walk import walk

__all__ = ["FAULTY", "MENDED"]


def constant_of(value: object) -> int | None:
    """Return the integer of an operand that is a constant, else None."""
    owner = getattr(value, "owner", None)
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


# A wrong pattern


class AddSelf(RewritePattern):
    """x * 2 -> x + x, which is right."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /) -> None:
        if constant_of(op.rhs) == 2:
            rewriter.replace(op, arith.AddiOp(op.lhs, op.lhs))


class AddSelfTwice(RewritePattern):
    """x * 3 -> x + x, which is wrong."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /) -> None:
        if constant_of(op.rhs) == 3:
            rewriter.replace(op, arith.AddiOp(op.lhs, op.lhs))


class StrengthReduction(PatternPass):
    """Replaces multiplications by additions."""

    name = "toy-strength-reduction"

    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf(), AddSelfTwice()]


class StrengthReductionMended(StrengthReduction):
    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf()]


# A wrong fold


class Fold(FunctionPass):
    """Folds subtractions of constants; of a negative result it forgets the sign."""

    name = "toy-fold"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        actions = ctx.actions
        for op in [*walk(func)]:
            if isinstance(op, arith.SubiOp):
                lhs, rhs = constant_of(op.lhs), constant_of(op.rhs)
                if lhs is not None and rhs is not None and actions.allowed(op):
                    value = IntegerAttr(self.difference(lhs, rhs), i32)
                    Rewriter.replace_op(op, arith.ConstantOp(value))

    def difference(self, lhs: int, rhs: int) -> int:
        return abs(lhs - rhs)


class FoldMended(Fold):
    def difference(self, lhs: int, rhs: int) -> int:
        return lhs - rhs


# A dropped use


class ForwardOnce(RewritePattern):
    """x + 0 -> x, for the first user of the sum; the others keep an operand that is erased."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /) -> None:
        if constant_of(op.rhs) == 0:
            for use in self.uses(op):
                use.operation.operands[use.index] = op.lhs
            rewriter.erase(op, safe_erase=False)

    def uses(self, op: arith.AddiOp):
        return [*op.result.uses][:1]


class ForwardAll(ForwardOnce):
    def uses(self, op: arith.AddiOp):
        return [*op.result.uses]


class Forward(PatternPass):
    name = "toy-forward"

    def patterns(self) -> Sequence[RewritePattern]:
        return [ForwardOnce()]


class ForwardMended(Forward):
    def patterns(self) -> Sequence[RewritePattern]:
        return [ForwardAll()]


# A wrong type


class Widen(FunctionPass):
    """Sets attributes on functions; gives the quotient of a division the type i64."""

    name = "toy-widen"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        func.attributes["toy.seen"] = UnitAttr()
        for op in [*walk(func)]:
            if isinstance(op, arith.DivSIOp):
                self.change(op)

    def change(self, op: arith.DivSIOp) -> None:
        Rewriter.replace_value_with_new_type(op.result, i64)


class WidenMended(Widen):
    def change(self, op: arith.DivSIOp) -> None:
        pass


# No convergence


class Commute(RewritePattern):
    """x | y -> y | x, without end."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.OrIOp, rewriter: PatternRewriter, /) -> None:
        if self.should(op):
            rewriter.replace(op, arith.OrIOp(op.rhs, op.lhs))

    def should(self, op: arith.OrIOp) -> bool:
        return op.lhs is not op.rhs


class CommuteMended(Commute):
    def should(self, op: arith.OrIOp) -> bool:
        return constant_of(op.lhs) is not None and constant_of(op.rhs) is None


class Sort(PatternPass):
    """Puts the operands of operations in order."""

    name = "toy-sort"

    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf(), Commute()]


class SortMended(Sort):
    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf(), CommuteMended()]


# A wrong use of an analysis, and a claim to preserve it that is wrong


class Products:
    """An analysis: the multiplications in a module."""

    def __init__(self, module: Operation) -> None:
        self.ops = [op for op in walk(module) if isinstance(op, arith.MuliOp)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Products) and self.ops == other.ops

    def __hash__(self) -> int:
        return hash(tuple(self.ops))


class CountProducts(ModulePass):
    """Asks for the analysis, and changes nothing."""

    name = "toy-count-products"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("products", len(ctx.analyses.get(Products, module).ops))


class SquareToProduct(ModulePass):
    """Replaces x ** 2, here x ^ x of a marked operation, by a product."""

    name = "toy-expand-squares"
    preserves = (Products,)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in [*walk(module)]:
            if isinstance(op, arith.XOrIOp) and "toy.square" in op.attributes:
                if ctx.actions.allowed(op):
                    new = arith.MuliOp(op.lhs, op.lhs)
                    new.location = op.location
                    Rewriter.replace_op(op, new)


class SquareToProductMended(SquareToProduct):
    preserves = ()


class CheckProducts(ModulePass):
    """Marks a module as checked, whose products are all known."""

    name = "toy-check-products"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        known = ctx.analyses.get(Products, module).ops
        for op in walk(module):
            if isinstance(op, arith.MuliOp) and ctx.actions.allowed(op) and op not in known:
                raise KeyError("a product that is not known")


# A crash on one operation, without counters


class Crash(ModulePass):
    name = "toy-crash"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in walk(module):
            if isinstance(op, arith.ShLIOp) and (constant_of(op.rhs) or 0) >= 32:
                self.refuse()

    def refuse(self) -> None:
        raise IndexError("list index out of range")


class CrashMended(Crash):
    def refuse(self) -> None:
        pass


# Wrong in one function of twenty, without counters


class Lower(FunctionPass):
    """Adds one to constants; wrong for 13."""

    name = "toy-lower"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        for op in [*walk(func)]:
            if isinstance(op, arith.ConstantOp):
                value = self.value_for(constant_of(op.result) or 0)
                Rewriter.replace_op(op, arith.ConstantOp(IntegerAttr(value, i32)))

    def value_for(self, value: int) -> int:
        return 666 if value == 13 else value + 1


class LowerMended(Lower):
    def value_for(self, value: int) -> int:
        return value + 1


# Wrong only on NaN


class EqualToSelf(RewritePattern):
    """x == x -> true, which is wrong for NaN."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, EqualOp) and op.lhs is op.rhs:
            true = FullOp.create(
                result_types=op.result_types, properties={"value": IntegerAttr(1, i1)}
            )
            rewriter.replace(op, true)


class SimplifyCompare(PatternPass):
    name = "toy-simplify-compare"

    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf(), EqualToSelf()]


class SimplifyCompareMended(SimplifyCompare):
    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf()]


# Wrong only if two passes run


class Mark(FunctionPass):
    """Marks each addition as one that does not overflow, which only a wrong pass relies on."""

    name = "toy-mark"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        for op in walk(func):
            if isinstance(op, arith.AddiOp):
                op.attributes["toy.exact"] = UnitAttr()


class UseMark(RewritePattern):
    """x + y > x -> y > 0 for an addition that does not overflow."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.CmpiOp, rewriter: PatternRewriter, /) -> None:
        add = op.lhs.owner
        if not isinstance(add, arith.AddiOp) or "toy.exact" not in add.attributes:
            return
        if add.lhs is op.rhs and op.predicate.value.data == 4:  # sgt
            zero = arith.ConstantOp(IntegerAttr(0, i32))
            rewriter.insert(zero)
            rewriter.replace(op, arith.CmpiOp(add.rhs, zero.result, "sgt"))


class Exploit(PatternPass):
    name = "toy-exploit"

    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf(), UseMark()]


class ExploitMended(Exploit):
    def patterns(self) -> Sequence[RewritePattern]:
        return [AddSelf()]


FAULTY: list[type[ModulePass | FunctionPass]] = [
    StrengthReduction,
    Fold,
    Forward,
    Widen,
    Sort,
    CountProducts,
    SquareToProduct,
    CheckProducts,
    Crash,
    Lower,
    SimplifyCompare,
    Mark,
    Exploit,
]

MENDED: list[type[ModulePass | FunctionPass]] = [
    StrengthReductionMended,
    FoldMended,
    ForwardMended,
    WidenMended,
    SortMended,
    SquareToProductMended,
    CrashMended,
    LowerMended,
    SimplifyCompareMended,
    ExploitMended,
]
"""The passes that are mended, by the names of the faulty ones."""
