"""An operation that runs a program on each element of tensors, beside `relax` operations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.interfaces import Elementwise, InfersType
from passline.dialects.relax.shapes import broadcast
from passline.dialects.relax.types import TENSOR, combine, tensor_type

__all__ = ["EvaluateOp", "words_of"]

NEEDS = {"+": 2, "-": 2, "*": 2, "dup": 1, "swap": 2}
LEAVES = {"+": 1, "-": 1, "*": 1, "dup": 2, "swap": 2}


def words_of(program: str, operands: int) -> list[str]:
    """Return the words of a program, which starts with `operands` numbers on the stack.

    VerifyException unless it leaves exactly one number.
    """
    words, depth = program.split(), operands
    for word in words:
        if word not in NEEDS:
            raise VerifyException(f"unknown word '{word}'; choose from {' '.join(NEEDS)}")
        if depth < NEEDS[word]:
            raise VerifyException(f"'{word}' takes {NEEDS[word]} numbers, the stack has {depth}")
        depth += LEAVES[word] - NEEDS[word]
    if depth != 1:
        raise VerifyException(f"the program leaves {depth} numbers, not one")
    return words


@irdl_op_definition
class EvaluateOp(InfersType, Elementwise, IRDLOperation):
    """A program that runs on each element of its operands, which broadcast.

    It starts with the elements on the stack, the last operand on top, and the number that it leaves
    is the element of the result. As an InfersType, `infer-type` refines its result type. As an
    Elementwise, `fuse-ops` fuses it into kernels, and `fold-constant` folds it on fills to a fill.
    The semantics in `semantics.py` make it run and fold, the legalization in `kernels.py` compiles
    it; `pyproject.toml` registers both.
    """

    name = "stackvm.evaluate"

    program = prop_def(StringAttr)
    operands_ = var_operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())

    assembly_format = "$program `(` $operands_ `)` attr-dict `:` functional-type(operands, results)"

    def infer_types(self) -> Sequence[Attribute]:
        words_of(self.program.data, len(self.operands_))
        return (reduce(partial(combine, broadcast), map(tensor_type, self.operands_)),)
