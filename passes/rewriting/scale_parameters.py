"""Scales of tensors as passes move them, and the parameters that take them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike

from ...dialects.relax.binary import BinaryOp, DivideOp, MultiplyOp
from ...dialects.relax.broadcast import BroadcastToOp
from ...dialects.relax.constant import ConstantOp, FullOp, is_dense, is_number
from ...dialects.relax.interfaces import Along, Axes
from ...dialects.relax.permutation import TransposeOp
from ...dialects.relax.reshape import ReshapeOp
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import is_ranked, static_shape
from ...interpreters.arrays import (
    Array,
    array_of,
    dense_of,
    element_of,
    fit,
    number_of,
    scalar_of,
    widen,
)

__all__ = ["Parameters", "Scale", "array_in"]


class Scale(NamedTuple):
    """What a value is multiplied by: numbers along some axes of it, times values."""

    axes: Axes
    sizes: Shape
    """Those of the axes."""
    numbers: Array
    """As many as there are places along the axes, in f64, or one; 1 if there are values only."""
    values: tuple[SSAValue, ...] = ()
    """Each with as many elements, or one."""

    @staticmethod
    def of(value: SSAValue, axes: Axes, sizes: Shape) -> Scale:
        """That of a factor, which is of size 1 but along `axes`."""
        if (array := array_in(value)) is None:
            return Scale(axes, sizes, np.ones(1), (value,))
        return Scale(axes, sizes, array.astype(np.float64).reshape(-1))

    def times(self, other: Scale) -> Scale:
        """The product of two scales along the same axes, or one without any."""
        along = self if self.axes else other
        numbers = self.numbers * other.numbers
        return Scale(along.axes, along.sizes, numbers, self.values + other.values)

    def along(self, axes: Axes, sizes: Shape) -> Scale:
        """The scale of another value that it has become."""
        return self._replace(axes=axes, sizes=sizes)

    @property
    def is_positive(self) -> bool:
        """Whether it is known to be above zero."""
        return not self.values and bool((self.numbers > 0).all())

    @property
    def is_finite(self) -> bool:
        """Whether no number in it is infinite or NaN."""
        return bool(np.isfinite(self.numbers).all())

    def divides(self, dividend: float, type: TensorType[Attribute]) -> bool:
        """Whether numbers up to `dividend`, divided by it, are known to fit into elements."""
        if self.values or not self.numbers.all():
            return False
        least = np.abs(self.numbers).min(initial=np.inf)
        with np.errstate(over="ignore"):
            quotient = fit(np.asarray(dividend / least), element_of(type))
        return bool(np.isfinite(quotient))


def array_in(value: SSAValue) -> Array | None:
    """The elements of a constant, of rank 0 if it is a fill; None if the value is no constant."""
    type, owner = value.type, value.owner
    if isinstance(owner, ConstantOp | FullOp):  # the trait takes five times as long
        known = owner.value
    else:
        known = ConstantLike.get_constant_value(value)
    if known is None or not is_ranked(type):
        return None
    if is_dense(known):
        return array_of(known)
    return scalar_of(known, element_of(type)) if is_number(known) else None


class Parameters:
    """Operands that are scaled themselves: constants at once, by numpy, others by operations."""

    def __init__(self) -> None:
        self.edited: dict[tuple[Operation, int], Array] = {}
        """What constant operands have become; of a shape that broadcasts to theirs."""
        self.touched: dict[Operation, None] = {}
        """Constants that lost a use."""

    def array(self, op: Operation, index: int) -> Array | None:
        """What an operand is now, if it is constant."""
        if (array := self.edited.get((op, index))) is None:
            array = array_in(op.operands[index])
        return array

    def scale(
        self, op: Operation, index: int, along: Along, scale: Scale, divide: bool = False
    ) -> None:
        """Multiply an operand of `op` by a scale that is along some axes of it, or divide it."""
        factor = spread(scale.numbers, scale.sizes, along.axes)
        if (array := self.array(op, index)) is not None:
            seen = array if along.view is None or not array.ndim else array.reshape(along.view)
            if not array.ndim and along.view is not None and factor.ndim:
                seen = np.broadcast_to(array, along.view)
            product = apply(seen, factor, divide).astype(array.dtype, copy=False)
            self.edit(op, index, product if seen is array else _unview(product, op, index))
            factor = None
        elif scale.values and factor.ndim == 0 and factor == 1:
            factor = None
        if factor is not None or scale.values:
            self.write(op, index)
            _Insertion(op, index, along, divide).scale(factor, scale)

    def add(self, op: Operation, index: int, axes: Axes, term: Array) -> None:
        """Add to an operand that is constant; `term` is of size 1 but along some axes, which in
        the operand are `axes`."""
        array = self.array(op, index)
        assert array is not None
        term = spread(widen(term).reshape(-1), tuple(n for n in term.shape if n != 1), axes)
        total = np.asarray(widen(array) + term)
        self.edit(op, index, total.astype(array.dtype, copy=False))

    def greatest(self, op: Operation, index: int) -> float:
        """The absolute value that no element of an operand exceeds, at least 1; that if it is not
        known."""
        array = self.array(op, index)
        return 1.0 if array is None else float(np.abs(widen(array)).max(initial=1))

    def edit(self, op: Operation, index: int, array: Array) -> None:
        """Note what a constant operand has become."""
        type = op.operands[index].type
        assert is_ranked(type)
        self.edited[op, index] = fit(array, element_of(type))

    def write(self, op: Operation, index: int) -> None:
        """Make the constant that an operand has become."""
        if (array := self.edited.pop((op, index), None)) is None:
            return
        old = op.operands[index]
        new = constant(array, old)
        new[0].location = old.owner.location if isinstance(old.owner, Operation) else op.location
        assert op.parent is not None
        op.parent.insert_ops_before(new, op)
        new[-1].results[0].name_hint = old.name_hint
        self.touch(old)
        op.operands[index] = new[-1].results[0]

    def write_all(self) -> None:
        """Make the constants, and erase those that are not used any more."""
        for op, index in list(self.edited):
            self.write(op, index)
        for op in self.touched:
            if op.parent is not None and all(r.first_use is None for r in op.results):
                op.detach()
                op.drop_all_references()

    def forget(self, op: Operation) -> None:
        """Note that `op` is to be erased."""
        for index, operand in enumerate(op.operands):
            self.edited.pop((op, index), None)
            self.touch(operand)

    def touch(self, value: SSAValue) -> None:
        """Note that a value loses a use."""
        if isinstance(owner := value.owner, ConstantOp | FullOp):
            self.touched[owner] = None


def apply(array: Array, factor: Array, divide: bool) -> Array:
    """The product or the quotient, computed in f32 at least."""
    array = widen(array)
    factor = factor.astype(array.dtype, copy=False)
    return np.asarray(array / factor if divide else array * factor)


def spread(numbers: Array, sizes: Shape, axes: Axes) -> Array:
    """The numbers as an array that broadcasts along `axes`; of rank 0 if there is one."""
    if not axes or numbers.size == 1:
        return numbers.reshape(())
    return numbers.reshape(sizes).transpose(_order(axes)).reshape(_spread_shape(sizes, axes))


def _order(axes: Axes) -> list[int]:
    """The places of the axes in the order of the dimensions."""
    return sorted(range(len(axes)), key=axes.__getitem__)


def _spread_shape(sizes: Shape, axes: Axes) -> Shape:
    """The shape of which dimensions `axes` have these sizes, and all others are 1."""
    shape = [1] * -min(axes)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return tuple(shape)


def _unview(array: Array, op: Operation, index: int) -> Array:
    """An array in the shape of the operand."""
    shape = static_shape(op.operands[index].type)
    assert shape is not None
    return array.reshape(shape) if array.ndim else array


def constant(array: Array, old: SSAValue) -> Sequence[Operation]:
    """The operations that make a constant of the shape that the old one and an array have
    together: a fill, or a small one that is broadcast, if they can."""
    type, old_shape = old.type, static_shape(old.type)
    assert is_ranked(type) and old_shape is not None
    if not array.ndim:
        return (FullOp(number_of(array, element_of(type)), type),)
    if array.shape == old_shape:
        return (ConstantOp(dense_of(array, type)),)
    op = ConstantOp(dense_of(array, TensorType(type.element_type, array.shape)))
    shape = np.broadcast_shapes(old_shape, array.shape)
    return (op,) if array.shape == shape else (op, BroadcastToOp(op, shape=shape))


class _Insertion:
    """Operations put before `op` that make another operand of one of its operands."""

    def __init__(self, op: Operation, index: int, along: Along, divide: bool) -> None:
        self.op = op
        self.index = index
        self.along = along
        self.kind: type[BinaryOp] = DivideOp if divide else MultiplyOp

    def scale(self, factor: Array | None, scale: Scale) -> None:
        """Scale the operand by numbers, if there are any, and by the values of a scale."""
        old = self.op.operands[self.index]
        shape, view = static_shape(old.type), self.along.view
        result = old if view is None else self.reshaped(old, view)
        if factor is not None:
            result = self.scaled(result, self.numbers(factor, result))
        for value in scale.values:
            result = self.scaled(result, self.spread(value, scale))
        if view is not None:
            assert shape is not None
            result = self.reshaped(result, shape)
        self.op.operands[self.index] = result

    def scaled(self, value: SSAValue, factor: SSAValue) -> SSAValue:
        return self.insert(self.kind(value, factor))

    def numbers(self, factor: Array, like: SSAValue) -> SSAValue:
        """A constant of elements like those of a value."""
        assert is_ranked(like.type)
        type = TensorType(like.type.element_type, factor.shape)
        array = fit(factor, element_of(type))
        if not array.ndim:
            return self.insert(FullOp(number_of(array, element_of(type)), type))
        return self.insert(ConstantOp(dense_of(array, type)))

    def spread(self, value: SSAValue, scale: Scale) -> SSAValue:
        """A value that broadcasts along the axes."""
        shape, axes = static_shape(value.type), self.along.axes
        assert shape is not None
        if prod(shape) == 1:
            return self.reshaped(value, ())
        order = _order(axes)
        if order != sorted(order):
            value = self.reshaped(value, scale.sizes)
            value = self.insert(TransposeOp(value, axes=tuple(order)))
        return self.reshaped(value, _spread_shape(scale.sizes, axes))

    def reshaped(self, value: SSAValue, shape: Shape) -> SSAValue:
        if static_shape(value.type) == shape:
            return value
        return self.insert(ReshapeOp(value, newshape=shape, allowzero=0 in shape))

    def insert(self, op: Operation) -> SSAValue:
        assert self.op.parent is not None
        op.location = self.op.location
        self.op.parent.insert_op_before(op, self.op)
        return op.results[0]
