"""Interfaces for type inference, annotations, and operands that stay in host memory."""

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
    """An operation whose result types follow from its operands and properties.

    The counterpart of TVM's FInferStructInfo. The verifier accepts declared result types that are
    less precise than the inferred ones. Derive from this class before IRDLOperation.
    """

    @abstractmethod
    def infer_types(self) -> Sequence[Attribute]:
        """Return the result types, as precise as the operand types allow.

        VerifyException if the operands or properties are invalid.
        """

    def verify_(self) -> None:
        inferred_types = self.infer_types()
        for result, inferred in zip(self.results, inferred_types, strict=True):
            if refine(result.type, inferred) is None:
                raise VerifyException(
                    f"result type {result.type} does not match inferred {inferred} "
                    f"of {', '.join(map(str, self.operand_types))}"
                )


class NonComputational(Operation, ABC):
    """An annotation that must survive constant folding, such as the placement on a device.

    The counterpart of TVM's TNonComputational.
    """


class OnHost(Operation, ABC):
    """An operation with operands or results in host memory, whatever device computes it.

    Shapes are the usual case; `plan-devices` asks for it.
    """

    def host_operands(self) -> Sequence[int]:
        """Return the indices of the operands in host memory."""
        return ()

    def host_results(self) -> Sequence[int]:
        """Return the indices of the results in host memory."""
        return ()
