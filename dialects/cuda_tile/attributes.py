"""Attributes of CUDA Tile IR: enumerations, hints, and the predicates of `assume`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    DictionaryAttr,
    IntAttr,
    IntegerAttr,
    NoneAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from ...passmanager.releases.attributes import EnumAttribute

# Enumerations. The position of a member is its number in the bytecode.


class Signedness(StrEnum):
    """Whether the bits of an integer are read as a signed one."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"


class IntegerOverflow(StrEnum):
    """The promise that integers do not overflow: as signed ones, as unsigned ones, or both."""

    NONE = "none"
    NSW = "no_signed_wrap"
    NUW = "no_unsigned_wrap"
    NW = "no_wrap"


class RoundingMode(StrEnum):
    """The direction in which a result is rounded; `approx` and `full` are precisions."""

    NEAREST_EVEN = "nearest_even"
    ZERO = "zero"
    NEGATIVE_INF = "negative_inf"
    POSITIVE_INF = "positive_inf"
    APPROX = "approx"
    FULL = "full"
    NEAREST_INT_TO_ZERO = "nearest_int_to_zero"


class ComparisonOrdering(StrEnum):
    """The result of a comparison with NaN: true if `unordered`, false if `ordered`."""

    UNORDERED = "unordered"
    ORDERED = "ordered"


class ComparisonPredicate(StrEnum):
    """The relation that a comparison tests."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS_THAN = "less_than"
    LESS_THAN_OR_EQUAL = "less_than_or_equal"
    GREATER_THAN = "greater_than"
    GREATER_THAN_OR_EQUAL = "greater_than_or_equal"


class AtomicRMWMode(StrEnum):
    """The function that an atomic operation applies to a value in memory and its operand."""

    AND = "and"
    OR = "or"
    XOR = "xor"
    ADD = "add"
    ADDF = "addf"
    MAX = "max"
    MIN = "min"
    UMAX = "umax"
    UMIN = "umin"
    XCHG = "xchg"


class MemoryScope(StrEnum):
    """The threads with which an access is ordered: of a tile block, a device, or all devices."""

    TL_BLK = "tl_blk"
    DEVICE = "device"
    SYS = "sys"


class MemoryOrderingSemantics(StrEnum):
    """The order of an access among those of other threads, as in the memory model of PTX; while one
    is `weak`, no other thread accesses the memory."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class PaddingValue(StrEnum):
    """The value of the elements of a loaded tile that lie outside of the tensor."""

    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


class SymbolVisibility(StrEnum):
    """Whether a symbol is visible outside of its module."""

    PUBLIC = "public"
    PRIVATE = "private"


class BracketedEnum:
    """The syntax `<value>` of an enumeration attribute."""

    data: Any
    enum_type: ClassVar[type[StrEnum]]

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cls.enum_type)


@irdl_attr_definition
class SignednessAttr(BracketedEnum, EnumAttribute[Signedness]):
    """The attribute with a member of `Signedness`."""

    name = "cuda_tile.signedness"


@irdl_attr_definition
class IntegerOverflowAttr(BracketedEnum, EnumAttribute[IntegerOverflow]):
    """The attribute with a member of `IntegerOverflow`."""

    name = "cuda_tile.overflow"


@irdl_attr_definition
class RoundingModeAttr(BracketedEnum, EnumAttribute[RoundingMode]):
    """The attribute with a member of `RoundingMode`."""

    name = "cuda_tile.rounding"


@irdl_attr_definition
class ComparisonOrderingAttr(BracketedEnum, EnumAttribute[ComparisonOrdering]):
    """The attribute with a member of `ComparisonOrdering`."""

    name = "cuda_tile.comparison_ordering"


@irdl_attr_definition
class ComparisonPredicateAttr(BracketedEnum, EnumAttribute[ComparisonPredicate]):
    """The attribute with a member of `ComparisonPredicate`."""

    name = "cuda_tile.comparison_predicate"


@irdl_attr_definition
class AtomicRMWModeAttr(BracketedEnum, EnumAttribute[AtomicRMWMode]):
    """The attribute with a member of `AtomicRMWMode`."""

    name = "cuda_tile.atomic_rmw_mode"


@irdl_attr_definition
class MemoryScopeAttr(BracketedEnum, EnumAttribute[MemoryScope]):
    """The attribute with a member of `MemoryScope`."""

    name = "cuda_tile.memory_scope"


@irdl_attr_definition
class MemoryOrderingSemanticsAttr(BracketedEnum, EnumAttribute[MemoryOrderingSemantics]):
    """The attribute with a member of `MemoryOrderingSemantics`."""

    name = "cuda_tile.memory_ordering_semantics"


@irdl_attr_definition
class PaddingValueAttr(BracketedEnum, EnumAttribute[PaddingValue]):
    """The attribute with a member of `PaddingValue`."""

    name = "cuda_tile.padding_value"


@irdl_attr_definition
class SymbolVisibilityAttr(BracketedEnum, EnumAttribute[SymbolVisibility]):
    """The attribute with a member of `SymbolVisibility`."""

    name = "cuda_tile.symbol_visibility"


_ENUMERATIONS: dict[type[StrEnum], Any] = {
    cls.enum_type: cls for cls in BracketedEnum.__subclasses__()
}


def attribute_of(value: Attribute | StrEnum | bool | None) -> Attribute | None:
    """Return a member of an enumeration as its attribute, True as a unit attribute, False as None,
    and an attribute as it is."""
    if isinstance(value, StrEnum):
        return _ENUMERATIONS[type(value)](value)
    if isinstance(value, bool):
        return UnitAttr() if value else None
    return value


# Hints, and the predicates of `assume`.


@irdl_attr_definition
class OptimizationHintsAttr(ParametrizedAttribute):
    """Hints for the compiler, in a dictionary of dictionaries: processor, then hint.

    <sm_90 = {num_cta_in_cga = 2}, default = {occupancy = 1}>
    """

    name = "cuda_tile.optimization_hints"

    value: DictionaryAttr

    def __init__(self, value: DictionaryAttr | Mapping[str, Attribute]):
        super().__init__(value if isinstance(value, DictionaryAttr) else DictionaryAttr(value))

    def verify(self) -> None:
        for processor, hints in self.value.data.items():
            if not isinstance(hints, DictionaryAttr):
                raise VerifyException(
                    f"optimization_hints of {processor}: expected a dictionary, got {hints}"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        entries = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: _parse_hints(parser)
        )
        if len(value := dict(entries)) < len(entries):
            parser.raise_error("optimization_hints name a processor twice")
        return (DictionaryAttr(value),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.value.data.items(), lambda entry: _print_hints(printer, *entry))


@irdl_attr_definition
class DivByAttr(ParametrizedAttribute):
    """The predicate that all elements are multiples of `divisor`; with `every` and `along`, that
    the first of each `every` elements along a dimension is one, and the others follow by 1."""

    name = "cuda_tile.div_by"

    divisor: IntAttr
    every: IntAttr | NoneAttr
    along: IntAttr | NoneAttr

    def __init__(self, divisor: int, every: int | None = None, along: int | None = None):
        super().__init__(IntAttr(divisor), _optional(every), _optional(along))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        every: IntAttr | NoneAttr = NoneAttr()
        along: IntAttr | NoneAttr = NoneAttr()
        with parser.in_angle_brackets():
            divisor = _parse_int(parser)
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("every")
                every = _parse_int(parser)
                parser.parse_keyword("along")
                along = _parse_int(parser)
        return divisor, every, along

    def print_parameters(self, printer: Printer) -> None:
        groups = ""
        if isinstance(self.every, IntAttr) and isinstance(self.along, IntAttr):
            groups = f", every {self.every.data} along {self.along.data}"
        printer.print_string(f"<{self.divisor.data}{groups}>")


@irdl_attr_definition
class SameElementsAttr(ParametrizedAttribute):
    """The predicate that elements are equal within each block of the shape `values`."""

    name = "cuda_tile.same_elements"

    values: DenseArrayBase[I64]

    def __init__(self, values: DenseArrayBase[I64] | Sequence[int]):
        if not isinstance(values, DenseArrayBase):
            values = DenseArrayBase.from_list(i64, values)
        super().__init__(values)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            values = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_integer
            )
        return (DenseArrayBase.from_list(i64, values),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<[{', '.join(map(str, self.values.get_values()))}]>")


@irdl_attr_definition
class BoundedAttr(ParametrizedAttribute):
    """The predicate that elements, as signed integers, are in [`lb`, `ub`]; None is no bound."""

    name = "cuda_tile.bounded"

    lb: IntAttr | NoneAttr
    ub: IntAttr | NoneAttr

    def __init__(self, lb: int | None, ub: int | None):
        super().__init__(_optional(lb), _optional(ub))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            lb = _parse_bound(parser)
            parser.parse_punctuation(",")
            ub = _parse_bound(parser)
        return lb, ub

    def print_parameters(self, printer: Printer) -> None:
        bounds = [str(b.data) if isinstance(b, IntAttr) else "?" for b in (self.lb, self.ub)]
        printer.print_string(f"<{', '.join(bounds)}>")


def _parse_bound(parser: AttrParser) -> IntAttr | NoneAttr:
    if parser.parse_optional_punctuation("?"):
        return NoneAttr()
    return _parse_int(parser)


def _parse_int(parser: AttrParser) -> IntAttr:
    return IntAttr(parser.parse_integer(allow_boolean=False))


def _parse_hints(parser: AttrParser) -> tuple[str, Attribute]:
    processor = parser.parse_identifier_or_str_literal()
    parser.parse_punctuation("=")
    return processor, parser.parse_attribute()


def _print_hints(printer: Printer, processor: str, hints: Attribute) -> None:
    printer.print_string(f"{processor} = ")
    assert isinstance(hints, DictionaryAttr)
    with printer.in_braces():
        printer.print_list(hints.data.items(), lambda hint: _print_hint(printer, *hint))


def _print_hint(printer: Printer, name: str, value: Attribute) -> None:
    """Print a hint without its type if it is an i64 or i1, which is how they are read."""
    printer.print_string(f"{name} = ")
    if isa(value, IntegerAttr[I64]):
        return printer.print_string(str(value.value.data))
    printer.print_attribute(value)


def _optional(value: int | None) -> IntAttr | NoneAttr:
    return NoneAttr() if value is None else IntAttr(value)
