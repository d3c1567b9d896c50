"""The base classes of the operations of the dialect, with the text of operations on tensors."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ...passmanager.fast.creation import init_op, set_results
from ..signature import of_function_type, of_signature
from .attributes import PropertyValue, parse_attributes, print_attributes, properties_of
from .interfaces import AlongAxes, InfersType
from .shapes import normalize_axes
from .types import TENSOR, Tensor, check_number, shape_of, tensor_type

__all__ = ["OneResultOp", "RelaxOp", "SameTypeOp", "TensorOp", "define"]


class RelaxOp(IRDLOperation, ABC):
    """An operation of the dialect."""


class TensorOp(InfersType, RelaxOp, ABC):
    """A function of tensors: `relax.name %a, %b {property = 1} : (types) -> type`.

    Properties with their default value are not printed. Only the last operand definition of a
    subclass may be optional or variadic: operands are printed as one flat list. A subclass whose
    types depend on constants sets FROM_SIGNATURE to False.
    """

    FROM_SIGNATURE: ClassVar[bool] = True

    traits = traits_def(Pure())

    def __init__(
        self,
        *operands: SSAValue | Operation,
        result_types: Sequence[Attribute] | None = None,
        location: LocationAttr | None = None,
        **properties: PropertyValue,
    ):
        """Create the operation from Python values: `ConcatenateOp(x, y, axis=1)`.

        Result types that are not given are inferred: VerifyException if that fails.
        """
        init_op(
            self,
            [SSAValue.get(o) if isinstance(o, Operation) else o for o in operands],
            properties_of(type(self), properties),
            UNKNOWN_LOC if location is None else location,
        )
        set_results(self, self.inferred_types() if result_types is None else result_types)

    @classmethod
    @of_function_type
    def parse(cls, parser: Parser) -> Self:
        pos = parser.pos
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        properties, attributes = parse_attributes(parser, cls)
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands or [], type.inputs.data, pos),
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
        )

    @of_signature
    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_operand)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


class OneResultOp(TensorOp, ABC):
    """A function of tensors with one result, a tensor."""

    result = result_def(TENSOR)


class SameTypeOp(OneResultOp, ABC):
    """A function whose result has the type of its first operand.

    Where it runs along axes (`AlongAxes`), these are axes of that operand.
    """

    CHECK: ClassVar[Callable[[Tensor], None]] = check_number
    """The check of the type of the first operand."""

    def infer_types(self) -> Sequence[Attribute]:
        first = tensor_type(self.operands[0])
        type(self).CHECK(first)
        if isinstance(self, AlongAxes) and (shape := shape_of(first)) is not None:
            for name in self.AXES:
                axes: int | tuple[int, ...] = getattr(self, name)
                normalize_axes((axes,) if isinstance(axes, int) else axes, len(shape))
        return (first,)


OpT = TypeVar("OpT", bound=TensorOp)


def define(
    module: str, base: type[OpT], name: str, doc: str, *mixins: type, **members: object
) -> type[OpT]:
    """Define an operation in a module: `ExpOp` for `relax.exp`.

    It adds nothing to `base` but interfaces and class attributes. Type checkers take it for `base`:
    an operation that is used as a type is a class statement.
    """
    title = "".join(map(str.capitalize, name.rpartition(".")[2].split("_")))
    constants = dict.fromkeys((key for key in members if key.isupper()), ClassVar)
    members |= {"name": name, "__doc__": doc, "__module__": module, "__annotations__": constants}
    return irdl_op_definition(cast(type[OpT], type(f"{title}Op", (*mixins, base), members)))
