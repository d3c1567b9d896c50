"""The rows of the table of `make bench`: comparisons with a peer, both sides in turn in one run."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from time import perf_counter, process_time
from typing import TypeAlias, TypeVar

__all__ = [
    "QUICK_OPS",
    "SIZES",
    "Case",
    "Clock",
    "Pair",
    "Round",
    "Row",
    "Run",
    "Sample",
    "Scope",
    "Side",
    "Unavailable",
    "measure",
    "measure_together",
    "once",
    "sizes",
    "timed",
]

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_OPS = 10_000
"""The size of the inputs in the quick selection."""
ROUNDS, MAX_ROUNDS = 3, 9

T = TypeVar("T")
Clock: TypeAlias = Callable[[], float]
Run: TypeAlias = Callable[[], object]
Side: TypeAlias = Callable[[], Run]
"""A function that prepares one run, which is not timed, and returns it."""


class Unavailable(Exception):
    """A peer or an input is not installed, or has not been given; the row says so."""


@dataclass(frozen=True)
class Sample:
    """One run: its time in seconds, and the peak memory of its process in bytes if measured."""

    seconds: float
    peak: int = 0


Round: TypeAlias = Callable[[], Sample]


@dataclass(frozen=True)
class Pair:
    """Both sides of a comparison; without a peer only ours is measured."""

    ours: Round
    peer: Round | None = None
    ops: int = 0
    """The number of operations, if it is known only now."""
    base: tuple[int, int] = 0, 0
    """The peak memory of both with no IR, if memory is measured."""


@dataclass(frozen=True)
class Scope:
    """The bounds of a measurement, and its optional inputs."""

    max_ops: int = QUICK_OPS
    xdsl_tests: str | None = None
    """xDSL's source distribution, or the folder that it was unpacked to."""
    growth: bool = False


@dataclass(frozen=True)
class Case:
    """A comparison that can be measured: `what` is done `on` an input of `ops` operations."""

    what: str
    on: str
    peer: str
    prepare: Callable[[], Pair]
    """Make the inputs; Unavailable if that cannot be done here."""
    ops: int = 0
    rounds: int = ROUNDS
    """The minimum number of rounds."""
    quick: bool = True
    """Whether it is in the selection of a run without a filter and without bounds."""
    on_page: bool = False
    """Whether it is in docs/performance.md even if it is not quick."""

    @property
    def label(self) -> str:
        """Return the text that a filter is searched in."""
        return " ".join([self.what, self.on, *([str(self.ops)] if self.ops else []), self.peer])

    @property
    def ours(self) -> tuple[str, str, int]:
        """Return what our side does: the same in cases that differ in their peer alone."""
        return self.what, self.on, self.ops


@dataclass(frozen=True)
class Row:
    """A measured comparison: a time in seconds for each round, and peaks above the base in bytes.

    `size` is the number of operations asked for, `ops` that of the input. `note` says why there is
    no figure, if there is none; `failed` that this is an error.
    """

    what: str
    on: str
    ops: int
    peer: str
    ours: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()
    memory: int = 0
    peer_memory: int = 0
    note: str = ""
    failed: bool = False
    size: int = 0

    @property
    def ratios(self) -> tuple[float, ...]:
        """Return the peer's time divided by ours, for each round."""
        return tuple(other / mine for mine, other in zip(self.ours, self.theirs))

    @property
    def ratio(self) -> float | None:
        """Return how many times as fast as the peer our side is."""
        return median(self.ratios) if self.ratios else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """Return the minimum and the maximum ratio."""
        return (min(self.ratios), max(self.ratios)) if self.ratios else None

    @property
    def seconds(self) -> float | None:
        return median(self.ours) if self.ours else None

    @property
    def peer_seconds(self) -> float | None:
        return median(self.theirs) if self.theirs else None


def timed(side: Side, clock: Clock = process_time) -> Round:
    """Return a round that times a run in this process; garbage is collected before it."""

    def sample() -> Sample:
        run = side()
        gc.collect()
        start = clock()
        result = run()
        seconds = clock() - start
        del result  # freed after the clock has stopped, on both sides
        return Sample(seconds)

    return sample


def once(run: Run) -> Side:
    """Return a side whose runs need no preparation."""
    return lambda: run


def sizes(scope: Scope, *, at_most: int = SIZES[-2]) -> Iterator[int]:
    """Yield the numbers of operations that inputs are made with."""
    return (size for size in SIZES if size <= min(scope.max_ops, at_most))


def measure(case: Case, seconds: float = 1.0) -> Row:
    """Measure one case."""
    (row,) = measure_together([case], seconds)
    return row


def measure_together(cases: Sequence[Case], seconds: float = 1.0) -> list[Row]:
    """Measure cases that differ in their peer alone: in each round our side runs once, then every
    peer. There are as many rounds as the cases ask for, and more until `seconds` have passed.

    Objects that are alive before are frozen, so that the garbage collector sees those of the runs
    alone. Errors of a side are told in its row: the other rows are measured all the same.
    """
    found = [_Comparison(case) for case in cases]
    for one in found:
        one.pair = one.attempt(one.case.prepare)
    gc.collect()
    gc.freeze()
    try:
        ours = _samples(found, seconds)
    finally:
        gc.unfreeze()
    return [one.row(ours) for one in found]


@dataclass
class _Comparison:
    """A case while it is measured: its sides, the samples of its peer, and what went wrong."""

    case: Case
    pair: Pair | None = None
    theirs: list[Sample] = field(default_factory=list[Sample])
    note: str = ""
    failed: bool = False

    def attempt(self, function: Callable[[], T]) -> T | None:
        """Call a function, and keep its error."""
        try:
            return function()
        except Unavailable as reason:
            self.note = str(reason)
        except Exception as error:
            text = (str(error) or "no message").splitlines()[0]
            self.note, self.failed = f"{type(error).__name__}: {text}", True
        return None

    def row(self, ours: Sequence[Sample]) -> Row:
        """Return the row of the case, with the figures if there was no error."""
        case, pair = self.case, self.pair
        row = Row(case.what, case.on, case.ops, case.peer, size=case.ops)
        if pair is None or self.note:
            return replace(row, note=self.note, failed=self.failed)
        return replace(
            row,
            ops=pair.ops or case.ops,
            ours=tuple(sample.seconds for sample in ours),
            theirs=tuple(sample.seconds for sample in self.theirs),
            memory=_peak(ours, pair.base[0]),
            peer_memory=_peak(self.theirs, pair.base[1]),
        )


def _samples(found: Sequence[_Comparison], seconds: float) -> list[Sample]:
    """Run all sides in turn, but those with an error; return the samples of ours."""
    ours: list[Sample] = []
    rounds, start = max(one.case.rounds for one in found), perf_counter()
    while (sides := [(one, one.pair) for one in found if one.pair and not one.note]) and (
        len(ours) < rounds or (len(ours) < MAX_ROUNDS and perf_counter() - start < seconds)
    ):
        ours += _round(sides)
    return ours


def _round(sides: Sequence[tuple[_Comparison, Pair]]) -> list[Sample]:
    """Run our side once and each peer; return the sample of ours, none if it fails."""
    first, pair = sides[0]
    if (sample := first.attempt(pair.ours)) is None:
        for one, _ in sides:
            one.note, one.failed = first.note, first.failed
        return []
    for one, pair in sides:
        if pair.peer is not None and (peer := one.attempt(pair.peer)) is not None:
            one.theirs.append(peer)
    return [sample]


def _peak(samples: Sequence[Sample], base: int) -> int:
    """Return the maximum peak above `base`, or 0 if memory was not measured."""
    return max([0, *(sample.peak - base for sample in samples if sample.peak)])
