"""Folds and patterns of `tosa`, for `canonicalize`. Source: TosaCanonicalizations.cpp of MLIR."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import AnyFloat, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from .by_dialect import Fold, Folded
from .cast_patterns import cast_to
from .constants import Scalar, is_integer, uniform_attribute, uniform_number
from .scalar_values import Float, Number, element_of, round_to, width_of
from .shapes import DYNAMIC, shape_of_type

_CONST: Final = "tosa.const"
_MAX_CONCATENATED: Final = 1024
"""The operands of a concatenation of concatenations: each of a tensor with itself doubles them."""
_I32: Final = range(-(1 << 31), 1 << 31)


def _splat(value: SSAValue) -> Number | None:
    """Return the number that all elements of a constant are, or None."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != _CONST:
        return None
    return uniform_number(owner.properties["values"])


def _is_float(type: Attribute) -> bool:
    return isinstance(element_of(type), AnyFloat)


def _combined(
    op: Operation, combine: Callable[[Number, Number], Number], to: Attribute
) -> Folded | None:
    """Fold an operation on two uniform constants."""
    lhs, rhs = _splat(op.operands[0]), _splat(op.operands[1])
    if lhs is None or rhs is None or element_of(op.operands[0].type) != element_of(to):
        return None
    number, element = combine(lhs, rhs), element_of(to)
    return uniform_attribute(
        round_to(number, element) if isinstance(element, Float) else number, to
    )


def _fold_add(op: Operation) -> Folded | None:
    (lhs, rhs), to = op.operands, op.results[0].type
    if lhs.type == to and _splat(rhs) == 0:
        return lhs
    if rhs.type == to and _splat(lhs) == 0:
        return rhs
    return _combined(op, operator.add, to)


def _fold_sub(op: Operation) -> Folded | None:
    (lhs, rhs), to = op.operands, op.results[0].type
    if lhs.type == to and _splat(rhs) == 0:
        return lhs
    return _combined(op, operator.sub, to)


def _fold_mul(op: Operation) -> Folded | None:
    """Fold a product, which is shifted to the right and rounded if it is of `i32`."""
    lhs, rhs, to = op.operands[0], op.operands[1], op.results[0].type
    shift = 0
    if is_integer(element := element_of(to)) and width_of(element) == 32:
        if (found := _splat(op.operands[2])) is None:
            return None  # the shift is not known
        shift = int(found)
    one = 1 if _is_float(to) else 1 << shift
    shape = shape_of_type(to)
    is_static = shape is not None and DYNAMIC not in shape
    for a, b in ((lhs, rhs), (rhs, lhs)):
        number = _splat(b)
        if a.type != to or number is None:
            continue
        if number == 0 and is_static:
            return uniform_attribute(number, to)
        if number == one:
            return a

    def product(a: Number, b: Number) -> Number:
        exact = a * b
        if shift <= 0 or isinstance(exact, float):
            return exact
        return (exact + (1 << shift - 1)) >> shift

    if shift > 0 and (a := _splat(lhs)) is not None and (b := _splat(rhs)) is not None:
        if product(a, b) not in _I32:
            return None  # undefined
    return _combined(op, product, to)


def _fold_reciprocal(op: Operation) -> Folded | None:
    number, to = _splat(op.operands[0]), op.results[0].type
    if not isinstance(number, float) or not isinstance(element := element_of(to), Float):
        return None
    if number == 0.0:
        return uniform_attribute(math.copysign(math.inf, number), to)
    return uniform_attribute(round_to(1 / number, element), to)


def _fold_reduction(op: Operation) -> Folded | None:
    """Fold a reduction of one element."""
    source, shape = op.operands[0], shape_of_type(op.operands[0].type)
    if shape is None or source.type != op.results[0].type:
        return None
    axis = cast(IntegerAttr, op.properties["axis"]).value.data
    return source if not shape or shape[axis] == 1 else None


def _fold_concat(op: Operation) -> Folded | None:
    """Fold the concatenation of one tensor; take the operands of others along the same axis."""
    to = op.results[0]
    if len(op.operands) == 1 and op.operands[0].type == to.type:
        return op.operands[0]
    operands: list[SSAValue] = []
    for operand in op.operands:
        made, axis = operand.owner, op.properties["axis"]
        if isinstance(made, type(op)) and made.properties["axis"] == axis:
            operands += made.operands
        else:
            operands.append(operand)
    if len(operands) > max(len(op.operands), _MAX_CONCATENATED):
        return None
    if len(operands) == len(op.operands) and all(map(operator.is_, operands, op.operands)):
        return None
    op.operands = operands
    return to


def _fold_max_pool(op: Operation) -> Folded | None:
    """Fold the maximum of one element."""
    source, to = op.operands[0], op.results[0].type
    shape = shape_of_type(to)
    if shape is None or source.type != to or DYNAMIC in shape:
        return None
    return source if shape[1:3] == [1, 1] else None


def _fold_clamp(op: Operation) -> Folded | None:
    """Fold a clamp to all numbers of the type."""
    source, element = op.operands[0], element_of(op.results[0].type)
    least, greatest = _limits(op)
    if isinstance(element, AnyFloat):
        return source if (least, greatest) == (-math.inf, math.inf) else None
    if not is_integer(element) or isinstance(least, float) or isinstance(greatest, float):
        return None
    # i1 is boolean.
    width = width_of(element)
    if width == 1:
        return source if (least & 1, greatest & 1) == (0, 1) else None
    if str(element).startswith("ui"):
        return source if least <= 0 and greatest >= (1 << width) - 1 else None
    half = 1 << width - 1
    return source if least <= -half and greatest >= half - 1 else None


def _limits(op: Operation) -> tuple[Number, Number]:
    """Return the least and the greatest result of a `tosa.clamp`."""
    least, greatest = (cast(Scalar, op.properties[name]) for name in ("min_val", "max_val"))
    return least.value.data, greatest.value.data


FOLDS: Final[Mapping[str, Fold]] = {
    "tosa.add": _fold_add,
    "tosa.clamp": _fold_clamp,
    "tosa.concat": _fold_concat,
    "tosa.max_pool2d": _fold_max_pool,
    "tosa.mul": _fold_mul,
    "tosa.reciprocal": _fold_reciprocal,
    "tosa.reduce_all": _fold_reduction,
    "tosa.reduce_any": _fold_reduction,
    "tosa.reduce_max": _fold_reduction,
    "tosa.reduce_min": _fold_reduction,
    "tosa.reduce_product": _fold_reduction,
    "tosa.reduce_sum": _fold_reduction,
    "tosa.sub": _fold_sub,
}


class ConcatToCast(RewritePattern):
    """Cast the one tensor that is concatenated."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `tosa.concat`."""
        if len(op.operands) == 1:
            rewriter.replace(op, cast_to(tensor.CastOp, op.operands[0], op.results[0].type))


class MergeClamps(RewritePattern):
    """Replace two clamps whose ranges overlap by one. A NaN that the first one propagates must not
    be ignored by the second one. Source: `ClampClampOptimization` of MLIR."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `tosa.clamp`."""
        inner = op.operands[0].owner
        if not isinstance(inner, Operation) or inner.name != op.name:
            return
        ignores, ignored = _ignores_nan(op), _ignores_nan(inner)
        if ignores and not ignored:
            return
        (low, high), (inner_low, inner_high) = _limits(op), _limits(inner)
        if not (low < inner_high and inner_low < high):
            return
        properties = dict(op.properties)
        if inner_low > low:
            properties["min_val"] = inner.properties["min_val"]
        if inner_high < high:
            properties["max_val"] = inner.properties["max_val"]
        if ignored and "nan_mode" in inner.properties:
            properties["nan_mode"] = inner.properties["nan_mode"]
        rewriter.replace(
            op,
            type(op).create(
                operands=[inner.operands[0]],
                result_types=[op.results[0].type],
                properties=properties,
                attributes=op.attributes,
            ),
        )


def _ignores_nan(op: Operation) -> bool:
    return "IGNORE" in str(op.properties.get("nan_mode", ""))


NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    "tosa.clamp": (MergeClamps(),),
    "tosa.concat": (ConcatToCast(),),
}
