"""Interfaces for layout conversion, and helpers for their implementations.

`convert-layout` and `alter-op-layout` ask for them. Terms: a layout names the dimensions of a
tensor (`NCHW4c`); a relayout is the change of a tensor from one layout to another.
"""

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
    "choose_layouts",
    "convert_axes",
    "first_relayout",
]


@dataclass(frozen=True)
class Conversion:
    """A plan for computing an operation in other layouts.

    For a convolution from NCHW to NHWC: `operands` are the relayouts of data and weight,
    `results` that of the result, `properties` the new `data_layout` and `kernel_layout`.
    """

    operands: Sequence[Relayout | None]
    """The relayout that each operand needs; None for one that stays as it was."""
    results: Sequence[Relayout | None]
    """The relayout that each result then has; None for one that is as it was."""
    properties: Mapping[str, PropertyValue] = field(default_factory=dict[str, PropertyValue])
    """The properties that change; None removes a property."""
    expanded: Mapping[int, Sequence[int]] = field(default_factory=dict[int, Sequence[int]])
    """Operand index -> the positions at which dimensions of size 1 are inserted, before its
    relayout."""
    op: type[IRDLOperation] | None = None
    """The class of the replacement, which gets `properties` only; None to keep the class."""
    forwards: bool = False
    """True if the operation computes nothing in the new layouts: its result is its first operand,
    and it is erased. A transpose is so if its new axes are in order."""


class LayoutRule(Operation, ABC):
    """An operation that can be computed in the layouts that its operands already have.

    The counterpart of Relay's FInferCorrectLayout and Relax's FRelaxInferLayout. An operation
    without this interface gets its operands transformed back to their original layouts.
    """

    @abstractmethod
    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Return how to compute this operation when its operands are in other layouts.

        `relayouts` has the relayout of each operand, None for one in its original layout. The types
        and properties of this operation are still the original ones. VerifyException if it cannot
        be computed in these layouts: the operation then stays in its original ones.
        """


class ConvertsLayout(Operation, ABC):
    """An operation whose layouts the user can choose, such as a convolution.

    The counterpart of Relay's FTVMConvertOpLayout.
    """

    @abstractmethod
    def to_layouts(self, *desired: str) -> Conversion:
        """Return how to compute this operation in the `desired` layouts of its operands.

        "default", or a layout that is left out, follows from the ones before it. VerifyException if
        the operation does not support the layouts. The caller checks that the shapes split into
        the blocks of a layout.
        """


class AlongAxes(LayoutRule, ABC):
    """A function of its first operand along axes that are properties, such as softmax.

    The results have the dimensions of that operand. The other operands, vectors of parameters or
    scalars, stay in their layouts.
    """

    AXES: ClassVar[Sequence[str]] = ()
    """The names of the properties that hold an axis or a list of axes."""
    SPLITS: ClassVar[bool] = False
    """True if an axis that a layout splits is replaced by its two parts, as in `flip`; for
    lists of axes only."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = first_relayout(relayouts)
        properties = {
            name: convert_axes(relayout, getattr(self, name), self.SPLITS) for name in self.AXES
        }
        others = [None] * (len(self.operands) - 1)
        return Conversion([relayout, *others], [relayout] * len(self.results), properties)


class InLayout(LayoutRule, ConvertsLayout, ABC):
    """A function of one tensor whose property `layout` is the layout of operand and result.

    Pooling and resizing are examples.
    """

    @abstractmethod
    def data_layout(self) -> Layout:
        """Return the layout of the operand."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        return self.to_layouts(first_relayout(relayouts).along(self.data_layout()).dst.text)

    def to_layouts(self, *desired: str) -> Conversion:
        (layout,) = choose_layouts(desired, self.data_layout())
        relayout = Relayout.parse(self.data_layout().text, layout.text)
        return Conversion([relayout], [relayout], {"layout": layout.text})


def choose_layouts(desired: Sequence[str], *layouts: Layout) -> list[Layout]:
    """Return the `desired` layouts, and the current one of `layouts` for each that is not given.

    A layout that is left out or "default" is not given. VerifyException for a layout with other
    axes than the current one, or one that splits an axis other than N, C, O or I.
    """
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


def first_relayout(relayouts: Sequence[Relayout | None]) -> Relayout:
    """Return the relayout of the first operand; VerifyException if its layout is the original."""
    if (relayout := relayouts[0]) is None:
        raise VerifyException("the first operand is in its original layout, another one is not")
    return relayout


def convert_axes(relayout: Relayout, axes: object, splits: bool = False) -> PropertyValue:
    """Return the value, after `relayout`, of a property that holds an axis or a list of axes.

    An axis that `relayout` splits becomes its two parts if `splits`; else it is a VerifyException.
    So is None, which stands for the flattened tensor.
    """
    match axes:
        case int():
            return relayout.dimension(*normalize_axes([axes], relayout.rank))
        case tuple():
            known = normalize_axes(cast(tuple[int, ...], axes), relayout.rank)
            return relayout.dimensions(known) if splits else [*map(relayout.dimension, known)]
        case _:
            raise VerifyException("without an axis the operation flattens the tensor")
