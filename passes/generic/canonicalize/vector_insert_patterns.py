"""Patterns of `vector.insert` that write all elements of a vector."""

from __future__ import annotations

import math
from typing import Final

from xdsl.context import Context
from xdsl.dialects import vector
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from .by_dialect import Entry, known_op
from .scalar_values import element_of, is_shaped
from .vector_values import broadcast_to, dims, offset_in, position_of, shape_of


class InsertAll(RewritePattern):
    """Broadcast a value that is as many elements as the vector into which it is inserted. Source:
    `InsertToBroadcast` of MLIR."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.InsertOp, rewriter: PatternRewriter, /) -> None:
        whole = dims(op.dest.type)
        if math.prod(dims(op.source.type)) == math.prod(whole) and -1 not in position_of(op):
            rewriter.replace(op, broadcast_to(op.source, op.result.type))


class InsertionsOfAll(RewritePattern):
    """Make a vector of the values that a chain of insertions writes to all its elements. Source:
    `InsertChainFullyInitialized` of MLIR."""

    def __init__(self, ctx: Context) -> None:
        self.made = known_op(ctx, "vector.from_elements")
        self.split = known_op(ctx, "vector.to_elements")

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: vector.InsertOp, rewriter: PatternRewriter, /) -> None:
        to, shape = op.result.type, dims(op.result.type)
        if self.made is None or self.split is None or min(shape, default=1) < 0:
            return
        # The last of the chain alone, so that the time is linear.
        if any(isinstance(use.operation, vector.InsertOp) and use.index for use in op.result.uses):
            return
        insertions = _insertions(op, math.prod(shape))
        if insertions is None:
            return
        elements = [op.source] * math.prod(shape)
        for start, value in reversed(insertions):
            if not is_shaped(value.type):
                elements[start] = value
                continue
            parts = self.split.create(
                operands=[value],
                result_types=[element_of(value.type)] * math.prod(shape_of(value.type)),
            )
            rewriter.insert(parts)
            elements[start : start + len(parts.results)] = parts.results
        rewriter.replace(op, self.made.create(operands=elements, result_types=[to]))


def _insertions(op: vector.InsertOp, count: int) -> list[tuple[int, SSAValue]] | None:
    """Return what a chain of insertions writes, each with the number of the first element, the last
    first, until all `count` elements are written; None if they are not."""
    written: set[int] = set()
    found: list[tuple[int, SSAValue]] = []
    chain: list[vector.InsertOp] = [op]
    while isinstance(below := chain[-1].dest.owner, vector.InsertOp):
        # Others may need the vectors in between.
        if not below.result.has_one_use():
            return None
        chain.append(below)
    for insertion in chain:
        start = offset_in(position_of(insertion), shape_of(insertion.dest.type))
        if start is None:
            return None
        found.append((start, insertion.source))
        written.update(range(start, start + math.prod(shape_of(insertion.source.type))))
        if len(written) == count:
            return found
    return None


INSERTS: Final[tuple[Entry, ...]] = (InsertAll(), InsertionsOfAll)
