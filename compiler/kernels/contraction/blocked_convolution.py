"""Convolutions in blocked layouts, such as NCHW16c: channels are stored in blocks. The terms of a
sum are next to each other in the data, and the outputs of one vector in the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.contraction import convolution as ops
from ....dialects.relax.types import static_shape
from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Shape, volume
from ..builder import Buffer, KernelBuilder, Tensor
from ..scalars import convert
from ..tensors import known
from ..tiles.cost_model import has_one_edge
from ..tiles.schedule import Edges
from ..windows.phases import WithMargin, count_of, fits, padded
from .byte_products import (
    BYTES,
    ByteProducts,
    ByteWords,
    by_channels,
    byte_products,
    words_of_constant,
)
from .contraction import Contraction, Coordinates, PackedWeights, total_type

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


MAX_CUTS, MAX_COLUMNS = 3, 12
"""MAX_CUTS is the maximum number of kinds of taps along the columns: each kind is code of its own,
and takes time to compile. MAX_COLUMNS is the number of columns of the largest tile that fits into
the registers of all processors."""
MAX_OVERHANG = 14
"""The columns of the longest tile. If the number of columns is unknown, a tile may begin at the
last one."""


# The layout is that of TVM's conv2d_NCHWc, the NCHWc convolutions of onnxruntime's MLAS, and
# nChw16c of oneDNN. A 3x3 window with padding 1 has three kinds of taps (left edge, none, right
# edge), or two with stride 2 and an even width. 5x5 with padding 2 has five and 7x7 with padding 3
# and stride 2 four: those are copied with their padding.
def is_blocked(op: ops.ConvolutionOp) -> bool:
    """Return whether `op` is a convolution whose data has blocks of channels as its last dimension.
    With one group, the result has blocks, too, or none. With several groups, the result has blocks,
    and each group consists of whole blocks."""
    data, weight, out = op.layouts()
    blocked = f"NC{op.SPATIAL}c"
    if not isinstance(op, ops.ForwardConvolutionOp) or data.axes != blocked:
        return False
    if op.groups == 1 or (shape := static_shape(op.weight.type)) is None:
        return op.groups == 1 and out.axes in (blocked[:-1], blocked)
    extents = weight.extents(shape)
    inputs, outputs = extents["I"], extents["O"] // op.groups
    whole = inputs % data.factors["c"] == 0 and outputs % out.factors.get("c", 1) == 0
    return whole and out.axes == blocked


def blocked_convolution(
    b: KernelBuilder,
    data: Tensor,
    weight: Tensor,
    windows: Sequence[Window],
    groups: int,
    block: int | None,
    element: Attribute,
    constants: Sequence[Array] = (),
) -> Tensor:
    """Return the convolution, in `groups`, of data (N, C / block, ..., block) and a weight (OI...),
    which is one of `constants`. The result has blocks of `block` outputs, or none. If the kernel
    merges the spatial dimensions, windows have one element."""
    if b.groups is not None:
        *outer, lanes = data.shape
        data = b.reshaped(data, (*outer[:2], volume(outer[2:]), lanes))
        windows = [Window("W", 1, 1, 1, 0, 0)]
    extents = data.shape[2:-1]
    out = tuple(count_of(b, window, n) for window, n in zip(windows, extents, strict=True))
    terms = volume(known(extent) for extent in weight.shape[1:])
    rows = [array.reshape(-1, terms) for array in constants]
    total = total_type(element, data, weight, terms, rows)
    exact_pairs = None
    if known(data.shape[-1]) % BYTES == 0:
        exact_pairs = byte_products(b, data, weight, element, by_channels(constants))
    if exact_pairs is not None:
        # The bytes of a word are adjacent in the data, so words are read in place.
        weight, total = words_of_constant(b, b.buffered(weight), 1), i32
    else:
        data, weight = b.as_elements(data, total), b.as_elements(weight, total)
    data = b.buffered(data)
    weights = b.constant(weight) or b.buffered(weight)
    edges = edges_of(b, data, weights, windows)
    if edges is None or edges.columns is None:
        # Words of bytes are read from a buffer without a margin.
        most = MAX_OVERHANG * windows[-1].stride * known(data.shape[-1])
        margin = 0 if isinstance(out[-1], int) or exact_pairs is not None else most
        axes = [*enumerate(windows, 2)]
        data = padded(b, data, dict(axes if edges is None else axes[-1:]), margin=margin)
    if exact_pairs is not None:
        data = ByteWords.of(data, -1)
    product = BlockedProduct(data, weights, total, windows, out, groups, block, edges)
    contraction = product.contraction(b, element)
    return contraction if exact_pairs is None else ByteProducts.of(contraction, exact_pairs)


def edges_of(
    b: KernelBuilder, data: Tensor, weight: Tensor, windows: Sequence[Window]
) -> Edges | None:
    """Return the edges of an image that windows reach beyond, if the products can leave out the
    taps there. For that, weights have to be packed, and tiles have to have columns of one edge
    only. If the number of columns is not known, all columns have to be in memory."""
    *rows, columns = data.shape[2:-1]
    *above, last = windows
    if b.constant(weight) is None or data.shape[-1] == 1:
        return None
    rows_fit = all(fits(b, window, extent) for window, extent in zip(above, rows, strict=True))
    if rows_fit and (fits(b, last, columns) or not isinstance(columns, int)):
        return None
    if not isinstance(columns, int):
        return Edges([*above, replace(last, before=0, after=0)], [*rows, None])
    edges = Edges(windows, [*rows, columns])
    if len(edges.cuts()) > MAX_CUTS:
        return None
    # The schedule is not chosen yet, so there has to be a tile that fits into any register file and
    # has one edge. For 13 columns with 7 at an edge (3 taps, dilation and padding 7) there is none,
    # and the cost model would have no candidate.
    sizes = range(1, MAX_COLUMNS + 1)
    count = last.count(columns)
    return edges if any(has_one_edge(m, count, edges.most) for m in sizes) else None


@dataclass(frozen=True)
class BlockedProduct:
    """The products of a weight and the columns of an image in a blocked layout."""

    data: Tensor
    """The data, padded as far as windows reach; with `edges`, without this padding."""
    weight: Buffer
    total: Attribute
    """The type of products and sums."""
    windows: Sequence[Window]
    out: Shape
    """The spatial extents of the result."""
    groups: int
    block: int | None
    """The outputs of a block, if the result has blocks."""
    edges: Edges | None = None
    """The edges of the data whose padding is not in memory; None if there are none."""

    @property
    def outputs(self) -> int:
        """The output channels of a group."""
        return known(self.weight.shape[0]) // self.groups

    @property
    def terms(self) -> tuple[int, ...]:
        """The extents of the terms of a sum: blocks of channels, taps, channels of a block."""
        blocks, block = known(self.data.shape[1]) // self.groups, known(self.data.shape[-1])
        return (blocks, *(window.size for window in self.windows), block)

    def lhs(self, b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        # With blocks of 16 channels, the weight at (o, c, y, x) belongs to term
        #
        #     (c // 16, y, x, c % 16)
        #
        # so that terms are in the order of the data in memory, not in that of OIHW.
        blocks, *taps, lane = b.unflat(k, self.terms)
        channel = blocks * self.terms[-1] + lane
        inputs = volume(self.terms) // volume(self.terms[1:-1])
        shape = (self.groups, self.outputs, inputs, *self.terms[1:-1])
        value = b.read(b.reshaped(self.weight, shape), [batch[1], m, channel, *taps])
        return convert(b, value, self.total)

    def rhs(self, b: KernelBuilder, terms: Sequence[Index], at: Coordinates) -> SSAValue:
        blocks, *taps, lane = terms
        pairs = enumerate(zip([*at.rows, at.column], taps, strict=True))
        if self.edges is not None:
            place = [self.edges.place(b, axis, i, tap) for axis, (i, tap) in pairs]
        else:
            windows = self.windows
            place = [
                i * windows[axis].stride + tap * windows[axis].dilation for axis, (i, tap) in pairs
            ]
        image, group = at.batch
        blocks = group * self.terms[0] + blocks
        value = b.read(self.data, [image, blocks, *place, lane])
        return convert(b, value, self.total)

    def index_of(self, b: KernelBuilder, at: Coordinates) -> list[Index]:
        (image, group), m, row, column = at
        m = group * self.outputs + m
        if self.block is None:
            return [image, m, *row, column]
        # Lanes of a vector are adjacent m of one block, so a vector is stored as a whole
        # (`rows_together`); a vector that crosses two blocks is transposed and stored by columns.
        return [image, m // self.block, *row, column, m % self.block]

    def coordinates_of(self, b: KernelBuilder, index: Sequence[Index]) -> Coordinates:
        if self.block is None:
            image, m, *row, column = index
        else:
            image, blocks, *row, column, lane = index
            m = blocks * self.block + lane
        group = m // self.outputs
        return Coordinates([image, group], m % self.outputs, row, column)

    def matrices(self, weight: Array) -> Array:
        """Return the elements of the weight as a matrix whose columns are the terms."""
        import numpy as np

        blocks, *taps, block = self.terms
        # (O, I / 16, 16, H, W) becomes (O, I / 16, H, W, 16), the order of `lhs`.
        split = weight.reshape(-1, blocks, block, *taps)
        return np.moveaxis(split, 2, -1).reshape(self.groups, self.outputs, volume(self.terms))

    def weights(self, b: KernelBuilder) -> PackedWeights | None:
        """Return the matrices of the groups, if the weight is a constant."""
        if (constant := b.constant(self.weight)) is None:
            return None
        return PackedWeights(constant, True, self.matrices, self.groups, lambda batch: batch[1])

    def contraction(self, b: KernelBuilder, element: Attribute) -> Contraction:
        """Return the products as a contraction."""
        *rows, columns = self.out
        images = self.data.shape[0]
        outputs = self.groups * self.outputs
        shape = (images, outputs, *self.out)
        if self.block is not None:
            shape = (images, outputs // self.block, *self.out, self.block)
        return Contraction(
            shape=shape,
            element=element,
            total=self.total,
            batch=(images, self.groups),
            m=self.outputs,
            rows=(*rows,),
            columns=columns,
            terms=self.terms,
            read_lhs=self.lhs,
            rhs=self.rhs,
            index_of=self.index_of,
            coordinates_of=self.coordinates_of,
            rhs_along_terms=True,
            weights=self.weights(b),
            rows_together=self.block or 1,
            margin=MAX_OVERHANG if isinstance(self.data, WithMargin) else 0,
            edges=self.edges,
        )
