"""Operations that compute linear forms."""

from __future__ import annotations

from collections.abc import Set

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .analyzer import Analyzer
from .integer_types import BOOLEAN, INDEX, is_integer
from .linear_form import ZERO, Atom, AtomKind, LinearForm

__all__ = ["FormBuilder", "insert"]

UNLIMITED = 1 << 30

LEAVES = frozenset((AtomKind.VALUE, AtomKind.LOOP))

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
        if (value := self.analyzer.available_value(form, type)) is not None:
            return value
        value = self._build(form)
        if type != INDEX:
            value = self._insert(arith.IndexCastOp(value, type))
        if name is not None and value.name_hint is None:
            value.name_hint = name
        return value

    def constant(self, value: int, type: Attribute) -> SSAValue:
        """Return a constant of an integer type."""
        form = LinearForm((), value)
        if (available := self.analyzer.available_value(form, type)) is not None:
            return available
        width = type.bitwidth if isinstance(type, IntegerType) else INDEX
        return self._insert(arith.ConstantOp.from_int_and_width(value, width, truncate_bits=True))

    def cost(self, form: LinearForm, limit: int = UNLIMITED) -> int:
        """Return the number of operations other than constants that `build` creates for `form`.

        Stops counting at `limit`: the result is exact only below it.
        """
        if not form.terms or self._is_available(form):
            return 0
        total = len(form.terms) - 1 + bool(form.constant)
        # `-x` is `0 - x`: the constant 0 is the left operand of the first subtraction.
        if not form.constant and all(count < 0 for _, count in form.terms):
            total += 1
        for atom, count in form.terms:
            total += abs(count) != 1
            if total >= limit:
                break
            if self._is_available(LinearForm.of(atom)):
                continue
            total += atom.value is not None and atom.value.type != INDEX  # the cast
            if atom.kind in LEAVES:
                continue
            total += 1
            for operand in atom.operands:
                if total < limit:
                    total += self.cost(operand, limit - total)
            if atom.kind is AtomKind.MUL:
                total += len(atom.operands) - 2
            elif atom.kind is AtomKind.MOD and not self._is_rem(atom):
                total += 2
        return total

    def _is_available(self, form: LinearForm) -> bool:
        value = self.analyzer.available_value(form, INDEX)
        return value is not None and value not in self.replaced

    def _insert(self, op: Operation) -> SSAValue:
        return insert(op, self.at)

    def _build(self, form: LinearForm) -> SSAValue:
        if (value := self.analyzer.available_value(form, INDEX)) is not None:
            return value
        constant = form.constant
        if not form.terms:
            return self.constant(constant, INDEX)
        # Positive terms first, so that a subtraction serves for each negative one.
        terms = sorted(form.terms, key=lambda term: term[1] < 0)
        total: SSAValue | None = None
        # All are negative: the constant is what the first one is subtracted from.
        if terms[0][1] < 0:
            total, constant = self.constant(constant, INDEX), 0
        for atom, count in terms:
            value = self._build_atom(atom)
            if abs(count) != 1:
                value = self._insert(arith.MuliOp(value, self.constant(abs(count), INDEX)))
            if total is None:
                total = value
            else:
                total = self._insert((arith.AddiOp if count > 0 else arith.SubiOp)(total, value))
        assert total is not None
        if constant:
            total = self._insert(arith.AddiOp(total, self.constant(constant, INDEX)))
        return total

    def _build_atom(self, atom: Atom) -> SSAValue:
        value = self.analyzer.available_value(LinearForm.of(atom), INDEX)
        if value is None and atom.kind in LEAVES:
            value = atom.value
        if value is None and atom.kind is AtomKind.OP:
            value = self._copy(atom)
        if value is not None:
            return value if value.type == INDEX else self._insert(arith.IndexCastOp(value, INDEX))
        first, *others = [self._build(operand) for operand in atom.operands]
        if atom.kind is AtomKind.MUL:
            for other in others:
                first = self._insert(arith.MuliOp(first, other))
            return first
        (other,) = others
        if atom.kind is AtomKind.MOD and not self._is_rem(atom):
            # `arith` has no remainder with the sign of the divisor.
            quotient = self._insert(arith.FloorDivSIOp(first, other))
            return self._insert(arith.SubiOp(first, self._insert(arith.MuliOp(quotient, other))))
        return self._insert(OPERATIONS[atom.kind](first, other))

    def _copy(self, atom: Atom) -> SSAValue:
        """Copy the operation of an OP atom, on operands that are built here."""
        assert atom.value is not None and isinstance(atom.value.owner, Operation)
        old = atom.value.owner
        # Cloned, not reused: `tir-loop-partition` builds bounds before the loop that `old` is in.
        operands = [
            self._build_operand(form, operand)
            for form, operand in zip(atom.operands, old.operands, strict=True)
        ]
        return self._insert(old.clone(dict(zip(old.operands, operands, strict=True))))

    def _build_operand(self, form: LinearForm, old: SSAValue) -> SSAValue:
        if old.type != BOOLEAN and is_integer(old.type):
            return self.build(form, old.type)
        if (value := self.analyzer.available_value(form, old.type)) is not None:
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
