"""The instrument that prints the changes of each pass as a diff."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from io import StringIO
from itertools import chain, count
from typing import NamedTuple
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove

from ..diagnostics import wants_colour
from ..instrument import PassInstrument
from ..ir.text.printer import PLAIN, ExactPrinter, PrintStyle
from ..ir.walk import symbol_of
from ..registry import PassInfo
from ..run import Run
from .printing import banner, ir_text, title_of, top_level

CONSTANTS_BY_NAME = PrintStyle(resource_elements=16)
"""The style of a diff: constants of more elements are names, which differ if the elements do."""


class PrintDiff(PassInstrument):
    """An instrument that prints the changes of each pass on stderr as a unified diff, also those of
    a pass that failed.

    Values have the names that the IR after the pass has when it is printed, in the lines before the
    pass, too, so that no line differs because values were renumbered. Large constants are printed
    as names that depend on their elements. With `functions` only these are compared. `color` None
    means in colour on a terminal, unless NO_COLOR is set.
    """

    def __init__(
        self,
        color: bool | None = None,
        style: PrintStyle = CONSTANTS_BY_NAME,
        functions: Iterable[str] = (),
    ) -> None:
        self.color = color
        self.style = style
        self.functions = frozenset(name.removeprefix("@") for name in functions)
        self._runs: WeakKeyDictionary[Run, _LastText] = WeakKeyDictionary()

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        run.watch()
        if run not in self._runs:
            self._runs[run] = _LastText(run, self.style, self.functions)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        seen = self._runs.get(run)
        if seen is not None and not info.composite and seen.version != run.version:
            self._print(f"After {title_of(info)}", seen.diff(run))
        self._forget(run)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        run = Run.current()
        # The version does not count the changes of a pass that failed.
        if (seen := self._runs.get(run)) is not None and not info.composite:
            self._print(f"After {title_of(info)} Failed", seen.diff(run))
        self._forget(run)

    def _print(self, title: str, lines: list[str]) -> None:
        if not lines:
            return
        if wants_colour(sys.stderr) if self.color is None else self.color:
            lines = [_coloured(line) for line in lines]
        sys.stderr.write("\n".join([banner(f"IR Diff {title}"), *lines, "", ""]))

    def _forget(self, run: Run) -> None:
        """Drop the state of a run when its outermost pass ends."""
        if len(run.frames) == 1:
            self._runs.pop(run, None)


_COLOURS = {"-": "\x1b[31m", "+": "\x1b[32m", "@": "\x1b[36m"}


def _coloured(line: str) -> str:
    colour = _COLOURS.get(line[:1])
    return f"{colour}{line}\x1b[0m" if colour else line


class _LastText:
    """The text of a run's module after the last change."""

    def __init__(self, run: Run, style: PrintStyle, functions: frozenset[str]) -> None:
        self._style = style
        self._functions = functions
        self._update(run)

    def _update(self, run: Run) -> None:
        self.version = run.version
        self._text = text_to_name(run.module, self._functions, self._style)
        self._scopes = scopes(run.module)

    def diff(self, run: Run) -> list[str]:
        """Return the diff of the module since the last call."""
        text, values = self._text, self._scopes
        self._update(run)
        names: dict[SSAValue, str] = {}
        for scope, order in values.items():
            kept = [value for value in self._scopes.get(scope, ()) if value in self._text.names]
            names |= renamed({value: self._text.names[value] for value in kept}, order)
        before, after = text.lines(names), self._text.lines(self._text.names)
        return unified(before, after)


def unified(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the unified diff of two texts, given by their lines, without the names of files."""
    return [*unified_diff(before, after, lineterm="")][2:]


# Text without names


class NamelessText(NamedTuple):
    """The text of IR in which the names of values can be replaced."""

    text: str
    """Each name is the place of the value in `names`, between two zero bytes."""
    names: dict[SSAValue, str]
    """The names as they are printed."""

    def lines(self, names: Mapping[SSAValue, str]) -> list[str]:
        """Return the lines of the text with these names; other values keep theirs."""
        words = [names.get(value, name) for value, name in self.names.items()]
        return _PLACE.sub(lambda match: words[int(match[1])], self.text).split("\n")


_PLACE = re.compile("\0([0-9]+)\0")


def text_to_name(
    module: ModuleOp, functions: Collection[str] = (), style: PrintStyle = PLAIN
) -> NamelessText:
    """Return the text of a module, or of the functions of these names in it. If it cannot be
    printed, its names cannot be replaced.
    """
    ops: list[Operation] = [module]
    if functions:
        ops = [op for op in top_level(module) if symbol_of(op) in functions]
    try:
        printer = _NamelessPrinter(stream := StringIO(), style)
        for number, op in enumerate(ops):
            printer.print_string("\n" * (number > 0))
            printer.print_op(op)
        return NamelessText(stream.getvalue(), printer.names)
    except Exception:
        return NamelessText("\n".join(ir_text(op, style) for op in ops), {})


class _NamelessPrinter(ExactPrinter):
    """A printer that prints places in place of names. Comments with users keep their names."""

    def __init__(self, stream: StringIO, style: PrintStyle) -> None:
        super().__init__(stream, style)
        self.names: dict[SSAValue, str] = {}

    def _new_name(self, value: SSAValue) -> str:
        self.names[value] = super()._new_name(value)
        place = f"\0{len(self.names) - 1}\0"
        self.name_values([(value, place)])
        return place


# Names that stay


def scopes(module: ModuleOp) -> dict[str, list[SSAValue]]:
    """Return the values in the order of the text by scope: the symbol of an isolated top-level op,
    or empty for all others.
    """
    found: dict[str, list[SSAValue]] = {"": []}
    for op in top_level(module):
        isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        found[""] += op.results
        found.setdefault(symbol_of(op) if isolated else "", []).extend(values_in(op))
    return found


def values_in(op: Operation) -> Iterator[SSAValue]:
    """Yield the block arguments and results nested in `op`, in the order of the text."""
    pending: list[Operation | Block] = [*_blocks(op)]
    while pending:
        if isinstance(item := pending.pop(), Block):
            yield from item.args
            pending += [*item.ops][::-1]
        else:
            yield from item.results
            pending += _blocks(item)


def _blocks(op: Operation) -> list[Block]:
    """Return the blocks directly in `op`, last first."""
    return [block for region in op.regions for block in region.blocks][::-1]


def renamed(old: dict[SSAValue, str], values: Sequence[SSAValue]) -> dict[SSAValue, str]:
    """Return names for `values`; values in `old` keep theirs.

    A new value between two kept ones takes over the name of an old one between the same two, if
    both have the same name hint; else that of any old value with its name hint, as when the IR is
    printed. Other new values get names that are not in `old`.
    """
    # Example: with `old` %a, %b, %c and `values` a, x, c, the new value x takes over the name %b.
    order = [*old]
    places = {value: place for place, value in enumerate(order)}
    stayed = old.keys() & set(values)
    fresh = _FreshNames(set(old.values()))
    free: dict[str | None, dict[str, None]] = {}
    for value in order:
        if value not in stayed:
            free.setdefault(value.name_hint, {})[old[value]] = None
    names: dict[SSAValue, str] = {}
    place = 0
    for value in values:
        if value in stayed:
            names[value] = old[value]
            place = places[value] + 1
            continue
        names_left = free.get(value.name_hint, {})
        name = None
        if place < len(order) and (gone := order[place]) not in stayed:
            place += 1
            name = old[gone] if old[gone] in names_left else None
        if name is None and value.name_hint is not None:
            name = next(iter(names_left), None)
        if name is not None:
            del names_left[name]
        names[value] = name or fresh.take(value.name_hint)
    return names


class _FreshNames:
    """A generator of unused names: numbers, or a name hint with a number."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._candidates: dict[str | None, Iterator[str]] = {}

    def take(self, hint: str | None) -> str:
        """Return an unused name for a value with this name hint."""
        names = self._candidates.get(hint)
        if names is None:
            numbered = (f"{hint}_{number}" for number in count(1))
            names = chain([hint], numbered) if hint else map(str, count())
            self._candidates[hint] = names
        name = next(name for name in names if name not in self._taken)
        self._taken.add(name)
        return name
