"""A pool of the constants of a function: each value once, at the start."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Operation, SSAValue

from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.fast.edit import erase
from ...passmanager.releases.floats import key_of

__all__ = ["ConstantPool"]

ConstantValue: TypeAlias = IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr | DenseResourceAttr


class ConstantPool:
    """The constants at the start of a function, where they dominate all uses."""

    def __init__(self, func: PrimFuncOp) -> None:
        self._block = func.body.block
        self._values: dict[object, SSAValue] = {}
        self._last: Operation | None = None
        op = self._block.first_op
        # Up to the first other operation: constants further down may not dominate all uses.
        while isinstance(op, ConstantOp):
            self._values.setdefault(key_of(op.value), op.result)
            self._last, op = op, op.next_op

    def get(self, value: ConstantValue) -> SSAValue:
        """Return the constant `value`; it is added to the function if it is new."""
        if (known := self._values.get(key := key_of(value))) is None:
            self._insert(op := ConstantOp(value))
            known = self._values[key] = op.result
        return known

    def index(self, value: int) -> SSAValue:
        """Return the constant `value` of type index."""
        return self.get(IntegerAttr.from_index_int_value(value))

    def erase_unused(self) -> None:
        """Erase the constants at the start of the function that have no uses."""
        op = self._block.first_op
        while isinstance(op, ConstantOp):
            following = op.next_op
            if not op.result.uses:
                self._values.pop(key_of(op.value), None)
                # New constants are put after the last one that is left.
                self._last = op.prev_op if op is self._last else self._last
                erase(op)
            op = following

    def _insert(self, op: ConstantOp) -> None:
        if self._last is not None:
            self._block.insert_op_after(op, self._last)
        elif (first := self._block.first_op) is not None:
            self._block.insert_op_before(op, first)
        else:
            self._block.add_op(op)
        self._last = op
