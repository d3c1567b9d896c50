"""The interface for moving multiplications by scales through operations: `fold-scale-axis`.

A scale is a factor for each element along some axes, such as one for each channel.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, TypeAlias

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Commutative

from ..shapes import Shape

__all__ = [
    "Along",
    "AssociativeCommutative",
    "Axes",
    "CompositeOp",
    "Decomposes",
    "HasIdentityElement",
    "Homogeneous",
    "ScaleAxisRule",
    "Scaling",
    "SimplifiesInference",
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


# Algebraic interfaces: decomposition, identity element, associativity.
#
# The passes that ask for them are `simplify-inference`, `canonicalize-ops` and `simplify-expr`.


class Decomposes(Operation, ABC):
    """An operation that can be decomposed into simpler ones.

    Derive from one of the two subclasses: they say which pass decomposes the operation.
    """

    @abstractmethod
    def decompose(self, builder: Builder) -> Sequence[SSAValue] | None:
        """Insert an equivalent sequence of operations and return its values, one for each result.

        `builder` inserts before this operation. Return None, without inserting anything, if the
        decomposition needs types that are not known (a rank, a dimension).
        """


class SimplifiesInference(Decomposes, ABC):
    """An operation that decomposes into element-wise operations and reductions at inference.

    `simplify-inference` decomposes it (TVM SimplifyInference).
    """


class CompositeOp(Decomposes, ABC):
    """A shorthand for more basic operations, such as flatten for a reshape.

    `canonicalize-ops` decomposes it (TVM CanonicalizeOps).
    """


class HasIdentityElement(Operation, ABC):
    """A function of two tensors with a right identity element: `f(x, IDENTITY) = x`.

    With the trait `Commutative` it is also a left identity: `f(IDENTITY, x) = x`.
    """

    IDENTITY: ClassVar[float]


class AssociativeCommutative(Operation, ABC):
    """An associative and commutative function of two tensors.

    `f(f(a, b), c) = f(a, f(b, c))` and `f(a, b) = f(b, a)`; for floats, up to rounding.
    """

    traits = traits_def(Commutative())
