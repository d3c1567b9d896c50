"""Tables of semantics, and their conversion to functions of xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ContainerType, IndexType, MemRefType, VectorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ...dialects.relax.types import Element, is_element
from ..arrays import dtype_of, fit

__all__ = ["Array", "Compute", "Semantics", "buffer_dtype", "element_type", "methods", "number"]

Array: TypeAlias = NDArray[Any]

Compute: TypeAlias = Callable[..., object]
"""A function from an operation and its operands to the result, a tuple of results, or None."""

Semantics: TypeAlias = Mapping[type[Operation], Compute]
"""The semantics of operation classes."""


def methods(*tables: Semantics) -> dict[str, object]:
    """Return the methods of a class of interpreter functions for the operations in `tables`."""
    return {op.name: _method(op, compute) for table in tables for op, compute in table.items()}


def _method(cls: type[Operation], compute: Compute) -> object:
    def run(
        self: InterpreterFunctions, _: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        with np.errstate(all="ignore"):
            value = compute(op, *args)
        if not op.results:
            return ()
        values = value if isinstance(value, tuple) else (value,)  # pyright: ignore[reportUnknownVariableType]
        return tuple(number(v, r.type) for v, r in zip(values, op.results, strict=True))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    return impl(cls)(run)


def number(value: object, type: Attribute) -> object:
    """Convert `value` to `type`: round or wrap a scalar or vector, leave a buffer unchanged."""
    match type:
        case MemRefType():
            return value
        case IndexType():
            return int(value)  # pyright: ignore[reportArgumentType]
        case VectorType():
            element = element_type(type)
            array = np.asarray(value)
            return array.astype(np.int64) if element is None else fit(array, element)
        case _ if is_element(type):
            return fit(np.asarray(value), type)[()]
        case _:
            raise InterpretationError(f"type {type} has no numpy semantics")


def element_type(type: Attribute) -> Element | None:
    """Return the element type of a vector or buffer, or a scalar type itself; None for index."""
    if isinstance(type, ContainerType):
        return element_type(cast(ContainerType[Attribute], type).get_element_type())
    if isinstance(type, IndexType):
        return None
    if not is_element(type):
        raise InterpretationError(f"element type {type} has no numpy semantics")
    return type


def buffer_dtype(type: Attribute) -> np.dtype[Any]:
    """Return the dtype of the elements of a buffer or vector, or of a scalar; int64 for index."""
    element = element_type(type)
    return np.dtype(np.int64) if element is None else dtype_of(element)
