"""The choices of a kernel: schedules, tiles and algorithms.

Each is made from a finite space of candidates, by an estimate, or by an earlier measurement.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Generic, TypeAlias, TypeVar

__all__ = ["Choice", "Choices", "Form", "Made", "NoKernel", "Space"]


T = TypeVar("T")

Form: TypeAlias = Mapping[str, int | str | None]
"""The numbers, switches and words that describe a candidate or a problem: a flat JSON object."""


class Space(ABC, Generic[T]):
    """The candidates for one choice of a kernel."""

    kind: ClassVar[str]

    @abstractmethod
    def problem(self) -> Form:
        """Return the numbers on which the candidates and their estimates depend."""

    @abstractmethod
    def candidates(self) -> Iterator[T]:
        """Yield all candidates."""

    @abstractmethod
    def estimate(self, candidate: T) -> float:
        """Return an estimate of the cycles that the computation takes with a candidate."""

    def best(self) -> T:
        """Return the candidate with the lowest estimate."""
        return min(self.candidates(), key=self.estimate)

    def form(self, candidate: T) -> Form:
        """Return the description of a candidate, which differs from those of all others."""
        return dict(vars(candidate))

    def choice(self, candidate: T) -> Choice:
        """Return the choice of `candidate`."""
        return Choice(self.kind, self.problem(), self.form(candidate))

    def ranked(self) -> list[tuple[float, Choice]]:
        """Return all candidates as choices with their estimates, the lowest first."""
        estimates = [(self.estimate(c), self.choice(c)) for c in self.candidates()]
        return sorted(estimates, key=lambda pair: pair[0])

    def find(self, form: Form) -> tuple[()] | tuple[T]:
        """Return a tuple of the candidate that `form` describes; the candidate itself may be None.
        Return an empty tuple if the space does not have it."""
        return next(((c,) for c in self.candidates() if self.form(c) == form), ())


@dataclass(frozen=True)
class Choice:
    """A candidate that was chosen from a space, as data."""

    kind: str
    problem: Form
    form: Form

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.form.items()) or "none"


@dataclass(frozen=True)
class Made:
    """A choice that was made, with all candidates."""

    choice: Choice
    estimate: Callable[[], float]
    """Return the estimated cycles of the choice."""
    ranked: Callable[[], list[tuple[float, Choice]]]
    """Return all candidates with their estimates, the lowest first."""


class Choices:
    """The choices of one kernel: those that were measured, and those that it made."""

    def __init__(self, measured: Sequence[Choice] | None = None) -> None:
        self.measured = measured
        """The choices that are known to be fast; None if there is no database."""
        self.made: list[Made] = []
        """The choices in their order."""
        self.unfit: list[Choice] = []
        """The measured choices for spaces that do not have them."""

    def decide(self, space: Space[T]) -> tuple[T, bool]:
        """Return the candidate that was measured to be the fastest, or else the one with the lowest
        estimate; and whether it was measured."""
        found = self._measured(space)
        candidate = found[0] if found else space.best()
        made = Made(space.choice(candidate), partial(space.estimate, candidate), space.ranked)
        self.made.append(made)
        return candidate, bool(found)

    def _measured(self, space: Space[T]) -> tuple[()] | tuple[T]:
        if not self.measured:
            return ()
        problem = space.problem()
        for choice in self.measured:
            # The first one that fits. A kernel with two equal contractions has the same choice for
            # both.
            if choice.kind == space.kind and choice.problem == problem:
                # A candidate that this version no longer generates is not used: no test covers it.
                if found := space.find(choice.form):
                    return found
                self.unfit.append(choice)
        return ()


# The exception of legalizations for operations that no kernel computes.


class NoKernel(Exception):
    """An operation, type or shape that kernels do not support; the message is the reason.

    A legalization raises it, and so may the tensors that it returns while they are read;
    `legalize-ops` then leaves the function as it is.
    """
