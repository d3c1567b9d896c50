"""The semantics of the dialect `relax`: functions of xDSL's interpreter on numpy arrays."""

from __future__ import annotations

from .constant import ConstantFunctions
from .contraction.attention import ATTENTION
from .contraction.convolution import CONVOLUTION
from .contraction.linear_algebra import LINEAR_ALGEBRA
from .control import ControlFunctions
from .data.creation import CREATION
from .data.detection import DETECTION
from .data.image import IMAGE
from .data.indexing import INDEXING
from .data.manipulation import MANIPULATION
from .data.sorting import SORTING
from .data.trees import TREES
from .dynamic import dynamic_semantics
from .elementwise.activation import ACTIVATION
from .elementwise.binary import BINARY
from .elementwise.elementwise import ELEMENTWISE
from .elementwise.quantization import QUANTIZATION
from .elementwise.unary import UNARY
from .reduction.nn import NN
from .reduction.normalization import NORMALIZATION
from .reduction.reduction import REDUCTION
from .reduction.scan import SCAN
from .table import Semantics, interpreter_functions
from .windows.pooling import POOLING

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
