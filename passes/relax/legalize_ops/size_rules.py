"""Rules for sizes of results that no symbolic expression gives: values computed at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, f64, i64
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.dynamic.broadcast import DynamicBroadcastToOp, DynamicExpandOp
from ....dialects.relax.dynamic.creation import DynamicFullOp
from ....dialects.relax.dynamic.reshape import DynamicReshapeOp
from ....dialects.relax.dynamic.slice import DynamicStridedSliceOp
from ....dialects.relax.image import ResizeOp
from ....dialects.relax.interfaces import Elementwise
from ....dialects.relax.linear_algebra import BatchMatmulOp, MatmulOp
from ....dialects.relax.pooling import PoolOp
from ....dialects.relax.reshape import ReshapeOp
from ....dialects.relax.shapes import normalize_axes
from ....dialects.relax.strided_slice import StridedSliceOp
from ....dialects.relax.types import is_ranked, static_shape
from ....passmanager.ir.per_class import PerClass

__all__ = ["Rule", "Scope", "rule_of"]


class Scope(Protocol):
    """A place in a function where sizes can be computed."""

    def size(self, value: SSAValue, axis: int) -> SSAValue:
        """Return the size of a dimension of a tensor."""
        ...

    def element(self, value: SSAValue, index: int) -> SSAValue:
        """Return an element of a vector of integers, or of a scalar, as an index."""
        ...

    def constants(self, value: SSAValue) -> Sequence[int]:
        """Return the integers of a constant vector; NoKernel if it is none."""
        ...

    def constant(self, number: int) -> SSAValue:
        """Return a constant of type index."""
        ...

    def insert(self, op: Operation) -> SSAValue:
        """Insert a pure operation and return its result."""
        ...


Number: TypeAlias = SSAValue | int

Rule: TypeAlias = Callable[[Any, int, Scope], SSAValue]
"""A function that returns the size of a dimension of the result of an operation."""


def rank_of(value: SSAValue) -> int:
    """Return the rank of a tensor."""
    type = value.type
    assert is_ranked(type)
    return type.get_num_dims()


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


class SizeOf:
    """Arithmetic on sizes in a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def number(self, value: Number) -> SSAValue:
        return self.scope.constant(value) if isinstance(value, int) else value

    def of(self, cls: Callable[..., Operation], *operands: Number) -> SSAValue:
        return self.scope.insert(cls(*map(self.number, operands)))

    def compare(self, lhs: Number, predicate: str, rhs: Number) -> SSAValue:
        return self.scope.insert(arith.CmpiOp(self.number(lhs), self.number(rhs), predicate))

    def select(self, condition: SSAValue, then: Number, otherwise: Number) -> SSAValue:
        return self.of(arith.SelectOp, condition, then, otherwise)

    def slice_length(self, size: SSAValue, begin: Number, end: Number, step: int) -> SSAValue:
        """Return the number of elements of a Python slice of a dimension."""
        low, high = (0, size) if step > 0 else (-1, self.of(arith.SubiOp, size, 1))

        def bound(number: Number) -> SSAValue:
            from_end = self.of(arith.AddiOp, number, size)
            number = self.select(self.compare(number, "slt", 0), from_end, number)
            return self.of(arith.MaxSIOp, self.of(arith.MinSIOp, number, high), low)

        first, last = bound(begin), bound(end)
        ends = (last, first) if step > 0 else (first, last)
        distance = self.of(arith.MaxSIOp, self.of(arith.SubiOp, *ends), 0)
        return self.of(arith.DivUIOp, self.of(arith.AddiOp, distance, abs(step) - 1), abs(step))


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


def dynamic_slice(op: DynamicStridedSliceOp, axis: int, scope: Scope) -> SSAValue:
    axes, strides = scope.constants(op.axes), scope.constants(op.strides)
    size = scope.size(op.data, axis)
    for i, (place, step) in enumerate(
        zip(normalize_axes(axes, rank_of(op.data)), strides, strict=True)
    ):
        if place == axis:
            begin, end = scope.element(op.begin, i), scope.element(op.end, i)
            return SizeOf(scope).slice_length(size, begin, end, step)
    return size


def dynamic_full(op: DynamicFullOp, axis: int, scope: Scope) -> SSAValue:
    return SizeOf(scope).of(arith.MaxSIOp, scope.element(op.shape, axis), 0)


def dynamic_broadcast(
    op: DynamicBroadcastToOp | DynamicExpandOp, axis: int, scope: Scope
) -> SSAValue:
    """Return the size that is given, or that of the data where it is not 1: the kernel checks that
    both fit."""
    length = rank_of(op.result) - vector_length(op.shape)
    sizes = SizeOf(scope)
    given = 1 if axis < length else scope.element(op.shape, axis - length)
    given = sizes.of(arith.MaxSIOp, given, 0)
    place = axis - rank_of(op.result) + rank_of(op.data)
    if place < 0:
        return given
    return sizes.select(sizes.compare(given, "eq", 1), scope.size(op.data, place), given)


def reshape(op: ReshapeOp | DynamicReshapeOp, axis: int, scope: Scope) -> SSAValue:
    """Return a size that is given, copied from the data, or what the other sizes leave of it."""
    sizes, rank = SizeOf(scope), rank_of(op.data)
    row: list[SSAValue] = []
    for i in range(rank_of(op.result)):
        if isinstance(op, ReshapeOp):
            size = scope.constant(op.newshape[i])
        else:
            size = scope.element(op.newshape, i)
        if not op.allowzero and i < rank:
            size = sizes.select(sizes.compare(size, "eq", 0), scope.size(op.data, i), size)
        row.append(size)
    is_rest = sizes.compare(row[axis], "eq", -1)
    total, others = scope.constant(1), scope.constant(1)
    for i in range(rank):
        total = sizes.of(arith.MuliOp, total, scope.size(op.data, i))
    for size in row:
        known = sizes.select(sizes.compare(size, "eq", -1), 1, size)
        others = sizes.of(arith.MuliOp, others, known)
    rest = sizes.of(arith.DivSIOp, total, sizes.of(arith.MaxSIOp, others, 1))
    return sizes.of(arith.MaxSIOp, sizes.select(is_rest, rest, row[axis]), 0)


def resize(op: ResizeOp, axis: int, scope: Scope) -> SSAValue:
    """Return the product of the scale and the size of the data, rounded down."""
    letter = op.data_layout().axes[axis]
    assert op.scales is not None
    scale = op.scales[op.SPATIAL.index(letter)]
    number = scope.insert(arith.IndexCastOp(scope.size(op.data, axis), i64))
    number = scope.insert(arith.SIToFPOp(number, f64))
    factor = scope.insert(arith.ConstantOp(FloatAttr(scale, f64)))
    number = scope.insert(arith.FPToSIOp(scope.insert(arith.MulfOp(number, factor)), i64))
    return scope.insert(arith.IndexCastOp(number, IndexType()))


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


def vector_length(value: SSAValue) -> int:
    """Return the number of elements of a vector."""
    shape = static_shape(value.type)
    assert shape is not None
    return shape[0] if shape else 1


_RULES: dict[type[Operation], Rule] = {
    BatchMatmulOp: matmul,
    DynamicBroadcastToOp: dynamic_broadcast,
    DynamicExpandOp: dynamic_broadcast,
    DynamicFullOp: dynamic_full,
    DynamicReshapeOp: reshape,
    DynamicStridedSliceOp: dynamic_slice,
    MatmulOp: matmul,
    PoolOp: pool,
    ReshapeOp: reshape,
    ResizeOp: resize,
    StridedSliceOp: strided_slice,
}


def _find_rule(cls: type[Operation]) -> Rule | None:
    if issubclass(cls, Elementwise):
        return broadcast
    return next((rule for other, rule in _RULES.items() if issubclass(cls, other)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)


def rule_of(op: Operation) -> Rule | None:
    """Return the rule for the sizes of the results of `op`."""
    return _rule_of[type(op)]
