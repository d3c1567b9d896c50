"""The values of a quantized region: integers with a scale, or functions of one 8-bit integer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ....compiler.interpreters.arrays import Array
from ....dialects.relax.types import Element, is_number, tensor_type

__all__ = [
    "I32",
    "ROUNDING",
    "Affine",
    "NotQuantizable",
    "Quantity",
    "Table",
    "computed",
    "element_of_value",
]

I32 = 1 << 31
"""The magnitude that no sum of products reaches in an i32."""

ROUNDING = 2.0**-23
"""The error of a scale or a number in f32, relative to the greatest number."""


class NotQuantizable(Exception):
    """Raised where a region cannot be computed in integers; the message is the reason."""


@dataclass(frozen=True)
class Affine:
    """The numbers `(value - zero) * scale`."""

    value: SSAValue
    """Integers, or means of integers in f32."""
    scale: Array
    """Positive f32 numbers that broadcast to the value, of rank 0 for one number."""
    zero: int
    bound: int
    """The greatest magnitude of `value - zero`."""
    error: float
    """The greatest difference from the numbers that the operations on floats compute."""

    @property
    def reach(self) -> float:
        """The greatest magnitude of the numbers."""
        return float(self.scale.max(initial=0)) * self.bound

    @property
    def element(self) -> Element:
        return element_of_value(self.value)

    @property
    def is_narrow(self) -> bool:
        """Return whether the value is an 8-bit integer with one scale."""
        return self.element.bitwidth == 8 and self.scale.ndim == 0

    @property
    def is_sum(self) -> bool:
        """Return whether the value is an i32 without a zero point: a sum of products."""
        return self.element == i32 and self.zero == 0


def computed(value: SSAValue, scale: Array, bound: int, error: float) -> Affine:
    """Return numbers that floats would have rounded: `error` is that of the integers alone."""
    # Numbers in f32 and products of scales are rounded: an error in proportion to the greatest
    # number.
    exact = Affine(value, scale, 0, bound, error)
    return replace(exact, error=error + exact.reach * ROUNDING)


@dataclass(frozen=True)
class Table:
    """A function of an 8-bit integer, by the numbers for all its values from the least on."""

    value: SSAValue
    numbers: Array
    """256 numbers in f32."""


Quantity: TypeAlias = Affine | Table


def element_of_value(value: SSAValue) -> Element:
    """Return the element type of a tensor of numbers."""
    element = tensor_type(value).element_type
    assert is_number(element)
    return element
