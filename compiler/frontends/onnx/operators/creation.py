"""Converters of operators that create tensors from attributes and shapes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from onnx import TensorProto
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import is_static
from .....dialects.relax.types import Element
from ..errors import Unsupported
from ..node import Converters, Node
from ..types import element_type
from ..values import MAX_ELEMENTS, tensor_array
from .expression import Expression, indices, size_along
from .manipulation import sizes_of, with_known

__all__ = ["CREATION"]


def constant(node: Node) -> SSAValue:
    """Convert Constant: the value is one of several attributes."""
    if (tensor := node.tensor("value")) is not None:
        return node.tensor_constant(tensor)
    if (number := node.opt_float("value_float")) is not None:
        return node.array(np.asarray(number, np.float32), f32)
    if (numbers := node.floats("value_floats")) is not None:
        return node.array(np.asarray(numbers, np.float32), f32)
    if (integer := node.opt_int("value_int")) is not None:
        return node.array(np.asarray(integer, np.int64), i64)
    if (integers := node.ints("value_ints")) is not None:
        return node.array(np.asarray(integers, np.int64), i64)
    raise Unsupported("strings and sparse tensors are not supported")


def constant_of_shape(node: Node) -> SSAValue:
    """Convert ConstantOfShape to a fill, by default of f32 zeros; the fill is never expanded."""
    value, element = 0, f32
    if (tensor := node.tensor("value")) is not None:
        value, element = one_element(tensor.SerializeToString())
    if (shape := node.ints_of(0)) is not None:
        return node.full(value, element, tuple(shape))
    y, sizes = node.op("dyn.full", node.full(value, element), node.input(0)), node.partly(0)
    return y if sizes is None else with_known(node, y, sizes_of(sizes))


@lru_cache(1 << 8)
def one_element(content: bytes) -> tuple[float, Element]:
    """Return the number in a serialized tensor of one element, and the element type."""
    tensor = TensorProto.FromString(content)
    element = element_type(tensor.data_type)
    if (array := tensor_array(tensor)).size != 1:
        raise Unsupported(f"attribute 'value' has {array.size} elements, expected one")
    return array.item(), element


def eye_like(node: Node) -> SSAValue:
    x = node.input(0)
    element = element_type(node.int("dtype")) if node.given("dtype") else node.element(x)
    if node.rank(x) != 2:
        raise Unsupported(f"the input has rank {node.rank(x)}, expected a matrix")
    rows, columns = node.shape(x)
    if not is_static((rows, columns)):
        row, column = (indices(size_along(Expression(node, x), i), node) for i in range(2))
        return (row + node.int("k")).expand(1).equals(column).cast(element).value
    if rows * columns > 1 << 24:
        raise Unsupported("a matrix of more than 2 ** 24 elements")
    return node.array(np.eye(rows, columns, node.int("k"), np.int8), element)


def range_(node: Node) -> SSAValue:
    """Convert Range: start, limit (excluded) and step are inputs."""
    start, stop, step = (node.number_of(i) for i in range(3))
    element = node.element(0)
    if start is not None and stop is not None and step is not None:
        count = max(np.ceil((stop - start) / step), 0) if step else 0
        if count <= MAX_ELEMENTS:  # false for NaN
            return node.array(start + np.arange(int(count)) * step, element)
    return node.op("arange", *node.all_inputs())


CREATION: Converters = {
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "EyeLike": eye_like,
    "Range": range_,
}
