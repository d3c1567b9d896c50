"""Delta debugging: ever smaller modules, and shorter lists, that are still interesting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp

from ...passmanager.fast.clone import clone
from ...passmanager.instruments.ir.ir_text import is_valid
from ...passmanager.ir.walk import walk
from .reductions import REDUCTIONS, Reduction

__all__ = ["ReductionStep", "op_count", "smaller_lists", "smaller_modules"]

T = TypeVar("T")


@dataclass(frozen=True)
class ReductionStep:
    """A module that is smaller than the one before, and the kind of edit that made it so."""

    what: str
    module: ModuleOp


def smaller_modules(
    module: ModuleOp, interesting: Callable[[ModuleOp], bool], *, verified: bool = True
) -> Iterator[ReductionStep]:
    """Yield ever smaller interesting modules; `module`, which must be interesting, is not changed.

    `interesting` gets copies, which it may change; if `verified`, only valid ones. Of each kind in
    `REDUCTIONS` all edits are tried together, then halves, quarters and so on down to single edits;
    all kinds are tried again until none succeeds. Source: llvm-reduce's delta passes.
    """
    search = DeltaSearch(module, interesting, verified)
    succeeded = True
    while succeeded:
        succeeded = False
        for what, reduction in REDUCTIONS.items():
            for best in search.run(reduction):
                succeeded = True
                yield ReductionStep(what, best)


class DeltaSearch:
    """A search for small interesting modules; `best` is the smallest one found."""

    def __init__(
        self, module: ModuleOp, interesting: Callable[[ModuleOp], bool], verified: bool
    ) -> None:
        self.best = module
        self.interesting = interesting
        self.verified = verified

    def run(self, reduction: Reduction) -> Iterator[ModuleOp]:
        """Try the edits of `reduction`; yield `best` after each one that keeps it interesting."""

        def accept(start: int, end: int) -> bool:
            candidate = self.edited(reduction, start, end)
            if (self.verified and not is_valid(candidate)) or not self.interesting(candidate):
                return False
            # Once more, as `interesting` may have changed the candidate.
            self.best = self.edited(reduction, start, end)
            return True

        for _ in _successes(lambda: len(reduction(self.best)), accept):
            yield self.best

    def edited(self, reduction: Reduction, start: int, end: int) -> ModuleOp:
        """Return a copy of the best module with a range of the edits applied."""
        candidate = clone(self.best)
        # Backwards: users are edited before their operands, and higher indices before lower ones.
        for edit in reversed(reduction(candidate)[start:end]):
            edit()
        return candidate


def smaller_lists(items: Sequence[T], interesting: Callable[[list[T]], bool]) -> Iterator[list[T]]:
    """Yield ever shorter interesting sublists, until no element can be removed."""
    best = list(items)

    def accept(start: int, end: int) -> bool:
        nonlocal best
        if not interesting(candidate := best[:start] + best[end:]):
            return False
        best = candidate
        return True

    before = None
    while before != len(best):
        before = len(best)
        for _ in _successes(lambda: len(best), accept):
            yield best


def op_count(module: ModuleOp) -> int:
    """Return the number of ops in the module."""
    return sum(1 for _ in walk(module)) - 1


def _successes(count: Callable[[], int], accept: Callable[[int, int], bool]) -> Iterator[None]:
    """Try to remove ranges, halving their size each round and going from the end to the start;
    yield after each success. `count` returns the number of things that are left."""
    size = count()
    while size:
        end = count()
        while end > 0:
            start = max(0, end - size)
            if accept(start, end):
                yield
                end = min(start, count())
            else:
                end = start
        size //= 2
