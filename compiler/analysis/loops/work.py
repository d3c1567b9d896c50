"""The work of loops: an estimate of the operations that they execute."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation

from ....dialects.tir.ops import ForKind, ForOp
from ..constants import integer_constant

__all__ = ["FORK_WORK", "UNKNOWN_EXTENT", "extent_of", "parallel_work", "work_of", "work_of_block"]

FORK_WORK = 10_000
"""The cost of starting threads and waiting for the last one, in operations: about 4 us at 2.5
operations in a nanosecond. Loops with little more work than this remain serial."""

UNKNOWN_EXTENT = 64
"""The assumed number of iterations of a loop whose extent is not a constant."""

LANES = 8
"""The assumed lanes of a vector: iterations of a vectorized loop that count as one."""


def extent_of(loop: ForOp) -> int:
    """Return the number of iterations of `loop`, or `UNKNOWN_EXTENT`."""
    extent = integer_constant(loop.extent)
    return UNKNOWN_EXTENT if extent is None else max(0, extent)


def work_of(op: Operation) -> int:
    """Return an estimate of the operations that `op` executes, with the operations in it; an
    operation on a vector counts as one, and a constant as none."""
    match op:
        case ForOp():
            count = extent_of(op)
            if op.for_kind is ForKind.VECTORIZED:
                # A partial vector costs as much as a whole one.
                count = -(-count // LANES)
            # The 1 is the step and test of each iteration.
            return count * (1 + work_of_block(op.body.block))
        case arith.ConstantOp():
            return 0
        case scf.ForOp() | scf.WhileOp():
            inside = sum(work_of_block(b) for r in op.regions for b in r.blocks)
            return UNKNOWN_EXTENT * inside
        case _:
            # Both branches of an `scf.if` count: at most twice the work of the longer one.
            return 1 + sum(work_of_block(b) for r in op.regions for b in r.blocks)


def work_of_block(block: Block) -> int:
    """Return the work of the operations in `block`, without its terminator."""
    return sum(work_of(op) for op in block.ops if op is not block.last_op)


def parallel_work(work: int, count: int, threads: int, fork_work: int = FORK_WORK) -> int:
    """Return the time, in operations, that `threads` threads take for `count` iterations with
    `work` operations in all; starting the threads takes `fork_work`."""
    # The slowest thread decides: 5 iterations on 4 threads take as long as 2.
    return fork_work + work * -(-count // threads) // max(1, count)
