"""Tile programs of matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from ....dialects.tir.functions import Extent, Shape
from ..elementwise.elementwise import require_broadcast
from .product_frame import Axis, ProductFrame
from .product_program import TileProduct, operand, product_kernel, terms_of
from .tile_builder import Family, TileGroup, TileLaunches

__all__ = ["PRODUCTS"]


def matmul(group: TileGroup) -> TileLaunches | None:
    """Return the tile program of the first product of a group."""
    op = next(op for op in group.ops if type(op) in PRODUCTS)
    turned = {"lhs": False, "rhs": isinstance(op, DenseOp)}
    if isinstance(op, BatchMatmulOp):
        turned = {"lhs": op.transpose_a, "rhs": op.transpose_b}
    lhs, rhs = op.operands[:2]
    left, right = group.sizes[lhs], group.sizes[rhs]
    vectors = len(left) == 1, len(right) == 1
    rank = max(len(left), len(right), 2) - 2
    result = result_frame(group.sizes[op.results[0]], False, vectors)
    batch = result.sizes[:-2]
    for shape in (left, right):
        require_broadcast(op, group.host, shape[:-2], batch)
    # The rows of all batches are those of one matrix, if there is one on the right.
    merged = len(right) <= 2 and not turned["lhs"] and can_merge(group, op, vectors)
    axes: Sequence[Axis] = ("k", "m") if turned["lhs"] else ("m", "k")
    left_frame = matrix_frame(left, axes, rank, merged, vectors[0])
    axes = ("n", "k") if turned["rhs"] else ("k", "n")
    right_frame = matrix_frame(right, axes, rank, False, vectors[1])
    sizes = {**named(right_frame), **named(left_frame)}
    k = agreed(group, op, named(left_frame)["k"], named(right_frame)["k"])
    terms = terms_of(group, op, k)
    return product_kernel(
        group,
        TileProduct(
            op=op,
            batch=() if merged else batch,
            m=sizes["m"],
            n=sizes["n"],
            k=k,
            terms=terms,
            lhs=operand(lhs, left_frame, terms, k, is_lhs=True),
            rhs=operand(rhs, right_frame, terms, k, is_lhs=False),
            frame=result_frame(result.shape, merged, vectors),
        ),
    )


def named(frame: ProductFrame) -> dict[str, Extent]:
    """Return the sizes along m, n and k."""
    pairs = zip(frame.axes, frame.sizes, strict=True)
    return {axis: size for axis, size in pairs if isinstance(axis, str)}


def agreed(group: TileGroup, op: Operation, left: Extent, right: Extent) -> Extent:
    """Return the number of terms; that both operands have it is checked on the host."""
    group.host.require_equal(left, right, "the matrices have other numbers of terms", op)
    return left if isinstance(left, int) else right


def matrix_frame(
    shape: Shape, axes: Sequence[Axis], rank: int, merged: bool, is_vector: bool
) -> ProductFrame:
    """Return the frame of an operand, whose last dimensions run along `axes`; `rank` is that of the
    batch. A vector runs along k."""
    if is_vector:
        return ProductFrame(shape, axes, [(0,) if axis == "k" else () for axis in axes])
    count = len(shape) - 2
    if merged:
        return ProductFrame(shape, axes, [(*range(count + 1),), (count + 1,)])
    batch = range(rank - count, rank)
    return ProductFrame(shape, (*batch, *axes), [(axis,) for axis in range(count + 2)])


def result_frame(shape: Shape, merged: bool, vectors: tuple[bool, bool]) -> ProductFrame:
    """Return the frame of the result, which lacks the rows or the columns of `vectors`."""
    groups = [(axis,) for axis in range(len(shape) - vectors.count(False))]
    rows, columns = len(groups), len(shape) - 1
    last = [() if vectors[0] else (rows,), () if vectors[1] else (columns,)]
    if merged and not vectors[0]:
        return ProductFrame(shape, ("m", "n"), [(*range(rows + 1),), last[1]])
    return ProductFrame(shape, (*range(len(groups)), "m", "n"), [*groups, *last])


def can_merge(group: TileGroup, op: Operation, vectors: tuple[bool, bool]) -> bool:
    """Return whether all values have all batches and rows of the product, or none of them."""
    if vectors[0]:
        return True
    columns = 0 if vectors[1] else 1
    shape = group.sizes[op.results[0]]
    rows = shape[: len(shape) - columns]
    before = values_before(op.operands[0])
    for other in group.ops:
        if other is op or other in before:
            continue
        for value in other.operands:
            own = group.sizes[value]
            own = (*(1,) * (len(shape) - len(own)), *own)[: len(rows)]
            if own != rows and any(n != 1 for n in own):
                return False
    return not before


def values_before(value: SSAValue) -> set[Operation]:
    """Return the operations of a group that compute an operand."""
    found: set[Operation] = set()
    pending = [value]
    while pending:
        if isinstance(op := pending.pop().owner, Operation) and op not in found:
            found.add(op)
            pending += op.operands
    return found


PRODUCTS: dict[type[Operation], Family] = dict.fromkeys((BatchMatmulOp, DenseOp, MatmulOp), matmul)
