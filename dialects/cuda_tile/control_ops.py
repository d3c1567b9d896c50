"""Control flow: loops, conditions, and the ends of their blocks."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, Pure, RecursiveMemoryEffect, ReturnLike

from .constraints import SCALAR_BOOL, SCALAR_INT
from .tile_op import TileOp

__all__ = ["BreakOp", "ContinueOp", "ForOp", "IfOp", "LoopOp", "ReturnOp", "YieldOp"]


@irdl_op_definition
class ForOp(TileOp):
    """A loop from `lowerBound` to `upperBound`, exclusive, by `step`, which is positive.

    The block of `region` has the variable of the loop, then the values that iterations hand on:
    `initValues` first, then what `continue` gives; the results are the last of them. Integers are
    signed, but with `unsignedCmp`.
    """

    name = "cuda_tile.for"

    T: ClassVar = VarConstraint("T", SCALAR_INT)
    lowerBound = operand_def(T)
    upperBound = operand_def(T)
    step = operand_def(T)
    initValues = var_operand_def()
    unsignedCmp = opt_prop_def(UnitAttr)
    resultValues = var_result_def()
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class LoopOp(TileOp):
    """A loop that `break` ends, whose operands are the results. The block of `region` has the
    values that iterations hand on by `continue`."""

    name = "cuda_tile.loop"

    initValues = var_operand_def()
    resultValues = var_result_def()
    region = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class IfOp(TileOp):
    """The values that `thenRegion` yields if the condition is true, else those of `elseRegion`."""

    name = "cuda_tile.if"

    condition = operand_def(SCALAR_BOOL)
    outputs = var_result_def()
    thenRegion = region_def("single_block")
    elseRegion = region_def()

    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class YieldOp(TileOp):
    """The end of a block of `if`, `reduce` or `scan`, with its values."""

    name = "cuda_tile.yield"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), ReturnLike(), Pure())


@irdl_op_definition
class ContinueOp(TileOp):
    """The end of an iteration, with the values for the next."""

    name = "cuda_tile.continue"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator())


@irdl_op_definition
class BreakOp(TileOp):
    """The end of a `loop`, with its results."""

    name = "cuda_tile.break"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), ReturnLike())


@irdl_op_definition
class ReturnOp(TileOp):
    """The end of an entry."""

    name = "cuda_tile.return"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), ReturnLike())
