"""Semantics of constants."""

from __future__ import annotations

import numpy as np
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)

from ....dialects.relax import constant as ops
from ..arrays import array_of, check_size, element_of, scalar_of

__all__ = ["ConstantFunctions"]


@register_impls
class ConstantFunctions(InterpreterFunctions):
    """The functions of constants.

    Constants are views of their bytes, fills are broadcast scalars: neither is copied.
    """

    @impl(ops.ConstantOp)
    def run_constant(self, _: Interpreter, op: ops.ConstantOp, args: PythonValues) -> PythonValues:
        return (array_of(op.value),)

    @impl(ops.FullOp)
    def run_full(self, _: Interpreter, op: ops.FullOp, args: PythonValues) -> PythonValues:
        number = scalar_of(op.value, element_of(op.result.type))
        shape = op.result.type.get_shape()
        try:
            return (np.broadcast_to(number, shape),)
        except ValueError:  # more bytes than an address counts
            check_size(shape)
            raise
