"""What the elements of results are computed of: how operations become kernels.

A table for each family: operation -> function of the operation, a writer, and the operands as
tensors. `legalize-ops` makes kernels of them.
"""

from __future__ import annotations

from xdsl.ir import Operation

from .contraction import CONTRACTION
from .creation import CREATION
from .elementwise import ELEMENTWISE
from .image import IMAGE
from .indexing import INDEXING
from .manipulation import MANIPULATION
from .padding import PADDING
from .pooling import POOLING
from .tensors import Definition

__all__ = ["DEFINITIONS"]

DEFINITIONS: dict[type[Operation], Definition] = {
    **CONTRACTION,
    **CREATION,
    **ELEMENTWISE,
    **IMAGE,
    **INDEXING,
    **MANIPULATION,
    **PADDING,
    **POOLING,
}
