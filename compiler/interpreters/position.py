"""The operation that a run of the interpreter executes, for error messages."""

from __future__ import annotations

from xdsl.dialects.cf import AssertOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from ...passmanager.ir.location import location_of
from .assertions import CALLS, assertion_text

__all__ = ["Position"]

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

    def assertion_text(self) -> str:
        """Return the error message of the assertion that is the current operation."""
        assert isinstance(self.op, AssertOp)
        call = location_of(self.calls[-1]) if self.calls else None
        return assertion_text(self.op.msg.data, location_of(self.op), call)
