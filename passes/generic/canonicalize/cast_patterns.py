"""Rewrite patterns of casts of `arith`, and of operations on casts, for `canonicalize`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .constants import constant_float, constant_integer, uniform_attribute
from .scalar_values import element_of, width_of

__all__ = ["cast_patterns", "cast_to", "compared", "shape_of"]

Extension: TypeAlias = arith.ExtUIOp | arith.ExtSIOp


def cast_patterns() -> list[RewritePattern]:
    """Return the patterns, for one run of the driver."""
    return [
        CompareExtended(),
        CompareConverted(),
        ExtendLater(),
        MergeIntegerCasts(),
        MergeFloatCasts(),
        MergeBitcasts(),
        ShiftUnsigned(),
    ]


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
                rewriter.replace(op, compared(op, a, b, predicate))


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
                rewriter.replace(op, [narrow, cast_to(type(lhs), narrow.result, op.result.type)])


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
                rewriter.replace(op, cast_to(cast, inner.operands[0], to))


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


class MergeFloatCasts(RewritePattern):
    """Replace an extension or conversion and a truncation after it by one cast to the narrow type,
    where nothing is rounded twice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.TruncFOp, rewriter: PatternRewriter, /) -> None:
        inner = op.operands[0].owner
        if not isinstance(inner, arith.ExtFOp | arith.SIToFPOp | arith.UIToFPOp):
            return
        source, to = inner.operands[0], op.results[0].type
        if isinstance(inner, arith.ExtFOp):
            # To another type of the same width it is no cast.
            if _float_width(source.type) <= _float_width(to):
                return
            rewriter.replace(
                op,
                arith.TruncFOp.create(
                    operands=[source], result_types=[to], properties=op.properties
                ),
            )
        elif not op.properties.get("roundingmode"):
            if _is_exact(width_of(source.type), inner.results[0].type):
                rewriter.replace(op, cast_to(type(inner), source, to))


def _float_width(type: Attribute) -> int:
    type = element_of(type)
    return type.bitwidth if isinstance(type, AnyFloat) else 0


def _is_exact(width: int, type: Attribute) -> bool:
    """Return whether each integer of a width is a number of a float type."""
    return width <= MANTISSAS.get(element_of(type).__class__, 0)


MANTISSAS: Mapping[type[Attribute], int] = {
    Float16Type: 11,
    BFloat16Type: 8,
    Float32Type: 24,
    Float64Type: 53,
}
"""The bits of the mantissa, with the leading one."""


class MergeBitcasts(RewritePattern):
    """Replace two bitcasts by one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.BitcastOp, rewriter: PatternRewriter, /) -> None:
        inner, to = op.operands[0].owner, op.results[0].type
        if not isinstance(inner, Operation) or inner.name not in (
            "arith.bitcast",
            "complex.bitcast",
        ):
            return
        if inner.operands[0].type == to:
            rewriter.replace(op, (), inner.operands)
        else:
            rewriter.replace(op, cast_to(type(inner), inner.operands[0], to))


class ShiftUnsigned(RewritePattern):
    """Shift without the sign what is truncated to the bits that the shift leaves: the sign bits
    are cut off."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.TruncIOp, rewriter: PatternRewriter, /) -> None:
        shift = op.operands[0].owner
        if not isinstance(shift, arith.ShRSIOp):
            return
        lost = width_of(shift.result.type) - width_of(op.results[0].type)
        if constant_integer(shift.rhs) == lost:
            # Its flag `exact` is carried over.
            logical = arith.ShRUIOp.create(
                operands=shift.operands,
                result_types=[shift.result.type],
                properties=shift.properties,
            )
            truncation = arith.TruncIOp.create(
                operands=[logical.result],
                result_types=[op.results[0].type],
                properties=op.properties,
            )
            rewriter.replace(op, [logical, truncation])


class CompareConverted(RewritePattern):
    """Compare an integer that is converted to a float, and then compared with a constant, as an
    integer, if the conversion loses nothing that matters."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.CmpfOp, rewriter: PatternRewriter, /) -> None:
        conversion, bound = op.lhs.owner, constant_float(op.rhs)
        if not isinstance(conversion, arith.SIToFPOp | arith.UIToFPOp) or bound is None:
            return
        source, predicate = conversion.operands[0], op.predicate.value.data
        is_signed = isinstance(conversion, arith.SIToFPOp)
        width = width_of(source.type)
        if math.isnan(bound) or not _keeps_order(width, is_signed, bound, op.rhs.type):
            return
        if predicate in (0, 7, 14, 15):  # false, ord, uno, true: an integer is no NaN
            return _replace_by_truth(op, predicate in (7, 15), rewriter)
        # eq, gt, ge, lt, le, ne, ordered or not
        relation = _RELATIONS[(predicate - 1) % 7]
        low = -(1 << (width - 1)) if is_signed else 0
        high = low + (1 << width) - 1
        known = _known_relation(relation, bound, low, high)
        if known is not None:
            return _replace_by_truth(op, known, rewriter)
        relation, number = _integer_relation(relation, bound)
        if (attribute := uniform_attribute(number, source.type)) is None:
            return
        code = _PREDICATES[relation]
        constant = arith.ConstantOp(attribute)
        if not is_signed and code > 1:
            code += 4
        rewriter.replace(op, [constant, compared(op, source, constant.result, code)])


_RELATIONS = ("eq", "gt", "ge", "lt", "le", "ne")
_PREDICATES = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5}


def _keeps_order(width: int, is_signed: bool, bound: float, type: Attribute) -> bool:
    """Return whether an integer compares with `bound` as its conversion does."""
    mantissa = MANTISSAS.get(element_of(type).__class__, 0)
    if width <= mantissa:
        return True
    if not mantissa or math.isinf(bound):
        return False  # the conversion may be infinite
    exponent = math.frexp(bound)[1] - 1 if bound else -1
    # Integers around a small bound are converted exactly, and rounding keeps the order of others.
    return not mantissa <= exponent <= (width - 1 if is_signed else width)


def _known_relation(relation: str, bound: float, low: int, high: int) -> bool | None:
    """Return whether all integers from `low` to `high` have a relation to `bound`, or none has;
    None if that depends on the integer."""
    if bound > high:
        return relation in ("ne", "lt", "le")
    if bound < low:
        return relation in ("ne", "gt", "ge")
    if bound != math.trunc(bound) and relation in ("eq", "ne"):
        return relation == "ne"
    return None


def _integer_relation(relation: str, bound: float) -> tuple[str, int]:
    """Return the relation to an integer that is the same as one to `bound`."""
    if relation in ("gt", "le"):
        return relation, math.floor(bound)
    if relation in ("ge", "lt"):
        return relation, math.ceil(bound)
    return relation, int(bound)


def _replace_by_truth(op: Operation, truth: bool, rewriter: PatternRewriter) -> None:
    if (constant := uniform_attribute(truth, op.results[0].type)) is not None:
        rewriter.replace(op, arith.ConstantOp(constant))


# Shared helpers


def cast_to(cast: type[Operation], value: SSAValue, to: Attribute) -> Operation:
    """Return a cast of `value` to a type."""
    return cast.create(operands=[value], result_types=[to])


def compared(op: Operation, lhs: SSAValue, rhs: SSAValue, predicate: int) -> Operation:
    """Return an integer comparison with the result type of `op`."""
    return arith.CmpiOp.create(
        operands=[lhs, rhs],
        result_types=[op.results[0].type],
        properties={"predicate": IntegerAttr(predicate, 64)},
    )


def shape_of(type: Attribute) -> object:
    """Return the shape of a vector or tensor, or None for any other type."""
    return type.shape if isinstance(type, VectorType | TensorType) else None
