"""Scales along an axis: which operations carry them, and their product with parameters."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod, sqrt
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ...compiler.interpreters.arrays import (
    Array,
    dense_of,
    element_of,
    fit,
    float_limits,
    number_of,
    widen,
)
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.data.manipulation import BroadcastToOp, ReshapeOp, TransposeOp
from ...dialects.relax.elementwise.binary import BinaryOp, DivideOp, MultiplyOp
from ...dialects.relax.interfaces import Along, Axes
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import is_ranked, static_shape
from ...passmanager.fast.edit import erase, insert_before
from ..arrays import array_in
from ..float_rounding import magnitudes_along, minimum_factor, reassociates

# Scales of tensors: factors along some axes, as scale folding moves them.


class Scale(NamedTuple):
    """A factor of a tensor: numbers along some of its axes, times SSA values along the same."""

    axes: Axes
    sizes: Shape
    """The sizes of the tensor along `axes`."""
    numbers: Array
    """A flat f64 array with an element for each place along the axes, or with one element."""
    values: tuple[SSAValue, ...] = ()
    """Values with as many elements, or with one."""

    @staticmethod
    def of(value: SSAValue, axes: Axes, sizes: Shape) -> Scale:
        """Return the scale that is `value`, which has size 1 except along `axes`."""
        if (array := array_in(value)) is None:
            return Scale(axes, sizes, np.ones(1), (value,))
        return Scale(axes, sizes, array.astype(np.float64).reshape(-1))

    def times(self, other: Scale) -> Scale:
        """Return the product of two scales along the same axes, or one of them without axes."""
        along = self if self.axes else other
        numbers = self.numbers * other.numbers
        return Scale(along.axes, along.sizes, numbers, self.values + other.values)

    def along(self, axes: Axes, sizes: Shape) -> Scale:
        """Return the same scale for another tensor, where it runs along `axes`."""
        return self._replace(axes=axes, sizes=sizes)

    @property
    def is_positive(self) -> bool:
        """Return whether all elements are known to be above zero."""
        return not self.values and bool((self.numbers > 0).all())

    def is_finite(self, type: TensorType[Attribute]) -> bool:
        """Return whether no number is infinite or NaN in the element type of `type`."""
        with np.errstate(over="ignore"):
            return bool(np.isfinite(fit(self.numbers, element_of(type))).all())

    def divides(self, dividend: float, type: TensorType[Attribute]) -> bool:
        """Return whether numbers of magnitude up to `dividend`, divided by the scale, are known to
        be finite in the element type of `type`, and so are sums with them."""
        if self.values or not self.numbers.all():
            return False
        minimum = np.abs(self.numbers).min(initial=np.inf)
        with np.errstate(over="ignore"):
            quotient = fit(np.asarray(dividend / minimum), element_of(type))
        if reassociates():
            return bool(np.isfinite(quotient))
        # A sum with a quotient may overflow, unless it is less than one of the scaled terms was, or
        # the quotient is absorbed by great numbers.
        return bool(np.isfinite(quotient) and (minimum >= 1 or is_absorbed(quotient, type)))

    def multiplies(self, factor: float, type: TensorType[Attribute]) -> bool:
        """Return whether numbers of magnitude up to `factor`, multiplied by the known numbers of
        the scale, are finite in the element type of `type`."""
        with np.errstate(over="ignore"):
            product = fit(np.asarray(factor * self.maximum), element_of(type))
        return bool(np.isfinite(product))

    def keeps_precision(self, minimum: float, factor: float, type: TensorType[Attribute]) -> bool:
        """Return whether the scale can be multiplied by constants that are not 0, of magnitudes
        from `minimum` to `factor`, in the element type of `type` without a loss of digits.

        The products are not subnormal. Neither is what is no longer computed, the data times one of
        both, where the other one would magnify its error.
        """
        normal = float_limits(element_of(type)).normal
        return (
            minimum * self.minimum >= normal
            and (self.maximum <= 1 or minimum >= sqrt(normal))
            and (factor <= 1 or self.minimum >= sqrt(normal))
        )

    def distributes(self, summand: float, type: TensorType[Attribute]) -> bool:
        """Return whether a sum with numbers of magnitude up to `summand` can be scaled term by
        term: with known numbers, no term overflows where the scaled sum does not."""
        with np.errstate(over="ignore"):
            product = np.asarray(summand * self.maximum)
        return self.maximum <= 1 or is_absorbed(product, type)

    @property
    def maximum(self) -> float:
        """The maximum magnitude of a known number."""
        return float(np.abs(self.numbers).max(initial=0))

    @property
    def minimum(self) -> float:
        """The minimum magnitude of a known number that is not 0; infinity if there is none."""
        return float(np.abs(self.numbers[self.numbers != 0]).min(initial=np.inf))


def is_absorbed(number: Array, type: TensorType[Attribute]) -> bool:
    """Return whether a number is so small that it does not change a sum near overflow."""
    limits = float_limits(element_of(type))
    return bool(np.abs(number) <= limits.maximum * limits.epsilon / 8)


# Scaling of operands: weights, biases and other parameters of operations.


class ParameterScaler:
    """Scales operands: constants with numpy, other values with inserted operations.

    A constant may be scaled several times, but is written to the IR once, at the end; other uses
    of the same constant keep the old one.
    """

    def __init__(self) -> None:
        self.edited: dict[tuple[Operation, int], Array] = {}
        """The new elements of constant operands, in a shape that broadcasts to the operand's."""
        self.touched: dict[Operation, None] = {}
        """Constants that lost a use."""

    def array(self, op: Operation, index: int) -> Array | None:
        """Return the current elements of a constant operand of `op`; None for another operand."""
        if (array := self.edited.get((op, index))) is None:
            array = array_in(op.operands[index])
        return array

    def scale(
        self, op: Operation, index: int, along: Along, scale: Scale, divide: bool = False
    ) -> None:
        """Multiply operand `index` of `op` by `scale`, which runs along `along`, or divide it."""
        factor = _broadcast_along(scale.numbers, scale.sizes, along.axes)
        if (array := self.array(op, index)) is not None:
            seen = array if along.view is None or not array.ndim else array.reshape(along.view)
            if not array.ndim and along.view is not None and factor.ndim:
                seen = np.broadcast_to(array, along.view)
            with np.errstate(over="ignore"):  # with `relax.fastmath=reassoc`
                product = _apply(seen, factor, divide).astype(array.dtype, copy=False)
            self.edit(op, index, product if seen is array else _unview(product, op, index))
            factor = None
        elif scale.values and factor.ndim == 0 and factor == 1:
            factor = None
        if factor is not None or scale.values:
            self.write(op, index)
            _OperandRewriter(op, index, along, divide).scale(factor, scale)

    def add(self, op: Operation, index: int, axes: Axes, term: Array) -> bool:
        """Add `term` to the constant operand `index` of `op`; its dimensions of size other than 1
        are the dimensions `axes` of the operand. Return False, and do nothing, if a sum is not
        finite."""
        array = self.array(op, index)
        assert array is not None
        term = _broadcast_along(
            widen(term).reshape(-1), tuple(n for n in term.shape if n != 1), axes
        )
        with np.errstate(over="ignore"):
            total = np.asarray(widen(array) + term).astype(array.dtype, copy=False)
        if not np.isfinite(total).all():
            return False
        self.edit(op, index, total)
        return True

    def max_magnitude(self, op: Operation, index: int) -> float:
        """Return the largest magnitude of an element of operand `index` of `op`, at least 1; 1 if
        the operand is not constant."""
        array = self.array(op, index)
        return 1.0 if array is None else float(np.abs(widen(array)).max(initial=1))

    def minimum_channel(self, op: Operation, index: int, along: Along) -> float:
        """Return the minimum of the maximum magnitudes of the weights along `along`, other than 0,
        times the factors below 1 by which the other operands were multiplied just before; infinity
        if the operand is not constant."""
        if (array := self.array(op, index)) is None:
            return inf
        channels = magnitudes_along(widen(array), along).max(axis=1, initial=0)
        minimum = float(channels.min(initial=inf, where=channels > 0))
        others = (v for i, v in enumerate(op.operands) if i != index)
        return minimum * prod(min(1.0, minimum_factor(value, self.array)) for value in others)

    def edit(self, op: Operation, index: int, array: Array) -> None:
        """Record the new elements of a constant operand."""
        type = op.operands[index].type
        assert is_ranked(type)
        self.edited[op, index] = fit(array, element_of(type))

    def write(self, op: Operation, index: int) -> None:
        """Replace a constant operand by a constant with its new elements, if there are any."""
        if (array := self.edited.pop((op, index), None)) is None:
            return
        old = op.operands[index]
        new = _constant_ops(array, old)
        new[0].location = old.owner.location if isinstance(old.owner, Operation) else op.location
        insert_before(op, *new)
        new[-1].results[0].name_hint = old.name_hint
        self.touch(old)
        op.operands[index] = new[-1].results[0]

    def write_all(self) -> None:
        """Write all new constants to the IR, and erase the old ones that have no use left."""
        for op, index in list(self.edited):
            self.write(op, index)
        for op in self.touched:
            if op.parent is not None and all(r.first_use is None for r in op.results):
                erase(op)

    def forget(self, op: Operation) -> None:
        """Drop the records of `op`, which is about to be erased."""
        for index, operand in enumerate(op.operands):
            self.edited.pop((op, index), None)
            self.touch(operand)

    def touch(self, value: SSAValue) -> None:
        """Record that `value` loses a use."""
        if isinstance(owner := value.owner, ConstantOp | FullOp):
            self.touched[owner] = None


def _apply(array: Array, factor: Array, divide: bool) -> Array:
    """Return the product of `array` and `factor`, or the quotient, computed in f32 or f64."""
    array = widen(array)
    factor = factor.astype(array.dtype, copy=False)
    return np.asarray(array / factor if divide else array * factor)


def _broadcast_along(numbers: Array, sizes: Shape, axes: Axes) -> Array:
    """Return the flat array `numbers` in a shape that broadcasts along `axes`, which have `sizes`;
    one number has rank 0."""
    if not axes or numbers.size == 1:
        return numbers.reshape(())
    return numbers.reshape(sizes).transpose(_ascending(axes)).reshape(_broadcast_shape(sizes, axes))


def _ascending(axes: Axes) -> list[int]:
    """Return the permutation that sorts `axes`."""
    return sorted(range(len(axes)), key=axes.__getitem__)


def _broadcast_shape(sizes: Shape, axes: Axes) -> Shape:
    """Return the shape with `sizes` in the dimensions `axes`, and 1 in the others."""
    shape = [1] * -min(axes)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return tuple(shape)


def _unview(array: Array, op: Operation, index: int) -> Array:
    """Return `array` in the shape of operand `index` of `op`; a scalar stays one."""
    shape = static_shape(op.operands[index].type)
    assert shape is not None
    return array.reshape(shape) if array.ndim else array


def _constant_ops(array: Array, old: SSAValue) -> Sequence[Operation]:
    """Make a constant with the elements of `array` for the place of `old`, to whose shape both
    broadcast: a fill or a broadcast smaller constant where possible."""
    type, old_shape = old.type, static_shape(old.type)
    assert is_ranked(type) and old_shape is not None
    if not array.ndim:
        return (FullOp(number_of(array, element_of(type)), type),)
    if array.shape == old_shape:
        return (ConstantOp(dense_of(array, type)),)
    op = ConstantOp(dense_of(array, TensorType(type.element_type, array.shape)))
    shape = np.broadcast_shapes(old_shape, array.shape)
    return (op,) if array.shape == shape else (op, BroadcastToOp(op, shape=shape))


class _OperandRewriter:
    """Inserts operations before `op` that scale one of its operands."""

    def __init__(self, op: Operation, index: int, along: Along, divide: bool) -> None:
        self.op = op
        self.index = index
        self.along = along
        self.kind: type[BinaryOp] = DivideOp if divide else MultiplyOp

    def scale(self, factor: Array | None, scale: Scale) -> None:
        """Scale the operand by `factor`, if given, and by the values of `scale`."""
        old = self.op.operands[self.index]
        shape, view = static_shape(old.type), self.along.view
        result = old if view is None else self.reshape(old, view)
        if factor is not None:
            result = self.insert(self.kind(result, self.constant(factor, result)))
        for value in scale.values:
            result = self.insert(self.kind(result, self.broadcast_along(value, scale)))
        if view is not None:
            assert shape is not None
            result = self.reshape(result, shape)
        self.op.operands[self.index] = result

    def constant(self, factor: Array, like: SSAValue) -> SSAValue:
        """Insert `factor` as a constant with the element type of `like`."""
        assert is_ranked(like.type)
        type = TensorType(like.type.element_type, factor.shape)
        array = fit(factor, element_of(type))
        if not array.ndim:
            return self.insert(FullOp(number_of(array, element_of(type)), type))
        return self.insert(ConstantOp(dense_of(array, type)))

    def broadcast_along(self, value: SSAValue, scale: Scale) -> SSAValue:
        """Bring a value of `scale` into a shape that broadcasts along the axes."""
        shape, axes = static_shape(value.type), self.along.axes
        assert shape is not None
        if prod(shape) == 1:
            return self.reshape(value, ())
        order = _ascending(axes)
        if order != sorted(order):
            value = self.reshape(value, scale.sizes)
            value = self.insert(TransposeOp(value, axes=tuple(order)))
        return self.reshape(value, _broadcast_shape(scale.sizes, axes))

    def reshape(self, value: SSAValue, shape: Shape) -> SSAValue:
        if static_shape(value.type) == shape:
            return value
        return self.insert(ReshapeOp(value, newshape=shape, allowzero=0 in shape))

    def insert(self, op: Operation) -> SSAValue:
        op.location = self.op.location
        insert_before(self.op, op)
        return op.results[0]
