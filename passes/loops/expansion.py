"""Expansion of a loop into copies of its body."""

from __future__ import annotations

from xdsl.dialects.arith import AddiOp
from xdsl.ir import Operation

from ...dialects.tir.ops import ForOp
from ...passmanager.fast.edit import erase, insert_before
from .cloning import clone_ops, create_or_fold
from .constant_pool import ConstantPool

__all__ = ["expand_loop"]


def expand_loop(loop: ForOp, extent: int, constants: ConstantPool) -> None:
    """Replace `loop` by `extent` copies of its body, for the variable `min`, `min + 1`, ...

    Each copy has its own clone of an allocation in the body.
    """
    *body, _ = loop.body.block.ops
    for number in range(extent):
        copies: list[Operation] = []
        offset = constants.index(number)
        # A constant for constant bounds, with which the copies of the body fold further.
        variable = create_or_fold(AddiOp, loop.min, offset, constants, copies.append)
        copies += clone_ops(body, {loop.variable: variable}, constants)
        insert_before(loop, *copies)
    erase(loop)
