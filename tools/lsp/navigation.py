"""From names to other places: definitions, references, renaming, the outline, and folding."""

from __future__ import annotations

import re

from lsprotocol.types import (
    DocumentHighlight,
    DocumentHighlightKind,
    DocumentSymbol,
    FoldingRange,
    FoldingRangeKind,
    Location,
    Range,
    SymbolKind,
    TextEdit,
)

from ...passmanager.errors import PasslineError
from .names import Name, NamedScope, OpText
from .open_file import OpenFile, Placed

NamePlace = tuple[Placed, Name]


def definitions_of_symbol(file: OpenFile, placed: Placed, text: str) -> list[NamePlace]:
    """Return the definitions of a symbol in the part of the file that a piece is in: those in the
    piece itself if there are any."""
    own = [(placed, n) for n in placed.facts.index.names if n.text == text and n.role == "symbol"]
    return own or [
        (other, name)
        for other in file.part_of(placed)
        for name in (other.facts.index.names if text in other.facts.text or _generic(other) else ())
        if name.text == text and name.role == "symbol"
    ]


def _generic(placed: Placed) -> bool:
    return "sym_name" in placed.facts.text


def definition(file: OpenFile, offset: int) -> list[Location]:
    """Return the places where the name at an offset is defined."""
    if (found := file.name_at(offset)) is None:
        return _alias_definition(file, offset)
    return [_location(file, place) for place in _definitions(file, *found)]


def _definitions(file: OpenFile, placed: Placed, name: Name) -> list[NamePlace]:
    if name.text.startswith("@"):
        return definitions_of_symbol(file, placed, name.text)
    known = placed.facts.index.definition(name)
    return [] if known is None else [(placed, known)]


def _alias_definition(file: OpenFile, offset: int) -> list[Location]:
    """Return the place of the definition of the alias at an offset."""
    if (found := file.at(offset)) is None:
        return []
    placed, inside = found
    token = next((t for t in placed.facts.index.tokens if t.start <= inside <= t.end), None)
    if token is None or token.text[0] not in "#!":
        return []
    pattern = re.compile(rf"^[ \t]*({re.escape(token.text)})[ \t]*=", re.MULTILINE)
    for other in file.part_of(placed):
        if other.piece.is_rest and (match := pattern.search(other.piece.text)):
            place = other.range_of(match.start(1), match.end(1))
            return [Location(file.uri, file.source.range(*place))]
    return []


def occurrences(file: OpenFile, offset: int) -> list[NamePlace]:
    """Return all places of what the name at an offset stands for: its definition and its uses."""
    if (found := file.name_at(offset)) is None:
        return []
    placed, name = found
    if name.text.startswith("@"):
        return [
            (other, each)
            for other in file.part_of(placed)
            for each in (other.facts.index.names if name.text[1:] in other.facts.text else ())
            if each.text == name.text
        ]
    index = placed.facts.index
    target = index.definition(name)
    return [
        (placed, each)
        for each in index.names
        if each.text == name.text
        and (each is name or (target is not None and index.definition(each) is target))
    ]


def references(file: OpenFile, offset: int, with_definition: bool) -> list[Location]:
    """Return the places that use what the name at an offset stands for."""
    places = occurrences(file, offset)
    return [_location(file, place) for place in places if with_definition or place[1].role == "use"]


def highlights(file: OpenFile, offset: int) -> list[DocumentHighlight]:
    """Return the places to mark with the name at an offset; definitions are written to."""
    kinds = {True: DocumentHighlightKind.Read, False: DocumentHighlightKind.Write}
    return [
        DocumentHighlight(_range(file, place), kinds[place[1].role == "use"])
        for place in occurrences(file, offset)
    ]


# Renaming

_VALID = {"%": r"[A-Za-z_$.-][\w$.-]*|\d+", "@": r"[A-Za-z_][\w$.]*", "^": r"[A-Za-z_$.-][\w$.-]*"}


def rename_range(file: OpenFile, offset: int) -> Range | None:
    """Return the place of the name at an offset, without its sigil, or None if there is none."""
    if (found := file.name_at(offset)) is None:
        return None
    placed, name = found
    return file.source.range(*placed.range_of(_own_start(placed, name), name.end))


def _own_start(placed: Placed, name: Name) -> int:
    """Return the offset after the sigil of a name; the name of a symbol in generic form has
    none."""
    return name.start + (placed.facts.text[name.start] == name.text[0])


def rename(file: OpenFile, offset: int, new: str) -> list[TextEdit]:
    """Return the edits that give what the name at an offset stands for another name.

    Errors: PasslineError for a text that is no name, or one that is taken where it is visible.
    """
    if (found := file.name_at(offset)) is None:
        raise PasslineError("there is no value, block or symbol here")
    placed, name = found
    sigil, new = name.text[0], new.removeprefix(name.text[0])
    if re.fullmatch(_VALID[sigil], new, re.ASCII) is None:
        raise PasslineError(f"'{new}' is no name: letters, digits, '$', '.', '_' and '-'")
    places = occurrences(file, offset)
    if f"{sigil}{new}" != name.text and _is_taken(file, placed, places, f"{sigil}{new}"):
        raise PasslineError(f"'{sigil}{new}' is another one here already")
    return [
        TextEdit(
            file.source.range(*at.range_of(_own_start(at, each), each.end)),
            new,
        )
        for at, each in places
    ]


def _is_taken(file: OpenFile, placed: Placed, places: list[NamePlace], text: str) -> bool:
    """Return whether a name would be confused with another one: it is defined around one of
    `places`, or inside of the scope in which these are defined."""
    if text.startswith("@"):
        return bool(definitions_of_symbol(file, placed, text))
    scopes = {scope for _, name in places for scope in name.scope.around()}
    definitions = [name for _, name in places if name.role != "use"]
    index = placed.facts.index
    for name in index.names:
        if name.text == text and name.role != "use":
            inside = any(d.scope in [*name.scope.around()] for d in definitions)
            if name.scope in scopes or inside:
                return True
    return False


# The outline


def outline(file: OpenFile) -> list[DocumentSymbol]:
    """Return the operations that define symbols or have regions, nested as they are. A module
    without a name is left out: what is in it takes its place."""
    found: list[DocumentSymbol] = []
    for *pieces, rest in file.groups:
        inner = [symbol for placed in pieces for symbol in _symbols_in(file, placed)]
        for symbol in _symbols_in(file, rest):
            children = [*(symbol.children or ())]
            if symbol.kind is SymbolKind.Module:
                children += [each for each in inner if _is_within(each, symbol)]
                inner = [each for each in inner if not _is_within(each, symbol)]
            symbol.children = sorted(children, key=_order)
            is_wrapper = symbol.kind is SymbolKind.Module and symbol.name[0] != "@"
            found += symbol.children if is_wrapper and children else [symbol]
        found += inner
    return sorted(found, key=_order)


def _is_within(symbol: DocumentSymbol, around: DocumentSymbol) -> bool:
    inner, outer = symbol.range, around.range
    return outer.start.line <= inner.start.line and inner.end.line <= outer.end.line


def _order(symbol: DocumentSymbol) -> tuple[int, int]:
    return symbol.range.start.line, symbol.range.start.character


def _symbols_in(file: OpenFile, placed: Placed) -> list[DocumentSymbol]:
    """Return the symbols of a piece that are in no other one, with those in them as children."""
    index = placed.facts.index
    made: dict[NamedScope, list[DocumentSymbol]] = {scope: [] for scope in index.scopes}
    for op in reversed(index.ops):
        if op.symbol is not None or op.regions:
            children = [child for region in op.regions for child in made[region]]
            made[op.scope].append(_symbol_of(file, placed, op, sorted(children, key=_order)))
    return sorted(made[index.top], key=_order)


def _symbol_of(
    file: OpenFile, placed: Placed, op: OpText, children: list[DocumentSymbol]
) -> DocumentSymbol:
    source = file.source
    is_module = op.name.rpartition(".")[2] == "module"
    kind = SymbolKind.Module if is_module else SymbolKind.Function
    name, start, end = op.name, op.name_start, op.name_end
    if op.symbol is None:
        kind = SymbolKind.Module if is_module else SymbolKind.Namespace
    else:
        name, start, end = op.symbol.text, op.symbol.start, op.symbol.end
        if not op.regions and op.name.rpartition(".")[2] != "func":
            kind = SymbolKind.Variable
    whole = source.range(placed.piece.in_file(op.start), _end(placed, op.end))
    selected = source.range(*placed.range_of(start, end))
    detail = op.name if op.symbol is not None else None
    return DocumentSymbol(name or op.name, kind, whole, selected, detail, children=children)


def _end(placed: Placed, end: int) -> int:
    """Return the offset in the file of the end of something, which may be that of the piece."""
    return placed.piece.in_file(max(end - 1, 0)) + 1


# Folding


def folding(file: OpenFile) -> list[FoldingRange]:
    """Return the regions and the groups of comments that have several lines."""
    found: list[FoldingRange] = []
    for placed in file.placed:
        for scope in placed.facts.index.scopes[1:]:
            first = file.source.line_of(placed.piece.in_file(scope.start))
            last = file.source.line_of(_end(placed, scope.end))
            if last - 1 > first:
                found.append(FoldingRange(first, last - 1, kind=FoldingRangeKind.Region))
    lines = file.text.splitlines()
    start: int | None = None
    for number, line in enumerate([*lines, ""]):
        if line.lstrip().startswith("//") and line.strip() != "// -----":
            start = number if start is None else start
            continue
        if start is not None and number - start > 1:
            found.append(FoldingRange(start, number - 1, kind=FoldingRangeKind.Comment))
        start = None
    return sorted(found, key=lambda range: (range.start_line, range.end_line))


def _range(file: OpenFile, place: NamePlace) -> Range:
    placed, name = place
    return file.source.range(*placed.range_of(name.start, name.end))


def _location(file: OpenFile, place: NamePlace) -> Location:
    return Location(file.uri, _range(file, place))
