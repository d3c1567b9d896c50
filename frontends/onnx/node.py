"""A node of a model, as its converter sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias, TypeVar

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto
from onnx.defs import OpSchema
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relax import Relax
from ...dialects.relax.attributes import PropertyValue
from ...dialects.relax.base import TensorOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.shapes import Shape, is_static, shape_text
from ...dialects.relax.types import Element, Tensor, is_number, shape_of, tensor_type
from ...interpreters.arrays import Array
from .builder import Builder
from .errors import Unsupported
from .schemas import default_attribute
from .scopes import Scope
from .types import tensor_of
from .values import tensor_constant, viewed

__all__ = ["Converter", "Converters", "Node"]


Choice = TypeVar("Choice")


class Node:
    """A node with its inputs as values; the operations that it makes get its name as location."""

    def __init__(
        self,
        importer: Builder,
        scope: Scope,
        proto: NodeProto,
        schema: OpSchema,
        opset: int,
        inputs: Sequence[SSAValue | None],
        location: LocationAttr,
    ) -> None:
        self.importer = importer
        self.scope = scope
        self.proto = proto
        self.opset = opset
        self.inputs = inputs
        self.location = location
        self._schema = schema
        self._attributes = {attribute.name: attribute for attribute in proto.attribute}

    # Inputs and outputs

    def has(self, index: int) -> bool:
        """Whether an optional input is given."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def input(self, index: int) -> SSAValue:
        """An input; Unsupported if it is not given."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            parameters = self._schema.inputs
            name = parameters[min(index, len(parameters) - 1)].name
            raise Unsupported(f"input {index} ({name}) is missing")
        return value

    def all_inputs(self) -> list[SSAValue]:
        """The inputs of a node that takes any number."""
        return [self.input(i) for i in range(len(self.inputs))]

    def wants(self, index: int) -> bool:
        """Whether an optional output has a name."""
        return index < len(self.proto.output) and self.proto.output[index] != ""

    def constant(self, index: int) -> Array | None:
        """The elements of an input that depends on constants alone; None for any other input, and
        for one that is not given."""
        return self.importer.array(self.input(index)) if self.has(index) else None

    def ints_of(self, index: int) -> list[int] | None:
        """The elements of an input of integers that depends on constants alone."""
        array = self.constant(index)
        return None if array is None else [int(number) for number in array.reshape(-1)]

    def int_of(self, index: int) -> int | None:
        """The number in an input of one integer that depends on constants alone."""
        numbers = self.ints_of(index)
        return numbers[0] if numbers and len(numbers) == 1 else None

    def number_of(self, index: int) -> float | None:
        """The number in an input of one element that depends on constants alone."""
        array = self.constant(index)
        if array is None:
            return None
        if array.size != 1:
            raise Unsupported(f"input {index} has {array.size} elements, expected one")
        return array.item()

    # Types

    def type(self, value: SSAValue | int) -> Tensor:
        """The type of a value, or of the input of that number."""
        return tensor_type(self.input(value) if isinstance(value, int) else value)

    def element(self, value: SSAValue | int) -> Element:
        """The element type of a value."""
        element = self.type(value).element_type
        assert is_number(element)
        return element

    def shape(self, value: SSAValue | int) -> Shape:
        """The shape of a value; Unsupported if its rank is not known."""
        if (shape := shape_of(self.type(value))) is None:
            raise Unsupported("the rank of an input is not known")
        return shape

    def static_shape(self, value: SSAValue | int) -> Shape:
        """The shape of a value; Unsupported if a dimension is not known."""
        if not is_static(shape := self.shape(value)):
            raise Unsupported(f"input of shape {shape_text(shape)}: its dimensions must be known")
        return shape

    def sizes(self, value: SSAValue | int, rank: int) -> Shape:
        """The shape of a value; Unsupported if it has not that rank, or is not known."""
        shape = self.static_shape(value)
        if len(shape) != rank:
            raise Unsupported(f"input of shape {shape_text(shape)}, expected {rank} dimensions")
        return shape

    def rank(self, value: SSAValue | int) -> int:
        """The rank of a value; Unsupported if it is not known."""
        return len(self.shape(value))

    def axis(self, axis: int, value: SSAValue | int) -> int:
        """An axis of a value, counted from the start; Unsupported if it has none of that number."""
        rank = self.rank(value)
        if not -rank <= axis < rank:
            raise Unsupported(f"axis {axis} of a tensor of rank {rank}")
        return axis % rank

    # Attributes, with ONNX's defaults

    def attribute(self, name: str) -> AttributeProto | None:
        """An attribute, or its default; None if it has none."""
        if (attribute := self._attributes.get(name)) is not None:
            return attribute
        return default_attribute(self._schema, name)

    def given(self, name: str) -> bool:
        """Whether an attribute is written."""
        return name in self._attributes

    def int(self, name: str, default: int = 0) -> int:
        attribute = self.attribute(name)
        return default if attribute is None else attribute.i

    def opt_int(self, name: str) -> int | None:
        attribute = self.attribute(name)
        return None if attribute is None else attribute.i

    def bool(self, name: str) -> bool:
        return bool(self.int(name))

    def float(self, name: str, default: float = 0.0) -> float:
        """An attribute that is an f32, as the shortest decimal that is that f32: 0.1."""
        attribute = self.attribute(name)
        return default if attribute is None else float(str(np.float32(attribute.f)))

    def opt_float(self, name: str) -> float | None:
        return None if self.attribute(name) is None else self.float(name)

    def floats(self, name: str) -> list[float] | None:
        attribute = self.attribute(name)
        if attribute is None:
            return None
        return [float(str(np.float32(number))) for number in attribute.floats]

    def ints(self, name: str) -> list[int] | None:
        attribute = self.attribute(name)
        return None if attribute is None else list(attribute.ints)

    def string(self, name: str, default: str = "") -> str:
        attribute = self.attribute(name)
        return default if attribute is None else attribute.s.decode(errors="replace")

    def choice(self, name: str, known: Mapping[str, Choice], default: str) -> Choice:
        """What a string attribute chooses; Unsupported if it is none of those known."""
        if (given := self.string(name, default)) not in known:
            raise Unsupported(f"{name} = '{given}'; supported are {', '.join(known)}")
        return known[given]

    def per_axis(self, name: str, count: int, default: int) -> list[int]:
        """A list attribute with a number for each of so many axes."""
        numbers = self.ints(name) or [default] * count
        if len(numbers) != count:
            raise Unsupported(f"{name} = {numbers}, expected {count} numbers")
        return numbers

    def tensor(self, name: str) -> TensorProto | None:
        attribute = self.attribute(name)
        return None if attribute is None else attribute.t

    def graph(self, name: str) -> GraphProto:
        attribute = self.attribute(name)
        if attribute is None:
            raise Unsupported(f"attribute '{name}' is missing")
        return attribute.g

    def convert_graph(self, name: str, inputs: Sequence[SSAValue] = ()) -> list[SSAValue]:
        """Convert the graph that is an attribute at the end of the current block; its outputs."""
        return self.importer.convert_subgraph(self.graph(name), self.scope, inputs)

    # Operations

    def ops(
        self,
        name: str,
        *operands: SSAValue,
        result_types: Sequence[Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Sequence[SSAValue]:
        """Make the operation `relax.<name>`; returns its results."""
        op = operation(name)(
            *operands, result_types=result_types, location=self.location, **properties
        )
        if result_types is not None:
            op.verify_()
        return self.importer.add(op).results

    def op(self, name: str, *operands: SSAValue, **properties: PropertyValue) -> SSAValue:
        """Make the operation `relax.<name>`; returns its result."""
        return self.ops(name, *operands, result_types=None, **properties)[0]

    def add(self, op: Operation) -> Operation:
        """Add an operation of another dialect."""
        op.location = self.location
        return self.importer.add(op)

    def full(self, value: float, element: Element, shape: Shape = ()) -> SSAValue:
        """A tensor whose elements are all that number."""
        return self.importer.full(value, tensor_of(element, shape), element)

    def like(self, value: float, other: SSAValue) -> SSAValue:
        """A scalar of the element type of another value."""
        return self.full(value, self.element(other))

    def array(self, array: Array | Sequence[int], element: Element) -> SSAValue:
        """A constant with these elements."""
        return self.importer.constant(np.asarray(array), element)

    def tensor_constant(self, tensor: TensorProto) -> SSAValue:
        """A tensor of the model as a constant."""
        op = tensor_constant(tensor, self.importer.files)
        op.location = self.location
        return self.importer.add_constant((op,), lambda: op)

    def along_channels(self, vector: SSAValue, rank: int) -> SSAValue:
        """A vector with its dimension where a tensor of that rank has its channels; a constant is
        seen in that shape, and not copied."""
        shape = (self.shape(vector)[0], *[1] * (rank - 2))
        match vector.owner:
            case FullOp() as full:
                return self.full(full.value.value.data, self.element(vector), shape)
            case ConstantOp() as constant:
                return self.importer.add_constant(
                    (constant, shape), lambda: viewed(constant, shape)
                )
            case _:
                return self.op("reshape", vector, newshape=[-1, *shape[1:]])

    def cast(self, value: SSAValue, element: Element) -> SSAValue:
        """The value with its elements converted, or itself."""
        if self.type(value).element_type == element:
            return value
        return self.op("astype", value, dtype=element)


Converter: TypeAlias = Callable[[Node], Sequence[SSAValue | None]]
"""Makes the operations for a node; gives the values of its outputs, None for one that it cannot
give; Unsupported if it cannot be converted."""

Converters: TypeAlias = dict[str, Converter]


@cache
def operations() -> dict[str, type[TensorOp]]:
    """The operations of relax on tensors, by name."""
    ops = (op for op in Relax.operations if issubclass(op, TensorOp))
    return {op.name.removeprefix("relax."): op for op in ops}


def operation(name: str) -> type[TensorOp]:
    if name not in operations():
        raise Unsupported(f"relax.{name} does not exist")
    return operations()[name]
