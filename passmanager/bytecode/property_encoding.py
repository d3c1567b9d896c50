"""The encoding of the properties of operations, the inverse of `op_attributes.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i32
from xdsl.ir import Attribute, Operation

from .builtin_encoding import dictionary
from .encoding import Since
from .entries import Entries, TableEntry
from .op_properties import FieldKind, PropertyField, fields_of, sparse_array

__all__ = ["PropertyFields", "encode_properties"]

PropertyFields: TypeAlias = "tuple[int | bytes | TableEntry | tuple[TableEntry], ...]"
"""The encoding of properties; an entry in a tuple is one that may be missing."""


def encode_properties(
    entries: Entries,
    op: Operation,
    name: str,
    others: Mapping[str, Attribute],
    version: int,
) -> tuple[PropertyFields | None, bool, dict[str, Attribute]]:
    """Return the encoding of the properties of an operation, None if it has none; whether MLIR
    knows the operation; and its attributes, given as `others`, without those that are properties
    in MLIR.

    An operation that MLIR does not know has its properties as a dictionary. One whose properties
    are not those that MLIR requires has them among its attributes, where MLIR finds them, too.
    """
    fields = fields_of(name, version)
    if fields is None:
        if not op.properties:
            return None, name.partition(".")[0] != name, dict(others)
        entry = entries.fields(dictionary(entries, [*op.properties.items()]))
        return (entry,), False, dict(others)
    values = {**others, **op.properties}
    found: list[int | bytes | TableEntry | tuple[TableEntry]] = []
    known = {field.name for field in fields}
    if not all(_fits(field, values) for field in fields):
        return None, True, values
    for field in fields:
        found += _encoded(entries, field, values.get(field.name), version)
    return (*found,), True, {key: value for key, value in values.items() if key not in known}


def _fits(field: PropertyField, values: Mapping[str, Attribute]) -> bool:
    """Return whether a property has the form that MLIR requires."""
    value = values.get(field.name)
    match field.kind:
        case FieldKind.ATTRIBUTE:
            return value is not None
        case FieldKind.MAYBE_ATTRIBUTE:
            return True
        case FieldKind.SEGMENTS:
            return (
                isinstance(value, DenseArrayBase)
                and cast("DenseArrayBase", value).elt_type == i32
                and len(cast("DenseArrayBase", value)) == field.size
            )
        case FieldKind.BOOL:
            return value is None or isinstance(value, UnitAttr)
        case FieldKind.VARINT:
            return value is None or (isinstance(value, IntegerAttr) and value.value.data >= 0)
        case FieldKind.OPTIONAL:
            return value is None or (isinstance(value, IntegerAttr) and value.value.data >= 0)


def _number(value: Attribute | None) -> int:
    match value:
        case IntegerAttr():
            return value.value.data
        case _:
            return 0


def _encoded(
    entries: Entries, field: PropertyField, value: Attribute | None, version: int
) -> list[int | bytes | TableEntry | tuple[TableEntry]]:
    number = _number(value)
    match field.kind:
        case FieldKind.MAYBE_ATTRIBUTE:
            return [0] if value is None else [(entries.attribute(value),)]
        case FieldKind.SEGMENTS if version >= Since.SEGMENTS_LAST:
            return [*sparse_array(cast("DenseArrayBase[IntegerType]", value).get_values())]
        case FieldKind.BOOL:
            return [b"\0" if value is None else b"\1"]
        case FieldKind.VARINT:
            return [number]
        case FieldKind.OPTIONAL:
            return [b"\0"] if value is None else [b"\1", number]
        case _:
            assert value is not None
            return [entries.attribute(value)]
