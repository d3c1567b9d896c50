"""Rewrite patterns of `arith` on scalars, for `canonicalize`: those of MLIR that xDSL lacks."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import CallableOpInterface, IsolatedFromAbove

from ....passmanager.fast.edit import read_step
from ....passmanager.ir.dominance import is_graph_region
from ....passmanager.releases.floats import key_of
from ..arith_families import COMMUTATIVE
from .scalar_folds import (
    constant_integer,
    fold_scalar,
    is_integer,
    is_scalar_constant,
    merge_floats,
    truncated_integer,
    width_of,
)

Extension: TypeAlias = arith.ExtUIOp | arith.ExtSIOp
Foldable: TypeAlias = (
    arith.SignlessIntegerBinaryOperation
    | arith.FloatingPointLikeBinaryOperation
    | arith.CmpiOp
    | arith.CmpfOp
    | arith.SelectOp
    | arith.NegfOp
    | arith.BitcastOp
    | arith.IndexCastOp
    | arith.FPToSIOp
    | arith.FPToUIOp
    | arith.SIToFPOp
    | arith.UIToFPOp
    | arith.ExtFOp
    | arith.TruncFOp
    | arith.TruncIOp
    | Extension
)


def scalar_patterns() -> list[RewritePattern]:
    """Return the patterns but `FoldScalar`, for one run of the driver."""
    return [
        # First, so that equal constants are one value for the other patterns, as in MLIR's driver.
        HoistConstant(),
        ConstantToRight(),
        MergeIntegerConstants(),
        AddNegated(),
        InvertComparison(),
        CompareExtended(),
        ExtendLater(),
        MergeIntegerCasts(),
        DropNegations(),
        SimplifySelect(),
    ]


class HoistConstant(RewritePattern):
    """Move a constant to the start of the function around it, and use an equal one there."""

    def __init__(self) -> None:
        self.known: dict[tuple[Block, object, int | None], arith.ConstantOp] = {}
        self.last: dict[Block, Operation] = {}
        """The last constant at the start of each function."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter, /) -> None:
        if op.attributes or (entry := _entry_block(op)) is None:
            return
        number = constant_integer(op.result)
        key = (entry, key_of(op.value) if number is None else op.result.type, number)
        # By the bits of an integer: `255 : i8` and `-1 : i8` are one constant.
        existing = self.known.get(key)
        if existing is op:
            return
        # It may have been erased since, as dead.
        if existing is not None and existing.parent is entry:
            rewriter.replace(op, (), existing.results)
            return
        self.known[key] = op
        last = self.last.get(entry)
        if last is not None and last.parent is not entry:
            last = None
        self.last[entry] = op
        # Not if it is in its place already: a pattern that always reports a change never ends.
        if op.prev_op is not last or op.parent is not entry:
            op.detach()
            place = InsertPoint.at_start(entry) if last is None else InsertPoint.after(last)
            rewriter.insert(op, place)


def _entry_block(op: Operation) -> Block | None:
    """Return the entry block of the region that is isolated from above and contains `op`; None if
    it, or a region in between, is a graph region, or captures what it uses."""
    block = op.parent
    while block is not None and (region := block.parent) is not None:
        if (holder := region.parent) is None or is_graph_region(region):
            return None
        if holder.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            return region.first_block
        if holder.has_trait(CallableOpInterface, value_if_unregistered=True):
            return None
        block = holder.parent
    return None


class FoldScalar(RewritePattern):
    """Replace an operation by the constant or the operand that it is equal to."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Foldable, rewriter: PatternRewriter, /) -> None:
        match fold_scalar(op):
            case None:
                pass
            case SSAValue() as value:
                rewriter.replace(op, (), [value])
            case constant:
                rewriter.replace(op, arith.ConstantOp(constant))


class ConstantToRight(RewritePattern):
    """Exchange the operands of a commutative operation or a comparison whose left one is a
    constant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Foldable, rewriter: PatternRewriter, /) -> None:
        if type(op) not in COMMUTATIVE and type(op) is not arith.CmpiOp:
            return
        lhs, rhs = read_step(op)[0]
        # Two constants stay, as they are folded; exchanging them would never end.
        if is_scalar_constant(lhs) and not is_scalar_constant(rhs):
            op.operands = [rhs, lhs]
            if isinstance(op, arith.CmpiOp):
                op.predicate = IntegerAttr(_MIRRORED[op.predicate.value.data], 64)
            rewriter.handle_operation_modification(op)


_MIRRORED = (0, 1, 4, 5, 2, 3, 8, 9, 6, 7)
"""The predicate of `arith.cmpi` for exchanged operands, by predicate."""
_INVERSE = (1, 0, 5, 4, 3, 2, 9, 8, 7, 6)
"""The negation of a predicate, by predicate."""


# Integers


class MergeIntegerConstants(RewritePattern):
    """Replace two sums or products with constants by one: `(x + 1) - 3` by `x + -2`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: arith.AddiOp | arith.SubiOp | arith.MuliOp, rewriter: PatternRewriter, /
    ) -> None:
        if (outer := _with_constant(op)) is None or not isinstance(outer.value, OpResult):
            return
        if (inner := _with_constant(outer.value.op)) is None:
            return
        # Distributing `(x + 1) * 3` would give more operations.
        if isinstance(op, arith.MuliOp) is not isinstance(outer.value.op, arith.MuliOp):
            return
        if isinstance(op, arith.MuliOp):
            constant, sign = outer.constant * inner.constant, 1
        else:
            # `c - (x + d)` is `(c - d) - x`. Arithmetic wraps, so the order of the sums does not
            # matter; flags that forbid it to wrap are dropped.
            constant = outer.constant + outer.sign * inner.constant
            sign = outer.sign * inner.sign
        type = op.result.type
        assert is_integer(type)
        other = arith.ConstantOp(truncated_integer(constant, type))
        if isinstance(op, arith.MuliOp):
            new = arith.MuliOp(inner.value, other)
        elif sign > 0:
            new = arith.AddiOp(inner.value, other)
        else:
            new = arith.SubiOp(other, inner.value)
        rewriter.replace(op, [other, new])


class Linear(NamedTuple):
    """The sum `sign * value + constant`, or the product `value * constant`."""

    value: SSAValue
    sign: int
    constant: int


def _with_constant(op: Operation) -> Linear | None:
    """Return the parts of a sum, difference or product of a value and a constant."""
    if not isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp):
        return None
    left, right = op.operands  # not `op.lhs`, which takes ten times as long
    lhs, rhs = constant_integer(left), constant_integer(right)
    if rhs is not None and lhs is None:
        return Linear(left, 1, -rhs if isinstance(op, arith.SubiOp) else rhs)
    if lhs is not None and rhs is None and isinstance(op, arith.SubiOp):
        return Linear(right, -1, lhs)
    return None


class AddNegated(RewritePattern):
    """Replace `x + y * -1` by `x - y`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /) -> None:
        lhs, rhs = op.operands
        for a, b in ((lhs, rhs), (rhs, lhs)):
            if isinstance(product := b.owner, arith.MuliOp):
                ones = (1 << width_of(b.type)) - 1
                if constant_integer(product.rhs) == ones:
                    rewriter.replace(op, arith.SubiOp(a, product.lhs))
                    return


class InvertComparison(RewritePattern):
    """Replace the negation of an integer comparison by the opposite comparison."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.XOrIOp, rewriter: PatternRewriter, /) -> None:
        compare = op.lhs.owner
        if isinstance(compare, arith.CmpiOp) and constant_integer(op.rhs) == 1:
            predicate = _INVERSE[compare.predicate.value.data]
            rewriter.replace(op, arith.CmpiOp(compare.lhs, compare.rhs, predicate))


class CompareExtended(RewritePattern):
    """Compare two extended integers before their extension."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.CmpiOp, rewriter: PatternRewriter, /) -> None:
        lhs, rhs, predicate = op.lhs.owner, op.rhs.owner, op.predicate.value.data
        if isinstance(lhs, Extension) and type(lhs) is type(rhs):
            assert isinstance(rhs, Extension)
            a, b = lhs.operands[0], rhs.operands[0]
            if a.type == b.type:
                # Zero-extended numbers are not negative: a signed comparison of them is an unsigned
                # one of the narrow ones, 4 further in the table of predicates.
                if isinstance(lhs, arith.ExtUIOp) and 2 <= predicate <= 5:
                    predicate += 4
                rewriter.replace(op, arith.CmpiOp(a, b, predicate))


class ExtendLater(RewritePattern):
    """Combine the bits of two extended integers before their extension."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: arith.AndIOp | arith.OrIOp | arith.XOrIOp, rewriter: PatternRewriter, /
    ) -> None:
        lhs, rhs = op.lhs.owner, op.rhs.owner
        if isinstance(lhs, Extension) and type(lhs) is type(rhs):
            assert isinstance(rhs, Extension)
            a, b = lhs.operands[0], rhs.operands[0]
            if a.type == b.type:
                narrow = type(op)(a, b)
                rewriter.replace(op, [narrow, _cast(type(lhs), narrow.result, op.result.type)])


class MergeIntegerCasts(RewritePattern):
    """Replace two integer casts by one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: Extension | arith.TruncIOp | arith.IndexCastOp, rewriter: PatternRewriter, /
    ) -> None:
        inner, to = op.operands[0].owner, op.results[0].type
        if isinstance(inner, Extension | arith.TruncIOp):
            cast = _merged_cast(op, inner)
            if cast is not None and inner.operands[0].type != to:
                rewriter.replace(op, _cast(cast, inner.operands[0], to))


def _merged_cast(outer: Operation, inner: Operation) -> type[Operation] | None:
    """Return the class of the cast that does what `inner` and then `outer` do."""
    match outer, inner:
        # A zero-extended number has a sign bit of 0, which extends as zero.
        case (arith.ExtUIOp(), arith.ExtUIOp()) | (arith.ExtSIOp(), arith.ExtUIOp()):
            return arith.ExtUIOp
        case arith.ExtSIOp(), arith.ExtSIOp():
            return arith.ExtSIOp
        case arith.TruncIOp(), arith.TruncIOp():
            return arith.TruncIOp
        # i8 -> i32 -> i16 is i8 -> i16; i16 -> i32 -> i8 is i16 -> i8.
        case arith.TruncIOp(), arith.ExtUIOp() | arith.ExtSIOp():
            is_wider = width_of(outer.results[0].type) > width_of(inner.operands[0].type)
            return type(inner) if is_wider else arith.TruncIOp
        case arith.IndexCastOp(), arith.ExtSIOp():
            return arith.IndexCastOp
        case _:
            return None


def _cast(cast: type[Operation], value: SSAValue, to: Attribute) -> Operation:
    return cast.create(operands=[value], result_types=[to])


# Floats and selections


class ReassociateFloats(RewritePattern):
    """Replace two sums or products with constants by one, where the flag `reassoc` allows it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: arith.AddfOp | arith.MulfOp, rewriter: PatternRewriter, /
    ) -> None:
        value, outer = _constant_last(op)
        inner = value.owner
        if outer is None or type(inner) is not type(op) or not value.has_one_use():
            return
        assert isinstance(inner, arith.AddfOp | arith.MulfOp)
        if not _may_reassociate(op) or not _may_reassociate(inner):
            return
        value, constant = _constant_last(inner)
        if constant is None or (merged := merge_floats(op, constant, outer)) is None:
            return
        flags = arith.FastMathFlagsAttr(op.fastmath.data | inner.fastmath.data)
        other = arith.ConstantOp(merged)
        rewriter.replace(op, [other, type(op)(value, other.result, flags)])


def _constant_last(op: Operation) -> tuple[SSAValue, SSAValue | None]:
    """Return the operands of a commutative operation, the constant one last; None if none is."""
    lhs, rhs = op.operands
    if is_scalar_constant(lhs):
        lhs, rhs = rhs, lhs
    return lhs, rhs if is_scalar_constant(rhs) else None


def _may_reassociate(op: arith.AddfOp | arith.MulfOp) -> bool:
    return FastMathFlag.REASSOC in op.fastmath.data


class DropNegations(RewritePattern):
    """Multiply or divide two negated floats without the negations."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: arith.MulfOp | arith.DivfOp, rewriter: PatternRewriter, /
    ) -> None:
        lhs, rhs = (value.owner for value in read_step(op)[0])
        if isinstance(lhs, arith.NegfOp) and isinstance(rhs, arith.NegfOp):
            op.operands = [lhs.operand, rhs.operand]
            rewriter.handle_operation_modification(op)


class SimplifySelect(RewritePattern):
    """Replace a selection by a cast of its condition, or let it have a simpler condition or
    operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SelectOp, rewriter: PatternRewriter, /) -> None:
        if (new := _simpler_operands(op)) is not None:
            op.operands = new
            rewriter.handle_operation_modification(op)
            return
        value, width = constant_integer(op.lhs), width_of(op.lhs.type)
        if constant_integer(op.rhs) != 0 or width == 1 or isinstance(op.lhs.type, IndexType):
            return
        if value in (1, (1 << width) - 1):
            cast = arith.ExtUIOp if value == 1 else arith.ExtSIOp
            rewriter.replace(op, _cast(cast, op.cond, op.lhs.type))


def _simpler_operands(op: arith.SelectOp) -> list[SSAValue] | None:
    """Return simpler operands of a selection with the same result, or None."""
    cond, lhs, rhs = op.operands
    negation = cond.owner
    if isinstance(negation, arith.XOrIOp) and constant_integer(negation.rhs) == 1:
        return [negation.lhs, rhs, lhs]
    if isinstance(inner := lhs.owner, arith.SelectOp) and inner.cond is cond:
        return [cond, inner.lhs, rhs]
    if isinstance(inner := rhs.owner, arith.SelectOp) and inner.cond is cond:
        return [cond, lhs, inner.rhs]
    return None
