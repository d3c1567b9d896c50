"""Operations of MLIR's dialect bufferization on types that xDSL's refuses: buffers with a layout or
a memory space, and clones whose type knows more, or less, than that of the source."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import (
    MemRefType,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import IRDLOperation, base, irdl_op_definition, operand_def, opt_prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from .extended_op import extended

__all__ = ["extend"]

_BUFFER = base(MemRefType) | base(UnrankedMemRefType)
_TENSOR = base(TensorType) | base(UnrankedTensorType)


class BetweenTypesOp(IRDLOperation):
    """Base of the operations from one type of a shape to another one."""

    SAME_SHAPE: ClassVar = True
    """Whether the sizes must be the same, not only compatible."""

    def verify_(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        sizes, wanted = _shape(source), _shape(result)
        if _element(source) != _element(result):
            raise VerifyException(
                f"expected operand and result of one element type, got {source} and {result}"
            )
        if sizes is None or wanted is None:
            fits = not self.SAME_SHAPE or sizes is wanted
        elif self.SAME_SHAPE or len(sizes) != len(wanted):
            fits = sizes == wanted
        else:
            rows = zip(sizes, wanted, strict=True)
            fits = all(a == b or min(a, b) < 0 for a, b in rows)
        if not fits:
            what = "one shape" if self.SAME_SHAPE else "compatible shapes"
            raise VerifyException(
                f"expected operand and result of {what}, got {source} and {result}"
            )


def _shape(type: Attribute) -> tuple[int, ...] | None:
    return type.get_shape() if isinstance(type, MemRefType | TensorType) else None


def _element(type: Attribute) -> Attribute | None:
    return getattr(type, "element_type", None)


@irdl_op_definition
class CloneOp(BetweenTypesOp):
    """Return a buffer with the elements of another one; neither is written afterwards."""

    name = "bufferization.clone"

    SAME_SHAPE: ClassVar = False

    input = operand_def(_BUFFER)
    output = result_def(_BUFFER)

    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"


@irdl_op_definition
class ToTensorOp(BetweenTypesOp):
    """Return the elements of a buffer as a tensor."""

    name = "bufferization.to_tensor"

    memref = operand_def(_BUFFER)
    tensor = result_def(_TENSOR)
    writable = opt_prop_def(UnitAttr)
    restrict = opt_prop_def(UnitAttr)

    assembly_format = (
        "$memref (`restrict` $restrict^)? (`writable` $writable^)? attr-dict "
        "`:` type($memref) `to` type($tensor)"
    )


@irdl_op_definition
class ToBufferOp(BetweenTypesOp):
    """Return a buffer with the elements of a tensor."""

    name = "bufferization.to_buffer"

    tensor = operand_def(_TENSOR)
    memref = result_def(_BUFFER)
    read_only = opt_prop_def(UnitAttr)

    assembly_format = (
        "$tensor (`read_only` $read_only^)? attr-dict `:` type($tensor) `to` type($memref)"
    )


EXTENSION: tuple[type[Operation], ...] = (CloneOp, ToBufferOp, ToTensorOp)


def extend(dialect: Dialect) -> Dialect:
    """Return xDSL's dialect bufferization with the operations above."""
    return extended(dialect, EXTENSION)
