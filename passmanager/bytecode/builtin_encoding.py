"""The encoding of attributes and types of MLIR's builtin dialect, the inverse of
`builtin_decoding.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
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
    FunctionType,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NameLoc,
    NoneAttr,
    NoneType,
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
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from ..ir.text.float_bits import bits_of
from .builtin_decoding import packed_width
from .encoding import varint, zigzag
from .entries import Entries, Fields, NotEncodable, TableEntry

__all__ = ["dictionary", "encode"]

UNKNOWN: Fields = (15,)
"""The encoding of an unknown location."""


def encode(entries: Entries, attribute: Attribute, is_type: bool) -> Fields:
    """Return the encoding of an attribute or a type; NotEncodable for others than builtin ones."""
    found = _type(entries, attribute) if is_type else _attribute(entries, attribute)
    if found is None:
        raise NotEncodable
    return found


def dictionary(entries: Entries, values: Sequence[tuple[str, Attribute]]) -> Fields:
    """Return the encoding of a dictionary with these entries, sorted by name as in MLIR."""
    fields: list[int | TableEntry] = []
    for name, value in sorted(values, key=lambda item: item[0]):
        fields += (entries.fields((2, entries.string(name))), entries.attribute(value))
    return 1, len(values), *fields


def _attribute(entries: Entries, attribute: Attribute) -> Fields | None:
    match attribute:
        case FileLineColLoc():
            name = entries.attribute(attribute.filename)
            return 11, name, attribute.line.data, attribute.column.data
        case ArrayAttr():
            parts = attribute.data
            return 0, len(parts), *map(entries.attribute, parts)
        case DictionaryAttr():
            return dictionary(entries, [*attribute.data.items()])
        case StringAttr() | BytesAttr():
            return 2, entries.string(attribute.data)
        case SymbolRefAttr():
            return _symbol(entries, attribute)
        case UnitAttr():
            return (7,)
        case IntegerAttr():
            return _integer(entries, attribute)
        case FloatAttr():
            type = attribute.type
            bits, width = bits_of(attribute.value.data, type)
            return 9, entries.type(type), _bits(bits, width)
        case DenseArrayBase():
            return _dense_array(entries, attribute)
        case DenseIntOrFPElementsAttr():
            return _dense(entries, attribute)
        case DenseResourceAttr():
            handle = entries.resource(attribute.resource_handle.data)
            return 16, entries.type(cast(Attribute, attribute.type)), handle
        case _:
            return _location(entries, attribute)


def _location(entries: Entries, attribute: Attribute) -> Fields | None:
    match attribute:
        case UnknownLoc():
            return UNKNOWN
        case NameLoc():
            name, child = entries.attribute(attribute.desc), attribute.location
            unknown = isinstance(child, NoneAttr)
            return 14, name, entries.fields(UNKNOWN) if unknown else entries.attribute(child)
        case CallSiteLoc():
            return 10, entries.attribute(attribute.callee), entries.attribute(attribute.caller)
        case FusedLoc():
            parts = cast("ArrayAttr[Attribute]", attribute.locations).data
            places = [entries.attribute(part) for part in parts]
            if isinstance(attribute.metadata, NoneAttr):
                return 12, len(places), *places
            return 13, len(places), *places, entries.attribute(attribute.metadata)
        case _:
            return None


def _symbol(entries: Entries, attribute: SymbolRefAttr) -> Fields:
    root = entries.attribute(attribute.root_reference)
    if not (nested := attribute.nested_references.data):
        return 4, root
    flat = [entries.fields((4, entries.attribute(name))) for name in nested]
    return 5, root, len(flat), *flat


def _bits(value: int, width: int) -> bytes:
    """Return the encoding of an integer of a width that is known to the reader."""
    value &= (1 << width) - 1
    if width <= 8:
        return bytes((value,))
    if width <= 64:
        return varint(_zigzag64(value))
    words = max(1, (value.bit_length() + 63) // 64)
    parts = (value >> 64 * word & (1 << 64) - 1 for word in range(words))
    return varint(words) + b"".join(varint(_zigzag64(part)) for part in parts)


def _zigzag64(value: int) -> int:
    return zigzag(value - (1 << 64) if value >> 63 else value)


def _integer(entries: Entries, attribute: IntegerAttr) -> Fields:
    type = attribute.type
    width = 64 if isinstance(type, IndexType) else type.width.data
    return 8, entries.type(type), _bits(int(attribute.value.data), width)


def _dense_array(entries: Entries, attribute: DenseArrayBase) -> Fields | None:
    type, data = attribute.elt_type, attribute.data.data
    width = type.bitwidth
    if width > 64 or not width:
        return None
    size = (width + 7) // 8
    count = len(attribute)
    if isinstance(type, IntegerType):
        if width == 1:
            data = bytes(1 if byte else 0 for byte in data)
        elif width not in (8, 16, 32, 64):
            data = _as_mlir_packs(type.unpack(data, count), width, size)
    return 17, entries.type(type), count, len(data), data


def _as_mlir_packs(values: Sequence[object], width: int, size: int) -> bytes:
    """Return integers as MLIR has them in constants: without the copies of the sign, in bytes."""
    mask = (1 << width) - 1
    return b"".join(
        (value & mask).to_bytes(size, "little") for value in cast("Sequence[int]", values)
    )


def _dense(entries: Entries, attribute: DenseIntOrFPElementsAttr) -> Fields | None:
    type, data = cast(Attribute, attribute.type), attribute.data.data
    element, count = attribute.get_element_type(), len(attribute)
    width = packed_width(element)
    inner = element.element_type if isinstance(element, ComplexType) else element
    if not width or (isinstance(inner, IntegerType) and inner.width.data > 64):
        return None
    if isinstance(inner, IntegerType) and inner.width.data not in (1, 8, 16, 32, 64):
        values: Sequence[object] = inner.unpack(data, len(data) // inner.compile_time_size)
        data = _as_mlir_packs(values, inner.width.data, (inner.width.data + 7) // 8)
    elif isinstance(element, ComplexType) and isinstance(inner, IntegerType):
        if inner.width.data == 1:
            data = bytes(1 if byte else 0 for byte in data)
    if count and (size := len(data) // count) * count == len(data):
        if data[:size] * count == data:
            data = data[:size]  # one element stands for all
            if width == 1:
                data = b"\xff" if data[0] else b"\0"
        elif width == 1:
            data = _packed_bits(data)
    return 18, entries.type(type), len(data), data


def _packed_bits(data: bytes) -> bytes:
    """Return bytes, one for each i1, as bits, eight in a byte."""
    bits = int(bytes(49 if byte else 48 for byte in reversed(data)), 2)
    return bits.to_bytes((len(data) + 7) // 8, "little")


# Types

_PLAIN: dict[type[Attribute], Fields] = {
    IndexType: (1,),
    BFloat16Type: (3,),
    Float16Type: (4,),
    Float32Type: (5,),
    Float64Type: (6,),
    Float80Type: (7,),
    Float128Type: (8,),
    NoneType: (12,),
}

_SIGNS = {Signedness.SIGNLESS: 0, Signedness.SIGNED: 1, Signedness.UNSIGNED: 2}


def _shape(sizes: Sequence[int]) -> tuple[int | bytes, ...]:
    return len(sizes), *(varint(_zigzag64(size & (1 << 64) - 1)) for size in sizes)


def _list(entries: Entries, types: Sequence[Attribute]) -> Fields:
    return len(types), *map(entries.type, types)


def _type(entries: Entries, type: Attribute) -> Fields | None:
    if (plain := _PLAIN.get(type.__class__)) is not None:
        return plain
    match type:
        case IntegerType():
            return 0, type.width.data << 2 | _SIGNS[type.signedness.data]
        case FunctionType():
            return 2, *_list(entries, type.inputs.data), *_list(entries, type.outputs.data)
        case ComplexType():
            return 9, entries.type(cast(Attribute, type.element_type))
        case TensorType():
            element = entries.type(type.element_type)
            if isinstance(type.encoding, NoneAttr):
                return 13, *_shape(type.get_shape()), element
            return 14, entries.attribute(type.encoding), *_shape(type.get_shape()), element
        case UnrankedTensorType():
            return 18, entries.type(type.element_type)
        case TupleType():
            return 15, *_list(entries, type.types.data)
        case VectorType():
            return _vector(entries, type)
        case MemRefType():
            return _memref(entries, type)
        case UnrankedMemRefType():
            element, space = entries.type(type.element_type), type.memory_space
            if isinstance(space, NoneAttr):
                return 16, element
            return 17, entries.attribute(space), element
        case _:
            return None


def _vector(entries: Entries, type: VectorType[Attribute]) -> Fields:
    shape, element = _shape(type.get_shape()), entries.type(type.element_type)
    scales = bytes(1 if scale.value.data else 0 for scale in type.scalable_dims)
    if not any(scales):
        return 19, *shape, element
    return 20, len(scales), scales, *shape, element


def _memref(entries: Entries, type: MemRefType[Attribute]) -> Fields:
    shape, element, layout = _shape(type.get_shape()), entries.type(type.element_type), type.layout
    if isinstance(layout, NoneAttr):
        layout = AffineMapAttr(AffineMap.identity(type.get_num_dims()))
    place = entries.attribute(cast(Attribute, layout))
    if isinstance(type.memory_space, NoneAttr):
        return 10, *shape, element, place
    return 11, entries.attribute(type.memory_space), *shape, element, place
