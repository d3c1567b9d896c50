"""Operations whose result sizes depend on data: calls of kernels, and operations with kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    ModuleOp,
    TensorType,
    i1,
    i64,
)
from xdsl.dialects.tensor import CastOp, ExtractOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from ....dialects.relax.data.detection import NonMaxSuppressionOp
from ....dialects.relax.data.indexing import NonzeroOp, TakeOp
from ....dialects.relax.data.manipulation import FlattenOp, SqueezeOp
from ....dialects.relax.dynamic.data_movement import DynamicCompressOp
from ....dialects.relax.kernels import CallTIROp
from ....dialects.relax.types import SmallFloat, Tensor, is_integer, is_ranked, tensor_type
from ....dialects.tir.builder import TirBuilder
from ....dialects.tir.ops import PrimFuncOp
from ....passmanager.ir.walk import walk
from ....passmanager.releases.memref import dim_op
from ..scalars import signless_form, with_sign
from .creation import SeparateKernels, parameter_shape
from .detection import call_selection_kernel

# The kernels of `relax.nonzero`: one counts the elements that are not 0, and one writes their
# coordinates.


def call_nonzero_kernels(op: NonzeroOp, kernels: SeparateKernels) -> SSAValue | None:
    """Insert calls of two kernels before `op`: the first returns the number of columns that the
    second computes. Return the result of the second; None if there are no such kernels."""
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
    """Return a kernel on a tensor of `type`. If it `fills` a result, it writes a column with the
    coordinates of each element that is not 0; otherwise it writes the number of these elements."""
    assert is_ranked(type)
    columns = [type.get_num_dims(), DYNAMIC_INDEX] if fills else []
    given = MemRefType(type.element_type, type.get_shape())
    func = PrimFuncOp(name, [given, MemRefType(i64, columns)], visibility="private")
    b = TirBuilder(func)
    x, output = func.args
    shape = parameter_shape(b, x)
    # One loop in row-major order: the place of a column is the number of columns before it. Threads
    # would need the counts of their parts first (a prefix sum).
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


Replacement: TypeAlias = Callable[[Any, SeparateKernels], SSAValue | None]
"""A function that inserts operations before another one and returns the value that replaces its
result; None, without inserting anything, if it does not support the operation."""


def replace_data_dependent(module: ModuleOp) -> None:
    """Replace the operations of `module` whose result sizes depend on data by calls of kernels, and
    by operations that have kernels."""
    kernels = SeparateKernels(module)
    # Decompositions first: the `nonzero` that `compress` inserts becomes calls in the second walk.
    for table in (DECOMPOSITIONS, CALLS):
        for op in [op for op in walk(module) if type(op) in table]:
            if (value := table[type(op)](op, kernels)) is None:
                continue
            (declared,) = op.result_types
            if value.type != declared:  # the declared type has sizes that are not inferred
                cast = CastOp.create(operands=[value], result_types=[declared])
                value = kernels.insert(op, cast)
            Rewriter.replace_op(op, [], [value])


def compress(op: DynamicCompressOp, kernels: SeparateKernels) -> SSAValue | None:
    """Take the slices at the positions where the condition holds."""
    if not is_ranked(op.data.type) or not is_ranked(op.condition.type):
        return None
    rows = kernels.insert(op, NonzeroOp(op.condition))
    places = kernels.insert(op, SqueezeOp(rows, axis=[0]))
    data = op.data if op.axis is not None else kernels.insert(op, FlattenOp(op.data))
    return kernels.insert(op, TakeOp(data, places, axis=op.axis or 0, mode="raise"))


DECOMPOSITIONS: Mapping[type[Operation], Replacement] = {DynamicCompressOp: compress}

CALLS: Mapping[type[Operation], Replacement] = {
    NonMaxSuppressionOp: call_selection_kernel,
    NonzeroOp: call_nonzero_kernels,
}
