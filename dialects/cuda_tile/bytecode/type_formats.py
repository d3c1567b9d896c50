"""Types, and the scopes of locations, in Tile IR bytecode: records of fields behind a tag.

Source: `BytecodeTypeOpcodes.td` and `BytecodeTypeCodeGen.cpp` of NVIDIA/cuda-tile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    CallSiteLoc,
    FileLineColLoc,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    FusedLoc,
    IntAttr,
    IntegerType,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

from ....passmanager.errors import PasslineError
from ....passmanager.releases.floats import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatTF32Type,
)
from ..attributes import PaddingValueAttr
from ..debug_info import DICompileUnitAttr, DIFileAttr, DILexicalBlockAttr, DISubprogramAttr
from ..types import (
    DYNAMIC_INDEX,
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TokenType,
)
from .fields import (
    NUMBER,
    STRING,
    TYPE,
    Codec,
    FieldDecoder,
    FieldEncoder,
    InputFile,
    OutputFile,
    enumeration,
    sizes,
)
from .streams import TileInput

_UNKNOWN_SIZE = -(1 << 63)


class RecordForm(NamedTuple):
    """A class whose instances are records of these fields, in this order."""

    cls: type[Attribute]
    fields: Mapping[str, Codec] = {}
    since: tuple[int, int] = (13, 1)


SHAPE = sizes(8).of(
    lambda shape: [_UNKNOWN_SIZE if n.data == DYNAMIC_INDEX else n.data for n in shape],
    lambda values: ArrayAttr(IntAttr(DYNAMIC_INDEX if n == _UNKNOWN_SIZE else n) for n in values),
)
DIMENSIONS = sizes(4).of(
    lambda numbers: [n.data for n in numbers], lambda values: ArrayAttr(IntAttr(n) for n in values)
)
PADDING = enumeration(PaddingValueAttr)
VIEW = {"tile_shape": DIMENSIONS, "tensor_view": TYPE}
INTEGERS = {1: 0, 4: 22, 8: 1, 16: 2, 32: 3, 64: 4}
"""The tags of integers, by their width."""
SINCE_I4 = UNIFIED = (13, 3)
"""The first version with a varint of bits for the optional fields of a type; before, each has a
byte of its own."""

TYPES = {
    5: RecordForm(Float16Type),
    6: RecordForm(BFloat16Type),
    7: RecordForm(Float32Type),
    8: RecordForm(FloatTF32Type),
    9: RecordForm(Float64Type),
    10: RecordForm(Float8E4M3FNType),
    11: RecordForm(Float8E5M2Type),
    12: RecordForm(PointerType, {"pointee_type": TYPE}),
    13: RecordForm(TileType, {"element_type": TYPE, "shape": SHAPE}),
    14: RecordForm(TensorViewType, {"element_type": TYPE, "shape": SHAPE, "strides": SHAPE}),
    15: RecordForm(PartitionViewType, {**VIEW, "dim_map": DIMENSIONS, "padding_value": PADDING}),
    16: RecordForm(FunctionType, {"inputs": TYPE.list(), "outputs": TYPE.list()}),
    17: RecordForm(TokenType),
    18: RecordForm(Float8E8M0FNUType, {}, (13, 2)),
    19: RecordForm(Float4E2M1FNType, {}, (13, 3)),
    20: RecordForm(
        GatherScatterViewType, {**VIEW, "sparse_dim": NUMBER, "padding_value": PADDING}, (13, 3)
    ),
    21: RecordForm(
        StridedViewType,
        {
            "tile_shape": DIMENSIONS,
            "traversal_strides": DIMENSIONS,
            "tensor_view": TYPE,
            "dim_map": DIMENSIONS,
            "padding_value": PADDING,
        },
        (13, 3),
    ),
}
"""The types but integers, by their tag."""


def _has_flags(cls: type[Attribute], version: tuple[int, int]) -> bool:
    """Return whether a type begins with the bits of its optional fields: views have a padding
    value, pointers and tensor views an attribute of the pointer, of which only one is known."""
    if cls in (PointerType, TensorViewType):
        return version >= (13, 4)
    return version >= UNIFIED and cls in (PartitionViewType, GatherScatterViewType, StridedViewType)


def _tag_of(attribute: Attribute, records: Mapping[int, RecordForm]) -> int | None:
    return next((tag for tag, form in records.items() if isinstance(attribute, form.cls)), None)


def write_type(file: OutputFile, type: Attribute) -> bytes:
    """Return the entry for a type; the types that it contains are added to the table."""
    out = FieldEncoder(file)
    if (width := next((n for n in INTEGERS if type == IntegerType(n)), None)) is not None:
        file.require(SINCE_I4 if width == 4 else (13, 1), f"type {type}")
        out.varint(INTEGERS[width])
        return bytes(out.data)
    if (tag := _tag_of(type, TYPES)) is None:
        raise PasslineError(f"Tile IR bytecode has no form for the type {type}")
    form = TYPES[tag]
    file.require(form.since, f"type {type}")
    out.varint(tag)
    if has_flags := _has_flags(form.cls, file.version):
        out.varint(int(isinstance(getattr(type, "padding_value", None), PaddingValueAttr)))
    for name, codec in form.fields.items():
        value = getattr(type, name)
        if name == "padding_value" and not has_flags:
            out.fixed(int(isinstance(value, PaddingValueAttr)), 1)
        if not isinstance(value, NoneAttr):
            codec.put(out, value)
    return bytes(out.data)


def read_type(source: FieldDecoder) -> Attribute:
    """Return the type in an entry of the table."""
    tag, version = source.varint(), source.file.version
    widths = {known: width for width, known in INTEGERS.items()}
    if tag in widths:
        return IntegerType(widths[tag])
    form = TYPES.get(tag)
    if form is None or version < form.since:
        source.fail(f"a type of the unknown kind {tag}")
    flags = source.varint() if _has_flags(form.cls, version) else None
    values: dict[str, Any] = {}
    for name, codec in form.fields.items():
        if name == "padding_value" and not (source.fixed(1) if flags is None else flags):
            continue
        values[name] = codec.get(source)
    if flags and "padding_value" not in values:
        source.varint()  # the default of a pointer
    return _made(source, form.cls, values)


def _made(
    source: FieldDecoder, cls: Callable[..., Attribute], values: Mapping[str, Any]
) -> Attribute:
    """Return the record; its types must be those of the class."""
    if cls is FunctionType:
        return FunctionType.from_lists(values["inputs"], values["outputs"])
    view = values.get("tensor_view")
    if view is not None and not isinstance(view, TensorViewType):
        source.fail(f"a view of {view}: expected a tensor_view")
    # The fields are in the order of the parameters where the class has no constructor of its own.
    return cls(**values) if "__init__" in vars(cls) else cls(*values.values())


# Locations, and their scopes


def node_index(file: OutputFile, node: Attribute) -> int:
    """Return the index of a scope or a location; 0 is that of locations that are not written."""
    if isinstance(node, UnknownLoc | FileLineColLoc | NameLoc) or (
        isinstance(node, FusedLoc) and not _is_place(node)
    ):
        return 0
    return 1 + file.debug_info.index(node, lambda: _write_node(file, node))


def _get_node(source: FieldDecoder) -> Attribute:
    if not (index := source.varint()):
        return UnknownLoc()
    return source.file.entry("debug info", index - 1, source, _read_node)


NODE = Codec(lambda out, node: out.varint(node_index(out.file, node)), _get_node)
SUBPROGRAM = 5


SCOPE, POSITION = {"scope": NODE}, {"line": NUMBER, "column": NUMBER}
NODES = {
    1: RecordForm(DICompileUnitAttr, {"file": NODE}),
    2: RecordForm(DIFileAttr, {"file_name": STRING, "directory": STRING}),
    3: RecordForm(DILexicalBlockAttr, {**SCOPE, "file": NODE, **POSITION}),
    4: RecordForm(FusedLoc, {**SCOPE, "file": STRING, **POSITION}),
    SUBPROGRAM: RecordForm(
        DISubprogramAttr,
        {
            "file": NODE,
            "line": NUMBER,
            "function": STRING,
            "linkage_name": STRING,
            "compile_unit": NODE,
            "scope_line": NUMBER,
        },
    ),
    6: RecordForm(CallSiteLoc, {"callee": NODE, "caller": NODE}),
}
"""The scopes and locations, by their tag."""


def _parts(node: Attribute) -> Mapping[str, Attribute]:
    """Return the fields of a node by name."""
    if not isinstance(node, FusedLoc):
        return vars(node)
    (place,) = cast("ArrayAttr[FileLineColLoc]", node.locations)
    return {
        "scope": node.metadata,
        "file": place.filename,
        "line": place.line,
        "column": place.column,
    }


def _is_place(node: Attribute) -> bool:
    """Return whether a fused location is one place in a scope."""
    return (
        isinstance(node, FusedLoc)
        and len(places := cast("ArrayAttr[Attribute]", node.locations)) == 1
        and isinstance(places.data[0], FileLineColLoc)
        and isinstance(node.metadata, DISubprogramAttr | DILexicalBlockAttr)
    )


def _write_node(file: OutputFile, node: Attribute) -> bytes:
    out = FieldEncoder(file)
    tag, parts = cast(int, _tag_of(node, NODES)), _parts(node)
    out.varint(tag)
    for name, codec in NODES[tag].fields.items():
        codec.put(out, parts[name])
    if tag == SUBPROGRAM and file.version >= (13, 5):
        out.varint(0)  # flags, of which none is known
    return bytes(out.data)


def _read_node(source: FieldDecoder) -> Attribute:
    if not (tag := source.varint()):
        return UnknownLoc()
    if (form := NODES.get(tag)) is None:
        source.fail(f"debug information of the unknown kind {tag}")
    values = {name: codec.get(source) for name, codec in form.fields.items()}
    if form.cls is not FusedLoc:
        return form.cls(*values.values())
    place = FileLineColLoc(
        cast(StringAttr, values["file"]), cast(IntAttr, values["line"]), values["column"]
    )
    return FusedLoc(ArrayAttr([place]), values["scope"])


def read_location(file: InputFile, index: int, source: TileInput) -> LocationAttr:
    """Return the location with an index, which `source` has read."""
    node = file.entry("debug info", index - 1, source, _read_node) if index else UnknownLoc()
    return node if isinstance(node, LocationAttr) else source.fail(f"{node} is no location")
