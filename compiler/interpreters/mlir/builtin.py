"""Semantics of unrealized conversion casts, and of operations that print."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import printf, vector
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Attribute

from ..foreign import from_xdsl, to_xdsl
from ..tir.table import number
from ..xdsl_interpreter import has_cast

# The semantics of `builtin.unrealized_conversion_cast`.


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


# The semantics of printf and `vector.print`, which write to the file of the interpreter.


def text_of(value: Any) -> str:
    """Return a number or array as text: the shortest digits that stand for a float of its type,
    i1 as 0 and 1."""
    array = np.asarray(value)
    if array.ndim:
        return f"[{', '.join(map(text_of, array))}]"
    return str(int(array) if array.dtype == np.bool_ else array[()])


def write(interpreter: Interpreter, text: str) -> PythonValues:
    """Write `text` to the file of the interpreter, if there is one."""
    if interpreter.file is not None:
        interpreter.file.write(text)
    return ()


@register_impls
class PrintFunctions(InterpreterFunctions):
    """The functions of the operations that print."""

    @impl(printf.PrintFormatOp)
    def run_print_format(
        self, interpreter: Interpreter, op: printf.PrintFormatOp, args: PythonValues
    ) -> PythonValues:
        first, *others = op.format_str.data.split("{}")
        pairs = zip(map(text_of, args), others, strict=True)
        return write(interpreter, first + "".join(value + text for value, text in pairs))

    @impl(printf.PrintCharOp)
    def run_print_char(
        self, interpreter: Interpreter, _: printf.PrintCharOp, args: PythonValues
    ) -> PythonValues:
        return write(interpreter, chr(int(args[0]) & 0xFF))

    @impl(printf.PrintIntOp)
    def run_print_int(
        self, interpreter: Interpreter, _: printf.PrintIntOp, args: PythonValues
    ) -> PythonValues:
        return write(interpreter, text_of(args[0]))

    @impl(vector.PrintOp)
    def run_vector_print(
        self, interpreter: Interpreter, _: vector.PrintOp, args: PythonValues
    ) -> PythonValues:
        return write(interpreter, parenthesized(np.asarray(args[0])) + "\n")


def parenthesized(array: np.ndarray[Any, Any]) -> str:
    """Return a vector as MLIR's runtime prints it: `( ( 1, 2 ), ( 3, 4 ) )`."""
    if not array.ndim:
        return text_of(array)
    return f"( {', '.join(map(parenthesized, array))} )"
