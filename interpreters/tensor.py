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

__all__ = ["TensorFunctions"]


@register_impls
class TensorFunctions(InterpreterFunctions):
    """The functions of `tensor.cast` and `tensor.extract`."""

    @impl(tensor.CastOp)
    def run_cast(self, _: Interpreter, op: tensor.CastOp, args: PythonValues) -> PythonValues:
        return args

    @impl(tensor.ExtractOp)
    def run_extract(self, _: Interpreter, op: tensor.ExtractOp, args: PythonValues) -> PythonValues:
        array, *indices = args
        return (array[tuple(indices)].item(),)
