"""Operations that compute linear forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .analyzer import Analyzer
from .expressions import BOOLEAN, INDEX, is_integer
from .linear_form import ZERO, Atom, AtomKind, LinearForm

UNLIMITED = 1 << 30

LEAVES = frozenset((AtomKind.VALUE, AtomKind.LOOP))

COUNTED: SSAValue = Block(arg_types=[INDEX]).args[0]
"""A placeholder for a value that is counted, but not created."""

OPERATIONS: dict[AtomKind, type[arith.SignlessIntegerBinaryOperation]] = {
    AtomKind.FLOORDIV: arith.FloorDivSIOp,
    # Only for operands that are not negative (`_is_rem`).
    AtomKind.MOD: arith.RemSIOp,
    AtomKind.DIV: arith.DivSIOp,
    AtomKind.REM: arith.RemSIOp,
    AtomKind.MIN: arith.MinSIOp,
    AtomKind.MAX: arith.MaxSIOp,
}


def insert(op: Operation, at: InsertPoint) -> SSAValue:
    """Insert an operation and return its first result.

    Without a location it gets the location of the operation after it.
    """
    if at.insert_before is not None and isinstance(op.location, UnknownLoc):
        op.location = at.insert_before.location
    Rewriter.insert_op(op, at)
    return op.results[0]


class FormBuilder:
    """Creates operations at `at` that compute forms of `analyzer` (LLVM `SCEVExpander`).

    It reuses available values of the analyzer. The values of atoms must dominate `at`.
    """

    def __init__(
        self, analyzer: Analyzer, at: InsertPoint, replaced: Set[SSAValue] = frozenset()
    ) -> None:
        self.analyzer = analyzer
        self.at = at
        self.replaced = replaced
        """Available values that the new operations are to replace: `cost` counts them as new."""

    def build(self, form: LinearForm, type: Attribute = INDEX, name: str | None = None) -> SSAValue:
        """Return a value of `form` and `type`; an `iN` is computed as an index and cast.

        `name` is the name hint of a new value.
        """
        if not form.terms:
            return self.constant(form.constant, type)
        if (value := self._available(form, type)) is not None:
            return value
        value = self._build(form)
        if type != INDEX:
            value = self._emit(arith.IndexCastOp, value, type)
        if name is not None and value.name_hint is None:
            value.name_hint = name
        return value

    def constant(self, value: int, type: Attribute) -> SSAValue:
        """Return a constant of an integer type."""
        form = LinearForm((), value)
        if (available := self._available(form, type)) is not None:
            return available
        width = type.bitwidth if isinstance(type, IntegerType) else INDEX
        op = arith.ConstantOp.from_int_and_width(value, width, truncate_bits=True)
        return insert(op, self.at)

    def cost(self, form: LinearForm, limit: int = UNLIMITED) -> int:
        """Return the number of operations other than constants that `build` creates for `form`.

        Stops counting at `limit`: the result is exact only below it.
        """
        counter = _Counter(self, limit)
        try:
            counter.build(form)
        except _LimitReached:
            return limit
        return counter.count

    def _available(self, form: LinearForm, type: Attribute = INDEX) -> SSAValue | None:
        return self.analyzer.available_value(form, type)

    def _emit(self, cls: Callable[..., Operation], *operands: Any) -> SSAValue:
        return insert(cls(*operands), self.at)

    def _clone(self, old: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        return insert(old.clone(dict(zip(old.operands, operands, strict=True))), self.at)

    def _build(self, form: LinearForm) -> SSAValue:
        if (value := self._available(form)) is not None:
            return value
        constant = form.constant
        if not form.terms:
            return self.constant(constant, INDEX)
        # Positive terms first, so that a subtraction serves for each negative one.
        terms = sorted(form.terms, key=lambda term: term[1] < 0)
        total: SSAValue | None = None
        # All terms are negative: the first one is subtracted from the constant.
        if terms[0][1] < 0:
            total, constant = self.constant(constant, INDEX), 0
        for atom, count in terms:
            value = self._build_atom(atom)
            if abs(count) != 1:
                value = self._emit(arith.MuliOp, value, self.constant(abs(count), INDEX))
            if total is None:
                total = value
            else:
                total = self._emit(arith.AddiOp if count > 0 else arith.SubiOp, total, value)
        assert total is not None
        if constant:
            total = self._emit(arith.AddiOp, total, self.constant(constant, INDEX))
        return total

    def _build_atom(self, atom: Atom) -> SSAValue:
        value = self._available(LinearForm.of(atom))
        if value is None and atom.kind in LEAVES:
            value = atom.value
        if value is None and atom.kind is AtomKind.OP:
            value = self._copy(atom)
        if value is not None:
            return value if value.type == INDEX else self._emit(arith.IndexCastOp, value, INDEX)
        first, *others = [self._build(operand) for operand in atom.operands]
        if atom.kind is AtomKind.MUL:
            for other in others:
                first = self._emit(arith.MuliOp, first, other)
            return first
        (other,) = others
        if atom.kind is AtomKind.MOD and not self._is_rem(atom):
            # `arith` has no remainder with the sign of the divisor.
            quotient = self._emit(arith.FloorDivSIOp, first, other)
            return self._emit(arith.SubiOp, first, self._emit(arith.MuliOp, quotient, other))
        return self._emit(OPERATIONS[atom.kind], first, other)

    def _copy(self, atom: Atom) -> SSAValue:
        """Copy the operation of an OP atom, on operands that are built here."""
        assert atom.value is not None and isinstance(atom.value.owner, Operation)
        old = atom.value.owner
        # Cloned, not reused: `tir-loop-partition` builds bounds before the loop that `old` is in.
        operands = [
            self._build_operand(form, operand)
            for form, operand in zip(atom.operands, old.operands, strict=True)
        ]
        return self._clone(old, operands)

    def _build_operand(self, form: LinearForm, old: SSAValue) -> SSAValue:
        if old.type != BOOLEAN and is_integer(old.type):
            return self.build(form, old.type)
        if (value := self._available(form, old.type)) is not None:
            return value
        atom = form.atom
        if atom is None or atom.value is None:
            return self.build(form, old.type)
        return self._copy(atom) if atom.kind is AtomKind.OP else atom.value

    def _is_rem(self, atom: Atom) -> bool:
        """Return whether a MOD is a REM: dividend and divisor are not negative."""
        dividend, divisor = atom.operands
        is_non_negative = self.analyzer.is_non_negative(dividend)
        return is_non_negative and self.analyzer.can_prove("sgt", divisor, ZERO)


class _LimitReached(Exception):
    """Raised to stop counting."""


class _Counter(FormBuilder):
    """Counts the operations that a builder would create, and creates none."""

    def __init__(self, builder: FormBuilder, limit: int) -> None:
        super().__init__(builder.analyzer, builder.at, builder.replaced)
        self.count = 0
        self._limit = limit

    def constant(self, value: int, type: Attribute) -> SSAValue:
        return COUNTED

    def _available(self, form: LinearForm, type: Attribute = INDEX) -> SSAValue | None:
        value = self.analyzer.available_value(form, type)
        return None if value in self.replaced else value

    def _emit(self, cls: Callable[..., Operation], *operands: Any) -> SSAValue:
        self._add()
        return COUNTED

    def _clone(self, old: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        self._add()
        return old.results[0]

    def _add(self) -> None:
        self.count += 1
        if self.count >= self._limit:
            raise _LimitReached
