"""Interfaces for type inference, annotations, and operands that stay in host memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar, TypeAlias

from xdsl.builder import Builder
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....passmanager.fast.edit import read_operands, read_type
from ..types import refine

__all__ = [
    "SIGNATURES",
    "Differentiable",
    "InfersType",
    "NonComputational",
    "NotDifferentiable",
    "OnHost",
    "SignatureTable",
]


# The interface for reverse-mode differentiation; `gradient` asks for it.


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


# The inferred types of operations, computed once for each signature.


Infer: TypeAlias = Callable[[], Sequence[Attribute]]


class SignatureTable:
    """Result types by signature: the class of an operation, its properties and operand types.

    Attributes are compared by identity, as hashing a tensor type takes as long as most inferences;
    equal attributes that are different objects have an entry each. An entry keeps its attributes
    alive, so that no `id` is reused.
    """

    def __init__(self, capacity: int = 1 << 14) -> None:
        self._capacity = capacity
        self._entries: dict[Hashable, tuple[Sequence[Attribute], Sequence[Attribute]]] = {}

    def types_of(self, op: Operation, infer: Infer) -> Sequence[Attribute]:
        """Return the types for the signature of `op`; call `infer` for an unknown one.

        An error of `infer` is not recorded.
        """
        properties, operands = op.properties, read_operands(op)
        types = map(read_type, operands)
        key = (type(op), *properties, *map(id, properties.values()), *map(id, types))
        if (entry := self._entries.get(key)) is not None:
            return entry[0]
        inferred = tuple(infer())
        if len(self._entries) >= self._capacity:  # dead types would stay in it for ever
            self._entries.clear()
        self._entries[key] = inferred, (*properties.values(), *map(read_type, operands))
        return inferred


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
