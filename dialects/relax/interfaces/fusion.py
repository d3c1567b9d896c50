"""Which operations can be computed together: for `fuse-ops`."""

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
    """How the elements of a result depend on those of the operands (TVM OpPatternKind): the lower,
    the more an operation can be computed together with."""

    ELEMENTWISE = 0
    """Each depends on the element at its place."""
    BROADCAST = 1
    """The same after broadcasting."""
    INJECTIVE = 2
    """Each depends on one element of an operand, at any place."""
    REDUCTION = 3
    """Each depends on many elements."""
    ANCHOR = 4
    """Each depends on many elements, and element-wise operations on the result can be computed
    with it: convolutions, matrix products (TVM kOutEWiseFusable)."""
    TUPLE = 7
    """They are the operands themselves, put into a tuple or taken out of one: no kernel does it."""
    OPAQUE = 8
    """Nothing is known. So is every operation that is no FusionPattern."""


class FusionPattern(Operation, ABC):
    """An operation that can be computed together with others in one kernel (TVM TOpPattern)."""

    @abstractmethod
    def fusion_kind(self) -> FusionKind:
        """How its results depend on its operands; those of the given types, if it matters."""


class Elementwise(LayoutRule, FusionPattern, ABC):
    """An operation whose result elements each depend on the operand elements at their place only,
    after broadcasting."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        rank = len(_ranked_shape(self.results[0].type))
        found = [r for r in relayouts if r is not None and r.rank == rank]
        if not found:
            raise VerifyException("what is in another layout is broadcast along new dimensions")
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
        if types.count(types[0]) == len(types):  # most are, and this is found out in C
            return FusionKind.ELEMENTWISE
        shapes = {shape_of(type) for type in types if is_tensor(type)}
        return FusionKind.ELEMENTWISE if len(shapes) == 1 else FusionKind.BROADCAST


def _ranked_shape(type: Attribute) -> Shape:
    if not is_ranked(type):
        raise VerifyException(f"the rank of {type} is not known")
    return type.get_shape()


def _broadcast_in(
    relayout: Relayout, split: Collection[str], sizes: Mapping[str, int], extents: Mapping[str, int]
) -> Relayout:
    """How an operand of these sizes goes with a result of these extents; VerifyException if it is
    broadcast within a block, or that is not known."""
    ones = [c for c in split if sizes[c] == 1 != extents[c]]
    for c in split:
        if sizes[c] == DYNAMIC_INDEX or sizes[c] != extents[c] and c not in ones:
            raise VerifyException(
                f"axis {c} is split, and of size {sizes[c]} in one operand, {extents[c]} in another"
            )
    return relayout.with_ones(ones)


class Broadcast(FusionPattern, ABC):
    """An operation that computes each element by itself, with an operand broadcast by a rule of its
    own, such as along one axis; what is done to an Elementwise one is wrong for it."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.BROADCAST


class Injective(FusionPattern, ABC):
    """An operation that moves elements, such as a transposition."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.INJECTIVE


class View(Injective, ABC):
    """An operation whose result has the elements of its operand in their order, such as a reshape:
    by itself it needs no kernel."""


class Reduction(FusionPattern, ABC):
    """An operation that makes one element of many, such as a sum."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.REDUCTION


class Anchor(FusionPattern, ABC):
    """An operation whose kernel can go on with element-wise ones, such as a convolution."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.ANCHOR
