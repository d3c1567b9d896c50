"""The text of IR and of diffs as highlighted HTML, by Pygments."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from ...output.html import Html, element

if TYPE_CHECKING:
    from pygments.lexer import Lexer


def highlighted(
    text: str, language: Literal["mlir", "diff"] = "mlir", tag: Literal["pre", "span"] = "pre"
) -> Html:
    """Return a text in an element, with a class for each kind of token."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]

    lexer = mlir_lexer() if language == "mlir" else get_lexer_by_name("diff")
    formatter: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
    return element(tag, Html(highlight(text, lexer, formatter).rstrip("\n")))


@cache
def mlir_lexer() -> Lexer:
    """Return a lexer of MLIR, which Pygments does not have."""
    from pygments import token
    from pygments.lexer import RegexLexer

    class MLIRLexer(RegexLexer):
        """A lexer of the generic and of the custom form of operations."""

        name = "MLIR"

        tokens = {  # noqa: RUF012
            "root": [
                (r"//[^\n]*", token.Comment),
                (r'"(?:\\.|[^"\\\n])*"', token.String),
                (r"%[\w$.-]+(?:[:#]\d+)?", token.Name.Variable),
                (r'@(?:[\w$.-]+|"[^"\n]*")', token.Name.Function),
                (r"\^[\w$.-]+", token.Name.Label),
                (r"[!#][A-Za-z_][\w$.-]*", token.Keyword.Type),
                (r"(?:tensor|memref|vector|tuple|complex)(?=<)", token.Keyword.Type),
                (r"0x[0-9A-F]+\b", token.Number.Hex),
                # Before numbers: `4x?xf32` is one shape, and `0x1F` above is not.
                (r"(?:(?:\d+|\?)x)+(?=\w)", token.Number.Integer),
                (r"(?:[su]?i\d+|index|none|t?f\d+\w*|bf16)\b", token.Keyword.Type),
                (r"-?\d+\.\d*(?:[eE][+-]?\d+)?", token.Number.Float),
                (r"-?\d+", token.Number.Integer),
                # A word with a dot is the name of an op, as `arith.addf`.
                (r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", token.Keyword),
                (r"[\w$]+", token.Name),
                (r"\s+", token.Whitespace),
                (r".", token.Punctuation),
            ]
        }

    return MLIRLexer()
