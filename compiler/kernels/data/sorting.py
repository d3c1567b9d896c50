"""Legalizations of sorting, which is stable; NaN comes last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, UnitAttr, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.llvm_extension import UNPREDICTABLE
from ....dialects.relax.data import sorting as ops
from ....dialects.relax.dynamic.computation import DynamicTopkOp
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, is_at_most
from ....dialects.tir.ops import ForKind
from ..builder import Buffer, Elements, KernelBuilder, Legalization, Tensor
from ..gpu.lane_sorting import places_in_order
from ..scalars import as_index, convert, is_unsigned, maximum_of, minimum_of, step_type, widen
from ..tensors import parameters, require_sizes

# A stable sort of integer keys and of the places beside them: runs of 16 are sorted by rank, then
# merged. If only the first keys are needed, they are found without a sort of the others.


RUN = 16
"""The keys that are sorted by rank."""


def key_type(element: Attribute) -> IntegerType:
    """Return the type of the keys of elements."""
    type = step_type(element)
    assert isinstance(type, AnyFloat | IntegerType)
    return i32 if type.bitwidth <= 32 else i64


def key_of(b: KernelBuilder, value: SSAValue, descending: bool) -> SSAValue:
    """Return the key of an element: keys have the order of the elements, or the reverse one. NaN is
    greater than all numbers, and -0 is 0."""
    value = widen(b, value)
    type = key_type(value.type)
    if isinstance(value.type, AnyFloat):
        key = bits_in_order(b, value, type)
    else:
        key = convert(b, value, type)
        if is_unsigned(value.type):  # the order of signed numbers
            key = b.pure(arith.XOrIOp, key, b.number(minimum_of(type), type))
    return b.pure(arith.XOrIOp, key, b.number(-1, type)) if descending else key


def bits_in_order(b: KernelBuilder, value: SSAValue, type: IntegerType) -> SSAValue:
    """Return an integer for a float: integers have the order of floats."""
    # Without their sign, the bits of floats are in order; those of negative ones are inverted.
    positive = b.pure(arith.AddfOp, value, b.number(0.0, value.type))  # -0 becomes 0
    bits = b.pure(arith.BitcastOp, positive, target_type=type)
    sign = b.pure(arith.ShRSIOp, bits, b.number(type.bitwidth - 1, type))
    inverted = b.pure(arith.ShRUIOp, sign, b.number(1, type))
    key = b.pure(arith.XOrIOp, bits, inverted)
    is_number = b.pure(arith.CmpfOp, value, value, arg="ord")
    return b.pure(arith.SelectOp, is_number, key, b.number(maximum_of(type), type))


@dataclass(frozen=True)
class SortBuffers:
    """Two rows of keys and two of places, which take turns as source and target. The first and the
    last entry of a row are read, but not used."""

    keys: SSAValue
    places: SSAValue
    key_type: IntegerType

    def key(self, b: KernelBuilder, row: Index, number: Index) -> SSAValue:
        return b.load(self.keys, [row, number + 1])

    def place(self, b: KernelBuilder, row: Index, number: Index) -> Index:
        return b.load_index(self.places, [row, number + 1])

    def store(
        self, b: KernelBuilder, row: Index, number: Index, key: SSAValue, place: Index
    ) -> None:
        b.store(key, self.keys, [row, number + 1])
        b.store(place, self.places, [row, number + 1])


def allocate_rows(b: KernelBuilder, size: Extent, key: IntegerType) -> SortBuffers:
    """Allocate rows for `size` keys, which are filled up to a multiple of runs."""
    shape = 2, (size + (RUN - 1)) // RUN * RUN + 2
    return SortBuffers(b.alloc(shape, key), b.alloc(shape, IndexType()), key)


def sort_rows(b: KernelBuilder, rows: SortBuffers, size: Index) -> Index:
    """Sort the first `size` entries of row 0; return the row where the result is."""
    # With runs of 2, and the keys 4 2 3 1 5, the rows have
    #
    #     4 2 3 1 5 .    as they are given, and filled up
    #     2 4 1 3 5 .    runs of two, each sorted
    #     1 2 3 4 5 .    runs of four
    #     1 2 3 4 5 .    runs of eight
    runs = b.ceildiv(size, RUN)
    whole = runs * RUN
    with b.loop(whole - size, min=size) as number:
        rows.store(b, 0, number, b.number(maximum_of(rows.key_type), rows.key_type), 0)
    with b.loop(runs) as run:
        sort_run(b, rows, run * RUN)
    count = levels(b, runs)

    def level(number: Index, width: Index) -> None:
        """Merge pairs of sorted runs of `width` entries each."""
        source, both = (number + 1) % 2, 2 * width
        with b.loop(b.ceildiv(whole, both)) as pair:
            start = pair * both
            middle, end = (b.min(start + size, whole) for size in (width, both))
            merge(b, rows, SortedRuns(source, start, middle, end))

    if isinstance(count, int) and count <= 3:  # a call of loops of unknown extent takes 3 us more
        for number in range(count):
            level(number, RUN << number)
    else:
        with b.loop(count) as number:
            level(number, shifted(b, RUN, number))
    return (count + 1) % 2


def levels(b: KernelBuilder, runs: Index) -> Index:
    """Return how often pairs of runs have to be merged until there is one."""
    if isinstance(runs, int):
        return max(0, runs - 1).bit_length()

    # No dimension has 2^62 elements.
    def counted(number: SSAValue, index: list[Index]) -> SSAValue:
        width = shifted(b, 1, index[0])
        return b.index(b.index_of(number) + b.select(b.less(width, runs), 1, 0))

    return b.index_of(b.accumulate((62,), b.index(0), counted))


def shifted(b: KernelBuilder, value: Index, by: Index) -> Index:
    """Return `value * 2 ** by`."""
    return b.index_of(b.pure(arith.ShLIOp, b.index(value), b.index(by)))


def sort_run(b: KernelBuilder, rows: SortBuffers, start: Index) -> None:
    """Write the entries of a run of row 0 to row 1, in order."""
    # The rank of an entry is the number of those that come before it, and each is compared with a
    # vector of others.
    ranks = b.alloc((RUN,), i32, "local")
    with b.loop(RUN, ForKind.VECTORIZED) as lane:
        own, rank = rows.key(b, 0, start + lane), b.number(0, i32)
        for number in range(RUN):
            other = rows.key(b, 0, start + number)
            equal = b.pure(arith.CmpiOp, other, own, arg="eq")
            before = b.pure(
                arith.OrIOp,
                b.pure(arith.CmpiOp, other, own, arg="slt"),
                b.pure(arith.AndIOp, equal, b.less(number, lane)),
            )
            rank = b.pure(arith.AddiOp, rank, convert(b, before, i32))
        b.store(rank, ranks, [lane])
    with b.loop(RUN, ForKind.UNROLLED) as lane:
        rank = as_index(b, b.load(ranks, [lane]))
        number = start + lane
        rows.store(b, 1, start + rank, rows.key(b, 0, number), rows.place(b, 0, number))


@dataclass(frozen=True)
class SortedRuns:
    """Two sorted runs: `start` to `middle` and `middle` to `end` of row `source`, which are merged
    into the other row."""

    source: Index
    start: Index
    middle: Index
    end: Index


def merge(b: KernelBuilder, rows: SortBuffers, pair: SortedRuns) -> None:
    """Write a loop that merges two sorted runs from both ends at once."""
    # Each step waits for the comparison of the one before it, so two sequences of them take as long
    # as one. Both write the entry in the middle if their number is odd.
    ends = pair.middle, pair.end
    first = [b.variable(value) for value in (pair.start, pair.middle)]
    last = [b.variable(value - 1) for value in ends]
    size = pair.end - pair.start
    with b.loop(b.ceildiv(size, 2)) as step:
        left, right = (b.load_index(cursor, [0]) for cursor in first)
        less = is_right_less(b, rows, pair, left, right)
        left_done = b.negation(b.less(left, pair.middle))
        takes_right = b.all([b.less(right, pair.end), b.pure(arith.OrIOp, left_done, less)])
        move(b, rows, pair, pair.start + step, either(b, takes_right, right, left))
        advance(b, first, (left, right), takes_right, 1)

        left, right = (b.load_index(cursor, [0]) for cursor in last)
        less = is_right_less(b, rows, pair, left, right)
        right_done = b.less(right, pair.middle)
        takes_left = b.all(
            [b.negation(b.less(left, pair.start)), b.pure(arith.OrIOp, right_done, less)]
        )
        target = pair.end - 1 - step
        move(b, rows, pair, target, either(b, takes_left, left, right))
        advance(b, last, (left, right), b.negation(takes_left), -1)


def either(b: KernelBuilder, condition: SSAValue, then: Index, otherwise: Index) -> Index:
    """Return one of two indices, by a condition that changes at random."""
    # LLVM would branch, and half of the branches would be mispredicted.
    choice = b.insert(arith.SelectOp(condition, b.index(then), b.index(otherwise)))
    choice.attributes[UNPREDICTABLE] = UnitAttr()
    return b.index_of(choice.results[0])


def is_right_less(
    b: KernelBuilder, rows: SortBuffers, pair: SortedRuns, left: Index, right: Index
) -> SSAValue:
    keys = (rows.key(b, pair.source, number) for number in (right, left))
    return b.pure(arith.CmpiOp, *keys, arg="slt")


def move(
    b: KernelBuilder, rows: SortBuffers, pair: SortedRuns, target: Index, number: Index
) -> None:
    """Copy an entry to a place in the other row."""
    key, place = rows.key(b, pair.source, number), rows.place(b, pair.source, number)
    rows.store(b, 1 - pair.source, target, key, place)


def advance(
    b: KernelBuilder,
    cursors: list[SSAValue],
    values: tuple[Index, Index],
    is_right: SSAValue,
    by: int,
) -> None:
    """Move the right one of two cursors, or the left one."""
    moves = b.select(is_right, by, 0)
    for cursor, value, moved in zip(cursors, values, (by - moves, moves), strict=True):
        b.store(value + moved, cursor, [0])


def select_first(b: KernelBuilder, rows: SortBuffers, size: Index, count: Index) -> None:
    """Move the `count` entries that come first in sorted order, among the first `size` entries of
    row 0, to the front of the row. They keep the order that they have in the row."""
    # The bound is the largest number that has fewer than `count` keys below it. It is found bit by
    # bit. Each bit takes a comparison of all keys, but in vectors, and the time does not depend on
    # the keys. After half of the bits, few keys are left that may be first, as a rule.
    type = rows.key_type
    half = type.bitwidth // 2
    bound = b.variable(b.number(minimum_of(type), type))
    find_bits(b, rows, size, count, bound, half, half)
    limit = b.pure(arith.OrIOp, b.load(bound, [0]), b.number((1 << half) - 1, type))
    size = keep(b, rows, size, limit, size)
    find_bits(b, rows, size, count, bound, half, 0)
    limit = b.load(bound, [0])
    keep(b, rows, size, limit, count - count_less(b, rows, size, limit))


def find_bits(
    b: KernelBuilder,
    rows: SortBuffers,
    size: Index,
    count: Index,
    bound: SSAValue,
    bits: int,
    lowest: int,
) -> None:
    """Set `bits` bits of a bound, the last of them `lowest`, such that fewer than `count` keys are
    below it."""
    type = rows.key_type
    with b.loop(bits) as step:
        bit = b.pure(arith.IndexCastOp, b.index(lowest + bits - 1 - step), target_type=type)
        known = b.load(bound, [0])
        tried = b.pure(arith.AddiOp, known, b.pure(arith.ShLIOp, b.number(1, type), bit))
        fits = b.less(count_less(b, rows, size, tried), count)
        b.store(b.pure(arith.SelectOp, fits, tried, known), bound, [0])


def count_less(b: KernelBuilder, rows: SortBuffers, size: Index, bound: SSAValue) -> Index:
    """Return how many of the first `size` keys of row 0 are less than a bound."""
    # The count has the type of the keys, so that vectors of both have the same number of lanes.
    number = b.accumulate(
        (size,),
        b.number(0, bound.type),
        lambda number, at: b.pure(
            arith.AddiOp,
            number,
            convert(b, b.pure(arith.CmpiOp, rows.key(b, 0, *at), bound, arg="slt"), bound.type),
        ),
    )
    return as_index(b, number)


def keep(b: KernelBuilder, rows: SortBuffers, size: Index, limit: SSAValue, equal: Index) -> Index:
    """Move the entries of row 0 whose keys are less than `limit` to the front, and of those whose
    keys are equal to it the first `equal` ones. Return the number of moved entries."""
    kept, left = b.variable(0), b.variable(equal)
    with b.loop(size) as number:
        key = rows.key(b, 0, number)
        with b.when([b.pure(arith.CmpiOp, key, limit, arg="sle")]):
            is_equal = b.pure(arith.CmpiOp, key, limit, arg="eq")
            at, others = b.load_index(kept, [0]), b.load_index(left, [0])
            others = others - b.select(is_equal, 1, 0)
            b.store(others, left, [0])
            fits = b.pure(arith.OrIOp, b.negation(is_equal), b.less(-1, others))
            with b.when([fits]):
                rows.store(b, 0, at, key, rows.place(b, 0, number))
                b.store(at + 1, kept, [0])
    return b.load_index(kept, [0])


def order(b: KernelBuilder, data: Tensor, axis: int, descending: bool, count: Extent) -> Tensor:
    """Return the indices of the first `count` elements of `data` along an axis in sorted order."""
    size = data.shape[axis]
    shape = (*data.shape[:axis], count, *data.shape[axis + 1 :])
    if b.target.is_cuda:
        return order_in_lanes(b, data, axis, descending, shape)
    data = b.buffered(data)
    result = b.alloc(shape, i64)
    with b.loops((*shape[:axis], *shape[axis + 1 :])) as outer:
        rows = allocate_rows(b, size, key_type(data.element))
        with b.loop(size) as i:
            element = b.read(data, [*outer[:axis], i, *outer[axis:]])
            rows.store(b, 0, i, key_of(b, element, descending), i)
        selects = worth_selecting(size, count)
        if selects:
            select_first(b, rows, size, count)
        row = sort_rows(b, rows, count if selects else size)
        with b.loop(count) as i:
            place = convert(b, b.index(rows.place(b, row, i)), i64)
            b.store(place, result, [*outer[:axis], i, *outer[axis:]])
    return Buffer(shape, i64, result)


def order_in_lanes(
    b: KernelBuilder, data: Tensor, axis: int, descending: bool, shape: Shape
) -> Tensor:
    """Return the indices of the first elements along an axis in sorted order, as `order`."""
    outer = (*shape[:axis], *shape[axis + 1 :])

    def key(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        *place, i = index
        return key_of(b, b.read(data, [*place[:axis], i, *place[axis:]]), descending)

    keys = Elements((*outer, data.shape[axis]), key_type(data.element), key)
    places = places_in_order(b, keys, shape[axis])

    def place(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        number = b.read(places, [*index[:axis], *index[axis + 1 :], index[axis]])
        return convert(b, number, i64)

    return Elements(shape, i64, place)


def worth_selecting(size: Extent, count: Extent) -> bool:
    """Return whether to select `count` of `size` elements before they are sorted."""
    if isinstance(size, int) and isinstance(count, int):
        return size > 2 * RUN and count <= size // 2
    return size != count


def at_indices(data: Tensor, indices: Tensor, axis: int) -> Elements:
    """Return the elements of `data` at `indices` along `axis`."""

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place = as_index(b, b.read(indices, index))
        return b.read(data, [*index[:axis], place, *index[axis + 1 :]])

    return Elements(indices.shape, data.element, compute)


def argsort(op: ops.ArgsortOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    return order(b, data, axis, op.descending, data.shape[axis])


def sort(op: ops.SortOp, b: KernelBuilder, data: Tensor) -> Tensor:
    axis = op.axis % len(data.shape)
    return at_indices(data, order(b, data, axis, op.descending, data.shape[axis]), axis)


def topk(op: ops.TopkOp, b: KernelBuilder, data: Tensor) -> tuple[Tensor, Tensor]:
    axis = op.axis % len(data.shape)
    if op.k >= 1 and not is_at_most(op.k, size := data.shape[axis]):
        b.require(b.less(op.k - 1, size), f"{op.name}: k exceeds dimension {axis}", op)
    return first_in_order(op, b, data, op.largest, axis)


def topk_of(op: DynamicTopkOp, b: KernelBuilder, data: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    axis, (number,) = op.axis % len(data.shape), parameters(b, k)
    size = data.shape[axis]
    b.require(b.less(number, size + 1), f"{op.name}: k exceeds dimension {axis}", op)
    selected = b.select(b.less(number, 1), size, number)
    for result in op.results:
        shape = (*data.shape[:axis], selected, *data.shape[axis + 1 :])
        require_sizes(op, b, b.shape_of(result), shape)
    return first_in_order(op, b, data, op.largest, axis)


def first_in_order(
    op: ops.TopkOp | DynamicTopkOp, b: KernelBuilder, data: Tensor, largest: bool, axis: int
) -> tuple[Tensor, Tensor]:
    """Return as many elements as the results have along an axis, in order, and their indices."""
    first = order(b, data, axis, largest, b.shape_of(op.indices)[axis])
    return at_indices(data, first, axis), first


SORTING: dict[type[Operation], Legalization] = {
    ops.ArgsortOp: argsort,
    ops.SortOp: sort,
    ops.TopkOp: topk,
}
