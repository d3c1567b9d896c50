"""The semantics of tensor: tensors are numpy arrays that are never changed."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ....dialects.extensions.tensor import TensorPadOp
from ....dialects.relax.shapes import shape_text
from ....dialects.relax.types import is_ranked
from ...releases import by_name
from ..arrays import check_size
from ..tir.memory import check_indices, drop_unit_dims, merge_dynamic, slices_of
from ..tir.table import Array, Semantics, buffer_dtype, number


def ranked(type: Attribute) -> TensorType[Attribute]:
    """Return the type of a result, which is ranked."""
    assert isinstance(type, TensorType)
    return cast("TensorType[Attribute]", type)


def cast_(op: tensor.CastOp, array: Array) -> Array:
    """Return the tensor, whose type alone changes."""
    if is_ranked(type := op.dest.type) and array.ndim != type.get_num_dims():
        raise InterpretationError(
            f"tensor.cast: a tensor of shape {shape_text(array.shape)} is not of type {type}"
        )
    return array


def dim(_: tensor.DimOp, array: Array, axis: int) -> int:
    """Return the size of one dimension."""
    if not 0 <= axis < array.ndim:
        raise InterpretationError(
            f"tensor.dim: a tensor of shape {shape_text(array.shape)} has no dimension {axis}"
        )
    return array.shape[axis]


def extract(_: tensor.ExtractOp, array: Array, *indices: int) -> object:
    """Return an element."""
    return array[check_indices(array, indices, "a tensor")]


def insert(_: tensor.InsertOp, value: object, array: Array, *indices: int) -> Array:
    """Return a copy with an element replaced."""
    result = np.array(array)
    result[check_indices(array, indices, "a tensor")] = value
    return result


def from_elements(op: tensor.FromElementsOp, *elements: object) -> Array:
    """Return a tensor of the given elements."""
    type = ranked(op.result.type)
    return np.array(elements, buffer_dtype(type)).reshape(type.get_shape())


def splat(op: tensor.SplatOp, value: object, *sizes: int) -> Array:
    """Return a tensor of one element, repeated."""
    type = ranked(op.result.type)
    return np.full(sizes_of(type, sizes), value, buffer_dtype(type))


def empty(op: tensor.EmptyOp, *sizes: int) -> Array:
    """Return a tensor of zeros, so that results do not depend on old memory."""
    type = ranked(op.tensor.type)
    return np.zeros(sizes_of(type, sizes), buffer_dtype(type))


def sizes_of(type: TensorType[Attribute], sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of a tensor whose unknown dimensions have the given sizes."""
    shape = tuple(merge_dynamic(type.get_shape(), sizes))
    if min(shape, default=0) < 0:
        raise InterpretationError(f"a tensor has no shape {shape_text(shape)}")
    check_size(shape)
    return shape


def reshape(_: tensor.ReshapeOp, array: Array, shape: Array) -> Array:
    """Return the same elements in the shape that an operand gives."""
    sizes = tuple(int(size) for size in shape)
    if min(sizes, default=0) < 0 or prod(sizes) != array.size:
        raise InterpretationError(
            f"tensor.reshape: a tensor of shape {shape_text(array.shape)} has no shape "
            f"{shape_text(sizes)}"
        )
    return np.reshape(array, sizes)


def collapse_shape(op: tensor.CollapseShapeOp, array: Array) -> Array:
    """Return the tensor with groups of dimensions merged."""
    return array.reshape([prod(array.shape[i] for i in group) for group in groups_of(op)])


def expand_shape(op: tensor.ExpandShapeOp, array: Array, *sizes: int) -> Array:
    """Return the tensor with dimensions split into groups."""
    shape = tuple(merge_dynamic(op.static_output_shape.get_values(), sizes))
    for group, size in zip(groups_of(op), array.shape, strict=True):
        if prod(shape[i] for i in group) != size:
            raise InterpretationError(
                f"a tensor of shape {shape_text(array.shape)} has no shape {shape_text(shape)}"
            )
    return array.reshape(shape)


def groups_of(op: tensor.CollapseShapeOp | tensor.ExpandShapeOp) -> list[list[int]]:
    """Return the dimensions of the larger shape in each dimension of the smaller one."""
    return [[index.value.data for index in group] for group in op.reassociation]


def extract_slice(op: tensor.ExtractSliceOp, array: Array, *numbers: int) -> Array:
    """Return a part; dimensions of size 1 that the result type drops are removed."""
    part = array[slices_of(op, array, numbers)]
    return drop_unit_dims(part, ranked(op.result.type).get_shape())


def insert_slice(op: tensor.InsertSliceOp, part: Array, array: Array, *numbers: int) -> Array:
    """Return a copy with a part replaced, which may lack dimensions of size 1."""
    result = np.array(array)
    target = result[slices_of(op, array, numbers)]
    if target.size != part.size:
        raise InterpretationError(
            f"a tensor of shape {shape_text(part.shape)} does not fill a part of shape "
            f"{shape_text(target.shape)}"
        )
    target[...] = part.reshape(target.shape)
    return result


def concat(op: Operation, *arrays: Array) -> Array:
    """Return tensors joined along a dimension."""
    return np.concatenate(arrays, cast("tensor.ConcatOp", op).dim.value.data)


TENSOR: Semantics = {
    tensor.CastOp: cast_,
    tensor.CollapseShapeOp: collapse_shape,
    tensor.DimOp: dim,
    tensor.EmptyOp: empty,
    tensor.ExpandShapeOp: expand_shape,
    tensor.ExtractOp: extract,
    tensor.ExtractSliceOp: extract_slice,
    tensor.FromElementsOp: from_elements,
    tensor.InsertOp: insert,
    tensor.InsertSliceOp: insert_slice,
    tensor.ReshapeOp: reshape,
    tensor.SplatOp: splat,
    **by_name(tensor.Tensor, {"tensor.concat": concat}),
}
"""The semantics of the operations without regions."""


@register_impls
class TensorFunctions(InterpreterFunctions):
    """The functions of `tensor.pad`."""

    @impl(tensor.PadOp)
    def run_pad(
        self, interpreter: Interpreter, op: tensor.PadOp, args: PythonValues
    ) -> PythonValues:
        return (padded(interpreter, op, args),)

    @impl(TensorPadOp)
    def run_pad_of_known_sizes(
        self, interpreter: Interpreter, op: TensorPadOp, args: PythonValues
    ) -> PythonValues:
        return (padded(interpreter, op, args),)


def padded(interpreter: Interpreter, op: tensor.PadOp, args: PythonValues) -> object:
    """Return a tensor with the elements that the region of `tensor.pad` yields around it."""
    array: Array = args[0]
    middle = 1 + len(op.low)
    low = merge_dynamic(op.static_low.get_values(), args[1:middle])
    high = merge_dynamic(op.static_high.get_values(), args[middle:])
    shape = [sum(sizes) for sizes in zip(low, array.shape, high, strict=True)]
    if min(low + high, default=0) < 0:
        raise InterpretationError("a tensor is padded by a negative number of elements")
    check_size(shape)
    if any(
        size not in (DYNAMIC_INDEX, given)
        for size, given in zip(ranked(op.result.type).get_shape(), shape)
    ):
        text = f"a tensor is padded to {shape_text((*shape,))}: expected {op.result.type}"
        raise InterpretationError(text)
    inner = tuple(slice(before, before + n) for before, n in zip(low, array.shape))
    result = np.zeros(shape, array.dtype)
    inside = np.zeros(shape, np.bool_)
    result[inner], inside[inner] = array, True
    for index in np.argwhere(~inside).tolist():
        (value,) = interpreter.run_ssacfg_region(op.region, tuple(index), "pad")
        result[tuple(index)] = value
    return number(result, op.result.type)
