"""Constants, and operations that move elements of tiles: broadcasting, reshaping, permutation."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    I32,
    I64,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    i8,
)
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike, Pure

from .constraints import INT, NUMBER, SCALAR_I32, TILE, TileOf
from .syntax import types
from .tile_op import TileOp
from .types import I4, TileType

__all__ = [
    "BroadcastOp",
    "CatOp",
    "ConstantOp",
    "ExtractOp",
    "IotaOp",
    "PackOp",
    "PermuteOp",
    "ReshapeOp",
    "UnpackOp",
]

PACKED = TileOf((i8,))
UNPACKED = TileOf((*NUMBER.elements, I4))


@irdl_op_definition
class ConstantOp(TileOp):
    """A tile of known numbers: `value` is a dense constant of the tensor type of its shape."""

    name = "cuda_tile.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(NUMBER)

    traits = traits_def(ConstantLike(), Pure())

    assembly_format = "custom<Elements>($value, type($result)) attr-dict"

    def __init__(self, value: DenseIntOrFPElementsAttr):
        type = TileType(value.get_shape(), value.get_element_type())
        super().__init__(types=[type], value=value)

    @staticmethod
    def splat(value: float, type: TileType) -> ConstantOp:
        """Return a tile of `type` whose elements are all `value`."""
        tensor: TensorType[Any] = TensorType(type.element_type, type.get_shape())
        return ConstantOp(DenseIntOrFPElementsAttr.from_list(tensor, [value]))


@irdl_op_definition
class IotaOp(TileOp):
    """The tile [0, 1, ..., n - 1]."""

    name = "cuda_tile.iota"

    result = result_def(INT)

    traits = traits_def(Pure())

    assembly_format = "attr-dict " + types("result")


@irdl_op_definition
class BroadcastOp(TileOp):
    """The tile, repeated in the dimensions in which it has one element."""

    name = "cuda_tile.broadcast"

    source = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")


@irdl_op_definition
class ReshapeOp(TileOp):
    """The elements in the same row-major order in another shape."""

    name = "cuda_tile.reshape"

    source = operand_def(TILE)
    result = result_def(TILE)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")


@irdl_op_definition
class PermuteOp(TileOp):
    """Dimension i of the result is dimension `permutation[i]` of the tile."""

    name = "cuda_tile.permute"

    source = operand_def(TILE)
    permutation = prop_def(DenseArrayBase[I32])
    result = result_def(TILE)

    traits = traits_def(Pure())

    assembly_format = "$source $permutation attr-dict " + types("source -> result")


@irdl_op_definition
class CatOp(TileOp):
    """Two tiles beside each other in dimension `dim`."""

    name = "cuda_tile.cat"

    lhs = operand_def(TILE)
    rhs = operand_def(TILE)
    dim = prop_def(IntegerAttr[I64])
    result = result_def(TILE)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs `dim` `=` $dim attr-dict " + types("lhs, rhs -> result")


@irdl_op_definition
class ExtractOp(TileOp):
    """A part of the tile: it is split into parts of the size of the result, and `indices` count
    these parts, not elements."""

    name = "cuda_tile.extract"

    source = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    traits = traits_def(Pure())

    assembly_format = "$source `[` $indices `]` attr-dict " + types("source -> result")


@irdl_op_definition
class PackOp(TileOp):
    """The bits of a tile of rank 1, as bytes."""

    name = "cuda_tile.pack"

    source = operand_def(UNPACKED)
    result = result_def(PACKED)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")


@irdl_op_definition
class UnpackOp(TileOp):
    """Bytes as the bits of a tile of rank 1."""

    name = "cuda_tile.unpack"

    source = operand_def(PACKED)
    result = result_def(UNPACKED)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict " + types("source -> result")
