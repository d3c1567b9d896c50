"""The shapes of views of tensors of unknown sizes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....analysis.shapes.rules import inferred_dimensions
from ....dialects.relax.data.reshape import SqueezeOp
from ....dialects.sizes import Size, TooComplex

__all__ = ["view_shape"]


class Operand:
    """The facts about the operand of a view: its shape."""

    def __init__(self, shape: Sequence[Size]) -> None:
        self.shape = shape

    def of(self, value: SSAValue) -> Sequence[Size]:
        return self.shape

    def elements_of(self, value: SSAValue) -> None:
        return None


def view_shape(op: Operation, shape: Sequence[Size]) -> list[Size]:
    """Return the shape of the result of the view or cast `op`, whose operand has `shape`.

    TooComplex if a product is; the numbers of elements may differ, which the caller checks.
    """
    if isinstance(op, SqueezeOp) and op.axis is None:
        return [size for size in shape if size.known != 1]
    (dimensions,) = inferred_dimensions(op, Operand(shape)) or [shape]
    known = [size for size in dimensions or () if size is not None]
    if dimensions is None or len(known) < len(dimensions):
        raise TooComplex(f"the shape of '{op.name}'")
    return known
