"""Tables of semantics, and the semantics of functions on buffers, loops and calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, SupportsInt, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import affine, func, memref, scf, tensor
from xdsl.dialects.builtin import (
    ContainerType,
    IndexType,
    IntegerType,
    MemRefType,
    TensorType,
    UnrankedTensorType,
    VectorType,
    i1,
)
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    register_impls,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ....dialects.relax.types import Element, is_element
from ....dialects.tir import ops
from ..arrays import dtype_of, fit, is_bool, stored_dtype
from ..xdsl_interpreter import AssertionFailed

# Tables of semantics, and their conversion to functions of xDSL's interpreter.


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

    method = impl(cls)(run)
    setattr(method, _COMPUTE, compute)
    return method


_COMPUTE = "passline_compute"
"""The attribute of a method with the function that it was made from."""


def compute_of(method: object) -> Compute | None:
    """Return the function of a table that a method was made from; None for any other method."""
    return getattr(method, _COMPUTE, None)


def number(value: object, type: Attribute) -> object:
    """Convert `value` to `type`: round or wrap a scalar or vector, leave a buffer unchanged."""
    return converter(type)(value)


def converter(type: Attribute) -> Callable[[Any], object]:
    """Return the function that converts a value to `type`; it raises InterpretationError if the
    type has no numpy semantics."""
    match type:
        case MemRefType():
            return lambda value: value
        case IndexType():
            return index
        case VectorType() | TensorType() | UnrankedTensorType():
            return lambda value: elements(value, type)
        case IntegerType() if type == i1:
            return truth
        case _ if is_element(type):
            exact = dtype_of(type).type if is_exact(type) else None
            return lambda value: (
                value if value.__class__ is exact else fit(np.asarray(value), type)[()]
            )
        case _:
            return lambda _: refuse(type)


def is_computed(type: Attribute) -> bool:
    """Return whether scalars of `type` have numpy semantics."""
    return isinstance(type, IndexType) or is_element(type)


def truth(value: Any) -> object:
    """Convert `value` to an i1: the last bit of a number."""
    if value.__class__ is np.bool:
        return value
    if value.__class__ is bool:  # a comparison of indices
        return np.True_ if value else np.False_
    return fit(np.asarray(value), i1)[()]


def index(value: SupportsInt) -> int:
    """Convert `value` to an index, which wraps around at 64 bits."""
    number = int(value)
    if -(1 << 63) <= number < 1 << 63:
        return number
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def elements(value: object, type: ContainerType[Attribute]) -> Array:
    """Convert `value` to a vector or tensor of `type`."""
    element = element_type(type.get_element_type())
    array = np.asarray(value)
    return np.asarray(
        array.astype(np.int64, copy=False) if element is None else fit(array, element)
    )


def is_exact(element: Element) -> bool:
    """Return whether each number of the dtype of an element type is one of the element type."""
    dtype = dtype_of(element)
    same = dtype == stored_dtype(element) and 8 * dtype.itemsize == element.bitwidth
    return same or is_bool(element)


def refuse(type: Attribute) -> NoReturn:
    """Raise InterpretationError for a type without semantics."""
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


# The semantics of functions on buffers, loops and calls.


def return_operands(
    self: InterpreterFunctions, _: Interpreter, op: Operation, args: PythonValues
) -> tuple[TerminatorValue, PythonValues]:
    """Return from a function or a region with the operands of a terminator."""
    return ReturnedValues(args), ()


RETURNS: frozenset[type[Operation]] = frozenset(
    {
        affine.YieldOp,
        func.ReturnOp,
        memref.AllocaScopeReturnOp,
        scf.ConditionOp,
        scf.ReduceOp,
        scf.ReduceReturnOp,
        scf.YieldOp,
        tensor.YieldOp,
        ops.YieldOp,
    }
)
"""The terminators of tir and of MLIR's dialects that return their operands."""


@register_impls
class BufferFunctions(InterpreterFunctions):
    """The control flow of tir; all loops run sequentially."""

    @impl_callable(ops.PrimFuncOp)
    def call_prim_func(
        self, interpreter: Interpreter, op: ops.PrimFuncOp, args: PythonValues
    ) -> PythonValues:
        if op.is_declaration:
            return interpreter.call_external(op.sym_name.data, op, args)
        return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)

    @impl(ops.CallOp)
    def run_call(
        self, interpreter: Interpreter, op: ops.CallOp, args: PythonValues
    ) -> PythonValues:
        return interpreter.call_op(op.callee, args)

    @impl(ops.ForOp)
    def run_for(self, interpreter: Interpreter, op: ops.ForOp, args: PythonValues) -> PythonValues:
        min, extent = args
        body = op.body
        for i in range(min, min + extent):
            interpreter.run_ssacfg_region(body, (i,), "for")
        return ()

    @impl(ops.AssumeOp)
    def run_assume(self, _: Interpreter, op: ops.AssumeOp, args: PythonValues) -> PythonValues:
        if not args[0]:
            raise AssertionFailed("what tir.assume says does not hold")
        return ()

    @impl(ops.LikelyOp)
    def run_likely(self, _: Interpreter, op: ops.LikelyOp, args: PythonValues) -> PythonValues:
        return args
