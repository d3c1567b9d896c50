"""The flow of values into and out of the regions of functions, branches, loops and graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import ConditionOp, ForOp, IfOp, WhileOp, YieldOp
from xdsl.ir import Attribute, BlockArgument, Operation

from ...dialects.relax.closures import LambdaOp
from ...dialects.relax.closures import YieldOp as LambdaYieldOp
from ...dialects.relax.graph import GraphOp, OutputOp


def result_terminators(op: Operation) -> list[Operation]:
    """Return the terminators of `op` whose operands are its results or its next iteration's."""
    # Without `scf.condition`, whose operands go to the other region of the loop, or to its results.
    lasts = [block.last_op for region in op.regions for block in region.blocks]
    return [end for end in lasts if isinstance(end, ReturnOp | YieldOp | LambdaYieldOp | OutputOp)]


def carried_arguments(loop: ForOp | WhileOp) -> Sequence[BlockArgument]:
    """Return the block arguments that `loop` carries from iteration to iteration."""
    return loop.regions[0].block.args[1 if isinstance(loop, ForOp) else 0 :]


def first_carried_operand(loop: ForOp | WhileOp) -> int:
    """Return the index of the first initial value; the operands of `scf.for` begin with bounds."""
    return 3 if isinstance(loop, ForOp) else 0


class RegionFlow(NamedTuple):
    """Operands of `user`, from index `first` on, which must have the types `types`."""

    user: Operation
    first: int
    types: Sequence[Attribute]


def flows(op: Operation) -> Iterator[RegionFlow]:
    """Yield the flows into and out of the regions of `op`."""
    match op:
        case FuncOp():
            yield from (
                RegionFlow(e, 0, op.function_type.outputs.data) for e in result_terminators(op)
            )
        case LambdaOp():
            yield from (
                RegionFlow(e, 0, op.result.type.outputs.data) for e in result_terminators(op)
            )
        case IfOp() | GraphOp():
            yield from (RegionFlow(end, 0, op.result_types) for end in result_terminators(op))
        case ForOp() | WhileOp():
            carried = [value.type for value in carried_arguments(op)]
            # Four flows have one list of types: initial values, iterations, results.
            yield RegionFlow(op, first_carried_operand(op), carried)
            yield from (RegionFlow(end, 0, carried) for end in result_terminators(op))
            if isinstance(condition := op.regions[0].block.last_op, ConditionOp):
                yield RegionFlow(condition, 1, op.result_types)
        case _:
            pass
