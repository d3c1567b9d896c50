"""Further errors of a text that has one: parsing goes on at the next function."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING

from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Position

if TYPE_CHECKING:
    from ...fast.reading.locating_parser import LocatingParser

__all__ = ["Attempt", "further_errors"]

Attempt = Callable[[Callable[[], object]], ParseError | None]
"""A function that parses something, and returns the error that it ended with."""

_LINE = re.compile(r'^([ \t]*)(?:"?([a-zA-Z_][\w$.]*)|([#!])[\w$.-]+[ \t]*=)', re.MULTILINE)


def further_errors(
    parser: LocatingParser, error: ParseError, attempt: Attempt
) -> Generator[ParseError]:
    """Yield the errors after `error` in functions, and other ops isolated from above, that begin in
    the column of the op in which `error` is.

    They share no values and blocks, therefore no error is the consequence of another. The end is
    reached with an alias that cannot be parsed, as what follows may use it.
    """
    text = parser.lexer.input.content
    if (start := _failed_op(parser)) is None:
        return
    indent, position = _indent(text, start), _resumed(text, start, error.span.start)
    while (match := _next(parser, indent, position)) is not None:
        is_alias, at = match[3] is not None, match.end(1)
        found = attempt(partial(_parse_from, parser, at, is_alias))
        if found is not None:
            yield found
            if is_alias:
                return
        position = _resumed(text, at, parser.pos if found is None else found.span.start)


def _parse_from(parser: LocatingParser, position: Position, is_alias: bool) -> None:
    if is_alias:
        parser.parse_alias_at(position)
    else:
        parser.restart_at(position)
        parser.parse_operation()


def _resumed(text: str, start: Position, end: Position) -> Position:
    """Return the position after whose line a line may begin the next op; the op that was parsed is
    at `start`, and what is at `end` is not known to be part of it.
    """
    line = text.rfind("\n", 0, end)
    return max(start, end if text[line + 1 : end].strip() else line)


def _failed_op(parser: LocatingParser) -> Position | None:
    """Return the start of the outermost op being parsed that is not a module."""
    text = parser.lexer.input.content
    is_module = re.compile(r'"?(?:builtin\.)?module\b').match
    return next((start for start in parser.open_ops if is_module(text, start) is None), None)


def _indent(text: str, position: Position) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _next(parser: LocatingParser, indent: str, position: Position) -> re.Match[str] | None:
    """Return the start of the first line after that of `position` that begins, after `indent`, with
    an op which is isolated from above, or with the definition of an alias.
    """
    text = parser.lexer.input.content
    end = text.find("\n", position)
    lines = _LINE.finditer(text, end) if end >= 0 else ()
    return next((m for m in lines if m[1] == indent and (m[3] or _is_isolated(parser, m[2]))), None)


def _is_isolated(parser: LocatingParser, name: str) -> bool:
    op = parser.ctx.get_optional_op(name, dialect_stack=("builtin",))
    return op is not None and op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
