"""Rules for sizes of results that no symbolic expression gives: values computed at run time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f64, i64
from xdsl.ir import Operation, OpResult, SSAValue

from ...dialects.relax.contraction.linear_algebra import BatchMatmulOp, MatmulOp
from ...dialects.relax.data.creation import ArangeOp
from ...dialects.relax.data.image import ResizeOp
from ...dialects.relax.data.reshape import ReshapeOp
from ...dialects.relax.data.split import SplitOp
from ...dialects.relax.data.strided_slice import StridedSliceOp
from ...dialects.relax.dynamic.manipulation import DynamicSplitOp
from ...dialects.relax.interfaces import Elementwise
from ...dialects.relax.shapes import normalize_axis
from ...dialects.relax.types import is_integer, tensor_type
from ...dialects.relax.windows.pooling import PoolOp
from ...passmanager.ir.per_class import PerClass
from ..no_kernel import NoKernel
from ..scalars import is_unsigned
from .arithmetic import Rule, Scope, SizeOf, rank_of
from .dynamic_sizes import DYNAMIC_RULES, dynamic_split, reshape, scaled

__all__ = ["rule_of"]

PartRule: TypeAlias = Callable[[Any, int, int, Scope], SSAValue]
"""A rule of an operation with several results, which also takes the number of the result."""


def broadcast(op: Operation, axis: int, scope: Scope) -> SSAValue:
    """Return the size of an operand that is not 1."""
    rank = rank_of(op.results[0])
    size: SSAValue | None = None
    for operand in op.operands:
        place = axis - rank + rank_of(operand)
        if place < 0:
            continue
        other = scope.size(operand, place)
        if size is None or size is other:
            size = other
            continue
        is_one = scope.insert(arith.CmpiOp(size, scope.constant(1), "eq"))
        size = scope.insert(arith.SelectOp(is_one, other, size))
    assert size is not None
    return size


def matmul(op: MatmulOp | BatchMatmulOp, axis: int, scope: Scope) -> SSAValue:
    """Return the size of a batch dimension of an operand that is not 1."""
    sizes, rank = SizeOf(scope), rank_of(op.result)
    found: SSAValue | None = None
    for operand in op.operands:
        place = axis - rank + rank_of(operand)
        if 0 <= place < rank_of(operand) - 2:
            other = scope.size(operand, place)
            found = (
                other
                if found is None
                else sizes.select(sizes.compare(found, "eq", 1), other, found)
            )
    assert found is not None
    return found


def strided_slice(op: StridedSliceOp, axis: int, scope: Scope) -> SSAValue:
    part = op.slices(rank_of(op.data)).get(axis)
    size = scope.size(op.data, axis)
    if part is None:
        return size
    return SizeOf(scope).slice_length(size, part.start, part.stop, part.step)


def resize(op: ResizeOp, axis: int, scope: Scope) -> SSAValue:
    """Return the product of the scale and the size of the data, rounded down."""
    letter = op.data_layout().axes[axis]
    assert op.scales is not None
    return scaled(scope.size(op.data, axis), op.scales[op.SPATIAL.index(letter)], scope)


def pool(op: PoolOp, axis: int, scope: Scope) -> SSAValue:
    """Return the number of windows, of which the last may reach beyond the padding."""
    letter = op.layouts()[0].axes[axis]
    window = next(w for w in op.pool_windows() if w.axis == letter)
    sizes, size = SizeOf(scope), scope.size(op.data, axis)
    room = sizes.of(arith.AddiOp, size, window.before + window.after - window.span)
    up = sizes.of(arith.AddiOp, room, window.stride - 1)
    count = sizes.of(arith.AddiOp, sizes.of(arith.DivSIOp, up, window.stride), 1)
    padded = sizes.of(arith.AddiOp, size, window.before + window.stride - 1)
    beyond = sizes.of(arith.DivSIOp, padded, window.stride)
    return sizes.of(arith.MaxSIOp, sizes.of(arith.MinSIOp, count, beyond), 0)


def split(op: SplitOp, number: int, axis: int, scope: Scope) -> SSAValue:
    """Return the size of a part; that of the last one is what the others leave."""
    size, sizes = scope.size(op.data, axis), SizeOf(scope)
    if axis != normalize_axis(op.axis, rank_of(op.data)):
        return size
    if op.indices is not None:
        ends = [0, *op.indices, size]
        return sizes.slice_length(size, ends[number], ends[number + 1], 1)
    sections = len(op.results)
    part = sizes.ceildiv(size, sections)
    if number < sections - 1:
        return part
    return sizes.positive(sizes.of(arith.SubiOp, size, sizes.of(arith.MuliOp, part, sections - 1)))


def arange(op: ArangeOp, _: int, scope: Scope) -> SSAValue:
    """Return the number of steps from `start` to `stop`: 0 if that is not finite, which the kernel
    asserts that it is."""
    element = tensor_type(op.start).element_type
    numbers = [scope.number(value) for value in op.operands]
    if is_unsigned(element):
        raise NoKernel(f"a range of {element} has a size that is not constant")
    if is_integer(element):
        start, stop, step = (scope.insert(arith.IndexCastOp(n, IndexType())) for n in numbers)
        return integer_steps(start, stop, step, SizeOf(scope))
    if element != f64:
        numbers = [scope.insert(arith.ExtFOp(number, f64)) for number in numbers]
    start, stop, step = numbers
    return float_steps(start, stop, step, scope)


def integer_steps(start: SSAValue, stop: SSAValue, step: SSAValue, sizes: SizeOf) -> SSAValue:
    """Return the number of integers start + i * step before `stop`; 0 for a step of 0."""
    is_zero = sizes.compare(step, "eq", 0)
    rounding = sizes.select(sizes.compare(step, "slt", 0), 1, -1)
    distance = sizes.of(arith.AddiOp, sizes.of(arith.SubiOp, stop, start), step)
    distance = sizes.of(arith.AddiOp, distance, rounding)
    # The least integer divided by -1 is a trap of the processor.
    distance = sizes.of(arith.MaxSIOp, distance, -(2**63) + 1)
    count = sizes.of(arith.DivSIOp, distance, sizes.select(is_zero, 1, step))
    return sizes.select(is_zero, 0, sizes.positive(count))


def float_steps(start: SSAValue, stop: SSAValue, step: SSAValue, scope: Scope) -> SSAValue:
    """Return the number of f64 numbers start + i * step before `stop`; 0 if it is not finite.

    The quotient may be rounded to an integer, so the count is corrected by products, which are
    exact if the numbers are those of f32."""

    def of(cls: Callable[..., Operation], *operands: SSAValue) -> SSAValue:
        return scope.insert(cls(*operands))

    def number(value: float) -> SSAValue:
        return scope.insert(arith.ConstantOp(FloatAttr(value, f64)))

    def compare(lhs: SSAValue, predicate: str, rhs: SSAValue) -> SSAValue:
        return scope.insert(arith.CmpfOp(lhs, rhs, predicate))

    distance, is_down = of(arith.SubfOp, stop, start), compare(step, "olt", number(0))
    distance = of(arith.SelectOp, is_down, of(arith.NegfOp, distance), distance)
    step = of(arith.SelectOp, is_down, of(arith.NegfOp, step), step)
    quotient = of(arith.DivfOp, distance, step)
    is_some = of(
        arith.AndIOp,
        *(
            compare(quotient, predicate, number(bound))
            for predicate, bound in (("ogt", 0.0), ("olt", 2.0**62))
        ),
    )
    quotient = of(arith.SelectOp, is_some, quotient, number(0))
    steps = scope.insert(arith.FPToSIOp(quotient, i64))
    one, none = (scope.insert(arith.ConstantOp(IntegerAttr(n, i64))) for n in (1, 0))

    def reaches(steps: SSAValue) -> SSAValue:
        """Return whether so many steps lead to `stop`."""
        product = of(arith.MulfOp, scope.insert(arith.SIToFPOp(steps, f64)), step)
        return compare(product, "oge", distance)

    more, fewer = of(arith.AddiOp, steps, one), of(arith.SubiOp, steps, one)
    steps = of(
        arith.SelectOp,
        reaches(steps),
        of(arith.SelectOp, reaches(fewer), fewer, steps),
        more,
    )
    steps = of(arith.SelectOp, is_some, steps, none)
    return scope.insert(arith.IndexCastOp(steps, IndexType()))


_RULES: dict[type[Operation], Rule] = {
    **DYNAMIC_RULES,
    ArangeOp: arange,
    BatchMatmulOp: matmul,
    MatmulOp: matmul,
    PoolOp: pool,
    ReshapeOp: reshape,
    ResizeOp: resize,
    StridedSliceOp: strided_slice,
}

_PART_RULES: dict[type[Operation], PartRule] = {DynamicSplitOp: dynamic_split, SplitOp: split}


def _find_rule(cls: type[Operation]) -> Rule | None:
    if issubclass(cls, Elementwise):
        return broadcast
    return next((rule for other, rule in _RULES.items() if issubclass(cls, other)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)


def rule_of(result: OpResult) -> Callable[[int, Scope], SSAValue] | None:
    """Return the function that returns the size of a dimension of `result` in a scope, or None."""
    op = result.op
    if (rule := _PART_RULES.get(type(op))) is not None:
        return partial(rule, op, result.index)
    return None if (known := _rule_of[type(op)]) is None else partial(known, op)
