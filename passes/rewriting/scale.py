"""Scales of tensors: factors along some axes, as scale folding moves them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from ...dialects.relax.interfaces import Axes
from ...dialects.relax.shapes import Shape
from ...interpreters.arrays import Array, element_of, fit
from .constant_arrays import array_in

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

    @property
    def is_finite(self) -> bool:
        """Return whether no number is infinite or NaN."""
        return bool(np.isfinite(self.numbers).all())

    def divides(self, dividend: float, type: TensorType[Attribute]) -> bool:
        """Return whether numbers of magnitude up to `dividend`, divided by the scale, are known to
        be finite in the element type of `type`."""
        if self.values or not self.numbers.all():
            return False
        least = np.abs(self.numbers).min(initial=np.inf)
        with np.errstate(over="ignore"):
            quotient = fit(np.asarray(dividend / least), element_of(type))
        return bool(np.isfinite(quotient))
