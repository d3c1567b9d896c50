"""A parser of affine expressions that adds to xDSL's: products with symbols and divisions by them,
and which values in `%m[%i + symbol(%n)]` are symbols.
"""

from __future__ import annotations

from typing import TypeAlias

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser.affine_parser import AffineParser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRToken, MLIRTokenKind

# pyright: reportPrivateUsage=false


Spans: TypeAlias = list[Span]

_KINDS = {
    "*": AffineBinaryOpKind.Mul,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "mod": AffineBinaryOpKind.Mod,
}


class SemiAffineParser(AffineParser):
    """A parser of the affine expressions of MLIR."""

    def _create_binop_expr(self, lhs: AffineExpr, rhs: AffineExpr, binop: MLIRToken) -> AffineExpr:
        kind = _KINDS.get(binop.text)
        if kind is AffineBinaryOpKind.Mul and isinstance(lhs, AffineConstantExpr):
            return super()._create_binop_expr(lhs, rhs, binop)
        if kind is None or isinstance(rhs, AffineConstantExpr):
            return super()._create_binop_expr(lhs, rhs, binop)
        # MLIR's rule: one factor has to be symbolic, and each divisor.
        if not (_is_symbolic(rhs) or (kind is AffineBinaryOpKind.Mul and _is_symbolic(lhs))):
            what = "a factor" if kind is AffineBinaryOpKind.Mul else "the divisor"
            message = f"not an affine expression: {what} has to be a constant or made of symbols"
            raise ParseError(binop.span, message)
        return AffineBinaryOpExpr(kind, lhs, rhs)

    def _parse_affine_space(self) -> tuple[list[str], list[str]]:
        start = self._current_token.span.start
        dims, symbols = super()._parse_affine_space()
        names = [*dims, *symbols]
        if (name := next((n for i, n in enumerate(names) if n in names[:i]), None)) is not None:
            span = Span(start, self._current_token.span.start, self.lexer.input)
            raise ParseError(span, f"redefinition of identifier '{name}' in an affine map")
        return dims, symbols

    def parse_map_of_values(self, delimiter: AffineParser.Delimiter) -> tuple[AffineMap, Spans]:
        """Parse a list of expressions of values; one expression if there is no delimiter.

        Each value is a dimension unless it is `symbol(%n)`. Returns the map, and the names of its
        dimensions, then of its symbols.
        """
        dims: dict[str, Span] = {}
        symbols: dict[str, Span] = {}

        def number_in(found: dict[str, Span], token: MLIRToken) -> int:
            found.setdefault(token.text, token.span)
            return [*found].index(token.text)

        def parse_value() -> AffineExpr | None:
            token = self._parse_optional_token(MLIRTokenKind.PERCENT_IDENT)
            if token is not None:
                return AffineExpr.dimension(number_in(dims, token))
            if self._current_token.text != "symbol":
                return None
            self._consume_token()
            self._parse_token(MLIRTokenKind.L_PAREN, "'(' expected")
            token = self._parse_token(MLIRTokenKind.PERCENT_IDENT, "expected a value")
            self._parse_token(MLIRTokenKind.R_PAREN, "')' expected")
            return AffineExpr.symbol(number_in(symbols, token))

        def parse_expr() -> AffineExpr:
            return self._parse_affine_expr(parse_value)

        if delimiter is self.Delimiter.NONE:
            exprs = [parse_expr()]
        else:
            exprs = self.parse_comma_separated_list(delimiter, parse_expr)
        map = AffineMap(len(dims), len(symbols), (*exprs,))
        return map, [*dims.values(), *symbols.values()]


def _is_symbolic(expr: AffineExpr) -> bool:
    """Return whether an expression is made of symbols and constants alone."""
    return all(
        isinstance(leaf, AffineConstantExpr | AffineSymExpr)
        for leaf in expr.dfs()
        if not isinstance(leaf, AffineBinaryOpExpr)
    )
