"""In which layouts an operation can be computed: for `convert-layout` and `alter-op-layout`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from ..attributes import PropertyValue
from ..layout import Layout, Relayout
from ..shapes import normalize_axes

__all__ = [
    "AlongAxes",
    "Conversion",
    "ConvertsLayout",
    "InLayout",
    "LayoutRule",
    "axes_in",
    "chosen",
    "of_first",
]


@dataclass(frozen=True)
class Conversion:
    """An operation computed in other layouts."""

    operands: Sequence[Relayout | None]
    """How each operand is needed; None is as it was."""
    results: Sequence[Relayout | None]
    """How each result is then given."""
    properties: Mapping[str, PropertyValue] = field(default_factory=dict[str, PropertyValue])
    """Those that become others; None takes one away."""
    expanded: Mapping[int, Sequence[int]] = field(default_factory=dict[int, Sequence[int]])
    """Operands that are to have more dimensions, of size 1, and which of the dimensions that they
    then have these are."""
    op: type[IRDLOperation] | None = None
    """The operation to put in the place of this one, if that is to be another: then it has these
    properties only."""
    forwards: bool = False
    """Whether the result is then nothing but the first operand, and no operation is needed."""


class LayoutRule(Operation, ABC):
    """An operation that can go on in the layouts in which its operands are (Relay
    FInferCorrectLayout, Relax FRelaxInferLayout). An operation that is none gets its operands as
    they were."""

    @abstractmethod
    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """The operation on operands some of which are in other layouts, None for the others; types
        and properties of this one are still as they were.

        VerifyException if it cannot be computed in them: then it stays as it is.
        """


class ConvertsLayout(Operation, ABC):
    """An operation whose layouts can be chosen, such as a convolution (Relay
    FTVMConvertOpLayout)."""

    @abstractmethod
    def to_layouts(self, *desired: str) -> Conversion:
        """The operation in these layouts of its operands, "default" or left out for one that goes
        with those before it.

        VerifyException if they are no layouts of it. Whether the shapes split into the blocks of a
        layout is not for it to find out.
        """


class AlongAxes(LayoutRule, ABC):
    """A function of its first operand that treats some axes in a way of their own, such as softmax;
    the results have the dimensions of that operand. Its other operands have no layout."""

    AXES: ClassVar[Sequence[str]] = ()
    """The properties that have the axis or axes."""
    SPLITS: ClassVar[bool] = False
    """Whether to treat both parts of an axis that is split so is the same; for lists of axes."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = of_first(relayouts)
        properties = {
            name: axes_in(relayout, getattr(self, name), self.SPLITS) for name in self.AXES
        }
        others = [None] * (len(self.operands) - 1)
        return Conversion([relayout, *others], [relayout] * len(self.results), properties)


class InLayout(LayoutRule, ConvertsLayout, ABC):
    """A function of a tensor in the layout that the property `layout` names, the result in the same
    layout: pooling, resizing."""

    @abstractmethod
    def data_layout(self) -> Layout:
        """That of the tensor."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        return self.to_layouts(of_first(relayouts).along(self.data_layout()).dst.text)

    def to_layouts(self, *desired: str) -> Conversion:
        (layout,) = chosen(desired, self.data_layout())
        relayout = Relayout.parse(self.data_layout().text, layout.text)
        return Conversion([relayout], [relayout], {"layout": layout.text})


def chosen(desired: Sequence[str], *layouts: Layout) -> list[Layout]:
    """Those that are desired in the place of some layouts, these where they are left out or
    "default"; VerifyException for one that is for other axes, or splits others than N, C, O, I."""
    if len(desired) > len(layouts):
        raise VerifyException(f"has {len(layouts)} layouts, but {len(desired)} are desired")
    given = [*desired] + ["default"] * (len(layouts) - len(desired))
    found = [
        old if text == "default" else Layout.of(text, old.primal)
        for text, old in zip(given, layouts, strict=True)
    ]
    for layout in found:
        if split := [c for c in layout.factors if c not in "ncoi"]:
            raise VerifyException(f'layout "{layout.text}" splits {split[0].upper()}')
    return found


def of_first(relayouts: Sequence[Relayout | None]) -> Relayout:
    """That of the first operand; VerifyException if only others are in another layout."""
    if (relayout := relayouts[0]) is None:
        raise VerifyException("only another operand than the first is in another layout")
    return relayout


def axes_in(relayout: Relayout, axes: object, splits: bool = False) -> PropertyValue:
    """A property that has an axis or axes of a tensor, after it; VerifyException if it is absent,
    and for an axis that is split, unless `splits`."""
    match axes:
        case int():
            return relayout.dimension(*normalize_axes([axes], relayout.rank))
        case tuple():
            known = normalize_axes(cast(tuple[int, ...], axes), relayout.rank)
            return relayout.dimensions(known) if splits else [*map(relayout.dimension, known)]
        case _:
            raise VerifyException("it is of the flattened tensor")
