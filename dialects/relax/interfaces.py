"""What passes ask of an operation; an op of any dialect takes part by deriving from these classes.

They are tested with `isinstance`, an order of magnitude cheaper than looking up an xDSL trait.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from .types import is_tensor, refine, shape_of

if TYPE_CHECKING:
    from xdsl.interpreter import InterpreterFunctions

__all__ = [
    "Anchor",
    "Broadcast",
    "Elementwise",
    "Evaluates",
    "FusionKind",
    "FusionPattern",
    "InfersType",
    "Injective",
    "NonComputational",
    "OnHost",
    "Reduction",
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


class Evaluates(Operation, ABC):
    """An operation that numpy can compute (TVM FTVMCompute)."""

    @classmethod
    @abstractmethod
    def semantics(cls) -> type[InterpreterFunctions]:
        """The class that computes it, imported here and not with the dialect."""


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


class FusionKind(IntEnum):
    """How the elements of a result depend on those of the operands (TVM OpPatternKind): the lower,
    the more an operation can be computed together with."""

    ELEMENTWISE = 0
    """Each depends on the element at its place."""
    BROADCAST = 1
    """The same after broadcasting."""
    INJECTIVE = 2
    """Each depends on one element of an operand, at any place."""
    REDUCTION = 3
    """Each depends on many elements."""
    ANCHOR = 4
    """Each depends on many elements, and element-wise operations on the result can be computed
    with it: convolutions, matrix products (TVM kOutEWiseFusable)."""
    TUPLE = 7
    """They are the operands themselves, in a tuple."""
    OPAQUE = 8
    """Nothing is known. So is every operation that is no FusionPattern."""


class FusionPattern(Operation, ABC):
    """An operation that can be computed together with others in one kernel (TVM TOpPattern)."""

    @abstractmethod
    def fusion_kind(self) -> FusionKind:
        """How its results depend on its operands; those of the given types, if it matters."""


class Elementwise(FusionPattern, ABC):
    """An operation whose result elements each depend on the operand elements at their place only,
    after broadcasting."""

    def fusion_kind(self) -> FusionKind:
        shapes = {shape_of(v.type) for v in (*self.operands, *self.results) if is_tensor(v.type)}
        return FusionKind.ELEMENTWISE if len(shapes) == 1 else FusionKind.BROADCAST


class Broadcast(FusionPattern, ABC):
    """An operation that computes each element by itself, with an operand broadcast by a rule of its
    own, such as along one axis; what is done to an Elementwise one is wrong for it."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.BROADCAST


class Injective(FusionPattern, ABC):
    """An operation that moves elements, such as a transposition."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.INJECTIVE


class Reduction(FusionPattern, ABC):
    """An operation that makes one element of many, such as a sum."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.REDUCTION


class Anchor(FusionPattern, ABC):
    """An operation whose kernel can go on with element-wise ones, such as a convolution."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.ANCHOR
