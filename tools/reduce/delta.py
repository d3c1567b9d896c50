"""Delta debugging: ever smaller modules, and shorter lists, that are still interesting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
    best = module

    def accept(reduction: Reduction, start: int, end: int) -> bool:
        nonlocal best
        candidate = _edited(best, reduction, start, end)
        if (verified and not is_valid(candidate)) or not interesting(candidate):
            return False
        best = _edited(best, reduction, start, end)  # once more: `interesting` may have changed it
        return True

    succeeded = True
    while succeeded:
        succeeded = False
        for what, reduction in REDUCTIONS.items():

            def count(reduction: Reduction = reduction) -> int:
                return len(reduction(best))

            for _ in _successes(count, partial(accept, reduction)):
                succeeded = True
                yield ReductionStep(what, best)


def _edited(module: ModuleOp, reduction: Reduction, start: int, end: int) -> ModuleOp:
    """Return a copy of a module with a range of the edits applied."""
    candidate = clone(module)
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
