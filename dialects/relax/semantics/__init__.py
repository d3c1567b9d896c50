"""What each operation computes: numpy, as functions of xDSL's interpreter."""

from __future__ import annotations

from .constant import ConstantFunctions
from .convolution import CONVOLUTION
from .elementwise import ELEMENTWISE
from .image import IMAGE
from .linear_algebra import LINEAR_ALGEBRA
from .manipulation import MANIPULATION
from .nn import NN
from .normalization import NORMALIZATION
from .pooling import POOLING
from .table import interpreter_functions

__all__ = ["RelaxFunctions"]

RelaxFunctions = interpreter_functions(
    "RelaxFunctions",
    ConstantFunctions,
    CONVOLUTION,
    ELEMENTWISE,
    IMAGE,
    LINEAR_ALGEBRA,
    MANIPULATION,
    NN,
    NORMALIZATION,
    POOLING,
)
"""The operations of the dialect on numpy arrays."""
