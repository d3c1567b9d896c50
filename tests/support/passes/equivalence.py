"""Modules before and after a transformation, as text, and whether they compute the same."""

from __future__ import annotations

from support.parsing import parsed

from passline.compiler.interpreters.equivalence import Difference, find_difference
from passline.passmanager.registry import make_ir_context

__all__ = ["difference"]


def difference(before: str, after: str, *, seeds: int = 1, rounds: bool = False) -> str | None:
    """Return how two modules differ, in words, or None."""
    found = difference_of(before, after, seeds=seeds, rounds=rounds)
    return None if found is None else found.reason


def difference_of(
    before: str, after: str, *, seeds: int = 1, rounds: bool = False
) -> Difference | None:
    """Return the difference of two modules, or None."""
    ctx = make_ir_context(allow_unregistered=True)
    return find_difference(parsed(before), parsed(after), seeds=seeds, rounds=rounds, ctx=ctx)
