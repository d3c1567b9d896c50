"""Linear forms back into operations."""

from __future__ import annotations

from collections.abc import Set

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .analyzer import Analyzer, is_integer
from .canonical import ZERO
from .linear_form import Atom, Function, Linear

__all__ = ["Builder", "insert"]

INDEX, BOOLEAN = IndexType(), IntegerType(1)

MOST_COST = 1 << 30

LEAVES = frozenset((Function.VALUE, Function.LOOP))

BUILT: dict[Function, type[arith.SignlessIntegerBinaryOperation]] = {
    Function.FLOORDIV: arith.FloorDivSIOp,
    Function.MOD: arith.RemSIOp,
    Function.DIV: arith.DivSIOp,
    Function.REM: arith.RemSIOp,
    Function.MIN: arith.MinSIOp,
    Function.MAX: arith.MaxSIOp,
}


def insert(op: Operation, at: InsertPoint) -> SSAValue:
    """Put an operation there, with the location of what it stands before if it has none: its
    result."""
    if at.insert_before is not None and isinstance(op.location, UnknownLoc):
        op.location = at.insert_before.location
    Rewriter.insert_op(op, at)
    return op.results[0]


class Builder:
    """Makes values of forms of an analyzer at a place.

    It takes what the analyzer holds and the values that atoms are, which must dominate the place.
    """

    def __init__(
        self, analyzer: Analyzer, at: InsertPoint, replaced: Set[SSAValue] = frozenset()
    ) -> None:
        self.analyzer = analyzer
        self.at = at
        self.replaced = replaced
        """Values that are held, but are to have no use any more: `cost` does not count on them."""

    def build(self, form: Linear, type: Attribute = INDEX, name: str | None = None) -> SSAValue:
        """A value of the form and type; an `iN` is computed as an index and cast."""
        if not form.terms:
            return self.constant(form.constant, type)
        if (value := self.analyzer.held_value(form, type)) is not None:
            return value
        value = self._build(form)
        if type != INDEX:
            value = self._insert(arith.IndexCastOp(value, type))
        if name is not None and value.name_hint is None:
            value.name_hint = name
        return value

    def constant(self, value: int, type: Attribute) -> SSAValue:
        """A constant of an integer type."""
        if (held := self.analyzer.held_value(Linear((), value), type)) is not None:
            return held
        width = type.bitwidth if isinstance(type, IntegerType) else INDEX
        return self._insert(arith.ConstantOp.from_int_and_width(value, width, truncate_bits=True))

    def _insert(self, op: Operation) -> SSAValue:
        return insert(op, self.at)

    def _build(self, form: Linear) -> SSAValue:
        if (value := self.analyzer.held_value(form, INDEX)) is not None:
            return value
        constant = form.constant
        if not form.terms:
            return self.constant(constant, INDEX)
        terms = sorted(form.terms, key=lambda term: term[1] < 0)
        total: SSAValue | None = None
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
        value = self.analyzer.held_value(Linear.of(atom), INDEX)
        if value is None and atom.function in LEAVES:
            value = atom.value
        if value is None and atom.function is Function.OP:
            value = self._copy(atom)
        if value is not None:
            return value if value.type == INDEX else self._insert(arith.IndexCastOp(value, INDEX))
        first, *others = [self._build(operand) for operand in atom.operands]
        if atom.function is Function.MUL:
            for other in others:
                first = self._insert(arith.MuliOp(first, other))
            return first
        (other,) = others
        if atom.function is Function.MOD and not self._is_rem(atom):
            quotient = self._insert(arith.FloorDivSIOp(first, other))
            return self._insert(arith.SubiOp(first, self._insert(arith.MuliOp(quotient, other))))
        return self._insert(BUILT[atom.function](first, other))

    def _copy(self, atom: Atom) -> SSAValue:
        """A copy of the operation that an atom stands for, on operands that are made here."""
        assert atom.value is not None and isinstance(atom.value.owner, Operation)
        old = atom.value.owner
        operands = [
            self._build_operand(form, operand)
            for form, operand in zip(atom.operands, old.operands, strict=True)
        ]
        return self._insert(old.clone(dict(zip(old.operands, operands, strict=True))))

    def _build_operand(self, form: Linear, old: SSAValue) -> SSAValue:
        if old.type != BOOLEAN and is_integer(old.type):
            return self.build(form, old.type)
        if (value := self.analyzer.held_value(form, old.type)) is not None:
            return value
        atom = form.atom
        if atom is None or atom.value is None:
            return self.build(form, old.type)
        return self._copy(atom) if atom.function is Function.OP else atom.value

    def _is_rem(self, atom: Atom) -> bool:
        """Whether rounding down and to 0 leave the same."""
        dividend, divisor = atom.operands
        known = self.analyzer
        return known.is_non_negative(dividend) and known.can_prove("sgt", divisor, ZERO)

    def cost(self, form: Linear, most: int = MOST_COST) -> int:
        """How many operations, constants apart, `build` makes for a form; or `most` or more."""
        if not form.terms or self._is_there(form):
            return 0
        total = len(form.terms) - 1 + bool(form.constant)
        if not form.constant and all(count < 0 for _, count in form.terms):
            total += 1
        for atom, count in form.terms:
            total += abs(count) != 1
            if total >= most:
                break
            if self._is_there(Linear.of(atom)):
                continue
            total += atom.value is not None and atom.value.type != INDEX  # the cast
            if atom.function in LEAVES:
                continue
            total += 1
            for operand in atom.operands:
                if total < most:
                    total += self.cost(operand, most - total)
            if atom.function is Function.MUL:
                total += len(atom.operands) - 2
            elif atom.function is Function.MOD and not self._is_rem(atom):
                total += 2
        return total

    def _is_there(self, form: Linear) -> bool:
        value = self.analyzer.held_value(form, INDEX)
        return value is not None and value not in self.replaced
