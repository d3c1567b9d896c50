"""Where multiplications of channels can go: for `fold-scale-axis`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, NamedTuple, TypeAlias

from xdsl.ir import Operation

from ..shapes import Shape

__all__ = [
    "Along",
    "Axes",
    "Homogeneous",
    "ScaleAxisRule",
    "Scaling",
]


Axes: TypeAlias = tuple[int, ...]
"""The dimensions that scales run along, counted from the last one, -1; that of the outer parts
before that of the inner, if they are split. None of them: one scale for all elements."""


class Along(NamedTuple):
    """Where the scales are in a weight."""

    axes: Axes
    view: Shape | None = None
    """The shape to see the weight in, if it is not its own."""


class Scaling(NamedTuple):
    """What makes up for scaling one value of an operation, so that it still holds."""

    operands: Mapping[int, Axes] = {}
    """Operands, by index, to be scaled as well: where they are computed, or themselves if they are
    constants or broadcast."""
    weights: Mapping[int, Along] = {}
    """Operands that are scaled themselves, whatever they are."""
    divided: Mapping[int, Axes] = {}
    """Operands to be divided by the scales, which are constants or broadcast."""
    result: Axes | None = None
    """Along what the result is scaled, if it is."""
    positive: bool = False
    """Whether this is true of scales above zero only."""
    is_sum: bool = False
    """Whether what is added to one of `operands` or `weights` is added to the result."""


class ScaleAxisRule(Operation, ABC):
    """An operation with one result that scales can go through, or into its weights (TVM
    FForwardPrep, FForwardRewrite, FBackwardPrep, FBackwardTransform)."""

    @abstractmethod
    def scale_result(self, axes: Axes) -> Scaling | None:
        """The operands that scale the result along `axes` if they are scaled; None if none do."""

    @abstractmethod
    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        """What follows if an operand loses its scales along `axes`: weights that take them, or a
        result that is to be multiplied by them; None if this is not known."""


class Homogeneous(ScaleAxisRule, ABC):
    """An operation whose result elements scale with those of the first operand at their place."""

    POSITIVE: ClassVar[bool] = True
    """Whether that is true of scales above zero only."""

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling(operands={0: axes}, positive=self.POSITIVE)

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        return Scaling(result=axes, positive=self.POSITIVE) if index == 0 else None
