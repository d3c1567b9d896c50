"""Contractions: the tensors whose elements are sums of products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple, cast

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, f32, i64
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, volume
from ....passmanager.fast.creation import make_attribute
from ..builder import Buffer, KernelBuilder, Tensor
from ..scalars import (
    convert,
    exact_integer,
    maximum_of,
    minimum_of,
    multiply_add,
    signless_form,
    wide_type,
)
from ..tensors import known
from ..tiles.schedule import Edges

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


# Large constants are packed in one step: the elements in their new order are written into the bytes
# of the new attribute. Touching new memory takes most of the time in which a model with large
# weights is compiled.


def pack_rows(matrices: Array, width: int) -> Array:
    """Return matrices (groups, rows, terms) as groups, blocks of `width` rows, terms and rows. The
    rows that the last block lacks are zeros."""
    import numpy as np

    groups, rows, terms = matrices.shape
    shape = groups, -(-rows // width), terms, width
    # With rows of 2 terms, a0 a1 b0 b1 c0 c1, and a width of 2:
    #
    #     a0 b0 a1 b1   c0 -- c1 --       -- are zeros
    #
    # numpy cannot own memory that is also a bytes object. CPython's BytesIO keeps the object that
    # it is made of, zeros that calloc maps lazily, and `getvalue` returns it: the peak is one copy.
    # Another Python may copy, with the same result.
    stream = BytesIO(bytes(matrices.itemsize * groups * shape[1] * terms * width))
    with stream.getbuffer() as memory:
        _write_rows(matrices, np.frombuffer(memory, matrices.dtype).reshape(shape))
    return np.frombuffer(stream.getvalue(), matrices.dtype).reshape(shape)  # without a copy


def _write_rows(matrices: Array, packed: Array) -> None:
    """Write the rows of `matrices` into the blocks of `packed`."""
    groups, rows, terms = matrices.shape
    width = packed.shape[3]
    whole, rest = divmod(rows, width)
    if rest:
        packed[:, whole, :, :rest] = matrices[:, whole * width :].transpose(0, 2, 1)
    blocks = matrices[:, : whole * width].reshape(groups, whole, width, terms)
    packed[:, :whole] = blocks.transpose(0, 1, 3, 2)


def _owner(array: object) -> object:
    """Return the object that owns the memory of an array, None if that is an array."""
    import numpy as np

    while isinstance(array, np.ndarray):
        array = cast("object", array.base)
    return array


def dense_constant(array: Array, type: TensorType[Attribute]) -> DenseIntOrFPElementsAttr:
    """Return the dense constant of `type` with the elements of an array. An array that is a whole
    bytes object, such as the result of `pack_rows`, is not copied."""
    from ...interpreters.arrays import dense_of, dtype_of, element_of, stored_dtype

    owner = _owner(array)
    element = element_of(type)
    is_stored = array.dtype == dtype_of(element) == stored_dtype(element)
    is_whole = array.flags.c_contiguous and array.shape == type.get_shape()
    if isinstance(owner, bytes) and len(owner) == array.nbytes and is_stored and is_whole:
        data = make_attribute(BytesAttr, data=owner)
        return make_attribute(DenseIntOrFPElementsAttr, type=type, data=data)
    return dense_of(array, type)


class Coordinates(NamedTuple):
    """The place of an element of a contraction. For an element of rhs, `m` is ignored."""

    batch: Sequence[Index]
    m: Index
    rows: Sequence[Index]
    column: Index


@dataclass(frozen=True, eq=False)
class PackedWeights:
    """A constant operand of a contraction, as a group of matrices whose columns are the terms."""

    buffer: Buffer
    is_lhs: bool
    matrices: Callable[[Array], Array]
    """Bring the elements of the constant into the shape groups, rows (of lhs, or columns of rhs),
    terms."""
    groups: int = 1
    group_of: Callable[[Sequence[Index]], Index] = lambda _: 0
    """Return the group (the index of the matrix) for the indices of a batch."""


@dataclass(eq=False)
class Contraction(Tensor):
    """A batch of products of a matrix `lhs` and the columns of an image `rhs`.

    With m a row of lhs, and k the row-major position of the indices `ks` among `terms`:

        element(batch, m, rows, column) = sum of lhs(batch, m, k) * rhs(batch, ks, rows, column)

    A plain matrix product has one row in its image: `rows` is empty. A convolution has its windows
    as terms and its output positions as rows and columns (the im2col view, without the copy).
    Products and sums are of the type `total`, and rounded to `element` once.
    """

    total: Attribute
    batch: Shape
    m: Index
    rows: Shape
    columns: Extent
    terms: Shape
    read_lhs: Callable[[KernelBuilder, Sequence[Index], Index, Index], SSAValue] | None
    """Return the element of lhs at batch, m and k; None if callers pass lhs packed, as `weights`,
    and it has no other form: all elements are then computed at once, by `tiles`."""
    rhs: Callable[[KernelBuilder, Sequence[Index], Coordinates], SSAValue]
    """Return the element of rhs at terms, batch, rows and column."""
    index_of: Callable[[KernelBuilder, Coordinates], list[Index]]
    """Return the index in the tensor of the element at coordinates."""
    coordinates_of: Callable[[KernelBuilder, Sequence[Index]], Coordinates]
    """The inverse of `index_of`."""
    rhs_along_terms: bool = False
    """True if the terms of `rhs`, and not its columns, are contiguous in memory."""
    weights: PackedWeights | None = None
    """The operand that is a constant, if callers can pass it packed."""
    merged: bool = False
    """True if an element has one index for rows and column: the row-major position in the image."""
    rows_together: int = 1
    """The rows of lhs whose elements of a column are next to each other in the tensor."""
    margin: int = 0
    """The number of columns after the last one at which `rhs` can be read, too. The numbers there
    are arbitrary."""
    edges: Edges | None = None
    """The edges of the image, if windows reach beyond it: `rhs` cannot be read there."""

    @property
    def is_blocked(self) -> bool:
        """Whether the last terms are the channels of a block."""
        return self.rhs_along_terms and len(self.terms) > 1

    def __post_init__(self) -> None:
        if self.read_lhs is None and (self.weights is None or not self.weights.is_lhs):
            raise ValueError("a contraction whose lhs cannot be read needs it as packed weights")

    def lhs(self, b: KernelBuilder, batch: Sequence[Index], m: Index, k: Index) -> SSAValue:
        """Return the element of lhs at batch, m and k. Lhs must have a form other than packed
        weights."""
        assert self.read_lhs is not None
        return self.read_lhs(b, batch, m, k)

    def multiply_add(
        self, b: KernelBuilder, acc: SSAValue, lhs: SSAValue, rhs: SSAValue
    ) -> SSAValue:
        """Return `acc + lhs * rhs`; a product of floats may or may not be rounded."""
        return multiply_add(b, acc, lhs, rhs)

    def packed_weights(self, b: KernelBuilder, weights: PackedWeights, width: int) -> Buffer:
        """Return the constant operand in a buffer of groups, blocks of `width` rows (or columns),
        terms and rows, which callers pass: all rows of a tile are then next to each other."""
        # The bytes are those of a tile in the order in which it reads them: one stream, which the
        # processor prefetches. Goto's packed A and B, oneDNN's blocked weights and the packed B of
        # MLAS are alike.
        rows, terms = known(self.m if weights.is_lhs else self.columns), volume(self.terms)
        shape = weights.groups, -(-rows // width), terms, width
        constant = weights.buffer
        return b.prepare(
            constant,
            shape,
            constant.element,
            lambda array: pack_rows(weights.matrices(array), width),
        )

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Write a loop that computes one element; `tiles` computes all elements faster."""
        batch, m, rows, column = at = self.coordinates_of(b, index)
        acc = b.variable(b.number(0, self.total))
        with b.loops(self.terms) as terms, b.when(self.inside(b, rows, column, terms)):
            lhs = self.lhs(b, batch, m, b.flat(terms, self.terms))
            rhs = self.rhs(b, terms, at)
            b.store(self.multiply_add(b, b.load(acc, [0]), lhs, rhs), acc, [0])
        return self.element_of(b, b.load(acc, [0]))

    def inside(
        self, b: KernelBuilder, rows: Sequence[Index], column: Index, terms: Sequence[Index]
    ) -> list[SSAValue]:
        """Return the conditions under which `rhs` can be read."""
        # Only the taps along the spatial dimensions can be beyond an edge: terms are input
        # channels, or blocks of them, then the taps, then perhaps the channels of a block.
        if self.edges is None:
            return []
        taps = terms[1 : 1 + len(self.edges.windows)]
        return self.edges.inside(b, [*rows, column], taps)

    def element_of(self, b: KernelBuilder, total: SSAValue) -> SSAValue:
        """Round a sum to the element type."""
        return of_total(b, total, self.element)


def of_total(b: KernelBuilder, total: SSAValue, element: Attribute) -> SSAValue:
    """Round a sum to the element type. A float sum of integers is exact, and is only converted."""
    if is_integer(element) and not is_integer(total.type):
        return exact_integer(b, total, element)
    return convert(b, total, element)


def total_type(
    element: Attribute, lhs: Tensor, rhs: Tensor, terms: Extent = 0, weights: Sequence[Array] = ()
) -> Attribute:
    """Return the type of the sums: f32 for shorter floats; for integers, which wrap around, the
    element type of the result, or i64 if that is a float.

    Sums of `terms` products of narrow integers are f32 if it holds all of them exactly, in any
    order: processors multiply and add f32 faster than i32. `weights` are the matrices that rhs may
    be, with a row for each result, if they are known.
    """
    if is_integer(lhs.element):
        total = element if is_integer(element) else i64
        wider = is_integer(total) and total.bitwidth > 16
        if wider and isinstance(terms, int):
            # The bound holds for partial sums too, in any order, so neither blocks of terms nor
            # fused multiply-adds round. Without known weights, up to 514 terms of ui8 * i8 fit, and
            # 1024 of i8 * i8. Results of 16 bits and less are left out: their sums wrap around, and
            # fptosi of a sum out of range is poison. The bound is 0 if callers do not give the
            # number of terms.
            if 0 < greatest_sum(lhs.element, rhs.element, terms, weights) <= EXACT:
                return f32
        return signless_form(total)
    return wide_type(lhs.element)


EXACT = 1 << 24
"""The maximum number up to which f32 holds all integers."""


def greatest_sum(lhs: Attribute, rhs: Attribute, terms: int, weights: Sequence[Array]) -> int:
    """Return a bound of the magnitude of sums of up to `terms` products of integers."""
    low, high = int(minimum_of(lhs)), int(maximum_of(lhs))
    if not weights:
        return int(terms * max(-low, high) * max(-minimum_of(rhs), maximum_of(rhs)))
    bounds = [0]
    for matrix in weights:
        # The largest sum has the maximum of the data at each positive weight, and the minimum at
        # each negative weight: with data of ui8 and the weights 3 -2, sums are from -510 to 765.
        # The bound is 765; if the weights are not known it is 65280.
        wide = matrix.astype("int64")
        above = [int(total) for total in wide.clip(min=0).sum(axis=1)]
        below = [-int(total) for total in wide.clip(max=0).sum(axis=1)]
        bounds += (a * high - b * low for a, b in zip(above, below, strict=True))
        bounds += (b * high - a * low for a, b in zip(above, below, strict=True))
    return max(bounds)
