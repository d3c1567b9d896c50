"""Types of CUDA Tile IR: tiles, pointers, views of tensors in memory, and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    ContainerType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    NoneAttr,
    ShapedType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition

from ...passmanager.releases.floats import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatTF32Type,
)
from .attributes import PaddingValue, PaddingValueAttr

__all__ = [
    "DYNAMIC_INDEX",
    "Float",
    "GatherScatterViewType",
    "PartitionViewType",
    "PointerType",
    "StridedViewType",
    "TensorViewType",
    "TileType",
    "TileView",
    "TokenType",
    "pointee",
    "scalar",
]

Float: TypeAlias = (
    Float32Type
    | Float16Type
    | BFloat16Type
    | Float64Type
    | FloatTF32Type
    | Float8E4M3FNType
    | Float8E5M2Type
    | Float8E8M0FNUType
    | Float4E2M1FNType
)
Shape: TypeAlias = ArrayAttr[IntAttr]


def _sizes(values: Sequence[int] | Shape) -> Shape:
    return values if isinstance(values, ArrayAttr) else ArrayAttr(map(IntAttr, values))


def _numbers(sizes: Shape) -> tuple[int, ...]:
    return tuple(size.data for size in sizes)


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """A pointer to a number in global memory."""

    name = "cuda_tile.ptr"

    pointee_type: Attribute


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """An array of numbers or pointers; sizes are known, and powers of two. Rank 0 is a scalar."""

    name = "cuda_tile.tile"

    shape: Shape
    element_type: Attribute

    def __init__(self, shape: Sequence[int] | Shape, element_type: Attribute):
        super().__init__(_sizes(shape), element_type)

    def get_num_dims(self) -> int:
        return len(self.shape)

    def get_shape(self) -> tuple[int, ...]:
        return _numbers(self.shape)

    def get_element_type(self) -> Attribute:
        return self.element_type

    def with_shape(self, shape: Sequence[int]) -> TileType:
        """Return the type of tiles of another shape."""
        return TileType(shape, self.element_type)

    def with_element(self, element_type: Attribute) -> TileType:
        """Return the type of tiles with other elements."""
        return TileType(self.shape, element_type)


def scalar(element_type: Attribute) -> TileType:
    """Return the type of tiles of rank 0."""
    return TileType((), element_type)


def pointee(type: Attribute) -> Attribute:
    """Return the type of the tiles at pointers of `type`; a type without pointers as it is."""
    if isinstance(type, TileType) and isinstance(type.element_type, PointerType):
        return type.with_element(type.element_type.pointee_type)
    return type


@irdl_attr_definition
class TensorViewType(ParametrizedAttribute, TypeAttribute):
    """A tensor in global memory: sizes and strides, in elements; DYNAMIC_INDEX is an operand of
    the operation that makes the view."""

    name = "cuda_tile.tensor_view"

    element_type: Attribute
    shape: Shape
    strides: Shape

    def __init__(
        self,
        element_type: Attribute,
        shape: Sequence[int] | Shape,
        strides: Sequence[int] | Shape,
    ):
        super().__init__(element_type, _sizes(shape), _sizes(strides))

    def get_shape(self) -> tuple[int, ...]:
        """Return the sizes, DYNAMIC_INDEX where unknown."""
        return _numbers(self.shape)

    def get_strides(self) -> tuple[int, ...]:
        """Return the strides, DYNAMIC_INDEX where unknown."""
        return _numbers(self.strides)


Padding: TypeAlias = PaddingValue | PaddingValueAttr | NoneAttr | None


def _padding(value: Padding) -> PaddingValueAttr | NoneAttr:
    if isinstance(value, PaddingValue):
        return PaddingValueAttr(value)
    return NoneAttr() if value is None else value


class TileView(ParametrizedAttribute, TypeAttribute):
    """A tensor view from which tiles are loaded, and to which they are stored. Elements of a tile
    outside of the tensor are loaded as `padding_value`, and are not stored."""

    tile_shape: Shape
    tensor_view: TensorViewType
    padding_value: PaddingValueAttr | NoneAttr

    @property
    def tile_type(self) -> TileType:
        """The type of the tiles of the view."""
        return TileType(self.tile_shape, self.tensor_view.element_type)

    @property
    def index_rank(self) -> int:
        """The number of indices that select a tile."""
        return len(self.tile_shape)


@irdl_attr_definition
class PartitionViewType(TileView):
    """A tensor view as a grid of tiles beside each other. Dimension i of the tiles is dimension
    `dim_map[i]` of the tensor."""

    name = "cuda_tile.partition_view"

    dim_map: Shape

    def __init__(
        self,
        tile_shape: Sequence[int] | Shape,
        tensor_view: TensorViewType,
        dim_map: Sequence[int] | Shape | None = None,
        padding_value: Padding = None,
    ):
        """Without `dim_map`, the dimensions of tiles are those of the tensor."""
        dim_map = range(len(tile_shape)) if dim_map is None else dim_map
        padding_value = _padding(padding_value)
        super().__init__(_sizes(tile_shape), tensor_view, padding_value, _sizes(dim_map))


@irdl_attr_definition
class StridedViewType(TileView):
    """A tensor view as a grid of tiles whose origins are `traversal_strides` elements apart."""

    name = "cuda_tile.strided_view"

    traversal_strides: Shape
    dim_map: Shape

    def __init__(
        self,
        tile_shape: Sequence[int] | Shape,
        traversal_strides: Sequence[int] | Shape,
        tensor_view: TensorViewType,
        dim_map: Sequence[int] | Shape | None = None,
        padding_value: Padding = None,
    ):
        """Without `dim_map`, the dimensions of tiles are those of the tensor."""
        dim_map = range(len(tile_shape)) if dim_map is None else dim_map
        padding_value, strides = _padding(padding_value), _sizes(traversal_strides)
        super().__init__(_sizes(tile_shape), tensor_view, padding_value, strides, _sizes(dim_map))


@irdl_attr_definition
class GatherScatterViewType(TileView):
    """A tensor view with tiles whose positions in dimension `sparse_dim` are the elements of an
    index tile; in each other dimension, an index is the position of the first element."""

    name = "cuda_tile.gather_scatter_view"

    sparse_dim: IntAttr

    def __init__(
        self,
        tile_shape: Sequence[int] | Shape,
        tensor_view: TensorViewType,
        sparse_dim: int | IntAttr,
        padding_value: Padding = None,
    ):
        sparse_dim = sparse_dim if isinstance(sparse_dim, IntAttr) else IntAttr(sparse_dim)
        super().__init__(_sizes(tile_shape), tensor_view, _padding(padding_value), sparse_dim)


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """The order of operations on memory; no value at run time."""

    name = "cuda_tile.token"
