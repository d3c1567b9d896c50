"""Completion of operations, values, blocks, symbols, types and attributes, and signatures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    ParameterInformation,
    SignatureHelp,
    SignatureInformation,
    TextEdit,
)

from .names import OpText
from .op_definition import OpDefinition
from .open_file import OpenFile, Placed

BUILTIN_TYPES = (
    "i1 i8 i16 i32 i64 index f16 bf16 f32 f64 none tensor<> memref<> vector<> complex<> tuple<>"
).split()

_WORD_BEFORE = re.compile(r'[%@^!#]?[\w$.-]*$|"[\w$.]*$')
_OP_PLACE = re.compile(r'^\s*(?:%[\w$.:, %-]*=\s*)?"?[\w$.]*$')
_TYPE_PLACE = re.compile(r"(?::|->|,|\(|<|x)\s*[\w.]*$")


def completions(file: OpenFile, offset: int) -> list[CompletionItem]:
    """Return what may stand at an offset, given the characters before it."""
    text = file.text
    line_start = text.rfind("\n", 0, offset) + 1
    before = text[line_start:offset]
    match = _WORD_BEFORE.search(before)
    word = match[0] if match is not None else ""
    found = file.at(offset)
    if found is None or _in_comment(before):
        return []
    placed, inside = found
    start = offset - len(word)
    match word[:1]:
        case "%":
            items = _values(placed, inside)
        case "^":
            items = _blocks(placed, inside)
        case "@":
            items = _symbols(file, placed)
        case "!":
            items = _dialect_types(file, word, placed)
        case "#":
            items = _aliases(file, placed, "#")
        case _ if _OP_PLACE.match(before):
            items = _operations(file, word)
        case _:
            items = _within_op(file, placed, inside, before[: len(before) - len(word)])
    return _edits(file, items, start, offset)


def _in_comment(before: str) -> bool:
    return re.search(r"//", re.sub(r'"[^"]*"', "", before)) is not None


def _edits(
    file: OpenFile, items: Iterable[CompletionItem], start: int, end: int
) -> list[CompletionItem]:
    """Return the items, each with the place of the word that it replaces: editors differ in what
    they take for a word, as `%` and `.` may belong to one."""
    place = file.source.range(start, end)
    found: list[CompletionItem] = []
    for item in items:
        item.text_edit = TextEdit(place, item.insert_text or item.label)
        item.insert_text = None
        found.append(item)
    return found


def _values(placed: Placed, inside: int) -> Iterator[CompletionItem]:
    for rank, name in enumerate(placed.facts.index.visible(inside)):
        value = placed.facts.value_of(name)
        yield CompletionItem(
            name.text,
            kind=CompletionItemKind.Variable,
            detail=None if value is None else str(value.type),
            sort_text=f"{rank:05}",
        )


def _blocks(placed: Placed, inside: int) -> Iterator[CompletionItem]:
    for scope in placed.facts.index.scope_at(inside).around():
        for text, names in scope.names.items():
            if names[0].role == "block":
                yield CompletionItem(text, kind=CompletionItemKind.Reference)


def _symbols(file: OpenFile, placed: Placed) -> Iterator[CompletionItem]:
    seen: set[str] = set()
    for other in file.part_of(placed):
        for name in other.facts.index.names:
            if name.role == "symbol" and name.text not in seen:
                seen.add(name.text)
                detail = name.op.name if name.op is not None else None
                yield CompletionItem(name.text, kind=CompletionItemKind.Function, detail=detail)


def _aliases(file: OpenFile, placed: Placed, sigil: str) -> Iterator[CompletionItem]:
    pattern = re.compile(rf"^[ \t]*({sigil}[A-Za-z_][\w$-]*)[ \t]*=(.*)", re.MULTILINE)
    for other in file.part_of(placed):
        for match in pattern.finditer(other.piece.text) if other.piece.is_rest else ():
            kind = CompletionItemKind.Constant
            yield CompletionItem(match[1], kind=kind, detail=match[2].strip()[:80])


def _dialect_types(file: OpenFile, word: str, placed: Placed) -> Iterator[CompletionItem]:
    yield from _aliases(file, placed, "!")
    dialect, dot, _ = word[1:].partition(".")
    if dot:
        for name in file.known.types(dialect):
            yield CompletionItem(f"!{name}", kind=CompletionItemKind.Class)
        return
    for name in file.known.dialect_names():
        yield CompletionItem(f"!{name}.", kind=CompletionItemKind.Module)


def _operations(file: OpenFile, word: str) -> Iterator[CompletionItem]:
    """Yield the operations of the dialect that is written, or the dialects."""
    quote = word[:1] if word.startswith('"') else ""
    dialect, dot, _ = word.removeprefix('"').partition(".")
    if not dot:
        for name in file.known.dialect_names():
            yield CompletionItem(f"{quote}{name}.", kind=CompletionItemKind.Module)
        return
    for op in file.known.operations(dialect):
        definition = OpDefinition(op)
        yield CompletionItem(
            f"{quote}{op.name}",
            kind=CompletionItemKind.Function,
            detail=definition.format or definition.signature,
            documentation=definition.documentation or None,
        )


def _within_op(
    file: OpenFile, placed: Placed, inside: int, before: str
) -> Iterator[CompletionItem]:
    """Yield attributes in the dictionary of an operation, and types after a colon."""
    op = placed.facts.index.op_at(inside)
    if re.search(r"(?:\{|<\{)\s*(?:[\w.$]+\s*=\s*[^={}]*,\s*)*$", before) and op is not None:
        op_class = file.known.op_class(op.name)
        for attribute in () if op_class is None else OpDefinition(op_class).attributes:
            yield CompletionItem(
                attribute.name,
                kind=CompletionItemKind.Property,
                detail=attribute.says,
                insert_text=f"{attribute.name} = ",
            )
        return
    if _TYPE_PLACE.search(before):
        for rank, name in enumerate(BUILTIN_TYPES):
            kind = CompletionItemKind.Class
            yield CompletionItem(name, kind=kind, sort_text=f"{rank:05}")


# Signatures


def signature(file: OpenFile, offset: int) -> SignatureHelp | None:
    """Return the syntax of the operation around an offset, and the operand that is written."""
    if (found := file.at(offset)) is None:
        return None
    placed, inside = found
    op = _op_on_line(placed, inside) or placed.facts.index.op_at(inside)
    if op is None or inside <= op.name_end or any(region.start < inside for region in op.regions):
        return None
    if (op_class := file.known.op_class(op.name)) is None:
        return None
    definition = OpDefinition(op_class)
    label = f"{op.name} {definition.format}" if definition.format else definition.signature
    parameters: list[ParameterInformation] = []
    at = len(op.name)
    for field in definition.operands:
        shown = f"${field.name}" if definition.format else field.name
        if (start := label.find(shown, at)) >= 0:
            at = start + len(shown)
            parameters.append(ParameterInformation((start, at), field.says or None))
    written = placed.facts.text[op.name_end : inside]
    active = min(written.count(","), max(len(parameters) - 1, 0))
    shown_signature = SignatureInformation(label, definition.documentation or None, parameters)
    return SignatureHelp([shown_signature], 0, active)


def _op_on_line(placed: Placed, inside: int) -> OpText | None:
    """Return the operation whose name is before an offset on its line: one whose text ends there
    is still being written."""
    text = placed.facts.text
    line = text.rfind("\n", 0, inside)
    ops = [op for op in placed.facts.index.ops if line < op.name_end < inside]
    return ops[-1] if ops else None
