"""Matrix products, as contractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.contraction import linear_algebra
from ....dialects.relax.contraction import linear_algebra as ops
from ....dialects.relax.contraction.linear_algebra import Subscripts
from ....dialects.relax.types import is_integer, tensor_type
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ..builder import (
    Buffer,
    Elements,
    KernelBuilder,
    Legalization,
    Tensor,
    broadcast_index,
    is_less,
    is_more,
)
from ..elementwise.elementwise import broadcast_shape
from ..scalars import add, convert, multiply, step_type, widen
from ..tiles.schedules import nominal
from ..tiles.transposed import MIN_SIDE, Transposed
from .byte_products import ByteProducts, ByteWords, byte_products, words_of_constant
from .contraction import Contraction, Coordinates, PackedWeights, total_type
from .dot_products import FEW_ROWS

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


MANY_COLUMNS = 256
"""With more columns than this, transposed matrices on the left are transposed back first."""

T = TypeVar("T")


def matrix_product(
    op: Operation,
    b: KernelBuilder,
    lhs: Tensor,
    rhs: Tensor,
    element: Attribute,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    known: Sequence[Array] = (),
) -> Tensor:
    """Return the products of matrices, over broadcast batch dimensions.

    A vector is a row on the left and a column on the right; the result lacks that dimension.
    `known` are the constants that rhs may be.
    """
    if len(rhs.shape) == 1 < len(lhs.shape):  # as a row, its terms are contiguous
        return matrix_product(op, b, rhs, lhs, element, transpose_b=not transpose_a)
    # Bytes are multiplied four terms at once. So terms have to be neighbors on the left, and the
    # right has to be a constant, which is packed into words.
    terms = lhs.shape[-2 if transpose_a and len(lhs.shape) > 1 else -1]
    matrices = [array if transpose_b else array.T for array in known if array.ndim == 2]
    total = total_type(element, lhs, rhs, terms, matrices)
    exact_pairs = None
    if len(rhs.shape) == 2 and not transpose_a and isinstance(terms, int):
        exact_pairs = byte_products(b, lhs, rhs, element, matrices)
    if exact_pairs is not None:
        words = words_of_constant(b, b.buffered(rhs), 1 if transpose_b else 0)
        lhs, rhs, total = ByteWords.of(lhs, -1), words, i32
    elif is_integer(lhs.element):
        lhs, rhs = b.as_elements(lhs, total), b.as_elements(rhs, total)
    elif is_more(rows_of(lhs, rhs, transpose_a), FEW_ROWS):
        # Converted once for each element, not for each product. For few rows this would cost more
        # than it saves: a constant is twice as large in f32 as in f16.
        lhs, rhs = b.as_elements(lhs, total), b.as_elements(rhs, total)
    # A constant batch of matrices is not packed: which one a batch index means depends on how the
    # batch dimensions broadcast.
    constant = b.constant(rhs) if len(rhs.shape) == 2 else None
    vectors = len(lhs.shape) == 1, len(rhs.shape) == 1
    if vectors[1]:
        rhs, transpose_b = b.reshaped(rhs, (1, *rhs.shape)), True
    if constant is None:
        if transpose_b and nominal(rows_of(lhs, rhs, transpose_a)) > FEW_ROWS and is_wide(rhs):
            # A vector of columns would be gathered from memory, element by element. Few rows are
            # dot products, which read the terms of a column as they are.
            rhs, transpose_b = swapped(rhs), False
        rhs = b.buffered(rhs)
    if transpose_a and nominal(rhs.shape[-2 if transpose_b else -1]) > MANY_COLUMNS:
        # Each tile of columns reads all of lhs, whose terms are far apart.
        lhs, transpose_a = (swapped(lhs), False) if is_wide(lhs) else (lhs, True)
    lhs = b.reshaped(lhs, (1, *lhs.shape)) if vectors[0] else b.buffered(lhs)
    batch = broadcast_shape(op, b, [lhs.shape[:-2], rhs.shape[:-2]])
    rows = None
    if batch and len(rhs.shape) == 2 and not transpose_a and 1 not in rhs.shape:
        # One matrix is multiplied by all rows of the batch: for 16 images with 4 rows each, it is
        # read once for 64 rows, in whole tiles.
        rows, batch = lhs.shape[:-1], ()
        lhs = b.reshaped(lhs, (volume(rows), lhs.shape[-1]))
    product = MatrixProduct(lhs, rhs, total, transpose_a, transpose_b, vectors, batch, rows)
    b.require_equal(*product.terms, "the matrices have other numbers of terms", op)
    if exact_pairs is not None:
        return ByteProducts.of(product.contraction(element, constant), exact_pairs, True)
    # Vectors are made of columns of the result. A result of one column is computed transposed, so
    # that its rows are the lanes.
    if product.n == 1 and not is_less(product.m, 2):
        return product.with_rows_as_columns(element)
    return product.contraction(element, constant)


def rows_of(lhs: Tensor, rhs: Tensor, transpose_a: bool) -> Extent:
    """Return how many rows of `lhs` are multiplied by each matrix of `rhs`."""
    if len(lhs.shape) == 1:
        return 1
    *batch, rows = (*lhs.shape[:-2], lhs.shape[-1 if transpose_a else -2])
    return volume((*batch, rows)) if len(rhs.shape) == 2 else rows


def is_wide(matrices: Tensor) -> bool:
    """Return whether matrices have squares that are transposed in registers."""
    return not any(is_less(extent, MIN_SIDE) for extent in matrices.shape[-2:])


def swapped(matrices: Tensor) -> Tensor:
    """Return the transposes of a batch of matrices."""
    rank = len(matrices.shape)
    return Transposed.of(matrices, [*range(rank - 2), rank - 1, rank - 2])


@dataclass(frozen=True)
class MatrixProduct:
    """The products of two matrices, which may be transposed, over broadcast batch dimensions."""

    left: Tensor
    right: Tensor
    total: Attribute
    transpose_a: bool
    transpose_b: bool
    vectors: tuple[bool, bool]
    """Whether the result lacks the dimension of the rows, and that of the columns."""

    batch: Shape
    """The broadcast batch dimensions."""
    rows: Shape | None = None
    """The dimensions of the result that are merged into one dimension of `left`: the batch
    dimensions, and their rows."""

    @property
    def m(self) -> Extent:
        return self.left.shape[-1 if self.transpose_a else -2]

    @property
    def terms(self) -> tuple[Extent, Extent]:
        """The terms of the rows on the left, and of the columns on the right."""
        return (
            self.left.shape[-2 if self.transpose_a else -1],
            self.right.shape[-1 if self.transpose_b else -2],
        )

    @property
    def k(self) -> Extent:
        """The number of terms. Both operands have the same; if one of the two is known, it is that
        one."""
        left, right = self.terms
        return right if isinstance(right, int) else left

    @property
    def n(self) -> Extent:
        return self.right.shape[-2 if self.transpose_b else -1]

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        if self.rows is not None:
            return (*self.rows, self.n)
        return (*self.batch, *self.kept((self.m, self.n)))

    def kept(self, matrix: tuple[T, T]) -> list[T]:
        """Return the parts of `matrix`, one for the rows and one for the columns, whose dimension
        the result has."""
        return [part for part, gone in zip(matrix, self.vectors, strict=True) if not gone]

    def lhs(self, b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        place = broadcast_index(b, batch, self.left.shape[:-2], self.batch)
        place += (k, m) if self.transpose_a else (m, k)
        return convert(b, b.read(self.left, place), self.total)

    def rhs(self, b: KernelBuilder, terms: Sequence[Index], at: Coordinates) -> SSAValue:
        place = broadcast_index(b, at.batch, self.right.shape[:-2], self.batch)
        place += (at.column, *terms) if self.transpose_b else (*terms, at.column)
        return convert(b, b.read(self.right, place), self.total)

    def index_of(self, b: KernelBuilder, at: Coordinates) -> list[Index]:
        if self.rows is not None:
            return [*b.unflat(at.m, self.rows), at.column]
        return [*at.batch, *self.kept((at.m, at.column))]

    def coordinates_of(self, b: KernelBuilder, index: Sequence[Index]) -> Coordinates:
        if self.rows is not None:
            return Coordinates([], b.flat(index[:-1], self.rows), [], index[-1])
        rank = len(self.batch)
        rest = [*index[rank:]]
        row = 0 if self.vectors[0] else rest.pop(0)
        return Coordinates([*index[:rank]], row, [], 0 if self.vectors[1] else rest.pop())

    def matrices(self, weight: Array) -> Array:
        """Return the elements of a constant matrix on the right as one whose columns are the
        terms."""
        return (weight if self.transpose_b else weight.T)[None]

    def contraction(self, element: Attribute, constant: Buffer | None) -> Contraction:
        """Return the products as a contraction; `constant` is the matrix on the right if it is
        one."""
        return Contraction(
            shape=self.shape,
            element=element,
            total=self.total,
            batch=self.batch,
            m=self.m,
            rows=(),
            columns=self.n,
            terms=(self.k,),
            read_lhs=self.lhs,
            rhs=self.rhs,
            index_of=self.index_of,
            coordinates_of=self.coordinates_of,
            weights=None if constant is None else PackedWeights(constant, False, self.matrices),
            rhs_along_terms=self.transpose_b,
        )

    def with_rows_as_columns(self, element: Attribute) -> Contraction:
        """Return the products of a matrix and one column.

        The rows of the matrix are the columns of the contraction, so that they fill vectors.
        """

        def swapped(at: Coordinates) -> Coordinates:
            return at._replace(m=at.column, column=at.m)

        return Contraction(
            shape=self.shape,
            element=element,
            total=self.total,
            batch=self.batch,
            m=1,
            rows=(),
            columns=self.m,
            terms=(self.k,),
            read_lhs=lambda b, batch, m, k: self.rhs(b, [k], Coordinates(batch, 0, [], m)),
            rhs=lambda b, terms, at: self.lhs(b, at.batch, at.column, *terms),
            index_of=lambda b, at: self.index_of(b, swapped(at)),
            coordinates_of=lambda b, index: swapped(self.coordinates_of(b, index)),
            rhs_along_terms=not self.transpose_a,
        )


def dense(op: ops.DenseOp, b: KernelBuilder, data: Tensor, weight: Tensor) -> Tensor:
    element, known = tensor_type(op.result).element_type, b.elements_of(op.weight)
    return matrix_product(op, b, data, weight, element, transpose_b=True, known=known)


def matmul(op: ops.MatmulOp, b: KernelBuilder, lhs: Tensor, rhs: Tensor) -> Tensor:
    element = tensor_type(op.result).element_type
    return matrix_product(op, b, lhs, rhs, element, known=b.elements_of(op.rhs))


def batch_matmul(op: ops.BatchMatmulOp, b: KernelBuilder, lhs: Tensor, rhs: Tensor) -> Tensor:
    return matrix_product(
        op,
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


# The legalization of einsum: sums of products with any subscripts.


def einsum(op: linear_algebra.EinsumOp, b: KernelBuilder, *operands: Tensor) -> Tensor:
    """Sum up in a loop for each subscript that the result lacks."""
    subscripts = Subscripts.parse(op.subscripts)
    shape, element = b.shape_of(op.result), tensor_type(op.result).element_type
    type = step_type(element)
    factors = [b.buffered(operand) for operand in operands]
    names = [
        subscripts.dimensions(term, len(factor.shape))
        for term, factor in zip(subscripts.terms, factors, strict=True)
    ]
    kept = subscripts.dimensions(subscripts.output, len(shape))
    sizes: dict[str, Extent] = {}
    for term, factor in zip(names, factors, strict=True):
        for name, size in zip(term, factor.shape, strict=True):
            other = sizes.get(name, 1)
            sizes[name] = size if other == 1 else other
            if 1 not in (size, other):
                b.require_equal(size, other, f"the sizes of '{name}' differ", op)
    # One nest over all subscripts: `ij,jk,kl->il` takes n^4 steps, two products 2 * n^3 (numpy's
    # einsum_path, opt_einsum), and `ij,jk->ik` has neither tiles nor packed operands. No pass turns
    # it into a matmul.
    summed = [name for name in sizes if name not in kept]

    def compute(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        def product(inner: Sequence[Index]) -> SSAValue:
            at = dict(zip((*kept, *summed), (*index, *inner), strict=True))
            value: SSAValue | None = None
            for term, factor in zip(names, factors, strict=True):
                place = broadcast_index(b, [at[name] for name in term], factor.shape)
                x = widen(b, b.read(factor, place))
                value = x if value is None else multiply(b, value, x)
            assert value is not None
            return value

        if not summed:
            return convert(b, product([]), element)
        extents, zero = [sizes[name] for name in summed], b.number(0, type)
        total = b.accumulate(extents, zero, lambda total, inner: add(b, total, product(inner)))
        return convert(b, total, element)

    return Elements(shape, element, compute)


EINSUM: dict[type[Operation], Legalization] = {
    linear_algebra.EinsumOp: einsum,
}
