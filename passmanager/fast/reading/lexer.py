# pyright: reportIncompatibleMethodOverride=false, reportIncompatibleVariableOverride=false
"""A lexer of MLIR that matches one regular expression per token, where xDSL's tries several.

It gives the tokens and the errors of xDSL's lexer, to which it leaves what the expression does not
match: characters outside of ASCII, strings with escapes, the end of the file, and errors. A string
with escapes that is UTF-8 is a string here; xDSL takes it for bytes if it is not ASCII. The length
of names is limited.
"""

from __future__ import annotations

import re

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    StringLiteral,
)

# Possessive: if no token follows, the end of a comment must not be taken for one.
_SPACE = r"(?:[ \t\n\r\f\v]++|//[^\n]*+)*+"
SUFFIX_ID = r"(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*)"
"""The expression of a name after its first character, such as that of a value after `%`."""
MAX_DIGITS = 4300
"""The digits of the longest decimal number that Python reads and writes, by default."""

_SLASH = "/" if "/" in KIND_BY_PUNCTUATION_SPELLING else ""
_GROUPS: tuple[tuple[MLIRTokenKind | None, str], ...] = (
    (MLIRTokenKind.PERCENT_IDENT, f"%{SUFFIX_ID}"),
    (MLIRTokenKind.BARE_IDENT, r"[a-zA-Z_][a-zA-Z0-9_$.]*"),
    (None, rf"->|\{{-#|#-\}}|\.\.\.|[-:,(){{}}\[\]<>=+{_SLASH}*?|]"),  # punctuation
    (MLIRTokenKind.FLOAT_LIT, r"[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?"),
    (MLIRTokenKind.INTEGER_LIT, rf"0x[0-9a-fA-F]+|[0-9]{{1,{MAX_DIGITS}}}+(?![0-9])"),
    (MLIRTokenKind.STRING_LIT, r'"[^"\\\n\v\f]*"'),
    (MLIRTokenKind.AT_IDENT, r"@[a-zA-Z_][a-zA-Z0-9_$.]*"),
    (MLIRTokenKind.EXCLAMATION_IDENT, f"!{SUFFIX_ID}"),
    (MLIRTokenKind.HASH_IDENT, f"#{SUFFIX_ID}"),
    (MLIRTokenKind.CARET_IDENT, rf"\^{SUFFIX_ID}"),
)
_KINDS = (None, *(kind for kind, _ in _GROUPS))
_TOKEN = re.compile(_SPACE + "(?:" + "|".join(f"({text})" for _, text in _GROUPS) + ")")

_MAX_LENGTH = 1 << 16
"""The longest name. `x1x1x1f32` is a name to the lexer at each of the dimensions of a type."""

_skip_space = re.compile(_SPACE).match
_STRING = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


def end_of_space(text: str, position: Position) -> Position:
    """Return the end of the white space and the comments at a position."""
    match = _skip_space(text, position)
    assert match is not None  # it may be empty
    return match.end()


def too_many_digits(count: int) -> str:
    """Return the message for a number with `count` digits, which are too many."""
    supported = f"at most {MAX_DIGITS} are supported, but for hexadecimal ones"
    return f"a number of {count} digits: {supported}"


class LocatedToken(MLIRToken):
    """A token with its text; its span is made when asked for, which is seldom."""

    __slots__ = ("_input", "_span", "end", "kind", "start", "text")

    text: str

    def __init__(
        self,
        kind: MLIRTokenKind,
        text: str,
        start: Position,
        end: Position,
        input: Input[str],
        span: Span[str] | None = None,
    ) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end
        self._input = input
        self._span = span

    @property
    def span(self) -> Span[str]:
        """The place of the token in the input."""
        if self._span is None:
            # Not `Span[str]`: calling an alias takes as long as all else.
            span_class = StringLiteral if self.kind is MLIRTokenKind.STRING_LIT else Span
            self._span = span_class(self.start, self.end, self._input)
        return self._span


class Lexer(MLIRLexer):
    """A lexer with the tokens of xDSL's."""

    def lex(self) -> MLIRToken:
        content = self.input.content
        if (match := _TOKEN.match(content, self.pos)) is None:
            self._check_string()
            return self._located(self._checked(super().lex()))
        group = match.lastindex
        assert group is not None
        text = match[group]
        self.pos = end = match.end()
        if len(text) > _MAX_LENGTH and text[0] != '"':
            raise ParseError(
                Span(end - len(text), end, self.input),
                f"a name of {len(text)} characters exceeds the limit of {_MAX_LENGTH}",
            )
        kind = _KINDS[group] or KIND_BY_PUNCTUATION_SPELLING[text]
        return LocatedToken(kind, text, end - len(text), end, self.input)

    def _check_string(self) -> None:
        """Raise ParseError for a string that does not end: xDSL needs exponential time for it."""
        start = end_of_space(content := self.input.content, self.pos)
        if content.startswith('"', start) and _STRING.match(content, start) is None:
            self.pos = start + 1
            message = "End of file reached before closing string literal."
            raise ParseError(Span(start, self.pos, self.input), message)

    def _checked(self, token: MLIRToken) -> MLIRToken:
        """Return a token of xDSL's lexer; ParseError for a number of too many digits."""
        if len(token.text) > MAX_DIGITS and token.kind is MLIRTokenKind.INTEGER_LIT:
            raise ParseError(token.span, too_many_digits(len(token.text)))
        return token

    def _located(self, token: MLIRToken) -> LocatedToken:
        span, kind = token.span, token.kind
        if kind is MLIRTokenKind.BYTES_LIT and _is_text(StringLiteral.from_span(span)):
            kind = MLIRTokenKind.STRING_LIT
        return LocatedToken(kind, span.text, span.start, span.end, self.input, span)


def _is_text(literal: StringLiteral) -> bool:
    try:
        literal.bytes_contents.decode()
    except UnicodeDecodeError:
        return False
    return True
