"""The semantics of the dialect `relax`: functions of xDSL's interpreter on numpy arrays."""

from __future__ import annotations

from .array_functions import Semantics, interpreter_functions
from .contraction import ATTENTION, CONVOLUTION, LINEAR_ALGEBRA
from .control import ConstantFunctions, ControlFunctions
from .data import CREATION, DETECTION, INDEXING, MANIPULATION, SORTING, TREES
from .dynamic import dynamic_semantics
from .elementwise import ACTIVATION, BINARY, ELEMENTWISE, QUANTIZATION, UNARY
from .images import IMAGE
from .reduction import NN, NORMALIZATION, REDUCTION, SCAN
from .windows import POOLING

__all__ = ["RelaxFunctions"]

STATIC: Semantics = {
    **ACTIVATION,
    **ATTENTION,
    **BINARY,
    **CONVOLUTION,
    **CREATION,
    **DETECTION,
    **ELEMENTWISE,
    **IMAGE,
    **INDEXING,
    **LINEAR_ALGEBRA,
    **MANIPULATION,
    **NN,
    **NORMALIZATION,
    **POOLING,
    **QUANTIZATION,
    **REDUCTION,
    **SCAN,
    **SORTING,
    **TREES,
    **UNARY,
}

RelaxFunctions = interpreter_functions(
    "RelaxFunctions", (ConstantFunctions, ControlFunctions), STATIC, dynamic_semantics(STATIC)
)
"""The interpreter functions of all operations of the dialect."""
