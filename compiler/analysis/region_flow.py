"""The flow of values into and out of the regions of functions, branches, loops and graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relax.closures import LambdaOp
from ...dialects.relax.closures import YieldOp as LambdaYieldOp
from ...dialects.relax.graph import OutputOp
from ...passmanager.ir.control_flow import region_branch_of, region_points


def result_terminators(op: Operation) -> list[Operation]:
    """Return the terminators of `op` whose operands are its results or its next iteration's."""
    # Without `scf.condition`, whose operands go to the other region of the loop, or to its results.
    lasts = [block.last_op for region in op.regions for block in region.blocks]
    return [end for end in lasts if isinstance(end, ReturnOp | YieldOp | LambdaYieldOp | OutputOp)]


def forwarded(op: Operation) -> tuple[int, Sequence[SSAValue]]:
    """Return the index of the first operand that an operation with regions, or a terminator in it,
    passes on, and the values that the operands from there on become; (0, []) if there is none."""
    for holder, point in ((op, None), (op.parent_op(), op)):
        if holder is not None and (trait := region_branch_of(holder)) is not None:
            for successor in trait.successor_regions(holder, point):
                operands = trait.successor_operands(holder, point, successor)
                return operands.start, trait.successor_inputs(holder, successor)
    return 0, ()


class RegionFlow(NamedTuple):
    """Operands of `user`, from index `first` on, which must have the types `types`."""

    user: Operation
    first: int
    types: Sequence[Attribute]


def flows(op: Operation) -> Iterator[RegionFlow]:
    """Yield the flows into and out of the regions of `op`."""
    if isinstance(op, FuncOp | LambdaOp):
        type = op.function_type if isinstance(op, FuncOp) else op.result.type
        yield from (RegionFlow(end, 0, type.outputs.data) for end in result_terminators(op))
    elif region_branch_of(op) is not None:
        for point in region_points(op):
            first, values = forwarded(user := point or op)
            yield RegionFlow(user, first, [value.type for value in values])
