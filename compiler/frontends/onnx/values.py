"""The constants and names of a graph, and the values that depend on constants alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from math import prod
from typing import Self, TypeAlias

import numpy as np
from onnx import NodeProto, TensorProto
from onnx.numpy_helper import to_array
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.constant import ConstantOp, FullOp
from ....dialects.relax.shapes import Shape, is_static
from ....dialects.relax.types import (
    Element,
    SmallFloat,
    Tensor,
    shape_of,
    static_shape,
    tensor_type,
)
from ....passmanager.fast.creation import make_attribute
from ....passmanager.releases.floats import byte_size
from ...interpreters import has_semantics
from ...interpreters.arrays import Array, dense_of, dtype_of, element_of, fit, number_of
from ...interpreters.relax import RelaxFunctions
from .errors import ModelError, UnsupportedNode
from .external_data import DataFiles, described
from .types import element_type, tensor_of

# The constants of a model, and the evaluation of values that depend on constants alone.


MAX_ELEMENTS = 1 << 12
"""The most elements of a tensor that is computed while importing: shapes, axes and the like."""


class ConstantValues:
    """The values of a function under construction that depend on constants alone.

    Operations that compute shapes, axes and the like are recorded when they are created, and
    evaluated when a node asks for the value. Of shapes with unknown dimensions, the known elements
    are followed through the operations that move them and compute with them.
    """

    def __init__(self) -> None:
        self._sources: dict[SSAValue, Operation] = {}
        self._arrays: dict[SSAValue, Array] = {}
        self._partly: dict[SSAValue, Partly] = {}
        self._interpreter = Interpreter(ModuleOp([]))
        self._interpreter.register_implementations(RelaxFunctions())

    def follow(self, op: Operation) -> None:
        """Record an operation if its results depend on constants alone."""
        if op.name in _PARTLY and self._follow_partly(op):
            return
        of_types = op.name in _OF_TYPES
        for operand in op.operands:
            if operand not in self._sources if not of_types else not _is_static(operand.type):
                return  # most operations depend on the inputs of the model
        if has_semantics(type(op)) and all(_is_small(result.type) for result in op.results):
            self._sources |= dict.fromkeys(op.results, op)

    def _follow_partly(self, op: Operation) -> bool:
        """Record the known elements of the result of an operation on partly known shapes; return
        whether there are any."""
        (result,) = op.results
        if op.name == "relax.shape_of":
            shape = shape_of(tensor_type(op.operands[0]))
            partly = None if shape is None or is_static(shape) else Partly.of_shape(shape)
        else:
            partly = self._partly_computed(op)
        if partly is None:
            return False
        if partly.known.all():
            self._sources[result], self._arrays[result] = op, partly.array
        else:
            self._partly[result] = partly
        return True

    def _partly_computed(self, op: Operation) -> Partly | None:
        """Return the known elements of an operation of `_PARTLY` on partly known values, or None.

        The elements that it moves are followed by moving a mask of those that are known.
        """
        if not any(operand in self._partly for operand in op.operands):
            return None
        if not all(_is_small(result.type) for result in op.results):
            return None
        operands: list[Partly] = []
        for operand in op.operands:
            if (partly := self._partly.get(operand)) is None:
                if (array := self.array(operand)) is None:
                    return None
                partly = Partly(array, np.ones(array.shape, np.bool_))
            operands.append(partly)
        if op.name == "relax.take" and not operands[1].known.all():
            return None
        masks = [partly.known for partly in operands]
        try:
            (array,) = self._interpreter.run_op(op, tuple(p.array for p in operands))
            if op.name in _COMPUTING:
                known = np.logical_and.reduce(np.broadcast_arrays(*masks))
            else:
                data = masks[:1] if op.name == "relax.take" else masks
                moved = [mask.astype(np.int64) for mask in data]
                rest = [p.array for p in operands[len(data) :]]
                (known,) = self._interpreter.run_op(op, (*moved, *rest))
        except Exception:  # as in `array`
            return None
        return Partly(array, np.asarray(known).astype(np.bool_))

    def partly(self, value: SSAValue) -> list[int | None] | None:
        """Return the elements of a vector of integers, None for those that are not known; None if
        nothing is."""
        if (array := self.array(value)) is not None:
            return [int(number) for number in array.reshape(-1)]
        if (found := self._partly.get(value)) is None:
            return None
        pairs = zip(found.array.reshape(-1), found.known.reshape(-1), strict=True)
        return [int(number) if known else None for number, known in pairs]

    def is_followed(self, op: Operation) -> bool:
        """Return whether the results of an operation can be evaluated, or partly so."""
        if not op.results:
            return False
        result = op.results[0]
        return result in self._sources or result in self._partly

    def array(self, value: SSAValue) -> Array | None:
        """Return the elements of a value that can be evaluated, else None."""
        if (array := self._arrays.get(value)) is not None:
            return array
        if value not in self._sources:
            return None
        try:
            return self._evaluated(value)
        except Exception:  # whatever the semantics may raise: it is left to fail at run time
            return None

    def _evaluated(self, value: SSAValue) -> Array:
        pending = [value]
        while pending:
            op = self._sources[pending[-1]]
            arguments = [] if op.name in _OF_TYPES else list(op.operands)
            missing = [v for v in arguments if v not in self._arrays]
            if missing:
                pending += missing
                continue
            pending.pop()
            if op.results[0] not in self._arrays:
                self._evaluate(op)
        return self._arrays[value]

    def _evaluate(self, op: Operation) -> None:
        if op.name in _OF_TYPES:
            shapes = [static_shape(operand.type) or () for operand in op.operands]
            arguments = [np.broadcast_to(np.int8(0), shape) for shape in shapes]
        else:
            arguments = [self._arrays[operand] for operand in op.operands]
        arrays = self._interpreter.run_op(op, tuple(arguments))
        self._arrays |= zip(op.results, arrays, strict=True)


@dataclass(frozen=True)
class Partly:
    """An array with some known elements; the others have any value."""

    array: Array
    known: Array

    @classmethod
    def of_shape(cls, shape: Shape) -> Self:
        known = np.array([size != DYNAMIC_INDEX for size in shape])
        return cls(np.where(known, np.array(shape, np.int64), 1), known)


_MOVING = ("astype", "concatenate", "expand_dims", "reshape", "squeeze", "strided_slice", "take")
_COMPUTING = tuple(f"relax.{name}" for name in ("add", "floor_divide", "multiply", "subtract"))
_PARTLY = ("relax.shape_of", *(f"relax.{name}" for name in _MOVING), *_COMPUTING)
"""The operations through which partly known shapes are followed."""

_OF_TYPES = ("relax.shape_of", "relax.size_of")
"""Operations on the type of their operand alone."""


def _is_static(type: Attribute) -> bool:
    return static_shape(type) is not None


def _is_small(type: Attribute) -> bool:
    shape = static_shape(type)
    return shape is not None and prod(shape) <= MAX_ELEMENTS


# Constants


def constant_of(array: Array, element: Element) -> Operation:
    """Return a constant with the elements of an array."""
    array = fit(np.asarray(array), element)
    return ConstantOp(dense_of(array, tensor_of(element, array.shape)))


def fill_of(value: float, type: TensorType[Attribute], element: Element) -> FullOp:
    """Return a fill."""
    with np.errstate(all="ignore"):
        number = fit(np.asarray(value).astype(dtype_of(element)), element)
    return FullOp(number_of(number, element), type)


def viewed(constant: ConstantOp, shape: Shape) -> ConstantOp:
    """Return a constant with the same bytes in another shape."""
    type = tensor_of(element_of(constant.value.type), shape)
    view = ConstantOp(dense_constant(type, constant.value.data))
    view.location = constant.location
    view.result.name_hint = constant.result.name_hint
    return view


def tensor_constant(tensor: TensorProto, files: DataFiles) -> Operation:
    """Return a tensor of a model as a constant that shares its bytes."""
    element = element_type(tensor.data_type)
    type = tensor_of(element, tuple(tensor.dims))
    size = byte_size(element) * prod(tensor.dims)
    if tensor.data_location == TensorProto.EXTERNAL:
        data = files.read(tensor, max(size, 0))
    elif tensor.HasField("raw_data"):
        data = tensor.raw_data
    else:
        return constant_of(tensor_array(tensor), element)
    if _is_packed(element):
        raw = TensorProto(
            name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=data
        )
        return constant_of(tensor_array(raw), element)
    if len(data) != size:
        raise ModelError(f"{described(tensor)}: {len(data)} bytes, expected {size} for type {type}")
    return ConstantOp(dense_constant(type, make_attribute(BytesAttr, data=data)))


def dense_constant(type: TensorType[Attribute], data: BytesAttr) -> DenseIntOrFPElementsAttr:
    """Return the dense constant with these bytes, whose number is right for the type."""
    return make_attribute(DenseIntOrFPElementsAttr, type=type, data=data)


def tensor_array(tensor: TensorProto) -> Array:
    """Return the elements of a tensor of a model."""
    element = element_type(tensor.data_type)
    try:
        array = to_array(tensor)
    except (ValueError, TypeError) as error:
        raise ModelError(f"tensor '{tensor.name}': {error}") from None
    return run_time_array(array, element)


def run_time_array(array: Array, element: Element) -> Array:
    """Convert an array of numpy or ml_dtypes to the dtype in which relax computes."""
    if isinstance(element, BFloat16Type | SmallFloat):
        return array.astype(np.float32)
    if isinstance(element, IntegerType) and element.bitwidth < 8 and element.bitwidth > 1:
        return fit(array.astype(np.int8), element)
    return array


def _is_packed(element: Element) -> bool:
    """Return whether several elements share a byte, so that the bytes differ from those of a
    constant."""
    return element.bitwidth < 8


# The names of values in graphs and nested graphs.


class Missing(Enum):
    """The reason why a name has no value."""

    NOT_GIVEN = auto()
    """The name is an optional input of a function, left out in the call."""
    UNKNOWN = auto()
    """A node before is not supported."""


Value: TypeAlias = SSAValue | TensorProto | UnsupportedNode | Missing
"""The meaning of a name. A tensor becomes a constant, and an output of an unsupported node becomes
an error, only when the name is used."""


class GraphScope:
    """The names in a graph; names of the outer graphs are visible too."""

    def __init__(self, outer: GraphScope | None, types: Mapping[str, Tensor]) -> None:
        self.values: dict[str, Value] = {}
        self.outer = outer
        self.types = types
        """The types of values that the model declares, where they are needed."""

    def find(self, name: str) -> GraphScope | None:
        """Return the innermost scope that defines `name`, or None."""
        scope: GraphScope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.outer
        return scope

    def define(self, name: str, value: Value) -> None:
        """Bind a name to a value; ModelError if it is bound already."""
        if name in self.values:
            raise ModelError(f"the name '{name}' is defined twice")
        self.values[name] = value


def check_name(name: str | bytes) -> None:
    """Raise ModelError for a name that is not UTF-8, which protobuf leaves as bytes."""
    if isinstance(name, bytes):
        raise ModelError(f"the name {ascii(name)[1:]} is not UTF-8")


def name_of(node: NodeProto) -> str:
    """Return the name of a node, or else of its first output."""
    return node.name or next(filter(None, node.output), "")


@cache
def hint_of(name: str) -> str | None:
    """Return a name of the model as a name hint for MLIR, or None if no valid character is left.

    xDSL drops a number after an underscore, so a dot replaces the underscore.
    """
    check_name(name)
    name = re.sub(r"[^\w$.-]", "_", name, flags=re.ASCII).strip("_")
    if name[:1].isdigit():
        name = f"v{name}"
    return re.sub(r"_(\d+)$", r".\1", name) or None


def name_location(name: str) -> NameLoc:
    """Return the location for a name in the model."""
    check_name(name)
    return make_attribute(NameLoc, desc=make_attribute(StringAttr, data=name), location=_NOWHERE)


_NOWHERE = NoneAttr()


def undefined(name: str, node: NodeProto, following: Sequence[NodeProto]) -> str:
    """Return the message on a name that is used but not defined."""
    who = f"node '{name_of(node)}' ({node.op_type}) uses '{name}'"
    for later in following:
        if name in later.output:
            return f"{who}, which the later node '{name_of(later)}' ({later.op_type}) computes"
    if name in node.output:
        return f"{who}, which it computes itself"
    return f"{who}, which is not defined"
