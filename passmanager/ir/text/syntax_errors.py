"""Errors of the parser for a person: clear messages, and all errors of a text of which the parser
can read more than one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from xdsl.utils.exceptions import MultipleSpansParseError, ParseError, VerifyException
from xdsl.utils.lexer import Input, Position, Span

from ...names import did_you_mean


class ParseErrors(MultipleSpansParseError):
    """Several errors of one text. It has the place and the message of the first."""

    def __init__(self, errors: Sequence[ParseError]) -> None:
        first = errors[0]
        refs = first.refs if isinstance(first, MultipleSpansParseError) else []
        super().__init__(first.span, first.msg, None, refs)
        self.errors = tuple(errors)

    def __str__(self) -> str:
        return "".join(map(str, self.errors))


class InvalidText(VerifyException):
    """A construct that the parser of its dialect refuses with a message that has no place; `errors`
    has it with its place first, then further errors of the text.
    """

    def __init__(self, errors: Sequence[ParseError]) -> None:
        super().__init__(errors[0].msg)
        self.errors = tuple(errors)


def parse_errors(error: BaseException) -> Sequence[ParseError]:
    """Return the errors of a text that `error` stands for."""
    if isinstance(error, ParseErrors | InvalidText):
        return error.errors
    return [error] if isinstance(error, ParseError) else []


def as_raised(error: ParseError) -> ParseError:
    """Return the error of xDSL's parser that `error` explains, or that is the first of it."""
    return error.__cause__ if isinstance(error.__cause__, ParseError) else error


def with_note(message: str, span: Span, place: Span | None, note: str) -> ParseError:
    """Return an error with a note about another place, if that is known."""
    refs: list[tuple[Span | Span[bytes], str | None]] = [] if place is None else [(place, note)]
    return MultipleSpansParseError(span, message, None, refs)


def explained(error: ParseError) -> list[ParseError]:
    """Return an error of xDSL's lexer or parser with what was expected; one for each block that is
    missing.
    """
    for pattern, explain in _EXPLANATIONS:
        if (match := pattern.fullmatch(error.msg)) is not None:
            return explain(error, match)
    return _of_end(error)


def not_a_number(text: str, name: Span[str]) -> ParseError | None:
    """Return the error for the number that ends with what was read as a name, as `1e5`; None if no
    digit stands before the name.
    """
    match = re.search(r"[0-9][0-9a-zA-Z_.]*$", text[max(0, name.start - 80) : name.end])
    if match is None or len(match[0]) <= name.end - name.start:
        return None
    span = Span(name.end - len(match[0]), name.end, name.input)
    written = "a float is written as 1.0 or 1.0e5, a hexadecimal integer as 0x1F"
    return ParseError(span, f"'{match[0]}' is not a number: {written}")


_code = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"|/(?!/)|[^"/\n])*').match


def end_of_code(text: str, position: Position) -> Position:
    """Return the end of the code before a position on another line; `position` if there is code
    before it on its own.
    """
    start = text.rfind("\n", 0, position) + 1
    if text[start:position].strip():
        return position
    while start > 0:
        end, start = start - 1, text.rfind("\n", 0, start - 1) + 1
        match = _code(text, start, end)
        if match is not None and (code := match[0].rstrip()):
            return start + len(code)
    return position


def _with(error: ParseError, message: str, span: Span[str] | None = None) -> list[ParseError]:
    return [ParseError(error.span if span is None else span, message)]


def _input(error: ParseError) -> Input[str]:
    return cast("Input[str]", error.span.input)  # MLIR text; xDSL's spans may be of bytes too


def _content(error: ParseError) -> str:
    return _input(error).content


def _explain_name(error: ParseError, _: re.Match[str]) -> list[ParseError]:
    start = error.span.start
    sigil, following = _content(error)[start], _content(error)[start + 1 : start + 2]
    allowed = "a name has letters from A to Z, digits, and '$', '.', '_', '-'"
    found = f", but found '{following}'" if following.strip() else ""
    hint = "; a comment begins with '//'" if sigil == "#" else ""
    return _with(error, f"expected a name after '{sigil}'{found}: {allowed}{hint}")


_escape = re.compile(r'"(?:[^"\\\n]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*(\\[^\n]?)?')


def _explain_string(error: ParseError, _: re.Match[str]) -> list[ParseError]:
    match = _escape.match(_content(error), error.span.start)
    if match is None or match[1] is None:
        return _with(error, "expected '\"' at the end of the string, on the same line")
    known = r"\n, \t, \\, \" and two hexadecimal digits, as \0A, are known"
    span = Span(*match.span(1), _input(error))
    return _with(error, f"invalid escape '{match[1]}' in a string: {known}", span)


def _explain_point(error: ParseError, _: re.Match[str]) -> list[ParseError]:
    if (digits := re.compile(r"\.[0-9]+").match(_content(error), error.span.start)) is None:
        return [error]
    return _with(error, f"a float begins with a digit: 0{digits[0]}")


def _explain_alias(error: ParseError, match: re.Match[str]) -> list[ParseError]:
    content, alias = _content(error), match[1]
    start = content.rfind(alias, 0, error.span.start)
    known = re.findall(rf"^[ \t]*({alias[0]}[\w$.-]+)[ \t]*=", content, re.MULTILINE)
    span = Span(start, start + len(alias), _input(error))
    hint = did_you_mean(alias, known)
    return _with(error, f"alias '{alias}' is not defined before this use{hint}", span)


def _explain_blocks(error: ParseError, _: re.Match[str]) -> list[ParseError]:
    if not isinstance(error, MultipleSpansParseError):
        return [error]
    missing = {span.text: span for span, _ in reversed(error.refs)}
    says = "is not defined in the region of this branch"
    found = [ParseError(span, f"block '{name}' {says}") for name, span in missing.items()]
    return sorted(found, key=lambda error: error.span.start)


def _explain_results(error: ParseError, match: re.Match[str]) -> list[ParseError]:
    name = re.compile(r'[^="]*=\s*"?([\w$.]+)').match(_content(error), error.span.start)
    op = f"'{name[1]}' op" if name is not None else "the operation"
    has, given = int(match[1]), int(match[2])
    results = f"{has} result" if has == 1 else f"{has} results"
    return _with(error, f"{op} has {results}, but {given} {'is' if given == 1 else 'are'} named")


def _explain_element(error: ParseError, _: re.Match[str]) -> list[ParseError]:
    if (found := re.compile(r"[\w!#.]+|\S").search(_content(error), error.span.start)) is None:
        return _of_end(error)
    says = "the type of the elements, as f32 or i8, comes last"
    return _with(error, f"Expected shape type, but found '{found[0]}': {says}")


def _of_end(error: ParseError) -> list[ParseError]:
    """Return an error that says that the file ends where something was expected, if it does."""
    if _content(error)[error.span.start :].strip() or "the file ends" in error.msg:
        return [error]
    return _with(error, f"{error.msg.removesuffix('.')}, but the file ends")


_EXPLANATIONS: Sequence[
    tuple[re.Pattern[str], Callable[[ParseError, re.Match[str]], list[ParseError]]]
] = [
    (re.compile(r"Expected suffix identifier after .*"), _explain_name),
    (re.compile(r"End of file reached before closing string literal\."), _explain_string),
    (re.compile(r"Expected three consecutive '\.' for an ellipsis"), _explain_point),
    (re.compile(r"Expected shape type\."), _explain_element),
    (re.compile(r"undefined symbol alias '(.+)'"), _explain_alias),
    (re.compile(r"region ends with missing block declarations .*"), _explain_blocks),
    (re.compile(r"Operation has (\d+) results, but was given (\d+) to bind\."), _explain_results),
]


def set_offset(error: ParseError, lines: int) -> None:
    """Set the number of lines before the text in all places of an error."""
    error.span = replace(error.span, line_offset=lines)
    if isinstance(error, MultipleSpansParseError):
        error.refs = [(replace(span, line_offset=lines), said) for span, said in error.refs]
