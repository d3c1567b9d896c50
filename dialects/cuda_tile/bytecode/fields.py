"""The fields of Tile IR bytecode: how an attribute is written, and read again.

Source: `BytecodeWriter.cpp` and `BytecodeReader.cpp` of NVIDIA/cuda-tile.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any, cast

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
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from ....passmanager.errors import PasslineError
from ....passmanager.ir.text.float_bits import bits_of, value_of
from ....passmanager.releases.floats import byte_size
from ..attributes import BoundedAttr, DivByAttr, OptimizationHintsAttr, SameElementsAttr
from ..elements import MAX_ELEMENTS
from ..types import TileType
from .streams import NEWEST, OLDEST, InputTable, OutputTable, TileInput, TileOutput


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
        if (value := self.found.get(key := (what, index))) is not None:
            return value
        entry = self.tables[what].entry(index, source)
        if key in self.found:
            source.fail(f"{what} {index} contains itself")
        self.found[key] = None
        with errors_at(entry):
            self.found[key] = value = read(FieldDecoder(self, entry))
        return value


class FieldDecoder(TileInput):
    """A part of a file that is read, whose fields refer to tables."""

    def __init__(self, file: InputFile, part: TileInput) -> None:
        super().__init__(part.data, part.name, part.start, part.end)
        self.file = file
        self.type: Attribute | None = None
        """The type of the constant that is read next."""


@dataclass(frozen=True)
class Codec:
    """The form of one field."""

    put: Callable[[FieldEncoder, Any], None]
    get: Callable[[FieldDecoder], Any]

    def of(self, put: Callable[[Any], Any], get: Callable[[Any], Any]) -> Codec:
        """Return the form of what is written as the field `put(value)`, and read by `get`."""
        return Codec(lambda out, value: self.put(out, put(value)), lambda s: get(self.get(s)))

    def list(self, size: int = 1) -> Codec:
        """Return the form of a list of such fields, each of `size` bytes or more."""

        def put(out: FieldEncoder, values: Any) -> None:
            out.varint(len(values))
            for value in values:
                self.put(out, value)

        return Codec(put, lambda source: [self.get(source) for _ in range(source.count(size))])


def shown(version: tuple[int, int]) -> str:
    """Return a version as text: `13.3`."""
    return f"{version[0]}.{version[1]}"


# Numbers and strings


NUMBER = Codec(FieldEncoder.varint, FieldDecoder.varint).of(lambda a: a.data, IntAttr)
BOOL = Codec(
    lambda out, attribute: out.fixed(int(bool(attribute.value.data)), 1),
    lambda source: IntegerAttr(int(source.fixed(1) != 0), i1),
)
FLAG = Codec(lambda _, attribute: None, lambda _: UnitAttr())
"""A unit attribute: the bit that says that it is there is all of it."""


def sizes(width: int) -> Codec:
    """Return the form of lists of signed integers of `width` bytes."""
    return Codec(
        lambda out, value: out.fixed(value, width, True), lambda source: source.fixed(width, True)
    ).list(width)


def array_of(type: IntegerType) -> Codec:
    """Return the form of arrays of integers of a type."""
    return sizes((type.width.data + 7) // 8).of(
        lambda array: array.get_values(), lambda values: DenseArrayBase.from_list(type, values)
    )


def no_promise(count: int) -> Attribute:
    """Return the property `inbounds` that promises nothing of `count` indices."""
    return DenseArrayBase.from_list(i1, [0] * count)


def integer(type: IntegerType) -> Codec:
    """Return the form of integers of one type: their bits, without a sign."""
    mask = (1 << type.width.data) - 1

    def get(source: FieldDecoder) -> Attribute:
        if (bits := source.varint()) > mask:
            source.fail(f"{bits} has more than {type.width.data} bits")
        return IntegerAttr(bits - (mask + 1) if bits > mask >> 1 and mask > 1 else bits, type)

    return Codec(lambda out, attribute: out.varint(attribute.value.data & mask), get)


def _integer_or_bool(type: IntegerType) -> Codec:
    return BOOL if type == i1 else integer(type)


def enumeration(cls: type[Data[Any]]) -> Codec:
    """Return the form of an enumeration: the position of the member."""
    members = [cls(member) for member in cast(Any, cls).enum_type]
    numbers = {member: number for number, member in enumerate(members)}

    def get(source: FieldDecoder) -> Attribute:
        if (number := source.varint()) >= len(members):
            source.fail(f"{cls.name} {number}: the members are 0 to {len(members) - 1}")
        return members[number]

    return Codec(lambda out, attribute: out.varint(numbers[attribute]), get)


def _put_string(out: FieldEncoder, attribute: StringAttr) -> None:
    content = attribute.data.encode(errors="surrogateescape")
    out.varint(out.file.strings.index(content, lambda: content))


def _read_string(entry: FieldDecoder) -> Attribute:
    try:
        return StringAttr(entry.bytes(entry.left).decode())
    except UnicodeDecodeError:
        entry.fail("a string that is not UTF-8")


def _get_symbol(source: FieldDecoder) -> Attribute:
    if not (name := STRING.get(source)).data:
        source.fail("the name of a symbol is empty")
    return SymbolRefAttr(name)


STRING = Codec(
    _put_string, lambda source: source.file.entry("string", source.varint(), source, _read_string)
)
SYMBOL = Codec(lambda out, symbol: _put_string(out, symbol.root_reference), _get_symbol)
# The entries of types are read and written by `type_formats`.
TYPE = Codec(
    lambda out, type: out.varint(
        out.file.types.index(type, lambda: out.file.write_type(out.file, type))
    ),
    lambda source: source.file.entry("type", source.varint(), source, source.file.read_type),
)


def floating(type: AnyFloat) -> Codec:
    """Return the form of floats of one type: their bits."""
    width = 8 * byte_size(type)

    def put(out: FieldEncoder, attribute: FloatAttr[Any]) -> None:
        bits, _ = bits_of(attribute.value.data, type)
        if width <= 8:
            out.fixed(bits, 1)
        else:  # zigzag of 64 bits without a sign
            out.signed(bits - (1 << 64) if bits >> 63 else bits)

    def get(source: FieldDecoder) -> Attribute:
        bits = source.fixed(1) if width <= 8 else source.signed() & ((1 << 64) - 1)
        if bits >> width or (value := value_of(bits, type)) is None:
            source.fail(f"{bits:#x} is no {type}")
        return FloatAttr(value, type)

    return Codec(put, get)


# Constants


def _put_constant(out: FieldEncoder, attribute: DenseIntOrFPElementsAttr) -> None:
    data, count = attribute.data.data, prod(attribute.get_shape())
    is_bool = attribute.get_element_type() == i1
    if count and data[: (size := len(data) // count)] * count == data:
        data = (b"\xff" if data[0] else b"\0") if is_bool else data[:size]
    elif is_bool:
        bits = sum(bool(byte) << i for i, byte in enumerate(data))
        data = bits.to_bytes((count + 7) // 8, "little")
    entry = TileOutput()
    entry.varint(len(data))
    out.varint(out.file.constants.index(data, lambda: entry.data + data))


def _get_constant(source: FieldDecoder) -> Attribute:
    if not isinstance(tile := source.type, TileType):
        source.fail(f"a constant of type {tile}: expected a tile")
    element: Any = tile.element_type
    count = prod(tile.get_shape())
    if not _is_number(tile.element_type) or not 0 < count <= MAX_ELEMENTS:
        source.fail(f"a constant of type {tile}: expected at most {MAX_ELEMENTS} numbers")
    entry = source.file.tables["constant"].entry(source.varint(), source)
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


def _put_pair(out: FieldEncoder, pair: tuple[IntAttr | NoneAttr, ...]) -> None:
    out.fixed(sum((not isinstance(value, NoneAttr)) << i for i, value in enumerate(pair)), 1)
    for value in pair:
        if isinstance(value, IntAttr):
            out.signed(value.data)


def _get_pair(source: FieldDecoder) -> list[int | None]:
    if (flags := source.fixed(1)) > 3:
        source.fail(f"flags {flags:#x}: two bits are known")
    return [source.signed() if flags >> i & 1 else None for i in range(2)]


PAIR = Codec(_put_pair, _get_pair)
"""Two signed integers that may be absent, after the bits that say so."""


def _put_div_by(out: FieldEncoder, attribute: DivByAttr) -> None:
    NUMBER.put(out, attribute.divisor)
    PAIR.put(out, (attribute.every, attribute.along))


def _put_dictionary(out: FieldEncoder, attribute: DictionaryAttr) -> None:
    out.varint(len(attribute.data))
    for key, value in attribute.data.items():
        STRING.put(out, StringAttr(key))
        TAGGED.put(out, value)


def _get_dictionary(source: FieldDecoder) -> DictionaryAttr:
    found: dict[str, Attribute] = {}
    for _ in range(source.count(2)):
        key = STRING.get(source).data
        if not key or key in found:
            source.fail(f"'{key}' is a second key, or an empty one")
        found[key] = TAGGED.get(source)
    return DictionaryAttr(found)


def _typed(types: Any, form: Callable[[Any], Codec], type_of: Callable[[Any], Any]) -> Codec:
    """Return the form of values that follow their type, one of `types`."""

    def put(out: FieldEncoder, attribute: Attribute) -> None:
        TYPE.put(out, type := type_of(attribute))
        form(type).put(out, attribute)

    def get(source: FieldDecoder) -> Attribute:
        source.type = type = TYPE.get(source)
        if not isinstance(type, types):
            source.fail(f"a value of type {type}")
        return form(type).get(source)

    return Codec(put, get)


def type_of(constant: DenseIntOrFPElementsAttr) -> TileType:
    """Return the type of the tile that is a constant."""
    return TileType(constant.get_shape(), constant.get_element_type())


def _put_tagged(out: FieldEncoder, attribute: Attribute) -> None:
    is_bool = isinstance(attribute, IntegerAttr) and cast(Any, attribute).type == i1
    fitting = (tag for tag, (cls, _) in _TAGS.items() if isinstance(attribute, cls))
    tag = 3 if is_bool else next(fitting, None)
    if tag is None:
        raise PasslineError(f"Tile IR bytecode has no form for the attribute {attribute}")
    out.varint(tag)
    _TAGS[tag][1].put(out, attribute)


def _get_tagged(source: FieldDecoder) -> Attribute:
    at = source.position
    if (tag := source.varint()) not in _TAGS:
        source.fail(f"an attribute of the unknown kind {tag}", at)
    return _TAGS[tag][1].get(source)


TAGGED = Codec(_put_tagged, _get_tagged)
LIST = TAGGED.list().of(lambda array: array.data, ArrayAttr)
DICTIONARY = Codec(_put_dictionary, _get_dictionary)
HINTS = DICTIONARY.of(lambda hints: hints.value, OptimizationHintsAttr)
_TAGS: dict[int, tuple[type[Any], Codec]] = {
    1: (IntegerAttr, _typed(IntegerType, _integer_or_bool, lambda number: number.type)),
    2: (FloatAttr, _typed(AnyFloat, floating, lambda number: number.type)),
    3: (type(None), BOOL),  # an IntegerAttr of i1
    4: (TypeAttribute, TYPE),
    5: (StringAttr, STRING),
    6: (ArrayAttr, LIST),
    7: (DenseIntOrFPElementsAttr, _typed(TileType, lambda _: CONSTANT, type_of)),
    8: (DivByAttr, Codec(_put_div_by, lambda s: DivByAttr(s.varint(), *PAIR.get(s)))),
    9: (SameElementsAttr, array_of(i64).of(lambda groups: groups.values, SameElementsAttr)),
    10: (DictionaryAttr, DICTIONARY),
    11: (OptimizationHintsAttr, HINTS),
    12: (BoundedAttr, PAIR.of(lambda a: (a.lb, a.ub), lambda pair: BoundedAttr(*pair))),
}
