"""Large constants in another order, written once: their bytes are those of the new attribute.

To touch new memory takes most of the time in which a model with large weights is compiled.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute

from ....passmanager.fast.creation import make_attribute

if TYPE_CHECKING:
    from ...interpreters.arrays import Array

__all__ = ["dense_constant", "pack_rows"]


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
    """Return the dense constant of `type` with the elements of an array. Where these are all of an
    object of bytes, as those of `pack_rows`, they are not copied."""
    from ...interpreters.arrays import dense_of, dtype_of, element_of, stored_dtype

    owner = _owner(array)
    element = element_of(type)
    is_stored = array.dtype == dtype_of(element) == stored_dtype(element)
    is_whole = array.flags.c_contiguous and array.shape == type.get_shape()
    if isinstance(owner, bytes) and len(owner) == array.nbytes and is_stored and is_whole:
        data = make_attribute(BytesAttr, data=owner)
        return make_attribute(DenseIntOrFPElementsAttr, type=type, data=data)
    return dense_of(array, type)
