"""Constant tensors: `relax.constant` with all elements, `relax.full` with one value for all."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from math import isfinite, prod
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

from typing_extensions import TypeIs
from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    ParamAttrConstraint,
    VarConstraint,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from ...passmanager.fast.creation import init_op, set_results
from ...passmanager.releases.floats import byte_size, print_float, rounded, unpack
from ..signature import of_signature
from .base import RelaxOp
from .types import (
    Float,
    SmallFloat,
    check_element,
    is_integer,
    is_ranked,
    static_shape,
    tensor_type,
)

__all__ = [
    "ConstantOp",
    "FullOp",
    "MaterializeConstant",
    "Number",
    "constant_elements",
    "constant_integers",
    "constant_number",
    "is_dense",
    "is_number",
]

Number: TypeAlias = FloatAttr | IntegerAttr[IntegerType]


@runtime_checkable
class _PrintsDense(Protocol):
    """A printer with its own text for dense constants, such as `ExactPrinter`."""

    def print_dense(self, dense: DenseIntOrFPElementsAttr) -> None: ...


@irdl_op_definition
class ConstantOp(RelaxOp, HasFolderInterface):
    """A tensor given by its elements, which are stored as bytes.

    `%c = relax.constant dense<elements> : tensor<4xf32>`.
    """

    name = "relax.constant"

    _T: ClassVar = VarConstraint("T", AnyTensorTypeConstr)

    value = prop_def(ParamAttrConstraint(DenseIntOrFPElementsAttr, (_T, AnyAttr())))
    result = result_def(_T)

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: DenseIntOrFPElementsAttr):
        init_op(self, (), {"value": value})
        set_results(self, (value.type,))

    @of_signature
    def verify_(self) -> None:
        check_element(self.result.type)

    def fold(self) -> Sequence[SSAValue | Attribute]:
        return (self.value,)

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        pos = parser.pos
        value = parser.parse_attribute()
        # A resource stands at the end of the file: the parser replaces the reference by its
        # elements when it gets there.
        if not is_dense(value) and not isinstance(value, DenseResourceAttr):
            parser.raise_error("expected a dense constant", pos, parser.pos)
        return cls.create(
            properties={"value": value}, attributes=attributes, result_types=[value.get_type()]
        )

    @of_signature
    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        if isinstance(printer, _PrintsDense):
            return printer.print_dense(self.value)
        printer.print_string(f"{dense_text(self.value)} : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class FullOp(RelaxOp, HasFolderInterface):
    """A tensor filled with one number, which is stored once (`numpy.full`).

    `%c = relax.full number : tensor<4xf32>`.
    """

    name = "relax.full"

    value = prop_def(Number)
    result = result_def(AnyTensorTypeConstr)

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: Number, result_type: TensorType[Attribute]):
        init_op(self, (), {"value": value})
        set_results(self, (result_type,))

    @of_signature
    def verify_(self) -> None:
        type = self.result.type
        check_element(type)
        if static_shape(type) is None:
            raise VerifyException(f"result type {type} has unknown dimensions")
        if self.value.type != type.element_type:
            raise VerifyException(f"value {self.value} is not an element of {type}")

    def fold(self) -> Sequence[SSAValue | Attribute]:
        return (self.value,)

    @classmethod
    def parse(cls, parser: Parser) -> FullOp:
        attributes = parser.parse_optional_attr_dict()
        start = parser.pos
        number = parser.parse_number(allow_boolean=True)
        literal = parser.lexer.input.slice(start, parser.pos) or ""
        parser.parse_punctuation(":")
        type_pos = parser.pos
        type = parser.parse_type()
        if not is_ranked(type):
            parser.raise_error("expected a ranked tensor type", type_pos, parser.pos)
        value = number_attr(number, literal.startswith("0x"), type.element_type)
        if value is None:
            parser.raise_error(f"not an element of {type}", start, type_pos)
        op = cls(value, type)
        op.attributes |= attributes
        return op

    @of_signature
    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        if isinstance(number := self.value, FloatAttr):
            print_float(printer, number.value.data, number.type)
        else:
            number.print_without_type(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


class MaterializeConstant(ConstantMaterializationInterface):
    """The dialect interface through which xDSL's folders create constants."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        if is_dense(value) and value.type == type:
            return ConstantOp(value)
        if is_number(value) and is_ranked(type):
            return FullOp(value, type)
        return None


def constant_elements(value: SSAValue) -> tuple[float, ...] | None:
    """Return the elements of a constant tensor in row-major order; None if it is not constant."""
    known = ConstantLike.get_constant_value(value)
    if known is None:
        return None
    if is_dense(known):
        numbers = known.type.element_type.unpack(known.data.data, len(known))
        return tuple(n for n in numbers if not isinstance(n, tuple))
    shape = static_shape(value.type)
    if not is_number(known) or shape is None:
        return None
    return (known.value.data,) * prod(shape)


def constant_integers(value: SSAValue) -> tuple[int, ...] | None:
    """Return the elements of a constant integer tensor, row-major; None if it is not constant."""
    numbers = constant_elements(value)
    return None if numbers is None else tuple(n for n in numbers if isinstance(n, int))


def constant_number(value: SSAValue) -> Number | None:
    """Return the number in a constant scalar; None if `value` is not constant."""
    numbers, element = constant_elements(value), tensor_type(value).element_type
    return number_attr(numbers[0], is_bits=False, type=element) if numbers else None


def is_dense(value: Attribute) -> TypeIs[DenseIntOrFPElementsAttr]:
    """Return whether `value` holds the elements of a dense constant."""
    return isinstance(value, DenseIntOrFPElementsAttr)


def is_number(value: Attribute) -> TypeIs[Number]:
    """Return whether `value` can be the value of a fill."""
    return isinstance(value, FloatAttr | IntegerAttr)


def number_attr(value: float, is_bits: bool, type: Attribute) -> Number | None:
    """Return the attribute of a number literal; None if the literal is not valid for `type`.

    `is_bits` says that the literal is hexadecimal: for a float type its digits are the bits.
    """
    if is_integer(type) and isinstance(value, int):
        number = type.normalized_value(value)
        return None if number is None else IntegerAttr(number, type)
    if not isinstance(type, Float | SmallFloat):
        return None
    if is_bits and isinstance(value, int):
        if value >> type.bitwidth:
            return None
        (value,) = unpack(type, value.to_bytes(byte_size(type), "little"), 1)
    try:
        number = FloatAttr(rounded(float(value), type), type)
    except OverflowError:  # until xDSL 0.74; then it is infinity
        return None
    return number if is_bits or isfinite(number.value.data) else None


# xDSL 0.74 prints a float that has no short decimal form as its bits in hexadecimal, but parses
# them as a number; it also prints [0.0, -0.0] as the splat 0.0. Both would change the constant.
def dense_text(value: DenseIntOrFPElementsAttr) -> str:
    """Return the text of a dense constant without its type, exact when parsed again.

    Constants that xDSL's text would change, or with more than 100 different elements, are printed
    as one hexadecimal string of their bytes.
    """
    data, count = value.data.data, len(value)
    if count > 1 and data[: len(data) // count] * count == data:
        data, count = data[: len(data) // count], 1
        value = DenseIntOrFPElementsAttr(TensorType(value.type.element_type, [1]), BytesAttr(data))
    if count <= 100:
        text = StringIO()
        value.print_without_type(Printer(text))
        if "0x" not in text.getvalue() and (count <= 1 or "[" in text.getvalue()):
            return text.getvalue()
    return f'dense<"0x{data.hex().upper()}">'
