"""The kernel of `relax.vision.non_max_suppression`.

The kernel writes the selected boxes into the first rows of a buffer that has room for all boxes
that can be selected, and writes their number.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.constant import ConstantOp
from ....dialects.relax.data.detection import NonMaxSuppressionOp
from ....dialects.relax.dynamic.data_movement import DynamicStridedSliceOp
from ....dialects.relax.kernels import CallTIROp
from ....dialects.relax.types import is_ranked
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent
from ....dialects.tir.ops import PrimFuncOp
from ..builder import Buffer, KernelBuilder, Tensor
from ..scalars import as_index, convert, divide, less, multiply, step_type, widen
from .creation import SeparateKernels, parameter_shape
from .sorting import SortBuffers, allocate_rows, key_of, key_type, sort_rows

ROWS, COUNT = TensorType(i64, [DYNAMIC_INDEX, 3]), TensorType(i64, [1])


def call_selection_kernel(op: NonMaxSuppressionOp, kernels: SeparateKernels) -> SSAValue | None:
    """Insert the call of the kernel before `op`, and a slice of the rows that it fills; return the
    slice. None if the rank of an operand is not known."""
    types = [operand.type for operand in op.operands]
    if not all(map(is_ranked, types)):
        return None
    key = ArrayAttr([*types, IntegerAttr(int(op.center_point_box), i1)])
    name = kernels.named("non_max_suppression", key, lambda name: kernel(op, name))

    def of(cls: type[Operation], *operands: SSAValue) -> SSAValue:
        return kernels.insert(op, cls(*operands))

    def size_of(value: SSAValue, axis: int) -> SSAValue:
        return of(tensor.DimOp, value, number(axis))

    def number(value: int) -> SSAValue:
        return kernels.insert(op, arith.ConstantOp(IntegerAttr(value, IndexType())))

    limit = kernels.insert(op, tensor.ExtractOp(op.max_output_boxes, [], i64))
    limit = kernels.insert(op, arith.IndexCastOp(limit, IndexType()))
    most = of(arith.MinSIOp, of(arith.MaxSIOp, limit, number(0)), size_of(op.boxes, 1))
    for axis in (0, 1):
        most = of(arith.MuliOp, most, size_of(op.scores, axis))
    rows = kernels.insert(op, call := CallTIROp(name, op.operands, [ROWS, COUNT], [most]))
    zero, one = (
        kernels.insert(op, ConstantOp(DenseIntOrFPElementsAttr.from_list(COUNT, [n])))
        for n in (0, 1)
    )
    return kernels.insert(op, DynamicStridedSliceOp(rows, zero, call.res[1], zero, one))


def kernel(op: NonMaxSuppressionOp, name: str) -> PrimFuncOp:
    """Return the kernel for the types and properties of `op`."""
    types: list[MemRefType[Attribute]] = []
    for type in (*op.operand_types, ROWS, COUNT):
        assert is_ranked(type)
        types.append(MemRefType(type.element_type, type.get_shape()))
    func = PrimFuncOp(name, types, visibility="private")
    b = KernelBuilder(func)
    given = [
        Buffer(parameter_shape(b, value), type.element_type, value)
        for value, type in zip(func.args, types, strict=True)
    ]
    boxes, scores, limit, iou, *threshold, output, count = given
    wide = step_type(boxes.element)
    overlap = convert(b, b.read(iou, []), wide)
    check(op, b, boxes, scores, overlap)
    lowest = convert(b, b.read(threshold[0], []), wide) if threshold else None
    batches, number, _ = boxes.shape
    most = b.min(b.max(as_index(b, b.read(limit, [])), 0), number)
    room = most * scores.shape[0] * scores.shape[1]
    b.require(b.less(room - 1, output.shape[0]), f"{op.name}: no room for the boxes", op)
    place = b.variable(0)
    with b.loop(batches) as batch:
        corners = corners_of(op, b, boxes, batch, number, wide)
        with b.loop(scores.shape[1]) as column:
            rows = allocate_rows(b, number, key_type(scores.element))
            candidates = write_candidates(b, scores, (batch, column), lowest, rows)
            row = sort_rows(b, rows, candidates)
            # The chosen boxes are copied side by side, so that LLVM compares a vector of them.
            chosen, taken = b.alloc((BOX, number), wide), b.variable(0)
            with b.loop(candidates) as i, b.when([b.less(b.load_index(taken, [0]), most)]):
                before, box = b.load_index(taken, [0]), rows.place(b, row, i)
                own = [b.load(corners, [box, value]) for value in range(BOX)]
                with b.when([b.negation(is_suppressed(b, own, chosen, before, overlap))]):
                    for value in range(BOX):
                        b.store(own[value], chosen, [value, before])
                    b.store(before + 1, taken, [0])
                    at = b.load_index(place, [0])
                    for axis, value in enumerate((batch, column, box)):
                        index = b.pure(arith.IndexCastOp, b.index(value), target_type=i64)
                        b.store(index, output.buffer, [at, axis])
                    b.store(at + 1, place, [0])
    total = b.pure(arith.IndexCastOp, b.load(place, [0]), target_type=i64)
    b.store(total, count.buffer, [0])
    return b.finish()


def write_candidates(
    b: KernelBuilder,
    scores: Tensor,
    outer: tuple[Index, Index],
    lowest: SSAValue | None,
    rows: SortBuffers,
) -> Index:
    """Write the keys of the scores that are above a threshold, and their places, to the first
    entries of `rows`; return the number of these entries."""
    count = b.variable(0)
    with b.loop(scores.shape[2]) as box:
        score = widen(b, b.read(scores, [*outer, box]))
        conditions = [] if lowest is None else [less(b, lowest, score)]
        with b.when(conditions):
            at = b.load_index(count, [0])
            # The order of the negated scores: a NaN comes last.
            negated = b.pure(arith.NegfOp, score)
            rows.store(b, 0, at, key_of(b, negated, False), box)
            b.store(at + 1, count, [0])
    return b.load_index(count, [0])


def check(
    op: NonMaxSuppressionOp, b: KernelBuilder, boxes: Buffer, scores: Buffer, overlap: SSAValue
) -> None:
    """Assert that boxes and scores have matching sizes, and that the threshold is from 0 to 1."""
    b.require_equal(boxes.shape[0], scores.shape[0], "the batches differ in size", op)
    b.require_equal(boxes.shape[1], scores.shape[2], "the numbers of boxes and scores differ", op)
    b.require_equal(boxes.shape[2], 4, "boxes do not have 4 coordinates", op)
    inside = [
        b.pure(arith.CmpfOp, overlap, b.number(bound, overlap.type), arg=predicate)
        for predicate, bound in (("oge", 0.0), ("ole", 1.0))
    ]
    b.require(b.all(inside), f"{op.name}: iou_threshold is not from 0 to 1", op)


BOX = 5
"""How many numbers are stored for a box: the minimum coordinate along each axis, the maximum along
each axis, and the area."""


def corners_of(
    op: NonMaxSuppressionOp,
    b: KernelBuilder,
    boxes: Tensor,
    batch: Index,
    number: Extent,
    wide: Attribute,
) -> SSAValue:
    """Write a loop that computes the corners and the areas of the boxes of a batch; return the
    buffer with a row for each box."""
    corners = b.alloc((number, BOX), wide)
    with b.loop(number) as box:
        sides: list[SSAValue] = []
        for axis in range(2):
            first, second = (
                convert(b, b.read(boxes, [batch, box, axis + shift]), wide) for shift in (0, 2)
            )
            if op.center_point_box:
                half = divide(b, second, b.number(2.0, wide))
                low, high = b.pure(arith.SubfOp, first, half), b.pure(arith.AddfOp, first, half)
            else:
                # ONNX takes any two opposite corners.
                swapped = b.pure(arith.CmpfOp, first, second, arg="oge")
                low, high = (
                    b.pure(arith.SelectOp, swapped, *pair)
                    for pair in ((second, first), (first, second))
                )
            b.store(low, corners, [box, axis])
            b.store(high, corners, [box, axis + 2])
            sides.append(b.pure(arith.SubfOp, high, low))
        b.store(multiply(b, *sides), corners, [box, BOX - 1])
    return corners


def is_suppressed(
    b: KernelBuilder,
    box: Sequence[SSAValue],
    chosen: SSAValue,
    number: Index,
    threshold: SSAValue,
) -> SSAValue:
    """Return whether a box overlaps one of the first `number` that were chosen."""

    # All of them are compared, without an early end.
    def found(before: SSAValue, at: Sequence[Index]) -> SSAValue:
        other = [b.load(chosen, [value, *at]) for value in range(BOX)]
        return b.pure(arith.OrIOp, before, overlaps(b, box, other, threshold))

    return b.accumulate((number,), b.number(False, i1), found)


def overlaps(
    b: KernelBuilder, box: Sequence[SSAValue], other: Sequence[SSAValue], threshold: SSAValue
) -> SSAValue:
    """Return whether the intersection over union of two boxes is above the threshold; false if an
    area is not positive."""
    zero = b.number(0.0, threshold.type)

    def side(axis: int) -> SSAValue:
        """Return the length of the intersection along an axis, 0 if it is empty."""
        low, high = (
            b.pure(arith.SelectOp, less(b, x, y), *pair)
            for x, y, pair in (
                (box[axis], other[axis], (other[axis], box[axis])),
                (box[axis + 2], other[axis + 2], (box[axis + 2], other[axis + 2])),
            )
        )
        length = b.pure(arith.SubfOp, high, low)
        return b.pure(arith.SelectOp, less(b, length, zero), zero, length)

    # No other test is needed: if the intersection is empty or an area is not positive, the share is
    # 0 or NaN, and an area is NaN if a coordinate is NaN.
    common = multiply(b, side(0), side(1))
    union = b.pure(arith.SubfOp, b.pure(arith.AddfOp, box[-1], other[-1]), common)
    return b.pure(arith.CmpfOp, divide(b, common, union), threshold, arg="ogt")
