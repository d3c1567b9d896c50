"""The legalizations of all operations, by dialect.

Other projects register theirs with an entry point of the group `passline.legalizations`: the name
of the dialect -> a mapping of operation classes to functions of the operation, the kernel builder
and the operands as tensors.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from ....passmanager.extensions import DialectTable, dialect_of
from .activation import ACTIVATION
from .arg_reduction import ARG_REDUCTION
from .attention import ATTENTION
from .binary import BINARY
from .convolution import CONVOLUTION
from .creation import CREATION
from .dynamic import DYNAMIC
from .einsum import EINSUM
from .elementwise import ELEMENTWISE
from .image import IMAGE
from .indexing import INDEXING
from .kernel_builder import Legalization
from .manipulation import MANIPULATION
from .matmul import MATMUL
from .nn import NN
from .normalization import NORMALIZATION
from .padding import PADDING
from .pooling import POOLING
from .quantization import QUANTIZATION
from .reduction import REDUCTION
from .resize import RESIZE
from .scan import SCAN
from .sorting import SORTING
from .unary import UNARY

__all__ = ["RELAX", "legalization_of", "register_legalizations"]

RELAX: dict[type[Operation], Legalization] = {
    **ACTIVATION,
    **ARG_REDUCTION,
    **ATTENTION,
    **BINARY,
    **CONVOLUTION,
    **CREATION,
    **DYNAMIC,
    **EINSUM,
    **ELEMENTWISE,
    **IMAGE,
    **INDEXING,
    **MANIPULATION,
    **MATMUL,
    **NN,
    **NORMALIZATION,
    **PADDING,
    **POOLING,
    **QUANTIZATION,
    **REDUCTION,
    **RESIZE,
    **SCAN,
    **SORTING,
    **UNARY,
}

_LEGALIZATIONS: DialectTable[Mapping[type[Operation], Legalization]] = DialectTable(
    "passline.legalizations", {"relax": lambda: RELAX}
)


def legalization_of(op: Operation) -> Legalization | None:
    """Return the function that computes the results of an operation, or None."""
    table = _LEGALIZATIONS.get(dialect_of(type(op)))
    return None if table is None else table.get(type(op))


def register_legalizations(dialect: str, table: Mapping[type[Operation], Legalization]) -> None:
    """Set the legalizations of the operations of a dialect, for this process."""
    _LEGALIZATIONS.register(dialect, table)
