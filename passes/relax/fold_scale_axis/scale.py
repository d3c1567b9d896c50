"""Scales of tensors: factors along some axes, as scale folding moves them."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ....compiler.interpreters.arrays import Array, element_of, fit, float_limits
from ....dialects.relax.interfaces import Axes
from ....dialects.relax.shapes import Shape
from ...constants.arrays import array_in
from ...constants.float_range import reassociates

__all__ = ["Scale"]


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
