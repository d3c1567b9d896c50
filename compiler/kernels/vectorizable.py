"""Whether loops over the elements of a kernel's result can be vectorized, and if not, why."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Attribute, Operation

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.interfaces import Elementwise
from ...dialects.relax.windows.pooling import AdaptivePoolOp, PoolOp
from .scalars import fills_bytes

__all__ = ["obstacle_to_vectors"]


def obstacle_to_vectors(ops: Iterable[Operation], stored: Iterable[Attribute]) -> str | None:
    """Return why the elements of a kernel with these operations, and buffers of the element types
    `stored`, are computed one by one; None if several adjacent ones may be computed together.

    A vector is loaded from adjacent elements, so adjacent elements of the result must be computed
    from adjacent ones: true of `add`, not of `take` or of a transposition.
    """
    plain = Elementwise | FullOp | ConstantOp | ConcatenateOp
    for op in ops:
        if not isinstance(op, plain) and not keeps_neighbours(op):
            return f"{op.name} may compute adjacent elements from distant ones"
    for element in stored:
        if not fills_bytes(element):
            return f"no vectors of {element} are loaded or stored"
    return None


def keeps_neighbours(op: Operation) -> bool:
    """Return whether `op` is pooling of adjacent elements from adjacent ones."""
    if isinstance(op, AdaptivePoolOp):
        return op.data_layout().axes[-1] not in op.SPATIAL
    if not isinstance(op, PoolOp):
        return False
    layout, out_layout = op.layouts()
    return layout == out_layout and layout.axes[-1] not in op.SPATIAL
