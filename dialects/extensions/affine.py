"""The custom forms of MLIR's dialect affine that xDSL's has not, and operations that it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, Self, cast

from xdsl.dialects import affine
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from .extended_op import ExtendedOp, extended, with_terminator
from .lists import REDUCTIONS, Indices, parse_indices, parse_types_after_arrow, print_indices

__all__ = ["extend"]


def parse_map_operands(parser: Parser) -> tuple[list[SSAValue], int]:
    """Parse `(%dim, ...)[%symbol, ...]`; return the values, and how many are dimensions."""

    def parse_list(delimiter: Parser.Delimiter) -> list[SSAValue]:
        found = parser.parse_optional_comma_separated_list(
            delimiter, parser.parse_unresolved_operand
        )
        return [parser.resolve_operand(operand, IndexType()) for operand in found or ()]

    dims = parse_list(parser.Delimiter.PAREN)
    return [*dims, *parse_list(parser.Delimiter.SQUARE)], len(dims)


def print_map_operands(printer: Printer, values: Sequence[SSAValue], dims: int) -> None:
    """Print the operands of a map, of which the first `dims` are dimensions."""
    printer.print_string("(")
    printer.print_list(values[:dims], printer.print_ssa_value)
    printer.print_string(")")
    if values[dims:]:
        printer.print_string("[")
        printer.print_list(values[dims:], printer.print_ssa_value)
        printer.print_string("]")


@irdl_op_definition
class IfOp(ExtendedOp):
    """Run one of two regions, by affine constraints."""

    PLAIN: ClassVar = affine.IfOp
    name = "affine.if"

    args = var_operand_def(IndexType())
    res = var_result_def()
    condition = prop_def(AffineSetAttr)
    then_region = region_def()
    else_region = region_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        condition = parser.parse_attribute()
        if not isinstance(condition, AffineSetAttr):
            parser.raise_error("expected a set, affine_set<...>", start, parser.pos)
        start = parser.pos
        operands, dims = parse_map_operands(parser)
        expected = condition.data.num_dims, condition.data.num_symbols
        if (dims, len(operands) - dims) != expected:
            found = f"{dims} and {len(operands) - dims}"
            message = f"expected {expected[0]} dimensions and {expected[1]} symbols, but got"
            parser.raise_error(f"{message} {found}", start, parser.pos)
        types = parse_types_after_arrow(parser)
        regions = [with_terminator(parser.parse_region(), affine.YieldOp), Region()]
        if parser.parse_optional_keyword("else") is not None:
            regions[1] = with_terminator(parser.parse_region(), affine.YieldOp)
        return cls.create(
            operands=operands,
            result_types=types,
            regions=regions,
            properties={"condition": condition},
            attributes=parser.parse_optional_attr_dict(),
        )


class Bound(NamedTuple):
    """The bounds of parallel loops: a map, its operands, and how many of its results belong to each
    loop, of which the minimum or maximum is the bound."""

    map: AffineMap
    operands: list[SSAValue]
    groups: list[int]


def _parse_bound(parser: Parser, word: str) -> Bound:
    """Parse the bounds of parallel loops, such as `(%i, max(%j, %k + 2))`."""
    # Our parser tells dimensions from symbols in expressions; xDSL's takes no delimiter.
    parse_map = cast("type[_MapParser]", type(parser)).parse_affine_map_of_ssa_ids
    delimiter = parser.Delimiter

    def parse_group() -> tuple[AffineMap, Sequence[SSAValue]]:
        is_group = parser.parse_optional_keyword(word) is not None
        kind = delimiter.PAREN if is_group else delimiter.NONE
        return parse_map(cast("_MapParser", parser), kind)

    parts = parser.parse_comma_separated_list(delimiter.PAREN, parse_group)
    dims = dict.fromkeys(v for map, values in parts for v in values[: map.num_dims])
    symbols = dict.fromkeys(v for map, values in parts for v in values[map.num_dims :])
    places_of_dims, places_of_symbols = [*dims], [*symbols]
    exprs: list[AffineExpr] = []
    for map, values in parts:
        new_dims = [AffineExpr.dimension(places_of_dims.index(v)) for v in values[: map.num_dims]]
        new_symbols = [
            AffineExpr.symbol(places_of_symbols.index(v)) for v in values[map.num_dims :]
        ]
        exprs += [e.replace_dims_and_symbols(new_dims, new_symbols) for e in map.results]
    merged = AffineMap(len(dims), len(symbols), (*exprs,))
    return Bound(merged, [*dims, *symbols], [len(map.results) for map, _ in parts])


class _MapParser(Parser):
    """The interface of our parser."""

    def parse_affine_map_of_ssa_ids(
        self, delimiter: Parser.Delimiter = Parser.Delimiter.SQUARE
    ) -> tuple[AffineMap, Sequence[SSAValue[IndexType]]]:
        raise NotImplementedError


@irdl_op_definition
class ParallelOp(ExtendedOp):
    """Run a region for all numbers in ranges with affine bounds, in any order."""

    PLAIN: ClassVar = affine.ParallelOp
    name = "affine.parallel"

    map_operands = var_operand_def(IndexType())
    reductions = prop_def(ArrayAttr)
    lower_map = prop_def(AffineMapAttr, prop_name="lowerBoundsMap")
    lower_groups = prop_def(DenseIntElementsAttr, prop_name="lowerBoundsGroups")
    upper_map = prop_def(AffineMapAttr, prop_name="upperBoundsMap")
    upper_groups = prop_def(DenseIntElementsAttr, prop_name="upperBoundsGroups")
    steps = prop_def(ArrayAttr)
    res = var_result_def()
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        # To xDSL, reductions are strings; to MLIR, numbers.
        return None if properties.get("reductions") != ArrayAttr([]) else properties

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        paren = parser.Delimiter.PAREN
        variables = parser.parse_comma_separated_list(
            paren, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        lower = _parse_bound(parser, "max")
        parser.parse_keyword("to")
        upper = _parse_bound(parser, "min")
        steps = [1] * len(variables)
        if parser.parse_optional_keyword("step") is not None:
            steps = parser.parse_comma_separated_list(paren, parser.parse_integer)
        reductions: list[int] = []
        if parser.parse_optional_keyword("reduce") is not None:
            reductions = parser.parse_comma_separated_list(paren, lambda: _parse_reduction(parser))
        types = parse_types_after_arrow(parser)
        body = parser.parse_region([variable.resolve(IndexType()) for variable in variables])
        return cls.create(
            operands=[*lower.operands, *upper.operands],
            result_types=types,
            regions=[with_terminator(body, affine.YieldOp)],
            properties={
                "reductions": ArrayAttr([IntegerAttr(kind, i64) for kind in reductions]),
                "lowerBoundsMap": AffineMapAttr(lower.map),
                "lowerBoundsGroups": _groups(lower.groups),
                "upperBoundsMap": AffineMapAttr(upper.map),
                "upperBoundsGroups": _groups(upper.groups),
                "steps": ArrayAttr([IntegerAttr(step, i64) for step in steps]),
            },
            attributes=parser.parse_optional_attr_dict(),
        )


def _parse_reduction(parser: Parser) -> int:
    """Parse the name of a way to combine results."""
    start = parser.pos
    if (name := parser.parse_str_literal()) not in REDUCTIONS:
        expected = ", ".join(REDUCTIONS)
        parser.raise_error(f"expected a reduction, one of {expected}", start, parser.pos)
    return REDUCTIONS.index(name)


def _groups(sizes: Sequence[int]) -> DenseIntElementsAttr:
    """Return the sizes of groups as a constant."""
    return DenseIntElementsAttr.from_list(TensorType(i32, [len(sizes)]), sizes)


@irdl_op_definition
class MaxOp(IRDLOperation):
    """Compute the maximum of the results of an affine map."""

    name = "affine.max"

    arguments = var_operand_def(IndexType())
    result = result_def(IndexType())
    map = prop_def(AffineMapAttr)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        start = parser.pos
        map = parser.parse_attribute()
        if not isinstance(map, AffineMapAttr):
            parser.raise_error("expected a map, affine_map<...>", start, parser.pos)
        operands, _ = parse_map_operands(parser)
        return cls.create(
            operands=operands,
            result_types=[IndexType()],
            properties={"map": map},
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.map)
        print_map_operands(printer, self.operands, self.map.data.num_dims)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        expected = self.map.data.num_dims + self.map.data.num_symbols
        if len(self.operands) != expected:
            raise VerifyException(f"expected {expected} operands, as the map says")


@irdl_op_definition
class DelinearizeIndexOp(IRDLOperation):
    """Compute the indices into a shape of the element with a number."""

    name = "affine.delinearize_index"

    linear_index = operand_def(IndexType())
    dynamic_basis = var_operand_def(IndexType())
    static_basis = prop_def(DenseArrayBase.constr(i64))
    multi_index = var_result_def(IndexType())

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        parser.parse_keyword("into")
        basis = parse_indices(parser, parser.Delimiter.PAREN)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.create(
            operands=[parser.resolve_operand(operand, IndexType()), *basis.values],
            result_types=types,
            properties={"static_basis": basis.attribute()},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.linear_index)
        printer.print_string(" into ")
        print_indices(printer, Indices.of(self.dynamic_basis, self.static_basis))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.result_types, printer.print_attribute)

    def verify_(self) -> None:
        if len(self.static_basis) not in (count := len(self.results), count - 1):
            raise VerifyException(f"expected a basis of {count - 1} or {count} numbers")


@irdl_op_definition
class LinearizeIndexOp(IRDLOperation):
    """Compute the number of the element at indices into a shape."""

    name = "affine.linearize_index"

    multi_index = var_operand_def(IndexType())
    dynamic_basis = var_operand_def(IndexType())
    static_basis = prop_def(DenseArrayBase.constr(i64))
    disjoint = opt_prop_def(UnitAttr | BoolAttr)
    linear_index = result_def(IndexType())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        is_disjoint = parser.parse_optional_keyword("disjoint") is not None
        indices = parse_indices(parser, parser.Delimiter.SQUARE)
        parser.parse_keyword("by")
        basis = parse_indices(parser, parser.Delimiter.PAREN)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        sizes = DenseArrayBase.from_list(i32, [len(indices.values), len(basis.values)])
        properties: dict[str, Attribute] = {
            "static_basis": basis.attribute(),
            "operandSegmentSizes": sizes,
        }
        if is_disjoint:
            properties["disjoint"] = UnitAttr()
        return cls.create(
            operands=[*indices.values, *basis.values],
            result_types=[parser.parse_type()],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        is_disjoint = self.disjoint not in (None, BoolAttr.from_bool(False))
        printer.print_string(" disjoint [" if is_disjoint else " [")
        printer.print_list(self.multi_index, printer.print_ssa_value)
        printer.print_string("] by ")
        print_indices(printer, Indices.of(self.dynamic_basis, self.static_basis))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.linear_index.type)

    def verify_(self) -> None:
        if len(self.static_basis) not in (count := len(self.multi_index), count - 1):
            raise VerifyException(f"expected a basis of {count - 1} or {count} numbers")


EXTENSION: tuple[type[Operation], ...] = (
    *(DelinearizeIndexOp, IfOp, LinearizeIndexOp, MaxOp, ParallelOp),
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect affine with the classes above."""
    return extended(dialect, EXTENSION)
