"""Views of tensors in memory: how they are made, loaded from and stored to."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, Self, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, i32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    ParamAttrConstraint,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ..signature import of_signature
from .attributes import (
    AtomicRMWMode,
    AtomicRMWModeAttr,
    MemoryOrderingSemantics,
    MemoryScope,
    MemoryScopeAttr,
    OptimizationHintsAttr,
    PaddingValueAttr,
)
from .constraints import INT, SCALAR_INT, SCALAR_POINTER, TILE, check_mode, check_types, tile
from .memory_ops import AccessOp, AtomicOp, ReadOp, WriteOp
from .syntax import HINTS, MEMORY, types
from .tile_op import CudaTileOp, PureOp
from .types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileView,
    parse_type,
    print_type,
    scalar,
)

VIEW = BaseAttr(TileView)
TENSOR_VIEW = VarConstraint("T", BaseAttr(TensorViewType))
VIEW_TOKEN = "(`token` `=` $token^)?"
END = "custom<Inbounds>($inbounds) attr-dict-with-keyword "


def _view_of(view: type[TileView], tensor_view: AttrConstraint) -> AttrConstraint:
    """Return the constraint that a type is a view of the tensor view that a variable is."""
    names = [name for name, _ in view.get_irdl_definition().parameters]
    others = AnyAttr()
    parameters = (*(tensor_view if name == "tensor_view" else others for name in names),)
    return ParamAttrConstraint(view, parameters)


@irdl_op_definition
class MakeTensorViewOp(CudaTileOp):
    """View memory at the address `base` as a tensor. The other operands are the sizes and strides
    that its type does not have, as unsigned integers."""

    name = "cuda_tile.make_tensor_view"

    base = operand_def(SCALAR_POINTER)
    dynamicShape = var_operand_def(SCALAR_INT)
    dynamicStrides = var_operand_def(SCALAR_INT)
    result = result_def(TensorViewType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> MakeTensorViewOp:
        base = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        shape = _parse_sizes(parser, "shape")
        parser.parse_punctuation(",")
        strides = _parse_sizes(parser, "strides")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start, index, type = parser.pos, None, parse_type(parser)
        if parser.parse_optional_punctuation("->"):
            start, index, type = parser.pos, type, parse_type(parser)
        if not isinstance(type, TensorViewType):
            parser.raise_error(f"expected a tensor_view, got {type}", start)
        if (_known(shape), _known(strides)) != (type.get_shape(), type.get_strides()):
            parser.raise_error(f"shape and strides are not those of {type}", start)
        unknown = [
            [size for size in sizes if not isinstance(size, int)] for sizes in (shape, strides)
        ]
        if any(unknown) and index is None:
            parser.raise_error("expected the type of unknown sizes, and '->'", start)
        values = [[parser.resolve_operand(v, index or type) for v in row] for row in unknown]
        pointer = scalar(PointerType(type.element_type))
        op = cls(parser.resolve_operand(base, pointer), *values, types=[type])
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.base)
        type = self.result.type
        printer.print_string(", shape = ")
        _print_sizes(printer, type.get_shape(), self.dynamicShape)
        printer.print_string(", strides = ")
        _print_sizes(printer, type.get_strides(), self.dynamicStrides)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if unknown := (*self.dynamicShape, *self.dynamicStrides):
            print_type(printer, unknown[0].type)
            printer.print_string(" -> ")
        print_type(printer, type)

    @of_signature
    def verify_(self) -> None:
        pointer, type = tile(self.base.type).element_type, self.result.type
        check_types("base", [PointerType(type.element_type)], [pointer])
        for what, sizes, values in (
            ("shape", type.get_shape(), self.dynamicShape),
            ("strides", type.get_strides(), self.dynamicStrides),
        ):
            if (count := sizes.count(DYNAMIC_INDEX)) != len(values):
                raise VerifyException(f"{what} has {count} unknown sizes, got {len(values)}")
        unknown = (*self.dynamicShape.types, *self.dynamicStrides.types)
        check_types("unknown sizes", unknown[:1] * len(unknown), unknown)


Size: TypeAlias = int | UnresolvedOperand


def _parse_sizes(parser: Parser, what: str) -> list[Size]:
    parser.parse_keyword(what)
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_size(parser))


def _parse_size(parser: Parser) -> Size:
    value = parser.parse_optional_unresolved_operand()
    return parser.parse_integer(allow_boolean=False) if value is None else value


def _known(sizes: Sequence[Size]) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes)


def _print_sizes(printer: Printer, sizes: Sequence[int], values: Sequence[SSAValue]) -> None:
    unknown = iter(values)
    with printer.in_square_brackets():
        printer.print_list(
            [next(unknown, "?") if size == DYNAMIC_INDEX else size for size in sizes],
            lambda size: (
                printer.print_string(str(size))
                if isinstance(size, int | str)
                else printer.print_operand(size)
            ),
        )


class MakeViewOp(PureOp, ABC):
    """A view of a tensor in tiles."""

    tensor_view = operand_def(TENSOR_VIEW)

    assembly_format = "$tensor_view attr-dict " + types("result")


@irdl_op_definition
class MakePartitionViewOp(MakeViewOp):
    """View a tensor as a grid of tiles."""

    name = "cuda_tile.make_partition_view"

    result = result_def(_view_of(PartitionViewType, TENSOR_VIEW))


@irdl_op_definition
class MakeStridedViewOp(MakeViewOp):
    """View a tensor as tiles at the multiples of strides."""

    name = "cuda_tile.make_strided_view"

    result = result_def(_view_of(StridedViewType, TENSOR_VIEW))


@irdl_op_definition
class MakeGatherScatterViewOp(MakeViewOp):
    """View a tensor as tiles at indices that are a tile in one dimension."""

    name = "cuda_tile.make_gather_scatter_view"

    result = result_def(_view_of(GatherScatterViewType, TENSOR_VIEW))


class SizesOp(CudaTileOp, ABC):
    """The sizes of a tensor or view, all of one type."""

    src = operand_def(AnyOf((BaseAttr(TensorViewType), VIEW)))
    result = var_result_def(SCALAR_INT)

    traits = traits_def(NoMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        start, type = parser.pos, parse_type(parser)
        if not isinstance(type, TensorViewType | TileView):
            parser.raise_error(f"expected a tensor_view or a view of it, got {type}", start)
        parser.parse_punctuation("->")
        size = parse_type(parser)
        return cls(parser.resolve_operand(source, type), types=[[size] * _rank(type)])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.src)
        printer.print_string(" : ")
        print_type(printer, self.src.type)
        printer.print_string(" -> ")
        print_type(printer, self.result.types[0] if self.result else scalar(i32))

    @of_signature
    def verify_(self) -> None:
        assert isinstance(type := self.src.type, TensorViewType | TileView)
        if len(self.result) != (rank := _rank(type)):
            raise VerifyException(f"expected {rank} results, got {len(self.result)}")


def _rank(type: TensorViewType | TileView) -> int:
    return len(type.shape) if isinstance(type, TensorViewType) else type.index_rank


@irdl_op_definition
class GetTensorShapeOp(SizesOp):
    """Read the sizes of a tensor."""

    name = "cuda_tile.get_tensor_shape"

    src = operand_def(TensorViewType)


@irdl_op_definition
class GetIndexSpaceShapeOp(SizesOp):
    """Compute the number of tiles of a view in each dimension."""

    name = "cuda_tile.get_index_space_shape"

    src = operand_def(VIEW)


class ViewAccess(AccessOp, ABC):
    """An access to the tile of a view at an index. `inbounds` promises for each index that the tile
    is within the tensor."""

    view = operand_def(VIEW)
    index = var_operand_def(INT)
    inbounds = opt_prop_def(DenseArrayBase)

    def check_view(self, tile: SSAValue) -> None:
        """Check the index, and that `tile` is a tile of the view."""
        view, count = self.view.type, len(self.index)
        assert isinstance(view, TileView)
        if count != view.index_rank:
            raise VerifyException(f"expected {view.index_rank} indices, got {count}")
        if self.inbounds is not None and (got := len(self.inbounds)) != count:
            raise VerifyException(f"inbounds: expected {count} values, got {got}")
        check_types("tile", [view.tile_type], [tile.type])
        view.verify_indices(self.index.types)


@irdl_op_definition
class LoadViewTkoOp(ViewAccess, ReadOp):
    """Load the tile of a view at an index."""

    name = "cuda_tile.load_view_tko"

    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    tile = result_def(TILE)

    assembly_format = f"{MEMORY} $view `` `[` $index `]` {VIEW_TOKEN} {HINTS} {END}" + types(
        "view[index] -> tile, result_token"
    )

    @of_signature
    def verify_(self) -> None:
        self.check_view(self.tile)
        super().verify_()


@irdl_op_definition
class StoreViewTkoOp(ViewAccess, WriteOp):
    """Store a tile to a view at an index."""

    name = "cuda_tile.store_view_tko"

    tile = operand_def(TILE)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)

    assembly_format = (
        f"{MEMORY} $tile `,` $view `` `[` $index `]` {VIEW_TOKEN} {HINTS} {END}"
        + types("tile, view[index] -> result_token")
    )

    @of_signature
    def verify_(self) -> None:
        self.check_view(self.tile)
        super().verify_()


@irdl_op_definition
class AtomicRedViewTkoOp(ViewAccess, AtomicOp):
    """Combine the tile of a view at an index with another one, each element atomically."""

    name = "cuda_tile.atomic_red_view_tko"

    ORDERS: ClassVar = (MemoryOrderingSemantics.RELAXED,)

    memory_scope = prop_def(MemoryScopeAttr)
    view = operand_def(VIEW)
    index = var_operand_def(INT)
    mode = prop_def(AtomicRMWModeAttr)
    value = operand_def(TILE)

    assembly_format = (
        f"{MEMORY} $view `` `[` $index `]` `,` custom<Keyword>($mode) `,` $value {VIEW_TOKEN} {END}"
        + types("value, view[index] -> result_token")
    )

    @of_signature
    def verify_(self) -> None:
        assert isinstance(view := self.view.type, TileView)
        if isinstance(view, GatherScatterViewType):
            raise VerifyException(f"{view} has no atomic operations: expected a partition_view")
        if isinstance(view.padding_value, PaddingValueAttr):
            raise VerifyException(f"padding_value is of loads: expected a view without, got {view}")
        self.check_view(self.value)
        if self.mode.data is AtomicRMWMode.XCHG:
            raise VerifyException("xchg has no result here: expected another mode")
        check_mode(self.mode, tile(self.value.type).element_type)
        super().verify_()
        if self.memory_scope.data is MemoryScope.SYS:
            raise VerifyException("memory scope sys: expected tl_blk or device")
