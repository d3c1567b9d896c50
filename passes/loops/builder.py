"""A builder of loops, branches and index arithmetic at any point of a function."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.analysis.constants import integer_constant
from ...dialects.numbers import Function, folded
from ...dialects.tir.ops import ForOp, YieldOp

__all__ = ["Index", "LoopBuilder", "known_index"]

Index: TypeAlias = "SSAValue | int"
"""An index, or an integer that is known."""

OpT = TypeVar("OpT", bound=Operation)

OPERATIONS: Mapping[Function, type[arith.SignlessIntegerBinaryOperation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "floordiv": arith.FloorDivSIOp,
    "mod": arith.RemSIOp,
}


def known_index(value: SSAValue) -> Index:
    """Return the integer that `value` is, or `value` itself if it is not a constant."""
    known = integer_constant(value)
    return value if known is None else known


class LoopBuilder:
    """A builder at one insertion point; operations on known indices are folded.

    In contrast to `TirBuilder`, which builds a new function from start to end, it can insert into
    the middle of an existing one.
    """

    def __init__(self, at: InsertPoint) -> None:
        self._at = at
        self._constants: dict[int, SSAValue] = {}

    def insert(self, op: OpT) -> OpT:
        """Insert `op`, and return it."""
        Rewriter.insert_op(op, self._at)
        return op

    def value(self, index: Index) -> SSAValue:
        """Return `index` as an SSA value."""
        if isinstance(index, SSAValue):
            return index
        # One for each builder, not for each function: a constant in an inner block does not
        # dominate what is built after it.
        if index not in self._constants:
            constant = arith.ConstantOp(IntegerAttr.from_index_int_value(index))
            self._constants[index] = self.insert(constant).result
        return self._constants[index]

    # Arithmetic. There are no operators on values: their operations have to be inserted here.

    def emit(self, function: Function, a: Index, b: Index) -> Index:
        """Return a function of two indices, which is computed here unless it can be folded."""
        known = folded(function, a, b)
        if known is not None:
            return known
        return self.insert(OPERATIONS[function](self.value(a), self.value(b))).result

    def add(self, a: Index, b: Index) -> Index:
        """Return `a + b`."""
        return self.emit("add", a, b)

    def sub(self, a: Index, b: Index) -> Index:
        """Return `a - b`."""
        return self.emit("sub", a, b)

    def mul(self, a: Index, b: int) -> Index:
        """Return `a * b`."""
        return self.emit("mul", a, b)

    def parity(self, a: Index) -> Index:
        """Return `a mod 2`, for an `a` that is not negative."""
        return self.emit("mod", a, 2)

    def at_least_0(self, a: Index) -> Index:
        """Return `max(a, 0)`."""
        return (
            max(a, 0) if isinstance(a, int) else self.insert(arith.MaxSIOp(a, self.value(0))).result
        )

    # Control flow

    @contextmanager
    def when(self, a: Index, b: Index) -> Generator[LoopBuilder | None]:
        """Build a branch that is taken if `a < b`; yields its builder.

        Yields None if `a < b` is known to be false, and the same builder if it is known to be true.
        """
        if isinstance(a, int) and isinstance(b, int):
            # The code goes where the branch would be.
            yield self if a < b else None
            return
        condition = self.insert(arith.CmpiOp(self.value(a), self.value(b), "slt"))
        then = Block()
        self.insert(scf.IfOp(condition, [], Region(then)))
        yield LoopBuilder(InsertPoint.at_end(then))
        then.add_op(scf.YieldOp())

    @contextmanager
    def loop(
        self, like: ForOp, first: Index, extent: Index
    ) -> Generator[tuple[LoopBuilder, SSAValue]]:
        """Build a loop of the kind and attributes of `like`; yields its builder and variable.

        A loop whose extent is known to be 0 or less is dropped.
        """
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = like.variable.name_hint
        yield LoopBuilder(InsertPoint.at_end(body)), body.args[0]
        body.add_op(YieldOp())
        # After the body was built, as the caller's `with` block runs in any case.
        if isinstance(extent, int) and extent <= 0:
            return
        new = ForOp(
            self.value(first),
            self.value(extent),
            Region(body),
            like.for_kind,
            attributes=like.attributes,
        )
        new.location = like.location
        self.insert(new)
