"""Values of the interpreter: tuples as lists of arrays, and the form that depends on the type
alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from typing_extensions import TypeIs
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute
from xdsl.utils.type import get_element_type_or_self

from ....dialects.relax.types import is_number
from ..arrays import Array, fit
from ..signature import Value

__all__ = ["flat_values", "is_function", "is_tuple", "named_arrays", "normalized"]


def is_tuple(value: Value) -> TypeIs[tuple[Value, ...]]:
    """Return whether `value` is a tuple."""
    return isinstance(value, tuple)


def is_function(value: Value) -> TypeIs[Callable[..., object]]:
    """Return whether `value` is a function, which cannot be compared."""
    return callable(value)


def flat_values(values: Sequence[Value]) -> list[Value]:
    """Return the arrays and functions in `values`: tuples are replaced by their elements, as
    the lowering does for parameters and results."""
    flat: list[Value] = []
    for value in values:
        flat += flat_values(value) if is_tuple(value) else [value]
    return flat


def named_arrays(name: str, value: Value) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a value, those of a tuple as `name.0`, `name.1`, ..."""
    if is_tuple(value):
        for i, element in enumerate(value):
            yield from named_arrays(f"{name}.{i}", element)
    elif not is_function(value):
        yield name, value


def normalized(type: Attribute, value: Value) -> Value:
    """Return a value in the form that depends on its type alone: a scalar of i1 may be 1, -1 or
    True in the interpreter."""
    if is_tuple(value):
        types = type.types.data if isinstance(type, TupleType) else [type] * len(value)
        return tuple(map(normalized, types, value))
    if is_function(value):
        return value
    element = get_element_type_or_self(type)
    array: Array = np.asarray(value)
    return fit(array, element) if is_number(element) else array
