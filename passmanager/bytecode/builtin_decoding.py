"""The decoding of attributes and types of MLIR's builtin dialect.

Each function decodes one kind, whose code is its index in `ATTRIBUTES` or `TYPES`. Source: MLIR's
`BuiltinDialectBytecode.td`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FileLineColLoc,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    FloatAttr,
    FloatData,
    FunctionType,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    NameLoc,
    NoneAttr,
    NoneType,
    RankedStructure,
    ShapedType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.ir.affine import AffineMap

from ..fast.creation import make_attribute
from ..fast.reading.builtin_types import defect_of_type
from ..ir.text.float_bits import value_of
from ..limits import too_many_elements
from .attribute_table import AttributeTable, Decoder

__all__ = ["ATTRIBUTES", "LOCATIONS", "TYPES", "packed_width"]

LOCATIONS = (FileLineColLoc, UnknownLoc, NameLoc, CallSiteLoc, FusedLoc)
"""The classes of locations."""

MAX_WIDTH = (1 << 24) - 1
"""The widest integer that MLIR has."""


# Attributes


def _location(table: AttributeTable) -> LocationAttr:
    found = table.attribute()
    if not isinstance(found, LOCATIONS):
        table.fail(f"{found.name} where a location is expected")
    return found


def _array(table: AttributeTable) -> Attribute:
    return make_attribute(ArrayAttr, data=tuple(table.attribute() for _ in range(table.count())))


def _dictionary(table: AttributeTable) -> Attribute:
    entries: dict[str, Attribute] = {}
    for _ in range(table.count()):
        name = table.text().data
        if name in entries:
            table.fail(f"a dictionary has two entries '{name}'")
        entries[name] = table.attribute()
    return DictionaryAttr(entries)


def _string(table: AttributeTable) -> Attribute:
    return table.string()


def _typed_string(table: AttributeTable) -> Attribute:
    table.string()
    table.fail(f"a string of type {table.type()}, which xDSL does not have")


def _flat_symbol(table: AttributeTable) -> Attribute:
    return SymbolRefAttr(table.text())


def _symbol(table: AttributeTable) -> Attribute:
    root = table.text()
    nested: list[StringAttr] = []
    for _ in range(table.count()):
        if not isinstance(symbol := table.attribute(), SymbolRefAttr):
            table.fail(f"{symbol.name} where a symbol is expected")
        nested.append(symbol.root_reference)
    return SymbolRefAttr(root, ArrayAttr(nested))


def _type(table: AttributeTable) -> Attribute:
    return table.type()


def _unit(_: AttributeTable) -> Attribute:
    return UnitAttr()


def _bits(table: AttributeTable, width: int) -> int:
    """Return the next integer of a width, not negative."""
    if width <= 8:
        value = table.byte()
    elif width <= 64:
        value = table.signed()
    else:
        count = table.count()
        if count > (width + 63) // 64:
            table.fail(f"an integer of {width} bits in {count} words")
        words = [table.signed() & (1 << 64) - 1 for _ in range(count)]
        value = int.from_bytes(struct.pack(f"<{count}Q", *words), "little")
    return value & (1 << width) - 1


def _integer(table: AttributeTable) -> Attribute:
    is_unsigned, width = False, 64
    match type := table.type():
        case IndexType():
            pass
        case IntegerType():
            width, is_unsigned = type.width.data, type.signedness.data is Signedness.UNSIGNED
        case _:
            table.fail(f"an integer of type {type}")
    value = _bits(table, width)
    if not is_unsigned and width and value >> (width - 1):
        value -= 1 << width
    return make_attribute(IntegerAttr, value=table.numbers[value], type=type)


def _float(table: AttributeTable) -> Attribute:
    type = table.type()
    if not isinstance(type, AnyFloat):
        table.fail(f"a number of type {type}")
    value = value_of(_bits(table, type.bitwidth), type)
    if value is None:
        table.fail(f"a number of {type} that has no equal one of f64")
    return make_attribute(FloatAttr, value=FloatData(value), type=type)


def _call_site(table: AttributeTable) -> Attribute:
    return CallSiteLoc(_location(table), _location(table))


def _place(table: AttributeTable) -> Attribute:
    return table.place()


def _fused(table: AttributeTable, has_metadata: bool = False) -> Attribute:
    parts = tuple(_location(table) for _ in range(table.count()))
    return FusedLoc(parts, table.attribute() if has_metadata else NoneAttr())


def _name(table: AttributeTable) -> Attribute:
    name, child = table.text(), _location(table)
    return NameLoc(name, NoneAttr() if isinstance(child, UnknownLoc) else child)


def _unknown(_: AttributeTable) -> Attribute:
    return UNKNOWN_LOC


def _range(table: AttributeTable) -> Attribute:
    """Decode a range of lines and columns, of which xDSL has the start alone."""
    name = table.text()
    numbers = [table.numbers[table.varint()] for _ in range(table.count())]
    if len(numbers) > 4:
        table.fail(f"a range of places with {len(numbers)} numbers")
    line, column = [*numbers, IntAttr(0), IntAttr(0)][:2]
    return FileLineColLoc(name, line, column)


def _resource(table: AttributeTable) -> Attribute:
    type, index = _shaped(table), table.varint()
    if index >= len(table.resources):
        table.fail(f"there is no resource {index}, of {len(table.resources)}")
    return DenseResourceAttr.from_params(table.resources[index], type)


def _dense_array(table: AttributeTable) -> Attribute:
    type = table.type()
    count, data = table.varint(), table.blob()
    if isinstance(type, IndexType | ComplexType) or not packed_width(type):
        table.fail(f"an array of {type}, which xDSL does not have")
    width = (packed_width(type) + 7) // 8
    if len(data) != count * width:
        table.fail(f"an array of {count} elements of {type} in {len(data)} bytes")
    return make_attribute(
        DenseArrayBase, elt_type=type, data=BytesAttr(_as_xdsl_packs(data, type, width))
    )


def _shaped(table: AttributeTable) -> ShapedType:
    match found := table.type():
        case TensorType() | VectorType() | MemRefType() if found.has_static_shape():
            return found
        case _:
            table.fail(f"a constant of {found}")


def packed_width(type: Attribute) -> int:
    """Return the bits that an element of a constant takes in MLIR, or 0 if it can have none."""
    match type:
        case ComplexType():
            inner = packed_width(type.element_type)
            return 2 * max(8, inner)
        case IndexType():
            return 64
        case IntegerType(width=IntAttr(data=1)):
            return 1
        case IntegerType():
            return (type.width.data + 7) // 8 * 8
        case _ if isinstance(type, AnyFloat):
            return (type.bitwidth + 7) // 8 * 8
        case _:
            return 0


def _dense(table: AttributeTable) -> Attribute:
    type, start = _shaped(table), table.position
    data = table.blob()
    element = cast("RankedStructure[Attribute]", type).get_element_type()
    count = prod(type.get_shape())
    if not (width := packed_width(element)):
        table.fail(f"a constant of {element}", start)
    if (reason := too_many_elements(type.get_shape(), table.max_elements)) is not None:
        table.fail(reason, start)
    if width == 1:
        data = _unpacked_bits(data, count)
    elif len(data) * 8 == width:
        data *= count
    if len(data) != count * max(8, width) // 8:
        table.fail(f"a constant of {type} in {len(data)} bytes", start)
    if width > 1:
        inner, parts = element, 1
        if isinstance(element, ComplexType):
            inner, parts = cast("ComplexType", element).element_type, 2
        data = _as_xdsl_packs(data, inner, width // 8 // parts)
    return make_attribute(DenseIntOrFPElementsAttr, type=type, data=BytesAttr(data))


_BYTES_OF_BITS = [bytes(0xFF if byte >> bit & 1 else 0 for bit in range(8)) for byte in range(256)]


def _unpacked_bits(data: bytes, count: int) -> bytes:
    """Return the bits of i1, eight of them in a byte, as the bytes that xDSL has; one byte with
    equal bits stands for all elements."""
    if len(data) == 1 and data[0] in (0, 0xFF):
        return data * count
    if len(data) != (count + 7) // 8:
        return b"" if count else b"\0"
    return b"".join(map(_BYTES_OF_BITS.__getitem__, data))[:count]


def _as_xdsl_packs(data: bytes, type: Attribute, size: int) -> bytes:
    """Return elements of `size` bytes each as xDSL packs them: signed integers with their sign."""
    match type:
        case IntegerType() if (width := type.width.data) not in (8, 16, 32, 64):
            pass
        case _:
            return data
    is_unsigned = type.signedness.data is Signedness.UNSIGNED
    values: list[int] = []
    for start in range(0, len(data), size):
        value = int.from_bytes(data[start : start + size], "little") & (1 << width) - 1
        values.append(value - (1 << width) if value >> (width - 1) and not is_unsigned else value)
    return type.pack(values)


def _not_in_xdsl(what: str) -> Decoder:
    def decode(table: AttributeTable) -> Attribute:
        table.fail(f"{what}, which xDSL does not have")

    return decode


ATTRIBUTES: Sequence[Decoder] = (
    _array,
    _dictionary,
    _string,
    _typed_string,
    _flat_symbol,
    _symbol,
    _type,
    _unit,
    _integer,
    _float,
    _call_site,
    _place,
    _fused,
    partial(_fused, has_metadata=True),
    _name,
    _unknown,
    _resource,
    _dense_array,
    _dense,
    _not_in_xdsl("a constant of strings"),
    _not_in_xdsl("a sparse constant"),
    _not_in_xdsl("a distinct attribute"),
    _range,
)


# Types


def _integer_type(table: AttributeTable) -> Attribute:
    found = table.varint()
    width, signedness = found >> 2, found & 3
    if width > MAX_WIDTH or signedness > 2:
        table.fail(f"an integer type of {width} bits" + (", of no sign" if signedness > 2 else ""))
    signs = (Signedness.SIGNLESS, Signedness.SIGNED, Signedness.UNSIGNED)
    return IntegerType(width, signs[signedness])


def _plain(type: type[ParametrizedAttribute]) -> Decoder:
    found = type()
    return lambda _: found


def _types(table: AttributeTable) -> list[Attribute]:
    return [table.type() for _ in range(table.count())]


def _function_type(table: AttributeTable) -> Attribute:
    inputs = _types(table)
    return FunctionType.from_lists(inputs, _types(table))


def _complex_type(table: AttributeTable) -> Attribute:
    match element := table.type():
        case IntegerType():
            return ComplexType(element)
        case _ if isinstance(element, AnyFloat):
            return ComplexType(element)
        case _:
            table.fail(f"a complex number of {element}")


def _shape(table: AttributeTable) -> list[int]:
    return [table.signed() for _ in range(table.count())]


def _checked(table: AttributeTable, type: Attribute) -> Attribute:
    """Return a type that MLIR accepts; xDSL accepts more."""
    if (defect := defect_of_type(type)) is not None:
        table.fail(defect)
    return type


def _memref_type(table: AttributeTable, has_space: bool = False) -> Attribute:
    space = table.attribute() if has_space else NoneAttr()
    shape, element, layout = _shape(table), table.type(), table.attribute()
    if isinstance(layout, AffineMapAttr) and layout.data == AffineMap.identity(len(shape)):
        layout = NoneAttr()
    return _checked(table, MemRefType(element, shape, cast(NoneAttr, layout), space))


def _tensor_type(table: AttributeTable, has_encoding: bool = False) -> Attribute:
    encoding = table.attribute() if has_encoding else NoneAttr()
    shape = _shape(table)
    return _checked(table, TensorType(table.type(), shape, encoding))


def _tuple_type(table: AttributeTable) -> Attribute:
    return TupleType(cast("tuple[TypeAttribute, ...]", (*_types(table),)))


def _unranked_memref_type(table: AttributeTable, has_space: bool = False) -> Attribute:
    space = table.attribute() if has_space else NoneAttr()
    return _checked(table, UnrankedMemRefType.from_type(table.type(), space))


def _unranked_tensor_type(table: AttributeTable) -> Attribute:
    return _checked(table, UnrankedTensorType(table.type()))


def _vector_type(table: AttributeTable, has_scales: bool = False) -> Attribute:
    scales = [bool(table.byte()) for _ in range(table.count())] if has_scales else None
    shape, element = _shape(table), table.type()
    if any(size < 1 for size in shape) or (scales is not None and len(scales) != len(shape)):
        table.fail(f"a vector type of shape {shape}")
    dims = None if scales is None else ArrayAttr([IntegerAttr.from_bool(scale) for scale in scales])
    return _checked(table, VectorType(element, shape, dims))


TYPES: Sequence[Decoder] = (
    _integer_type,
    _plain(IndexType),
    _function_type,
    _plain(BFloat16Type),
    _plain(Float16Type),
    _plain(Float32Type),
    _plain(Float64Type),
    _plain(Float80Type),
    _plain(Float128Type),
    _complex_type,
    _memref_type,
    partial(_memref_type, has_space=True),
    _plain(NoneType),
    _tensor_type,
    partial(_tensor_type, has_encoding=True),
    _tuple_type,
    _unranked_memref_type,
    partial(_unranked_memref_type, has_space=True),
    _unranked_tensor_type,
    _vector_type,
    partial(_vector_type, has_scales=True),
)
