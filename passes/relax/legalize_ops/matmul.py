"""Matrix products, as contractions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax import linear_algebra as ops
from ....dialects.relax.shapes import broadcast
from ....dialects.relax.types import tensor_type
from ....dialects.tir.builder import Index
from .contraction import Contraction, Coordinates, Weights, total_type
from .kernel_builder import KernelBuilder, Legalization, Tensor, broadcast_index
from .scalars import convert

__all__ = ["MATMUL"]


def matrix_product(
    b: KernelBuilder,
    lhs: Tensor,
    rhs: Tensor,
    element: Attribute,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Tensor:
    """Return the products of matrices, over broadcast batch dimensions.

    A vector is a row on the left and a column on the right; the result lacks that dimension.
    """
    if len(rhs.shape) == 1 < len(lhs.shape):  # as a row, its terms are contiguous
        return matrix_product(b, rhs, lhs, element, transpose_b=not transpose_a)
    constant = b.constant(rhs) if len(rhs.shape) == 2 else None
    total = total_type(element, lhs, rhs)
    vectors = len(lhs.shape) == 1, len(rhs.shape) == 1
    lhs = b.reshaped(lhs, (1, *lhs.shape)) if vectors[0] else b.buffered(lhs)
    if vectors[1]:
        rhs, transpose_b = b.reshaped(rhs, (1, *rhs.shape)), True
    if constant is None:
        rhs = b.buffered(rhs)
    (m, k) = lhs.shape[-2:][::-1] if transpose_a else lhs.shape[-2:]
    n = rhs.shape[-2] if transpose_b else rhs.shape[-1]
    batch = broadcast(lhs.shape[:-2], rhs.shape[:-2])

    def read_lhs(b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        place = broadcast_index(b, batch, lhs.shape[:-2])
        place += (k, m) if transpose_a else (m, k)
        return convert(b, b.read(lhs, place), total)

    def read_rhs(
        b: KernelBuilder,
        batch: Sequence[Index],
        terms: Sequence[Index],
        row: Sequence[Index],
        column: Index,
    ) -> SSAValue:
        place = broadcast_index(b, batch, rhs.shape[:-2])
        place += (column, *terms) if transpose_b else (*terms, column)
        return convert(b, b.read(rhs, place), total)

    def kept(matrix: Sequence[Index]) -> list[Index]:
        """Return the indices of the matrix dimensions that the result has."""
        return [i for i, gone in zip(matrix, vectors, strict=True) if not gone]

    def swapped(batch: list[Index], m: Index, row: list[Index], column: Index) -> Coordinates:
        return batch, column, row, m

    def coordinates_of(b: KernelBuilder, index: Sequence[Index]) -> Coordinates:
        rest = [*index[len(batch) :]]
        row = 0 if vectors[0] else rest.pop(0)
        return [*index[: len(batch)]], row, [], 0 if vectors[1] else rest.pop()

    shape = (*batch, *(() if vectors[0] else (m,)), *(() if vectors[1] else (n,)))
    if n == 1 < m:  # the rows of lhs as columns, of which vectors can be made
        return Contraction(
            shape,
            element,
            total,
            batch,
            1,
            (),
            m,
            (k,),
            lambda b, batch, m, k: read_rhs(b, batch, [k], [], m),
            lambda b, batch, terms, row, column: read_lhs(b, batch, column, *terms),
            lambda b, batch, m, row, column: [*batch, *kept([column, m])],
            lambda b, index: swapped(*coordinates_of(b, index)),
            rhs_along_terms=not transpose_a,
        )
    return Contraction(
        shape,
        element,
        total,
        batch,
        m,
        (),
        n,
        (k,),
        read_lhs,
        read_rhs,
        lambda b, batch, m, row, column: [*batch, *kept([m, column])],
        coordinates_of,
        weights=Weights.of(
            constant,
            False,
            1,
            n,
            k,
            lambda array: (array if transpose_b else array.T)[None],
        ),
        rhs_along_terms=transpose_b,
    )


def dense(op: ops.DenseOp, b: KernelBuilder, data: Tensor, weight: Tensor) -> Tensor:
    return matrix_product(b, data, weight, tensor_type(op.result).element_type, transpose_b=True)


def matmul(op: ops.MatmulOp, b: KernelBuilder, lhs: Tensor, rhs: Tensor) -> Tensor:
    return matrix_product(b, lhs, rhs, tensor_type(op.result).element_type)


def batch_matmul(op: ops.BatchMatmulOp, b: KernelBuilder, lhs: Tensor, rhs: Tensor) -> Tensor:
    return matrix_product(
        b,
        lhs,
        rhs,
        tensor_type(op.result).element_type,
        transpose_a=op.transpose_a,
        transpose_b=op.transpose_b,
    )


MATMUL: dict[type[Operation], Legalization] = {
    ops.BatchMatmulOp: batch_matmul,
    ops.DenseOp: dense,
    ops.MatmulOp: matmul,
}
