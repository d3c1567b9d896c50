"""A walk over a function with the constraints that hold at each operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from xdsl.dialects import cf, scf
from xdsl.ir import Block, Operation, SSAValue

from ....dialects.tir.ops import AssumeOp, ForOp
from .analyzer import Analyzer

Scope: TypeAlias = Callable[[Analyzer], AbstractContextManager[object]]
"""Opens the scope of a block in an analyzer."""


def walk_in_scopes(root: Block, analyzer: Analyzer) -> Iterator[Operation]:
    """Yield the operations in `root` in preorder. Meanwhile `analyzer` knows what the loops,
    branches, assertions and assumptions around each operation say.

    The operation may be replaced, and others inserted before it.
    """
    pending = [_Visit(root.first_op, Analyzer.scope)]
    # A stack in the place of recursion: the scope of a visit is open while those above it run.
    while pending:
        visit = pending[-1]
        if visit.is_new:
            visit.scope.enter_context(visit.open(analyzer))
            visit.is_new = False
        if (op := visit.next) is None:
            visit.scope.close()
            pending.pop()
            continue
        visit.next = op.next_op
        inner = [*scoped_blocks(op)]
        yield op
        if isinstance(op, cf.AssertOp | AssumeOp):
            analyzer.assume(op.operands[0])
        pending += [_Visit(block.first_op, scope) for block, scope in reversed(inner)]


@dataclass
class _Visit:
    """The visit of a block: its next operation, and its scope."""

    next: Operation | None
    open: Scope
    scope: ExitStack = field(default_factory=ExitStack)
    is_new: bool = True


def scoped_blocks(op: Operation) -> Iterator[tuple[Block, Scope]]:
    """Yield the blocks in an operation, each with a function that opens a scope in which an
    analyzer knows what `op` says of it: that the loop has iterations, or that the condition holds.
    """
    match op:
        case ForOp():
            yield op.body.block, lambda analyzer: analyzer.inside(op)
        case scf.IfOp():
            for region, truth in ((op.true_region, True), (op.false_region, False)):
                for block in region.blocks:
                    yield block, partial(_assuming, op.cond, truth)
        case _:
            for region in op.regions:
                for block in region.blocks:
                    yield block, Analyzer.scope


def _assuming(
    condition: SSAValue, truth: bool, analyzer: Analyzer
) -> AbstractContextManager[object]:
    return analyzer.assuming(condition, truth)
