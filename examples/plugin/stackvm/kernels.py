"""The legalization of `stackvm.evaluate`: arithmetic on one element of each operand."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from passline.compiler.kernels.builder import KernelBuilder
from passline.compiler.kernels.elementwise.elementwise import elementwise
from passline.compiler.kernels.scalars import is_float

from .evaluate import EvaluateOp, words_of

__all__ = ["LEGALIZATIONS"]

FLOATS = {"+": arith.AddfOp, "-": arith.SubfOp, "*": arith.MulfOp}
INTEGERS = {"+": arith.AddiOp, "-": arith.SubiOp, "*": arith.MuliOp}


def run_program(op: EvaluateOp, b: KernelBuilder, *elements: SSAValue) -> SSAValue:
    """Build the arithmetic of a program on one element of each operand; return the result."""
    stack = [*elements]
    for word in words_of(op.program.data, len(elements)):
        match word:
            case "dup":
                stack.append(stack[-1])
            case "swap":
                stack[-2:] = stack[:-3:-1]
            case _:
                right, left = stack.pop(), stack.pop()
                operations = FLOATS if is_float(left.type) else INTEGERS
                stack.append(b.pure(operations[word], left, right))
    return stack[0]


LEGALIZATIONS = {EvaluateOp: elementwise(run_program)}
