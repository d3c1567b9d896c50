"""The interface for reverse-mode differentiation; `gradient` asks for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

__all__ = ["Differentiable", "NotDifferentiable"]


class NotDifferentiable(Exception):
    """An operation, type or shape that has no gradient; the message is the reason."""


class Differentiable(Operation, ABC):
    """An operation with a rule for its gradient (TVM FPrimalGradient)."""

    @abstractmethod
    def gradients(
        self, builder: Builder, adjoints: Sequence[SSAValue]
    ) -> Sequence[SSAValue | None]:
        """Insert the vector-Jacobian product and return the adjoint of each operand.

        `adjoints` has one value for each result, of its type. `builder` inserts after this
        operation, where its operands and results may be used. An adjoint has the type of its
        operand; None stands for zero, and for an operand that is no tensor of floats. Raises
        NotDifferentiable, with the reason and what to do, where there is no gradient.
        """
