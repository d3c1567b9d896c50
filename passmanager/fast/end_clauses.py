"""The end of the text of operations in a declarative format: types, such as `T to U` in `%v =
memref.view %a[%i][] : T to U`, or an attribute, such as `1 : i32` in `%c = arith.constant 1 : i32`.

If a format has types there alone, the text before them does not depend on types, and the written
types decide all others, by the constraints of the operation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OperandDef, PropertyDef, ResultDef
from xdsl.irdl.declarative_assembly_format import FormatProgram, ParsingState
from xdsl.parser import UnresolvedOperand

from ..ir.per_class import PerClass
from .op_templates import has_declarative_format

Types: TypeAlias = Sequence[Attribute]

_TYPE = r"type\(\$(\w+)\)"
_types = re.compile(rf"(.*)`:`\s*({_TYPE}(?:\s*`[^`]+`\s*{_TYPE})*)\s*", re.DOTALL).fullmatch
_parts = re.compile(rf"{_TYPE}|`([^`]+)`").findall
_attribute = re.compile(r"(.*)\$(\w+)\s*", re.DOTALL).fullmatch
_lists = re.compile(r"custom<DynamicIndexList>\(\s*\$\w+\s*,\s*\$(\w+)\s*\)").findall
_has_types = re.compile(r"\btype\(|\bfunctional-type\(").search


@dataclass(frozen=True)
class EndClause:
    """The end of a declarative format: behind a colon, the types of single operands and results,
    with a word or a comma between two; or a property."""

    op_class: type[IRDLOperation]
    names: tuple[str, ...]
    """The operands and results whose types are written."""
    separators: tuple[str, ...] = ()
    """The text between two types."""
    property: str = ""
    """The name of the property; empty if types are written."""
    lists: tuple[str, ...] = ()
    """The properties that are written before as lists of integers, with operands between them."""

    def written(self, op: Operation) -> Types:
        """Return the types, or the property if it is a number, in the end of the text of `op`."""
        if self.property:  # others may be long, and rarely repeat
            number = op.properties.get(self.property)
            return [cast(Attribute, number)] if isinstance(number, IntegerAttr | FloatAttr) else []
        return [cast(SSAValue, getattr(op, name)).type for name in self.names]

    def text(self, written: Sequence[str]) -> str:
        """Return the end of the text of an operation with these types, or this property."""
        start = " " if self.property else " : "
        pairs = zip((start, *self.separators), written, strict=True)
        return "".join(separator + text for separator, text in pairs)

    def split(self, text: str) -> list[str] | None:
        """Return the types in the end of a text; None if there are not as many."""
        types: list[str] = []
        for separator in self.separators:
            type, found, text = text.partition(separator)
            if not found:
                return None
            types.append(type)
        return [*types, text]

    def segments(self, op: Operation) -> tuple[int, ...]:
        """Return the number of operands of `op` for each operand of its definition, which may be
        optional or variadic."""
        values = (getattr(op, name) for name, _ in self.op_class.get_irdl_definition().operands)
        return (*map(_count, values),)

    def decided(
        self,
        written: Types,
        segments: Sequence[int],
        properties: Mapping[str, Attribute],
        attributes: Mapping[str, Attribute],
    ) -> tuple[Types, Types] | None:
        """Return the types of operands and results that the written types decide; None if these are
        invalid."""
        definition, state = self.op_class.get_irdl_definition(), ParsingState(self.op_class)
        # Before parsing knows the types of operands, it only counts them.
        state.operands = cast(list[Sequence[UnresolvedOperand] | None], [*map(range, segments)])
        state.properties, state.attributes = {**properties}, {**attributes}
        for (kind, index), type in zip(self._places, written, strict=True):
            (state.operand_types if kind is OperandDef else state.result_types)[index] = (type,)
        try:
            self._program.resolve_constraint_variables(state, definition)
            operands = self._program.resolve_operand_types(state, definition)
            results = self._program.resolve_result_types(state, definition)
        except Exception:  # whatever constraints raise: parsing the text raises it again
            return None
        return [*chain(*operands)], [*chain(*results)]

    @cached_property
    def _program(self) -> FormatProgram:
        definition = self.op_class.get_irdl_definition()
        return FormatProgram.from_str(definition.assembly_format or "", definition)

    @cached_property
    def _places(self) -> list[tuple[type, int]]:
        """The definitions of the written types: operand or result, and its index."""
        return [_place(self.op_class, name) for name in self.names]


def _count(value: object) -> int:
    """Return the number of values of a single, optional or variadic operand."""
    if value is None:
        return 0
    return 1 if isinstance(value, SSAValue) else len(cast(Sized, value))


def _place(op_class: type[IRDLOperation], name: str) -> tuple[type, int]:
    """Return the kind of the definition with a name, operand or result, and its index among those
    of this kind; KeyError if there is none, or if it is optional or variadic."""
    definition = op_class.get_irdl_definition()
    for kind, definitions in (OperandDef, definition.operands), (ResultDef, definition.results):
        for index, (other, found) in enumerate(definitions):
            if other == name and type(found) is kind:
                return kind, index
    raise KeyError(name)


def _clause_of(op_class: type[Operation]) -> EndClause | None:
    """Return the clause of a class; None if its text has types elsewhere, or lists of types."""
    if not has_declarative_format(op_class) or not issubclass(op_class, IRDLOperation):
        return None
    definition = op_class.get_irdl_definition()
    text = definition.assembly_format or ""
    if (match := _types(text)) is None:
        match = _attribute(text)
        found = None if match is None else definition.properties.get(match[2])
        if match is None or _has_types(match[1]) or type(found) is not PropertyDef:
            return None
        is_always_written = found.default_value is None and match[2] not in match[1]
        return EndClause(op_class, (), property=match[2]) if is_always_written else None
    if _has_types(match[1]):
        return None
    parts = _parts(match[2])
    names = (*(name for name, _ in parts[::2]),)
    try:
        for name in names:
            _place(op_class, name)
    except KeyError:
        return None
    # A comma follows its type without a space.
    words = (word for _, word in parts[1::2])
    separators = (f"{word} " if word == "," else f" {word} " for word in words)
    return EndClause(op_class, names, (*separators,), lists=(*_lists(match[1]),))


end_clause = PerClass[Operation, EndClause | None](_clause_of)
"""What the text of the operations of a class ends with; None if that does not decide all types."""
