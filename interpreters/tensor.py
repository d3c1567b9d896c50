"""Semantics of the operations of `tensor` that occur with `relax`, on numpy arrays.

xDSL's own are on values of another kind.
"""

from __future__ import annotations

from xdsl.dialects import tensor
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

__all__ = ["TensorFunctions"]


@register_impls
class TensorFunctions(InterpreterFunctions):
    """The functions of `tensor.cast` and `tensor.extract`."""

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
