"""Semantics of the operations of `tensor` that occur with `relax`, on numpy arrays.

xDSL's own are on values of another kind.
"""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import IndexType
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.utils.exceptions import InterpretationError

from ..dialects.relax.shapes import shape_text
from ..dialects.relax.types import is_ranked
from .arrays import dtype_of, element_of

__all__ = ["TensorFunctions"]


@register_impls
class TensorFunctions(InterpreterFunctions):
    """The functions of `tensor.cast`, `dim`, `extract`, `from_elements` and `reshape`."""

    @impl(tensor.CastOp)
    def run_cast(self, _: Interpreter, op: tensor.CastOp, args: PythonValues) -> PythonValues:
        (array,) = args
        if is_ranked(type := op.dest.type) and array.ndim != type.get_num_dims():
            raise InterpretationError(
                f"tensor.cast: a tensor of shape {shape_text(array.shape)} is not of type {type}"
            )
        return args

    @impl(tensor.ExtractOp)
    def run_extract(self, _: Interpreter, op: tensor.ExtractOp, args: PythonValues) -> PythonValues:
        array, *indices = args
        return (array[tuple(indices)].item(),)

    @impl(tensor.DimOp)
    def run_dim(self, _: Interpreter, op: tensor.DimOp, args: PythonValues) -> PythonValues:
        array, axis = args
        if not 0 <= axis < array.ndim:
            raise InterpretationError(
                f"tensor.dim: a tensor of shape {shape_text(array.shape)} has no dimension {axis}"
            )
        return (array.shape[axis],)

    @impl(tensor.FromElementsOp)
    def run_from_elements(
        self, _: Interpreter, op: tensor.FromElementsOp, args: PythonValues
    ) -> PythonValues:
        type = op.result.type
        is_index = isinstance(type.element_type, IndexType)
        dtype = np.dtype(np.int64) if is_index else dtype_of(element_of(type))
        return (np.array(args, dtype).reshape(type.get_shape()),)

    @impl(tensor.ReshapeOp)
    def run_reshape(self, _: Interpreter, op: tensor.ReshapeOp, args: PythonValues) -> PythonValues:
        array, shape = args
        sizes = tuple(int(size) for size in shape)
        if min(sizes, default=0) < 0 or prod(sizes) != array.size:
            raise InterpretationError(
                f"tensor.reshape: a tensor of shape {shape_text(array.shape)} has no shape "
                f"{shape_text(sizes)}"
            )
        return (np.reshape(array, sizes),)
