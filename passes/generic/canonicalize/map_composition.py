"""Maps of maps as one: constants, `affine.apply` and parts of an index in the operands of a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from xdsl.dialects import affine
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr

from .affine_expressions import divides_by_zero, joined, replaced, simplified, term_count
from .constants import signed_integer
from .linearize_patterns import DELINEARIZE, padded_basis

MAX_TERMS: Final = 64
"""The size of the largest expression that is put into another one: xDSL goes over them by
recursion."""


class MapCall(NamedTuple):
    """An affine map with the values of its dimensions and symbols, in this order."""

    map: AffineMap
    operands: Sequence[SSAValue]


def _apply_of(value: SSAValue) -> affine.ApplyOp | None:
    """Return the `affine.apply` that defines a value, if its map is small."""
    owner = value.owner
    if isinstance(owner, affine.ApplyOp) and term_count(owner.map.data) <= MAX_TERMS:
        return owner
    return None


class _Composer:
    """The dimensions and symbols of a map that is made of another one."""

    def __init__(self, call: MapCall) -> None:
        self.dims: dict[SSAValue, int] = {}
        self.symbols: dict[SSAValue, int] = {}
        self.changed = False
        # A dimension that is also a symbol is one everywhere.
        count = call.map.num_dims
        self.known = {*call.operands[count:]}
        for position, value in enumerate(call.operands):
            if (apply := _apply_of(value)) is not None:
                values = [*apply.mapOperands]
                self.known.update(
                    values if position >= count else values[apply.map.data.num_dims :]
                )

    def of(self, value: SSAValue, *, is_symbol: bool) -> AffineExpr:
        """Return the expression that is a value: a constant, that of the `affine.apply` that
        defines it, or a dimension or symbol."""
        if (number := signed_integer(value)) is not None:
            self.changed = True
            return AffineExpr.constant(number)
        if (owner := _apply_of(value)) is not None:
            self.changed = True
            map, operands = owner.map.data, list(owner.mapOperands)
            count = map.num_dims
            # As symbols, all that a symbol is made of must be symbols.
            dims = [self.of_leaf(v, is_symbol=is_symbol) for v in operands[:count]]
            symbols = [self.of_leaf(v, is_symbol=True) for v in operands[count:]]
            return replaced(map.results[0], dims, symbols)
        return self.of_leaf(value, is_symbol=is_symbol)

    def of_leaf(self, value: SSAValue, *, is_symbol: bool) -> AffineExpr:
        """Return the dimension or symbol of a value, a new one if it has none."""
        if not is_symbol and value in self.known:
            self.changed = is_symbol = True
        values = self.symbols if is_symbol else self.dims
        position = values.setdefault(value, len(values))
        return AffineExpr.symbol(position) if is_symbol else AffineExpr.dimension(position)

    def leaf(self, value: SSAValue) -> AffineExpr | None:
        """Return the dimension or symbol of a value, if it has one."""
        if value in self.symbols:
            return AffineExpr.symbol(self.symbols[value])
        return AffineExpr.dimension(self.dims[value]) if value in self.dims else None

    def join(self, exprs: Sequence[AffineExpr]) -> Sequence[AffineExpr]:
        """Put the index that was taken apart for what puts it together again."""
        for value in [*self.dims, *self.symbols]:
            if not isinstance(value, OpResult) or value.op.name != DELINEARIZE:
                continue
            if value is value.op.results[-1]:
                exprs = self.join_results(value.op, exprs)
        return exprs

    def join_results(self, op: Operation, exprs: Sequence[AffineExpr]) -> Sequence[AffineExpr]:
        """Put the operand of `affine.delinearize_index` for the sum of its results."""
        parts: dict[AffineExpr, int] = {}
        stride = 1
        for result, size in zip(reversed(op.results), reversed(padded_basis(op)), strict=True):
            if (leaf := self.leaf(result)) is None:
                return exprs
            parts[leaf] = stride
            if result is not op.results[0]:
                if not isinstance(size, int):
                    return exprs
                stride *= size
        is_symbol = not all(isinstance(leaf, AffineDimExpr) for leaf in parts)
        unit = next(iter(parts))
        whole = self.of_leaf(op.operands[0], is_symbol=is_symbol)
        new = [joined(expr, parts, whole, unit) for expr in exprs]
        if not any(whole in expr.dfs() for expr in new):
            return exprs
        self.changed = True
        return new


def composed(call: MapCall) -> MapCall | None:
    """Return a map with the constants and maps that define its operands in it, without operands
    that it does not need; None if there are none of either."""
    map, operands = call
    composer = _Composer(call)
    count = map.num_dims
    try:
        dims = [composer.of(value, is_symbol=False) for value in operands[:count]]
        symbols = [composer.of(value, is_symbol=True) for value in operands[count:]]
        results = composer.join([replaced(expr, dims, symbols) for expr in map.results])
        if any(divides_by_zero(expr) for expr in results):
            return None
        if composer.changed or not all(expr.is_pure_affine() for expr in results):
            sizes = len(composer.dims), len(composer.symbols)
            results = [simplified(expr, *sizes) for expr in results]
    except ZeroDivisionError:
        return None  # a division by zero stays
    if term_count(AffineMap(0, 0, tuple(results))) > MAX_TERMS:
        return None
    used_dims = _used(results, AffineDimExpr)
    used_symbols = _used(results, AffineSymExpr)
    all_dims, all_symbols = [*composer.dims], [*composer.symbols]
    new = [all_dims[i] for i in used_dims] + [all_symbols[i] for i in used_symbols]
    dim_names = {old: AffineExpr.dimension(i) for i, old in enumerate(used_dims)}
    symbol_names = {old: AffineExpr.symbol(i) for i, old in enumerate(used_symbols)}
    zero = AffineExpr.constant(0)
    dims = [dim_names.get(i, zero) for i in range(len(all_dims))]
    symbols = [symbol_names.get(i, zero) for i in range(len(all_symbols))]
    exprs = tuple(replaced(expr, dims, symbols) for expr in results)
    if exprs == map.results and new == [*operands]:
        return None
    return MapCall(AffineMap(len(used_dims), len(used_symbols), exprs), new)


def _used(
    exprs: Sequence[AffineExpr], kind: type[AffineDimExpr] | type[AffineSymExpr]
) -> list[int]:
    """Return the positions of the dimensions or symbols that expressions use."""
    return sorted({e.position for expr in exprs for e in expr.dfs() if isinstance(e, kind)})
