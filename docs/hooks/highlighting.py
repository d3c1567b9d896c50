"""Highlighting of MLIR in the site, a hook of mkdocs."""

from __future__ import annotations

from pygments.lexers import LEXERS  # pyright: ignore[reportUnknownVariableType]

from passline.passmanager.ir.text.highlight import mlir_lexer

__all__ = ["MLIRLexer", "on_startup"]

MLIRLexer = type(mlir_lexer())


def on_startup(**_: object) -> None:
    """Let Pygments find the lexer in this module by the name `mlir`."""
    LEXERS["MLIRLexer"] = (__name__, MLIRLexer.name, ("mlir",), ("*.mlir",), ())
