"""A node of a model, as its converter sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from onnx import AttributeProto, GraphProto, NodeProto, TensorProto
from onnx.defs import OpSchema
from onnx.helper import make_attribute
from xdsl.dialects.builtin import DYNAMIC_INDEX, LocationAttr
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.relax.attributes import PropertyValue
from ....dialects.relax.base import TensorOp
from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.expression import TensorExpression, operations
from ....dialects.relax.interfaces import View
from ....dialects.relax.shapes import Shape, is_static, shape_text
from ....dialects.relax.types import (
    Element,
    Tensor,
    is_element,
    refine,
    shape_of,
    static_shape,
    tensor_type,
    with_shape,
)
from ....passmanager.context import PassContext
from ....passmanager.limits import too_many_elements
from ...interpreters.arrays import Array
from .builder import Builder
from .errors import Unsupported
from .schemas import default_attribute
from .values import GraphScope, tensor_constant, viewed

__all__ = ["Converter", "Converters", "Node", "Output", "direct", "outputs_of"]


Choice = TypeVar("Choice")


@dataclass(eq=False)
class Node:
    """A node with its inputs as values; operations created through it have its name as location."""

    importer: Builder
    scope: GraphScope
    proto: NodeProto
    schema: OpSchema
    opset: int
    inputs: Sequence[SSAValue | None]
    location: LocationAttr

    def __post_init__(self) -> None:
        self._attributes = {attribute.name: attribute for attribute in self.proto.attribute}

    def alike(
        self,
        inputs: Sequence[SSAValue | None],
        *,
        opset: int | None = None,
        **ints: Sequence[int],
    ) -> Node:
        """Return the node with other inputs, in another opset, or with other lists of integers as
        attributes: one that another converter can convert."""
        node = copy(self)
        node.inputs = inputs
        node.opset = self.opset if opset is None else opset
        changed = {name: make_attribute(name, numbers) for name, numbers in ints.items()}
        node._attributes = {**self._attributes, **changed}
        return node

    def warn(self, text: str) -> None:
        """Tell the user something of the node."""
        proto = self.proto
        self.importer.warn(f"node '{proto.name or proto.output[0]}' ({proto.op_type}): {text}")

    # Inputs and outputs

    def has(self, index: int) -> bool:
        """Return whether an optional input is present."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def input(self, index: int) -> SSAValue:
        """Return an input; Unsupported if it is absent."""
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            parameters = self.schema.inputs
            name = parameters[min(index, len(parameters) - 1)].name
            raise Unsupported(f"input {index} ({name}) is missing")
        return value

    def all_inputs(self) -> list[SSAValue]:
        """Return the inputs of a variadic node."""
        return [self.input(i) for i in range(len(self.inputs))]

    def wants(self, index: int) -> bool:
        """Return whether an optional output is used."""
        return index < len(self.proto.output) and self.proto.output[index] != ""

    def constant(self, index: int) -> Array | None:
        """Return the elements of an input that depends on constants alone; None for any other or
        absent input."""
        return self.importer.array(self.input(index)) if self.has(index) else None

    def partly(self, index: int) -> list[int | None] | None:
        """Return the elements of an input of integers that depend on known sizes, None for the
        others; None if no element is known."""
        return self.importer.values.partly(self.input(index))

    def ints_of(self, index: int) -> list[int] | None:
        """Return the elements of a constant input of integers, or None."""
        array = self.constant(index)
        return None if array is None else [int(number) for number in array.reshape(-1).tolist()]

    def int_of(self, index: int) -> int | None:
        """Return the element of a constant input of one integer, or None."""
        numbers = self.ints_of(index)
        return numbers[0] if numbers and len(numbers) == 1 else None

    def number_of(self, index: int) -> float | None:
        """Return the element of a constant input of one number, or None."""
        array = self.constant(index)
        if array is None:
            return None
        if array.size != 1:
            raise Unsupported(f"input {index} has {array.size} elements, expected one")
        return array.item()

    # Types

    def type(self, value: SSAValue | int) -> Tensor:
        """Return the type of a value, or of the input with this index."""
        return tensor_type(self.input(value) if isinstance(value, int) else value)

    def element(self, value: SSAValue | int) -> Element:
        """Return the element type of a value."""
        element = self.type(value).element_type
        assert is_element(element)
        return element

    def shape(self, value: SSAValue | int) -> Shape:
        """Return the shape of a value; Unsupported if its rank is unknown."""
        if (shape := shape_of(self.type(value))) is None:
            raise Unsupported("the rank of an input is not known")
        return shape

    def static_shape(self, value: SSAValue | int) -> Shape:
        """Return the shape of a value; Unsupported if a dimension is unknown."""
        if not is_static(shape := self.shape(value)):
            raise Unsupported(f"input of shape {shape_text(shape)}: its dimensions must be known")
        return shape

    def narrowed(self, value: SSAValue, shape: Shape) -> SSAValue:
        """Return the value cast to a type with what `shape` adds to its own; Unsupported if they
        conflict. At run time another shape is an error."""
        type = self.type(value)
        if (better := refine(type, with_shape(type, shape))) is None:
            raise Unsupported(f"input of type {type}, expected the shape {shape_text(shape)}")
        if better is type:
            return value
        return self.add(CastOp.create(operands=[value], result_types=[better])).results[0]

    def retyped(self, value: SSAValue, type: Tensor) -> SSAValue:
        """Return the result of an operation of this node, with a more precise type that is known
        to be right."""
        better = refine(self.type(value), type)
        if better is None or better is value.type:
            return value
        return Rewriter.replace_value_with_new_type(value, better)

    def with_rank(self, value: SSAValue, rank: int) -> SSAValue:
        """Return the value, cast to `rank` dimensions of unknown size if its rank is unknown;
        Unsupported if it has another rank."""
        if (shape := shape_of(self.type(value))) is None:
            return self.narrowed(value, (DYNAMIC_INDEX,) * rank)
        if len(shape) != rank:
            raise Unsupported(f"the input has {len(shape)} dimensions, expected {rank}")
        return value

    def scalar(self, value: SSAValue) -> SSAValue:
        """Reshape a tensor of one element to rank 0."""
        if shape_of(self.type(value)) == ():
            return value
        return self.op("reshape", value, newshape=[])

    def sizes(self, value: SSAValue | int, rank: int) -> Shape:
        """Return the shape of a value; Unsupported if its rank is unknown or not `rank`."""
        shape = self.static_shape(value)
        if len(shape) != rank:
            raise Unsupported(f"input of shape {shape_text(shape)}, expected {rank} dimensions")
        return shape

    def rank(self, value: SSAValue | int) -> int:
        """Return the rank of a value; Unsupported if it is unknown."""
        return len(self.shape(value))

    def axis(self, axis: int, value: SSAValue | int) -> int:
        """Return an axis of a value, counted from the start; Unsupported if it is out of range."""
        rank = self.rank(value)
        if not -rank <= axis < rank:
            raise Unsupported(f"axis {axis} of a tensor of rank {rank}")
        return axis % rank

    # Attributes, with ONNX's defaults

    def attribute(self, name: str) -> AttributeProto | None:
        """Return an attribute or its default, or None."""
        if (attribute := self._attributes.get(name)) is not None:
            return attribute
        return default_attribute(self.schema, name)

    def given(self, name: str) -> bool:
        """Return whether an attribute is present."""
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
        """Return an f32 attribute as the shortest decimal number that rounds to it: 0.1."""
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

    def strings(self, name: str) -> list[str]:
        """Return the strings of an attribute, none if it is absent."""
        attribute = self.attribute(name)
        return [] if attribute is None else [s.decode(errors="replace") for s in attribute.strings]

    def choice(self, name: str, known: Mapping[str, Choice], default: str) -> Choice:
        """Return the entry of `known` that a string attribute names; Unsupported for an unknown
        name."""
        if (given := self.string(name, default)) not in known:
            raise Unsupported(f"{name} = '{given}'; supported are {', '.join(known)}")
        return known[given]

    def per_axis(self, name: str, count: int, default: int) -> list[int]:
        """Return a list attribute with one number for each of `count` axes."""
        numbers = self.ints(name) or [default] * count
        if len(numbers) != count:
            raise Unsupported(f"{name} = {numbers}, expected {count} numbers")
        return numbers

    def value(self, name: str) -> PropertyValue:
        """Return a number, a string or a list of numbers that is an attribute; None if absent."""
        match self.attribute(name):
            case None:
                return None
            case AttributeProto(type=AttributeProto.FLOAT):
                return self.float(name)
            case AttributeProto(type=AttributeProto.STRING):
                return self.string(name)
            case AttributeProto(type=AttributeProto.INTS):
                return self.ints(name)
            case attribute:
                return attribute.i

    def tensor(self, name: str) -> TensorProto | None:
        attribute = self.attribute(name)
        return None if attribute is None else attribute.t

    def graph(self, name: str) -> GraphProto:
        attribute = self.attribute(name)
        if attribute is None:
            raise Unsupported(f"attribute '{name}' is missing")
        return attribute.g

    def convert_graph(self, name: str, inputs: Sequence[SSAValue] = ()) -> list[SSAValue]:
        """Convert the graph in an attribute at the end of the current block; return its outputs."""
        return self.importer.convert_subgraph(self.graph(name), self.scope, inputs)

    # Operations

    def ops(
        self,
        name: str,
        *operands: SSAValue,
        result_types: Sequence[Attribute] | None = None,
        **properties: PropertyValue,
    ) -> Sequence[SSAValue]:
        """Create the operation `relax.<name>`; return its results."""
        op = operation(name)(
            *operands, result_types=result_types, location=self.location, **properties
        )
        if result_types is not None:
            op.verify_()
        return self.importer.add(op).results

    def op(self, name: str, *operands: SSAValue, **properties: PropertyValue) -> SSAValue:
        """Create the operation `relax.<name>`; return its result. A view of a constant is a
        constant with the same bytes."""
        cls = operation(name)
        op = cls(*operands, result_types=None, location=self.location, **properties)
        if issubclass(cls, View) and (shape := static_shape(op.result_types[0])) is not None:
            if (view := self.viewed(operands[0], shape)) is not None:
                op.drop_all_references()
                return view
        return self.importer.add(op).results[0]

    def add(self, op: Operation) -> Operation:
        """Add an operation of another dialect."""
        op.location = self.location
        return self.importer.add(op)

    def full(self, value: float, element: Element, shape: Shape = ()) -> SSAValue:
        """Return a fill."""
        return self.importer.full(value, element, shape)

    def like(self, value: float, other: SSAValue) -> SSAValue:
        """Return a scalar fill with the element type of `other`."""
        return self.full(value, self.element(other))

    def array(self, array: Array | Sequence[int], element: Element) -> SSAValue:
        """Return a constant with these elements."""
        return self.importer.constant(np.asarray(array), element)

    def check_size(self, *shape: int) -> None:
        """Raise Unsupported if a constant of this shape exceeds the limit on tensors."""
        if (reason := too_many_elements(shape, PassContext.current().max_elements)) is not None:
            raise Unsupported(reason)

    def tensor_constant(self, tensor: TensorProto) -> SSAValue:
        """Return a tensor of the model as a constant."""
        op = tensor_constant(tensor, self.importer.files)
        op.location = self.location
        return self.importer.add_constant((op,), lambda: op)

    def along_channels(self, vector: SSAValue, rank: int) -> SSAValue:
        """Reshape a vector to broadcast along the channels of a tensor of rank `rank`."""
        if len(sizes := self.shape(vector)) != 1:
            raise Unsupported(f"{shape_text(sizes)} elements for the channels, expected a vector")
        shape = (*sizes, *[1] * (rank - 2))
        if (view := self.viewed(vector, shape)) is not None:
            return view
        return self.op("reshape", vector, newshape=[-1, *shape[1:]])

    def viewed(self, value: SSAValue, shape: Shape) -> SSAValue | None:
        """Return a constant in another shape, without a copy; None if `value` is not constant."""
        match value.owner:
            case FullOp() as full:
                return self.full(full.value.value.data, self.element(value), shape)
            case ConstantOp() as constant:
                return self.importer.add_constant(
                    (constant, shape), lambda: viewed(constant, shape)
                )
            case _:
                return None

    def cast(self, value: SSAValue, element: Element) -> SSAValue:
        """Cast the elements of a value, unless they have the type already."""
        if self.type(value).element_type == element:
            return value
        return self.op("astype", value, dtype=element)


Output: TypeAlias = SSAValue | TensorExpression[Any] | None
"""An output of a node; None for one that its converter cannot give."""

Converter: TypeAlias = Callable[[Node], Output | Sequence[Output]]
"""Makes the operations for a node; gives its output or outputs; Unsupported if it cannot be
converted."""

Converters: TypeAlias = dict[str, Converter]


def direct(name: str, *same: str, **renamed: str) -> Converter:
    """Return a converter to the relax operation `name` on all inputs, whose properties are
    attributes of the node, of the same or of other names."""
    attributes = dict(zip(same, same, strict=True)) | renamed

    def convert(node: Node) -> SSAValue:
        properties = {ours: node.value(theirs) for ours, theirs in attributes.items()}
        return node.op(name, *node.all_inputs(), **properties)

    return convert


def operation(name: str) -> type[TensorOp]:
    """Return the operation class `relax.<name>`."""
    if (found := operations().get(name)) is None:
        raise Unsupported(f"relax.{name} does not exist")
    return found


def outputs_of(converted: Output | Sequence[Output]) -> list[SSAValue | None]:
    """Return the output or outputs of a converter as values."""
    if converted is None or isinstance(converted, SSAValue | TensorExpression):
        converted = [converted]
    return [o.value if isinstance(o, TensorExpression) else o for o in converted]
