"""What an operation computes, and of what types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ..types import refine

__all__ = [
    "InfersType",
    "NonComputational",
    "OnHost",
]


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


class NonComputational(Operation, ABC):
    """An operation that says more than its value, such as where that is: constants stay in it
    (TVM TNonComputational)."""


class OnHost(Operation, ABC):
    """An operation with values that are on the host, such as shapes, wherever the others are: for
    `plan-devices`."""

    def host_operands(self) -> Sequence[int]:
        """The indices of the operands that are on the host."""
        return ()

    def host_results(self) -> Sequence[int]:
        """The indices of the results that are on the host."""
        return ()
