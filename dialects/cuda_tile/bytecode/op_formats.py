"""The operations in Tile IR bytecode: their numbers, and their fields in each version.

Sources: `BytecodeOpcodes.td` and `BytecodeGen.cpp` of NVIDIA/cuda-tile; for 13.4 and 13.5, the
encoders of the package `cuda-tile`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OptOperandDef,
    OptPropertyDef,
    VarOperandDef,
    VarResultDef,
)

from ..attributes import (
    AtomicRMWModeAttr,
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    IntegerOverflow,
    IntegerOverflowAttr,
    MemoryOrderingSemanticsAttr,
    MemoryScopeAttr,
    RoundingMode,
    RoundingModeAttr,
    SignednessAttr,
    SymbolVisibilityAttr,
)
from .fields import (
    BOOL,
    CONSTANT,
    FLAG,
    HINTS,
    LIST,
    STRING,
    SYMBOL,
    TAGGED,
    Codec,
    array_of,
    enumeration,
    integer,
)

FIELDS: dict[str, Codec] = {
    "comparison_predicate": enumeration(ComparisonPredicateAttr),
    "comparison_ordering": enumeration(ComparisonOrderingAttr),
    "signedness": enumeration(SignednessAttr),
    "signedness_lhs": enumeration(SignednessAttr),
    "signedness_rhs": enumeration(SignednessAttr),
    "overflow": enumeration(IntegerOverflowAttr),
    "rounding": enumeration(RoundingModeAttr),
    "rounding_mode": enumeration(RoundingModeAttr),
    "saturating": FLAG,
    "propagate_nan": FLAG,
    "flush_to_zero": FLAG,
    "fast_acc": FLAG,
    "unsignedCmp": FLAG,
    "memory_ordering_semantics": enumeration(MemoryOrderingSemanticsAttr),
    "memory_scope": enumeration(MemoryScopeAttr),
    "mode": enumeration(AtomicRMWModeAttr),
    "optimization_hints": HINTS,
    "inbounds": array_of(i1),
    "num_elem": integer(i64),
    "alignment": integer(i64),
    "global": FLAG,
    "dim": integer(i32),
    "cat dim": integer(i64),
    "reverse": BOOL,
    "identities": LIST,
    "permutation": array_of(i32),
    "predicate": TAGGED,
    "message": STRING,
    "name": SYMBOL,
    "str": STRING,
    "value": CONSTANT,
}
"""The forms of properties, by name or by that of the operation too, in the order in which an
operation has them."""
VISIBILITY = enumeration(SymbolVisibilityAttr)

_OPCODES = {
    0: "absf absi addf addi andi assert assume atomic_cas_tko atomic_rmw_tko bitcast break "
    "broadcast cat ceil cmpf cmpi constant continue cos cosh divf divi entry exp exp2",
    37: "exti extract floor fma for ftof ftoi get_global get_index_space_shape "
    "get_num_tile_blocks get_tensor_shape get_tile_block_id global if int_to_ptr",
    58: "iota itof join_tokens load_ptr_tko load_view_tko log log2 loop make_partition_view "
    "make_tensor_view make_token maxf maxi minf mini mmaf mmai module mulf mulhii muli negf negi "
    "offset ori permute pow print_tko ptr_to_int ptr_to_ptr reduce remf remi reshape return rsqrt "
    "scan select shli shri sin sinh sqrt store_ptr_tko store_view_tko subf subi tan tanh trunci "
    "xori yield atan2 pack unpack alloca mmaf_scaled make_gather_scatter_view make_strided_view "
    "atomic_red_view_tko insert gdc_launch_dependents_tko gdc_wait_tko fpowi "
    "memory_fence_alias_tko",
}
"""The operations by number, from the first of each run."""

_SINCE = {
    (13, 2): "atan2, for unsignedCmp, negi overflow, print_tko token, tanh rounding_mode",
    (13, 3): "alloca, atomic_red_view_tko, exp rounding_mode, make_gather_scatter_view, "
    "make_strided_view, mmaf fast_acc, mmaf_scaled, pack, unpack",
    (13, 4): "fpowi, ftoi saturating, gdc_launch_dependents_tko, gdc_wait_tko, inbounds, insert, "
    "memory_fence_alias_tko",
    (13, 5): "atomic_red_view_tko inbounds",
}
"""The operations, and fields of older operations, that came in a version."""

DEFAULTS: dict[str, Attribute] = {
    "negi overflow": IntegerOverflowAttr(IntegerOverflow.NONE),
    "tanh rounding_mode": RoundingModeAttr(RoundingMode.FULL),
    "exp rounding_mode": RoundingModeAttr(RoundingMode.FULL),
}
"""The values of fields in files that are older than they are."""


@cache
def since(op: str, field: str = "") -> tuple[int, int]:
    """Return the first version that has an operation, or a field of it."""
    for name in (f"{op} {field}", field, op):
        if found := [version for version, names in _SINCE.items() if name in names.split(", ")]:
            return found[0]
    return (13, 1)


class TileProperty(NamedTuple):
    """A property of an operation."""

    name: str
    codec: Codec
    is_optional: bool
    since: tuple[int, int]
    default: Attribute | None
    """The value in files that are older."""


class TileOperands(NamedTuple):
    """A definition of operands of an operation, and their `kind`: one, optional or variadic."""

    name: str
    kind: str


class OpFormat(NamedTuple):
    """The fields of an operation, in this order but for the regions, which are last."""

    op_class: type[IRDLOperation]
    opcode: int
    name: str
    since: tuple[int, int]
    counts_results: bool
    flags: tuple[tuple[str, tuple[int, int]], ...]
    """The optional properties and operands, in the order of their bits, with their versions."""
    properties: tuple[TileProperty, ...]
    operands: tuple[TileOperands, ...]
    is_segmented: bool
    """Whether the size of each variadic operand is written, not that of all together."""
    is_counted: bool
    """Whether the number of all operands is written."""

    def flags_in(self, version: tuple[int, int]) -> tuple[str, ...]:
        """Return the optional fields that a version has."""
        return tuple(name for name, since in self.flags if since <= version)


def _kind(definition: object) -> str:
    if isinstance(definition, OptOperandDef):
        return "optional"
    return "variadic" if isinstance(definition, VarOperandDef) else "one"


@cache
def format_of(op_class: type[IRDLOperation]) -> OpFormat | None:
    """Return the form of an operation, None if the bytecode does not have it."""
    name = op_class.name.removeprefix("cuda_tile.")
    if (opcode := opcodes().get(name)) is None or op_class.name == name:
        return None
    definition = op_class.get_irdl_definition()
    properties = tuple(
        TileProperty(
            key,
            FIELDS.get(f"{name} {key}", FIELDS[key]),
            isinstance(definition.properties[key], OptPropertyDef) and key != "inbounds",
            since(name, key),
            DEFAULTS.get(f"{name} {key}"),
        )
        for key in FIELDS
        if key in definition.properties
    )
    operands = tuple(TileOperands(key, _kind(found)) for key, found in definition.operands)
    is_segmented = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
    flags = [key for key, _, is_optional, *_ in properties if is_optional]
    flags += [key for key, kind in operands if is_segmented and kind == "optional"]
    versions = sorted(((key, since(name, key)) for key in flags), key=lambda flag: flag[1])
    is_variadic = any(kind == "variadic" for _, kind in operands)
    return OpFormat(
        op_class,
        opcode,
        name,
        since(name),
        is_variadic or any(isinstance(d, VarResultDef) for _, d in definition.results),
        tuple(versions),
        properties,
        operands,
        is_segmented,
        not is_segmented and any(kind != "one" for _, kind in operands),
    )


@cache
def opcodes() -> dict[str, int]:
    """Return the number of each operation."""
    return {
        name: first + i for first, names in _OPCODES.items() for i, name in enumerate(names.split())
    }


@cache
def formats_of() -> dict[int, OpFormat]:
    """Return the forms of the operations of the dialect that the body of an entry may have."""
    from ..dialect import CUDA_TILE

    found = [format_of(cls) for cls in CUDA_TILE.operations if issubclass(cls, IRDLOperation)]
    outer = ("module", "entry", "global")
    return {form.opcode: form for form in found if form is not None and form.name not in outer}
