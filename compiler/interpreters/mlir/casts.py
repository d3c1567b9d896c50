"""The semantics of `builtin.unrealized_conversion_cast`."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Attribute

from ..tir.table import number
from ..xdsl_interpreter import has_cast
from ..xdsl_values import from_xdsl, to_xdsl

__all__ = ["CastFunctions"]


@register_impls
class CastFunctions(InterpreterFunctions):
    """The function of casts: between integers of one width, and those that interpreter functions
    of xDSL or of another project define for their types."""

    @impl(UnrealizedConversionCastOp)
    def run_unrealized_conversion_cast(
        self, interpreter: Interpreter, op: UnrealizedConversionCastOp, args: PythonValues
    ) -> PythonValues:
        rows = zip(args, op.operand_types, op.result_types, strict=True)
        return tuple(cast(interpreter, *row) for row in rows)


def cast(interpreter: Interpreter, value: Any, source: Attribute, target: Attribute) -> Any:
    """Return `value` as one of type `target`."""
    if source == target:
        return value
    if not has_cast(interpreter, source, target):
        return number(value, target)
    (given,) = to_xdsl((value,), (source,))
    return from_xdsl((interpreter.cast_value(source, target, given),), (target,))[0]
