"""Types of CUDA Tile IR: tiles, pointers, views of tensors in memory, and tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    ContainerType,
    IntAttr,
    IntegerType,
    NoneAttr,
    ShapedType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .attributes import PaddingValue, PaddingValueAttr
from .elements import I4, check_number, check_tile_shape, is_number

__all__ = [
    "DYNAMIC_INDEX",
    "GatherScatterViewType",
    "PartitionViewType",
    "PointerType",
    "StridedViewType",
    "TensorViewType",
    "TileType",
    "TileView",
    "TokenType",
    "parse_type",
    "pointee",
    "print_type",
    "scalar",
]

Shape: TypeAlias = ArrayAttr[IntAttr]


def _sizes(values: Sequence[int] | Shape) -> Shape:
    return values if isinstance(values, ArrayAttr) else ArrayAttr(map(IntAttr, values))


def _numbers(sizes: Shape) -> tuple[int, ...]:
    return tuple(size.data for size in sizes)


def _dynamic_text(sizes: Sequence[int], separator: str) -> str:
    return separator.join("?" if size == DYNAMIC_INDEX else str(size) for size in sizes)


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute):
    """A pointer to a number in global memory."""

    name = "cuda_tile.ptr"

    pointee_type: Attribute

    def verify(self) -> None:
        check_number(self.pointee_type)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (parse_type(parser),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_type(printer, self.pointee_type)


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """An array of numbers or pointers; sizes are known, and powers of two. Rank 0 is a scalar."""

    name = "cuda_tile.tile"

    shape: Shape
    element_type: Attribute

    def __init__(self, shape: Sequence[int] | Shape, element_type: Attribute):
        super().__init__(_sizes(shape), element_type)

    def verify(self) -> None:
        element = self.element_type
        if not (is_number(element) or isinstance(element, PointerType) or element == I4):
            raise VerifyException(f"{element} is no element of a tile: expected a number or ptr")
        check_tile_shape(self.get_shape(), self.element_type)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = _parse_shaped(parser)
        if DYNAMIC_INDEX in shape:
            parser.raise_error("a tile has known sizes: expected a number, got '?'")
        return _sizes(shape), element_type

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_shaped(printer, self.get_shape(), self.element_type)

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

    def verify(self) -> None:
        check_number(self.element_type)
        if len(self.shape) != len(self.strides):
            raise VerifyException(
                f"a tensor_view has a stride for each size: expected {len(self.shape)} strides, "
                f"got {len(self.strides)}"
            )
        for what, sizes in ("sizes", self.get_shape()), ("strides", self.get_strides()):
            if any(size <= 0 and size != DYNAMIC_INDEX for size in sizes):
                raise VerifyException(
                    f"{what} of a tensor_view are positive, got [{_dynamic_text(sizes, ', ')}]"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        strides: Sequence[int] = ()
        with parser.in_angle_brackets():
            shape, element_type = _parse_shaped(parser)
            if shape:
                parser.parse_punctuation(",", " before strides=[...]")
                parser.parse_keyword("strides")
                strides = _parse_numbers(parser, lambda: _parse_stride(parser))
        return element_type, _sizes(shape), _sizes(strides)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_shaped(printer, self.get_shape(), self.element_type)
            if self.strides.data:
                printer.print_string(f", strides=[{_dynamic_text(self.get_strides(), ',')}]")

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


@dataclass(frozen=True, init=False)  # else its fields are not compared
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

    def verify(self) -> None:
        shape, rank = _numbers(self.tile_shape), len(self.tensor_view.shape)
        if not shape:
            raise VerifyException("tiles of a view have at least one dimension")
        if len(shape) != rank:
            raise VerifyException(
                f"expected tiles of the rank of the tensor_view, {rank}, got {len(shape)}"
            )
        check_tile_shape(shape, self.tensor_view.element_type)
        element, padding = self.tensor_view.element_type, self.padding_value
        special = isinstance(padding, PaddingValueAttr) and padding.data is not PaddingValue.ZERO
        if special and isinstance(element, IntegerType):
            raise VerifyException(f"{padding} is one of floats, not {element}")

    def verify_indices(self, types: Sequence[Attribute]) -> None:
        """Raise VerifyException unless values of these types select a tile."""
        for index, type in enumerate(types):
            if not (isinstance(type, TileType) and not type.shape.data):
                raise VerifyException(f"index {index} is {type}: expected a scalar tile")
            if type != types[0]:
                raise VerifyException(
                    f"indices have one type: expected {types[0]}, got {type} as index {index}"
                )

    def _print_parameters(self, printer: Printer, strides: str = "", end: str = "") -> None:
        printer.print_string(f"<tile=({'x'.join(map(str, _numbers(self.tile_shape)))}), {strides}")
        if isinstance(self.padding_value, PaddingValueAttr):
            printer.print_string(f"padding_value = {self.padding_value.data}, ")
        print_type(printer, self.tensor_view)
        printer.print_string(f"{end}>")


def _verify_dim_map(dim_map: Sequence[int], rank: int) -> None:
    if sorted(dim_map) != [*range(rank)]:
        raise VerifyException(
            f"dim_map names each dimension of the tensor_view once: expected a permutation of "
            f"{[*range(rank)]}, got {[*dim_map]}"
        )


def _dim_map_text(dim_map: Sequence[int]) -> str:
    text = f", dim_map=[{', '.join(map(str, dim_map))}]"
    return "" if [*dim_map] == [*range(len(dim_map))] else text


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

    def verify(self) -> None:
        super().verify()
        _verify_dim_map(_numbers(self.dim_map), len(self.tile_shape))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape = _parse_tile_shape(parser)
            padding, tensor_view = _parse_viewed(parser)
            dim_map = _parse_dim_map(parser, len(shape))
        return shape, tensor_view, padding, dim_map

    def print_parameters(self, printer: Printer) -> None:
        self._print_parameters(printer, end=_dim_map_text(_numbers(self.dim_map)))


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

    def verify(self) -> None:
        super().verify()
        _verify_dim_map(_numbers(self.dim_map), len(self.tile_shape))
        strides = _numbers(self.traversal_strides)
        if len(strides) != len(self.tile_shape) or any(stride <= 0 for stride in strides):
            raise VerifyException(
                f"expected {len(self.tile_shape)} positive traversal_strides, got {[*strides]}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape = _parse_tile_shape(parser)
            parser.parse_keyword("traversal_strides")
            strides = _parse_numbers(parser, parser.parse_integer)
            parser.parse_punctuation(",")
            padding, tensor_view = _parse_viewed(parser)
            dim_map = _parse_dim_map(parser, len(shape))
        return shape, tensor_view, padding, _sizes(strides), dim_map

    def print_parameters(self, printer: Printer) -> None:
        strides = ",".join(map(str, _numbers(self.traversal_strides)))
        end = _dim_map_text(_numbers(self.dim_map))
        self._print_parameters(printer, f"traversal_strides=[{strides}], ", end)


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

    def verify(self) -> None:
        super().verify()
        if not 0 <= self.sparse_dim.data < (rank := len(self.tile_shape)):
            raise VerifyException(
                f"sparse_dim is a dimension of the tensor_view: expected less than {rank}, "
                f"got {self.sparse_dim.data}"
            )

    def verify_indices(self, types: Sequence[Attribute]) -> None:
        sparse = self.sparse_dim.data
        expected = _numbers(self.tile_shape)[sparse : sparse + 1]
        if not (isinstance(type := types[sparse], TileType) and type.get_shape() == expected):
            raise VerifyException(
                f"index {sparse}, that of sparse_dim, is {type}: expected a tile of shape "
                f"{[*expected]}"
            )
        super().verify_indices([*types[:sparse], *types[sparse + 1 :]])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape = _parse_tile_shape(parser)
            padding, tensor_view = _parse_viewed(parser)
            parser.parse_punctuation(",")
            parser.parse_keyword("sparse_dim")
            parser.parse_punctuation("=")
            sparse_dim = parser.parse_integer(allow_boolean=False)
        return shape, tensor_view, padding, IntAttr(sparse_dim)

    def print_parameters(self, printer: Printer) -> None:
        self._print_parameters(printer, end=f", sparse_dim={self.sparse_dim.data}")


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """The order of operations on memory; no value at run time."""

    name = "cuda_tile.token"


_PREFIX = "cuda_tile."
_BY_KEYWORD: dict[str, type[ParametrizedAttribute]] = {
    cls.name.removeprefix(_PREFIX): cls
    for cls in (
        TileType,
        PointerType,
        TokenType,
        TensorViewType,
        PartitionViewType,
        StridedViewType,
        GatherScatterViewType,
    )
}


def parse_type(parser: AttrParser) -> Attribute:
    """Parse a type, which needs no prefix if it is one of this dialect."""
    for keyword, cls in _BY_KEYWORD.items():
        if parser.parse_optional_keyword(keyword):
            try:
                return cls.new(cls.parse_parameters(parser))
            except VerifyException as error:
                parser.raise_error(str(error))
    return parser.parse_type()


def print_type(printer: Printer, type: Attribute) -> None:
    """Print a type, without a prefix if it is one of this dialect."""
    keyword = type.name.removeprefix(_PREFIX)
    if not isinstance(type, ParametrizedAttribute) or keyword not in _BY_KEYWORD:
        return printer.print_attribute(type)
    printer.print_string(keyword)
    if type.parameters:
        type.print_parameters(printer)


def _parse_shaped(parser: AttrParser) -> tuple[list[int], Attribute]:
    if shape := parser.parse_dimension_list():
        parser.parse_shape_delimiter()
    return shape, parse_type(parser)


def _print_shaped(printer: Printer, shape: Sequence[int], element_type: Attribute) -> None:
    printer.print_string("".join(f"{_dynamic_text((size,), '')}x" for size in shape))
    print_type(printer, element_type)


def _parse_numbers(parser: AttrParser, parse: Callable[[], int]) -> list[int]:
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse)


def _parse_stride(parser: AttrParser) -> int:
    if parser.parse_optional_punctuation("?"):
        return DYNAMIC_INDEX
    if (stride := parser.parse_integer(allow_boolean=False)) <= 0:
        parser.raise_error(f"a stride is positive, or '?', got {stride}")
    return stride


def _parse_tile_shape(parser: AttrParser) -> Shape:
    parser.parse_keyword("tile")
    parser.parse_punctuation("=")
    with parser.in_parens():
        shape = parser.parse_dimension_list()
    parser.parse_punctuation(",")
    return _sizes(shape)


def _parse_viewed(parser: AttrParser) -> tuple[PaddingValueAttr | NoneAttr, TensorViewType]:
    padding = None
    if parser.parse_optional_keyword("padding_value"):
        parser.parse_punctuation("=")
        padding = parser.parse_str_enum(PaddingValue)
        parser.parse_punctuation(",")
    start = parser.pos
    if not isinstance(type := parse_type(parser), TensorViewType):
        parser.raise_error(f"expected a tensor_view, got {type}", start)
    return _padding(padding), type


def _parse_dim_map(parser: AttrParser, rank: int) -> Shape:
    if not parser.parse_optional_punctuation(","):
        return _sizes(range(rank))
    parser.parse_keyword("dim_map")
    return _sizes(_parse_numbers(parser, parser.parse_integer))
