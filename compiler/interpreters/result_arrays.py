"""Results in arrays of the caller (`out=`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import Attribute

from ...passmanager.errors import PasslineError
from .arguments import check_array, is_shaped
from .arrays import Array, NarrowFloat, codes_of
from .dlpack import array_for, is_foreign
from .signature import Value

__all__ = ["memory_for", "write_results"]


def memory_for(
    names: Sequence[str], types: Sequence[Attribute], places: Sequence[object]
) -> list[Array]:
    """Return the arrays for results of these names and types as numpy arrays on their memory; those
    of narrow floats may be f32 or bits.

    PasslineError for another number of arrays, and for an array of another dtype or static shape,
    that is read-only, or on a device.
    """
    if len(places) != len(types):
        results = f"{len(types)} result{'s' * (len(types) != 1)}"
        raise PasslineError(f"`out` has {len(places)} arrays: expected one for each of {results}")
    return [_memory(*row) for row in zip(names, types, places, strict=True)]


def _memory(name: str, type: Attribute, place: object) -> Array:
    if not is_shaped(type):
        raise PasslineError(f"result '{name}' is {type}: `out` is for results that are arrays")
    if not isinstance(place, np.ndarray) and not is_foreign(place):
        got = place.__class__.__name__
        raise PasslineError(f"`out` for result '{name}' is of class {got}: expected an array")
    array = array_for(f"`out` for result '{name}'", cast("Array", place))
    if not array.flags.writeable:
        raise PasslineError(f"`out` for result '{name}' is read-only")
    return check_array(f"result '{name}'", type, array, keep_bits=True)


def write_results(
    names: Sequence[str],
    types: Sequence[Attribute],
    results: Sequence[Value],
    memory: Sequence[Array],
) -> None:
    """Write results to the memory for them, except those that are there already.

    PasslineError, before anything is written, if one has another shape.
    """
    arrays = cast("Sequence[Array]", results)
    for name, array, place in zip(names, arrays, memory, strict=True):
        if array.shape != place.shape:
            made, given = ("x".join(map(str, each.shape)) for each in (array, place))
            raise PasslineError(f"result '{name}' is of {made}: `out` is of {given}")
    # A result of the interpreter may be an argument, which may be in `out`, too.
    rows = zip(arrays, memory, strict=True)
    arrays = [array if array is place else _apart(array, memory) for array, place in rows]
    for type, array, place in zip(types, arrays, memory, strict=True):
        element = type.element_type if is_shaped(type) else type
        if array.dtype != place.dtype and isinstance(element, NarrowFloat):
            array = codes_of(array, element)
        if array is not place:
            place[...] = array


def _apart(array: Array, memory: Sequence[Array]) -> Array:
    """Return an array that shares no memory with others: a copy if it does."""
    return array.copy() if any(np.may_share_memory(array, place) for place in memory) else array
