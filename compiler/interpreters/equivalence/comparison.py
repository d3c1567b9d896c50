"""The comparison of results: bit for bit, or within a bound; NaN equals NaN."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np

from ....passmanager.registration.rounding import Change, Rounding
from ..arrays import Array
from ..signature import Value
from .values import flat_values, is_function, is_tuple

__all__ = ["EXACT", "Compared", "Comparison", "tolerance"]

EXACT = 0.0
"""The tolerance with which floats are compared bit for bit, up to the payload of NaN."""


Compared: TypeAlias = Literal["values", "steps", "finite", "shapes"]
"""The comparison of floats that may be rounded elsewhere: of their values, of their values up to a
few steps of a quantization, of whether finite ones stay finite, or of shapes and element types."""

STEPS = 4
"""The steps by which 8-bit and 16-bit integers may differ where floats are quantized: layer after
layer, a number that is rounded the other way moves some of the next ones."""


def tolerance(epsilon: float, units: int = Rounding.units) -> float:
    """Return the relative bound for results, where an operation may be rounded elsewhere by `units`
    in the last place, in terms of the distance from 1 to the next number: for 16 units 1e-4 for
    f32, 1.5e-10 for f64, 4e-2 for f16.

    A unit may grow by `epsilon^(-1/3) / 4` in the operations after it, 51 in f32.
    """
    return units / 4 * epsilon ** (2 / 3)


@dataclass(frozen=True)
class Comparison:
    """The differences that are allowed between a value and the same one after a transformation.

    Integers are compared exactly, floats bit for bit up to NaN if `bound` is 0. Otherwise finite
    floats may differ by `bound` of their magnitude, and of the maximum of the finite ones in the
    array. NaN stays NaN, and an infinity an infinity, but for the `changes` that are allowed: NaN
    is that of `0 * inf` or `inf - inf` in another order.

    With a bound, `compared` restricts this. "finite" allows any difference, as intermediate results
    may lose all their digits, unless a finite number becomes infinite or NaN; up to `bound` below
    the maximum of the type, this may be rounding. "steps" allows narrow integers to differ by
    `STEPS`, and floats by as many of 64 parts of the maximum. "shapes" compares only shapes and
    element types. Functions are not compared.
    """

    bound: float = EXACT
    compared: Compared = "values"
    changes: Collection[Change] = Rounding.changes

    def mismatch(self, before: Value, after: Value) -> str | None:
        """Return in words how two values differ, or None if they are equal."""
        if is_tuple(before) or is_tuple(after):
            return self.mismatch_in(flat_values([before]), flat_values([after]))
        if is_function(before) or is_function(after):
            same = is_function(before) == is_function(after)
            return None if same else "one value is a function, the other is not"
        return _mismatch_of_arrays(before, after, self)

    def mismatch_in(self, before: Sequence[Value], after: Sequence[Value]) -> str | None:
        """Return in words how two lists of values differ, or None."""
        if len(before) != len(after):
            return f"there are {len(after)} values, before {len(before)}"
        for i, (old, new) in enumerate(zip(before, after)):
            if (text := self.mismatch(old, new)) is not None:
                return text if len(before) == 1 else f"of value {i}, {text}"
        return None


def _mismatch_of_arrays(before: Array, after: Array, comparison: Comparison) -> str | None:
    bound, compared = comparison.bound, comparison.compared
    if before.shape != after.shape:
        return f"the shape is {_shape(after)}, before {_shape(before)}"
    if before.dtype != after.dtype:
        return f"the element type is {after.dtype}, before {before.dtype}"
    if before.tobytes() == after.tobytes():
        return None
    if bound and compared == "steps":
        wrong = ~_within_steps(before, after)
    elif bound and compared != "values" and before.dtype.kind == "f":
        if compared == "shapes":
            return None
        wrong = _loses_finite(before, after, bound)
    else:
        wrong = ~_equal(before, after, bound, comparison.changes)
    if not (count := int(np.count_nonzero(wrong))):
        return None
    index = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    place = f"element {list(index)} is" if index else "the value is"
    old, new = (_number(array[index]) for array in (before, after))
    more = f" ({count} of {wrong.size} differ)" if wrong.size > 1 else ""
    return f"{place} {new}, before {old}{more}"


def _equal(
    before: Array, after: Array, bound: float, changes: Collection[Change] = Rounding.changes
) -> Array:
    """Return which elements are equal, or changed as they may be."""
    if before.dtype.kind != "f":
        return np.asarray(before == after)
    nan = np.isnan(before) & np.isnan(after)
    bits = f"u{before.dtype.itemsize}"
    if not bound:
        same = np.ascontiguousarray(before).view(bits) == np.ascontiguousarray(after).view(bits)
        return np.asarray(nan | same.reshape(before.shape))
    with np.errstate(all="ignore"):
        finite = np.isfinite(before) & np.isfinite(after)
        a, b = (np.where(finite, x, 0).astype(np.float64) for x in (before, after))
        magnitude = np.maximum(np.abs(a), np.abs(b))
        close = np.abs(a - b) <= bound * (magnitude + np.max(magnitude, initial=0))
        if "sign of zero may change" not in changes:
            close &= (a != 0) | (b != 0) | (np.signbit(a) == np.signbit(b))
        allowed = [_kinds(change, before, after) for change in changes if change in _KINDS]
        same = nan | (finite & close) | (np.isinf(before) & (before == after))
        return np.logical_or.reduce([same, *allowed])


_KINDS = {
    "infinite may become finite": (np.isinf, np.isfinite),
    "infinite may become NaN": (np.isinf, np.isnan),
    "NaN may become infinite": (np.isnan, np.isinf),
    "finite may become infinite": (np.isfinite, np.isinf),
    "finite may become NaN": (np.isfinite, np.isnan),
}
"""What an element is before, and what it may be after a change."""


def _kinds(change: Change, before: Array, after: Array) -> Array:
    """Return which elements change so."""
    old, new = _KINDS[change]
    return np.asarray(old(before) & new(after))


def _within_steps(before: Array, after: Array) -> Array:
    """Return which elements are equal up to a few steps of a quantization."""
    if before.dtype.kind == "f":
        return _equal(before, after, STEPS / 64)
    if before.dtype.itemsize > 2 or before.dtype.kind not in "iu":
        return np.asarray(before == after)
    return np.asarray(np.abs(before.astype(np.int32) - after.astype(np.int32)) <= STEPS)


def _loses_finite(before: Array, after: Array, bound: float) -> Array:
    """Return which elements are finite before, other than by rounding, and not after."""
    finite = np.abs(before) <= float(np.finfo(before.dtype).max) * (1 - bound)
    return np.asarray(finite & ~np.isfinite(after))


def _shape(array: Array) -> str:
    return "x".join(map(str, array.shape)) or "that of a scalar"


def _number(value: object) -> str:
    """Return a number with all digits that tell it from its neighbours."""
    return str(cast("np.generic", value))
