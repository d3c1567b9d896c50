"""Semantic highlighting: what only names and scopes tell, beside the grammar of the editor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol.types import SemanticTokensLegend

from .names import BLOCK, NUMBERS, OP, STRING, SYMBOL, TYPE, VALUE, Name
from .open_file import OpenFile, Placed

TYPES = ("variable", "parameter", "function", "type", "method", "string", "number", "label")
MODIFIERS = ("definition", "deprecated")
LEGEND = SemanticTokensLegend(list(TYPES), list(MODIFIERS))

_OF_KIND = {TYPE: "type", STRING: "string", SYMBOL: "function", BLOCK: "label", VALUE: "variable"}


class _Coloured(NamedTuple):
    start: int
    end: int
    type: str
    modifiers: int


def semantic_tokens(file: OpenFile) -> list[int]:
    """Return the tokens of a file in the encoding of the protocol: five numbers each, relative to
    the token before."""
    data: list[int] = []
    line = character = 0
    for token in sorted(_tokens(file)):
        start = file.source.position(token.start)
        length = file.source.position(token.end).character - start.character
        if length <= 0:
            continue
        same = start.line == line
        data += (
            start.line - line,
            start.character - (character if same else 0),
            length,
            TYPES.index(token.type),
            token.modifiers,
        )
        line, character = start.line, start.character
    return data


def _tokens(file: OpenFile) -> Iterator[_Coloured]:
    for placed in file.placed:
        for start, end, type, modifiers in _of_piece(file, placed):
            yield _Coloured(*placed.range_of(start, end), type, modifiers)


def _of_piece(file: OpenFile, placed: Placed) -> Iterator[_Coloured]:
    index = placed.facts.index
    names = {name.start: name for name in index.names}
    ops = {op.name_start: op for op in index.ops}
    for token in index.tokens:
        if (op := ops.get(token.start)) is not None:
            unknown = file.known.op_class(op.name) is None
            yield _Coloured(token.start, token.end, "method", _bit("deprecated") * unknown)
        elif (name := names.get(token.start)) is not None:
            yield _of_name(placed, name)
        elif token.kind in NUMBERS:
            yield _Coloured(token.start, token.end, "number", 0)
        elif (type := _OF_KIND.get(token.kind)) is not None and token.kind != OP:
            yield _Coloured(token.start, token.end, type, 0)


def _of_name(placed: Placed, name: Name) -> _Coloured:
    """Return a name; block arguments are parameters where they are used, too."""
    modifiers = 0 if name.role == "use" else _bit("definition")
    kinds = {"%": "variable", "^": "label", "@": "function"}
    type = kinds[name.text[0]]
    if type == "variable":
        definition = placed.facts.index.definition(name)
        if definition is not None and definition.role == "argument":
            type = "parameter"
    return _Coloured(name.start, name.end, type, modifiers)


def _bit(modifier: str) -> int:
    return 1 << MODIFIERS.index(modifier)
