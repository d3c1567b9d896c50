"""Interpreter functions of other projects, on our values: numbers and arrays.

Functions may be written for Python numbers and arrays, or for the values of xDSL's own functions.
The latter are recognized when they first ask a number or an array for an attribute that only xDSL's
values have, or compute a value of that kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, repeat
from math import prod
from typing import Any, cast

import numpy as np
from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    BFloat16Type,
    ContainerType,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    PackableType,
    SymbolRefAttr,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImplResult,
    PythonValues,
    ReturnedValues,
    Successor,
    TerminatorValue,
    impl,
    impl_callable,
    impl_external,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.shaped_array import ShapedArray
from xdsl.interpreters.utils.ptr import RawPtr, TypedPtr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import InterpretationError

from ..releases import xdsl_scalar
from .arguments import is_scalar
from .arrays import Array, dtype_of, fit, stored_dtype
from .tir.table import element_type, is_computed, number
from .xdsl_interpreter import functions_of

__all__ = ["from_xdsl", "is_of_xdsl", "is_xdsl", "on_our_values", "on_xdsl_values", "to_xdsl"]


# The values of xDSL's own interpreter functions, as numbers and arrays.
#
# xDSL's functions take scalars as attributes since 0.75, before that as Python numbers, and shaped
# values as `ShapedArray`.


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


Types = Sequence[Attribute]


@cache
def on_our_values(functions: type[InterpreterFunctions]) -> type[InterpreterFunctions]:
    """Return `functions` as functions on numbers and arrays, whichever values they are on."""
    return _adapted(functions, ValueKind(xdsl=False))


@cache
def on_xdsl_values(functions: type[InterpreterFunctions]) -> type[InterpreterFunctions]:
    """Return `functions`, which are on the values of xDSL's own, as functions on numbers and
    arrays."""
    return _adapted(functions, ValueKind(xdsl=True))


class ValueKind:
    """The kind of values that a class of functions is on, as far as it is known."""

    def __init__(self, xdsl: bool) -> None:
        self.xdsl = xdsl

    def given(self, values: PythonValues, types: Types = ()) -> PythonValues:
        """Return our values as the functions take them."""
        if self.xdsl:
            return to_xdsl(values, types)
        return tuple(map(_python_number, values))

    def taken(self, values: PythonValues, types: Types = ()) -> PythonValues:
        """Return what the functions computed as our values."""
        self.xdsl = self.xdsl or any(map(is_xdsl, values))
        return from_xdsl(values, types)

    def call(self, function: Callable[[PythonValues], Any], args: PythonValues, types: Types):
        """Return what `function` returns for our values `args`."""
        try:
            return function(self.given(args, types))
        except AttributeError as error:
            if self.xdsl or not is_of_xdsl(error.obj, error.name):
                raise
        self.xdsl = True
        return function(self.given(args, types))


def _python_number(value: Any) -> Any:
    """Return a number of numpy as one of Python, any other value as it is."""
    return cast("np.generic[Any]", value).item() if isinstance(value, np.generic) else value


class Border:
    """An interpreter as foreign functions see it, with values of their kind."""

    def __init__(self, interpreter: Interpreter, values: ValueKind) -> None:
        self._interpreter = interpreter
        self._values = values

    def __getattr__(self, name: str) -> Any:
        return getattr(self._interpreter, name)

    def get_values(self, values: Sequence[SSAValue]) -> PythonValues:
        values = tuple(values)
        return self._values.given(
            self._interpreter.get_values(values), [value.type for value in values]
        )

    def set_values(self, pairs: Sequence[tuple[SSAValue, Any]]) -> None:
        keys, values = zip(*pairs) if (pairs := tuple(pairs)) else ((), ())
        taken = self._values.taken(values, [key.type for key in keys])
        self._interpreter.set_values(zip(keys, taken, strict=True))

    def run_ssacfg_region(
        self, region: Region, args: PythonValues, name: str = "unknown"
    ) -> PythonValues:
        first = region.blocks.first
        taken = self._values.taken(tuple(args), () if first is None else first.arg_types)
        results = self._interpreter.run_ssacfg_region(region, taken, name)
        return self._values.given(results, _returned_types(region, len(results)))

    def run_op(
        self, op: Operation | str | SymbolRefAttr, inputs: PythonValues = ()
    ) -> PythonValues:
        op = op if isinstance(op, Operation) else self._interpreter.get_op_for_symbol(op)
        taken = self._values.taken(tuple(inputs), op.operand_types)
        return self._values.given(self._interpreter.run_op(op, taken), op.result_types)

    def call_op(
        self, op: Operation | str | SymbolRefAttr, inputs: PythonValues = ()
    ) -> PythonValues:
        op = op if isinstance(op, Operation) else self._interpreter.get_op_for_symbol(op)
        parameters, results = _signature(op)
        taken = self._values.taken(tuple(inputs), parameters)
        return self._values.given(self._interpreter.call_op(op, taken), results)

    def call_external(
        self, sym_name: str, op: Operation, inputs: PythonValues = ()
    ) -> PythonValues:
        parameters, results = _signature(op)
        taken = self._values.taken(tuple(inputs), parameters)
        return self._values.given(self._interpreter.call_external(sym_name, op, taken), results)


def _returned_types(region: Region, count: int) -> Types:
    """Return the types of the `count` values that a region returns, if its blocks tell."""
    for block in region.blocks:
        end = block.last_op
        if end is not None and not end.successors and len(end.operands) == count:
            return end.operand_types
    return ()


def _signature(op: Operation) -> tuple[Types, Types]:
    """Return the types of the parameters and of the results of a function, or of an operation."""
    type = getattr(op, "function_type", None)
    if isinstance(type, FunctionType):
        return type.inputs.data, type.outputs.data
    return op.operand_types, op.result_types


def _adapted(
    functions: type[InterpreterFunctions], values: ValueKind
) -> type[InterpreterFunctions]:
    """Return a subclass of `functions` whose functions are on our values."""
    methods: dict[str, object] = {}
    found = functions_of(functions)
    for cls, function in found.of_ops:
        methods[f"run {cls.name}"] = _operation(cls, function, values)
    for cls, function in found.of_callables:
        methods[f"call {cls.name}"] = impl_callable(cast(Any, cls))(_call(function, values))
    for name, function in found.external:
        methods[f"external {name}"] = impl_external(name)(_call(function, values))
    return register_impls(type(functions.__name__, (functions,), methods))


def _operation(cls: type[Operation], function: Any, values: ValueKind) -> object:
    """Return the adapted function of an operation class."""

    def run(self: Any, interpreter: Interpreter, op: Operation, args: PythonValues) -> OpImplResult:
        border = Border(interpreter, values)
        result: OpImplResult = values.call(
            lambda given: function(self, border, op, given), args, op.operand_types
        )
        return OpImplResult(
            values.taken(result.values, op.result_types), _end(result.terminator_value, op, values)
        )

    def run_terminator(
        self: Any, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        results, end = run(self, interpreter, op, args)
        assert end is not None
        return end, results

    def run_operation(
        self: Any, interpreter: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        return run(self, interpreter, op, args).values

    ends = cls.has_trait(IsTerminator, value_if_unregistered=False)
    return impl_terminator(cls)(run_terminator) if ends else impl(cls)(run_operation)


def _end(end: TerminatorValue | None, op: Operation, values: ValueKind) -> TerminatorValue | None:
    """Return where a terminator goes, with our values."""
    match end:
        case Successor():
            return Successor(end.block, values.taken(end.args, end.block.arg_types))
        case ReturnedValues():
            types = op.operand_types if len(op.operands) == len(end.values) else ()
            return ReturnedValues(values.taken(end.values, types))
        case None:
            return None


def _call(function: Any, values: ValueKind) -> Callable[..., PythonValues]:
    """Return the adapted function of a callable operation or of an external function."""

    def run(self: Any, interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        border, (parameters, results) = Border(interpreter, values), _signature(op)
        called = values.call(lambda given: function(self, border, op, given), args, parameters)
        return values.taken(called, results)

    return run
