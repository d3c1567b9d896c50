"""What passes ask of an operation; an op of any dialect takes part by deriving from these classes.

They are tested with `isinstance`, an order of magnitude cheaper than looking up an xDSL trait.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from .types import refine

if TYPE_CHECKING:
    from xdsl.interpreter import InterpreterFunctions

__all__ = ["Elementwise", "Evaluates", "InfersType"]


class InfersType(Operation, ABC):
    """An operation whose operands and properties determine its result types (TVM FInferStructInfo).

    The verifier accepts results declared less precisely. Derive from this before IRDLOperation.
    """

    @abstractmethod
    def infer_types(self) -> Sequence[Attribute]:
        """The result types, as precise as the operands allow; VerifyException if there are none."""

    def verify_(self) -> None:
        inferred_types = self.infer_types()
        for result, inferred in zip(self.results, inferred_types, strict=True):
            if refine(result.type, inferred) is None:
                raise VerifyException(
                    f"result type {result.type} does not match inferred {inferred} "
                    f"of {', '.join(map(str, self.operand_types))}"
                )


class Evaluates(Operation, ABC):
    """An operation that numpy can compute (TVM FTVMCompute)."""

    @classmethod
    @abstractmethod
    def semantics(cls) -> type[InterpreterFunctions]:
        """The class that computes it, imported here and not with the dialect."""


class Elementwise(Operation, ABC):
    """An operation whose result elements each depend on the operand elements at their place only,
    after broadcasting."""
