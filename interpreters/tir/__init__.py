"""What functions on buffers compute: numpy, as functions of xDSL's interpreter.

A buffer is an array, which operations change; a view of it is numpy's view. Numbers are numpy's of
the element type, rounded and wrapped after each operation; indices are Python's; vectors are
arrays, which nothing changes.
"""

from __future__ import annotations

from xdsl.interpreter import InterpreterFunctions, register_impls

from .arithmetic import ARITHMETIC
from .functions import BufferFunctions
from .memory import MEMORY
from .table import methods
from .vector import VECTOR

__all__ = ["TirFunctions"]

TirFunctions: type[InterpreterFunctions] = register_impls(
    type("TirFunctions", (BufferFunctions,), methods(ARITHMETIC, MEMORY, VECTOR))
)
"""The operations of the dialect, and those of arith, math, memref and vector, on numpy arrays."""
