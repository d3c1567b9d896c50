"""What the elements of results are computed of: how operations become kernels.

A table for each family: operation -> function of the operation, a writer, and the operands as
tensors. `legalize-ops` makes kernels of them.
"""

from __future__ import annotations

from xdsl.ir import Operation

from .activation import ACTIVATION
from .binary import BINARY
from .contraction import CONTRACTION
from .creation import CREATION
from .einsum import EINSUM
from .elementwise import ELEMENTWISE
from .image import IMAGE
from .indexing import INDEXING
from .manipulation import MANIPULATION
from .nn import NN
from .normalization import NORMALIZATION
from .padding import PADDING
from .pooling import POOLING
from .reduction import REDUCTION
from .scan import SCAN
from .sorting import SORTING
from .tensors import Definition
from .unary import UNARY

__all__ = ["DEFINITIONS"]

DEFINITIONS: dict[type[Operation], Definition] = {
    **ACTIVATION,
    **BINARY,
    **CONTRACTION,
    **EINSUM,
    **CREATION,
    **ELEMENTWISE,
    **IMAGE,
    **INDEXING,
    **MANIPULATION,
    **NN,
    **NORMALIZATION,
    **PADDING,
    **POOLING,
    **REDUCTION,
    **SCAN,
    **SORTING,
    **UNARY,
}
