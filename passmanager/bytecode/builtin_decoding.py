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
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.ir.affine import AffineMap

from ..fast.creation import make_attribute
from ..fast.reading.builtin_types import defect_of_type
from ..ir.text.float_bits import value_of
from ..limits import too_many_elements
from .attribute_table import AttributeTable, Decoder

__all__ = ["ATTRIBUTES", "TYPES", "packed_width"]

MAX_WIDTH = (1 << 24) - 1
"""The widest integer that MLIR has."""

_Location = (UnknownLoc, FileLineColLoc, CallSiteLoc, NameLoc, FusedLoc)


# Attributes


def _array(table: AttributeTable) -> Attribute:
    return make_attribute(ArrayAttr, data=tuple(table.attribute() for _ in range(table.count())))


def _dictionary(table: AttributeTable) -> Attribute:
    entries: dict[str, Attribute] = {}
    for _ in range(table.count()):
        name = table.attribute(StringAttr).data
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
    return SymbolRefAttr(table.attribute(StringAttr))


def _symbol(table: AttributeTable) -> Attribute:
    root = table.attribute(StringAttr)
    nested = [table.attribute(SymbolRefAttr) for _ in range(table.count())]
    return SymbolRefAttr(root, ArrayAttr([symbol.root_reference for symbol in nested]))


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
    type = table.type()
    if isinstance(type, IndexType):
        value, is_unsigned, width = _bits(table, 64), False, 64
    elif isinstance(type, IntegerType):
        width = type.width.data
        value = _bits(table, width)
        is_unsigned = type.signedness.data is Signedness.UNSIGNED
    else:
        table.fail(f"an integer of type {type}")
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
    return CallSiteLoc(table.attribute(_Location), table.attribute(_Location))


def _place(table: AttributeTable) -> Attribute:
    return table.place()


def _fused(table: AttributeTable, has_metadata: bool = False) -> Attribute:
    parts = tuple(table.attribute(_Location) for _ in range(table.count()))
    return FusedLoc(parts, table.attribute() if has_metadata else NoneAttr())


def _name(table: AttributeTable) -> Attribute:
    name, child = table.attribute(StringAttr), table.attribute(_Location)
    return NameLoc(name, NoneAttr() if isinstance(child, UnknownLoc) else child)


def _unknown(_: AttributeTable) -> Attribute:
    return UNKNOWN_LOC


def _range(table: AttributeTable) -> Attribute:
    """Decode a range of lines and columns, of which xDSL has the start alone."""
    name = table.attribute(StringAttr)
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
    type = table.type((IntegerType, IndexType, AnyFloat))
    count, data = table.varint(), table.blob()
    if isinstance(type, IndexType):
        table.fail("an array of index, which xDSL does not have")
    width = type.bitwidth
    if len(data) != count * (size := max(1, (width + 7) // 8)):
        table.fail(f"an array of {count} elements of {type} in {len(data)} bytes")
    if isinstance(type, IntegerType):
        data = _as_xdsl_packs(data, type, width, size)
    return make_attribute(DenseArrayBase, elt_type=type, data=BytesAttr(data))


_Shaped = TensorType | VectorType | MemRefType


def _shaped(table: AttributeTable) -> _Shaped[Attribute]:
    found = table.type((TensorType, VectorType, MemRefType))
    if any(size < 0 for size in found.get_shape()):
        table.fail(f"a constant of {found}, whose size is not known")
    return cast("_Shaped[Attribute]", found)


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
        case AnyFloat():
            return (type.bitwidth + 7) // 8 * 8
        case _:
            return 0


def _dense(table: AttributeTable) -> Attribute:
    type, start = _shaped(table), table.position
    data = table.blob()
    element, count = type.get_element_type(), prod(type.get_shape())
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
    if isinstance(element, ComplexType):
        inner = element.element_type
        if isinstance(inner, IntegerType):
            data = _as_xdsl_packs(data, inner, inner.width.data, width // 16)
    elif isinstance(element, IntegerType) and width > 1:
        data = _as_xdsl_packs(data, element, element.width.data, width // 8)
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


def _as_xdsl_packs(data: bytes, type: IntegerType, width: int, size: int) -> bytes:
    """Return integers of `size` bytes each as xDSL packs them: signed ones with their sign."""
    if width in (8, 16, 32, 64) or not data:
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
    return ComplexType(table.type((IntegerType, AnyFloat)))


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
    return TupleType(cast("list[TypeAttribute]", _types(table)))


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
