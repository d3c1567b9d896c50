"""The help of one screen that `-h` prints, and the order of the options in that of `--help`.

argparse offers no other way to the options of a parser and to their groups than private fields.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import TextWrapper

# Text in two columns that fits a terminal: no word is cut, and no name is broken at a hyphen.


MAX_COLUMNS = 120
"""The number of columns of a wide terminal that are used."""


def terminal_width() -> int:
    """Return the number of columns for help: those of the terminal, or of COLUMNS, or 100."""
    return min(shutil.get_terminal_size((100, 24)).columns, MAX_COLUMNS)


def output_width() -> int | None:
    """Return the number of columns for a list on stdout; None if that is neither a terminal nor of
    the size that COLUMNS gives: for a pipe, each entry is on a line."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    return terminal_width() if is_terminal or os.environ.get("COLUMNS") else None


def filled(text: str, width: int | None, indent: str = "", first: str | None = None) -> list[str]:
    """Return `text` as lines of at most `width` columns, after `indent`, or first `first`."""
    start = indent if first is None else first
    if width is None:
        return [f"{start}{text}".rstrip()]
    wrapper = _Wrapper(
        width, initial_indent=start, subsequent_indent=indent, break_long_words=False
    )
    return wrapper.wrap(text) or [start.rstrip()]


class _Wrapper(TextWrapper):
    """A wrapper that breaks lines at blanks, and long pipelines such as `a{x=1},b,c` within."""

    def _split(self, text: str) -> list[str]:
        chunks = re.split(r"(\s+)", text)
        return [part for chunk in chunks for part in _parts(chunk) if part]


def _parts(word: str) -> list[str]:
    """Return the parts of a word between which a line may be broken."""
    return [word] if len(word) <= 40 else re.findall(r"[^,({]*[,({]?", word)


def rows(pairs: Iterable[tuple[str, str]], width: int | None) -> Iterator[str]:
    """Yield the lines of two columns; a left entry wider than the column has its own line."""
    pairs = [*pairs]
    most = len(pairs) and max(len(left) for left, _ in pairs)
    column = most + 4 if width is None else min(most + 4, max(width * 2 // 5, 12))
    for left, right in pairs:
        first = f"  {left:{column - 2}}"
        if len(left) + 4 > column:
            yield f"  {left}"
            first = " " * column
        yield from filled(right, width, " " * column, first)


# pyright: reportPrivateUsage=false


@dataclass(frozen=True)
class ShortHelp:
    """The content of the short help of a tool: examples, and some options."""

    examples: Sequence[tuple[str, str]]
    """Commands, without the name of the tool, and what they do."""
    frequent: str
    """The options that are used most, separated by blanks."""

    def text(self, parser: argparse.ArgumentParser) -> str:
        """Return the help of a parser: at most 40 lines on a terminal of 100 columns."""
        width = terminal_width()
        lines = [parser.format_usage().rstrip(), "", *filled(parser.description or "", width)]
        lines += ["", "examples:", *self._examples(parser.prog, width)]
        lines += ["", "options used most:"]
        actions = {option: a for a in parser._actions for option in a.option_strings}
        known = [actions[name] for name in self.frequent.split() if name in actions]
        lines += rows(map(option_row, known), width)
        titles = [g.title for g in parser._action_groups if g._group_actions and g.title]
        named = [title for title in titles if title not in ("options", "positional arguments")]
        lines += ["", *filled(f"--help shows all options: {'; '.join(named)}.", width)]
        return "\n".join(lines) + "\n"

    def _examples(self, program: str, width: int) -> Iterator[str]:
        """Yield the lines of the examples, in two columns if no command is broken by that."""
        commands = [(f"{program} {args}", said) for args, said in self.examples]
        longest = max(len(command) for command, _ in commands)
        if longest + max(len(said) for _, said in commands) + 4 <= width:
            yield from (f"  {command:{longest}}  {said}" for command, said in commands)
            return
        for command, said in commands:
            *broken, last = filled(command, width - 2, "      ", "  ")
            yield from (f"{line} \\" for line in broken)
            yield last
            yield from filled(said, width, "    ")


def option_row(action: argparse.Action) -> tuple[str, str]:
    """Return an option as a user writes it, and the first part of its help."""
    short = [name for name in action.option_strings if not name.startswith("--")]
    long = [name for name in action.option_strings if name.startswith("--")]
    names = ", ".join([*short, *long[:1]])
    takes_value = action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction)
    choices = f"{{{','.join(map(str, action.choices))}}}" if action.choices else None
    value = action.metavar or choices or action.dest.upper()
    if takes_value and not isinstance(action.const, str):  # what an option has without a value
        names += f" {value}"
    elif takes_value and action.choices is None:
        names += f"[={value}]"
    return names, (action.help or "").split(";")[0].split(":")[0]


XDSL_HELP = {
    "input and output": {
        "--allow-unregistered-dialect": "read operations, types and attributes of dialects that "
        "are not registered",
        "--no-implicit-module": "do not wrap the input in a module",
        "--parsing-diagnostics": "print a parse error to the output, and exit with 0",
        "--shrink": "exit with 0 if a pass raised ShrinkException, as Shrink Ray expects",
    },
    "format of IR, in the result and on stderr": {
        "--print-op-generic": "print operations in generic form",
        "--print-no-properties": "print properties as attributes",
        "--print-debuginfo": "print the locations of operations",
        "--syntax-highlight": "print the result in colours",
    },
}
"""The options of xdsl-opt by the groups in which they stand here, with their help."""


def group_xdsl_options(parser: argparse.ArgumentParser) -> None:
    """Move xDSL's options to the groups of Passline, with a help, and describe the input."""
    groups = {group.title: group for group in parser._action_groups}
    for action in groups["positional arguments"]._group_actions:
        if action.dest == "input_file":  # other tools say what it is, in a group of theirs
            action.help = "the file of IR, or the ONNX model; '-', or no file, is stdin"
    options = groups["options"]._group_actions
    for title, helps in XDSL_HELP.items():
        for action in [*options]:
            if (name := action.option_strings[-1]) in helps and title in groups:
                action.help = helps[name]
                options.remove(action)
                groups[title]._group_actions.append(action)
