"""xDSL's interpreter, with public names for what it keeps private; the compiler uses these alone.

xDSL does not say which functions a class has, for which operations and types an interpreter has
one, nor how it runs an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from xdsl.dialects import func
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

from ...dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ...dialects.tir.ops import CallOp
from ...passmanager.ir.location import location_of, place_text

# pyright: reportPrivateUsage=false


class Functions(NamedTuple):
    """The functions of a class of interpreter functions; all take its instance first."""

    of_ops: Iterable[tuple[type[Operation], Any]]
    of_callables: Iterable[tuple[type[Operation], Any]]
    external: Iterable[tuple[str, Any]]
    """Those of functions without a body, by their names."""


def functions_of(functions: type[InterpreterFunctions]) -> Functions:
    """Return the functions that a class defines and inherits."""
    return Functions(functions._impls(), functions._callable_impls(), functions._ext_impls())


def has_cast(interpreter: Interpreter, source: Attribute, target: Attribute) -> bool:
    """Return whether functions of an interpreter define the cast between two types."""
    return (type(source), type(target)) in interpreter._impls._cast_impl_dict


class DirectInterpreter(Interpreter):
    """An interpreter that tells what is registered with it, and lets the errors of functions pass:
    xDSL prints the module into a note, once for each operation around the one that failed."""

    warn_of_launch: Callable[[str], None] | None = None
    """What takes the warnings of the check of tile blocks; without it, launches are not checked."""

    def copy_implementations(self, other: Interpreter) -> None:
        """Take over what is registered with another interpreter: much faster than to register it
        again."""
        tables = vars(other._impls).items()
        self._impls = type(other._impls)(**{name: table.copy() for name, table in tables})

    def implemented(self) -> dict[type[Operation], tuple[InterpreterFunctions, Any]]:
        """Return the table of the operations that have a function: class -> the functions that it
        belongs to, and the function."""
        return self._impls._impl_dict

    def drop_data(self, functions: type[InterpreterFunctions]) -> None:
        """Drop what functions of a class have stored in the interpreter."""
        self._impl_data.pop(functions, None)

    def perform(self, op: Operation, inputs: PythonValues) -> OpImplResult:
        """Run an operation, and return its values and where it goes if it is a terminator."""
        if (entry := self._impls._impl_dict.get(type(op))) is None:
            return super()._run_op(op, inputs)
        for listener in self.listeners:
            listener.will_interpret_op(op, inputs)
        result = entry[1](entry[0], self, op, inputs)
        if len(op.results) != len(result.values):
            raise InterpretationError(
                f"its semantics return {len(result.values)} values for {len(op.results)} results"
            )
        for listener in self.listeners:
            listener.did_interpret_op(op, result.values)
        return result

    _run_op = perform  # by which xDSL's own methods run an operation


# The text of a failed assertion, which all engines report alike.


CALLS: Final[frozenset[type[Operation]]] = frozenset(
    {func.CallOp, CallOp, CallTIROp, CallTIRInplaceOp}
)
"""The operations that call a function by its symbol."""


class AssertionFailed(InterpretationError):
    """The condition of a `cf.assert` or `tir.assume` does not hold."""


def assertion_text(
    message: str, place: FileLineColLoc | None, call: FileLineColLoc | None = None
) -> str:
    """Return the error message of an assertion with `message` that failed at `place`.

    `call` is the location of the innermost call around it. Equal operations share a kernel, so the
    location of an assertion may be that of another operation; that of the call tells which it is.
    """
    text = "assertion failed" + ("" if place is None else f" at {place_text(place)}")
    called = "" if call in (None, place) else f" (called at {place_text(call)})"
    return f"{text}: {message}{called}"


# The operation that a run of the interpreter executes, for error messages.


MAX_CALLS = 2000
"""The most calls within each other. The command-line tools raise Python's own limit, for deeply
nested IR: with it, an infinite recursion would take a minute to end."""


class Position(Interpreter.Listener):
    """A listener that records the current operation and the calls around it."""

    def __init__(self) -> None:
        self.op: Operation | None = None
        self.calls: list[Operation] = []

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        self.op = op
        if type(op) in CALLS:
            if len(self.calls) >= MAX_CALLS:
                raise RecursionError
            self.calls.append(op)

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if type(op) in CALLS:
            self.calls.pop()

    def assertion_text(self, message: str) -> str:
        """Return the error message of the assertion that is the current operation."""
        assert self.op is not None
        call = location_of(self.calls[-1]) if self.calls else None
        return assertion_text(message, location_of(self.op), call)
