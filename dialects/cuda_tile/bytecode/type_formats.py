"""Types, and the scopes of locations, in Tile IR bytecode: records of fields behind a tag.

Source: `BytecodeTypeOpcodes.td` and `BytecodeTypeCodeGen.cpp` of NVIDIA/cuda-tile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
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
)
from .streams import TileInput

__all__ = ["node_index", "read_location", "read_type", "write_type"]

_UNKNOWN_SIZE = -(1 << 63)


class TypeRecord(NamedTuple):
    """A class whose instances are records of these fields, in this order."""

    cls: type[Attribute]
    fields: Mapping[str, Codec] = {}
    since: tuple[int, int] = (13, 1)


def _sizes(width: int) -> Codec:
    def put(out: FieldEncoder, sizes: ArrayAttr[IntAttr]) -> None:
        out.varint(len(sizes))
        for size in sizes:
            is_known = width < 8 or size.data != DYNAMIC_INDEX
            out.fixed(size.data if is_known else _UNKNOWN_SIZE, width, signed=True)

    def get(source: FieldDecoder) -> Attribute:
        values = [source.source.fixed(width, True) for _ in range(source.source.count(width))]
        known = [DYNAMIC_INDEX if value == _UNKNOWN_SIZE else value for value in values]
        return ArrayAttr(map(IntAttr, known))

    return Codec(put, get)


def _put_types(out: FieldEncoder, types: ArrayAttr[Attribute]) -> None:
    out.varint(len(types))
    for type in types:
        TYPE.put(out, type)


PADDING = enumeration(PaddingValueAttr)
VIEW = {"tile_shape": _sizes(4), "tensor_view": TYPE}
TYPES = Codec(_put_types, lambda source: [TYPE.get(source) for _ in range(source.source.count())])
INTEGERS = {1: 0, 4: 22, 8: 1, 16: 2, 32: 3, 64: 4}
"""The tags of integers, by their width."""
SINCE_I4 = UNIFIED = (13, 3)
"""The first version with a varint of bits for the optional fields of a type; before, each has a
byte of its own."""


@cache
def formats() -> dict[int, TypeRecord]:
    """Return the types but integers, by their tag."""
    return {
        5: TypeRecord(Float16Type),
        6: TypeRecord(BFloat16Type),
        7: TypeRecord(Float32Type),
        8: TypeRecord(FloatTF32Type),
        9: TypeRecord(Float64Type),
        10: TypeRecord(Float8E4M3FNType),
        11: TypeRecord(Float8E5M2Type),
        12: TypeRecord(PointerType, {"pointee_type": TYPE}),
        13: TypeRecord(TileType, {"element_type": TYPE, "shape": _sizes(8)}),
        14: TypeRecord(
            TensorViewType, {"element_type": TYPE, "shape": _sizes(8), "strides": _sizes(8)}
        ),
        15: TypeRecord(PartitionViewType, {**VIEW, "dim_map": _sizes(4), "padding_value": PADDING}),
        16: TypeRecord(FunctionType, {"inputs": TYPES, "outputs": TYPES}),
        17: TypeRecord(TokenType),
        18: TypeRecord(Float8E8M0FNUType, {}, (13, 2)),
        19: TypeRecord(Float4E2M1FNType, {}, (13, 3)),
        20: TypeRecord(
            GatherScatterViewType,
            {**VIEW, "sparse_dim": NUMBER, "padding_value": PADDING},
            (13, 3),
        ),
        21: TypeRecord(
            StridedViewType,
            {
                "tile_shape": _sizes(4),
                "traversal_strides": _sizes(4),
                "tensor_view": TYPE,
                "dim_map": _sizes(4),
                "padding_value": PADDING,
            },
            (13, 3),
        ),
    }


def _has_flags(cls: type[Attribute], version: tuple[int, int]) -> bool:
    """Return whether a type begins with the bits of its optional fields: views have a padding
    value, pointers and tensor views an attribute of the pointer, of which only one is known."""
    if cls in (PointerType, TensorViewType):
        return version >= (13, 4)
    return version >= UNIFIED and cls in (PartitionViewType, GatherScatterViewType, StridedViewType)


def write_type(file: OutputFile, type: Attribute) -> bytes:
    """Return the entry for a type; the types that it contains are added to the table."""
    out = FieldEncoder(file)
    if type in (found := {IntegerType(width): width for width in INTEGERS}):
        width = found[cast(IntegerType, type)]
        file.require(SINCE_I4 if width == 4 else (13, 1), f"type {type}")
        out.varint(INTEGERS[width])
        return bytes(out.data)
    tags = [tag for tag, form in formats().items() if isinstance(type, form.cls)]
    if not tags:
        raise PasslineError(f"Tile IR bytecode has no form for the type {type}")
    tag, form = tags[0], formats()[tags[0]]
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
    tag, version = source.source.varint(), source.file.version
    widths = {known: width for width, known in INTEGERS.items()}
    if tag in widths:
        return IntegerType(widths[tag])
    form = formats().get(tag)
    if form is None or version < form.since:
        source.fail(f"a type of the unknown kind {tag}")
    flags = source.source.varint() if _has_flags(form.cls, version) else None
    values: dict[str, Any] = {}
    for name, codec in form.fields.items():
        if name == "padding_value" and not (source.source.fixed(1) if flags is None else flags):
            continue
        values[name] = codec.get(source)
    if flags and "padding_value" not in values:
        source.source.varint()  # the default of a pointer
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
    if not (index := source.source.varint()):
        return UnknownLoc()
    return source.file.entry("debug info", index - 1, source.source, _read_node)


NODE = Codec(lambda out, node: out.varint(node_index(out.file, node)), _get_node)
SUBPROGRAM = 5
PLACE = {"scope": NODE, "file": STRING, "line": NUMBER, "column": NUMBER}


@cache
def nodes() -> dict[int, TypeRecord]:
    """Return the scopes and locations, by their tag."""
    return {
        1: TypeRecord(DICompileUnitAttr, {"file": NODE}),
        2: TypeRecord(DIFileAttr, {"file_name": STRING, "directory": STRING}),
        3: TypeRecord(
            DILexicalBlockAttr, {"scope": NODE, "file": NODE, "line": NUMBER, "column": NUMBER}
        ),
        4: TypeRecord(FusedLoc, PLACE),
        SUBPROGRAM: TypeRecord(
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
        6: TypeRecord(CallSiteLoc, {"callee": NODE, "caller": NODE}),
    }


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
    ((tag, form),) = [pair for pair in nodes().items() if isinstance(node, pair[1].cls)]
    out.varint(tag)
    parts = _parts(node)
    for name, codec in form.fields.items():
        codec.put(out, parts[name])
    if tag == SUBPROGRAM and file.version >= (13, 5):
        out.varint(0)  # flags, of which none is known
    return bytes(out.data)


def _read_node(source: FieldDecoder) -> Attribute:
    if not (tag := source.source.varint()):
        return UnknownLoc()
    if (form := nodes().get(tag)) is None:
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
