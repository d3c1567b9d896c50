"""Rewrite patterns of `arith` for `canonicalize`: those of MLIR that xDSL lacks, but for casts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import CallableOpInterface, IsolatedFromAbove

from ....passmanager.fast.edit import read_step
from ....passmanager.fast.pattern_driver import DeclaredPatterns
from ....passmanager.ir.dominance import is_graph_region
from ....passmanager.releases.floats import key_of
from ..arith_families import COMMUTATIVE, definition
from .cast_patterns import (
    CompareConverted,
    CompareExtended,
    ExtendLater,
    MergeBitcasts,
    MergeFloatCasts,
    MergeIntegerCasts,
    ShiftUnsigned,
    cast_to,
    class_in,
    compared,
    shape_of,
)
from .constants import constant_integer, is_uniform_constant, signed_integer, uniform_attribute
from .scalar_folds import fold_scalar, merge_floats, overflow_flags
from .scalar_values import element_of, predicate_of, width_of

Exchangeable: TypeAlias = (
    arith.SignlessIntegerBinaryOperation | arith.FloatingPointLikeBinaryOperation
)


def scalar_patterns(ctx: Context) -> list[RewritePattern]:
    """Return the patterns but `FoldScalar` and `HoistConstant`, for one run of the driver."""
    return [
        ConstantToRight(),
        MergeIntegerConstants(),
        AddNegated(),
        SubtractMinuend(),
        InvertComparison(),
        ExtendLater(),
        MergeBitcasts(),
        DropNegations(),
        ShapedPatterns(ctx),
    ]


class ShapedPatterns(DeclaredPatterns):
    """The patterns of casts, comparisons and selections by the kind of the operation: those on
    vectors, or with flags, are no instances of xDSL's classes."""

    def __init__(self, ctx: Context) -> None:
        super().__init__({})
        merge = MergeIntegerCasts()
        self._patterns: dict[str, tuple[RewritePattern, ...]] = {
            "arith.cmpi": (ConstantComparedRight(), CompareExtended()),
            "arith.cmpf": (CompareConverted(ctx),),
            "arith.extsi": (merge,),
            "arith.extui": (merge,),
            "arith.index_cast": (merge,),
            "arith.index_castui": (merge,),
            "arith.trunci": (merge, ShiftUnsigned(ctx)),
            "arith.truncf": (MergeFloatCasts(),),
            "arith.select": (SimplifySelect(ctx),),
        }

    def patterns_of(self, op_class: type[Operation]) -> Iterator[RewritePattern]:
        """Yield the patterns for a class of operation, in order."""
        return iter(self._patterns.get(op_class.name, ()))


CONSTANTS: Final = frozenset(
    (
        "arith.constant",
        "complex.constant",
        "func.constant",
        "index.bool.constant",
        "index.constant",
        "llvm.mlir.addressof",
        "llvm.mlir.constant",
        "llvm.mlir.poison",
        "llvm.mlir.undef",
        "llvm.mlir.zero",
        "tosa.const",
        "ub.poison",
    )
)
"""The operations that `HoistConstant` takes."""


class HoistConstant(RewritePattern):
    """Move a constant to the start of the function around it, and use an equal one there."""

    def __init__(self) -> None:
        self.known: dict[tuple[object, ...], Operation] = {}
        self.last: dict[Block, Operation | None] = {}
        """The last constant at the start of each function."""
        self.kept: set[Operation] = set()
        """The constants that were there at first."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Move `op`, an operation without operands that is a constant."""
        if op.attributes or len(op.properties) > 1 or (entry := _entry_block(op)) is None:
            return
        # A constant, or the name of a global.
        value = next(iter(op.properties.values()), None)
        type = op.results[0].type
        # By the bits of an integer: `255 : i8` and `-1 : i8` are one constant.
        is_integer = isinstance(value, IntegerAttr)
        number = constant_integer(op.results[0]) if is_integer else None
        key = (entry, op.name, type, None if value is None else key_of(value))
        if number is not None:
            key = (entry, number, type)
        existing = self.known.get(key)
        if existing is op:
            return
        # It may have been erased since, as dead.
        if existing is not None and existing.parent is entry:
            rewriter.replace(op, (), existing.results)
            return
        self.known[key] = op
        if entry not in self.last:
            self._keep_first(entry)
        # Not if it is in its place already: a pattern that always reports a change never ends.
        if op in self.kept:
            return
        last = self.last[entry]
        if last is not None and last.parent is not entry:
            last = None
        if op.prev_op is not last or op.parent is not entry:
            op.detach()
            place = InsertPoint.at_start(entry) if last is None else InsertPoint.after(last)
            rewriter.insert(op, place)
        self.last[entry] = op

    def _keep_first(self, entry: Block) -> None:
        """Note which constants are at the start of a function; these keep their order, in which
        they may not be visited."""
        self.last[entry] = None
        for op in entry.ops:
            if op.operands or op.attributes or op.name not in CONSTANTS:
                return
            self.kept.add(op)
            self.last[entry] = op


_ISOLATED = ("llvm.func", "llvm.mlir.global")
"""The operations that are isolated from above in MLIR, of which xDSL does not say it."""


def _entry_block(op: Operation) -> Block | None:
    """Return the entry block of the region that is isolated from above and contains `op`; None if
    it, or a region in between, is a graph region, or captures what it uses."""
    block = op.parent
    while block is not None and (region := block.parent) is not None:
        if (holder := region.parent) is None or is_graph_region(region):
            return None
        is_isolated = holder.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        if is_isolated or holder.name in _ISOLATED:
            return region.first_block
        if holder.has_trait(CallableOpInterface, value_if_unregistered=True):
            return None
        block = holder.parent
    return None


class FoldScalar(RewritePattern):
    """Replace an operation by the constant or the operand that it is equal to."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Fold `op`, of a class that `is_foldable_scalar`."""
        match fold_scalar(op):
            case None:
                pass
            case SSAValue() as value:
                rewriter.replace(op, (), [value])
            case constant:
                rewriter.replace(op, arith.ConstantOp(constant))


class ConstantToRight(RewritePattern):
    """Exchange the operands of a commutative operation whose left one is a constant."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Exchangeable, rewriter: PatternRewriter, /) -> None:
        if type(op) in COMMUTATIVE:
            _constant_to_right(op, rewriter)


class ConstantComparedRight(RewritePattern):
    """Exchange the operands of a comparison whose left one is a constant, and its predicate."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, an `arith.cmpi`."""
        if _constant_to_right(op, rewriter):
            op.properties["predicate"] = IntegerAttr(_MIRRORED[predicate_of(op)], 64)


def _constant_to_right(op: Operation, rewriter: PatternRewriter) -> bool:
    """Exchange the operands if the left one alone is a constant; return whether it is."""
    lhs, rhs = read_step(op)[0]
    # Two constants stay, as they are folded; exchanging them would never end.
    if type(lhs.owner) is not arith.ConstantOp or type(rhs.owner) is arith.ConstantOp:
        return False
    op.operands = [rhs, lhs]
    rewriter.handle_operation_modification(op)
    return True


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
        flags = overflow_flags(op) & overflow_flags(outer.value.op)
        if flags and any(_is_negative(v) for v in (*op.operands, *outer.value.op.operands)):
            flags -= {"nuw"}  # as an unsigned number the constant is another one
        if isinstance(op, arith.MuliOp):
            constant, sign = outer.constant * inner.constant, 1
        else:
            # `c - (x + d)` is `(c - d) - x`. Arithmetic wraps, so the order of the sums does not
            # matter.
            constant = outer.constant + outer.sign * inner.constant
            sign = outer.sign * inner.sign
        kind = _kind_of_sum(op, outer, inner, sign)
        if kind is arith.SubiOp and sign > 0:
            constant = -constant
        # MLIR keeps no flag of `(x + c) - d`.
        if isinstance(op, arith.SubiOp) and outer.sign > 0 and kind is arith.AddiOp:
            flags = frozenset[str]()
        if (attribute := uniform_attribute(constant, op.result.type)) is None:
            return
        other = arith.ConstantOp(attribute)
        operands = (inner.value, other) if sign > 0 else (other, inner.value)
        kept = _kept_flags(flags, constant, width_of(op.result.type))
        rewriter.replace(op, [other, kind(*operands, overflow=kept)])


def _is_negative(value: SSAValue) -> bool:
    number = signed_integer(value)
    return number is not None and number < 0


def _kind_of_sum(
    op: Operation, outer: Linear, inner: Linear, sign: int
) -> type[arith.AddiOp | arith.SubiOp | arith.MuliOp]:
    """Return the class of the operation that takes the place of two: as MLIR, a difference stays
    one."""
    if isinstance(op, arith.MuliOp):
        return arith.MuliOp
    both = isinstance(op, arith.SubiOp) and isinstance(outer.value.owner, arith.SubiOp)
    return arith.SubiOp if sign < 0 or (both and outer.sign > 0) else arith.AddiOp


def _kept_flags(flags: frozenset[str], constant: int, width: int) -> arith.IntegerOverflowAttr:
    """Return the flags of both operations that the merged one keeps: not that which the constant
    itself would break. MLIR keeps it, which makes a defined result poison."""
    half = 1 << (width - 1)
    kept = [
        flag
        for flag in arith.IntegerOverflowFlag
        if flag.value in flags
        and (-half <= constant < half if flag.value == "nsw" else 0 <= constant < 2 * half)
    ]
    return arith.IntegerOverflowAttr(kept)


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
    lhs, rhs = signed_integer(left), signed_integer(right)
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


class SubtractMinuend(RewritePattern):
    """Replace `(x - y) - x` by `0 - y`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubiOp, rewriter: PatternRewriter, /) -> None:
        lhs, rhs = op.operands
        inner = lhs.owner
        if not isinstance(inner, arith.SubiOp) or inner.lhs is not rhs:
            return
        if (zero := uniform_attribute(0, rhs.type)) is not None:
            flags = overflow_flags(op) & overflow_flags(inner)
            kept = _kept_flags(flags, 0, width_of(rhs.type))
            constant = arith.ConstantOp(zero)
            rewriter.replace(op, [constant, arith.SubiOp(constant, inner.rhs, overflow=kept)])


class InvertComparison(RewritePattern):
    """Replace the negation of an integer comparison by the opposite comparison."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.XOrIOp, rewriter: PatternRewriter, /) -> None:
        lhs, rhs = read_step(op)[0]
        compare = definition(lhs, arith.CmpiOp)
        if compare is not None and constant_integer(rhs) == 1:
            predicate = _INVERSE[predicate_of(compare)]
            a, b = compare.operands
            rewriter.replace(op, compared(type(compare), a, b, lhs.type, predicate))


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
    if is_uniform_constant(lhs):
        lhs, rhs = rhs, lhs
    return lhs, rhs if is_uniform_constant(rhs) else None


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

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, an `arith.select`."""
        if (new := _simpler_operands(op)) is not None:
            op.operands = new
            rewriter.handle_operation_modification(op)
            return
        cond, lhs, rhs = op.operands
        if (other := constant_integer(rhs)) not in (0, 1):
            return
        type, values = lhs.type, (constant_integer(lhs), other)
        if isinstance(element_of(type), IndexType):
            return
        # A scalar condition of vectors cannot be extended to them.
        if shape_of(cond.type) != shape_of(type):
            return
        width = width_of(type)
        if width == 1:
            if values == (0, 1) and (negation := _negation(cond)) is not None:
                rewriter.replace(op, negation)
        elif values == (0, 1):
            if (negation := _negation(cond)) is not None:
                extend = class_in(self._ctx, arith.ExtUIOp)
                extended = cast_to(extend, negation[1].results[0], type)
                rewriter.replace(op, [*negation, extended])
        elif values[1] == 0 and values[0] in (1, (1 << width) - 1):
            cast = arith.ExtUIOp if values[0] == 1 else arith.ExtSIOp
            rewriter.replace(op, cast_to(class_in(self._ctx, cast), cond, type))


def _negation(cond: SSAValue) -> list[Operation] | None:
    """Return the operations that negate a condition."""
    if (true := uniform_attribute(1, cond.type)) is None:
        return None
    constant = arith.ConstantOp(true)
    return [constant, arith.XOrIOp(cond, constant)]


def _simpler_operands(op: Operation) -> list[SSAValue] | None:
    """Return simpler operands of a selection with the same result, or None."""
    cond, lhs, rhs = op.operands
    negation = cond.owner
    if isinstance(negation, arith.XOrIOp) and constant_integer(negation.rhs) == 1:
        return [negation.lhs, rhs, lhs]
    inner = definition(lhs, arith.SelectOp)
    if inner is not None and inner.operands[0] is cond:
        return [cond, inner.operands[1], rhs]
    inner = definition(rhs, arith.SelectOp)
    if inner is not None and inner.operands[0] is cond:
        return [cond, lhs, inner.operands[2]]
    return None
