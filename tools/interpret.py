"""Functions of a module as functions of numpy arrays, by xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerType,
    ModuleOp,
    NameLoc,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from ..dialects.relax.interfaces import Evaluates
from ..dialects.relax.types import is_number, is_ranked
from ..passmanager.errors import PasslineError
from ..passmanager.info import did_you_mean
from ..passmanager.ir.location import place_of
from ..passmanager.ir.walking import walk

if TYPE_CHECKING:
    from ..dialects.relax.semantics.arrays import Array

__all__ = [
    "argument_names",
    "Value",
    "entry_function",
    "interpret",
    "named_arguments",
    "random_arguments",
    "result_names",
]

Value: TypeAlias = "Array | tuple[Value, ...] | Callable[..., object]"
"""A tensor or number is an array, a tuple a tuple, a function one."""
ArrayFunction: TypeAlias = Callable[..., tuple[Value, ...]]


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of that name; PasslineError if there is none that has a body."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    if name not in functions:
        raise PasslineError(f"there is no function @{name}{did_you_mean(name, functions)}")
    if functions[name].is_declaration:
        raise PasslineError(f"function @{name} is a declaration: it has no body to run")
    return functions[name]


def interpret(
    module: ModuleOp,
    func: FuncOp,
    ctx: Context | None = None,
    listeners: Sequence[Interpreter.Listener] = (),
) -> ArrayFunction:
    """The function as one of arrays, which are checked against its type; of tuples and functions
    too, which are not.

    PasslineError, naming the operation, if one cannot be computed.
    """
    from xdsl.interpreters import register_implementations

    interpreter = Interpreter(module, file=StringIO())
    register_implementations(interpreter, Context() if ctx is None else ctx)
    for functions in {op.semantics(): None for op in walk(module) if isinstance(op, Evaluates)}:
        interpreter.register_implementations(functions(), override=True)
    position = _Position()
    interpreter.listeners = (position, *listeners)

    def call(*arguments: Value) -> tuple[Value, ...]:
        values = _checked(func, arguments)
        try:
            results = interpreter.call_op(func, values)
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


class _Position(Interpreter.Listener):
    """Which operation is being computed."""

    op: Operation | None = None

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self.op = op


# Arguments


def argument_names(func: FuncOp) -> list[str]:
    """The names of the parameters: as a frontend or the text has them, else `arg0`, `arg1`, ..."""
    return _unique([_name(arg) or f"arg{i}" for i, arg in enumerate(func.args)])


def result_names(func: FuncOp) -> list[str]:
    """The names of the results, else `result0`, `result1`, ..."""
    end = func.body.blocks[-1].last_op
    values = end.operands if isinstance(end, ReturnOp) else ()
    return _unique([_name(value) or f"result{i}" for i, value in enumerate(values)])


def named_arguments(func: FuncOp, arrays: Mapping[str, Array]) -> list[Array]:
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


def random_arguments(func: FuncOp, seed: int) -> list[Array]:
    """Arguments for a call: floats of the standard normal distribution, integers from 0 to 9.

    An unknown dimension is 1. PasslineError for a parameter that is no tensor of known rank.
    """
    import numpy as np

    from ..dialects.relax.semantics.arrays import element_of, fit

    rng = np.random.default_rng(seed)
    arrays: list[Array] = []
    for name, type in zip(argument_names(func), func.function_type.inputs, strict=True):
        if not is_ranked(type) or not is_number(type.element_type):
            raise PasslineError(f"there are no random values for parameter '{name}' of type {type}")
        shape = [1 if d == DYNAMIC_INDEX else d for d in type.get_shape()]
        integers = isinstance(type.element_type, IntegerType)
        array = rng.integers(0, 10, shape) if integers else rng.standard_normal(shape)
        arrays.append(fit(np.asarray(array), element_of(type)))
    return arrays


def _checked(func: FuncOp, arguments: Sequence[Value]) -> tuple[object, ...]:
    """The arguments as the interpreter takes them; PasslineError if they do not fit the type."""
    names, types = argument_names(func), func.function_type.inputs.data
    if len(arguments) != len(types):
        raise PasslineError(
            f"@{func.sym_name.data} takes {len(types)} arguments, {len(arguments)} are given"
        )
    return tuple(map(_checked_argument, names, types, arguments))


def _checked_argument(name: str, type: Attribute, value: Value) -> object:
    import numpy as np

    from ..dialects.relax.semantics.arrays import dtype_of

    if not is_ranked(type):
        is_scalar = isinstance(value, np.ndarray) and value.ndim == 0
        return np.asarray(value).item() if is_scalar else cast(object, value)
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
