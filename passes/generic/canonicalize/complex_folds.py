"""Folds and patterns of `complex`. `log(exp(x))` is folded for constants alone: it changes the
value where the imaginary part is greater than pi."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import ArrayAttr, ComplexType, FloatAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .by_dialect import Fold
from .cast_patterns import cast_to
from .constants import Constant, Scalar

Folded: TypeAlias = SSAValue | Constant


def _parts(value: SSAValue) -> Sequence[Scalar] | None:
    """Return the parts of a `complex.constant`, or None."""
    owner = value.owner
    if not isinstance(owner, complex.ConstantOp):
        return None
    parts = cast("ArrayAttr[Scalar]", owner.properties["value"])
    return tuple(parts)


def _is_constant(value: SSAValue, real: float, imaginary: float) -> bool:
    """Return whether a value is a constant with these parts; zeros of both signs are equal."""
    parts = _parts(value)
    numbers = [part.value.data for part in parts or () if isinstance(part, FloatAttr)]
    return numbers == [real, imaginary]


def _fold_create(op: Operation) -> Folded | None:
    real, imaginary = (operand.owner for operand in op.operands)
    if isinstance(real, complex.ReOp) and isinstance(imaginary, complex.ImOp):
        if real.operands[0] is imaginary.operands[0]:
            return real.operands[0]
    return None


def _part(op: Operation, index: int) -> Folded | None:
    value = op.operands[0]
    if (parts := _parts(value)) is not None:
        return parts[index]
    return value.owner.operands[index] if isinstance(value.owner, complex.CreateOp) else None


def _fold_re(op: Operation) -> Folded | None:
    return _part(op, 0)


def _fold_im(op: Operation) -> Folded | None:
    return _part(op, 1)


def _fold_inverse(op: Operation) -> Folded | None:
    """Fold an operation that undoes itself."""
    inner = op.operands[0].owner
    return inner.operands[0] if isinstance(inner, type(op)) else None


def _fold_add(op: Operation) -> Folded | None:
    lhs, rhs = op.operands
    for a, b in ((lhs, rhs), (rhs, lhs)):
        if isinstance(a.owner, complex.SubOp) and a.owner.operands[1] is b:
            return a.owner.operands[0]
    return lhs if _is_constant(rhs, 0, 0) else None


def _fold_sub(op: Operation) -> Folded | None:
    lhs, rhs = op.operands
    if isinstance(lhs.owner, complex.AddOp) and lhs.owner.operands[1] is rhs:
        return lhs.owner.operands[0]
    return lhs if _is_constant(rhs, 0, 0) else None


def _fold_product(op: Operation) -> Folded | None:
    lhs, rhs = op.operands
    return lhs if _is_constant(rhs, 1, 0) else None


def _fold_exp(op: Operation) -> Folded | None:
    """Fold the exponential of a logarithm."""
    inner = op.operands[0].owner
    return inner.operands[0] if isinstance(inner, complex.LogOp) else None


def _fold_log(op: Operation) -> Folded | None:
    """Fold the logarithm of the exponential of a constant, where that is the value itself."""
    inner = op.operands[0].owner
    if not isinstance(inner, complex.ExpOp):
        return None
    parts = [part.value.data for part in _parts(inner.operands[0]) or ()]
    if len(parts) != 2 or abs(parts[0]) > _LARGEST or not -math.pi < parts[1] <= math.pi:
        return None
    return inner.operands[0]


_LARGEST: Final = 9
"""The real part up to which the exponential is finite and not subnormal in all types of floats."""


def _fold_bitcast(op: Operation) -> Folded | None:
    value = op.operands[0]
    return value if value.type == op.results[0].type else None


FOLDS: Mapping[str, Fold] = {
    "complex.add": _fold_add,
    "complex.bitcast": _fold_bitcast,
    "complex.conj": _fold_inverse,
    "complex.create": _fold_create,
    "complex.div": _fold_product,
    "complex.exp": _fold_exp,
    "complex.im": _fold_im,
    "complex.log": _fold_log,
    "complex.mul": _fold_product,
    "complex.neg": _fold_inverse,
    "complex.re": _fold_re,
    "complex.sub": _fold_sub,
}


class PartOfNegation(RewritePattern):
    """Replace a part of a negated `complex.create` by the negated part."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: complex.ReOp | complex.ImOp, rewriter: PatternRewriter, /
    ) -> None:
        negation = op.operands[0].owner
        if not isinstance(negation, complex.NegOp):
            return
        made = negation.operands[0].owner
        if isinstance(made, complex.CreateOp):
            part = made.operands[isinstance(op, complex.ImOp)]
            fastmath = negation.properties.get("fastmath")
            flags = fastmath if isinstance(fastmath, arith.FastMathFlagsAttr) else None
            rewriter.replace(op, arith.NegfOp(part, flags))


class MergeComplexBitcasts(RewritePattern):
    """Replace two bitcasts, of which one may be that of `arith`, by one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: complex.BitcastOp, rewriter: PatternRewriter, /) -> None:
        inner, to = op.operands[0].owner, op.results[0].type
        if not isinstance(inner, complex.BitcastOp | arith.BitcastOp):
            return
        source = inner.operands[0]
        if source.type == to:
            rewriter.replace(op, (), [source])
            return
        is_complex = any(isinstance(type, ComplexType) for type in (source.type, to))
        kind = complex.BitcastOp if is_complex else arith.BitcastOp
        rewriter.replace(op, cast_to(kind, source, to))


PATTERNS = (PartOfNegation(), MergeComplexBitcasts())
