"""Tuples of values, and casts of values to another type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TupleType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import BaseAttr, irdl_op_definition, operand_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from .attributes import int_prop
from .base import TensorOp
from .interfaces import AlongAxes, FusionKind, FusionPattern
from .types import refine, tuple_type

__all__ = ["MatchCastOp", "TupleGetItemOp", "TupleOp"]

TUPLE = BaseAttr(TupleType)


@irdl_op_definition
class TupleOp(FusionPattern, TensorOp):
    """A tuple of values, which may themselves be tuples or functions (`relax.Tuple`)."""

    name = "relax.tuple"

    fields = var_operand_def()
    result = result_def(TUPLE)

    def infer_types(self) -> Sequence[Attribute]:
        return (tuple_type(self.operand_types),)

    def fusion_kind(self) -> FusionKind:
        return FusionKind.TUPLE


@irdl_op_definition
class TupleGetItemOp(FusionPattern, TensorOp, HasFolderInterface):
    """The element of a tuple at a constant index, which counts from 0 (`relax.TupleGetItem`)."""

    name = "relax.tuple_get_item"

    tuple = operand_def(TUPLE)
    index = int_prop()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        if not isinstance(type := self.tuple.type, TupleType):
            raise VerifyException(f"expected a tuple, got {type}")
        index, count = self.index, len(type.types)
        if not 0 <= index < count:
            raise VerifyException(f"index {index} is out of bounds of {type}, which has {count}")
        return (type.types.data[index],)

    def fusion_kind(self) -> FusionKind:
        return FusionKind.TUPLE

    def element(self) -> SSAValue | None:
        """Return the operand of the `relax.tuple` that defines the tuple, if its type matches."""
        if not isinstance(owner := self.tuple.owner, TupleOp):
            return None
        value = owner.operands[self.index]
        return value if value.type == self.result.type else None

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return None if (value := self.element()) is None else (value,)


@irdl_op_definition
class MatchCastOp(AlongAxes, TensorOp, HasFolderInterface):
    """A cast of a value to a more or a less precise type (`relax.MatchCast`).

    Like `tensor.cast`, but also for tuples and functions. Nothing is checked at run time.
    """

    name = "relax.match_cast"
    FROM_SIGNATURE: ClassVar = False  # the declared type is an input of the inference

    value = operand_def()
    result = result_def()

    def infer_types(self) -> Sequence[Attribute]:
        if refine(self.result.type, self.value.type) is None:
            raise VerifyException(f"cannot cast {self.value.type} to {self.result.type}")
        return (self.result.type,)

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        return (self.value,) if self.value.type == self.result.type else None
