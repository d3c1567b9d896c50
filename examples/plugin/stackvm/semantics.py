"""The semantics of `stackvm.evaluate` on numpy arrays.

Passline imports this module, and with it numpy, only when it computes an operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from .evaluate import EvaluateOp, words_of

__all__ = ["StackVMFunctions"]


@register_impls
class StackVMFunctions(InterpreterFunctions):
    """The interpreter functions of the dialect's operations on tensors."""

    @impl(EvaluateOp)
    def run_evaluate(self, _: Interpreter, op: EvaluateOp, args: PythonValues) -> PythonValues:
        stack: list[NDArray[Any]] = list(args)
        for word in words_of(op.program.data, len(args)):
            match word:
                case "dup":
                    stack.append(stack[-1])
                case "swap":
                    stack[-2:] = stack[:-3:-1]
                case _:
                    right, left = stack.pop(), stack.pop()
                    function = {"+": np.add, "-": np.subtract, "*": np.multiply}[word]
                    stack.append(np.asarray(function(left, right)))
        return (stack[0],)
