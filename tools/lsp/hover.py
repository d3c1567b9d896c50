"""What an editor shows of the name under the cursor: types, values of constants, definitions."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from lsprotocol.types import Hover, MarkupContent, MarkupKind
from xdsl.dialects.builtin import ShapedType
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.traits import ConstantLike

from .names import TYPE, Name, OpText
from .navigation import definitions_of_symbol
from .op_definition import OpDefinition
from .open_file import OpenFile, Placed

MAX_TEXT = 400
"""The number of characters of a constant or a type that are shown."""


def hover(file: OpenFile, offset: int) -> Hover | None:
    """Return what is known of the name at an offset, or None."""
    if (found := file.at(offset)) is None:
        return None
    placed, inside = found
    index = placed.facts.index
    if (name := index.name_at(inside)) is not None:
        text = "\n\n".join(_of_name(file, placed, name))
        return _hover(file, placed, text, name.start, name.end)
    if (op := index.op_named_at(inside)) is not None:
        op_class = file.known.op_class(op.name)
        read = placed.facts.op_of(op)
        op_class = type(read) if op_class is None and read is not None else op_class
        text = f"`{op.name}` is not registered"
        if op_class is not None:
            text = OpDefinition(op_class).markdown()
        if dump := first_dump(file, placed, op):
            text = f"in the dumps since: {dump}\n\n{text}"
        return _hover(file, placed, text, op.name_start, op.name_end)
    for token in index.tokens:
        if token.start <= inside <= token.end and token.kind == TYPE and token.text[0] in "#!":
            text = alias_text(file, placed, token.text)
            return _hover(file, placed, _code(text), token.start, token.end) if text else None
    return None


def first_dump(file: OpenFile, placed: Placed, op: OpText) -> str:
    """Return the banner of the first dump, of those in a row up to the one around, that has the
    line of an operation in the same function: that of the pass that made it. Empty text if the
    file has no dumps."""
    group = file.part_of(placed)
    at = next(i for i, each in enumerate(file.groups) if each is group)
    line, names = _line(placed, op.start), {name for name, _, _ in placed.facts.symbols}
    if not file.splits[at].dump:
        return ""
    while at > 0 and file.splits[at - 1].dump:
        before = [
            other.piece.text
            for other in file.groups[at - 1]
            if not names or names & {name for name, _, _ in other.facts.symbols}
        ]
        if not any(line == each.strip() for text in before for each in text.split("\n")):
            break
        at -= 1
    return file.splits[at].dump


def alias_text(file: OpenFile, placed: Placed, name: str) -> str:
    """Return the line that defines an alias, or empty text."""
    for other in file.part_of(placed):
        for line in other.piece.text.splitlines() if other.piece.is_rest else ():
            if line.lstrip().startswith(name) and line.lstrip()[len(name) :].lstrip()[:1] == "=":
                return line.strip()
    return ""


def _hover(file: OpenFile, placed: Placed, text: str, start: int, end: int) -> Hover | None:
    if not text:
        return None
    place = file.source.range(*placed.range_of(start, end))
    return Hover(MarkupContent(MarkupKind.Markdown, text), place)


def _of_name(file: OpenFile, placed: Placed, name: Name) -> Iterator[str]:
    """Yield the parts of what is known of a name."""
    if name.text.startswith("@"):
        for other, symbol in definitions_of_symbol(file, placed, name.text):
            yield _code(_first_line(other, symbol))
        return
    definition = placed.facts.index.definition(name)
    if name.text.startswith("^"):
        if definition is not None:
            yield _code(_line(placed, definition.start))
        return
    value = placed.facts.value_of(name)
    if value is not None:
        yield _code(f"{name.text} : {_short(value.type)}")
        yield from _facts(value)
    if definition is None:
        yield f"`{name.text}` is not defined"
    elif value is None or definition is not name:
        yield _code(_line(placed, definition.start))


def _facts(value: SSAValue) -> Iterator[str]:
    """Yield the value of a constant, and the shape of a value that has one."""
    op = value.op if isinstance(value, OpResult) else None
    if op is not None and op.has_trait(ConstantLike, value_if_unregistered=False):
        if (constant := op.properties.get("value")) is not None:
            yield f"constant `{_short(constant)}`"
    if isinstance(type := value.type, ShapedType):
        shape = type.get_shape()
        sizes = " x ".join("?" if size < 0 else str(size) for size in shape)
        if shape and all(size >= 0 for size in shape):
            sizes += f", {prod(shape)} elements"
        yield f"shape {sizes or 'of no dimensions'}"


def _short(attribute: Attribute) -> str:
    text = str(attribute)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."


def _code(text: str) -> str:
    return f"```mlir\n{text}\n```" if text else ""


def _line(placed: Placed, offset: int) -> str:
    """Return the line around an offset of a piece."""
    text = placed.facts.text
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : end if end >= 0 else None].strip()
    return line if len(line) <= MAX_TEXT else f"{line[:MAX_TEXT]}..."


def _first_line(placed: Placed, symbol: Name) -> str:
    """Return the operation that defines a symbol, up to its region."""
    op, text = symbol.op, placed.facts.text
    if op is None:
        return _line(placed, symbol.start)
    end = op.regions[0].start if op.regions else op.end
    return " ".join(text[op.start : end].rstrip(" ({").split())[:MAX_TEXT]
