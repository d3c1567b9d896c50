"""Ranges of the iterations of a loop, and their split where conditions change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith

from ..arith.analyzer import Analyzer
from ..arith.bounds.deduce_bound import Interval, KnownIntervals, intersection
from ..arith.linear_form import LinearForm

__all__ = ["IterationRange", "Middle", "find_middle", "known_conditions", "split_range"]


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

    It is the intersection of the intervals in which the conditions hold: of `i >= 1` and `i < m`
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
