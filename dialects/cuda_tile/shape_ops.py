"""Constants, and operations that move elements of tiles: broadcasting, reshaping, permutation."""

from __future__ import annotations

from abc import ABC
from math import prod
from typing import Any, ClassVar

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
    VarConstraint,
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
from .constraints import (
    INT,
    NUMBER,
    SCALAR_I32,
    TILE,
    TileOf,
    check_same_element,
    check_types,
    tile,
    width_of,
)
from .elements import I4
from .folding import TileFolder
from .syntax import types
from .tile_op import CudaTileOp, PureOp
from .types import TileType

PACKED = TileOf((i8,))
UNPACKED = TileOf((*NUMBER.elements, I4))
WHOLE = VarConstraint("T", TILE)


@irdl_op_definition
class ConstantOp(CudaTileOp):
    """Make a tile of known numbers: `value` is a dense constant of the tensor type of its shape."""

    name = "cuda_tile.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(NUMBER)

    traits = traits_def(ConstantLike(), Pure(), TileFolder())

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
    """Make the tile [0, 1, ..., n - 1]."""

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


class ShapeOp(PureOp, ABC):
    """The elements of a tile in another place."""

    source = operand_def(TILE)
    result = result_def(TILE)

    assembly_format = "$source attr-dict " + types("source -> result")


@irdl_op_definition
class BroadcastOp(ShapeOp):
    """Repeat a tile in the dimensions in which it has one element."""

    name = "cuda_tile.broadcast"

    traits = traits_def(TileFolder())

    @of_signature
    def verify_(self) -> None:
        check_same_element(self.source.type, self.result.type)
        sizes = zip(tile(self.source.type).get_shape(), tile(self.result.type).get_shape())
        if any(size not in (1, result) for size, result in sizes):
            raise VerifyException(f"{self.source.type} has no broadcast to {self.result.type}")


@irdl_op_definition
class ReshapeOp(ShapeOp):
    """Give the elements another shape, in the same row-major order."""

    name = "cuda_tile.reshape"

    traits = traits_def(TileFolder())

    @of_signature
    def verify_(self) -> None:
        source, result = tile(self.source.type), tile(self.result.type)
        if source.element_type != result.element_type:
            raise VerifyException(f"expected elements of {source}, got {result}")
        if prod(source.get_shape()) != prod(result.get_shape()):
            raise VerifyException(f"expected as many elements as {source}, got {result}")


@irdl_op_definition
class PermuteOp(ShapeOp):
    """Permute dimensions: that of number i of the result is `permutation[i]` of the tile."""

    name = "cuda_tile.permute"

    permutation = prop_def(DenseArrayBase[I32])

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
    """Put two tiles beside each other in dimension `dim`."""

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


class PartOp(PureOp, ABC):
    """A tile as parts of the size of another one; `indices` count these parts, not elements."""

    indices = var_operand_def(SCALAR_I32)

    def check_parts(self, whole: Attribute, part: Attribute) -> None:
        """Check that a tile has a whole number of parts, and an index for each dimension."""
        check_same_element(whole, part)
        if any(n % size for n, size in zip(tile(whole).get_shape(), tile(part).get_shape())):
            raise VerifyException(f"{whole} has no whole number of parts {part}")
        if len(self.indices) != (rank := len(tile(whole).shape)):
            raise VerifyException(f"expected {rank} indices, got {len(self.indices)}")


@irdl_op_definition
class ExtractOp(PartOp):
    """Take the part of a tile at indices."""

    name = "cuda_tile.extract"

    source = operand_def(TILE)
    result = result_def(TILE)

    assembly_format = "$source `[` $indices `]` attr-dict " + types("source -> result")

    @of_signature
    def verify_(self) -> None:
        self.check_parts(self.source.type, self.result.type)


@irdl_op_definition
class InsertOp(PartOp):
    """Replace the part of `destination` at indices by `source`."""

    name = "cuda_tile.insert"

    RESULT_OF: ClassVar = 1

    source = operand_def(TILE)
    destination = operand_def(WHOLE)
    result = result_def(WHOLE)

    assembly_format = "$source `,` $destination `` `[` $indices `]` attr-dict " + types(
        "source, destination"
    )

    @of_signature
    def verify_(self) -> None:
        self.check_parts(self.destination.type, self.source.type)


class BytesOp(ShapeOp, ABC):
    """A conversion between numbers and bytes."""

    @of_signature
    def verify_(self) -> None:
        widths: list[int] = []
        for type in tile(self.source.type), tile(self.result.type):
            if len(type.shape) != 1:
                raise VerifyException(f"expected a tile of one dimension, got {type}")
            element = type.element_type
            widths.append(32 if isinstance(element, FloatTF32Type) else width_of(element))
        if widths[0] == widths[1]:
            raise VerifyException(f"expected elements of other widths than {widths[0]} bits")
        types = (self.source.type, self.result.type)
        bits = [width * tile(type).get_shape()[0] for width, type in zip(widths, types)]
        if bits[0] != bits[1]:
            raise VerifyException(f"expected tiles of the same number of bits, got {bits}")


@irdl_op_definition
class PackOp(BytesOp):
    """Take the bits of a tile of rank 1 as bytes."""

    name = "cuda_tile.pack"

    source = operand_def(UNPACKED)
    result = result_def(PACKED)


@irdl_op_definition
class UnpackOp(BytesOp):
    """Take bytes as the bits of a tile of rank 1."""

    name = "cuda_tile.unpack"

    source = operand_def(PACKED)
    result = result_def(UNPACKED)
