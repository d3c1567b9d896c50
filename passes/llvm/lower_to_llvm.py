"""The whole lowering from MLIR's dialects to the dialect llvm, in one walk."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from .conversion import Patterns, convert
from .lower_arith import ARITH
from .lower_func import FUNC
from .lower_math import MATH
from .lower_memref import MEMREF
from .lower_scf import lower_to_blocks
from .lower_vector import VECTOR

ALL: Patterns = {**ARITH, **MATH, **MEMREF, **VECTOR, **FUNC}


def lower_to_llvm(module: ModuleOp) -> None:
    """Do what the passes of the pipeline `lower-to-llvm` do, without casts between them."""
    lower_to_blocks(module)
    # All patterns at once: no operation is left between converted ones, so no cast is made.
    convert(module, ALL)
