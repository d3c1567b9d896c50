"""Functions of a module as functions of numpy arrays, by xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloatConstr,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    NameLoc,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError, VerifyException

from ..dialects.relax.types import is_number
from ..dialects.tir.ops import PrimFuncOp, output_count
from ..passmanager.errors import PasslineError
from ..passmanager.info import did_you_mean
from ..passmanager.ir.location import place_of
from ..passmanager.ir.walk import walk
from . import has_semantics, semantics_of

if TYPE_CHECKING:
    from .arrays import Array

__all__ = [
    "ArrayFunction",
    "Function",
    "Value",
    "argument_names",
    "checked_arguments",
    "entry_function",
    "interpret",
    "is_buffer",
    "named_arguments",
    "random_arguments",
    "result_names",
]

Value: TypeAlias = "Array | tuple[Value, ...] | Callable[..., object]"
"""A tensor or number is an array, a tuple a tuple, a function one."""
ArrayFunction: TypeAlias = Callable[..., tuple[Value, ...]]
Function: TypeAlias = FuncOp | PrimFuncOp
"""What can be run: a function of values, or one on buffers.

The last `tir.outputs` parameters of one on buffers are its results, which a caller gets and does
not give; of one that does not say how many, all buffers are results, copies of those given.
"""


def is_buffer(type: Attribute) -> TypeIs[MemRefType[Attribute]]:
    """Whether it is the type of a buffer."""
    return isinstance(type, MemRefType)


def is_shaped(type: Attribute) -> TypeIs[TensorType[Attribute] | MemRefType[Attribute]]:
    """Whether it is the type of an array: of a tensor with a shape, or of a buffer."""
    return isinstance(type, TensorType | MemRefType)


def entry_function(module: ModuleOp, name: str) -> Function:
    """The function of that name; PasslineError if there is none that has a body."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, Function)}
    if name not in functions:
        raise PasslineError(f"there is no function @{name}{did_you_mean(name, functions)}")
    if functions[name].is_declaration:
        raise PasslineError(f"function @{name} is a declaration: it has no body to run")
    try:
        output_count(functions[name])  # that of a lowered function is verified by nobody else
    except VerifyException as error:
        raise PasslineError(f"function @{name}{place_of(functions[name])}: {error}") from None
    return functions[name]


def interpret(
    module: ModuleOp,
    func: Function,
    ctx: Context | None = None,
    listeners: Sequence[Interpreter.Listener] = (),
) -> ArrayFunction:
    """The function as one of arrays, which are checked against its type; of tuples and functions
    too, which are not.

    PasslineError, naming the operation, if one cannot be computed.
    """
    from xdsl.interpreters import register_implementations

    from .tir import TirFunctions

    interpreter = Interpreter(module, file=StringIO())
    register_implementations(interpreter, Context() if ctx is None else ctx)
    found: dict[type[InterpreterFunctions], None] = {TirFunctions: None}
    for cls in {type(op): None for op in walk(module)}:
        if has_semantics(cls) and (functions := semantics_of(cls)) is not None:
            found[functions] = None
    for functions in found:
        interpreter.register_implementations(functions(), override=True)
    position = _Position()
    interpreter.listeners = (position, *listeners)

    def run(values: PythonValues) -> PythonValues:
        arguments = _with_buffers(func, values)
        results = interpreter.call_op(func, arguments)
        if func.function_type.outputs.data or not (buffers := _buffers(func)):
            return results
        return tuple(arguments[i] for i in buffers[-output_count(func) :])

    def call(*arguments: Value) -> tuple[Value, ...]:
        values = checked_arguments(func, arguments)
        try:
            results = run(values)
        except RecursionError:
            name = func.sym_name.data
            raise PasslineError(
                f"@{name} cannot be computed: calls are nested too deeply"
            ) from None
        except Exception as error:  # whatever the definition of an operation may raise
            where = f"'{position.op.name}'{place_of(position.op)}" if position.op else "the call"
            kind = "" if isinstance(error, InterpretationError) else f"{type(error).__name__}: "
            raise PasslineError(f"{where} cannot be computed: {kind}{error}") from error
        return tuple(map(_value, results))

    return call


def _value(result: object) -> Value:
    """What the interpreter gives, with numbers as arrays."""
    import numpy as np

    return cast(Value, result) if isinstance(result, tuple | Callable) else np.asarray(result)


def input_types(func: Function) -> tuple[Attribute, ...]:
    """The types of the parameters that a caller gives values for."""
    inputs = func.function_type.inputs.data
    return inputs[: len(inputs) - output_count(func)]


def _buffers(func: Function) -> list[int]:
    """The indices of the parameters that are buffers."""
    types = func.function_type.inputs.data
    return [i for i, type in enumerate(types) if is_buffer(type)]


def _with_buffers(func: Function, values: PythonValues) -> PythonValues:
    """The arguments of a function, buffers as copies; and buffers for its results."""
    from .tir.memory import allocate

    types = func.function_type.inputs.data
    outputs = types[len(values) :]
    return (
        *(v.copy() if is_buffer(t) else v for v, t in zip(values, types)),
        *(allocate(type) for type in outputs if is_buffer(type)),
    )


class _Position(Interpreter.Listener):
    """Which operation is being computed."""

    op: Operation | None = None

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self.op = op


# Arguments


def argument_names(func: Function) -> list[str]:
    """The names of the parameters: as a frontend or the text has them, else `arg0`, `arg1`, ..."""
    args = func.args[: len(input_types(func))]
    return _unique([_name(arg) or f"arg{i}" for i, arg in enumerate(args)])


def result_names(func: Function) -> list[str]:
    """The names of the results, else `result0`, `result1`, ..."""
    end = func.body.blocks[-1].last_op
    values = end.operands if isinstance(end, ReturnOp) else ()
    if not values:
        values = [func.args[i] for i in _buffers(func)[-output_count(func) :]]
    return _unique([_name(value) or f"result{i}" for i, value in enumerate(values)])


def named_arguments(func: Function, arrays: Mapping[str, Array]) -> list[Array]:
    """The arguments of a call out of arrays by name, or by position as `numpy.savez` calls them.

    PasslineError if one is missing, or of no parameter.
    """
    names = argument_names(func)
    by_position = {f"arr_{i}": name for i, name in enumerate(names)}
    given = {
        name if name in names else by_position.get(name, name): a for name, a in arrays.items()
    }
    for name in given:
        if name not in names:
            has = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
            raise PasslineError(
                f"@{func.sym_name.data} has no parameter '{name}'"
                f"{did_you_mean(name, names) or f': {has}'}"
            )
    if missing := [name for name in names if name not in given]:
        raise PasslineError(f"no value is given for parameter {', '.join(missing)}")
    return [given[name] for name in names]


def random_arguments(func: Function, seed: int) -> list[Array]:
    """Arguments for a call: floats of the standard normal distribution, integers from 0 to 9.

    An unknown dimension is 1. PasslineError for a parameter that is no tensor of known rank.
    """
    import numpy as np

    from .arrays import element_of, fit

    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for name, type in zip(argument_names(func), input_types(func), strict=True):
        if not is_shaped(type) or not is_number(type.element_type):
            raise PasslineError(
                f"there are no random values for parameter '{name}' of type {type}: its value is "
                "to be given, at the shell with --inputs"
            )
        shape = [1 if d == DYNAMIC_INDEX else d for d in type.get_shape()]
        integers = isinstance(type.element_type, IntegerType)
        array = rng.integers(0, 10, shape) if integers else rng.standard_normal(shape)
        arrays.append(fit(np.asarray(array), element_of(type)))
    return arrays


def checked_arguments(func: Function, arguments: Sequence[Value]) -> tuple[object, ...]:
    """The arguments as the interpreter takes them: buffers and tensors as arrays, numbers as those
    of Python; PasslineError if they do not fit the type."""
    names, types = argument_names(func), input_types(func)
    if len(arguments) != len(types):
        raise PasslineError(
            f"@{func.sym_name.data} takes {len(types)} arguments, {len(arguments)} are given"
        )
    return tuple(map(_checked_argument, names, types, arguments))


def _checked_argument(name: str, type: Attribute, value: Value) -> object:
    import numpy as np

    from .arrays import dtype_of

    if isinstance(type, IndexType | IntegerType) or AnyFloatConstr.verifies(type):
        array = np.asarray(value)
        kinds = "biu" if isinstance(type, IndexType | IntegerType) else "biuf"
        if array.ndim or array.dtype.kind not in kinds:
            got = f"an array of {array.ndim} dimensions" if array.ndim else array.dtype
            expected = "an integer" if kinds == "biu" else "a number"
            raise PasslineError(f"parameter '{name}' is {type}: expected {expected}, got {got}")
        number = array.item()
        bits = type.bitwidth if isinstance(type, IntegerType) else 64
        if kinds == "biu" and not -(1 << bits - 1) <= number < 1 << bits:
            raise PasslineError(f"parameter '{name}' is {type}: {number} is too large")
        return number
    if not is_shaped(type):
        return value
    array = np.asarray(value)
    element = type.element_type
    dtype = dtype_of(element) if is_number(element) else array.dtype
    shape = type.get_shape()
    fits = len(shape) == array.ndim and all(
        d in (DYNAMIC_INDEX, n) for d, n in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != dtype:
        sizes = "x".join(map(str, array.shape)) or "no dimensions"
        raise PasslineError(
            f"parameter '{name}' is {type}: expected {dtype}, got {array.dtype} of {sizes}"
        )
    return array


def _name(value: SSAValue) -> str | None:
    """What a frontend called the value, or the text does."""
    location = value.location if isinstance(value, BlockArgument) else None
    return location.desc.data if isinstance(location, NameLoc) else value.name_hint


def _unique(names: Sequence[str]) -> list[str]:
    return [name if names.index(name) == i else f"{name}_{i}" for i, name in enumerate(names)]
