"""Writing the operations of an entry of CUDA Tile IR: numbers, views, loops, arithmetic by type.

Element types are those of relax: an i1 is a byte in memory, and signless integers stand for all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import gcd

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    UnknownLoc,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from ....dialects.cuda_tile import (
    control_ops,
    elementwise_ops,
    memory_ops,
    module_ops,
    reduce_ops,
    shape_ops,
    view_ops,
)
from ....dialects.cuda_tile.attributes import (
    ComparisonOrdering,
    ComparisonPredicate,
    DivByAttr,
    MemoryOrderingSemantics,
    OptimizationHintsAttr,
    PaddingValue,
    SameElementsAttr,
    Signedness,
)
from ....dialects.cuda_tile.types import PartitionViewType, PointerType, TensorViewType, TileType
from ....dialects.relax.types import SmallFloat, is_integer, is_unsigned
from ....dialects.tir.functions import Extent, Shape, size_of, volume
from ..choices import NoKernel
from ..scalars import signless_form

__all__ = [
    "ALIGNMENT",
    "TileReduction",
    "TileWriter",
    "device_element",
    "factor_of",
    "power_of_two",
    "tile_of",
]


def power_of_two(number: int) -> int:
    """Return the least power of two that is not less."""
    return 1 << (max(1, number) - 1).bit_length()


def factor_of(extent: Extent) -> int:
    """Return a power of two by which an extent is divisible; 0 for 0."""
    factor = gcd(*(factor for _, factor in size_of(extent).terms))
    return factor & -factor


def device_element(element: Attribute) -> Attribute:
    """Return the type of an element in memory; NoKernel for numbers of 4 bits, floats of 8."""
    is_short = isa(element, IntegerType) and element.bitwidth in (2, 4)
    if is_short or isinstance(element, SmallFloat):
        raise NoKernel(f"tile programs do not compute with {element}")
    return i8 if element == i1 else signless_form(element)


def tile_of(value: SSAValue) -> TileType:
    assert isinstance(value.type, TileType)
    return value.type


@dataclass(frozen=True)
class TileReduction:
    """An associative function with its neutral element."""

    name: str
    """add, multiply, maximum or minimum."""
    identity: float
    unsigned: bool = False


@dataclass
class TileWriter:
    """A writer of one entry. Its parameters are the pointers of tensors, then the sizes that it
    asks for."""

    name: str
    elements: Sequence[Attribute]
    """The element types of the tensors."""
    warps: int = 4
    """The warps that compute, beside those that copy: 4, or 8, which share its tiles."""
    bulk: bool = True
    """Whether tiles of views are copied by the engine for whole tiles (TMA), and not by threads.
    For it the assembler reserves all registers of a multiprocessor."""
    sizes: dict[Extent, SSAValue] = field(default_factory=dict[Extent, SSAValue])
    location: LocationAttr = field(default_factory=UnknownLoc)
    """The location of the operations that are written, where it is not that of the entry."""

    def __post_init__(self) -> None:
        types = [TileType((), PointerType(device_element(e))) for e in self.elements]
        self.entry = module_ops.EntryOp(self.name, types)
        self.block: Block = self.entry.body.block
        self.pointers = [self.insert(_assumed(pointer, ALIGNMENT)) for pointer in self.block.args]

    def insert(self, op: Operation) -> SSAValue:
        """Append an operation, and return its first result."""
        op.location = self.location
        self.block.add_op(op)
        return op.results[0]

    @contextmanager
    def at(self, op: Operation) -> Generator[None]:
        """Give what is written the location of an operation of relax."""
        before, self.location = self.location, op.location
        try:
            yield
        finally:
            self.location = before

    def finish(self) -> module_ops.EntryOp:
        """End the entry, and return it."""
        self.block.add_op(control_ops.ReturnOp(()))
        inputs = self.entry.body.block.arg_types
        self.entry.function_type = FunctionType.from_lists(inputs, ())
        if self.warps != 4:
            warps = IntegerAttr(self.warps, i64)
            self.entry.optimization_hints = _hint("num_worker_warps_per_cta", warps)
        return self.entry

    # Numbers

    def number(self, value: float, element: Attribute, shape: Sequence[int] = ()) -> SSAValue:
        """Return a tile of one number; in an integer type it wraps around."""
        return self.insert(_splat(value, element, shape))

    def size(self, extent: Extent, *, hidden: bool = False) -> SSAValue:
        """Return an extent as an i32. One that is known is a parameter if it is to be `hidden`: the
        assembler may unroll a loop of so many steps completely, which takes minutes."""
        if isinstance(extent, int) and not hidden:
            return self.number(extent, i32)
        if extent not in self.sizes:
            block = self.entry.body.block
            parameter = block.insert_arg(TileType((), i32), len(block.args))
            self.sizes[extent] = self._with_factor(parameter, extent)
        return self.sizes[extent]

    def _with_factor(self, parameter: SSAValue, extent: Extent) -> SSAValue:
        """Say by what an extent is divisible: as a stride, it lets tiles be copied by lines."""
        if isinstance(extent, int) or (factor := factor_of(extent)) == 1:
            return parameter
        assumed = _assumed(parameter, factor)
        block = self.entry.body.block
        block.insert_ops_before([assumed], block.first_op) if block.first_op else block.add_op(
            assumed
        )
        return assumed.result

    def block_indices(self) -> Sequence[SSAValue]:
        """Return the numbers of the tile block in the three dimensions of the grid."""
        op = module_ops.GetTileBlockIdOp(types=[TileType((), i32)] * 3)
        self.block.add_op(op)
        return op.results

    def iota(self, shape: Sequence[int], axis: int) -> SSAValue:
        """Return the positions in one dimension of a tile, with size 1 in the others."""
        line = self.insert(shape_ops.IotaOp(types=[TileType((shape[axis],), i32)]))
        return self.reshape(line, [n if i == axis else 1 for i, n in enumerate(shape)])

    # Shapes

    def reshape(self, tile: SSAValue, shape: Sequence[int]) -> SSAValue:
        type = tile_of(tile)
        if type.get_shape() == tuple(shape):
            return tile
        return self.insert(shape_ops.ReshapeOp(tile, types=[type.with_shape(shape)]))

    def broadcast(self, tile: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Repeat a tile of the same rank, or of rank 0."""
        type = tile_of(tile)
        if type.get_shape() == tuple(shape):
            return tile
        if not type.get_shape():
            tile = self.reshape(tile, (1,) * len(shape))
            if all(n == 1 for n in shape):
                return tile
        return self.insert(shape_ops.BroadcastOp(tile, types=[type.with_shape(shape)]))

    def product(self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue) -> SSAValue:
        """Return the product of two matrices, added to `acc`."""
        return self.insert(reduce_ops.MmaFOp(lhs, rhs, acc))

    def permute(self, tile: SSAValue, order: Sequence[int]) -> SSAValue:
        """Return the tile whose dimension i is dimension `order[i]` of `tile`."""
        if [*order] == [*range(len(order))]:
            return tile
        type = tile_of(tile)
        result = type.with_shape([type.get_shape()[axis] for axis in order])
        permutation = DenseArrayBase.from_list(i32, order)
        return self.insert(shape_ops.PermuteOp(tile, types=[result], permutation=permutation))

    # Arithmetic. Operands that differ in shape are broadcast.

    def together(self, lhs: SSAValue, rhs: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Return two tiles of the same rank, or of rank 0, broadcast to one shape."""
        left, right = tile_of(lhs).get_shape(), tile_of(rhs).get_shape()
        shape = tuple(map(max, left, right)) if left and right else left or right
        return self.broadcast(lhs, shape), self.broadcast(rhs, shape)

    def apply(self, name: str, lhs: SSAValue, rhs: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """Return a function of `ARITHMETIC` of each two elements."""
        lhs, rhs = self.together(lhs, rhs)
        floats, integers = ARITHMETIC[name]
        if not is_integer(tile_of(lhs).element_type):
            nan = {"propagate_nan": True} if name in EXTREMA else {}
            return self.insert(floats(lhs, rhs, **nan))
        sign = {"signedness": SIGN[unsigned]} if name in (*EXTREMA, "divide") else {}
        return self.insert(integers(lhs, rhs, **sign))

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.apply("add", lhs, rhs)

    def subtract(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.apply("subtract", lhs, rhs)

    def multiply(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.apply("multiply", lhs, rhs)

    def divide(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.apply("divide", lhs, rhs)

    def divided(self, number: SSAValue, by: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Return the quotient and the remainder of integers that are not negative."""
        quotient = self.divide(number, by)
        return quotient, self.subtract(number, self.multiply(quotient, by))

    def decomposed(self, number: SSAValue, counts: Sequence[Extent]) -> list[SSAValue]:
        """Return the index in a grid of `counts` of its element `number`, in row-major order."""
        index = [self.number(0, i32)] * len(counts)
        axes = [axis for axis, count in enumerate(counts) if count != 1]
        for axis in reversed(axes[1:]):
            number, index[axis] = self.divided(number, self.size(counts[axis]))
        if axes:
            index[axes[0]] = number
        return index

    def scaled(self, tile: SSAValue, factor: float) -> SSAValue:
        """Return the product with a number."""
        return self.multiply(tile, self.number(factor, tile_of(tile).element_type))

    def compare(
        self,
        predicate: ComparisonPredicate,
        lhs: SSAValue,
        rhs: SSAValue,
        *,
        unordered: bool = False,
        unsigned: bool = False,
    ) -> SSAValue:
        """Compare each two elements; a comparison with NaN is `unordered`."""
        lhs, rhs = self.together(lhs, rhs)
        types = [tile_of(lhs).with_element(i1)]
        if is_integer(tile_of(lhs).element_type):
            op = elementwise_ops.CmpIOp(
                lhs, rhs, types=types, comparison_predicate=predicate, signedness=SIGN[unsigned]
            )
        else:
            ordering = ComparisonOrdering.UNORDERED if unordered else ComparisonOrdering.ORDERED
            op = elementwise_ops.CmpFOp(
                lhs, rhs, types=types, comparison_predicate=predicate, comparison_ordering=ordering
            )
        return self.insert(op)

    def less(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Return whether each element is less than the other, as signed integers or floats."""
        return self.compare(ComparisonPredicate.LESS_THAN, lhs, rhs)

    def is_nan(self, tile: SSAValue) -> SSAValue:
        return self.compare(ComparisonPredicate.NOT_EQUAL, tile, tile, unordered=True)

    def select(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        then, otherwise = self.together(then, otherwise)
        condition, then = self.together(condition, then)
        _, otherwise = self.together(condition, otherwise)
        return self.insert(elementwise_ops.SelectOp(condition, then, otherwise))

    def both(self, lhs: SSAValue | None, rhs: SSAValue) -> SSAValue:
        """Return the conjunction of two conditions, the first of which may be none."""
        return rhs if lhs is None else self.insert(elementwise_ops.AndIOp(*self.together(lhs, rhs)))

    def either(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.insert(elementwise_ops.OrIOp(*self.together(lhs, rhs)))

    def logarithm(self, tile: SSAValue) -> SSAValue:
        return self.insert(elementwise_ops.LogOp(tile))

    def exponential(self, tile: SSAValue) -> SSAValue:
        return self.insert(elementwise_ops.ExpOp(tile))

    def power_of_2(self, tile: SSAValue) -> SSAValue:
        return self.insert(elementwise_ops.Exp2Op(tile))

    def root(self, tile: SSAValue) -> SSAValue:
        return self.insert(elementwise_ops.SqrtOp(tile))

    def convert(self, tile: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        """Convert a tile between two element types of relax: floats are rounded, integers wrap
        around, i1 is 0 or 1."""
        result = tile_of(tile).with_element(signless_form(target))
        if tile.type == result:
            return tile
        if target == i1:
            zero = self.number(0, source)
            return self.compare(ComparisonPredicate.NOT_EQUAL, tile, zero, unordered=True)
        sign = SIGN[source == i1 or is_unsigned(source)]
        if not is_integer(source):
            if is_integer(target):
                raise NoKernel(f"no conversion from {source} to {target}")
            return self.insert(elementwise_ops.FToFOp(tile, types=[result]))
        if not is_integer(target):
            return self.insert(elementwise_ops.IToFOp(tile, types=[result], signedness=sign))
        if source.bitwidth > target.bitwidth:
            return self.insert(elementwise_ops.TruncIOp(tile, types=[result]))
        return self.insert(elementwise_ops.ExtIOp(tile, types=[result], signedness=sign))

    # Reductions

    def combine(self, reduction: TileReduction, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.apply(reduction.name, lhs, rhs, unsigned=reduction.unsigned)

    def reduce(self, tile: SSAValue, axis: int, reduction: TileReduction) -> SSAValue:
        """Reduce a tile along a dimension, which stays with size 1."""
        shape = tile_of(tile).get_shape()
        if shape[axis] == 1:
            return tile
        kept = (*shape[:axis], *shape[axis + 1 :])
        op = reduce_ops.ReduceOp(
            [tile],
            types=[[tile_of(tile).with_shape(kept)]],
            regions=[self._body(tile, reduction)],
            dim=IntegerAttr(axis, i32),
            identities=self._identity(tile, reduction),
        )
        return self.reshape(self.insert(op), (*shape[:axis], 1, *shape[axis + 1 :]))

    def scan(
        self, tile: SSAValue, axis: int, reduction: TileReduction, *, reverse: bool
    ) -> SSAValue:
        """Return the reductions of all elements up to each one along a dimension."""
        op = reduce_ops.ScanOp(
            [tile],
            types=[[tile.type]],
            regions=[self._body(tile, reduction)],
            dim=IntegerAttr(axis, i32),
            reverse=BoolAttr.from_bool(reverse),
            identities=self._identity(tile, reduction),
        )
        return self.insert(op)

    def _body(self, tile: SSAValue, reduction: TileReduction) -> Region:
        scalar = TileType((), tile_of(tile).element_type)
        block = Block(arg_types=[scalar, scalar])
        with self._in(block):
            block.add_op(control_ops.YieldOp([self.combine(reduction, *block.args)]))
        return Region(block)

    def _identity(self, tile: SSAValue, reduction: TileReduction) -> ArrayAttr[Attribute]:
        constant = _splat(reduction.identity, tile_of(tile).element_type, ())
        return ArrayAttr([next(constant.value.iter_attrs())])

    # Control flow

    @contextmanager
    def _in(self, block: Block) -> Generator[None]:
        outer, self.block = self.block, block
        yield
        self.block = outer

    def loop(
        self,
        first: SSAValue,
        end: SSAValue,
        values: Sequence[SSAValue],
        body: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """Write a loop from `first` to `end`, exclusive; `body` maps the number of the iteration
        and the values that iterations hand on to the next of these."""
        types = [value.type for value in values]
        block = Block(arg_types=[first.type, *types])
        with self._in(block):
            block.add_op(control_ops.ContinueOp([*body(block.args[0], block.args[1:])]))
        step = self.number(1, i32)
        op = control_ops.ForOp(first, end, step, [*values], types=[types], regions=[Region(block)])
        self.block.add_op(op)
        return op.results

    def share(self, part: SSAValue, parts: int, trips: Extent) -> tuple[SSAValue, SSAValue]:
        """Return the iterations, from and to, of one of several blocks that share a loop."""
        each = self.size(-(-trips // parts))
        start = self.multiply(part, each)
        return start, self.apply("minimum", self.add(start, each), self.size(trips))

    # Memory

    def view(self, pointer: SSAValue, shape: Shape, tile: Sequence[int]) -> SSAValue:
        """Return the tiles of a tensor in row-major order; elements outside of it are 0."""
        assert isinstance(pointed := tile_of(pointer).element_type, PointerType)
        strides = [volume(shape[axis + 1 :]) for axis in range(len(shape))]
        known = [
            [n if isinstance(n, int) else DYNAMIC_INDEX for n in row] for row in (shape, strides)
        ]
        tensor = TensorViewType(pointed.pointee_type, *known)
        unknown = [
            [self.size(n) for n in row if not isinstance(n, int)] for row in (shape, strides)
        ]
        whole = self.insert(view_ops.MakeTensorViewOp(pointer, *unknown, types=[tensor]))
        type = PartitionViewType(tile, tensor, padding_value=PaddingValue.ZERO)
        return self.insert(view_ops.MakePartitionViewOp(whole, types=[type]))

    def load(self, view: SSAValue, index: Sequence[SSAValue], element: Attribute) -> SSAValue:
        """Load the tile at `index`; bytes of an i1 are compared with 0."""
        op = view_ops.LoadViewTkoOp(
            view, [*index], None, memory_ordering_semantics=WEAK, optimization_hints=self.transfer
        )
        tile = self.insert(op)
        return self.convert(tile, i8, i1) if element == i1 else tile

    def gather(
        self, pointer: SSAValue, offset: SSAValue, mask: SSAValue, other: float, element: Attribute
    ) -> SSAValue:
        """Load the elements at offsets from a pointer where `mask` is true, `other` elsewhere."""
        shape, stored = tile_of(offset).get_shape(), device_element(element)
        pointers = self.broadcast(pointer, shape)
        source = self.insert(elementwise_ops.OffsetOp(pointers, offset))
        padding = self.number(other, stored, shape)
        tile = self.insert(
            memory_ops.LoadPtrTkoOp(source, mask, padding, None, memory_ordering_semantics=WEAK)
        )
        return self.convert(tile, i8, i1) if element == i1 else tile

    def in_lines(
        self, offset: SSAValue, mask: SSAValue, count: int, axis: int
    ) -> tuple[SSAValue, SSAValue]:
        """Say that each `count` elements of a matrix along a dimension are adjacent in memory, at
        aligned addresses, and loaded together or not at all."""
        same = module_ops.AssumeOp(
            mask,
            types=[mask.type],
            predicate=SameElementsAttr([count if i == axis else 1 for i in (0, 1)]),
        )
        groups = DivByAttr(count, count, axis)
        line = module_ops.AssumeOp(offset, types=[offset.type], predicate=groups)
        return self.insert(line), self.insert(same)

    def store(self, tile: SSAValue, view: SSAValue, index: Sequence[SSAValue]) -> None:
        if tile_of(tile).element_type == i1:
            tile = self.convert(tile, i1, i8)
        self.block.add_op(
            view_ops.StoreViewTkoOp(
                tile,
                view,
                [*index],
                None,
                memory_ordering_semantics=WEAK,
                optimization_hints=self.transfer,
            )
        )

    @property
    def transfer(self) -> OptimizationHintsAttr | None:
        """The hint of loads and stores of views."""
        return None if self.bulk else _hint("allow_tma", BoolAttr.from_bool(False))


def _assumed(value: SSAValue, divisor: int) -> module_ops.AssumeOp:
    return module_ops.AssumeOp(value, types=[value.type], predicate=DivByAttr(divisor))


def _hint(name: str, value: Attribute) -> OptimizationHintsAttr:
    return OptimizationHintsAttr({"default": DictionaryAttr({name: value})})


def _splat(value: float, element: Attribute, shape: Sequence[int]) -> shape_ops.ConstantOp:
    if is_integer(element):
        width = element.bitwidth
        value = int(value) % (1 << width)
        if width > 1 and value >> width - 1:
            value -= 1 << width
    return shape_ops.ConstantOp.splat(value, TileType(shape, signless_form(element)))


ALIGNMENT = 16
"""The bytes of which addresses of tensors are multiples: tiles of views are then copied by whole
lines (TMA), not element by element."""
EXTREMA = ("maximum", "minimum")
SIGN = (Signedness.SIGNED, Signedness.UNSIGNED)
"""The signedness of integers that are not, or are, unsigned."""
WEAK = MemoryOrderingSemantics.WEAK
ARITHMETIC: dict[str, tuple[Callable[..., Operation], Callable[..., Operation]]] = {
    "add": (elementwise_ops.AddFOp, elementwise_ops.AddIOp),
    "subtract": (elementwise_ops.SubFOp, elementwise_ops.SubIOp),
    "multiply": (elementwise_ops.MulFOp, elementwise_ops.MulIOp),
    "divide": (elementwise_ops.DivFOp, elementwise_ops.DivIOp),
    "maximum": (elementwise_ops.MaxFOp, elementwise_ops.MaxIOp),
    "minimum": (elementwise_ops.MinFOp, elementwise_ops.MinIOp),
}
"""The operations on floats, and those on integers."""
