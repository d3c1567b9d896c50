"""MLIR for Pygments, which highlights the code of the site."""

from __future__ import annotations

from pygments.lexer import RegexLexer
from pygments.lexers import LEXERS  # pyright: ignore[reportUnknownVariableType]
from pygments.token import Comment, Keyword, Name, Number, String, Text

__all__ = ["MLIRLexer", "on_startup"]


class MLIRLexer(RegexLexer):
    """The tokens of MLIR's text; names of operations and types are keywords."""

    name = "MLIR"
    aliases = ("mlir",)
    filenames = ("*.mlir",)

    tokens = {  # noqa: RUF012  the base class declares it so
        "root": [
            (r"//.*", Comment),
            (r'"(\\.|[^"\\])*"', String),
            (r"%[\w$.-]+(#\d+)?", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"\^[\w$.-]+", Name.Label),
            (r"[#!][\w$.-]+", Name.Attribute),
            (r"(tensor|memref|vector|tuple|index|none|[su]?i\d+|bf16|f\d+)\b", Keyword.Type),
            (r"(\d+|\?|\*)x", Number),  # in shapes
            (r"-?\d+(\.\d*)?([eE][+-]?\d+)?|0x[0-9A-Fa-f]+", Number),
            (r"[a-z_]\w*(\.\w+)+", Keyword),
            (r"[A-Za-z_]\w*", Name),
            (r"\s+|.", Text),
        ]
    }


def on_startup(**_: object) -> None:
    """Let Pygments find the lexer by its name; mkdocs calls this first."""
    LEXERS["MLIRLexer"] = (__name__, "MLIR", MLIRLexer.aliases, MLIRLexer.filenames, ())
