"""The properties and attributes of operations in bytecode, as xDSL's operations have them."""

from __future__ import annotations

from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseResourceAttr,
    DictionaryAttr,
    IntegerAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrSizedSegments, IRDLOperation

from ..ir.text.printer import dense_of, wants_dense
from .container import Container
from .encoding import BytecodeError, Since, parse_varint
from .op_properties import FieldKind, PropertyField, fields_of

__all__ = ["OpAttributes"]

Attributes = dict[str, Attribute]


class OpAttributes:
    """The decoding of the properties of operations."""

    def __init__(self, file: Container) -> None:
        self._file = file
        self._position = self._end = 0

    def properties(self, name: str, is_registered: bool, index: int, position: int) -> Attributes:
        """Return the properties of an operation of this name, by their number in the file.

        Those of an operation that was not registered where the file was written are a dictionary,
        others a list of fields without names. Errors: BytecodeError at `position` for an operation
        whose fields are not known.
        """
        file = self._file
        if index >= len(file.properties):
            file.fail(f"there are no properties {index}, of {len(file.properties)}", position)
        start, self._end = file.properties[index]
        self._position = start
        fields = fields_of(name, file.version) if is_registered else None
        if is_registered and fields is None:
            file.fail(f"the encoding of the properties of '{name}' is not known", position)
        found: Attributes = {}
        try:
            if fields is None:
                dictionary = self._attribute(self._varint())
                if not isinstance(dictionary, DictionaryAttr):
                    file.fail(f"{dictionary.name} where a dictionary is expected", start)
                found.update(dictionary.data)
            for field in fields or ():
                if (value := self._value(field)) is not None:
                    found[field.name] = value
        except IndexError:
            file.fail(f"the properties of '{name}' are cut", start)
        if self._position != self._end:
            file.fail(f"the properties of '{name}' have more bytes than known", start)
        return found

    def _varint(self) -> int:
        found, self._position = parse_varint(self._file.data, self._position)
        if self._position > self._end:
            raise IndexError
        return found

    def _byte(self) -> int:
        if self._position >= self._end:
            raise IndexError
        self._position += 1
        return self._file.data[self._position - 1]

    def _attribute(self, index: int) -> Attribute:
        return self._file.table.attribute_at(index, self._position)

    def _value(self, field: PropertyField) -> Attribute | None:
        """Return the next field, None if it is missing."""
        match field.kind:
            case FieldKind.ATTRIBUTE:
                return self._attribute(self._varint())
            case FieldKind.MAYBE_ATTRIBUTE:
                index = self._varint()
                return self._attribute(index >> 1) if index & 1 else None
            case FieldKind.SEGMENTS if self._file.version < Since.SEGMENTS_LAST:
                return self._attribute(self._varint())
            case FieldKind.SEGMENTS:
                return DenseArrayBase.from_list(i32, self._segments(field))
            case FieldKind.VARINT:
                return IntegerAttr(self._varint(), i32)
            case FieldKind.BOOL:
                return UnitAttr() if self._byte() else None
            case FieldKind.OPTIONAL:
                return IntegerAttr(self._varint(), i64) if self._byte() else None

    def _segments(self, field: PropertyField) -> list[int]:
        """Return the sizes of segments, all of them or those that are not zero."""
        sizes, found = [0] * field.size, self._varint()
        count, bits = found >> 1, self._varint() if found & 1 and found > 1 else 0
        for index in range(count):
            value = self._varint()
            if found & 1:
                index, value = value & (1 << bits) - 1 if bits <= 8 else field.size, value >> bits
            if index >= field.size or value >= 1 << 31:
                self._file.fail(f"'{field.name}' has {field.size} sizes of 31 bits", self._position)
            sizes[index] = value
        return sizes

    def of_class(
        self, op_class: type[Operation], properties: Attributes, attributes: Attributes
    ) -> tuple[Attributes, Attributes]:
        """Return properties and attributes as the operations of a class have them: xDSL defines
        some of MLIR's properties as attributes. Of those from before properties, the opposite.
        """
        if not issubclass(op_class, IRDLOperation):
            return properties, attributes
        definition = op_class.get_irdl_definition()
        known, others = dict(properties), dict(attributes)
        for name in definition.properties:
            if name in others and name not in known:
                known[name] = others.pop(name)
        for option in definition.options:
            if isinstance(option, AttrSizedSegments):
                name, to = option.attribute_name, known if option.as_property else others
                for source in (known, others):
                    if source is not to and name in source:
                        to.setdefault(name, source.pop(name))
        moved = {*definition.attributes} - {*definition.properties}
        if issubclass(op_class, FuncOp | CallOp):
            moved.add("no_inline")
        for name in moved & {*known}:
            others.setdefault(name, known.pop(name))
        for name, value in known.items():
            if isinstance(value, DenseResourceAttr) and wants_dense(op_class, name):
                known[name] = self._dense(value)
        return known, others

    def _dense(self, value: DenseResourceAttr) -> Attribute:
        handle = value.resource_handle.data
        interface = self._file.ctx.get_dialect("builtin").get_interface(OpAsmDialectInterface)
        text = interface.lookup(handle) if interface is not None else None
        if not text:
            self._file.fail(f"resource '{handle}' has no elements in this file")
        try:
            return dense_of(value.type, text)
        except ValueError as error:
            raise BytecodeError(
                self._file.name, self._position, f"resource '{handle}' {error}"
            ) from None
