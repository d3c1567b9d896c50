"""Tile programs of products: a tile of sums for each block, and what is fused behind them.

A block multiplies tiles of the operands along the terms, and adds to sums in registers. Where there
are fewer tiles than multiprocessors, several blocks share the terms of a tile; a second entry adds
their sums, in a fixed order, and computes what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, f32, i8, i32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ....dialects.cuda_tile.elementwise_ops import FToFOp
from ....dialects.cuda_tile.reduce_ops import MmaIOp
from ....dialects.relax.interfaces import Elementwise
from ....dialects.relax.types import is_integer, is_unsigned, tensor_type
from ....dialects.tir.functions import Extent, Shape, volume
from ....passmanager.releases.floats import FloatTF32Type
from ..choices import NoKernel
from ..tiles.schedules import nominal
from .product_frame import Axis, ProductBlock, ProductFrame, Reader, Values
from .row_frame import is_fill
from .tile_builder import TileGroup, TileLaunch, TileLaunches
from .tile_costs import UNKNOWN, ProductSpace, ProductTiles
from .tile_writer import SIGN, TileWriter, tile_of

__all__ = ["Source", "Terms", "TileProduct", "operand", "product_kernel", "terms_of"]

TOGETHER = 8
"""The rows of tiles that are computed column by column: their operands stay in the second cache."""
MAX_BYTES = 1 << 15
"""The products of bytes whose sum an i32 holds."""

Source: TypeAlias = Callable[[ProductBlock], Reader]
"""A function that prepares an operand, and returns the function that computes its matrices."""


@dataclass(frozen=True)
class Terms:
    """How products are added."""

    name: str
    operand: Attribute
    total: Attribute
    unsigned: tuple[bool, bool] = (False, False)


@dataclass(frozen=True)
class TileProduct:
    """A batch of products of matrices: lhs of m rows and k terms, rhs of k terms and n columns."""

    op: Operation
    batch: Shape
    m: Extent
    n: Extent
    k: Extent
    terms: Terms
    lhs: Source
    rhs: Source
    frame: ProductFrame
    """The frame of the result and of what is computed of it."""
    gathered: str = ""
    """The side, m or n, of the operand that is gathered, if one is."""


def terms_of(group: TileGroup, op: Operation, k: Extent) -> Terms:
    """Return how the products of the first two operands of `op` are added; NoKernel for types
    without instructions. f32 are rounded to tf32 for a target with that feature only."""
    lhs, rhs = (tensor_type(v).element_type for v in op.operands[:2])
    result = tensor_type(op.results[0]).element_type
    if is_integer(lhs) and is_integer(rhs):
        if lhs.bitwidth == rhs.bitwidth == 8 and is_integer(result):
            if result.bitwidth <= 32 or (isinstance(k, int) and k <= MAX_BYTES):
                return Terms("i8", i8, i32, (is_unsigned(lhs), is_unsigned(rhs)))
    elif lhs == rhs and not is_integer(result):
        if isinstance(lhs, Float32Type):
            tf32 = group.target.has("tf32")
            return Terms("tf32", FloatTF32Type(), f32) if tf32 else Terms("f32", f32, f32)
        if isinstance(lhs, Float16Type | BFloat16Type):
            return Terms("f16", lhs, f32)
        if isinstance(lhs, Float64Type):
            return Terms("f64", lhs, lhs)
    raise NoKernel(f"tiles of {lhs} and {rhs} have no product of {result}")


def operand(
    value: SSAValue, frame: ProductFrame, terms: Terms, k: Extent, *, is_lhs: bool
) -> Source:
    """Return an operand of a product that is loaded, or computed element by element."""

    def source(block: ProductBlock) -> Reader:
        w, values = block.writer, Values(block, frame)
        read = values.reader(value)
        shape = tuple(block.tile[axis] for axis in frame.sides)
        turned = frame.sides != (("m", "k") if is_lhs else ("k", "n"))
        computed = not isinstance(value, BlockArgument)
        exact = isinstance(k, int) and k % block.tile["k"] == 0

        def tile(number: SSAValue | None) -> SSAValue:
            assert number is not None
            result = converted(w, w.broadcast(read(number), shape), value, terms)
            result = w.transpose(result) if turned else result
            # A function of the zeros beyond the last term may be another number, or NaN.
            return inside(block, number, result, k, is_lhs) if computed and not exact else result

        return tile

    return source


def converted(w: TileWriter, tile: SSAValue, value: SSAValue, terms: Terms) -> SSAValue:
    """Return a tile of `value` in the type that is multiplied."""
    if isinstance(terms.operand, FloatTF32Type):
        return w.insert(FToFOp(tile, types=[tile_of(tile).with_element(terms.operand)]))
    return w.convert(tile, tensor_type(value).element_type, terms.operand)


def inside(
    block: ProductBlock, number: SSAValue, tile: SSAValue, k: Extent, is_lhs: bool
) -> SSAValue:
    """Return a tile of an operand with zeros beyond the last term."""
    w, count = block.writer, block.tile["k"]
    mask = w.less(block.starts("k", number), w.size(k))
    mask = w.reshape(mask, (1, count) if is_lhs else (count, 1))
    type = tile_of(tile)
    return w.select(mask, tile, w.number(0, type.element_type, type.get_shape()))


def product_kernel(group: TileGroup, product: TileProduct) -> TileLaunches:
    """Return the tile program of a product; NoKernel if the group has other operations."""
    others = [op for op in group.ops if op is not product.op]
    if not all(isinstance(op, Elementwise) or is_fill(op) for op in others):
        raise NoKernel("a group of a product and operations that are not element-wise")
    for value in group.results:
        if isinstance(value, BlockArgument) or group.sizes[value] != product.frame.shape:
            raise NoKernel("a result that is not computed of the product")
    if any(n == 0 for value in group.tensors for n in group.sizes[value]):
        raise NoKernel("an empty tensor")
    return ProductPlan(group, product, tiles_of(group, product)).kernel()


def tiles_of(group: TileGroup, product: TileProduct) -> ProductTiles:
    """Choose the sizes of tiles."""
    terms, host = product.terms, group.host
    batch = volume(product.batch)
    sizes = {"batch": batch, "m": product.m, "n": product.n, "k": product.k}
    space = ProductSpace(
        **{name: nominal(size, UNKNOWN[name]) for name, size in sizes.items()},
        kind_of_terms=terms.name,
        bytes=bytes_of(terms),
        target=group.target,
        known=all(isinstance(size, int) for size in sizes.values()),
        gathered=product.gathered,
    )
    tiles = host.decide(space)
    text = f"a block computes {tiles.m}x{tiles.n} sums, {tiles.k} terms at a time"
    if tiles.parts > 1:
        text += f", and {tiles.parts} blocks share the terms"
    host.remark("analysis", "ProductTiles", text, **vars(tiles))
    return tiles


def bytes_of(terms: Terms) -> int:
    return {"i8": 1, "f16": 2, "f64": 8}.get(terms.name, 4)


@dataclass(frozen=True)
class ProductPlan:
    """A product and the sizes of its tiles."""

    group: TileGroup
    product: TileProduct
    tiles: ProductTiles

    def kernel(self) -> TileLaunches:
        if self.tiles.parts == 1:
            return TileLaunches([self.whole()])
        shape = (self.tiles.parts, *self.product.batch, self.product.m, self.product.n)
        combination = replace(self, tiles=replace(self.tiles, m=16, warps=4))
        launches = [self.partial(shape), combination.combined(shape)]
        return TileLaunches(launches, [(shape, self.product.terms.total)])

    # Entries

    def whole(self) -> TileLaunch:
        """Return the launch of an entry that computes all."""
        w = self.writer(self.group.tensors)
        block = self.block(w)
        end = w.size(self.steps, hidden=self.steps != 1)
        self.finish(block, self.sums(block, (w.size(0), end)))
        return self.launch(w, range(len(self.group.tensors)))

    def partial(self, shape: Shape) -> TileLaunch:
        """Return the launch of an entry that stores the sums of parts of the terms."""
        args, total = self.group.func.args, self.product.terms.total
        w = self.writer(args, "_parts", [total])
        block, part = self.block(w), w.block_indices()[1]
        sums = self.sums(block, w.share(part, self.tiles.parts, self.steps))
        sides = (self.tiles.m, self.tiles.n)
        view = w.view(w.pointers[-1], shape, [*(1,) * (len(shape) - 2), *sides])
        tile = w.reshape(sums, [*(1,) * (len(shape) - 2), *sides])
        w.store(tile, view, [part, *self.place(block)])
        tensors = [*range(len(args)), len(self.group.tensors)]
        return self.launch(w, tensors, self.tiles.parts)

    def combined(self, shape: Shape) -> TileLaunch:
        """Return the launch of an entry that adds the parts, one after the other."""
        total = self.product.terms.total
        w = self.writer(self.group.tensors, "", [total])
        block, sides = self.block(w), (self.tiles.m, self.tiles.n)
        view = w.view(w.pointers[-1], shape, [*(1,) * (len(shape) - 2), *sides])

        def step(part: SSAValue, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
            tile = w.load(view, [part, *self.place(block)], total)
            return [w.add(sums[0], w.reshape(tile, sides))]

        zero = w.number(0, total, sides)
        (sums,) = w.loop(w.size(0), w.size(self.tiles.parts), [zero], step)
        self.finish(block, sums)
        return self.launch(w, range(len(self.group.tensors) + 1))

    # Their parts

    @property
    def steps(self) -> Extent:
        """The number of tiles of terms."""
        return -(-self.product.k // self.tiles.k)

    @property
    def counts(self) -> tuple[Extent, Extent]:
        """The number of tiles along the rows and the columns."""
        return -(-self.product.m // self.tiles.m), -(-self.product.n // self.tiles.n)

    def writer(
        self, values: Sequence[SSAValue], suffix: str = "", more: Sequence[Attribute] = ()
    ) -> TileWriter:
        elements = [tensor_type(value).element_type for value in values]
        name = f"{self.group.func.sym_name.data}{suffix}"
        return TileWriter(name, [*elements, *more], warps=self.tiles.warps)

    def launch(self, w: TileWriter, tensors: Sequence[int], parts: int = 1) -> TileLaunch:
        grid = (volume((*self.product.batch, *self.counts)), parts)
        return TileLaunch(w.finish(), grid, tensors, [*w.sizes])

    def block(self, w: TileWriter) -> ProductBlock:
        pointers = dict[SSAValue, SSAValue](zip(self.group.func.args, w.pointers))
        tile: dict[Axis, int] = {"m": self.tiles.m, "n": self.tiles.n, "k": self.tiles.k}
        return ProductBlock(self.group, w, tile, self.index(w), pointers, self.product.batch)

    def index(self, w: TileWriter) -> Mapping[Axis, SSAValue]:
        """Return the tile of a block: batch by batch, and in each several rows of tiles together,
        whose tiles are computed column by column."""
        number, (rows, columns) = w.block_indices()[0], self.counts
        index: dict[Axis, SSAValue] = {}
        if volume(self.product.batch) != 1:
            batch, number = w.divided(number, w.size(rows * columns))
            index |= dict(enumerate(w.decomposed(batch, self.product.batch)))
        else:
            index |= dict(enumerate([w.size(0)] * len(self.product.batch)))
        if isinstance(rows, int) and rows <= TOGETHER:
            column, row = w.divided(number, w.size(rows))
            return index | {"m": row, "n": column}
        group, inside = w.divided(number, w.scaled(w.size(columns), TOGETHER))
        first = w.scaled(group, TOGETHER)
        height = w.apply("minimum", w.subtract(w.size(rows), first), w.size(TOGETHER))
        column, row = w.divided(inside, height)
        return index | {"m": w.add(first, row), "n": column}

    def place(self, block: ProductBlock) -> list[SSAValue]:
        """Return the index of the tile among the sums of a part."""
        return [block.index[axis] for axis in (*range(len(self.product.batch)), "m", "n")]

    def sums(self, block: ProductBlock, span: tuple[SSAValue, SSAValue]) -> SSAValue:
        """Write the loop over the tiles of terms in `span`."""
        w, terms = block.writer, self.product.terms
        lhs, rhs = self.product.lhs(block), self.product.rhs(block)

        def step(number: SSAValue, sums: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return [multiply_add(w, lhs(number), rhs(number), sums[0], terms)]

        zero = w.number(0, terms.total, (self.tiles.m, self.tiles.n))
        return w.loop(*span, [zero], step)[0]

    def finish(self, block: ProductBlock, sums: SSAValue) -> None:
        """Compute and store the results, of the sums."""
        (result,) = self.product.op.results
        element, w = tensor_type(result).element_type, block.writer
        tile = w.convert(sums, self.product.terms.total, element)
        values = Values(block, self.product.frame, {result: lambda _: tile})
        count = len(self.group.func.args)
        for value, pointer in zip(self.group.results, w.pointers[count:], strict=False):
            values.store(values.reader(value)(None), value, pointer)


def multiply_add(
    w: TileWriter, lhs: SSAValue, rhs: SSAValue, sums: SSAValue, terms: Terms
) -> SSAValue:
    if terms.operand != i8:
        return w.product(lhs, rhs, sums)
    left, right = (SIGN[unsigned] for unsigned in terms.unsigned)
    return w.insert(MmaIOp(lhs, rhs, sums, signedness_lhs=left, signedness_rhs=right))
