"""What passes ask of an operation; an op of any dialect takes part by deriving from these classes.

They are tested with `isinstance`, an order of magnitude cheaper than looking up an xDSL trait.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias, cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from .attributes import Ints, PropertyValue
from .layout import Layout, Relayout
from .shapes import Shape, normalize_axes
from .types import is_ranked, is_tensor, refine, shape_of

if TYPE_CHECKING:
    from xdsl.interpreter import InterpreterFunctions

__all__ = [
    "Along",
    "AlongAxes",
    "Anchor",
    "Associative",
    "Axes",
    "Broadcast",
    "Conversion",
    "ConvertsLayout",
    "Decomposes",
    "Elementwise",
    "Evaluates",
    "FusionKind",
    "FusionPattern",
    "Homogeneous",
    "InLayout",
    "InfersType",
    "Injective",
    "LayoutRule",
    "Neutral",
    "NonComputational",
    "OnHost",
    "Reduction",
    "ScaleAxisRule",
    "Scaling",
    "Shorthand",
    "SimplifiesInference",
    "View",
    "axes_in",
    "chosen",
    "of_first",
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


@dataclass(frozen=True)
class Conversion:
    """An operation computed in other layouts."""

    operands: Sequence[Relayout | None]
    """How each operand is needed; None is as it was."""
    results: Sequence[Relayout | None]
    """How each result is then given."""
    properties: Mapping[str, PropertyValue] = field(default_factory=dict[str, PropertyValue])
    """Those that become others; None takes one away."""
    expanded: Mapping[int, Sequence[int]] = field(default_factory=dict[int, Sequence[int]])
    """Operands that are to have more dimensions, of size 1, and which of the dimensions that they
    then have these are."""
    op: type[IRDLOperation] | None = None
    """The operation to put in the place of this one, if that is to be another: then it has these
    properties only."""
    forwards: bool = False
    """Whether the result is then nothing but the first operand, and no operation is needed."""


class LayoutRule(Operation, ABC):
    """An operation that can go on in the layouts in which its operands are (Relay
    FInferCorrectLayout, Relax FRelaxInferLayout). An operation that is none gets its operands as
    they were."""

    @abstractmethod
    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """The operation on operands some of which are in other layouts, None for the others; types
        and properties of this one are still as they were.

        VerifyException if it cannot be computed in them: then it stays as it is.
        """


class ConvertsLayout(Operation, ABC):
    """An operation whose layouts can be chosen, such as a convolution (Relay
    FTVMConvertOpLayout)."""

    @abstractmethod
    def to_layouts(self, *desired: str) -> Conversion:
        """The operation in these layouts of its operands, "default" or left out for one that goes
        with those before it.

        VerifyException if they are no layouts of it. Whether the shapes split into the blocks of a
        layout is not for it to find out.
        """


class AlongAxes(LayoutRule, ABC):
    """A function of its first operand that treats some axes in a way of their own, such as softmax;
    the results have the dimensions of that operand. Its other operands have no layout."""

    AXES: ClassVar[Sequence[str]] = ()
    """The properties that have the axis or axes."""
    SPLITS: ClassVar[bool] = False
    """Whether to treat both parts of an axis that is split so is the same; for lists of axes."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        relayout = of_first(relayouts)
        properties = {
            name: axes_in(relayout, getattr(self, name), self.SPLITS) for name in self.AXES
        }
        others = [None] * (len(self.operands) - 1)
        return Conversion([relayout, *others], [relayout] * len(self.results), properties)


class InLayout(LayoutRule, ConvertsLayout, ABC):
    """A function of a tensor in the layout that the property `layout` names, the result in the same
    layout: pooling, resizing."""

    @abstractmethod
    def data_layout(self) -> Layout:
        """That of the tensor."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        return self.to_layouts(of_first(relayouts).along(self.data_layout()).dst.text)

    def to_layouts(self, *desired: str) -> Conversion:
        (layout,) = chosen(desired, self.data_layout())
        relayout = Relayout.parse(self.data_layout().text, layout.text)
        return Conversion([relayout], [relayout], {"layout": layout.text})


def chosen(desired: Sequence[str], *layouts: Layout) -> list[Layout]:
    """Those that are desired in the place of some layouts, these where they are left out or
    "default"; VerifyException for one that is for other axes, or splits others than N, C, O, I."""
    if len(desired) > len(layouts):
        raise VerifyException(f"has {len(layouts)} layouts, but {len(desired)} are desired")
    given = [*desired] + ["default"] * (len(layouts) - len(desired))
    found = [
        old if text == "default" else Layout.of(text, old.primal)
        for text, old in zip(given, layouts, strict=True)
    ]
    for layout in found:
        if split := [c for c in layout.factors if c not in "ncoi"]:
            raise VerifyException(f'layout "{layout.text}" splits {split[0].upper()}')
    return found


def of_first(relayouts: Sequence[Relayout | None]) -> Relayout:
    """That of the first operand; VerifyException if only others are in another layout."""
    if (relayout := relayouts[0]) is None:
        raise VerifyException("only another operand than the first is in another layout")
    return relayout


def axes_in(relayout: Relayout, axes: object, splits: bool = False) -> PropertyValue:
    """A property that has an axis or axes of a tensor, after it; VerifyException if it is absent,
    and for an axis that is split, unless `splits`."""
    match axes:
        case IntegerAttr():
            return relayout.dimension(*normalize_axes([axes.value.data], relayout.rank))
        case DenseArrayBase():
            known = normalize_axes(cast(Ints, axes).get_values(), relayout.rank)
            return relayout.dimensions(known) if splits else [*map(relayout.dimension, known)]
        case _:
            raise VerifyException("it is of the flattened tensor")


def _ranked_shape(type: Attribute) -> Shape:
    if not is_ranked(type):
        raise VerifyException(f"the rank of {type} is not known")
    return type.get_shape()


def _broadcast_in(
    relayout: Relayout, split: Collection[str], sizes: Mapping[str, int], extents: Mapping[str, int]
) -> Relayout:
    """How an operand of these sizes goes with a result of these extents; VerifyException if it is
    broadcast within a block, or that is not known."""
    ones = [c for c in split if sizes[c] == 1 != extents[c]]
    for c in split:
        if sizes[c] == DYNAMIC_INDEX or sizes[c] != extents[c] and c not in ones:
            raise VerifyException(
                f"axis {c} is split, and of size {sizes[c]} in one operand, {extents[c]} in another"
            )
    return relayout.with_ones(ones)


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


class Elementwise(LayoutRule, FusionPattern, ABC):
    """An operation whose result elements each depend on the operand elements at their place only,
    after broadcasting."""

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        rank = len(_ranked_shape(self.results[0].type))
        found = [r for r in relayouts if r is not None and r.rank == rank]
        if not found:
            raise VerifyException("what is in another layout is broadcast along new dimensions")
        relayout = max(found, key=lambda r: r.block)
        split = {c.upper() for c in (*relayout.src.factors, *relayout.dst.factors)}
        extents = relayout.src.extents(_ranked_shape(self.results[0].type)) if split else {}
        operands: list[Relayout | None] = []
        expanded: dict[int, Sequence[int]] = {}
        for i, operand in enumerate(self.operands):
            shape = _ranked_shape(operand.type)
            if relayouts[i] is None and all(size == 1 for size in shape):
                operands.append(None)
                continue
            if len(shape) < rank:
                expanded[i] = range(rank - len(shape))
            if split:
                sizes = relayout.src.extents((1,) * (rank - len(shape)) + shape)
                operands.append(_broadcast_in(relayout, split, sizes, extents))
            else:
                operands.append(relayout)
        return Conversion(operands, [relayout] * len(self.results), expanded=expanded)

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
