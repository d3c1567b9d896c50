# pyright: reportPrivateUsage=false
# xDSL's interpreter does not say for which operations it has semantics.
"""Functions of a module as Python functions on numpy arrays, run by xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.cf import AssertOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from ..passmanager.errors import PasslineError
from ..passmanager.ir.location import location_of, place_of
from ..passmanager.ir.symbols import name_of
from ..passmanager.ir.walk import walk
from . import has_semantics, semantics_of
from .arguments import check_arguments
from .assertions import CALLS, AssertionFailed, assertion_text
from .signature import Function, Value, is_buffer, result_buffers

if TYPE_CHECKING:
    from .prepared import PreparedInterpreter

__all__ = ["ArrayFunction", "NoSemanticsError", "interpret", "load_interpreter"]

MAX_CALLS = 2000
"""The most calls within each other. The command-line tools raise Python's own limit, for deeply
nested IR: with it, an infinite recursion would take a minute to end."""

ArrayFunction: TypeAlias = Callable[..., tuple[Value, ...]]


class NoSemanticsError(PasslineError):
    """The error for an operation that has no semantics, whose name is `op_name`."""

    def __init__(self, message: str, op_name: str) -> None:
        super().__init__(message)
        self.op_name = op_name


def interpret(
    module: ModuleOp,
    func: Function,
    ctx: Context | None = None,
    listeners: Sequence[Interpreter.Listener] = (),
) -> ArrayFunction:
    """Return a Python function on arrays that runs `func`.

    Arrays and numbers are checked against the parameter types; tuples and functions are not. `ctx`
    is the context of xDSL's own interpreter functions; `listeners` are notified of each operation.
    The function raises PasslineError, naming the operation, if one cannot be computed, and
    NoSemanticsError if it has no semantics.
    """
    interpreter = _interpreter(module, Context() if ctx is None else ctx)
    position = _Position()
    interpreter.listeners = (position, *listeners)

    def call(*arguments: Value) -> tuple[Value, ...]:
        values = check_arguments(func, arguments)
        position.calls.clear()
        interpreter.forget()
        try:
            results = _run(interpreter, func, values)
        except RecursionError:
            name = func.sym_name.data
            raise PasslineError(
                f"@{name} cannot be computed: calls are nested too deeply"
            ) from None
        except AssertionFailed:
            raise PasslineError(position.assertion_text()) from None
        except Exception as error:  # semantics of other projects may raise anything
            where = f"'{position.op.name}'{place_of(position.op)}" if position.op else "the call"
            kind = "" if isinstance(error, InterpretationError) else type(error).__name__
            said = ": ".join(filter(None, (kind, str(error))))
            message = f"{where} cannot be computed: {said}"
            if position.op and type(position.op) not in interpreter._impls._impl_dict:
                raise NoSemanticsError(message, name_of(position.op)) from error
            raise PasslineError(message) from error
        return tuple(map(_as_value, results))

    return call


def load_interpreter() -> None:
    """Import the code that every interpretation needs, in no particular dialect."""
    _interpreter(ModuleOp([]), Context())


def _interpreter(module: ModuleOp, ctx: Context) -> PreparedInterpreter:
    """Return an interpreter with the semantics of all dialects that occur in the module.

    Ours override xDSL's for operations that both define.
    """
    from xdsl.interpreters import register_implementations

    from ..compat.interpreters import WhileFunctions
    from .codegens.calls import ExternalFunctions
    from .prepared import PreparedInterpreter
    from .tensor import TensorFunctions
    from .tir import TirFunctions

    interpreter = PreparedInterpreter(module, file=StringIO())
    register_implementations(interpreter, ctx)
    # These have `func`, `arith`, `memref`, `tensor`, ..., which belong to no entry of the table.
    common = (WhileFunctions, TirFunctions, TensorFunctions, ExternalFunctions)
    found: dict[type[InterpreterFunctions], None] = dict.fromkeys(common)
    for cls in {type(op): None for op in walk(module)}:
        if has_semantics(cls) and (functions := semantics_of(cls)) is not None:
            found[functions] = None
    for functions in found:
        interpreter.register_implementations(functions(), override=True)
    return interpreter


def _run(interpreter: Interpreter, func: Function, values: PythonValues) -> PythonValues:
    """Run `func` and return its results: its return values, or the buffers that it writes."""
    arguments = _with_buffers(func, values)
    results = interpreter.call_op(func, arguments)
    if func.function_type.outputs.data or not (buffers := result_buffers(func)):
        return results
    return tuple(arguments[i] for i in buffers)


def _with_buffers(func: Function, values: PythonValues) -> PythonValues:
    """Return the arguments with buffers copied, followed by new buffers for the results."""
    from .tir.memory import allocate

    types = func.function_type.inputs.data
    outputs = types[len(values) :]
    return (
        *(v.copy() if is_buffer(t) else v for v, t in zip(values, types)),
        *(allocate(type) for type in outputs if is_buffer(type)),
    )


def _as_value(result: object) -> Value:
    """Return a result of the interpreter, numbers as arrays."""
    import numpy as np

    return cast(Value, result) if isinstance(result, tuple | Callable) else np.asarray(result)


class _Position(Interpreter.Listener):
    """A listener that records the current operation and the calls around it, for error messages."""

    def __init__(self) -> None:
        self.op: Operation | None = None
        self.calls: list[Operation] = []

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self.op = op
        if isinstance(op, CALLS):
            if len(self.calls) >= MAX_CALLS:
                raise RecursionError
            self.calls.append(op)

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if isinstance(op, CALLS):
            self.calls.pop()

    def assertion_text(self) -> str:
        """Return the error message of the assertion that is the current operation."""
        assert isinstance(self.op, AssertOp)
        call = location_of(self.calls[-1]) if self.calls else None
        return assertion_text(self.op.msg.data, location_of(self.op), call)
