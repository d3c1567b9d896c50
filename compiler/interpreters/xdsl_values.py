"""The values of xDSL's own interpreter functions, as numbers and arrays.

xDSL's functions take scalars as attributes since 0.75, before that as Python numbers, and shaped
values as `ShapedArray`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from math import prod
from typing import Any, cast

import numpy as np
from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    BFloat16Type,
    ContainerType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    PackableType,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.interpreters.shaped_array import ShapedArray
from xdsl.interpreters.utils.ptr import RawPtr, TypedPtr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ..releases.interpreters import xdsl_scalar
from .arguments import is_scalar
from .arrays import Array, dtype_of, fit, stored_dtype
from .tir.table import element_type, is_computed, number

__all__ = ["from_xdsl", "is_of_xdsl", "is_xdsl", "to_xdsl"]


def is_xdsl(value: Any) -> bool:
    """Return whether only xDSL's functions have values of this kind."""
    return isinstance(value, IntegerAttr | FloatAttr | ShapedArray)


def is_array(value: Any) -> TypeIs[Array]:
    """Return whether `value` is an array."""
    return isinstance(value, np.ndarray)


def is_of_xdsl(value: Any, attribute: str | None) -> bool:
    """Return whether xDSL has `attribute` where `value` is a number or an array without it."""
    if is_array(value):
        return hasattr(ShapedArray, attribute or "")
    return isinstance(value, int | float) and attribute in ("type", "value")


def to_xdsl(values: Iterable[Any], types: Sequence[Attribute] = ()) -> tuple[Any, ...]:
    """Return values as xDSL's functions take them; without `types`, scalars are of the type of
    their dtype."""
    return tuple(_to_xdsl(v, t) for v, t in zip(values, _or_none(types)))


def from_xdsl(values: Iterable[Any], types: Sequence[Attribute] = ()) -> tuple[Any, ...]:
    """Return what xDSL's functions computed as scalars of `types`, and as arrays."""
    return tuple(_from_xdsl(v, t) for v, t in zip(values, _or_none(types)))


def _or_none(types: Sequence[Attribute]) -> Iterable[Attribute | None]:
    return chain(types, repeat(None))


def _to_xdsl(value: Any, type: Attribute | None) -> Any:
    if is_xdsl(value):
        return value
    if is_array(value) and (value.ndim or isinstance(type, ContainerType)):
        return _shaped(value, type)
    type = _scalar_type(value) if type is None else type
    if type is None or not is_scalar(type):
        return value
    return xdsl_scalar(np.asarray(value).item(), type)


def _scalar_type(value: Any) -> Attribute | None:
    """Return the type of a number by its dtype; None for another value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return IndexType()
    if not isinstance(value, np.generic | bool | float):
        return None
    dtype = np.asarray(value).dtype
    if dtype.kind == "f":
        return {2: f16, 4: f32, 8: f64}.get(dtype.itemsize)
    return i1 if dtype.kind == "b" else IntegerType(8 * dtype.itemsize)


def _shaped(array: Array, type: Attribute | None) -> ShapedArray[Any]:
    """Return a buffer as a view of its memory, any other array as a copy."""
    element = None if type is None else element_type(type)
    xtype = IntegerType(64) if element is None else element
    shares = array.flags.c_contiguous and array.dtype.itemsize == xtype.compile_time_size
    if isinstance(type, MemRefType):
        if not shares or not array.flags.writeable:
            raise InterpretationError(f"xDSL's interpreter functions cannot access this {type}")
        memory = array.reshape(-1).view(np.uint8).data
    elif isinstance(xtype, BFloat16Type) or not shares:
        return ShapedArray(TypedPtr[Any].new(array.ravel().tolist(), xtype=xtype), [*array.shape])
    else:
        memory = bytearray(array.tobytes())
    pointer = TypedPtr(RawPtr(cast(bytearray, memory)), xtype=cast("PackableType[Any]", xtype))
    return ShapedArray(pointer, [*array.shape])


def _from_xdsl(value: Any, type: Attribute | None) -> Any:
    if isinstance(value, ShapedArray):
        return _array(cast("ShapedArray[Any]", value))
    if isinstance(value, IntegerAttr | FloatAttr):
        number_ = cast("IntegerAttr | FloatAttr", value)
        type = number_.type if type is None else type
        value = number_.value.data
    return number(np.asarray(value), type) if type is not None and is_computed(type) else value


def _array(shaped: ShapedArray[Any]) -> Array:
    """Return the elements as a view of their memory, or a copy if numpy has another format."""
    element = element_type(cast(Attribute, shaped.element_type))
    xtype = IntegerType(64) if element is None else element
    pointer, dtype = shaped.data_ptr, dtype_of(xtype)
    if dtype != stored_dtype(xtype) or 8 * dtype.itemsize != xtype.bitwidth:
        return fit(np.array(shaped.data), xtype).reshape(shaped.shape)
    flat = np.frombuffer(pointer.raw.memory, dtype, prod(shaped.shape), pointer.raw.offset)
    return flat.reshape(shaped.shape)
