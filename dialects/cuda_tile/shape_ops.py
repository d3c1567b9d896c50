"""Constants, and operations that move elements of tiles: broadcasting, reshaping, permutation."""

from __future__ import annotations

from math import prod
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
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from ...passmanager.releases.floats import FloatTF32Type
from ..signature import of_signature
from .checks import check_same_element, check_types, tile, width_of
from .constraints import INT, NUMBER, SCALAR_I32, TILE, TileOf
from .elements import I4
from .syntax import types
from .tile_op import CudaTileOp, PureOp
from .types import TileType

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
class ConstantOp(CudaTileOp):
    """A tile of known numbers: `value` is a dense constant of the tensor type of its shape."""

    name = "cuda_tile.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(NUMBER)

    traits = traits_def(ConstantLike(), Pure())

    assembly_format = "custom<DenseElements>($value, type($result)) attr-dict"

    def __init__(self, value: DenseIntOrFPElementsAttr):
        type = TileType(value.get_shape(), value.get_element_type())
        super().__init__(types=[type], value=value)

    @staticmethod
    def splat(value: float, type: TileType) -> ConstantOp:
        """Return a tile of `type` whose elements are all `value`."""
        tensor: TensorType[Any] = TensorType(type.element_type, type.get_shape())
        return ConstantOp(DenseIntOrFPElementsAttr.from_list(tensor, [value]))

    @of_signature
    def verify_(self) -> None:
        expected = TileType(self.value.get_shape(), self.value.get_element_type())
        if self.result.type != expected:
            raise VerifyException(f"expected a result of {expected}, got {self.result.type}")


@irdl_op_definition
class IotaOp(PureOp):
    """The tile [0, 1, ..., n - 1]."""

    name = "cuda_tile.iota"

    result = result_def(INT)

    assembly_format = "attr-dict " + types("result")

    @of_signature
    def verify_(self) -> None:
        type = tile(self.result.type)
        if len(type.shape) != 1:
            raise VerifyException(f"expected a tile of one dimension, got {type}")
        if type.get_shape()[0] > 1 << width_of(type.element_type):
            raise VerifyException(f"{type.get_shape()[0]} numbers do not fit into {type}")


@irdl_op_definition
class BroadcastOp(PureOp):
    """The tile, repeated in the dimensions in which it has one element."""

    name = "cuda_tile.broadcast"

    source = operand_def(TILE)
    result = result_def(TILE)

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_element(self.source.type, self.result.type)
        sizes = zip(tile(self.source.type).get_shape(), tile(self.result.type).get_shape())
        if any(size not in (1, result) for size, result in sizes):
            raise VerifyException(f"{self.source.type} has no broadcast to {self.result.type}")


@irdl_op_definition
class ReshapeOp(PureOp):
    """The elements in the same row-major order in another shape."""

    name = "cuda_tile.reshape"

    source = operand_def(TILE)
    result = result_def(TILE)

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        source, result = tile(self.source.type), tile(self.result.type)
        if source.element_type != result.element_type:
            raise VerifyException(f"expected elements of {source}, got {result}")
        if prod(source.get_shape()) != prod(result.get_shape()):
            raise VerifyException(f"expected as many elements as {source}, got {result}")


@irdl_op_definition
class PermuteOp(PureOp):
    """Dimension i of the result is dimension `permutation[i]` of the tile."""

    name = "cuda_tile.permute"

    source = operand_def(TILE)
    permutation = prop_def(DenseArrayBase[I32])
    result = result_def(TILE)

    assembly_format = "$source $permutation attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_element(self.source.type, self.result.type)
        source, order = tile(self.source.type), self.permutation.get_values()
        if len(source.shape) < 2:
            raise VerifyException(f"expected a tile of two dimensions or more, got {source}")
        if sorted(order) != [*range(len(source.shape))]:
            raise VerifyException(
                f"expected a permutation of {[*range(len(source.shape))]}, got {[*order]}"
            )
        expected = source.with_shape([source.get_shape()[i] for i in order])
        check_types("result", [expected], [self.result.type])


@irdl_op_definition
class CatOp(PureOp):
    """Two tiles beside each other in dimension `dim`."""

    name = "cuda_tile.cat"

    lhs = operand_def(TILE)
    rhs = operand_def(TILE)
    dim = prop_def(IntegerAttr[I64])
    result = result_def(TILE)

    assembly_format = "$lhs `,` $rhs `dim` `=` $dim attr-dict " + types("lhs, rhs -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_element(self.lhs.type, self.rhs.type, self.result.type)
        lhs, rhs = tile(self.lhs.type), tile(self.rhs.type)
        if not 0 <= (dim := self.dim.value.data) < len(lhs.shape):
            raise VerifyException(f"dim {dim}: expected 0 to {len(lhs.shape) - 1}")
        shape, added = [*lhs.get_shape()], [*rhs.get_shape()]
        shape[dim] += added[dim]
        added[dim] = shape[dim]
        if added != shape or shape != [*tile(self.result.type).get_shape()]:
            raise VerifyException(
                f"{lhs} and {rhs} beside each other in dimension {dim} are no {self.result.type}"
            )


@irdl_op_definition
class ExtractOp(PureOp):
    """A part of the tile: it is split into parts of the size of the result, and `indices` count
    these parts, not elements."""

    name = "cuda_tile.extract"

    source = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    assembly_format = "$source `[` $indices `]` attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        check_same_element(self.source.type, self.result.type)
        source, result = tile(self.source.type), tile(self.result.type)
        if any(size % part for size, part in zip(source.get_shape(), result.get_shape())):
            raise VerifyException(f"{source} has no whole number of parts {result}")
        if len(self.indices) != (rank := len(source.shape)):
            raise VerifyException(f"expected {rank} indices, got {len(self.indices)}")


def _check_same_bytes(source: Attribute, result: Attribute) -> None:
    widths: list[int] = []
    for type in tile(source), tile(result):
        if len(type.shape) != 1:
            raise VerifyException(f"expected a tile of one dimension, got {type}")
        element = type.element_type
        widths.append(32 if isinstance(element, FloatTF32Type) else width_of(element))
    if widths[0] == widths[1]:
        raise VerifyException(f"expected elements of other widths than {widths[0]} bits")
    bits = [w * tile(t).get_shape()[0] for w, t in zip(widths, (source, result))]
    if bits[0] != bits[1]:
        raise VerifyException(f"expected tiles of the same number of bits, got {bits}")


@irdl_op_definition
class PackOp(PureOp):
    """The bits of a tile of rank 1, as bytes."""

    name = "cuda_tile.pack"

    source = operand_def(UNPACKED)
    result = result_def(PACKED)

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        _check_same_bytes(self.source.type, self.result.type)


@irdl_op_definition
class UnpackOp(PureOp):
    """Bytes as the bits of a tile of rank 1."""

    name = "cuda_tile.unpack"

    source = operand_def(PACKED)
    result = result_def(UNPACKED)

    assembly_format = "$source attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        _check_same_bytes(self.source.type, self.result.type)
