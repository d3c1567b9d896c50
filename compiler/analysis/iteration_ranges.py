"""Ranges of the iterations of loops, where conditions split them, and the work of loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Block, Operation, OpResult
from xdsl.utils.hints import isa

from ...dialects.tir.ops import ForKind, ForOp, LikelyOp
from ...passmanager.ir.walk import walk
from .arith.analyzer import Analyzer
from .arith.deduce_bound import Interval, KnownIntervals, intersection
from .arith.linear_form import LinearForm
from .constant_evaluator import integer_constant

# Ranges of the iterations of a loop, and their split where conditions change.


@dataclass
class IterationRange:
    """The values of a loop variable from `begin` up to `end`, which is not included.

    If the range is not empty, each form in `lows` is a lower bound of all values, and each form in
    `highs` an upper bound. Unlike `begin` and `end` they are not clamped, which allows more proofs.
    """

    begin: LinearForm
    end: LinearForm
    lows: Sequence[LinearForm]
    highs: Sequence[LinearForm]
    is_middle: bool = False
    known: dict[arith.CmpiOp, bool] = field(default_factory=dict[arith.CmpiOp, bool])
    """The comparisons with the same truth for all these values, and their truth."""

    @property
    def is_constant(self) -> bool:
        """Whether both bounds are constants."""
        return not self.begin.terms and not self.end.terms


@dataclass
class Middle:
    """The interval around which a loop is split, and the comparisons that are known in it."""

    interval: Interval
    known: dict[arith.CmpiOp, bool]


def known_conditions(
    analyzer: Analyzer, part: IterationRange, conditions: Sequence[KnownIntervals]
) -> dict[arith.CmpiOp, bool]:
    """Return the conditions that hold, or fail, in all of `part`, and whether they hold."""
    return {
        condition.op: truth
        for condition in conditions
        for truth in (True, False)
        if any(_includes(analyzer, interval, part) for interval in condition.where(truth))
    }


def find_middle(
    analyzer: Analyzer,
    conditions: Iterable[KnownIntervals],
    whole: IterationRange,
    *,
    keep_first: bool,
) -> Middle | None:
    """Return the interval around which to split `whole`, and the conditions known in it.

    It is the intersection of the intervals in which the conditions hold: for `i >= 1` and `i < m`,
    the interval from 1 to `m - 1`. Conditions that never hold in `whole` are skipped. If all are,
    or the intersection is empty, the intervals in which the conditions fail are intersected
    instead. With `keep_first` an empty intersection is avoided: it ends before the first condition
    that would make it empty. None if the intervals of failing do not intersect either.
    """
    # Where conditions hold comes first: the middle part then has no checks at all, and it is the
    # long one of a tiled loop with a remainder.
    for truth in (True, False):
        known: dict[arith.CmpiOp, bool] = {}
        interval = Interval()
        for condition in conditions:
            where = condition.where(truth)
            # Two intervals, as for `!=`, would need a middle of two parts.
            if len(where) != 1 or _is_disjoint(analyzer, where[0], whole):
                continue
            both = intersection(analyzer, interval, where[0])
            if _is_disjoint(analyzer, both, whole):
                if not (keep_first and truth):
                    known = {}
                break
            interval = both
            known[condition.op] = truth
        if known:
            return Middle(interval, known)
    return None


def split_range(
    analyzer: Analyzer, whole: IterationRange, interval: Interval
) -> list[IterationRange]:
    """Return the parts of `whole` before, in (`is_middle`) and after an interval, in order.

    Parts that are known to be empty are left out. Invariant: each iteration of `whole` is in
    exactly one part, and no part has others, whatever the values of unknown bounds. Therefore the
    bounds of the middle part are clamped unless they are known to be in order:

        begin = max(whole.begin, min(low, whole.end))
        end = max(begin, min(high + 1, whole.end))
    """
    # For `0 <= i < n` and the interval from 1 to `m - 1`:
    #   [0, min(1, n)), [min(1, n), max(.., min(m, n))), [.., n)
    begin, end = whole.begin, whole.end
    low, high = interval
    before, after = [*whole.highs], [*whole.lows]
    lows, highs = [*whole.lows], [*whole.highs]
    if low is not None and not analyzer.can_prove("sle", low, begin):
        begin = analyzer.maximum(begin, analyzer.minimum(low, end))
        # If the part before has iterations, `begin` is `min(low, end)`: all of them are below
        # `low`.
        before.append(low - 1)
        lows += [low, begin]
    finish = end
    if high is not None and not analyzer.can_prove("sge", high + 1, end):
        finish = analyzer.maximum(begin, analyzer.minimum(high + 1, end))
        after.append(high + 1)
        highs += [high, finish - 1]
    parts = [
        IterationRange(whole.begin, begin, whole.lows, [*before, begin - 1]),
        IterationRange(begin, finish, lows, highs, is_middle=True),
        IterationRange(finish, end, [*after, finish], whole.highs),
    ]
    return [part for part in parts if not analyzer.can_prove("sge", part.begin, part.end)]


def _includes(analyzer: Analyzer, interval: Interval, part: IterationRange) -> bool:
    """Return whether `interval` provably includes all of `part`."""
    prove = analyzer.can_prove
    low, high = interval
    return (low is None or any(prove("sle", low, lowest) for lowest in part.lows)) and (
        high is None or any(prove("sge", high, most) for most in part.highs)
    )


def _is_disjoint(analyzer: Analyzer, interval: Interval, part: IterationRange) -> bool:
    """Return whether `interval` provably has no value in common with `part`."""
    prove = analyzer.can_prove
    low, high = interval
    return (
        (low is not None and any(prove("sgt", low, most) for most in part.highs))
        or (high is not None and any(prove("slt", high, lowest) for lowest in part.lows))
        or (low is not None and high is not None and prove("sgt", low, high))
    )


# The conditions in a loop by which `tir-loop-partition` may split it.


HINT = "pragma_loop_partition_hint"
"""The attribute of a loop that may be split by any comparison in it."""

IGNORED = "ignore_loop_partition"
"""The attribute of operations whose conditions must not split a loop."""


def has_hint(op: Operation) -> bool:
    """Return whether `op` is a loop with the hint; a hint of 0 does not count."""
    if HINT not in op.attributes or not isinstance(op, ForOp):
        return False
    hint = op.attributes[HINT]
    return not (isa(hint, IntegerAttr[IntegerType | IndexType]) and hint.value.data == 0)


def partition_conditions(loop: ForOp) -> list[arith.CmpiOp]:
    """Return the comparisons in `loop` by which it may be split, in order.

    By default these are the comparisons under a `tir.likely`; in a loop with a hint, all
    comparisons. Those that are marked as ignored are left out.
    """
    ops = list(walk(loop))
    ignored = _with_members((op for op in ops if IGNORED in op.attributes), loop)
    wanted: Iterable[Operation] = ops
    if not has_hint(loop):
        wanted = _with_members((op for op in ops if isinstance(op, LikelyOp)), loop)
    return [op for op in wanted if isinstance(op, arith.CmpiOp) and op not in ignored]


def _with_members(conditions: Iterable[Operation], loop: ForOp) -> dict[Operation, None]:
    """Return `conditions` and, for each `tir.likely`, and, or and xor among them, its operands that
    are computed in `loop`."""
    found: dict[Operation, None] = {}
    pending = list(conditions)[::-1]
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found[op] = None
        # Selects and comparisons of conditions are not followed: a split could not tell which of
        # their operands decides.
        if isinstance(op, LikelyOp | arith.AndIOp | arith.OrIOp | arith.XOrIOp):
            for operand in reversed(op.operands):
                # A condition from before the loop is the same in all iterations, and splits
                # nothing.
                if isinstance(operand, OpResult) and loop.is_ancestor(operand.op):
                    pending.append(operand.op)
    return found


# The work of loops: an estimate of the operations that they execute.


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
    """Return an estimate of the operations that `op` executes, including the operations nested in
    it. An operation on a vector counts as one, and a constant as none."""
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
