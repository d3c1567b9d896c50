"""The text of IR and of diffs as highlighted HTML, by Pygments; the table of the tokens of MLIR."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from ...output.html import Html, element

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MLIR_TOKENS: Sequence[tuple[str, str]] = (
    (r"//[^\n]*", "Comment"),
    (r'"(?:\\.|[^"\\\n])*"', "String"),
    (r"%[\w$.-]+(?:[:#]\d+)?", "Name.Variable"),
    (r'@(?:[\w$.-]+|"[^"\n]*")', "Name.Function"),
    (r"\^[\w$.-]+", "Name.Label"),
    (r"[!#][A-Za-z_][\w$.-]*", "Keyword.Type"),
    (r"(?:tensor|memref|vector|tuple|complex)(?=<)", "Keyword.Type"),
    (r"0x[0-9A-F]+\b", "Number.Hex"),
    # Before numbers: `4x?xf32` is one shape, and `0x1F` above is not.
    (r"(?:(?:\d+|\?)x)+(?=\w)", "Number.Integer"),
    (r"(?:[su]?i\d+|index|none|t?f\d+\w*|bf16)\b(?!\.)", "Keyword.Type"),
    (r"-?\d+\.\d*(?:[eE][+-]?\d+)?", "Number.Float"),
    (r"-?\d+", "Number.Integer"),
    # A word with a dot is the name of an op, as `arith.addf`.
    (r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", "Keyword"),
    (r"[\w$]+", "Name"),
    (r"\s+", "Text.Whitespace"),
    (r".", "Punctuation"),
)
"""The tokens of the generic and of the custom form of operations: pattern, kind of Pygments. The
first that matches counts. Pages, notebooks, the language server and the grammars of editors take
them from here."""


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
    from pygments.lexer import RegexLexer
    from pygments.token import string_to_tokentype

    class MLIRLexer(RegexLexer):
        """A lexer of the generic and of the custom form of operations."""

        name = "MLIR"

        tokens = {  # noqa: RUF012
            "root": [(text, string_to_tokentype(kind)) for text, kind in MLIR_TOKENS]
        }

    return MLIRLexer()
