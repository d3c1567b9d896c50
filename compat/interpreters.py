"""The semantics of `scf.while`, which xDSL's interpreter has since 0.72."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    impl,
    impl_terminator,
    register_impls,
)

__all__ = ["WhileFunctions"]


@register_impls
class WhileFunctions(InterpreterFunctions):
    """The semantics of `scf.while`."""

    @impl(scf.WhileOp)
    def run_while(
        self, interpreter: Interpreter, op: scf.WhileOp, args: PythonValues
    ) -> PythonValues:
        while True:
            condition, *forwarded = interpreter.run_ssacfg_region(op.before_region, args, "before")
            if not condition:
                return tuple(forwarded)
            args = interpreter.run_ssacfg_region(op.after_region, tuple(forwarded), "after")

    @impl_terminator(scf.ConditionOp)
    def run_condition(self, interpreter: Interpreter, op: scf.ConditionOp, args: PythonValues):
        return ReturnedValues(args), ()
