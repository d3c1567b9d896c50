"""The difference of two modules, with names of values that do not depend on their numbers, and the
assertion that there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from .fast.clone import clone
from .instruments.diff import CONSTANTS_BY_NAME, renamed, scopes, text_to_name, unified
from .ir.text.highlight import highlighted
from .ir.walk import brief, name_of
from .output.html import block, fold
from .registry import make_ir_context
from .runner import info_of

__all__ = ["Diff", "assert_equal", "diff"]


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


Names: TypeAlias = dict[str, dict[SSAValue, str]]
"""The names of values by scope, as `instruments.diff` has them."""


def diff(before: ModuleOp, after: ModuleOp | ModulePass) -> Diff:
    """Return what differs in the IR of two modules, or in a module before and after a pass, which
    runs on a copy.

    Values that correspond to each other have the same name; of a pass, these are the values that it
    keeps, and their replacements. Large constants are printed as names that depend on their
    elements.
    """
    for given in (before, after):
        if not isinstance(given, ModuleOp | ModulePass):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"diff takes modules, and a pass in place of one, not {brief(given)}")
    title = "IR" if isinstance(after, ModuleOp) else info_of(after).text
    module = before if isinstance(after, ModuleOp) else clone(before)
    old = {scope: renamed({}, values) for scope, values in scopes(module).items()}
    old_lines = _lines(module, old)
    if isinstance(after, ModuleOp):
        module, new = after, _names_by_kind(old, after)
    else:
        after.apply(make_ir_context(), module)
        new = {scope: renamed(old.get(scope, {}), v) for scope, v in scopes(module).items()}
    return Diff((*unified(old_lines, _lines(module, new)),), title)


def assert_equal(actual: ModuleOp | str, expected: ModuleOp | str) -> None:
    """Raise AssertionError unless two modules, or the texts of modules, have the same IR; the
    message is the diff that makes `actual` of `expected`.

    Names of values and of blocks, locations, and the order of attributes are no part of the IR.
    Values that correspond to each other have the names of `actual` in the diff. Errors: ParseError
    for text that is not IR. Source: `tvm.ir.assert_structural_equal`.
    """
    __tracebackhide__ = True  # pytest shows the line of the caller
    new, old = _parsed(actual, "actual"), _parsed(expected, "expected")
    if not _is_same(new, old):
        names = {scope: renamed({}, values) for scope, values in scopes(new).items()}
        lines = [*unified(_lines(old, _names_by_kind(names, old, hints=False)), _lines(new, names))]
        raise AssertionError("\n".join(["the IR differs: - expected, + actual", *lines]))


def _parsed(given: ModuleOp | str, what: str) -> ModuleOp:
    if isinstance(given, str):
        from .ir.text.parser import parse_module

        return parse_module(make_ir_context(allow_unregistered=True), given, f"<{what}>")
    if not isinstance(given, ModuleOp):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{what} is a module or the text of one, not {brief(given)}")
    return given


def _is_same(a: ModuleOp, b: ModuleOp) -> bool:
    """Return whether two modules have the same operations, values and attributes."""
    texts = [text_to_name(module, style=CONSTANTS_BY_NAME).text for module in (a, b)]
    if texts[0] == texts[1]:
        return True  # also for regions that are nested too deeply for the recursion below
    try:
        return a.is_structurally_equivalent(b)
    except RecursionError:
        return False


def _lines(module: ModuleOp, names: Names) -> list[str]:
    words = {value: name for scope in names.values() for value, name in scope.items()}
    return text_to_name(module, style=CONSTANTS_BY_NAME).lines(words)


# Values of two modules


def _names_by_kind(old: Names, module: ModuleOp, hints: bool = True) -> Names:
    """Return names for the values of another module, given those of the first.

    In each scope, values of one kind in the same order correspond to each other; with `hints`, the
    hints at their names are part of the kind.
    """
    new: Names = {}
    for scope, values in scopes(module).items():
        names = old.get(scope, {})
        same = dict(_pairs([*names], values, _kind if hints else _kind_without_hint))
        new[scope] = renamed({same.get(value, value): n for value, n in names.items()}, values)
    return new


EXACT = 2000
"""The number of values up to which kinds that are frequent are aligned, which is quadratic."""


def _pairs(
    old: Sequence[SSAValue],
    new: Sequence[SSAValue],
    kind: Callable[[SSAValue], tuple[object, ...]],
) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yield the values that correspond to each other: at the start and at the end as far as the
    kinds are the same, and in between by the longest common runs of kinds.
    """
    a, b = [*map(kind, old)], [*map(kind, new)]
    shorter = min(len(a), len(b))
    start = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    end = next((i for i in range(shorter - start) if a[~i] != b[~i]), shorter - start)
    yield from zip(old[:start], new[:start])
    a, b = a[start : len(a) - end], b[start : len(b) - end]
    matcher = SequenceMatcher(None, a, b, autojunk=max(len(a), len(b)) > EXACT)
    for i, j, size in matcher.get_matching_blocks():
        i, j = start + i, start + j
        yield from zip(old[i : i + size], new[j : j + size])
    yield from zip(old[len(old) - end :], new[len(new) - end :])


def _kind(value: SSAValue) -> tuple[object, ...]:
    """Return what the values that correspond to each other have in common."""
    return *_kind_without_hint(value), value.name_hint


def _kind_without_hint(value: SSAValue) -> tuple[object, ...]:
    owner = value.owner
    return name_of(owner) if isinstance(owner, Operation) else "", value.type
