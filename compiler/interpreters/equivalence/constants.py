"""The numbers among the constants of functions, and their neighbours: a function may compare its
arguments with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from math import isfinite
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.traits import ConstantLike

from ....dialects.relax.constant import is_dense
from ....dialects.relax.types import Element, is_number
from ....passmanager.ir.walk import walk
from ..arrays import Array, array_of, bounds, dtype_of, fit, float_limits
from .sizes import MAX_CONSTANT

__all__ = ["Number", "floats_around", "integers_around", "numbers_in"]

Number: TypeAlias = int | float
INDEX = IndexType()
MAX_NUMBERS = 16
"""The most numbers of the constants of one function."""
MAX_ELEMENTS = 16
"""The most elements of a constant whose numbers are taken: a larger one is a weight."""


def numbers_in(ops: Iterable[Operation]) -> Sequence[Number]:
    """Return the numbers of constants and of properties in `ops`, but for -1, 0 and 1, and for the
    sizes that are chosen for unknown dimensions and indices."""
    found = (n for op in ops for inner in walk(op) for n in _numbers_of(inner))
    different = dict.fromkeys(n for n in found if isfinite(n) and n not in (-1, 0, 1))
    return [*islice(different, MAX_NUMBERS)]


def _numbers_of(op: Operation) -> Iterable[Number]:
    if op.results and (constant := ConstantLike.get_constant_value(op.results[0])) is not None:
        return _numbers(constant)
    return [a.value.data for a in op.properties.values() if isinstance(a, FloatAttr)]


def _numbers(attribute: Attribute) -> Iterable[Number]:
    if isinstance(attribute, IntegerAttr | FloatAttr):
        number = attribute.value.data
        return () if number <= MAX_CONSTANT and INDEX in attribute.parameters else [number]
    if not is_dense(attribute) or len(attribute) > MAX_ELEMENTS:
        return ()
    if not is_number(element := attribute.get_element_type()):
        return ()  # sizes, for example
    convert = int if isinstance(element, IntegerType) else float
    return [convert(n) for n in array_of(attribute).ravel()]


def integers_around(element: IntegerType, numbers: Sequence[Number]) -> Array:
    """Return the integers among `numbers` with their neighbours, as far as the type has them."""
    low, high = map(int, bounds(element))
    whole = [int(n) for n in numbers if n == int(n)]
    near = dict.fromkeys(n + step for n in whole for step in (0, -1, 1))
    return np.array([n for n in near if low <= n <= high], dtype_of(element))


def floats_around(element: Element, numbers: Sequence[Number]) -> Array:
    """Return `numbers` with their neighbours, as far as the type has them."""
    limits = float_limits(element)
    near = [float(n) * (1 + step * limits.epsilon) for n in numbers for step in (0, -1, 1)]
    return fit(np.array([n for n in near if abs(n) <= limits.maximum], np.float64), element)
