"""Interfaces for operator fusion: how result elements depend on operand elements.

`fuse-ops` asks for all of them, other passes for single ones, such as `View`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ..layout import Relayout
from ..shapes import Shape
from ..types import is_ranked, is_tensor, shape_of
from .layouts import Conversion, LayoutRule

__all__ = [
    "Anchor",
    "Broadcast",
    "Elementwise",
    "FusionKind",
    "FusionPattern",
    "Injective",
    "Reduction",
    "View",
]


class FusionKind(IntEnum):
    """The dependence of a result element on operand elements (TVM OpPatternKind).

    The lower the kind, the more kinds of operations can be fused with it.
    """

    ELEMENTWISE = 0
    """On the operand elements with the same index."""
    BROADCAST = 1
    """On the operand elements with the same index after broadcasting."""
    INJECTIVE = 2
    """On one operand element, with any index."""
    REDUCTION = 3
    """On many operand elements."""
    ANCHOR = 4
    """On many operand elements; element-wise users can be computed in the same kernel, as after a
    convolution or matrix product (TVM kOutEWiseFusable)."""
    TUPLE = 7
    """The operation only packs or unpacks a tuple; it needs no kernel."""
    OPAQUE = 8
    """Unknown. The kind of every operation that is not a FusionPattern."""


class FusionPattern(Operation, ABC):
    """An operation that can be fused with others into one kernel (TVM TOpPattern)."""

    @abstractmethod
    def fusion_kind(self) -> FusionKind:
        """Return how result elements depend on operand elements, given the operand types."""


class Elementwise(LayoutRule, FusionPattern, ABC):
    """An operation on the operand elements with the same index, after numpy broadcasting."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        rank = len(_ranked_shape(self.results[0].type))
        found = [r for r in relayouts if r is not None and r.rank == rank]
        if not found:
            raise VerifyException("an operand in another layout is broadcast along new dimensions")
        # Operands in several layouts: keep the one with the largest blocks, convert the others.
        relayout = max(found, key=lambda r: r.block)
        split = {c.upper() for c in (*relayout.src.factors, *relayout.dst.factors)}
        extents = relayout.src.extents(_ranked_shape(self.results[0].type)) if split else {}
        operands: list[Relayout | None] = []
        expanded: dict[int, Sequence[int]] = {}
        for i, operand in enumerate(self.operands):
            shape = _ranked_shape(operand.type)
            if relayouts[i] is None and all(size == 1 for size in shape):
                operands.append(None)
                continue
            if len(shape) < rank:
                expanded[i] = range(rank - len(shape))
            if split:
                sizes = relayout.src.extents((1,) * (rank - len(shape)) + shape)
                operands.append(_broadcast_in(relayout, split, sizes, extents))
            else:
                operands.append(relayout)
        return Conversion(operands, [relayout] * len(self.results), expanded=expanded)

    def fusion_kind(self) -> FusionKind:
        types = [value.type for value in (*self.operands, *self.results)]
        if types.count(types[0]) == len(types):  # the usual case, and `count` runs in C
            return FusionKind.ELEMENTWISE
        shapes = {shape_of(type) for type in types if is_tensor(type)}
        return FusionKind.ELEMENTWISE if len(shapes) == 1 else FusionKind.BROADCAST


def _ranked_shape(type: Attribute) -> Shape:
    if not is_ranked(type):
        raise VerifyException(f"the rank of {type} is unknown")
    return type.get_shape()


def _broadcast_in(
    relayout: Relayout, split: Collection[str], sizes: Mapping[str, int], extents: Mapping[str, int]
) -> Relayout:
    """Return the relayout of an operand that broadcasts to the result.

    `sizes` and `extents` are the sizes of the axes of operand and result. An axis in `split` is
    split into blocks: an operand of size 1 along it gets a block of 1. VerifyException if a size is
    unknown or the operand would be broadcast within a block.
    """
    ones = [c for c in split if sizes[c] == 1 != extents[c]]
    for c in split:
        if sizes[c] == DYNAMIC_INDEX or (sizes[c] != extents[c] and c not in ones):
            raise VerifyException(
                f"axis {c} is split, but has size {sizes[c]} in an operand, {extents[c]} in another"
            )
    return relayout.with_ones(ones)


class Broadcast(FusionPattern, ABC):
    """An element-wise operation that broadcasts an operand by its own rule, such as along an axis.

    It is not an `Elementwise`: rewrites that rely on numpy broadcasting would be wrong for it.
    """

    def fusion_kind(self) -> FusionKind:
        return FusionKind.BROADCAST


class Injective(FusionPattern, ABC):
    """An operation that moves elements without computing with them, such as a transposition."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.INJECTIVE


class View(Injective, ABC):
    """An operation whose result has the operand's elements in row-major order, such as a reshape.

    By itself it needs no kernel: the result is a view of the same buffer.
    """


class Reduction(FusionPattern, ABC):
    """An operation that reduces many elements to one, such as a sum."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.REDUCTION


class Anchor(FusionPattern, ABC):
    """An operation whose kernel can also compute element-wise users, such as a convolution."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.ANCHOR
