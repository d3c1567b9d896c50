"""Interfaces for type inference, annotations, and operands that stay in host memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ..types import refine
from .signatures import SignatureTable

__all__ = [
    "SIGNATURES",
    "InfersType",
    "NonComputational",
    "OnHost",
]

SIGNATURES = SignatureTable()


class InfersType(Operation, ABC):
    """An operation whose result types follow from its operands and properties.

    The counterpart of TVM's FInferStructInfo. The verifier accepts a declared result type that does
    not conflict with the inferred one: either may be less precise. Derive from this class before
    IRDLOperation.
    """

    FROM_SIGNATURE: ClassVar[bool] = False
    """True if `infer_types` reads nothing but the properties and the operand types: no constants,
    attributes or regions. It is then called once for each combination of these."""

    @abstractmethod
    def infer_types(self) -> Sequence[Attribute]:
        """Compute the result types, as precise as the operand types allow.

        An unknown size that is copied from an operand type means the same size. Other unknown sizes
        are DYNAMIC_INDEX, or computed by the functions of `shapes`, which know symbolic sizes.
        Callers use `inferred_types`, which knows the types of operations seen before.
        VerifyException if the operands or properties are invalid.
        """

    def inferred_types(self) -> Sequence[Attribute]:
        """Return the result types; VerifyException if the operands or properties are invalid."""
        if self.FROM_SIGNATURE:
            return SIGNATURES.types_of(self, self.infer_types)
        return self.infer_types()

    def verify_(self) -> None:
        inferred_types = self.inferred_types()
        for result, inferred in zip(self.results, inferred_types, strict=True):
            if refine(result.type, inferred) is None:
                raise VerifyException(
                    f"result type {result.type} does not match inferred {inferred} "
                    f"for operands {', '.join(map(str, self.operand_types))}"
                )


class NonComputational(Operation, ABC):
    """An annotation that must survive constant folding, such as the placement on a device.

    The counterpart of TVM's TNonComputational.
    """


class OnHost(Operation, ABC):
    """An operation with operands or results in host memory, whatever device computes it: shapes,
    for the most part.

    `plan-devices` asks for them.
    """

    def host_operands(self) -> Sequence[int]:
        """Return the indices of the operands in host memory."""
        return ()

    def host_results(self) -> Sequence[int]:
        """Return the indices of the results in host memory."""
        return ()
