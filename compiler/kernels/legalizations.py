"""The legalizations of all operations, by dialect.

Other projects register theirs with an entry point of the group `passline.legalizations`: the name
of the dialect -> a mapping of operation classes to functions of the operation, the kernel builder
and the operands as tensors.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from xdsl.ir import Operation

from ...passmanager.registry import DialectTable, dialect_of
from .builder import Legalization
from .contraction.attention import ATTENTION
from .contraction.convolution import CONVOLUTION
from .contraction.linear_algebra import EINSUM, MATMUL
from .data.creation import CREATION
from .data.indexing import INDEXING
from .data.manipulation import MANIPULATION, PADDING
from .data.sorting import SORTING
from .data.trees import TREES
from .dynamic import DYNAMIC
from .elementwise.activation import ACTIVATION
from .elementwise.binary import BINARY
from .elementwise.elementwise import ELEMENTWISE
from .elementwise.quantization import QUANTIZATION
from .elementwise.unary import UNARY
from .images.resize import IMAGE, RESIZE
from .reduction.arg_reduction import ARG_REDUCTION
from .reduction.nn import NN
from .reduction.normalization import NORMALIZATION
from .reduction.reduction import REDUCTION
from .reduction.scan import SCAN
from .windows.pooling import POOLING

__all__ = ["RELAX", "legalization_of", "overriding", "register_legalizations"]

# The tables are disjoint: if an operation were in two of them, the later entry would silently
# replace the earlier one.
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
    **TREES,
    **UNARY,
}

_LEGALIZATIONS: DialectTable[Mapping[type[Operation], Legalization]] = DialectTable(
    "passline.legalizations", {"relax": lambda: RELAX}
)


_OWN: ContextVar[Mapping[str, Legalization]] = ContextVar(
    "legalizations", default=MappingProxyType({})
)


@contextmanager
def overriding(table: Mapping[str, Legalization]) -> Generator[None]:
    """Use the legalizations of a table, by the names of operations, before those that are
    registered."""
    token = _OWN.set(table)
    try:
        yield
    finally:
        _OWN.reset(token)


def legalization_of(op: Operation) -> Legalization | None:
    """Return the function that computes the results of an operation, or None."""
    if (own := _OWN.get().get(op.name)) is not None:
        return own
    table = _LEGALIZATIONS.get(dialect_of(type(op)))
    return None if table is None else table.get(type(op))


def register_legalizations(dialect: str, table: Mapping[type[Operation], Legalization]) -> None:
    """Set the legalizations of the operations of a dialect, for this process."""
    _LEGALIZATIONS.register(dialect, table)
