"""The semantics of the dialect `relax`: functions of xDSL's interpreter on numpy arrays."""

from __future__ import annotations

from ..tensor import TensorFunctions
from .activation import ACTIVATION
from .attention import ATTENTION
from .binary import BINARY
from .constant import ConstantFunctions
from .control import ControlFunctions
from .convolution import CONVOLUTION
from .creation import CREATION
from .detection import DETECTION
from .dynamic import DYNAMIC
from .elementwise import ELEMENTWISE
from .image import IMAGE
from .indexing import INDEXING
from .linear_algebra import LINEAR_ALGEBRA
from .manipulation import MANIPULATION
from .nn import NN
from .normalization import NORMALIZATION
from .pooling import POOLING
from .quantization import QUANTIZATION
from .reduction import REDUCTION
from .scan import SCAN
from .sorting import SORTING
from .table import interpreter_functions
from .unary import UNARY

__all__ = ["RelaxFunctions"]

RelaxFunctions = interpreter_functions(
    "RelaxFunctions",
    (ConstantFunctions, ControlFunctions, TensorFunctions),
    ACTIVATION,
    ATTENTION,
    BINARY,
    CONVOLUTION,
    CREATION,
    DETECTION,
    DYNAMIC,
    ELEMENTWISE,
    IMAGE,
    INDEXING,
    LINEAR_ALGEBRA,
    MANIPULATION,
    NN,
    NORMALIZATION,
    POOLING,
    QUANTIZATION,
    REDUCTION,
    SCAN,
    SORTING,
    UNARY,
)
"""The interpreter functions of all operations of the dialect."""
