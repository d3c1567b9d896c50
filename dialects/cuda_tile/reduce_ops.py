"""Products of matrices, reductions and scans along a dimension."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    I32,
    ArrayAttr,
    BoolAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    UnitAttr,
    i8,
    i32,
)
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect

from ...passmanager.ir.text.default_dialect import DefaultDialect
from ...passmanager.releases.floats import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatTF32Type,
)
from .attributes import SignednessAttr
from .constraints import TILE, TileOf
from .syntax import types
from .tile_op import TileOp
from .types import FLOATS

__all__ = ["MmaFOp", "MmaFScaledOp", "MmaIOp", "ReduceOp", "ScanOp"]

MMAF = TileOf((*FLOATS, FloatTF32Type, Float8E4M3FNType, Float8E5M2Type))
MMAI = TileOf((i8,))
MMAF_SCALED = TileOf((Float8E4M3FNType, Float8E5M2Type, Float4E2M1FNType))
SCALE = TileOf((Float8E4M3FNType, Float8E8M0FNUType))


@irdl_op_definition
class MmaFOp(TileOp):
    """lhs @ rhs + acc on floats: of rank 2, or 3 with a batch dimension."""

    name = "cuda_tile.mmaf"

    RESULT_OF: ClassVar = 2

    T: ClassVar = VarConstraint("T", TileOf((Float16Type, Float32Type, Float64Type)))
    lhs = operand_def(MMAF)
    rhs = operand_def(MMAF)
    acc = operand_def(T)
    fast_acc = opt_prop_def(UnitAttr)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs `,` $acc (`fast_acc` $fast_acc^)? attr-dict " + types(
        "lhs, rhs, acc"
    )


@irdl_op_definition
class MmaIOp(TileOp):
    """lhs @ rhs + acc on integers of 8 bits, summed in 32 bits."""

    name = "cuda_tile.mmai"

    RESULT_OF: ClassVar = 2

    T: ClassVar = VarConstraint("T", TileOf((i32,)))
    lhs = operand_def(MMAI)
    rhs = operand_def(MMAI)
    acc = operand_def(T)
    signedness_lhs = prop_def(SignednessAttr)
    signedness_rhs = prop_def(SignednessAttr)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = (
        "$lhs `,` $rhs `,` $acc custom<Keyword>($signedness_lhs) "
        "custom<Keyword>($signedness_rhs) attr-dict " + types("lhs, rhs, acc")
    )


@irdl_op_definition
class MmaFScaledOp(TileOp):
    """(lhs * lhs_scale) @ (rhs * rhs_scale) + acc: one scale for each block of elements along the
    dimension of the sums."""

    name = "cuda_tile.mmaf_scaled"

    RESULT_OF: ClassVar = 2

    T: ClassVar = VarConstraint("T", TileOf((Float32Type,)))
    lhs = operand_def(MMAF_SCALED)
    rhs = operand_def(MMAF_SCALED)
    acc = operand_def(T)
    lhs_scale = operand_def(SCALE)
    rhs_scale = operand_def(SCALE)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs `,` $acc `,` $lhs_scale `,` $rhs_scale attr-dict " + types(
        "lhs, rhs, acc, lhs_scale, rhs_scale"
    )


@irdl_op_definition
class ReduceOp(TileOp):
    """Reduce all operands together along dimension `dim`, which the results lack.

    The block of `body` has for each operand the value so far and the next element, both scalars,
    one pair after the other, and yields the new value for each. It is associative, and
    `identities` are its neutral elements.
    """

    name = "cuda_tile.reduce"

    inputs = var_operand_def(TILE)
    dim = prop_def(IntegerAttr[I32])
    identities = prop_def(ArrayAttr)
    outputs = var_result_def(TILE)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), DefaultDialect())

    assembly_format = (
        "$inputs attr-dict `dim` `` `=` `` $dim `identities` `` `=` `` $identities "
        + types("inputs -> outputs")
        + " custom<ArgumentRegion>($body)"
    )


@irdl_op_definition
class ScanOp(TileOp):
    """Inclusive prefix reductions along dimension `dim`, from its end with `reverse`; otherwise
    as `reduce`."""

    name = "cuda_tile.scan"

    inputs = var_operand_def(TILE)
    dim = prop_def(IntegerAttr[I32])
    reverse = prop_def(BoolAttr)
    identities = prop_def(ArrayAttr)
    outputs = var_result_def(TILE)
    body = region_def("single_block")

    traits = traits_def(RecursiveMemoryEffect(), DefaultDialect())

    assembly_format = (
        "$inputs attr-dict `dim` `` `=` `` $dim `reverse` `` `=` `` $reverse "
        "`identities` `` `=` `` $identities "
        + types("inputs -> outputs")
        + " custom<ArgumentRegion>($body)"
    )
