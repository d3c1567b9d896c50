"""The kernels of `relax.nonzero`: one counts the elements that are not 0, and one writes their
coordinates."""

from __future__ import annotations

from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    TensorType,
    i1,
    i64,
)
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import SSAValue

from ....dialects.relax.data.gather import NonzeroOp
from ....dialects.relax.kernels import CallTIROp
from ....dialects.relax.types import SmallFloat, Tensor, is_integer, is_ranked, tensor_type
from ....dialects.tir.builder import TirBuilder
from ....dialects.tir.ops import PrimFuncOp
from ....passmanager.releases.memref import dim_op
from ..scalars import signless_form, with_sign
from .separate_kernels import SeparateKernels, parameter_shape

__all__ = ["call_nonzero_kernels"]


def call_nonzero_kernels(op: NonzeroOp, kernels: SeparateKernels) -> SSAValue | None:
    """Insert calls of two kernels before `op`: the number of columns that the second computes is
    the result of the first. Return its result; None if there are no such kernels."""
    type = tensor_type(op.x)
    if not is_ranked(type) or isinstance(type.element_type, SmallFloat):
        return None
    build = partial(nonzero_kernel, type)
    fill = kernels.named("nonzero", type, partial(build, fills=True))
    count = kernels.named("nonzero_count", type, partial(build, fills=False))
    total = kernels.insert(op, CallTIROp(count, [op.x], [TensorType(i64, [])]))
    element = kernels.insert(op, ExtractOp(total, [], i64))
    size = kernels.insert(op, arith.IndexCastOp(element, IndexType()))
    whole = TensorType(i64, [type.get_num_dims(), DYNAMIC_INDEX])
    return kernels.insert(op, CallTIROp(fill, [op.x], [whole], [size]))


def nonzero_kernel(type: Tensor, name: str, *, fills: bool) -> PrimFuncOp:
    """Return a kernel on a tensor of `type`: it writes the coordinates of the elements that are not
    0 if it `fills` a result, a column for each element, and else their number."""
    assert is_ranked(type)
    columns = [type.get_num_dims(), DYNAMIC_INDEX] if fills else []
    given = MemRefType(type.element_type, type.get_shape())
    func = PrimFuncOp(name, [given, MemRefType(i64, columns)], visibility="private")
    b = TirBuilder(func)
    x, output = func.args
    shape = parameter_shape(b, x)
    # One loop in row-major order, as the place of each column is the number of those before it.
    # Threads would need the counts of their parts first (a prefix sum).
    place = b.variable(0)
    size = b.index_of(b.insert(dim_op(output, b.index(1))).results[0]) if fills else None
    with b.elements(shape) as index:
        flag = is_nonzero(b, b.load(x, index))
        with b.when([flag]):
            at = b.load_index(place, [0])
            if size is not None:
                # The result has as many columns as the other kernel counted. If a caller passes a
                # smaller one, columns are left out: no store is out of bounds.
                with b.when([b.less(at, size)]):
                    for axis, i in enumerate(index):
                        number = b.pure(arith.IndexCastOp, b.index(i), target_type=i64)
                        b.store(number, output, [axis, at])
            b.store(at + 1, place, [0])
    if not fills:
        total = b.pure(arith.IndexCastOp, b.load(place, [0]), target_type=i64)
        b.store(total, output, [])
    return b.finish()


def is_nonzero(b: TirBuilder, x: SSAValue) -> SSAValue:
    """Return the condition that a number is not 0, of type i1; NaN counts as not 0."""
    if x.type == i1:
        return x
    if not is_integer(x.type):
        return b.pure(arith.CmpfOp, x, b.number(0.0, x.type), arg="une")
    x = with_sign(b, x, signless_form(x.type))
    return b.pure(arith.CmpiOp, x, b.number(0, x.type), arg="ne")
