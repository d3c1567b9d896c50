"""The semantics of the dialect's operations, with which `passline-run` computes them."""

from __future__ import annotations

from typing import Any

from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from .dialect import PowerOp

__all__ = ["MyCompilerFunctions"]


@register_impls
class MyCompilerFunctions(InterpreterFunctions):
    """One method for each operation; it gets and returns a number or an array for each value."""

    @impl(PowerOp)
    def power(self, _: Interpreter, op: PowerOp, args: tuple[Any, ...]) -> PythonValues:
        wrapped = pow(int(args[0]), op.exponent.value.data, 1 << 64)
        return (wrapped - (wrapped >> 63 << 64),)
