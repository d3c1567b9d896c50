"""Tables of functions on arrays, and their conversion to functions of xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import TensorType, UnrankedTensorType
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError, VerifyException

from ....dialects.relax.interfaces import Elementwise
from ....dialects.relax.types import static_shape
from ..arrays import Array, check_size, element_of, fit

Compute: TypeAlias = Callable[..., Array | tuple[Array, ...]]
"""A function from an operation and the arrays of its operands to the arrays of its results."""

Semantics: TypeAlias = Mapping[type[Operation], Compute]
"""A table: operation class -> the function that computes it."""


def on_arrays(function: Callable[..., Array]) -> Compute:
    """Return the semantics of an operation without properties; i1 is passed as 0 and 1."""

    def compute(_: Operation, *arrays: Array) -> Array:
        return function(*map(as_numbers, arrays))

    return compute


def with_properties(function: Callable[..., Array], *names: str) -> Compute:
    """Return the semantics of an operation whose properties of these names are the last arguments
    of a function of numpy."""

    def compute(op: Operation, *arrays: Array) -> Array:
        return function(*arrays, *(getattr(op, name) for name in names))

    return compute


def like_numpy(*classes: type[Operation]) -> Semantics:
    """Return the semantics of operations without properties that have the names of numpy's."""
    return {cls: on_arrays(getattr(np, cls.name.removeprefix("relax."))) for cls in classes}


def as_numbers(array: Array) -> Array:
    """Return the array, i1 as the numbers 0 and 1."""
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def at_least_f32(array: Array) -> Array:
    """Return the array, i1 as 0 and 1, f16 as f32: several steps are then rounded only once."""
    array = as_numbers(array)
    return array.astype(np.float32) if array.dtype == np.float16 else array


def interpreter_functions(
    name: str, bases: tuple[type[InterpreterFunctions], ...], *tables: Semantics
) -> type[InterpreterFunctions]:
    """Return a class of interpreter functions, those of `bases` and those of the tables.

    Results of the functions in the tables are converted to the element type of the result.
    """
    methods = {op.name: _method(op, compute) for table in tables for op, compute in table.items()}
    return register_impls(type(name, bases, methods))


def _method(cls: type[Operation], compute: Compute) -> Callable[..., PythonValues]:
    def run(
        self: InterpreterFunctions, _: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        with np.errstate(all="ignore"):
            try:
                _check_sizes(op, args)
                values = compute(op, *args)
            except (IndexError, VerifyException) as error:  # invalid values of operands
                raise InterpretationError(f"{op.name}: {error}") from error
            results = values if isinstance(values, tuple) else (values,)
            return tuple(
                fit(np.asarray(value), element_of(cast(Tensor, result.type)))
                for value, result in zip(results, op.results, strict=True)
            )

    return impl(cls)(run)


def _check_sizes(op: Operation, args: PythonValues) -> None:
    """Raise InterpretationError if an operand or a result exceeds the limit on tensors.

    Operands may be fills, which take no memory. The results of an element-wise operation are of the
    size of the operands, which may be fewer elements than the types say: those that do not repeat.
    """
    shapes = [cast(Array, array).shape for array in args if isinstance(array, np.ndarray)]
    for shape in shapes:
        check_size(shape)
    if isinstance(op, Elementwise):
        check_size(np.broadcast_shapes(*shapes))
        return
    for result in op.results:
        if (shape := static_shape(result.type)) is not None:
            check_size(shape)


Tensor: TypeAlias = TensorType[Attribute] | UnrankedTensorType[Attribute]
