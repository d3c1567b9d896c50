"""The reading of modules from text, with all errors of the text and their places."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException, ParseError
from xdsl.utils.lexer import Position, Span

from ...errors import PasslineError
from ...fast.acceleration import choose
from ...fast.interface import Reader
from ...fast.reading.lexer import MAX_DIGITS, too_many_digits
from ...fast.reading.plain_parser import PlainParser
from ...limits import DEFAULT_MAX_ELEMENTS
from ...output.status import doing
from ..garbage_collection import paused_collector
from .syntax_errors import InvalidText, ParseErrors, explained, parse_errors, set_offset

if TYPE_CHECKING:
    from ...fast.reading.locating_parser import LocatingParser

__all__ = [
    "STDIN",
    "Attempt",
    "decode_mlir",
    "further_errors",
    "parse_module",
    "plain_reader",
    "read_with",
    "split_chunks",
]


# The text in an input: of a whole file, and of the parts between marker lines.


BYTECODE = b"ML\xefR"
"""The first bytes of a file of bytecode, which `read_bytecode` reads."""
STDIN = "<stdin>"
"""The name of the standard input in locations and messages."""


def decode_mlir(name: str, content: bytes) -> str:
    """Return the text of the file `name`, without a byte order mark; PasslineError for bytecode of
    MLIR, and with the place of the first byte that is not UTF-8."""
    if content.startswith(BYTECODE):
        raise PasslineError(
            f"'{name}' is bytecode of MLIR, and text is expected: passline-opt '{name}' writes it"
        )
    try:
        return content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        before = content.removeprefix(BOM_UTF8)[: error.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        hint = "; an ONNX model on stdin needs --frontend=onnx" if name == STDIN else ""
        if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            hint = "; it is UTF-16"
        raise PasslineError(
            f"'{name}' is not UTF-8 text: byte {byte:#x} at line {line}, column {column}{hint}"
        ) from None


def split_chunks(content: bytes, marker: str = "// -----") -> Iterator[tuple[bytes, int]]:
    """Yield the parts of a file between lines equal to `marker`, each with the number of lines
    before it."""
    start = line = 0
    pattern = rb"^[ \t]*" + re.escape(marker.encode()) + rb"[ \t]*\r?$\n?"
    for found in re.finditer(pattern, content, re.MULTILINE):
        yield content[start : found.start()], line
        line += content.count(b"\n", start, found.end())
        start = found.end()
    yield content[start:], line


# Further errors of a text that has one: parsing goes on at the next function.


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
