"""The fields of Tile IR bytecode: how an attribute is written, and read again.

Source: `BytecodeWriter.cpp` and `BytecodeReader.cpp` of NVIDIA/cuda-tile.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from ....passmanager.errors import PasslineError
from ....passmanager.ir.text.float_bits import bits_of, value_of
from ....passmanager.releases.floats import byte_size
from ..attributes import BoundedAttr, DivByAttr, OptimizationHintsAttr, SameElementsAttr
from ..types import TileType
from .streams import NEWEST, OLDEST, InputTable, OutputTable, TileInput, TileOutput

__all__ = [
    "BOOL",
    "CONSTANT",
    "HINTS",
    "LIST",
    "NUMBER",
    "STRING",
    "SYMBOL",
    "TAGGED",
    "TYPE",
    "Codec",
    "FieldDecoder",
    "FieldEncoder",
    "InputFile",
    "OutputFile",
    "array_of",
    "enumeration",
    "errors_at",
    "integer",
]

MAX_ELEMENTS = 1 << 24
"""The most elements of a tile."""


@contextmanager
def errors_at(source: TileInput) -> Generator[None]:
    """Turn what xDSL says of an attribute or an operation into an error for a place."""
    try:
        yield
    except (VerifyException, ValueError) as e:
        source.fail(str(e))


class OutputFile:
    """A file that is written: its version, its tables, and the function for an entry of types."""

    def __init__(
        self, version: tuple[int, int], write_type: Callable[[OutputFile, Attribute], bytes]
    ) -> None:
        if not OLDEST <= version <= NEWEST:
            raise PasslineError(
                f"version {shown(version)} of Tile IR bytecode is not known: expected "
                f"{shown(OLDEST)} to {shown(NEWEST)}"
            )
        self.version, self.write_type = version, write_type
        self.strings, self.types = OutputTable(4), OutputTable(4)
        self.constants, self.debug_info = OutputTable(8), OutputTable(4)

    def require(self, version: tuple[int, int], what: str) -> None:
        """Raise PasslineError if the file is older than `version`, which `what` needs."""
        if self.version < version:
            raise PasslineError(
                f"{what} needs version {shown(version)} of Tile IR bytecode: the file is of "
                f"{shown(self.version)}"
            )


class FieldEncoder(TileOutput):
    """A part of a file that is written, whose fields refer to tables."""

    def __init__(self, file: OutputFile) -> None:
        super().__init__()
        self.file = file


class InputFile:
    """A file that is read: its version, its tables, and the function for an entry of types."""

    def __init__(
        self,
        version: tuple[int, int],
        tables: Mapping[str, InputTable],
        read_type: Callable[[FieldDecoder], Attribute],
    ) -> None:
        self.version, self.tables, self.read_type = version, tables, read_type
        self.found: dict[tuple[str, int], Attribute | None] = {}
        """The entries that have been read; None while one is."""

    def entry(
        self, what: str, index: int, source: TileInput, read: Callable[[FieldDecoder], Attribute]
    ) -> Attribute:
        """Return an entry of a table, to which a field that `source` has read refers."""
        entry = self.tables[what].entry(index, source)
        if (key := (what, index)) not in self.found:
            self.found[key] = None
            with errors_at(entry):
                self.found[key] = read(FieldDecoder(self, entry))
        if (value := self.found[key]) is None:
            source.fail(f"{what} {index} contains itself")
        return value


@dataclass
class FieldDecoder:
    """A part of a file that is read, whose fields refer to tables."""

    file: InputFile
    source: TileInput
    type: Attribute | None = None
    """The type of the constant that is read next."""

    def fail(self, reason: str) -> NoReturn:
        """Raise BytecodeError for the place of the next field."""
        self.source.fail(reason)


@dataclass(frozen=True)
class Codec:
    """The form of one field."""

    put: Callable[[FieldEncoder, Any], None]
    get: Callable[[FieldDecoder], Any]


def shown(version: tuple[int, int]) -> str:
    """Return a version as text: `13.3`."""
    return f"{version[0]}.{version[1]}"


# Numbers and strings


def integer(type: IntegerType) -> Codec:
    """Return the form of integers of one type: their bits, without a sign."""
    mask = (1 << type.width.data) - 1

    def put(out: FieldEncoder, attribute: IntegerAttr) -> None:
        out.varint(attribute.value.data & mask)

    def get(source: FieldDecoder) -> Attribute:
        if (bits := source.source.varint()) > mask:
            source.fail(f"{bits} has more than {type.width.data} bits")
        return IntegerAttr(bits - (mask + 1) if bits > mask >> 1 and mask > 1 else bits, type)

    return Codec(put, get)


def enumeration(cls: type[Data[Any]]) -> Codec:
    """Return the form of an enumeration: the position of the member."""
    members = list(cast(Any, cls).enum_type)

    def get(source: FieldDecoder) -> Attribute:
        if (number := source.source.varint()) >= len(members):
            source.fail(f"{cls.name} {number}: the members are 0 to {len(members) - 1}")
        return cls(members[number])

    return Codec(lambda out, attribute: out.varint(members.index(attribute.data)), get)


def _put_string(out: FieldEncoder, attribute: StringAttr) -> None:
    content = attribute.data.encode(errors="surrogateescape")
    out.varint(out.file.strings.index(content, lambda: content))


def _read_string(entry: FieldDecoder) -> Attribute:
    try:
        return StringAttr(entry.source.bytes(entry.source.left).decode())
    except UnicodeDecodeError:
        entry.fail("a string that is not UTF-8")


def _get_string(source: FieldDecoder) -> Attribute:
    return source.file.entry("string", source.source.varint(), source.source, _read_string)


def _get_symbol(source: FieldDecoder) -> Attribute:
    name = cast(StringAttr, _get_string(source))
    if not name.data:
        source.fail("the name of a symbol is empty")
    return SymbolRefAttr(name)


def _put_permutation(out: FieldEncoder, attribute: DenseArrayBase[Any]) -> None:
    width = attribute.elt_type.size
    values = attribute.get_values()
    out.varint(len(values))
    for value in values:
        out.fixed(value, width, signed=True)


def array_of(type: IntegerType) -> Codec:
    size = type.width.data // 8

    def get(source: FieldDecoder) -> Attribute:
        values = [source.source.fixed(size, True) for _ in range(source.source.count(size))]
        return DenseArrayBase.from_list(type, values)

    return Codec(_put_permutation, get)


NUMBER = Codec(
    lambda out, attribute: out.varint(attribute.data),
    lambda source: IntAttr(source.source.varint()),
)
STRING = Codec(_put_string, _get_string)
SYMBOL = Codec(lambda out, symbol: _put_string(out, symbol.root_reference), _get_symbol)
BOOL = Codec(
    lambda out, attribute: out.fixed(int(bool(attribute.value.data)), 1),
    lambda source: IntegerAttr(int(source.source.fixed(1) != 0), i1),
)


def _put_float(out: FieldEncoder, attribute: FloatAttr[Any]) -> None:
    bits, width = bits_of(attribute.value.data, attribute.type)
    if width <= 8:
        out.fixed(bits, 1)
    else:  # zigzag of 64 bits without a sign
        out.signed(bits - (1 << 64) if bits >> 63 else bits)


def _get_float(source: FieldDecoder, type: AnyFloat) -> Attribute:
    width = 8 * byte_size(type)
    bits = source.source.fixed(1) if width <= 8 else source.source.signed() & ((1 << 64) - 1)
    value = None if bits >> width else value_of(bits, type)
    if value is None:
        source.fail(f"{bits:#x} is no {type}")
    return FloatAttr(value, type)


# Types are read and written by `type_formats`.


def _put_type(out: FieldEncoder, type: Attribute) -> None:
    out.varint(out.file.types.index(type, lambda: out.file.write_type(out.file, type)))


def _get_type(source: FieldDecoder) -> Attribute:
    return source.file.entry("type", source.source.varint(), source.source, source.file.read_type)


TYPE = Codec(_put_type, _get_type)


# Constants


def _put_constant(out: FieldEncoder, attribute: DenseIntOrFPElementsAttr) -> None:
    data, count = attribute.data.data, prod(attribute.get_shape())
    is_bool = attribute.get_element_type() == i1
    if count and data[: (size := len(data) // count)] * count == data:
        data = (b"\xff" if data[0] else b"\0") if is_bool else data[:size]
    elif is_bool:
        data = sum(bool(byte) << i for i, byte in enumerate(data)).to_bytes(
            (count + 7) // 8, "little"
        )
    entry = TileOutput()
    entry.varint(len(data))
    out.varint(out.file.constants.index(data, lambda: entry.data + data))


def _get_constant(source: FieldDecoder) -> Attribute:
    if not isinstance(tile := source.type, TileType):
        source.fail(f"a constant of type {tile}: expected a tile")
    element: Any = tile.element_type
    count = prod(tile.get_shape())
    if not _is_number(element) or not 0 < count <= MAX_ELEMENTS:
        source.fail(f"a constant of type {tile}: expected at most {MAX_ELEMENTS} numbers")
    entry = source.file.tables["constant"].entry(source.source.varint(), source.source)
    data = entry.bytes(entry.count())
    size = 1 if element in (i1, IntegerType(4)) else byte_size(element)
    if element == i1:
        data = _unpacked_bits(data, count)
    elif len(data) == size:
        data *= count
    if len(data) != count * size:
        entry.fail(f"a constant of {tile} in {len(data)} bytes", entry.start)
    return DenseIntOrFPElementsAttr(TensorType(element, tile.get_shape()), BytesAttr(data))


def _is_number(type: Attribute) -> bool:
    return isinstance(type, IntegerType | AnyFloat)


def _unpacked_bits(data: bytes, count: int) -> bytes:
    """Return a byte for each of `count` elements of i1; one byte stands for all that are equal."""
    if data in (b"\xff", b"\0"):
        return data * count
    if len(data) != (count + 7) // 8:
        return b""
    bits = int.from_bytes(data, "little")
    return bytes(0xFF if bits >> i & 1 else 0 for i in range(count))


CONSTANT = Codec(_put_constant, _get_constant)


# Attributes behind a tag that says their kind


def _put_pair(out: FieldEncoder, first: Attribute, second: Attribute) -> None:
    """Write two signed integers, each of which may be absent, after the bits that say so."""
    values = [cast(IntAttr, x).data if isinstance(x, IntAttr) else None for x in (first, second)]
    out.fixed(sum((value is not None) << i for i, value in enumerate(values)), 1)
    for value in values:
        if value is not None:
            out.signed(value)


def _get_pair(source: FieldDecoder) -> list[int | None]:
    if (flags := source.source.fixed(1)) > 3:
        source.fail(f"flags {flags:#x}: two bits are known")
    return [source.source.signed() if flags >> i & 1 else None for i in range(2)]


def _put_div_by(out: FieldEncoder, attribute: DivByAttr) -> None:
    out.varint(attribute.divisor.data)
    _put_pair(out, attribute.every, attribute.along)


def _put_dictionary(out: FieldEncoder, attribute: DictionaryAttr) -> None:
    out.varint(len(attribute.data))
    for key, value in attribute.data.items():
        _put_string(out, StringAttr(key))
        _put_tagged(out, value)


def _get_dictionary(source: FieldDecoder) -> DictionaryAttr:
    found: dict[str, Attribute] = {}
    for _ in range(source.source.count(2)):
        key = cast(StringAttr, _get_string(source)).data
        if not key or key in found:
            source.fail(f"'{key}' is a second key, or an empty one")
        found[key] = _get_tagged(source)
    return DictionaryAttr(found)


def _put_list(out: FieldEncoder, attribute: ArrayAttr[Attribute]) -> None:
    out.varint(len(attribute.data))
    for value in attribute.data:
        _put_tagged(out, value)


def _get_list(source: FieldDecoder) -> Attribute:
    return ArrayAttr([_get_tagged(source) for _ in range(source.source.count())])


LIST = Codec(_put_list, _get_list)


def _put_number(out: FieldEncoder, attribute: IntegerAttr[IntegerType]) -> None:
    _put_type(out, attribute.type)
    integer(attribute.type).put(out, attribute)


def _get_number(source: FieldDecoder) -> Attribute:
    if not isinstance(type := _get_type(source), IntegerType):
        source.fail(f"an integer of type {type}")
    return BOOL.get(source) if type == i1 else integer(cast(IntegerType, type)).get(source)


def _put_typed_float(out: FieldEncoder, attribute: FloatAttr[Any]) -> None:
    _put_type(out, attribute.type)
    _put_float(out, attribute)


def _get_typed_float(source: FieldDecoder) -> Attribute:
    if not isinstance(type := _get_type(source), AnyFloat):
        source.fail(f"a float of type {type}")
    return _get_float(source, type)


def _put_typed_constant(out: FieldEncoder, attribute: DenseIntOrFPElementsAttr) -> None:
    _put_type(out, TileType(attribute.get_shape(), attribute.get_element_type()))
    _put_constant(out, attribute)


def _get_typed_constant(source: FieldDecoder) -> Attribute:
    source.type = _get_type(source)
    return _get_constant(source)


HINTS = Codec(
    lambda out, attribute: _put_dictionary(out, attribute.value),
    lambda source: OptimizationHintsAttr(_get_dictionary(source)),
)
_TAGS: dict[int, tuple[type[Any], Codec]] = {
    1: (IntegerAttr, Codec(_put_number, _get_number)),
    2: (FloatAttr, Codec(_put_typed_float, _get_typed_float)),
    3: (type(None), BOOL),  # an IntegerAttr of i1
    4: (TypeAttribute, TYPE),
    5: (StringAttr, STRING),
    6: (ArrayAttr, LIST),
    7: (DenseIntOrFPElementsAttr, Codec(_put_typed_constant, _get_typed_constant)),
    8: (
        DivByAttr,
        Codec(_put_div_by, lambda source: DivByAttr(source.source.varint(), *_get_pair(source))),
    ),
    9: (
        SameElementsAttr,
        Codec(
            lambda out, attribute: array_of(i64).put(out, attribute.values),
            lambda source: SameElementsAttr(array_of(i64).get(source)),
        ),
    ),
    10: (DictionaryAttr, Codec(_put_dictionary, _get_dictionary)),
    11: (OptimizationHintsAttr, HINTS),
    12: (
        BoundedAttr,
        Codec(
            lambda out, attribute: _put_pair(out, attribute.lb, attribute.ub),
            lambda source: BoundedAttr(*_get_pair(source)),
        ),
    ),
}


def _put_tagged(out: FieldEncoder, attribute: Attribute) -> None:
    if isinstance(attribute, IntegerAttr) and cast(Any, attribute).type == i1:
        tag, codec = 3, BOOL
    else:
        for tag, (cls, codec) in _TAGS.items():  # noqa: B007
            if isinstance(attribute, cls):
                break
        else:
            raise PasslineError(f"Tile IR bytecode has no form for the attribute {attribute}")
    out.varint(tag)
    codec.put(out, attribute)


def _get_tagged(source: FieldDecoder) -> Attribute:
    at = source.source.position
    if (tag := source.source.varint()) not in _TAGS:
        source.source.fail(f"an attribute of the unknown kind {tag}", at)
    return _TAGS[tag][1].get(source)


TAGGED = Codec(_put_tagged, _get_tagged)
