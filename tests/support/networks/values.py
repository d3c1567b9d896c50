"""Values of a network, each computed twice with different rounding errors.

Passes reorder floating-point operations, so results differ by rounding. A second array, perturbed
by random errors after each operation, shows how far rounding alone can move a result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from support.operations.evaluation import Array
from xdsl.dialects.builtin import bf16, f16, f32, f64
from xdsl.ir import SSAValue

from passline.compiler.interpreters.arrays import element_of
from passline.dialects.relax.types import Element, tensor_type

__all__ = ["NotApplicable", "TracedValue", "perturb"]

MAX_MAGNITUDE = 1000.0
"""The largest float in a network: integers up to it are exact in f16, their products in f32."""
MAX_BF16 = 256.0
"""The largest integer up to which all are exact in bf16."""
NOISE: dict[Element, float] = {bf16: 8e-3, f16: 1e-3, f32: 2.5e-7, f64: 5e-16}
"""The relative error that one operation may have."""
MAX_ERROR: dict[Element, float] = {bf16: 0.2, f16: 0.05, f32: 1e-3, f64: 1e-9}
"""The largest error, relative to one more than the number, of a value that can be compared."""


class NotApplicable(Exception):
    """The exception for a rule to which no values fit, or an operation whose results cannot be
    compared."""


@dataclass(frozen=True)
class TracedValue:
    """An SSA value with its array, and with the array under other rounding errors."""

    value: SSAValue
    array: Array
    perturbed: Array

    @property
    def exact(self) -> bool:
        """Return whether the value does not depend on the order of computation."""
        return self.perturbed is self.array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def element(self) -> Element:
        return element_of(tensor_type(self.value))

    @property
    def tolerance(self) -> float:
        """Return the absolute difference that rounding errors can explain."""
        if self.exact or not self.array.size:
            return 0.0
        numbers = finite(self.array.astype(float))
        difference = np.abs(numbers - finite(self.perturbed.astype(float))).max()
        rounding = NOISE[self.element] * (1 + np.abs(numbers).max())
        return float(16 * (difference + rounding))


def perturb(
    element: Element,
    array: Array,
    perturbed: Array,
    *,
    exact: bool,
    allow_special: bool,
    rng: np.random.Generator,
) -> Array:
    """Return `perturbed` with the rounding error of one operation added, or `array` if that is
    exact.

    `exact` says that the operation and its operands are exact; a float result then is exact if all
    its elements are integers. NotApplicable if rounding changes the result too much to compare it.
    """
    if array.dtype.kind != "f":
        if not np.array_equal(array, perturbed):
            raise NotApplicable
        return array
    wide, other = array.astype(float), perturbed.astype(float)
    special = ~np.isfinite(wide)
    if special.any() and not allow_special:
        raise NotApplicable
    if not np.array_equal(wide[special], other[special], equal_nan=True):
        raise NotApplicable
    wide, other = finite(wide), finite(other)
    if np.abs(wide).max(initial=0) > (MAX_BF16 if element == bf16 else MAX_MAGNITUDE):
        raise NotApplicable
    if exact and (wide == np.rint(wide)).all():
        return array
    if not (np.abs(wide - other) <= MAX_ERROR[element] * (1 + np.abs(wide))).all():
        raise NotApplicable
    errors = rng.choice([-1, 1], array.shape) * NOISE[element]
    return np.asarray(perturbed * (1 + errors)).astype(array.dtype)


def finite(array: Array) -> Array:
    """Replace infinities and NaN by zeros."""
    return np.where(np.isfinite(array), array, 0)
