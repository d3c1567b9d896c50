"""The difference of two modules, with names of values that do not depend on their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from itertools import islice

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ..passmanager.base import Pass
from ..passmanager.html import block, fold
from ..passmanager.instruments.diff import named_text, renamed, scopes
from ..passmanager.ir.highlight import highlighted
from ..passmanager.ir.symbols import brief, name_of
from ..passmanager.runner import info_of
from ..passmanager.sequential import Sequential
from .notebook import STYLE

__all__ = ["Diff", "diff"]


@dataclass(frozen=True)
class Diff:
    """A unified diff of the IR of two modules; empty, and then false, if they are the same."""

    lines: tuple[str, ...]
    title: str = "IR"

    def __bool__(self) -> bool:
        return bool(self.lines)

    @property
    def added(self) -> int:
        """The number of lines that are in the second module only."""
        return sum(line.startswith("+") for line in self.lines)

    @property
    def removed(self) -> int:
        """The number of lines that are in the first module only."""
        return sum(line.startswith("-") for line in self.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        summary = f"{self.title}: {self.removed} lines removed, {self.added} added"
        return f"{summary}\n{self}" if self else f"{self.title}: no change"

    def _repr_html_(self) -> str:
        summary, _, text = repr(self).partition("\n")
        return block(fold(summary, highlighted(text, "diff"), is_open=True) if text else summary)


def diff(before: ModuleOp, after: ModuleOp | ModulePass) -> Diff:
    """Return what differs in the IR of two modules, or in a module before and after a pass, which
    runs on a copy.

    A value of `after` has the name of the value of `before` that it corresponds to, and large
    constants are elided.
    """
    for given in (before, after):
        if not isinstance(given, ModuleOp | ModulePass):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"diff takes modules, and a pass in place of one, not {brief(given)}")
    if isinstance(after, ModuleOp):
        return _difference(before, after, "IR")
    pipeline = after if isinstance(after, Pass) else Sequential([after])
    return _difference(before, pipeline(before), info_of(after).text)


def _difference(before: ModuleOp, after: ModuleOp, title: str) -> Diff:
    old = {scope: renamed({}, values) for scope, values in scopes(before).items()}
    new = {
        scope: _names_after(old.get(scope, {}), values) for scope, values in scopes(after).items()
    }
    text = named_text(before, old.values(), STYLE), named_text(after, new.values(), STYLE)
    lines = unified_diff(text[0].split("\n"), text[1].split("\n"), lineterm="")
    return Diff((*islice(lines, 2, None),), title)  # without the names of files


def _names_after(old: dict[SSAValue, str], values: Sequence[SSAValue]) -> dict[SSAValue, str]:
    """Return names for `values` of a changed scope, given the names of those before: values that
    are defined by ops of one name and type, in the same order, correspond to each other.
    """
    matcher = SequenceMatcher(None, [*map(_kind, old)], [*map(_kind, values)])
    order = [*old]
    same: dict[SSAValue, SSAValue] = {}
    for start, new_start, size in matcher.get_matching_blocks():
        same |= zip(order[start : start + size], values[new_start : new_start + size])
    return renamed({same.get(value, value): name for value, name in old.items()}, values)


def _kind(value: SSAValue) -> tuple[object, ...]:
    """Return what the values that correspond to each other have in common."""
    owner = value.owner
    return name_of(owner) if isinstance(owner, Operation) else "", value.type, value.name_hint
