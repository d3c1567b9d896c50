"""A program on the elements of tensors, which takes part in Passline's passes on `relax`."""

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
    """The words of a program that leaves one number, of a stack with `operands` numbers on it;
    VerifyException for any other."""
    words, depth = program.split(), operands
    for word in words:
        if word not in NEEDS:
            raise VerifyException(f"there is no word '{word}'; choose from {' '.join(NEEDS)}")
        if depth < NEEDS[word]:
            raise VerifyException(f"'{word}' takes {NEEDS[word]} numbers, the stack has {depth}")
        depth += LEAVES[word] - NEEDS[word]
    if depth != 1:
        raise VerifyException(f"the program leaves {depth} numbers, not one")
    return words


@irdl_op_definition
class EvaluateOp(InfersType, Elementwise, IRDLOperation):
    """The number that a program leaves when it starts with the elements of the operands on the
    stack, the last on top; for each place of the operands, which are broadcast.

    InfersType: `infer-type` refines its result. Elementwise: `fuse-ops` computes it in one kernel
    with others, and on fills `fold-constant` gives a fill. With the semantics in `semantics.py`
    it is folded and run, with the legalization in `kernels.py` it becomes part of kernels and
    machine code; `pyproject.toml` registers both.
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
