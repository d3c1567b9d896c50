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


def accessed(type: Attribute) -> Attribute:
    """Return the type of the tiles at pointers of `type`, or of a view; another type as it is."""
    if isinstance(type, TileType) and isinstance(type.element_type, PointerType):
        return type.with_element(type.element_type.pointee_type)
    return type.tile_type if isinstance(type, TileView) else type


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

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        names = [name for name, _ in cls.get_irdl_definition().parameters]
        found: dict[str, Attribute] = {"padding_value": NoneAttr()}
        with parser.in_angle_brackets():
            found["tile_shape"] = shape = _parse_tile_shape(parser)
            if "traversal_strides" in names:
                parser.parse_keyword("traversal_strides")
                found["traversal_strides"] = _sizes(_parse_numbers(parser, parser.parse_integer))
                parser.parse_punctuation(",")
            if parser.parse_optional_keyword("padding_value"):
                parser.parse_punctuation("=")
                found["padding_value"] = PaddingValueAttr(parser.parse_str_enum(PaddingValue))
                parser.parse_punctuation(",")
            start, found["tensor_view"] = parser.pos, parse_type(parser)
            if not isinstance(found["tensor_view"], TensorViewType):
                parser.raise_error(f"expected a tensor_view, got {found['tensor_view']}", start)
            if "dim_map" in names:
                found["dim_map"] = _parse_dim_map(parser, len(shape))
            if "sparse_dim" in names:
                parser.parse_punctuation(",")
                parser.parse_keyword("sparse_dim")
                parser.parse_punctuation("=")
                found["sparse_dim"] = IntAttr(parser.parse_integer(allow_boolean=False))
        return [found[name] for name in names]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<tile=({'x'.join(map(str, _numbers(self.tile_shape)))}), ")
        if isinstance(self, StridedViewType):
            strides = ",".join(map(str, _numbers(self.traversal_strides)))
            printer.print_string(f"traversal_strides=[{strides}], ")
        if isinstance(self.padding_value, PaddingValueAttr):
            printer.print_string(f"padding_value = {self.padding_value.data}, ")
        print_type(printer, self.tensor_view)
        if isinstance(self, MappedView) and (order := _numbers(self.dim_map)) != (
            *range(len(order)),
        ):
            printer.print_string(f", dim_map={[*order]}")
        if isinstance(self, GatherScatterViewType):
            printer.print_string(f", sparse_dim={self.sparse_dim.data}")
        printer.print_string(">")


@dataclass(frozen=True, init=False)
class MappedView(TileView):
    """A view whose tiles form a grid. Dimension i of the tiles is dimension `dim_map[i]` of the
    tensor."""

    dim_map: Shape

    def verify(self) -> None:
        super().verify()
        order, rank = _numbers(self.dim_map), len(self.tile_shape)
        if sorted(order) != [*range(rank)]:
            raise VerifyException(
                f"dim_map names each dimension of the tensor_view once: expected a permutation of "
                f"{[*range(rank)]}, got {[*order]}"
            )


@irdl_attr_definition
class PartitionViewType(MappedView):
    """A tensor view as a grid of tiles beside each other."""

    name = "cuda_tile.partition_view"

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
class StridedViewType(MappedView):
    """A tensor view as a grid of tiles whose origins are `traversal_strides` elements apart."""

    name = "cuda_tile.strided_view"

    traversal_strides: Shape

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
        super().__init__(_sizes(tile_shape), tensor_view, padding_value, _sizes(dim_map), strides)

    def verify(self) -> None:
        super().verify()
        strides = _numbers(self.traversal_strides)
        if len(strides) != len(self.tile_shape) or any(stride <= 0 for stride in strides):
            raise VerifyException(
                f"expected {len(self.tile_shape)} positive traversal_strides, got {[*strides]}"
            )


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


def _parse_dim_map(parser: AttrParser, rank: int) -> Shape:
    if not parser.parse_optional_punctuation(","):
        return _sizes(range(rank))
    parser.parse_keyword("dim_map")
    return _sizes(_parse_numbers(parser, parser.parse_integer))
