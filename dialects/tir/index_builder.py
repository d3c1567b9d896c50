"""Building index arithmetic: constants, folding of known indices, and reuse of pure results."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from ctypes import c_float
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from .functions import PrimFuncOp
from .loops import LikelyOp

__all__ = ["Index", "IndexBuilder"]

Index: TypeAlias = SSAValue | int
"""An SSA value of type index, or a number that is known at compile time."""

EQ, SLT, SLE = "eq", "slt", "sle"  # predicates of arith.cmpi


class IndexBuilder:
    """A builder of scalar operations that appends to the body of a function.

    Arithmetic on known indices is folded at once: `add(i, 0)` is `i`. A pure operation that was
    already built where it dominates the insertion point is reused. Constants stand at the top of
    the function, each once.
    """

    def __init__(self, func: PrimFuncOp):
        self.func = func
        self._builder = Builder(InsertPoint.at_end(func.body.block))
        self._last_constant: Operation | None = None
        self._constants: dict[tuple[object, Attribute], SSAValue] = {}
        self._known: dict[SSAValue, int] = {}
        self._pure: list[dict[object, SSAValue]] = [{}]
        """The pure results of each block from the function to the insertion point."""

    # Operations

    def insert(self, op: Operation) -> Operation:
        """Append `op` at the insertion point and return it."""
        return self._builder.insert(op)

    def pure(
        self, cls: Callable[..., Operation], *operands: SSAValue, **arguments: object
    ) -> SSAValue:
        """Return the result of a pure operation `cls(*operands, **arguments)`.

        An equal operation that dominates the insertion point is reused.
        """
        key = (cls, operands, *arguments.items())
        for scope in self._pure:
            if (found := scope.get(key)) is not None:
                return found
        result = self.insert(cls(*operands, **arguments)).results[0]
        self._pure[-1][key] = result
        return result

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Move the insertion point to the end of `block` within the `with` statement."""
        outer = self._builder
        self._builder = Builder(InsertPoint.at_end(block))
        self._pure.append({})
        try:
            yield
        finally:
            self._pure.pop()
            self._builder = outer

    # Constants

    def number(self, value: float | int | bool, type: Attribute) -> SSAValue:
        """Return a constant of scalar type `type`.

        A value beyond the range of f32 becomes infinite there. Raises NotImplementedError for a
        signed or unsigned integer type, which arith does not have.
        """
        if isa(type, IntegerType) and type.signedness.data is not Signedness.SIGNLESS:
            raise NotImplementedError(f"a number of type {type}: arith has signless integers only")
        if isinstance(type, Float32Type):
            value = c_float(value).value
        key = (str(value), type)  # as text, for 0.0 == -0.0
        if key not in self._constants:
            self._constants[key] = self._add_constant(value, type)
        return self._constants[key]

    def _add_constant(self, value: float | int | bool, type: Attribute) -> SSAValue:
        match type:
            case IndexType() | IntegerType():
                attribute = IntegerAttr(int(value), type)
            case _:
                attribute = FloatAttr(value, type)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
        op = arith.ConstantOp(attribute)  # pyright: ignore[reportUnknownArgumentType]
        block = self.func.body.block
        if self._last_constant is not None:
            block.insert_op_after(op, self._last_constant)
        elif block.first_op is not None:
            block.insert_op_before(op, block.first_op)
        else:
            block.add_op(op)
        self._last_constant = op
        if isinstance(type, IndexType):
            self._known[op.result] = int(value)
        return op.result

    def index(self, value: Index) -> SSAValue:
        """Return `value` as an SSA value; a known number becomes a constant."""
        return self.number(value, IndexType()) if isinstance(value, int) else value

    def known(self, value: Index) -> Index:
        """Return the int that `value` stands for if this builder made it as a constant;
        otherwise `value`."""
        return value if isinstance(value, int) else self._known.get(value, value)

    # Index arithmetic

    def add(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs + rhs`."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if lhs == 0 or rhs == 0:
            return rhs if lhs == 0 else lhs
        return self.pure(arith.AddiOp, self.index(lhs), self.index(rhs))

    def sub(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs - rhs`."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs - rhs
        if rhs == 0:
            return lhs
        return self.pure(arith.SubiOp, self.index(lhs), self.index(rhs))

    def mul(self, lhs: Index, rhs: Index) -> Index:
        """Return `lhs * rhs`."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs * rhs
        if lhs == 0 or rhs == 0:
            return 0
        if lhs == 1 or rhs == 1:
            return rhs if lhs == 1 else lhs
        return self.pure(arith.MuliOp, self.index(lhs), self.index(rhs))

    def floordiv(self, lhs: Index, rhs: int) -> Index:
        """Return the quotient of `lhs`, which must not be negative, by a positive number."""
        # LLVM turns unsigned division by a power of 2 into one shift; signed division needs more.
        lhs = self.known(lhs)
        if isinstance(lhs, int):
            return lhs // rhs
        return lhs if rhs == 1 else self.pure(arith.DivUIOp, lhs, self.index(rhs))

    def mod(self, lhs: Index, rhs: int) -> Index:
        """Return the remainder of `lhs`, which must not be negative, by a positive number."""
        lhs = self.known(lhs)
        if isinstance(lhs, int):
            return lhs % rhs
        return 0 if rhs == 1 else self.pure(arith.RemUIOp, lhs, self.index(rhs))

    def min(self, lhs: Index, rhs: Index) -> Index:
        """Return the smaller of two signed indices."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        return self.pure(arith.MinSIOp, self.index(lhs), self.index(rhs))

    def max(self, lhs: Index, rhs: Index) -> Index:
        """Return the larger of two signed indices."""
        lhs, rhs = self.known(lhs), self.known(rhs)
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        return self.pure(arith.MaxSIOp, self.index(lhs), self.index(rhs))

    def flat(self, indices: Sequence[Index], shape: Sequence[int]) -> Index:
        """Return the row-major position of the element at `indices` of a buffer of `shape`."""
        position: Index = 0
        for index, size in zip(indices, shape, strict=True):
            position = self.add(self.mul(position, size), index)
        return position

    def unflat(self, position: Index, shape: Sequence[int]) -> list[Index]:
        """Return the indices of the element at a row-major `position`: the inverse of `flat`."""
        indices: list[Index] = []
        for axis in reversed(range(1, len(shape))):
            indices.append(self.mod(position, shape[axis]))
            position = self.floordiv(position, shape[axis])
        return [position, *reversed(indices)] if shape else []

    # Conditions

    def less(self, lhs: Index, rhs: Index) -> SSAValue:
        """Return the condition `lhs < rhs`, signed."""
        return self.pure(arith.CmpiOp, self.index(lhs), self.index(rhs), arg=SLT)

    def equal(self, lhs: Index, rhs: Index) -> SSAValue:
        """Return the condition `lhs == rhs`."""
        return self.pure(arith.CmpiOp, self.index(lhs), self.index(rhs), arg=EQ)

    def inside_bounds(self, index: Index, low: Index, high: Index) -> list[SSAValue]:
        """Return the conditions for `low <= index < high`, without those known to hold."""
        index = self.known(index)
        conditions: list[SSAValue] = []
        if not (isinstance(index, int) and isinstance(low, int) and index >= low):
            conditions.append(self.pure(arith.CmpiOp, self.index(low), self.index(index), arg=SLE))
        if not (isinstance(index, int) and isinstance(high, int) and index < high):
            conditions.append(self.less(index, high))
        return conditions

    def all(self, conditions: Sequence[SSAValue]) -> SSAValue:
        """Return the conjunction of `conditions`; the empty one is true."""
        if not conditions:
            return self.number(True, i1)
        value, *rest = conditions
        for condition in rest:
            value = self.pure(arith.AndIOp, value, condition)
        return value

    def negation(self, condition: SSAValue) -> SSAValue:
        """Return whether `condition` does not hold."""
        return self.pure(arith.XOrIOp, condition, self.number(True, i1))

    def likely(self, condition: SSAValue) -> SSAValue:
        """Return `condition`, marked as true most of the time."""
        return self.insert(LikelyOp(condition)).results[0]

    def sum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Return the sum of two numbers of one type, integer or float."""
        is_integer = isinstance(lhs.type, IntegerType | IndexType)
        return self.pure(arith.AddiOp if is_integer else arith.AddfOp, lhs, rhs)
