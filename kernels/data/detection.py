"""The kernel of `relax.vision.non_max_suppression`.

It writes the selected boxes into the first rows of a buffer for as many as can be selected, and
their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

from ...dialects.relax.constant import ConstantOp
from ...dialects.relax.data.detection import NonMaxSuppressionOp
from ...dialects.relax.dynamic.manipulation import DynamicStridedSliceOp
from ...dialects.relax.kernels import CallTIROp
from ...dialects.relax.types import is_ranked
from ...dialects.tir.builder import Index
from ...dialects.tir.extents import Extent
from ...dialects.tir.ops import PrimFuncOp
from ..builder import Buffer, Elements, KernelBuilder, Tensor
from ..scalars import as_index, convert, divide, maximum, minimum, multiply, step_type
from .separate_kernels import SeparateKernels, parameter_shape
from .sorting import order

__all__ = ["call_selection_kernel"]

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
    boxes, scores, limit, iou, *threshold, rows, count = given
    wide = step_type(boxes.element)
    overlap = convert(b, b.read(iou, []), wide)
    check(op, b, boxes, scores, overlap)
    lowest = convert(b, b.read(threshold[0], []), wide) if threshold else None
    batches, number, _ = boxes.shape
    most = b.min(b.max(as_index(b, b.read(limit, [])), 0), number)
    room = b.mul(b.mul(most, scores.shape[0]), scores.shape[1])
    b.require(b.less(b.sub(room, 1), rows.shape[0]), f"{op.name}: no room for the boxes", op)
    # The order of the negated scores: a NaN comes last.
    negated = Elements(
        scores.shape, wide, lambda b, at: b.pure(arith.NegfOp, convert(b, b.read(scores, at), wide))
    )
    # Boxes of equal scores stay in order, as the sort is stable; descending, it would keep them,
    # too, but put NaN first.
    ranks = order(b, b.buffered(negated), 2, False)
    place = b.alloc((1,), IndexType(), "local")
    b.store(b.index(0), place, [0])
    with b.loop(batches) as batch:
        corners = corners_of(op, b, boxes, batch, number, wide)
        with b.loop(scores.shape[1]) as column:
            chosen, taken = b.alloc((number,), IndexType()), b.alloc((1,), IndexType(), "local")
            b.store(b.index(0), taken, [0])
            with b.loop(number) as i:
                box = as_index(b, b.read(ranks, [batch, column, i]))
                before = b.load(taken, [0])
                conditions = [b.less(before, most)]
                if lowest is not None:
                    score = convert(b, b.read(scores, [batch, column, box]), wide)
                    conditions.append(b.pure(arith.CmpfOp, score, lowest, arg="ogt"))
                with b.when(conditions):
                    # All chosen boxes are compared, without an early end: at most `most` of them
                    # for each box. As in onnxruntime, the order is that of batches, classes and
                    # scores.
                    found = b.accumulate(
                        (before,),
                        b.number(False, i1),
                        lambda found, at: b.pure(
                            arith.OrIOp,
                            found,
                            overlaps(b, corners, box, b.load(chosen, at), overlap),
                        ),
                    )
                    with b.when([b.negation(found)]):
                        b.store(box, chosen, [before])
                        b.store(b.index(b.add(before, 1)), taken, [0])
                        at = b.load(place, [0])
                        for axis, value in enumerate((batch, column, box)):
                            index = b.pure(arith.IndexCastOp, b.index(value), target_type=i64)
                            b.store(index, rows.buffer, [at, axis])
                        b.store(b.index(b.add(at, 1)), place, [0])
    total = b.pure(arith.IndexCastOp, b.load(place, [0]), target_type=i64)
    b.store(total, count.buffer, [0])
    return b.finish()


def check(
    op: NonMaxSuppressionOp, b: KernelBuilder, boxes: Buffer, scores: Buffer, overlap: SSAValue
) -> None:
    """Assert that boxes and scores fit each other, and that the threshold is a share."""
    b.require_equal(boxes.shape[0], scores.shape[0], "the batches differ in size", op)
    b.require_equal(boxes.shape[1], scores.shape[2], "the numbers of boxes and scores differ", op)
    b.require_equal(boxes.shape[2], 4, "boxes do not have 4 coordinates", op)
    inside = [
        b.pure(arith.CmpfOp, overlap, b.number(bound, overlap.type), arg=predicate)
        for predicate, bound in (("oge", 0.0), ("ole", 1.0))
    ]
    b.require(b.all(inside), f"{op.name}: iou_threshold is not from 0 to 1", op)


@dataclass(frozen=True)
class Corners:
    """Buffers with the least and the greatest coordinates of boxes along both axes."""

    low: SSAValue
    high: SSAValue


def corners_of(
    op: NonMaxSuppressionOp,
    b: KernelBuilder,
    boxes: Tensor,
    batch: Index,
    number: Extent,
    wide: Attribute,
) -> Corners:
    """Write loops that compute the corners of the boxes of a batch."""
    corners = Corners(b.alloc((number, 2), wide), b.alloc((number, 2), wide))
    with b.loop(number) as box, b.loop(2) as axis:
        first, second = (
            convert(b, b.read(boxes, [batch, box, b.add(axis, shift)]), wide) for shift in (0, 2)
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
        b.store(low, corners.low, [box, axis])
        b.store(high, corners.high, [box, axis])
    return corners


def overlaps(
    b: KernelBuilder, corners: Corners, box: Index, other: Index, threshold: SSAValue
) -> SSAValue:
    """Return whether the intersection over union of two boxes is above the threshold; false if an
    area is not positive."""
    zero = b.number(0.0, threshold.type)

    def least(of: Index) -> list[SSAValue]:
        return [b.load(corners.low, [of, axis]) for axis in range(2)]

    def greatest(of: Index) -> list[SSAValue]:
        return [b.load(corners.high, [of, axis]) for axis in range(2)]

    def area(low: Sequence[SSAValue], high: Sequence[SSAValue]) -> SSAValue:
        height, width = sides(low, high)
        return multiply(b, height, width)

    def sides(low: Sequence[SSAValue], high: Sequence[SSAValue]) -> list[SSAValue]:
        return [b.pure(arith.SubfOp, *pair) for pair in zip(high, low, strict=True)]

    low = [maximum(b, *pair) for pair in zip(least(box), least(other), strict=True)]
    high = [minimum(b, *pair) for pair in zip(greatest(box), greatest(other), strict=True)]
    areas = [area(least(of), greatest(of)) for of in (box, other)]
    common = area(low, high)
    union = b.pure(arith.SubfOp, b.pure(arith.AddfOp, *areas), common)
    positive = [*sides(low, high), common, *areas, union]
    conditions = [b.pure(arith.CmpfOp, x, zero, arg="ogt") for x in positive]
    share = divide(b, common, union)
    return b.all([*conditions, b.pure(arith.CmpfOp, share, threshold, arg="ogt")])
