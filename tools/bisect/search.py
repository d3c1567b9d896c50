"""The search that finds passes, functions and steps alike: bisection of a count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["AlreadyBadError", "Boundary", "NeverBadError", "find_boundary"]


class AlreadyBadError(Exception):
    """The error for a predicate that holds for 0 already."""


class NeverBadError(Exception):
    """The error for a predicate that does not hold for the whole count."""


@dataclass(frozen=True)
class Boundary:
    """A number for which a predicate holds, while it does not for the number before.

    `contradiction` is a neighbour that shows that the predicate is not monotone: one further on for
    which it does not hold, or one further back for which it does.
    """

    number: int
    contradiction: int | None = None


def find_boundary(count: int, is_bad: Callable[[int], bool]) -> Boundary:
    """Return the first number up to `count` for which `is_bad` holds, if it holds for all after the
    first; otherwise, some boundary.

    It is asked about each number at most once: O(log count) numbers, and two neighbours of the
    boundary. Errors: AlreadyBadError, NeverBadError.
    """
    if is_bad(0):
        raise AlreadyBadError
    if count == 0 or not is_bad(count):
        raise NeverBadError
    known = {0: False, count: True}
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        known[middle] = is_bad(middle)
        good, bad = (good, middle) if known[middle] else (middle, bad)
    for neighbour in (bad + 1, good - 1):
        if 0 < neighbour < count and neighbour not in known:
            known[neighbour] = is_bad(neighbour)
    contradictions = (n for n, held in known.items() if held != (n >= bad))
    return Boundary(bad, next(contradictions, None))
