"""The operation that splits a tensor into parts along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from ...numbers import ceildiv, maximum
from ..attributes import (
    PropertyValue,
    int_prop,
    opt_int_prop,
    opt_ints_prop,
)
from ..base import TensorOp
from ..interfaces import (
    Conversion,
    Injective,
    LayoutRule,
    first_relayout,
)
from ..layout import Relayout
from ..shapes import (
    MAX_SIZE,
    computed_size,
    normalize_axis,
    replace_dimension,
    slice_length,
)
from ..types import (
    TENSOR,
    number_type,
    shape_of,
    with_shape,
)

__all__ = ["SplitOp", "split_slices"]

MAX_SECTIONS = 1 << 20
"""The most parts of a tensor: each is a result of its own."""


@irdl_op_definition
class SplitOp(LayoutRule, Injective, TensorOp):
    """The parts of a tensor along `axis`, one for each result (`relax.split`).

    Either `indices` has the bounds between the parts, as in numpy slices, or `sections` is the
    number of parts of equal size; the last part may be smaller.
    """

    name = "relax.split"

    data = operand_def(TENSOR)
    indices = opt_ints_prop()
    sections = opt_int_prop()
    axis = int_prop(0)
    parts = var_result_def(TENSOR)

    def infer_types(self) -> Sequence[Attribute]:
        type = number_type(self.data)
        if (self.indices is None) == (self.sections is None):
            raise VerifyException("expected either indices or sections")
        shape = shape_of(type)
        axis = 0 if shape is None else normalize_axis(self.axis, len(shape))
        size = DYNAMIC_INDEX if shape is None else shape[axis]
        sizes = part_sizes(size, self.indices, self.sections or 0)
        check_results(self, len(sizes))
        return [with_shape(type, shape and replace_dimension(shape, axis, size)) for size in sizes]

    def convert_layouts(self, relayouts: Sequence[Relayout | None]) -> Conversion:
        """Split a blocked axis between blocks; VerifyException if a part cuts a block."""
        relayout = first_relayout(relayouts)
        axis = normalize_axis(self.axis, relayout.rank)
        factor = relayout.factor(axis)
        properties: dict[str, PropertyValue] = {"axis": relayout.dimensions([axis])[0]}
        if factor > 1 and (indices := self.indices) is not None:
            if any(index % factor for index in indices):
                raise VerifyException(f"indices {[*indices]} are not all multiples of {factor}")
            properties["indices"] = [index // factor for index in indices]
        return Conversion([relayout], [relayout] * len(self.results), properties)


def check_results(op: TensorOp, number: int) -> None:
    """Raise VerifyException unless `op` has that number of results.

    An operation under construction, whose result types are being inferred, has none yet.
    """
    if op.results and len(op.results) != number:
        raise VerifyException(f"has {len(op.results)} results, but splits into {number}")


def part_sizes(size: int, indices: Sequence[int] | None, sections: int) -> list[int]:
    """Return the sizes of the parts of a dimension of that `size`."""
    if indices is None and sections < 1:
        raise VerifyException(f"sections is {sections}, expected at least 1")
    if sections > MAX_SECTIONS:
        raise VerifyException(f"sections is {sections}, expected at most {MAX_SECTIONS}")
    if size != DYNAMIC_INDEX:
        return [len(range(*part.indices(size))) for part in split_slices(size, indices, sections)]
    if indices is None:
        part = partial(ceildiv, b=sections)
        # That the parts are of equal size is not sure: the last is what the others leave.
        last = computed_size(lambda n: maximum(n - part(n) * (sections - 1), 0), size)
        return [computed_size(part, size)] * (sections - 1) + [last]
    bounds = pairwise([0, *indices, MAX_SIZE])
    return [computed_size(partial(slice_length, begin=a, end=b, step=1), size) for a, b in bounds]


def split_slices(size: int, indices: Sequence[int] | None, sections: int) -> list[slice]:
    """Return the parts of a dimension of known size, at `indices` or else in `sections` parts."""
    if indices is None:
        length = -(-size // sections)
        if length * (sections - 1) > size:
            raise VerifyException(f"dimension of size {size} does not split into {sections} parts")
        indices = [length * i for i in range(1, sections)]
    return [slice(*ends) for ends in zip([0, *indices], [*indices, size], strict=True)]
