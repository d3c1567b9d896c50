"""Functions of a module as Python functions on numpy arrays, run by xDSL's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from io import StringIO
from typing import IO, TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues
from xdsl.ir import Attribute
from xdsl.utils.exceptions import InterpretationError

from ...passmanager.errors import NotInstalledError, PasslineError
from ...passmanager.ir.location import place_of
from ...passmanager.ir.walk import name_of, walk
from . import has_semantics, semantics_of
from .arguments import check_arguments
from .signature import Function, Value, is_buffer, result_buffers, result_values
from .xdsl_interpreter import AssertionFailed, DirectInterpreter

if TYPE_CHECKING:
    from .prepared import PreparedInterpreter

__all__ = [
    "ArrayFunction",
    "NoSemanticsError",
    "computed_errors",
    "interpret",
    "interpreter_of",
    "load_interpreter",
    "own_semantics",
]


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
    output: IO[str] | None = None,
    warn_of_launch: Callable[[str], None] | None = None,
) -> ArrayFunction:
    """Return a Python function on arrays that runs `func`.

    Arrays and numbers are checked against the parameter types; tuples and functions are not. If an
    array is of another library, the results are of that one, too. `ctx`
    is the context of xDSL's own interpreter functions; `listeners` are notified of each operation.
    What the program prints is written to `output`; without one it is dropped. With
    `warn_of_launch`, launches of tile blocks are checked for races, and it takes the warnings.
    The function raises PasslineError, naming the operation, if one cannot be computed, and
    NoSemanticsError if it has no semantics.
    """
    from .dlpack import borrowed, library_of, returned

    interpreter = interpreter_of(module, ctx, listeners, output)
    interpreter.warn_of_launch = warn_of_launch

    def call(*arguments: Value) -> tuple[Value, ...]:
        if (library := library_of(arguments)) is not None:
            results = call(*borrowed(func, arguments))
            return returned(results, [value.type for value in result_values(func)], library)
        values = check_arguments(func, arguments)
        interpreter.forget()
        with computed_errors(interpreter, func):
            results = _run(interpreter, func, values)
        return tuple(map(_as_value, results))

    return call


@contextmanager
def computed_errors(
    interpreter: PreparedInterpreter, func: Function, *others: type[Exception]
) -> Generator[None]:
    """Raise what goes wrong while `func` runs as PasslineError, which names the operation; errors
    of the classes `others` pass."""
    position = interpreter.position
    try:
        yield
    except RecursionError:
        name = func.sym_name.data
        raise PasslineError(f"@{name} cannot be computed: calls are nested too deeply") from None
    except AssertionFailed as error:
        raise PasslineError(position.assertion_text(str(error))) from None
    except (NotInstalledError, *others):
        raise
    except Exception as error:  # semantics of other projects may raise anything
        where = f"'{position.op.name}'{place_of(position.op)}" if position.op else "the call"
        kind = "" if isinstance(error, InterpretationError) else type(error).__name__
        said = ": ".join(filter(None, (kind, str(error))))
        message = f"{where} cannot be computed: {said}"
        known = interpreter.implemented()
        if position.op and type(position.op) not in known:
            dialect = (name := name_of(position.op)).partition(".")[0]
            lacking = f"no semantics are registered for the dialect '{dialect}'"
            if any(cls.name.partition(".")[0] == dialect for cls in known):
                lacking = "it has no semantics"
            raise NoSemanticsError(f"{where} cannot be computed: {lacking}", name) from error
        raise PasslineError(message) from error


def load_interpreter() -> None:
    """Import the code that every interpretation needs, in no particular dialect."""
    interpreter_of(ModuleOp([]))


def interpreter_of(
    module: ModuleOp,
    ctx: Context | None = None,
    listeners: Sequence[Interpreter.Listener] = (),
    output: IO[str] | None = None,
) -> PreparedInterpreter:
    """Return an interpreter with the semantics of all dialects that occur in the module.

    Ours override xDSL's for operations that both define.
    """
    from xdsl.interpreters.pdl import PDLRewriteFunctions

    from .prepared import PreparedInterpreter

    file = StringIO() if output is None else output  # for None, xDSL's functions take stdout
    ctx = Context() if ctx is None else ctx
    interpreter = PreparedInterpreter(module, file=file, listeners=tuple(listeners))
    interpreter.copy_implementations(_common_semantics())
    interpreter.register_implementations(PDLRewriteFunctions(ctx), override=True)
    found: dict[type[InterpreterFunctions], None] = {}
    for cls in {type(op): None for op in walk(module)}:
        if has_semantics(cls) and (functions := semantics_of(cls)) is not None:
            found[functions] = None
    # Own semantics last: a class of another project may derive from xDSL's of arith.
    for functions in (*found, *own_semantics()) if found else ():
        interpreter.register_implementations(functions(), override=True)
    return interpreter


@cache
def _common_semantics() -> DirectInterpreter:
    """Return an interpreter with the semantics that all interpreters share.

    These are xDSL's, but for pdl, whose functions depend on the context, and ours of `func`,
    `arith`, `memref`, `tensor`, ..., which belong to no entry of the table.
    """
    from xdsl.interpreters import register_implementations
    from xdsl.interpreters.pdl import PDLRewriteFunctions

    from .foreign import on_xdsl_values

    xdsls = DirectInterpreter(ModuleOp([]))
    register_implementations(xdsls, Context())
    interpreter = DirectInterpreter(ModuleOp([]))
    for functions in dict.fromkeys(type(f) for f, _ in xdsls.implemented().values()):
        if functions is not PDLRewriteFunctions:
            interpreter.register_implementations(on_xdsl_values(functions)(), override=True)
    for functions in own_semantics():
        interpreter.register_implementations(functions(), override=True)
    return interpreter


def own_semantics() -> tuple[type[InterpreterFunctions], ...]:
    """Return our semantics of MLIR's dialects and of tir, and of calls."""
    from .codegens.calls import ExternalFunctions
    from .cuda_tile.launches import LaunchFunctions
    from .mlir import MlirFunctions
    from .tir import TirFunctions

    return TirFunctions, MlirFunctions, ExternalFunctions, LaunchFunctions


def _run(interpreter: Interpreter, func: Function, values: PythonValues) -> PythonValues:
    """Run `func` and return its results: its return values, or the buffers that it writes."""
    arguments = _with_buffers(func, values)
    results = interpreter.call_op(func, arguments)
    if func.function_type.outputs.data or not (buffers := result_buffers(func)):
        return results
    return tuple(arguments[i] for i in buffers)


def _with_buffers(func: Function, values: PythonValues) -> PythonValues:
    """Return the arguments with buffers copied and scalars in the form of the semantics, followed
    by new buffers for the results."""
    from .tir.memory import allocate

    types = func.function_type.inputs.data
    outputs = types[len(values) :]
    return (
        *map(_argument, types, values),
        *(allocate(type) for type in outputs if is_buffer(type)),
    )


def _argument(type: Attribute, value: Any) -> object:
    """Return an argument as the semantics take it: a copy of a buffer, a scalar of its type."""
    from .tir.table import is_computed, number

    if is_buffer(type):
        return value.copy()
    return number(value, type) if is_computed(type) else value


def _as_value(result: object) -> Value:
    """Return a result of the interpreter, numbers as arrays."""
    import numpy as np

    return cast(Value, result) if isinstance(result, tuple | Callable) else np.asarray(result)
