# pyright: reportPrivateUsage=false
"""xDSL's interpreter, with public names for what it keeps private; the compiler uses these alone.

xDSL does not say which functions a class has, for which operations and types an interpreter has
one, nor how it runs an operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from xdsl.interpreter import Interpreter, InterpreterFunctions, OpImplResult, PythonValues
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import InterpretationError

__all__ = ["DirectInterpreter", "Functions", "functions_of", "has_cast"]


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
