"""Contractions of bytes on processors that multiply and add four of them at once.

Four bytes along the terms are one word, an i32. A contraction of words has a quarter of the terms.
Apart from that it is like any other contraction: it has the same tiles, packed weights and
schedules. With two words:

    sum of data[0..7] * weights[0..7]  =  dp4a(d[0], w[0], dp4a(d[1], w[1], 0))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.types import is_integer
from ....dialects.tir.builder import Index
from ....dialects.tir.ops import Dp4aOp
from ..builder import Buffer, KernelBuilder, Scheduled, Store, Tensor
from ..scalars import convert, is_unsigned
from ..tensors import known
from .contraction import Contraction

if TYPE_CHECKING:
    from ...interpreters.arrays import Array


BYTES = 4
"""The bytes of a word."""


@dataclass(eq=False)
class ByteProducts(Contraction):
    """A contraction whose elements are words of four bytes: unsigned ones of the data, and signed
    ones of the weights."""

    data_is_lhs: bool = False
    exact_pairs: bool = False
    """Whether the sums of pairs of products are known to fit in an i16."""

    @staticmethod
    def of(contraction: Contraction, exact_pairs: bool, data_is_lhs: bool = False) -> ByteProducts:
        """Return a contraction of words as one of their bytes."""
        return ByteProducts(**vars(contraction), data_is_lhs=data_is_lhs, exact_pairs=exact_pairs)

    def multiply_add(
        self, b: KernelBuilder, acc: SSAValue, lhs: SSAValue, rhs: SSAValue
    ) -> SSAValue:
        data, weights = (lhs, rhs) if self.data_is_lhs else (rhs, lhs)
        op = Dp4aOp(data, weights, acc, exact_pairs=self.exact_pairs)
        return b.insert(op).results[0]


@dataclass(eq=False)
class ByteWords(Scheduled):
    """A tensor of unsigned bytes as words of four along an axis. If the last word is not full, it
    repeats the last byte: the weights there are 0."""

    data: Tensor
    axis: int

    @staticmethod
    def of(data: Tensor, axis: int) -> ByteWords:
        shape = [*data.shape]
        shape[axis] = -(-known(shape[axis]) // BYTES)
        return ByteWords((*shape,), i32, data, axis % len(shape))

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        # Byte 0 is in the lowest bits, as in the packed weights, whatever the byte order of the
        # host: the word is made by shifts, not by a load of four bytes.
        size = known(self.data.shape[self.axis])
        first = index[self.axis] * BYTES
        word: SSAValue | None = None
        for byte in range(BYTES):
            place = [*index]
            place[self.axis] = first + byte
            # For 6 bytes, word 1 is 4 5 5 5. The weights there are 0, so any byte that may be read
            # would do. Memory beyond the end might not be mapped.
            if size % BYTES:
                place[self.axis] = b.min(place[self.axis], size - 1)
            value = convert(b, b.read(self.data, place), i32)
            if byte:
                value = b.pure(arith.ShLIOp, value, b.number(8 * byte, i32))
            word = value if word is None else b.pure(arith.OrIOp, word, value)
        assert word is not None
        return word

    def write(self, b: KernelBuilder, store: Store) -> None:
        with b.elements(self.shape, b.lanes) as index:
            store(index, self.read(b, index))


def words_of_constant(b: KernelBuilder, weights: Buffer, axis: int) -> Buffer:
    """Return a constant of bytes as words of four along an axis, with zeros at the end."""
    shape = [*weights.shape]
    shape[axis] = -(-known(shape[axis]) // BYTES)

    def words(array: Array) -> Array:
        import numpy as np

        last = np.moveaxis(array, axis, -1)
        padded = np.pad(last, [(0, 0)] * (last.ndim - 1) + [(0, -last.shape[-1] % BYTES)])
        # "<i4" fixes byte 0 as the lowest, as in `Words.read`; astype gives the order of the host.
        packed = np.ascontiguousarray(padded).view("<i4").astype(np.int32)
        return np.ascontiguousarray(np.moveaxis(packed, -1, axis))

    return b.converted(weights, (*shape,), i32, words)


def byte_products(
    b: KernelBuilder,
    data: Tensor,
    weights: Tensor,
    element: Attribute,
    matrices: Sequence[Array],
) -> bool | None:
    """Return None if the products of data and weights are not best computed in words, or the
    weights are no constant. Otherwise return whether the sums of pairs of products are known to fit
    in an i16.

    `matrices` are the constants that the weights may be, with a row for each result. `element` is
    the element type of the result.
    """
    if b.constant(weights) is None or not matrices or (weights.element, element) != (i8, i32):
        return None
    # The instructions take unsigned data and signed weights. Data of i8 get here only after a pass
    # has added 128 to them and corrected the sums.
    bytes_ = data.element
    if not is_integer(bytes_) or not is_unsigned(bytes_) or bytes_.bitwidth != 8:
        return None
    exact = all(map(has_exact_pairs, matrices))
    return None if b.target.byte_dot_product(b.lanes, exact_pairs=exact) is None else exact


def by_channels(weights: Sequence[Array]) -> list[Array]:
    """Return weights as matrices of results and terms, with the input channels last."""
    moved = [array.reshape(*array.shape[:2], -1).swapaxes(1, 2) for array in weights]
    return [array.reshape(-1, array.shape[2]) for array in moved]


def has_exact_pairs(matrix: Array) -> bool:
    """Return whether the sums of two products of weights and unsigned bytes fit in an i16, in each
    row of weights: those of terms 0 and 1, of 2 and 3, and so on."""
    import numpy as np

    # vpmaddubsw adds terms 0 and 1, 2 and 3 of a word in an i16 that saturates: weights 64 64 give
    # 32640, which fits, 64 65 give 32895, which would be 32767. Weights of 7 bits always fit, which
    # is why onnxruntime's quantizer has `reduce_range`. vpdpbusd adds all four in i32.
    wide = np.pad(matrix.astype(np.int64), [(0, 0), (0, matrix.shape[1] % 2)])
    pairs: Array = 255 * wide.reshape(len(wide), -1, 2)
    above: Array = np.maximum(pairs, 0).sum(axis=2)
    below: Array = np.minimum(pairs, 0).sum(axis=2)
    return bool((above < 1 << 15).all() and (below >= -1 << 15).all())
