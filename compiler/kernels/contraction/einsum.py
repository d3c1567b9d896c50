"""The legalization of einsum: sums of products with any subscripts."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.relax.contraction import linear_algebra
from ....dialects.relax.contraction.subscripts import Subscripts
from ....dialects.relax.types import tensor_type
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Extent
from ..builder import Elements, KernelBuilder, Legalization, Tensor, broadcast_index
from ..scalars import add, convert, multiply, step_type, widen

__all__ = ["EINSUM"]


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
