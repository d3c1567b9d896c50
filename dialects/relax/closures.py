"""Functions as values: lambdas, closures of functions of the module, and their calls."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, FunctionType, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import AbstractYieldOperation
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.region_utils import iter_used_values_defined_above
from xdsl.irdl import (
    BaseAttr,
    irdl_op_definition,
    lazy_traits_def,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsTerminator,
    Pure,
    ReturnLike,
    SingleBlockImplicitTerminator,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ...passmanager.ir.calls import ValueCall
from ..signature import of_signature
from .base import RelaxOp
from .interfaces import InfersType, NonComputational
from .types import refine

__all__ = ["InvokeOp", "LambdaOp", "MakeClosureOp", "YieldOp"]


# The text and the terminator of operations with one region: `-> (types) { ... }`.


def parse_results(parser: Parser) -> Sequence[Attribute]:
    """Parse the result types before a region: `-> type`, `-> (types)` or nothing."""
    if parser.parse_optional_punctuation("->") is None:
        return ()
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


def print_results(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print the result types before a region.

    A single function type needs parentheses, as in MLIR: `-> (() -> i1)`.
    """
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1 and not isinstance(types[0], FunctionType):
        printer.print_attribute(types[0])
        return
    with printer.in_parens():
        printer.print_list(types, printer.print_attribute)


def check_terminator(end: Operation | None, types: Sequence[Attribute]) -> None:
    """Raise VerifyException unless the terminator `end` of a region has operands of these types."""
    given = () if end is None else end.operand_types
    if list(given) != list(types):
        raise VerifyException(
            f"has results of types ({', '.join(map(str, types))}), "
            f"but its region ends with ({', '.join(map(str, given))})"
        )


def parse_body(
    parser: Parser,
    arguments: Sequence[Parser.Argument],
    end: type[AbstractYieldOperation[Attribute]],
) -> Region:
    """Parse a region of one block and return it.

    `arguments` are the block arguments. The terminator, of class `end`, may be omitted if it has no
    operands.
    """
    region = parser.parse_region(arguments)
    block = region.block
    if block.last_op is None or not block.last_op.has_trait(
        IsTerminator, value_if_unregistered=False
    ):
        block.add_op(end())
    return region


def print_body(printer: Printer, op: Operation, body: Region, results: Sequence[Attribute]) -> None:
    """Print the result types, the attributes and the region of an operation."""
    print_results(printer, results)
    printer.print_op_attributes(op.attributes, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False, print_block_terminators=bool(results))


FUNCTION = BaseAttr(FunctionType)


class LambdaCallable(CallableOpInterface):
    """The callable interface of a lambda: its body is a function that runs when it is invoked."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, LambdaOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, LambdaOp)
        return op.result.type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, LambdaOp)
        return op.result.type.outputs.data


@irdl_op_definition
class LambdaOp(RelaxOp):
    """An anonymous function as a value; its body captures values from the enclosing regions.

    `%f = relax.lambda(%x: type) -> type { ... relax.yield %0 : type }`. The body runs when
    `relax.invoke` calls the value. A lambda cannot refer to itself: recursive functions are
    `func.func`.
    """

    name = "relax.lambda"

    body = region_def("single_block")
    result = result_def(FUNCTION)

    traits = lazy_traits_def(
        lambda: (LambdaCallable(), Pure(), SingleBlockImplicitTerminator(YieldOp))
    )

    def __init__(self, body: Region | Block, results: Sequence[Attribute]):
        region = body if isinstance(body, Region) else Region(body)
        type = FunctionType.from_lists(region.block.arg_types, results)
        super().__init__(regions=[region], result_types=[type])

    def captured(self) -> list[SSAValue]:
        """Return the values from above that the body uses, in the order of their first use."""
        return [*dict.fromkeys(iter_used_values_defined_above(self.body))]

    def verify_(self) -> None:
        type = self.result.type
        if (arguments := self.body.block.arg_types) != type.inputs.data:
            raise VerifyException(
                f"has type {type}, but its body takes ({', '.join(map(str, arguments))})"
            )
        check_terminator(self.body.block.last_op, type.outputs.data)

    @classmethod
    def parse(cls, parser: Parser) -> LambdaOp:
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_argument(parser)
        )
        results = parse_results(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        op = cls(parse_body(parser, arguments, YieldOp), results)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        print_body(printer, self, self.body, self.result.type.outputs.data)


def _parse_argument(parser: Parser) -> Parser.Argument:
    """Parse an argument with its type, and its location if it has one."""
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


@irdl_op_definition
class YieldOp(AbstractYieldOperation[Attribute]):
    """The terminator of a `relax.lambda`, with its results."""

    name = "relax.yield"

    traits = traits_def(HasParent(LambdaOp), IsTerminator(), Pure(), ReturnLike())


@irdl_op_definition
class InvokeOp(InfersType, RelaxOp):
    """A call of a function value: `relax.invoke %f(%x) : (type) -> type`, with the type of `%f`.

    Like `func.call`, it may have side effects.
    """

    name = "relax.invoke"

    callee = operand_def(FUNCTION)
    arguments = var_operand_def()
    res = var_result_def()

    traits = traits_def(ValueCall())

    def __init__(self, callee: SSAValue | Operation, arguments: Sequence[SSAValue | Operation]):
        callee = SSAValue.get(callee)
        outputs = callee.type.outputs.data if isinstance(callee.type, FunctionType) else ()
        super().__init__(operands=[callee, arguments], result_types=[outputs])

    def infer_types(self) -> Sequence[Attribute]:
        if not isinstance(type := self.callee.type, FunctionType):
            raise VerifyException(f"expected a function, got {type}")
        inputs, given = type.inputs.data, self.arguments.types
        if (count := len(inputs)) != len(given):
            takes = f"the function of type {type} takes {count} argument{'s' * (count != 1)}"
            verb = "is" if len(given) == 1 else "are"
            raise VerifyException(f"{takes}, but {len(given)} {verb} given")
        for number, (expected, found) in enumerate(zip(inputs, given, strict=True)):
            if refine(expected, found) is None:
                raise VerifyException(
                    f"argument {number} of the function is {expected}, but {found} is given"
                )
        return type.outputs.data

    def verify_(self) -> None:
        outputs = self.infer_types()
        called = FunctionType.from_lists(self.arguments.types, self.res.types)
        if list(outputs) != list(self.res.types) or called != self.callee.type:
            raise VerifyException(f"calls a function of type {self.callee.type} as {called}")

    @classmethod
    def parse(cls, parser: Parser) -> InvokeOp:
        callee = parser.parse_unresolved_operand()
        pos = parser.pos
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        op = cls(
            parser.resolve_operand(callee, type),
            parser.resolve_operands(arguments, type.inputs.data, pos),
        )
        op.attributes |= attributes
        return op

    @of_signature
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.callee)
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.callee.type)


class MakeClosureSymbolUse(SymbolUserOpInterface):
    """The check that the callee is a `func.func` whose first parameters are the captured values."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, MakeClosureOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if callee is None:
            raise VerifyException(f"refers to {op.callee}, which is not a symbol of the module")
        if not isinstance(callee, FuncOp):
            raise VerifyException(
                f"refers to {op.callee}, which is a '{callee.name}', not a function"
            )
        captured, inputs = op.captured.types, callee.function_type.inputs.data
        if inputs[: len(captured)] != captured:
            raise VerifyException(
                f"captures ({', '.join(map(str, captured))}), but the first parameters of "
                f"{op.callee} are ({', '.join(map(str, inputs[: len(captured)]))})"
            )
        closure = op.closure_type(callee.function_type)
        if refine(op.result.type, closure) is None:
            raise VerifyException(
                f"has type {op.result.type}, but a closure of {op.callee} has type {closure}"
            )


@irdl_op_definition
class MakeClosureOp(NonComputational, RelaxOp):
    """A closure of a function of the module over its first arguments (`relax.make_closure`).

    `%f = relax.make_closure @g(%a) : (type) -> ((type) -> type)`; then `relax.invoke %f(%x)` is
    `func.call @g(%a, %x)`. `lambda-lift` replaces lambdas by closures unless all their uses are
    calls.
    """

    name = "relax.make_closure"

    callee = prop_def(FlatSymbolRefAttrConstr)
    captured = var_operand_def()
    result = result_def(FUNCTION)

    traits = traits_def(Pure(), MakeClosureSymbolUse())

    # `functional-type` would print the function type of the result without parentheses.
    assembly_format = (
        "$callee `(` $captured `)` attr-dict `:` `(` type($captured) `)` `->` `(` type($result) `)`"
    )

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        captured: Sequence[SSAValue | Operation],
        type: FunctionType,
    ):
        super().__init__(
            operands=[captured],
            properties={"callee": SymbolRefAttr(callee) if isinstance(callee, str) else callee},
            result_types=[type],
        )

    def closure_type(self, callee: FunctionType) -> FunctionType:
        """Return the type of the closure: that of the callee without the captured parameters."""
        return FunctionType.from_lists(
            callee.inputs.data[len(self.captured) :], callee.outputs.data
        )
