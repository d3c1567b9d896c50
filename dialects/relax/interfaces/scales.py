"""The interface for moving multiplications by scales through operations: `fold-scale-axis`.

A scale is a factor for each element along some axes, such as one for each channel.
"""

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
"""The dimensions that a scale runs along, counted from the last one, -1.

An axis that a layout splits has two dimensions, the outer part first. Empty: one scale for all
elements.
"""


class Along(NamedTuple):
    """The dimensions of a weight that a scale runs along."""

    axes: Axes
    view: Shape | None = None
    """The shape to view the weight in, whose dimensions `axes` are; None for its own shape."""


class Scaling(NamedTuple):
    """The changes that compensate for scaling the result or an operand of an operation.

    For `relu(s * x) = s * relu(x)` with positive `s`: scaling the result requires scaling operand 0
    (`operands={0: axes}`); removing the scale of operand 0 requires scaling the result (`result`).
    """

    operands: Mapping[int, Axes] = {}
    """Operands to multiply by the scale: at their definitions, or directly if they are constants or
    broadcast."""
    weights: Mapping[int, Along] = {}
    """Operands to multiply by the scale directly, wherever they are defined."""
    divided: Mapping[int, Axes] = {}
    """Operands to divide by the scale, which must be constants or broadcast."""
    result: Axes | None = None
    """The dimensions along which the result is to be multiplied by the scale, if at all."""
    positive: bool = False
    """True if this is valid for positive scales only."""
    finite: bool = False
    """True if this is valid for finite scales only: zeros of padding would be multiplied by the
    scale, and their product with infinity or NaN is NaN."""
    is_sum: bool = False
    """True if a term added to one of `operands` or `weights` is added to the result unchanged."""


class ScaleAxisRule(Operation, ABC):
    """An operation with one result that a scale can move through, or into its weights.

    The counterpart of TVM's FForwardPrep, FForwardRewrite, FBackwardPrep and FBackwardTransform.
    """

    @abstractmethod
    def scale_result(self, axes: Axes) -> Scaling | None:
        """Return which operands to scale so that the result is scaled along `axes`.

        None if no scaling of operands has this effect. Used by the backward pass.
        """

    @abstractmethod
    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        """Return the scaling that compensates for removing the scale of operand `index` along
        `axes`.

        Either weights absorb the scale, or the result has to be multiplied by it. None if neither
        is possible. Used by the forward pass.
        """


class Homogeneous(ScaleAxisRule, ABC):
    """An operation with `f(s * x) = s * f(x)` for its first operand, element by element."""

    POSITIVE: ClassVar[bool] = True
    """True if this holds for positive scales only, as for `relu`."""

    def scale_result(self, axes: Axes) -> Scaling | None:
        return Scaling(operands={0: axes}, positive=self.POSITIVE)

    def scale_operand(self, index: int, axes: Axes) -> Scaling | None:
        return Scaling(result=axes, positive=self.POSITIVE) if index == 0 else None
