"""The reading of modules from text, with all errors of the text and their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ModuleOp,
)
from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.lexer import Span

from ...fast.acceleration import choose
from ...fast.interface import Reader
from ...fast.reading.lexer import MAX_DIGITS, too_many_digits
from ...fast.reading.plain_parser import PlainParser
from ...limits import DEFAULT_MAX_ELEMENTS
from ...output.status import doing
from ..garbage_collection import paused_collector
from .recovery import further_errors
from .syntax_errors import InvalidText, ParseErrors, explained, parse_errors, set_offset

if TYPE_CHECKING:
    from ...fast.reading.locating_parser import LocatingParser

__all__ = ["parse_module", "plain_reader", "read_with"]


def parse_module(
    ctx: Context,
    text: str,
    name: str,
    *,
    line_offset: int = 0,
    implicit_module: bool = True,
    max_elements: int = DEFAULT_MAX_ELEMENTS,
) -> ModuleOp:
    """Return the module in `text`; with `implicit_module`, anything but a single module is wrapped
    in one.

    `line_offset` is the number of lines of the file `name` before `text`; a constant may have up to
    `max_elements` elements.
    """
    return _reader(ctx, text, name, line_offset, implicit_module, max_elements)


def read_with(
    parser_class: type[LocatingParser | PlainParser],
    ctx: Context,
    text: str,
    name: str,
    line_offset: int,
    implicit_module: bool,
    max_elements: int,
) -> ModuleOp:
    """Return the module that a parser reads (see `parse_module`)."""
    parsers: list[LocatingParser | PlainParser] = []
    try:
        with paused_collector(), _located_errors(parsers):
            parsers.append(parser := parser_class(ctx, text, name, line_offset))
            parser.max_elements = max_elements
            with doing(f"reading {name}", lambda: parser.lexer.pos / max(1, len(text))):
                return parser.parse_module(implicit_module)
    except (ParseError, InvalidText) as error:
        errors = [*islice(_all_errors(parsers, error), MAX_ERRORS)]
        for each in {id(e): e for e in (*parse_errors(error), *errors)}.values():
            set_offset(each, line_offset)
        if isinstance(error, InvalidText):
            raise InvalidText(errors) from error.__cause__
        if errors == [error]:
            raise
        raise errors[0] if len(errors) == 1 else ParseErrors(errors) from error


def _locating_reader() -> Reader:
    from ...fast.reading.locating_parser import LocatingParser

    return partial(read_with, LocatingParser)


def _memoizing_reader() -> Reader:
    from ...fast.reading.memoizing_parser import MemoizingParser

    return partial(read_with, MemoizingParser)


def plain_reader() -> Reader:
    """Return the reader of modules where reading is not accelerated."""
    return choose("locating", _locating_reader, lambda: partial(read_with, PlainParser))


_reader = choose("reading", _memoizing_reader, plain_reader)

MAX_ERRORS = 20
"""The number of errors of one text that are reported at most."""


def _all_errors(
    parsers: Sequence[LocatingParser | PlainParser], error: ParseError | InvalidText
) -> Generator[ParseError]:
    """Yield the errors of a text, of which `error` is the first, in the order of their places."""
    (first,) = parse_errors(error)
    yield from explained(first)
    for parser in parsers:
        if isinstance(parser, PlainParser):
            return
        for further in further_errors(parser, first, partial(_attempt, parser)):
            yield from explained(further)


def _attempt(parser: LocatingParser, parse: Callable[[], object]) -> ParseError | None:
    """Return the error that `parse` ends with, or None."""
    try:
        with paused_collector(), _located_errors([parser]):
            parse()
    except (ParseError, InvalidText) as error:
        return parse_errors(error)[0]
    except (RecursionError, MemoryError):
        return None
    return None


@contextmanager
def _located_errors(parsers: Sequence[LocatingParser | PlainParser]) -> Generator[None]:
    """Raise errors with a place instead of those that parsers and constructors of dialects raise
    for invalid text: ParseError at the place that is being parsed, and InvalidText for the op that
    is being parsed where a dialect refuses it.
    """
    try:
        yield
    except (ParseError, RecursionError, MemoryError):
        raise
    except DiagnosticException as error:
        if not parsers:
            raise
        raise InvalidText([ParseError(parsers[0].span_of_op(), str(error))]) from error
    except Exception as error:
        if not parsers:
            raise
        if "integer string conversion" in str(error):
            _raise_too_many_digits(parsers[0])
        says = isinstance(error, ValueError | NotImplementedError) and str(error)
        message = str(error) if says else f"{type(error).__name__}: {error}"
        raise ParseError(parsers[0].token_span, message) from error


def _raise_too_many_digits(parser: LocatingParser | PlainParser) -> None:
    """Raise ParseError for the last number up to the current token that Python cannot convert."""
    input, end = parser.lexer.input, parser.token_span.end
    for match in [*re.finditer(rf"\d{{{MAX_DIGITS + 1},}}", input.content[:end])][-1:]:
        raise ParseError(Span(*match.span(), input), too_many_digits(len(match[0])))
