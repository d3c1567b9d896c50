"""The encoding of the properties of MLIR's operations, each a list of fields in a fixed order.

The table `op_properties.txt` has one line for all operations of the same fields. A word of it is
`name`, an attribute; `name?`, an attribute that may be missing; `name#N`, the sizes of N segments
of operands or results; or `name=kind`, a number that is not an attribute in MLIR. The program
`extract_op_properties.py` makes the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .encoding import Since

__all__ = ["FieldKind", "PropertyField", "fields_of", "sparse_array"]


class FieldKind(Enum):
    """How a property is encoded."""

    ATTRIBUTE = ""
    MAYBE_ATTRIBUTE = "?"
    SEGMENTS = "#"
    VARINT = "varint"
    BOOL = "bool"
    OPTIONAL = "optional"
    """An integer that may be missing."""


class PropertyField(NamedTuple):
    """A property of an operation."""

    name: str
    kind: FieldKind
    size: int = 0
    """The number of segments."""


@cache
def _words() -> dict[str, str]:
    """Return the words of the table for each operation."""
    found: dict[str, str] = {}
    for line in Path(__file__).with_name("op_properties.txt").read_text("utf-8").splitlines():
        words, _, ops = line.partition(" : ")
        for op in ops.split():
            found[op] = words
    return found


@cache
def fields_of(op_name: str, version: int) -> Sequence[PropertyField] | None:
    """Return the properties of an operation in the order of a version; None if it is not known."""
    if (words := _words().get(op_name)) is None:
        return None
    fields = [_field(word) for word in words.split()]
    if version >= Since.SEGMENTS_LAST:
        fields.sort(key=lambda field: field.kind is FieldKind.SEGMENTS)
    return fields


def _field(word: str) -> PropertyField:
    if word.endswith("?"):
        return PropertyField(word[:-1], FieldKind.MAYBE_ATTRIBUTE)
    name, separator, rest = word.partition("#")
    if separator:
        return PropertyField(name, FieldKind.SEGMENTS, int(rest))
    name, _, kind = word.partition("=")
    return PropertyField(name, FieldKind(kind))


def sparse_array(values: Sequence[int]) -> list[int]:
    """Return the integers that encode sizes of segments: all of them, or those that are not zero,
    each with its index in the low bits."""
    known = [(index, value) for index, value in enumerate(values) if value]
    last = known[-1][0] if known else 0
    if last > 256 or len(known) > len(values) // 2:
        return [len(values) << 1, *values]
    if not known:
        return [1]
    bits = last.bit_length()
    return [len(known) << 1 | 1, bits, *(value << bits | index for index, value in known)]
