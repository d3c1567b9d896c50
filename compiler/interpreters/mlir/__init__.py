"""The semantics of MLIR's own dialects, but for arith, math, memref and vector, which are in
`tir`.

Tensors are numpy arrays that are never changed.
"""

from __future__ import annotations

from xdsl.interpreter import InterpreterFunctions, register_impls

from ..tir.table import methods
from .affine import AFFINE, AffineFunctions
from .builtin import CastFunctions, PrintFunctions
from .control_flow import ControlFlowFunctions
from .tensor import TENSOR, TensorFunctions

__all__ = ["MlirFunctions"]

MlirFunctions: type[InterpreterFunctions] = register_impls(
    type(
        "MlirFunctions",
        (AffineFunctions, CastFunctions, ControlFlowFunctions, PrintFunctions, TensorFunctions),
        methods(AFFINE, TENSOR),
    )
)
"""The interpreter functions of affine, cf, func, printf, scf and tensor, and of casts."""
