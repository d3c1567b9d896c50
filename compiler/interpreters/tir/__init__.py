"""The semantics of functions on buffers, on numpy arrays, for xDSL's interpreter.

A buffer is an array that operations change in place, and a view of a buffer is a numpy view.
Scalars are numpy scalars, rounded or wrapped to their type after each operation; indices are
Python integers; vectors are arrays that are never changed.
"""

from __future__ import annotations

from xdsl.interpreter import InterpreterFunctions, impl_terminator, register_impls

from .arithmetic import ARITHMETIC
from .memory import MEMORY, MemoryFunctions
from .table import RETURNS, BufferFunctions, methods, return_operands
from .vector import VECTOR

__all__ = ["TirFunctions"]

TirFunctions: type[InterpreterFunctions] = register_impls(
    type(
        "TirFunctions",
        (BufferFunctions, MemoryFunctions),
        {
            **methods(ARITHMETIC, MEMORY, VECTOR),
            **{cls.name: impl_terminator(cls)(return_operands) for cls in RETURNS},
        },
    )
)
"""The interpreter functions of tir, arith, math, memref and vector, and of terminators that return
their operands."""
