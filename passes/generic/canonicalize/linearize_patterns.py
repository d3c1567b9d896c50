"""Folds and patterns of `affine.delinearize_index` and `linearize_index`, for `canonicalize`: one
that undoes the other goes.

The first size of a basis may be missing. It does not matter for what is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, NamedTuple, TypeAlias

from xdsl.dialects.affine import ApplyOp
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    BoolAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from .by_dialect import Folded
from .constants import signed_integer, truncated_integer
from .shapes import Size, folded, mixed, split, static_list

DELINEARIZE: Final = "affine.delinearize_index"
LINEARIZE: Final = "affine.linearize_index"

Basis: TypeAlias = Sequence[Size | None]
"""The size of each index, None for that of the first one if it is missing."""


def _basis_values(op: Operation) -> Sequence[SSAValue]:
    if op.name == DELINEARIZE:
        return op.operands[1:]
    return op.operands[len(_indices(op)) :]


def _indices(op: Operation) -> Sequence[SSAValue]:
    """Return the indices that an operation goes to or comes from."""
    if op.name == DELINEARIZE:
        return op.results
    return op.operands[: static_list(op.properties["operandSegmentSizes"])[0]]


def _sizes(op: Operation) -> list[Size]:
    return mixed(op.properties["static_basis"], _basis_values(op))


def padded_basis(op: Operation) -> list[Size | None]:
    """Return one size for each index."""
    sizes = _sizes(op)
    return [*sizes] if len(sizes) == len(_indices(op)) else [None, *sizes]


def _same(a: Size | None, b: Size | None) -> bool:
    return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)


def _is_disjoint(op: Operation) -> bool:
    return op.properties.get("disjoint") not in (None, BoolAttr.from_bool(False))


def _is(value: SSAValue, name: str) -> bool:
    return isinstance(value, OpResult) and value.op.name == name


def _delinearized(op: Operation, index: SSAValue, basis: Basis) -> Operation:
    """Return an operation like `op` on another index."""
    static, values = split([size for size in basis if size is not None])
    return type(op).create(
        operands=[index, *values],
        result_types=[IndexType()] * len(basis),
        properties={"static_basis": static},
        attributes=op.attributes,
    )


def _linearized(op: Operation, indices: Sequence[SSAValue], basis: Basis) -> Operation:
    """Return an operation like `op` on other indices."""
    static, values = split([size for size in basis if size is not None])
    counts = DenseArrayBase.from_list(i32, [len(indices), len(values)])
    properties: dict[str, Attribute] = {"static_basis": static, "operandSegmentSizes": counts}
    return type(op).create(
        operands=[*indices, *values],
        result_types=[IndexType()],
        properties={**op.properties, **properties},
        attributes=op.attributes,
    )


def _number(value: int) -> IntegerAttr:
    return truncated_integer(value, IndexType())


def _zero() -> ConstantOp:
    return ConstantOp(_number(0))


# Folds


def _fold_basis(op: Operation) -> bool:
    """Write the constants of a basis as numbers; return whether there are any."""
    sizes = _sizes(op)
    # A verified operation has no numbers below one.
    static, values = split(folded(sizes, least=1))
    if len(values) == len(before := _basis_values(op)):
        return False
    kept = [*op.operands[: len(op.operands) - len(before)]]
    op.operands = [*kept, *values]
    op.properties["static_basis"] = static
    if op.name == LINEARIZE:
        op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(
            i32, [len(kept), len(values)]
        )
    return True


def fold_delinearize(op: Operation) -> Folded | Sequence[Folded] | None:
    """Fold the indices of a number, or the only index of a value."""
    if _fold_basis(op):
        return op.results[0]
    if len(op.results) == 1:
        return op.operands[0]
    rest = signed_integer(op.operands[0])
    numbers: list[int] = []
    if rest is None:
        return None
    for size in reversed(padded_basis(op)[1:]):
        if not isinstance(size, int) or size < 1:
            return None
        numbers.append(rest % size)
        rest //= size
    return [_number(number) for number in [rest, *reversed(numbers)]]


def fold_linearize(op: Operation) -> Folded | None:
    """Fold the place of indices that are numbers, of one index, or of none."""
    if _fold_basis(op):
        return op.results[0]
    indices = _indices(op)
    if not indices:
        return _number(0)
    if len(indices) == 1:
        return indices[0]
    place = 0
    for position, (value, size) in enumerate(zip(indices, padded_basis(op), strict=True)):
        number = signed_integer(value)
        if number is None or (position and not isinstance(size, int)):
            return None
        place = number + (place * size if position and isinstance(size, int) else 0)
    return _number(place)


# Patterns


class DropUnitIndices(RewritePattern):
    """Replace the indices into dimensions of size 1 of a number by zero."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        basis = padded_basis(op)
        kept = [size for size in basis if size != 1]
        if len(kept) == len(basis):
            return
        zero = rewriter.insert(_zero()).result
        rest: Sequence[SSAValue] = ()
        if kept:
            rest = rewriter.insert(_delinearized(op, op.operands[0], kept)).results
        values = iter(rest)
        rewriter.replace(op, (), [zero if size == 1 else next(values) for size in basis])


class CancelTail(RewritePattern):
    """Let a delinearization of what disjoint indices make, with sizes that end alike, give the
    indices that they belong to.

    The last indices may also be parts of the last one of the other operation. Source:
    `CancelDelinearizeOfLinearizeDisjointExactTail`, `SplitDelinearizeSpanningLastLinearizeArg`.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        if not _is(source := op.operands[0], LINEARIZE):
            return
        linear = source.owner
        assert isinstance(linear, Operation)
        if not _is_disjoint(linear) or not (sizes := _sizes(linear)):
            return
        indices, basis, wanted = _indices(linear), padded_basis(linear), padded_basis(op)
        count = 0
        for a, b in zip(reversed(sizes), reversed(_sizes(op)), strict=False):
            if not _same(a, b):
                break
            count += 1
        taken, split_off = count, count
        if not count:
            taken, split_off = 1, _count_of(sizes[-1], _sizes(op))
            if split_off < 2:
                return
        results: list[SSAValue] = []
        if heads := wanted[:-split_off]:
            head = rewriter.insert(_linearized(linear, indices[:-taken], basis[:-taken]))
            results += rewriter.insert(_delinearized(op, head.results[0], heads)).results
        if count:
            results += indices[-taken:]
        else:
            part = _delinearized(op, indices[-1], wanted[-split_off:])
            results += rewriter.insert(part).results
        rewriter.replace(op, (), results)


def _count_of(whole: Size, sizes: Sequence[Size]) -> int:
    """Return how many of the last sizes have the product `whole`, or 0."""
    product = 1
    for count, size in enumerate(reversed(sizes), 1):
        if not isinstance(size, int) or not isinstance(whole, int):
            return 0
        product *= size
        if product >= whole:
            return count if product == whole else 0
    return 0


class DropLinearUnits(RewritePattern):
    """Drop the indices of a linearization that are zero: those into dimensions of size 1, if they
    are disjoint or constants, and a first constant zero."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        indices, basis = _indices(op), padded_basis(op)
        kept = [
            (value, size)
            for place, (value, size) in enumerate(zip(indices, basis, strict=True))
            if not (
                (size == 1 and (_is_disjoint(op) or signed_integer(value) == 0))
                or (place == 0 and signed_integer(value) == 0)
            )
        ]
        if len(kept) == len(indices):
            return
        if not kept:
            rewriter.replace(op, _zero())
            return
        values, sizes = zip(*kept, strict=True)
        rewriter.replace(op, _linearized(op, values, sizes))


class _Run(NamedTuple):
    """Adjacent results of a delinearization that are adjacent indices of a linearization."""

    op: Operation
    start: int
    first: int
    length: int


class MergeRun(RewritePattern):
    """Merge indices of a linearization that a delinearization takes apart with the same sizes.

    Source: `CancelLinearizeOfDelinearizePortion`.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match by the name of the operation."""
        indices, basis = _indices(op), padded_basis(op)
        for start in range(len(indices) - 1):
            run = self.run_at(start, indices, basis, disjoint=_is_disjoint(op))
            if run is not None and run.length > 1:
                self.merge(op, run, indices, basis, rewriter)
                return

    def run_at(
        self, start: int, indices: Sequence[SSAValue], basis: Basis, *, disjoint: bool
    ) -> _Run | None:
        """Return the longest run that starts at an index."""
        value = indices[start]
        if not isinstance(value, OpResult) or value.op.name != DELINEARIZE:
            return None
        owner, first = value.op, value.index
        if indices[start + 1] not in owner.results[first + 1 : first + 2]:
            return None
        sizes = padded_basis(owner)
        if not _same(sizes[first], basis[start]) and (first or start):
            # Disjoint indices are within the sizes, which must be there before the results are.
            if first or not disjoint or sizes[0] is not None or not isinstance(basis[start], int):
                return None
        length = 1
        while (
            start + length < len(indices)
            and first + length < len(sizes)
            and indices[start + length] is owner.results[first + length]
            and _same(basis[start + length], sizes[first + length])
        ):
            length += 1
        return _Run(owner, start, first, length)

    def merge(
        self,
        op: Operation,
        run: _Run,
        indices: Sequence[SSAValue],
        basis: Sequence[Size | None],
        rewriter: PatternRewriter,
    ) -> None:
        """Replace the indices of a run by one."""
        owner, start, first, length = run
        sizes, end = padded_basis(owner), start + length
        whole = length == len(sizes)
        if whole and length == len(indices):
            rewriter.replace(op, (), [owner.operands[0]])
            return
        merged = list(basis[start:end])
        if not start and not _same(merged[0], sizes[first]):
            merged[0] = None  # that of the first index does not matter
        size = _product(merged, owner, rewriter)
        combined = owner.operands[0]
        if not whole:
            parts = [*sizes[:first], size, *sizes[first + length :]]
            new = rewriter.insert(_delinearized(owner, combined, parts), InsertPoint.before(owner))
            combined = new.results[first]
            rest = rewriter.insert(
                _delinearized(owner, combined, merged), InsertPoint.before(owner)
            )
            results = [*new.results[:first], *rest.results, *new.results[first + 1 :]]
        else:
            results = None
        rewriter.replace(
            op,
            _linearized(
                op,
                [*indices[:start], combined, *indices[end:]],
                [*basis[:start], size, *basis[end:]],
            ),
        )
        if results is not None:
            rewriter.replace(owner, (), results)


def _product(sizes: Basis, before: Operation, rewriter: PatternRewriter) -> Size | None:
    """Return the product of sizes, made before an operation if it has values in it."""
    values: list[SSAValue] = [size for size in sizes if isinstance(size, SSAValue)]
    number = prod(size for size in sizes if isinstance(size, int))
    if None in sizes or not values:
        return None if None in sizes else number
    # xDSL multiplies by constants only.
    product: AffineExpr = AffineExpr.symbol(0)
    for i in range(1, len(values)):
        product = AffineBinaryOpExpr(AffineBinaryOpKind.Mul, product, AffineExpr.symbol(i))
    if number != 1:
        product = AffineBinaryOpExpr(AffineBinaryOpKind.Mul, product, AffineExpr.constant(number))
    apply = ApplyOp(values, AffineMapAttr(AffineMap(0, len(values), (product,))))
    return rewriter.insert(apply, InsertPoint.before(before)).result


DELINEARIZATIONS: Final[Sequence[RewritePattern]] = (CancelTail(), DropUnitIndices())
LINEARIZATIONS: Final[Sequence[RewritePattern]] = (DropLinearUnits(), MergeRun())
