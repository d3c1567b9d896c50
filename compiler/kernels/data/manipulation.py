"""Legalizations of operations that move elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, MemRefType, VectorType, i1, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from ....dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp, split_slices
from ....dialects.relax.data.manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    FlattenOp,
    FlipOp,
    LayoutTransformOp,
    RepeatOp,
    ReshapeOp,
    ReverseSequenceOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
)
from ....dialects.relax.layout import Layout
from ....dialects.relax.reduction import nn
from ....dialects.relax.shapes import normalize_axes, normalize_axis
from ....dialects.relax.types import is_integer, tensor_type
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, UnknownExtent, is_at_most, volume
from ....dialects.tir.ops import ForKind
from ..builder import (
    Buffer,
    Element,
    Elements,
    KernelBuilder,
    Legalization,
    Scheduled,
    Store,
    Tensor,
    broadcast_index,
)
from ..elementwise.elementwise import require_broadcast
from ..merged_dimensions import merged_order, order_of
from ..scalars import as_index, fills_bytes
from ..tensors import Concatenated, known_shape, relayout
from ..tiles.transposed import Transposed
from .bounds import check_lengths, require_size

# Tensors that have the elements of others several times: numpy's `tile` and `repeat`.


MIN_LANES = 4
"""The shortest vectors of data whose lanes are repeated by shuffles."""


@dataclass(eq=False)
class Tiled(Scheduled):
    """The elements of `data` over and over along each dimension: a b c a b c.

    Rows that fill vectors are copied as a whole.
    """

    data: Tensor

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        rank = len(self.data.shape)
        # Leading dimensions that the data lacks have copies of all of it.
        last, sizes = index[len(index) - rank :], self.shape[len(index) - rank :]
        places = zip(last, self.data.shape, sizes, strict=True)
        # An unknown extent may be 0, by which nothing can be divided.
        return b.read(
            self.data, [i if n == size else b.mod(i, b.max(n, 1)) for i, n, size in places]
        )

    def write(self, b: KernelBuilder, store: Store) -> None:
        width = self.data.shape[-1] if self.data.shape else 1
        if self.shape[-1:] == (width,) or not isinstance(width, int) or width < b.lanes:
            with b.elements(self.shape, b.element_lanes) as index:
                store(index, self.read(b, index))
            return
        *outer, last = self.shape
        # No modulo in the inner loop: a copy is a contiguous row. `last` is a multiple of `width`.
        with b.loops([*outer, last // width]) as (*index, copy):
            row = Tiled((*outer, width), self.element, self.data)
            with b.elements([width], b.element_lanes) as (i,):
                place = copy * width + i
                store([*index, place], row.read(b, [*index, i]))


@dataclass(eq=False)
class Repeated(Scheduled):
    """Each element of `data` `repeats` times in a row along the last dimension: a a b b c c."""

    data: Tensor
    repeats: int

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.read(self.data, [*index[:-1], index[-1] // self.repeats])

    def write(self, b: KernelBuilder, store: Store) -> None:
        extent = self.data.shape[-1]
        lanes = min(b.lanes, extent) if isinstance(extent, int) else b.lanes
        # The stores of `repeats` vectors are unrolled, so there must not be more of them than
        # lanes.
        if lanes < MIN_LANES or self.repeats > lanes or not fills_bytes(self.element):
            with b.loops(self.shape) as index:
                store(index, self.read(b, index))
            return
        self.write_vectors(b, store, 1 << lanes.bit_length() - 1)

    def write_vectors(self, b: KernelBuilder, store: Store, lanes: int) -> None:
        """Write loops over vectors of `lanes` elements of the data.

        If the extent is not known, it may be less than `lanes` at run time. Then write also loops
        over vectors of half as many lanes, and so on down to single elements.
        """
        extent = self.data.shape[-1]
        if isinstance(extent, int):
            self.write_rows(b, store, lanes)
            return
        fits = b.less(lanes - 1, extent)
        with b.when([fits]):
            self.write_rows(b, store, lanes)
        with b.when([b.negation(fits)]):
            if lanes // 2 >= max(MIN_LANES, self.repeats):
                self.write_vectors(b, store, lanes // 2)
            else:
                with b.loops(self.shape) as index:
                    store(index, self.read(b, index))

    def write_rows(self, b: KernelBuilder, store: Store, lanes: int) -> None:
        """Write loops over vectors of `lanes` elements of the data, whose rows have at least as
        many."""
        *outer, extent = self.data.shape
        row = b.alloc((lanes,), self.element, "local")
        rows = b.alloc((self.repeats, lanes), self.element, "local")
        with b.loops([*outer, b.ceildiv(extent, lanes)]) as (*index, chunk):
            # The last vector may overlap the one before it. Its copies, which begin at
            # `start * repeats`, then overlap those of that vector.
            start = b.chunk_start(chunk, lanes, extent)
            with b.loop(lanes, ForKind.VECTORIZED) as lane:
                b.store(b.read(self.data, [*index, start + lane]), row, [lane])
            repeat_lanes(b, row, rows, lanes, self.repeats)
            first = start * self.repeats
            with b.loop(self.repeats, ForKind.UNROLLED) as i:
                with b.loop(lanes, ForKind.VECTORIZED) as lane:
                    place = first + i * lanes + lane
                    store([*index, place], b.load(rows, [i, lane]))


def repeat_lanes(
    b: KernelBuilder, source: SSAValue, target: SSAValue, lanes: int, repeats: int
) -> None:
    """Store each of the `lanes` elements of `source` `repeats` times in a row into the rows of
    `target`."""
    zero = b.index(0)
    assert isa(source.type, MemRefType)
    type = VectorType(source.type.element_type, [lanes])
    row = b.insert(vector.LoadOp(source, [zero], type)).results[0]
    for i in range(repeats):
        # To repeat a b c d twice, the masks are 0 0 1 1 and 2 2 3 3.
        mask = [(i * lanes + lane) // repeats for lane in range(lanes)]
        numbers = DenseArrayBase.from_list(i64, mask)
        new = b.insert(vector.ShuffleOp(row, row, numbers, result_type=type)).results[0]
        b.insert(vector.StoreOp(new, target, [b.index(i), zero]))


def moved(op: Operation, b: KernelBuilder, read: Element, number: int = 0) -> Tensor:
    """Return result `number` of `op`, whose elements `read` returns."""
    result = op.results[number]
    return Elements(b.shape_of(result), tensor_type(result).element_type, read)


Part: TypeAlias = tuple[Index, Index]
"""The position of the first element of a slice along an axis, and the step."""


def sliced(
    op: Operation, b: KernelBuilder, data: Tensor, parts: Mapping[int, Part], number: int = 0
) -> Tensor:
    """Return result `number` of `op`, a slice of `data`; `parts` has the first position and the
    step by axis."""

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        for axis, (first, step) in parts.items():
            place[axis] = index[axis] * step + first
        return b.read(data, place)

    return moved(op, b, read, number)


# One operand, each element once


def reshape(op: Operation, b: KernelBuilder, data: Tensor, *_: Tensor) -> Tensor:
    """Read the same elements, in row-major order, in the shape of the result."""
    shape = b.shape_of(op.results[0])
    b.require_equal(volume(data.shape), volume(shape), "the number of elements changes", op)
    return reshaped(b, data, shape)


def reshaped(b: KernelBuilder, data: Tensor, shape: Shape) -> Tensor:
    """Return `data` in another shape: a view of its buffer, or else with its indices recomputed."""
    if isinstance(b.bound.get(data, data), Buffer):
        return b.reshaped(data, shape)
    if 0 in shape or 0 in data.shape:
        return Elements(shape, data.element, lambda b, _: b.read(data, [0] * len(data.shape)))
    # Dimensions that both shapes have keep their index. A row-major position in all dimensions
    # would have to be divided for each element, and vectors would have no known stride:
    #
    #     (2, 12, 5) of (2, 3, 4, 5):    [i, j, k] is [i, j / 4, j % 4, k]
    parts = [*common_parts(shape, data.shape)]

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place: list[Index] = []
        for new, old in parts:
            sizes, indices = shape[new], index[new]
            big = [i for i, size in zip(indices, sizes, strict=True) if size != 1]
            olds = data.shape[old]
            if len(big) == 1 == sum(size != 1 for size in olds):
                place += [0 if size == 1 else big[0] for size in olds]
            else:
                place += b.unflat(b.flat(indices, sizes), olds)
        return b.read(data, place)

    return Elements(shape, data.element, read)


def common_parts(lhs: Shape, rhs: Shape) -> Iterator[tuple[slice, slice]]:
    """Split two shapes into the shortest consecutive ranges of dimensions that have equal numbers
    of elements; yield each pair of ranges.

    (2, 12, 5) and (2, 3, 4, 5): dimensions 0 and 0, 1 and 1:3, 2 and 3.
    """
    i = j = 0
    while i < len(lhs) or j < len(rhs):
        start, other = i, j
        i, j = min(i + 1, len(lhs)), min(j + 1, len(rhs))
        # Sizes are compared as expressions: n * m and m * n are equal. Two symbols are not, though
        # their values may be.
        while (left := volume(lhs[start:i])) != (right := volume(rhs[other:j])):
            if i < len(lhs) and (j == len(rhs) or is_smaller(left, right)):
                i += 1
            elif j < len(rhs):
                j += 1
            else:  # sizes that are equal, but not as expressions
                break
        yield slice(start, i), slice(other, j)


def is_smaller(lhs: Extent, rhs: Extent) -> bool:
    """Return whether `lhs` is less than `rhs`. If that is not known, return whether `lhs` has no
    symbols."""
    try:
        return lhs < rhs
    except UnknownExtent:
        return isinstance(lhs, int)


def transpose(op: TransposeOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axes = order_of(op)
    if b.groups is not None:
        axes = merged_order(axes, b.groups)
    if (constant := b.constant(data)) is not None:
        # A constant too large for `fold-constant`: callers pass it transposed, and a product that
        # reads it packs it like any other constant.
        sizes = known_shape(data.shape)
        shape = (*(sizes[axis] for axis in axes),)
        return b.converted(
            constant, shape, data.element, lambda array: array.reshape(sizes).transpose(axes)
        )
    return Transposed.of(data, axes)


def layout_transform(op: LayoutTransformOp, _: KernelBuilder, data: Tensor) -> Tensor:
    src, dst = Layout.parse(op.src_layout), Layout.parse(op.dst_layout)
    if not src.factors and not dst.factors:
        return Transposed.of(data, [src.axes.index(axis) for axis in dst.axes])
    return relayout(data, src, dst)


def flip(op: FlipOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axes = normalize_axes(op.axis, len(data.shape))

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        for axis in axes:
            place[axis] = data.shape[axis] - 1 - index[axis]
        return b.read(data, place)

    return moved(op, b, read)


def reverse_sequence(
    op: ReverseSequenceOp, b: KernelBuilder, data: Tensor, lengths: Tensor
) -> Tensor:
    """Reverse the first `lengths[batch]` elements along the axis."""
    rank = len(data.shape)
    seq, batch = op.seq_axis % rank, op.batch_axis % rank
    if 0 not in data.shape:
        check_lengths(op, b, op.seq_lengths, lengths, data.shape[seq])

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        at = index[seq]
        length = as_index(b, b.read(lengths, [index[batch]]))
        place = [*index]
        place[seq] = b.select(b.less(at, length), length - 1 - at, at)
        return b.read(data, place)

    return moved(op, b, read)


# One operand, elements repeated


def broadcast_to(op: Operation, b: KernelBuilder, data: Tensor, *_: Tensor) -> Tensor:
    shape = b.shape_of(op.results[0])
    require_broadcast(op, b, data.shape, shape)
    return moved(op, b, lambda b, index: b.read(data, broadcast_index(b, index, data.shape, shape)))


def tile(op: Operation, b: KernelBuilder, data: Tensor) -> Tensor:
    return Tiled(b.shape_of(op.results[0]), data.element, data)


def repeat(op: RepeatOp, b: KernelBuilder, data: Tensor) -> Tensor:
    repeats, axis = max(op.repeats, 1), 0
    if op.axis is None:
        data = reshaped(b, data, (volume(data.shape),))
    else:
        axis = normalize_axis(op.axis, len(data.shape))
    if axis == len(data.shape) - 1 and op.repeats > 0:
        return Repeated((*data.shape[:-1], data.shape[-1] * repeats), data.element, data, repeats)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [*index]
        place[axis] = index[axis] // repeats
        return b.read(data, place)

    return moved(op, b, read)


# Several tensors


def concatenate(op: ConcatenateOp, b: KernelBuilder, *parts: Tensor) -> Tensor:
    shape = b.shape_of(op.result)
    axis = op.axis % len(shape)
    if b.groups is not None:
        axis = next(i for i, group in enumerate(b.groups) if axis - len(shape) in group)
    sizes = [
        # Equal sizes may be known of one operand only: that one gives loops with static bounds.
        min(column, key=lambda n: not isinstance(n, int))
        for column in zip(*(p.shape for p in parts))
    ]
    for other, size in enumerate(sizes):
        if other != axis:
            for part in parts:
                b.require_equal(part.shape[other], size, "the operands differ in size", op)
    sizes[axis] = sum(part.shape[axis] for part in parts)
    return Concatenated(tuple(sizes), tensor_type(op.result).element_type, axis, parts)


def stack(op: StackOp, b: KernelBuilder, *tensors: Tensor) -> Tensor:
    shape = b.shape_of(op.result)
    axis = op.axis % len(shape)
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    expected = (*shape[:axis], *shape[axis + 1 :])
    for tensor in tensors:
        for size, other in zip(tensor.shape, expected, strict=True):
            b.require_equal(size, other, "the operands differ in size", op)
    parts = [reshaped(b, tensor, one) for tensor in tensors]
    return Concatenated(shape, tensor_type(op.result).element_type, axis, parts)


def split(op: SplitOp, b: KernelBuilder, data: Tensor) -> tuple[Tensor, ...]:
    axis = op.axis % len(data.shape)
    bounds = bounds_of_parts(op, b, data.shape[axis], axis)

    def part(number: int, start: Index, end: Index) -> Tensor:
        size = b.shape_of(op.results[number])[axis]
        require_size(op, b, size, b.max(0, end - start), axis)
        return sliced(op, b, data, {axis: (start, 1)}, number)

    return tuple(part(number, *ends) for number, ends in enumerate(bounds))


def bounds_of_parts(
    op: SplitOp, b: KernelBuilder, size: Extent, axis: int
) -> Sequence[tuple[Index, Index]]:
    """Return the first and the last bound of each part of a dimension."""
    sections = 0 if op.sections is None else op.sections
    if isinstance(size, int):
        parts = split_slices(size, op.indices, sections)
        return [part.indices(size)[:2] for part in parts]
    if op.indices is not None:
        bounds = [b.max(0, size + n) if n < 0 else b.min(n, size) for n in op.indices]
    else:
        length = (size + (sections - 1)) // sections
        if not is_at_most(length * (sections - 1), size):
            fits = b.less(length * (sections - 1) - 1, size)
            b.require(fits, f"{op.name}: dimension {axis} does not split into {sections}", op)
        bounds = [length * i for i in range(1, sections)]
    return [*zip([0, *bounds], [*bounds, size], strict=True)]


MANIPULATION: dict[type[Operation], Legalization] = {
    BroadcastToOp: broadcast_to,
    ConcatenateOp: concatenate,
    ExpandDimsOp: reshape,
    FlattenOp: reshape,
    FlipOp: flip,
    LayoutTransformOp: layout_transform,
    RepeatOp: repeat,
    ReshapeOp: reshape,
    ReverseSequenceOp: reverse_sequence,
    SplitOp: split,
    SqueezeOp: reshape,
    StackOp: stack,
    TileOp: tile,
    TransposeOp: transpose,
    nn.BatchFlattenOp: reshape,
}


# The legalization of padding.


def pad(op: nn.PadOp, b: KernelBuilder, data: Tensor) -> Tensor:
    pairs = [*zip(op.pad_width[::2], op.pad_width[1::2], strict=True)]
    require_kept(op, b, data, pairs)
    if op.pad_mode != "constant":
        return replicated(data, pairs, op.pad_mode)
    value, element = op.pad_value, data.element
    if is_integer(element):
        value = wrapped(int(value), element)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = [i - before for i, (before, _) in zip(index, pairs, strict=True)]
        conditions: list[SSAValue] = []
        for i, size, (before, after) in zip(place, data.shape, pairs, strict=True):
            if before > 0:
                conditions.append(b.less(-1, i))
            if after > 0:
                conditions.append(b.less(i, size))
        return b.choose(conditions, lambda: b.read(data, place), lambda: b.number(value, element))

    return moved(op, b, read)


def require_kept(
    op: nn.PadOp, b: KernelBuilder, data: Tensor, pairs: Sequence[tuple[int, int]]
) -> None:
    """Assert that the padding does not remove more elements than a dimension has, and does not copy
    elements of an empty dimension."""
    for axis, (size, (before, after)) in enumerate(zip(data.shape, pairs, strict=True)):
        copies = op.pad_mode != "constant" and max(before, after) > 0
        minimum = max(0, -before) + max(0, -after) + copies
        if not isinstance(size, int) and minimum:
            message = f"{op.name}: dimension {axis} has fewer than {minimum} elements"
            b.require(b.less(minimum - 1, size), message, op)


def replicated(data: Tensor, pairs: Sequence[tuple[int, int]], mode: str) -> Tensor:
    """Return the data, padded with its own elements.

    The columns of the padding are separate parts, so that the other columns are copied as rows.
    """
    shape = tuple(sum(pair, size) for size, pair in zip(data.shape, pairs, strict=True))

    def source(b: KernelBuilder, axis: int, i: Index) -> Index:
        """Return the position in the data of position `i` in the result, along `axis`."""
        before, after = pairs[axis]
        cut = max(0, -before)
        kept = data.shape[axis] - cut - max(0, -after)
        at = i - max(0, before)
        if before > 0 or after > 0:
            at = inside(b, at, kept, mode, max(0, before))
        return at + cut

    def columns(start: Extent, end: Extent, shift: int | None = None) -> Tensor:
        """Return columns `start` to `end` of the result: column i is column `i - shift` of the
        data, or if `shift` is None, a column of the padding."""

        def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
            *outer, i = index
            place = [source(b, axis, at) for axis, at in enumerate(outer)]
            last = source(b, len(outer), i + start) if shift is None else i + (start - shift)
            return b.read(data, [*place, last])

        return Elements((*shape[:-1], end - start), data.element, read)

    if not shape:
        return data
    start, end = max(0, pairs[-1][0]), shape[-1] - max(0, pairs[-1][1])
    parts = [columns(0, start), columns(start, end, pairs[-1][0]), columns(end, shape[-1])]
    return Concatenated(shape, data.element, len(shape) - 1, parts)


def inside(
    b: KernelBuilder, place: Index, size: Index, mode: str, before: int | None = None
) -> Index:
    """Map `place`, which may be in the padding, to the position of its element in a dimension of
    `size`. `before` is the number of elements of padding before the dimension; None if that is not
    known."""
    if mode == "edge" or size == 1:
        return b.max(0, b.min(place, size - 1))
    # For one element, the period of reflections would be 0.
    period = b.max(size if mode == "circular" else 2 * (size - 1), 1)
    # Reflections of 0 1 2 3 have the period 6: 0 1 2 3 2 1. Position -2 is position 4, element 6 -
    # 4 = 2. Padding may be longer than the data, so that positions go through several periods.
    # First, a multiple of the period is added so that the position is not negative, as `b.mod`
    # needs; -(-before // period) periods are enough.
    if isinstance(period, int) and before is not None:
        at = (place + -(-before // period) * period) % period
    else:
        rest = b.index_of(b.pure(arith.RemSIOp, b.index(place), b.index(period)))
        at = b.select(b.less(rest, 0), rest + period, rest)
    if mode == "circular":
        return at
    return b.select(b.less(at, size), at, period - at)


def wrapped(value: int, element: IntegerType) -> int:
    """Return `value` wrapped around to the range of `element`."""
    if element == i1:
        return int(value != 0)
    half = 1 << element.bitwidth - 1
    return (value + half) % (2 * half) - half


PADDING: dict[type[Operation], Legalization] = {
    nn.PadOp: pad,
}
