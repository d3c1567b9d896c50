"""What passes ask of an operation; an op of any dialect takes part by deriving from these classes.

They are tested with `isinstance`, an order of magnitude cheaper than looking up an xDSL trait.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from xdsl.builder import Builder
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from .shapes import Shape
from .types import is_tensor, refine, shape_of

if TYPE_CHECKING:
    from xdsl.interpreter import InterpreterFunctions

__all__ = [
    "Along",
    "Anchor",
    "Associative",
    "Axes",
    "Broadcast",
    "Decomposes",
    "Elementwise",
    "Evaluates",
    "FusionKind",
    "FusionPattern",
    "Homogeneous",
    "InfersType",
    "Injective",
    "Neutral",
    "NonComputational",
    "OnHost",
    "Reduction",
    "ScaleAxisRule",
    "Scaling",
    "Shorthand",
    "SimplifiesInference",
    "View",
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
    """They are the operands themselves, put into a tuple or taken out of one: no kernel does it."""
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
        types = [value.type for value in (*self.operands, *self.results)]
        if types.count(types[0]) == len(types):  # most are, and this is found out in C
            return FusionKind.ELEMENTWISE
        shapes = {shape_of(type) for type in types if is_tensor(type)}
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


class View(Injective, ABC):
    """An operation whose result has the elements of its operand in their order, such as a reshape:
    by itself it needs no kernel."""


class Reduction(FusionPattern, ABC):
    """An operation that makes one element of many, such as a sum."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.REDUCTION


class Anchor(FusionPattern, ABC):
    """An operation whose kernel can go on with element-wise ones, such as a convolution."""

    def fusion_kind(self) -> FusionKind:
        return FusionKind.ANCHOR


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


# What is the same as something simpler


class Decomposes(Operation, ABC):
    """An operation that simpler ones compute as well; a pass asks for one of the kinds below."""

    @abstractmethod
    def decompose(self, builder: Builder) -> Sequence[SSAValue] | None:
        """Values equal to the results, made of operations that `builder` inserts before this one;
        None, and nothing inserted, if the types do not say enough."""


class SimplifiesInference(Decomposes, ABC):
    """An operation that at inference is element-wise ones and reductions (TVM
    SimplifyInference)."""


class Shorthand(Decomposes, ABC):
    """An operation that says in one what more basic ones say (TVM CanonicalizeOps)."""


class Neutral(Operation, ABC):
    """A function of two tensors that is the first one where the second is `NEUTRAL`; and the other
    way round if it is Commutative."""

    NEUTRAL: ClassVar[float]


class Associative(Operation, ABC):
    """A function of two tensors that may be taken in any order, floats but for rounding:
    (a o b) o c is a o (b o c), and a o b is b o a."""
