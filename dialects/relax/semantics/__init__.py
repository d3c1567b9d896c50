"""What each operation computes: numpy, as functions of xDSL's interpreter."""

from __future__ import annotations

from .constant import ConstantFunctions
from .creation import CREATION
from .dynamic import DYNAMIC
from .elementwise import ELEMENTWISE
from .indexing import INDEXING
from .linear_algebra import LINEAR_ALGEBRA
from .manipulation import MANIPULATION
from .table import interpreter_functions

__all__ = ["RelaxFunctions"]

RelaxFunctions = interpreter_functions(
    "RelaxFunctions",
    ConstantFunctions,
    CREATION,
    DYNAMIC,
    ELEMENTWISE,
    INDEXING,
    LINEAR_ALGEBRA,
    MANIPULATION,
)
"""The operations of the dialect on numpy arrays."""
