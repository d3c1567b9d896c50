"""Forms of operations of MLIR's dialect scf that xDSL does not read, and operations it lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, UnitAttr, i1, i32, i64
from xdsl.dialects.utils import parse_assignment, print_assignment
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

from .extended_op import ExtendedOp, extended, with_terminator
from .lists import (
    Indices,
    parse_indices,
    parse_types_after_arrow,
    print_indices,
    print_types_after_arrow,
)

__all__ = ["extend"]


@irdl_op_definition
class YieldOp(IRDLOperation):
    """End a region of an operation that xDSL has no class for: the yield of xDSL's has to be in
    one of its own operations."""

    name = "scf.yield"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"


def _replace_yields(regions: Sequence[Region]) -> None:
    """Replace the terminators of regions by those that need no operation of xDSL's around them."""
    for block in (block for region in regions for block in region.blocks):
        if isinstance(last := block.last_op, scf.YieldOp):
            new = YieldOp.create(
                operands=last.operands, attributes=last.attributes, location=last.location
            )
            last.detach()
            last.drop_all_references()
            block.add_op(new)


@irdl_op_definition
class IfOp(ExtendedOp):
    """Run one of two regions."""

    PLAIN: ClassVar = scf.IfOp
    name = "scf.if"

    cond = operand_def()
    output = var_result_def()
    true_region = region_def()
    false_region = region_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.parse_unresolved_operand()
        types = parse_types_after_arrow(parser)
        regions = [with_terminator(parser.parse_region(), scf.YieldOp), Region()]
        if parser.parse_optional_keyword("else") is not None:
            regions[1] = with_terminator(parser.parse_region(), scf.YieldOp)
        return cls.create(
            operands=[parser.resolve_operand(condition, i1)],
            result_types=types,
            regions=regions,
            attributes=parser.parse_optional_attr_dict(),
        )


@irdl_op_definition
class ForOp(ExtendedOp):
    """Run a region for each number in a range; this class has the loops over unsigned numbers."""

    PLAIN: ClassVar = scf.ForOp
    name = "scf.for"

    lb = operand_def()
    ub = operand_def()
    step = operand_def()
    iter_args = var_operand_def()
    res = var_result_def()
    body = region_def("single_block")
    unsigned_cmp = opt_prop_def(UnitAttr, prop_name="unsignedCmp")

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        return None if "unsignedCmp" in properties else properties

    @classmethod
    def adapt(cls, regions: Sequence[Region]) -> None:
        _replace_yields(regions)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        is_unsigned = parser.parse_optional_keyword("unsigned") is not None
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = [parser.parse_unresolved_operand()]
        for word in ("to", "step"):
            parser.parse_keyword(word)
            bounds.append(parser.parse_unresolved_operand())
        start = parser.pos
        carried: list[tuple[Parser.UnresolvedArgument, UnresolvedOperand]] = []
        types: Sequence[Attribute] = []
        if parser.parse_optional_keyword("iter_args") is not None:
            delimiter = parser.Delimiter.PAREN
            carried = parser.parse_comma_separated_list(delimiter, lambda: parse_assignment(parser))
            types = parse_types_after_arrow(parser, required=True)
        initial = parser.resolve_operands([operand for _, operand in carried], types, start)
        type: Attribute = IndexType()
        if parser.parse_optional_punctuation(":") is not None:
            type = parser.parse_type()
        operands = [parser.resolve_operand(bound, type) for bound in bounds]
        arguments = (argument for argument, _ in carried)
        inner = [argument.resolve(t) for argument, t in zip(arguments, types, strict=True)]
        body = parser.parse_region((variable.resolve(type), *inner))
        op = cls.create(
            operands=[*operands, *initial],
            result_types=types,
            regions=[body if carried else with_terminator(body, scf.YieldOp)],
            properties={"unsignedCmp": UnitAttr()} if is_unsigned else {},
            attributes=parser.parse_optional_attr_dict(),
        )
        return op

    def print(self, printer: Printer) -> None:
        variable, *inner = self.body.block.args
        printer.print_string(" unsigned " if self.unsigned_cmp is not None else " ")
        printer.print_ssa_value(variable)
        words = (" = ", " to ", " step ")
        for word, bound in zip(words, (self.lb, self.ub, self.step), strict=True):
            printer.print_string(word)
            printer.print_ssa_value(bound)
        if inner:
            printer.print_string(" iter_args(")
            printer.print_list(
                zip(inner, self.iter_args, strict=True),
                lambda pair: print_assignment(printer, *pair),
            )
            printer.print_string(") -> (")
            printer.print_list(self.result_types, printer.print_attribute)
            printer.print_string(")")
        if not isinstance(variable.type, IndexType):
            printer.print_string(" : ")
            printer.print_attribute(variable.type)
        printer.print_string(" ")
        printer.print_region(
            self.body, print_entry_block_args=False, print_block_terminators=bool(inner)
        )
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        types = [arg.type for arg in self.body.block.args]
        expected = [self.lb.type, *(value.type for value in self.iter_args)]
        if types != expected:
            raise VerifyException("its body takes the variable and the values that it carries")
        if self.ub.type != self.lb.type or self.step.type != self.lb.type:
            raise VerifyException("requires its bounds and its step to have the same type")


@irdl_op_definition
class WhileOp(ExtendedOp):
    """Run two regions alternately for as long as the first one says."""

    PLAIN: ClassVar = scf.WhileOp
    name = "scf.while"

    arguments = var_operand_def()
    res = var_result_def()
    before_region = region_def()
    after_region = region_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        carried = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_assignment(parser)
        )
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_function_type()
        types = type.inputs.data
        if len(carried := carried or []) != len(types):
            parser.raise_error(
                f"expected as many types as operands, {len(carried)}, but found {len(types)}",
                start,
                parser.pos,
            )
        arguments = [arg.resolve(t) for (arg, _), t in zip(carried, types, strict=True)]
        operands = parser.resolve_operands([operand for _, operand in carried], types, start)
        before = parser.parse_region(arguments)
        parser.parse_keyword("do")
        after = parser.parse_region()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            operands=operands,
            result_types=type.outputs.data,
            regions=[before, after],
            attributes={} if attributes is None else attributes.data,
        )


@irdl_op_definition
class ExecuteRegionOp(ExtendedOp):
    """Run a region once; this class has those that are not to be inlined."""

    PLAIN: ClassVar = scf.ExecuteRegionOp
    name = "scf.execute_region"

    outs = var_result_def()
    region = region_def()
    no_inline = opt_prop_def(UnitAttr)

    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def is_plain(
        cls,
        operands: Sequence[SSAValue],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> Mapping[str, Attribute] | None:
        return None if "no_inline" in properties else properties

    @classmethod
    def adapt(cls, regions: Sequence[Region]) -> None:
        _replace_yields(regions)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        types = parse_types_after_arrow(parser)
        is_kept = parser.parse_optional_keyword("no_inline") is not None
        return cls.create(
            result_types=types,
            regions=[parser.parse_region()],
            properties={"no_inline": UnitAttr()} if is_kept else {},
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        print_types_after_arrow(printer, self.result_types)
        printer.print_string(" no_inline " if self.no_inline is not None else " ")
        printer.print_region(self.region, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ParallelOp(ExtendedOp):
    """Run a region for all numbers in ranges, in any order."""

    PLAIN: ClassVar = scf.ParallelOp
    name = "scf.parallel"

    lower = var_operand_def(IndexType)
    upper = var_operand_def(IndexType)
    step = var_operand_def(IndexType)
    initial = var_operand_def()
    res = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        delimiter = parser.Delimiter.PAREN
        variables = parser.parse_comma_separated_list(
            delimiter, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation("=")
        bounds = [parser.parse_comma_separated_list(delimiter, parser.parse_unresolved_operand)]
        for word in ("to", "step"):
            parser.parse_keyword(word)
            bounds.append(
                parser.parse_comma_separated_list(delimiter, parser.parse_unresolved_operand)
            )
        index = IndexType()
        operands: list[SSAValue] = [
            parser.resolve_operand(v, index) for values in bounds for v in values
        ]
        initial: list[UnresolvedOperand] = []
        if parser.parse_optional_keyword("init") is not None:
            initial = parser.parse_comma_separated_list(delimiter, parser.parse_unresolved_operand)
        start = parser.pos
        types = parse_types_after_arrow(parser)
        operands += parser.resolve_operands(initial, types, start)
        body = parser.parse_region([variable.resolve(index) for variable in variables])
        sizes = DenseArrayBase.from_list(i32, [*map(len, bounds), len(initial)])
        return cls.create(
            operands=operands,
            result_types=types,
            regions=[with_terminator(body, scf.ReduceOp)],
            properties={"operandSegmentSizes": sizes},
            attributes=parser.parse_optional_attr_dict(),
        )


@irdl_op_definition
class IndexSwitchOp(ExtendedOp):
    """Run the region of a number, or the default one; regions without results need no yield."""

    PLAIN: ClassVar = scf.IndexSwitchOp
    name = "scf.index_switch"

    arg = operand_def(IndexType)
    cases = prop_def(DenseArrayBase.constr(i64))
    output = var_result_def()
    default_region = region_def("single_block")
    case_regions = var_region_def("single_block")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        arg = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if parser.parse_optional_punctuation("->") is not None:
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        numbers: list[int] = []
        regions: list[Region] = []
        while parser.parse_optional_keyword("case") is not None:
            numbers.append(parser.parse_integer())
            regions.append(with_terminator(parser.parse_region(), scf.YieldOp))
        parser.parse_keyword("default")
        default = with_terminator(parser.parse_region(), scf.YieldOp)
        return cls.create(
            operands=[parser.resolve_operand(arg, IndexType())],
            result_types=types,
            regions=[default, *regions],
            properties={"cases": DenseArrayBase.from_list(i64, numbers)},
            attributes=attributes,
        )


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """End the body of a loop over threads with the operations that combine their results."""

    name = "scf.forall.in_parallel"

    region = region_def("single_block")

    traits = lazy_traits_def(lambda: (HasParent(ForallOp), IsTerminator(), NoTerminator(), Pure()))

    def is_empty(self) -> bool:
        """Return whether it combines nothing."""
        return not self.attributes and all(block.first_op is None for block in self.region.blocks)

    @classmethod
    def create_empty(cls) -> Self:
        """Create one that combines nothing."""
        return cls.create(regions=[Region(Block())])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        region = parser.parse_region()
        if region.first_block is None:
            region.add_block(Block())
        return cls.create(regions=[region], attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.region, print_entry_block_args=False, print_empty_block=False)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ForallOp(IRDLOperation):
    """Run a region once for each thread; each thread writes to its part of tensors."""

    name = "scf.forall"

    lower = var_operand_def(IndexType)
    upper = var_operand_def(IndexType)
    step = var_operand_def(IndexType)
    outputs = var_operand_def()
    static_lower = prop_def(DenseArrayBase.constr(i64), prop_name="staticLowerBound")
    static_upper = prop_def(DenseArrayBase.constr(i64), prop_name="staticUpperBound")
    static_step = prop_def(DenseArrayBase.constr(i64), prop_name="staticStep")
    mapping = opt_prop_def()
    res = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(SingleBlockImplicitTerminator(InParallelOp), RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        delimiter = parser.Delimiter.PAREN
        variables = parser.parse_comma_separated_list(
            delimiter, lambda: parser.parse_argument(expect_type=False)
        )
        count = len(variables)
        lower, step = Indices([], [0] * count), Indices([], [1] * count)
        if parser.parse_optional_keyword("in") is not None:
            upper = parse_indices(parser, delimiter)
        else:
            parser.parse_punctuation("=")
            lower = parse_indices(parser, delimiter)
            parser.parse_keyword("to")
            upper = parse_indices(parser, delimiter)
            parser.parse_keyword("step")
            step = parse_indices(parser, delimiter)
        shared: list[tuple[Parser.UnresolvedArgument, UnresolvedOperand]] = []
        types: Sequence[Attribute] = []
        start = parser.pos
        if parser.parse_optional_keyword("shared_outs") is not None:
            shared = parser.parse_comma_separated_list(delimiter, lambda: parse_assignment(parser))
            types = parse_types_after_arrow(parser, required=True)
        outputs = parser.resolve_operands([operand for _, operand in shared], types, start)
        index = IndexType()
        arguments = [variable.resolve(index) for variable in variables]
        arguments += [arg.resolve(t) for (arg, _), t in zip(shared, types, strict=True)]
        body = parser.parse_region(arguments)
        if (block := body.last_block) is None:
            body.add_block(block := Block())
        if (last := block.last_op) is None or not isinstance(last, InParallelOp):
            block.add_op(InParallelOp.create_empty())
        attributes = parser.parse_optional_attr_dict()
        properties: dict[str, Attribute] = {
            "staticLowerBound": lower.attribute(),
            "staticUpperBound": upper.attribute(),
            "staticStep": step.attribute(),
            "operandSegmentSizes": DenseArrayBase.from_list(
                i32, [*(len(b.values) for b in (lower, upper, step)), len(outputs)]
            ),
        }
        if (mapping := attributes.pop("mapping", None)) is not None:
            properties["mapping"] = mapping
        return cls.create(
            operands=[*lower.values, *upper.values, *step.values, *outputs],
            result_types=types,
            regions=[body],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        args = self.body.block.args
        count = len(self.static_upper)
        lower = Indices.of(self.lower, self.static_lower)
        upper = Indices.of(self.upper, self.static_upper)
        step = Indices.of(self.step, self.static_step)
        printer.print_string(" (")
        printer.print_list(args[:count], printer.print_ssa_value)
        if lower.numbers == [0] * count and step.numbers == [1] * count:
            printer.print_string(") in ")
            print_indices(printer, upper)
        else:
            for word, indices in ((") = ", lower), (" to ", upper), (" step ", step)):
                printer.print_string(word)
                print_indices(printer, indices)
        if outputs := self.outputs:
            printer.print_string(" shared_outs(")
            printer.print_list(
                zip(args[count:], outputs, strict=True),
                lambda pair: print_assignment(printer, *pair),
            )
            printer.print_string(") -> (")
            printer.print_list(self.result_types, printer.print_attribute)
            printer.print_string(")")
        printer.print_string(" ")
        end = self.body.block.last_op
        is_bare = isinstance(end, InParallelOp) and end.is_empty() and not outputs
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=not is_bare,
        )
        mapping = {} if self.mapping is None else {"mapping": self.mapping}
        printer.print_op_attributes({**self.attributes, **mapping})

    def verify_(self) -> None:
        count = len(self.static_upper)
        if not len(self.static_lower) == len(self.static_step) == count:
            raise VerifyException("requires as many lower bounds and steps as upper bounds")
        types = [arg.type for arg in self.body.block.args]
        if types != [IndexType()] * count + [value.type for value in self.outputs]:
            raise VerifyException("its body takes an index for each loop, and the shared outputs")
        if [*self.result_types] != types[count:]:
            raise VerifyException("requires results of the types of its outputs")


EXTENSION: tuple[type[Operation], ...] = (
    *(ExecuteRegionOp, ForOp, ForallOp, IfOp, IndexSwitchOp, InParallelOp, ParallelOp, WhileOp),
)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect scf with the classes above."""
    return extended(dialect, EXTENSION)
