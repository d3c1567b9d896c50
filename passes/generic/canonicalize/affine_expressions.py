"""Sums, products and quotients of affine expressions, also by symbols, which xDSL does not make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

ONE: Final = AffineConstantExpr(1)


def term_count(map: AffineMap) -> int:
    """Return the number of expressions in a map."""
    return sum(1 for expr in map.results for _ in expr.dfs())


def divides_by_zero(expr: AffineExpr) -> bool:
    """Return whether an expression has a division by the constant zero."""
    return any(
        isinstance(e, AffineBinaryOpExpr)
        and e.kind not in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)
        and isinstance(e.rhs, AffineConstantExpr)
        and e.rhs.value == 0
        for e in expr.dfs()
    )


def combined(kind: AffineBinaryOpKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """Return an expression of two; ZeroDivisionError for a constant divided by zero."""
    is_product = kind is AffineBinaryOpKind.Mul and isinstance(lhs, AffineConstantExpr)
    if kind is AffineBinaryOpKind.Add or is_product or isinstance(rhs, AffineConstantExpr):
        return AffineExpr.binary(kind, lhs, rhs)
    return AffineBinaryOpExpr(kind, lhs, rhs)


def replaced(
    expr: AffineExpr, dims: Sequence[AffineExpr], symbols: Sequence[AffineExpr]
) -> AffineExpr:
    """Return an expression with others for its dimensions and symbols."""
    match expr:
        case AffineDimExpr():
            return dims[expr.position]
        case AffineSymExpr():
            return symbols[expr.position]
        case AffineBinaryOpExpr():
            lhs = replaced(expr.lhs, dims, symbols)
            return combined(expr.kind, lhs, replaced(expr.rhs, dims, symbols))
        case _:
            return expr


def simplified(expr: AffineExpr, dims: int, symbols: int) -> AffineExpr:
    """Return an expression with like terms put together."""
    if expr.is_pure_affine():
        return expr.simplify(dims, symbols)
    return _of_terms({_reduced(atom): factor for atom, factor in terms_of(expr).items()})


def _reduced(atom: AffineExpr) -> AffineExpr:
    """Simplify the operands of an atom, such as a quotient or a remainder."""
    if not isinstance(atom, AffineBinaryOpExpr):
        return atom
    parts = [
        _of_terms({_reduced(a): factor for a, factor in terms_of(part).items()})
        for part in (atom.lhs, atom.rhs)
    ]
    lhs, rhs = parts
    if atom.kind is AffineBinaryOpKind.Mod:
        # What is taken modulo the same may as well be taken as it is.
        total: dict[AffineExpr, int] = {}
        for term, factor in terms_of(lhs).items():
            inner = term
            if isinstance(term, AffineBinaryOpExpr) and (term.kind, term.rhs) == (atom.kind, rhs):
                inner = term.lhs
            for key, number in terms_of(inner).items():
                total[key] = total.get(key, 0) + factor * number
        if not any(total.values()):
            return AffineExpr.constant(0)
    return combined(atom.kind, lhs, rhs)


def terms_of(expr: AffineExpr) -> dict[AffineExpr, int]:
    """Return the factors of the terms of a sum, in order; that of ONE is the constant."""
    terms: dict[AffineExpr, int] = {}
    stack = [(expr, 1)]
    while stack:
        term, factor = stack.pop()
        if isinstance(term, AffineBinaryOpExpr) and term.kind is AffineBinaryOpKind.Add:
            stack += [(term.rhs, factor), (term.lhs, factor)]
            continue
        if (
            isinstance(term, AffineBinaryOpExpr)
            and term.kind is AffineBinaryOpKind.Mul
            and isinstance(term.rhs, AffineConstantExpr)
        ):
            stack.append((term.lhs, factor * term.rhs.value))
            continue
        if isinstance(term, AffineConstantExpr):
            term, factor = ONE, factor * term.value
        terms[term] = terms.get(term, 0) + factor
    return terms


def _of_terms(terms: Mapping[AffineExpr, int]) -> AffineExpr:
    """Return the sum of terms with factors. Terms that are constants may be among them."""
    total: AffineExpr = AffineExpr.constant(0)
    for term, factor in terms.items():
        if factor:
            total = total + term * factor
    return total


def joined(
    expr: AffineExpr, parts: Mapping[AffineExpr, int], whole: AffineExpr, unit: AffineExpr
) -> AffineExpr:
    """Return an expression with `whole` for the sum of parts with these factors, or for a multiple
    of the sum; the factor of `unit` is 1."""
    terms = terms_of(expr)
    if len(terms) == 1 and isinstance(expr, AffineBinaryOpExpr) and expr in terms:
        lhs = joined(expr.lhs, parts, whole, unit)
        return combined(expr.kind, lhs, joined(expr.rhs, parts, whole, unit))
    times = terms.get(unit, 0)
    if times and all(terms.get(part) == times * factor for part, factor in parts.items()):
        rest = {term: factor for term, factor in terms.items() if term not in parts}
        terms = {whole: times, **rest, **({whole: rest[whole] + times} if whole in rest else {})}
    return _of_terms(
        {
            joined(t, parts, whole, unit) if isinstance(t, AffineBinaryOpExpr) else t: factor
            for t, factor in terms.items()
        }
    )
