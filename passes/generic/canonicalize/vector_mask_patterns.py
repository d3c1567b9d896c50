"""Folds and patterns of `vector.create_mask` and `vector.constant_mask`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from .by_dialect import Entry, Fold, Folded, known_op
from .constants import signed_integer, uniform_attribute
from .shapes import split
from .vector_values import dims, numbers_in, owner_named, shape_of


def _fold_constant_mask(op: Operation) -> Folded | None:
    """Fold a mask of which all or no elements are set."""
    to, sizes = op.results[0].type, numbers_in(op.properties["mask_dim_sizes"])
    if 0 in sizes:
        return uniform_attribute(0, to)
    # A mask without dimensions has one size.
    return uniform_attribute(1, to) if sizes == [*(shape_of(to) or (1,))] else None


def _fold_create_mask(op: Operation) -> Folded | None:
    """Fold a mask of which all or no elements are set."""
    to, sizes = op.results[0].type, [_size(value) for value in op.operands]
    limits = dims(to)
    if not limits:
        return None
    # A size of an unknown number of repetitions may be none at all, or less.
    if any(size is not None and size <= 0 and not vscale for size, vscale in sizes):
        return uniform_attribute(0, to)
    is_full = all(
        size is not None and size >= abs(limit) and vscale == (limit < 0)
        for (size, vscale), limit in zip(sizes, limits, strict=True)
    )
    return uniform_attribute(1, to) if is_full else None


def _size(value: SSAValue) -> tuple[int | None, bool]:
    """Return the number that a value is, or the number of times that it is `vector.vscale`, and
    which of the two it is; None if it is neither."""
    if owner_named(value, "vector.vscale") is not None:
        return 1, True
    if isinstance(product := value.owner, arith.MuliOp):
        for factor, other in (product.operands, reversed(product.operands)):
            if owner_named(factor, "vector.vscale") is not None:
                return signed_integer(other), True
    return signed_integer(value), False


FOLDS: Final[Mapping[str, Fold]] = {
    "vector.constant_mask": _fold_constant_mask,
    "vector.create_mask": _fold_create_mask,
}


class ConstantMask(RewritePattern):
    """Make a `vector.constant_mask` of constant sizes. Source: `CreateMaskFolder` of MLIR."""

    def __init__(self, ctx: Context) -> None:
        self.made = known_op(ctx, "vector.constant_mask")

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewrite a `vector.create_mask`."""
        to = op.results[0].type
        limits, sizes = dims(to) or (1,), list[int]()
        for value, limit in zip(op.operands, limits, strict=True):
            size, vscale = _size(value)
            # Of a scalable dimension all elements must be set, which the fold finds if all are.
            if size is None or vscale != (limit < 0) or (vscale and size < -limit):
                return
            sizes.append(max(0, min(size, abs(limit))))
        if 0 in sizes:
            sizes = [0] * len(sizes)
        if self.made is not None:
            properties = {"mask_dim_sizes": split(sizes)[0]}
            rewriter.replace(op, self.made.create(result_types=[to], properties=properties))


NAMED: Final[Mapping[str, Sequence[Entry]]] = {"vector.create_mask": (ConstantMask,)}
