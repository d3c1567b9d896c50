"""Rewrite patterns of casts of `arith`, and of operations on casts, for `canonicalize`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    TensorType,
    UnregisteredOp,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....passmanager.fast.edit import read_step
from ..arith_families import definition, kind_of
from .constants import constant_float, constant_integer, uniform_attribute
from .scalar_values import element_of, predicate_of, width_of

__all__ = [
    "CompareConverted",
    "CompareExtended",
    "ExtendLater",
    "MergeBitcasts",
    "MergeFloatCasts",
    "MergeIntegerCasts",
    "ShiftUnsigned",
    "cast_to",
    "class_in",
    "compared",
    "shape_of",
]

_EXTENSIONS = (arith.ExtUIOp, arith.ExtSIOp)


class CompareExtended(RewritePattern):
    """Compare two extended integers before their extension."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, an `arith.cmpi`."""
        if (pair := _extended(op)) is None:
            return
        extension, a, b = pair
        predicate = predicate_of(op)
        # Zero-extended numbers are not negative: a signed comparison of them is an unsigned one of
        # the narrow ones, 4 further in the table of predicates.
        if kind_of(extension) is arith.ExtUIOp and 2 <= predicate <= 5:
            predicate += 4
        rewriter.replace(op, compared(type(op), a, b, op.results[0].type, predicate))


def _extended(op: Operation) -> tuple[Operation, SSAValue, SSAValue] | None:
    """Return one of two equal extensions of which `op` takes the results, and what they extend."""
    lhs, rhs = read_step(op)[0]
    first = definition(lhs, *_EXTENSIONS)
    if first is None or (second := definition(rhs, kind_of(first))) is None:
        return None
    a, b = first.operands[0], second.operands[0]
    return (first, a, b) if a.type == b.type else None


class ExtendLater(RewritePattern):
    """Combine the bits of two extended integers before their extension."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: arith.AndIOp | arith.OrIOp | arith.XOrIOp, rewriter: PatternRewriter, /
    ) -> None:
        if (pair := _extended(op)) is not None:
            extension, a, b = pair
            narrow = type(op)(a, b)
            wide = cast_to(type(extension), narrow.result, op.results[0].type)
            rewriter.replace(op, [narrow, wide])


class MergeIntegerCasts(RewritePattern):
    """Replace two integer casts by one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, an extension, a truncation or a cast to or from indices."""
        inner = definition(read_step(op)[0][0], *_EXTENSIONS, arith.TruncIOp)
        if inner is None or (cast := _merged_cast(op, inner)) is None:
            return
        if inner.operands[0].type != (to := op.results[0].type):
            rewriter.replace(op, cast_to(type(cast), inner.operands[0], to))


def _merged_cast(outer: Operation, inner: Operation) -> Operation | None:
    """Return the cast of which another one does what `inner` and then `outer` do."""
    kind, first = kind_of(outer), kind_of(inner)
    # A zero-extended number has a sign bit of 0, which extends as zero.
    if kind in _EXTENSIONS and first is arith.ExtUIOp:
        return inner
    if kind is first or first is _TO_INDEX.get(outer.name):
        return outer
    # i8 -> i32 -> i16 is i8 -> i16; i16 -> i32 -> i8 is i16 -> i8.
    if kind is arith.TruncIOp and first in _EXTENSIONS:
        is_wider = width_of(outer.results[0].type) > width_of(inner.operands[0].type)
        return inner if is_wider else outer
    return None


_TO_INDEX: Mapping[str, type[Operation]] = {
    "arith.index_cast": arith.ExtSIOp,
    "arith.index_castui": arith.ExtUIOp,
}
"""The extension that a cast to indices does, too."""


class MergeFloatCasts(RewritePattern):
    """Replace an extension or conversion and a truncation after it by one cast to the narrow type,
    where nothing is rounded twice."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, an `arith.truncf`."""
        inner = definition(op.operands[0], arith.ExtFOp, arith.SIToFPOp, arith.UIToFPOp)
        if inner is None:
            return
        source, to = inner.operands[0], op.results[0].type
        if kind_of(inner) is arith.ExtFOp:
            # To another type of the same width it is no cast.
            if _float_width(source.type) <= _float_width(to):
                return
            rewriter.replace(
                op,
                type(op).create(operands=[source], result_types=[to], properties=op.properties),
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

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, an `arith.trunci`."""
        if (shift := definition(op.operands[0], arith.ShRSIOp)) is None:
            return
        wide = shift.results[0].type
        if constant_integer(shift.operands[1]) == width_of(wide) - width_of(op.results[0].type):
            # Its flag `exact` is carried over.
            logical = class_in(self._ctx, arith.ShRUIOp).create(
                operands=shift.operands, result_types=[wide], properties=shift.properties
            )
            truncation = type(op).create(
                operands=logical.results,
                result_types=[op.results[0].type],
                properties=op.properties,
            )
            rewriter.replace(op, [logical, truncation])


class CompareConverted(RewritePattern):
    """Compare an integer that is converted to a float, and then compared with a constant, as an
    integer, if the conversion loses nothing that matters."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite `op`, an `arith.cmpf`."""
        lhs, rhs = read_step(op)[0]
        conversion = definition(lhs, arith.SIToFPOp, arith.UIToFPOp)
        if conversion is None or (bound := constant_float(rhs)) is None:
            return
        source, predicate = conversion.operands[0], predicate_of(op)
        is_signed = kind_of(conversion) is arith.SIToFPOp
        width = width_of(source.type)
        if math.isnan(bound) or not _keeps_order(width, is_signed, bound, rhs.type):
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
        kind = class_in(self._ctx, arith.CmpiOp)
        comparison = compared(kind, source, constant.result, op.results[0].type, code)
        rewriter.replace(op, [constant, comparison])


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


def class_in(ctx: Context, kind: type[Operation]) -> type[Operation]:
    """Return the class with the name of `kind` that a context has, which may be one for vectors
    too; `kind` if it has none."""
    found = ctx.get_optional_op(kind.name)
    return kind if found is None or issubclass(found, UnregisteredOp) else found


def compared(
    kind: type[Operation], lhs: SSAValue, rhs: SSAValue, to: Attribute, predicate: int
) -> Operation:
    """Return an integer comparison, of a class of `arith.cmpi`, with the result type `to`."""
    return kind.create(
        operands=[lhs, rhs],
        result_types=[to],
        properties={"predicate": IntegerAttr(predicate, 64)},
    )


def shape_of(type: Attribute) -> object:
    """Return the shape of a vector or tensor, or None for any other type."""
    return type.shape if isinstance(type, VectorType | TensorType) else None
