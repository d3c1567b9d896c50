"""The operations in Tile IR bytecode: their numbers, and their fields in each version.

The order of fields is that of the definition of the operation. Sources: `BytecodeOpcodes.td` and
`BytecodeGen.cpp` of NVIDIA/cuda-tile; for 13.4 and 13.5, the encoders of the package `cuda-tile`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerType, UnitAttr, i32, i64
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
    IntegerOverflowAttr,
    MemoryOrderingSemanticsAttr,
    MemoryScopeAttr,
    RoundingModeAttr,
    SignednessAttr,
    SymbolVisibilityAttr,
)
from .fields import (
    BOOL,
    CONSTANT,
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

__all__ = [
    "DEFAULTS",
    "FIELDS",
    "FLAG",
    "VISIBILITY",
    "OpFormat",
    "Property",
    "format_of",
    "formats_of",
    "since",
]

# The fields of operations, by name, or by that of the operation too

FLAG = Codec(lambda _, attribute: None, lambda _: UnitAttr())
"""A unit attribute: the bit that says that it is there is all of it."""

FIELDS: dict[str, Codec] = {
    "alignment": integer(i64),
    "cat dim": integer(i64),
    "comparison_ordering": enumeration(ComparisonOrderingAttr),
    "comparison_predicate": enumeration(ComparisonPredicateAttr),
    "constant": FLAG,
    "dim": integer(i32),
    "fast_acc": FLAG,
    "flush_to_zero": FLAG,
    "global": FLAG,
    "identities": LIST,
    "inbounds": array_of(IntegerType(8)),
    "memory_ordering_semantics": enumeration(MemoryOrderingSemanticsAttr),
    "memory_scope": enumeration(MemoryScopeAttr),
    "message": STRING,
    "mode": enumeration(AtomicRMWModeAttr),
    "name": SYMBOL,
    "num_elem": integer(i64),
    "optimization_hints": HINTS,
    "overflow": enumeration(IntegerOverflowAttr),
    "permutation": array_of(i32),
    "predicate": TAGGED,
    "propagate_nan": FLAG,
    "reverse": BOOL,
    "rounding": enumeration(RoundingModeAttr),
    "rounding_mode": enumeration(RoundingModeAttr),
    "saturating": FLAG,
    "signedness": enumeration(SignednessAttr),
    "signedness_lhs": enumeration(SignednessAttr),
    "signedness_rhs": enumeration(SignednessAttr),
    "str": STRING,
    "unsignedCmp": FLAG,
    "value": CONSTANT,
}
VISIBILITY = enumeration(SymbolVisibilityAttr)


# The operations

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
    "atomic_red_view_tko",
}
"""The operations by number, from the first of each run."""

_SINCE = {
    "atan2": (13, 2),
    **dict.fromkeys(("pack", "unpack", "alloca", "mmaf_scaled"), (13, 3)),
    **dict.fromkeys(("make_gather_scatter_view", "make_strided_view"), (13, 3)),
    "atomic_red_view_tko": (13, 3),
    "for unsignedCmp": (13, 2),
    "negi overflow": (13, 2),
    "tanh rounding_mode": (13, 2),
    "print_tko token": (13, 2),
    "print_tko result_token": (13, 2),
    "exp rounding_mode": (13, 3),
    "mmaf fast_acc": (13, 3),
    "ftoi saturating": (13, 4),
    "load_view_tko inbounds": (13, 4),
    "store_view_tko inbounds": (13, 4),
    "atomic_red_view_tko inbounds": (13, 5),
}
"""The versions in which operations, and fields of older operations, came."""

DEFAULTS = {"negi overflow": "none", "tanh rounding_mode": "full", "exp rounding_mode": "full"}
"""The values of fields in files that are older than they are."""

_ADDED = {
    "ftoi": ("saturating", True),
    "load_view_tko": ("inbounds", False),
    "store_view_tko": ("inbounds", False),
    "atomic_red_view_tko": ("inbounds", False),
}
"""Fields that the dialect does not have, and whether they are optional: `inbounds`, for each index
the promise that the tile is within the view, is not kept; no float may be `saturating`."""

_ORDER = {"divi": ("signedness", "rounding")}
"""Fields that the definition has in another order."""


def since(name: str) -> tuple[int, int]:
    """Return the first version that has an operation, or a field, `for unsignedCmp`."""
    return _SINCE.get(name) or _SINCE.get(name.partition(" ")[0], (13, 1))


class Property(NamedTuple):
    """A property of an operation."""

    name: str
    codec: Codec
    is_optional: bool
    is_ours: bool = True
    """Whether the dialect has it."""


class OpFormat(NamedTuple):
    """The fields of an operation, in this order but for the regions, which are last."""

    op_class: type[IRDLOperation]
    opcode: int
    name: str
    counts_results: bool
    flags: tuple[str, ...]
    """The optional properties and operands, in the order of their bits."""
    properties: tuple[Property, ...]
    operands: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of each operand: `one`, `optional` or `variadic`."""
    is_segmented: bool
    """Whether the size of each variadic operand is written, not that of all together."""

    def flags_in(self, version: tuple[int, int]) -> tuple[str, ...]:
        """Return the optional fields that a version has."""
        return tuple(name for name in self.flags if since(f"{self.name} {name}") <= version)


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
    names = _ORDER.get(name) or [key for key in definition.properties if key in FIELDS]
    properties = [
        Property(
            key,
            FIELDS.get(f"{name} {key}", FIELDS[key]),
            isinstance(definition.properties[key], OptPropertyDef),
        )
        for key in names
    ]
    if name in _ADDED:
        key, is_optional = _ADDED[name]
        properties.append(Property(key, FIELDS[key], is_optional, False))
    operands = tuple(key for key, _ in definition.operands)
    kinds = tuple(_kind(found) for _, found in definition.operands)
    is_segmented = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
    flags = [p.name for p in properties if p.is_optional]
    if is_segmented:
        flags += [key for key, kind in zip(operands, kinds) if kind == "optional"]
    return OpFormat(
        op_class,
        opcode,
        name,
        "variadic" in kinds or any(isinstance(d, VarResultDef) for _, d in definition.results),
        tuple(sorted(flags, key=lambda key: since(f"{name} {key}"))),
        tuple(properties),
        operands,
        kinds,
        is_segmented,
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
