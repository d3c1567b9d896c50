"""The arithmetic analyzer (TVM `arith.Analyzer`): integers in normal form, ranges, proofs.

    analyzer = Analyzer()
    analyzer.linear(value)  # 4 * xo + xi
    analyzer.bounds(value)  # Range(low=0, high=63)
    with analyzer.assuming(condition):
        analyzer.prove(other)  # True, False, or None for not known

`building.Builder` makes operations of forms.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from math import ceil, floor, log2
from typing import NamedTuple

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import NoMemoryEffect, Pure

from ...dialects.tir.ops import ForOp, LikelyOp
from .canonical import MIRRORED, NEGATED, ONE, ZERO, Algebra, Predicate
from .linear_form import Atom, Function, Linear, Range, Scoped

__all__ = ["Analyzer", "Interval", "is_integer", "negated"]

SIGNED: tuple[Predicate, ...] = ("eq", "ne", "slt", "sle", "sgt", "sge", "slt", "sle", "sgt", "sge")
"""For each number of a predicate of `arith.cmpi` the signed one; from `ult` on it is unsigned."""

ULT = 6

MOST_TERMS = 16
"""A sum of more terms is an atom: sums of sums would take quadratic time."""

MOST_DEPTH = 16
"""A function of a function, and so on, is a value that nothing is known of below this depth."""

PROOF_DEPTH = 16
"""A condition that is made of others is gone into so deep."""

ASSUMING_DEPTH = 2
"""So deep one side is asked about with the other assumed: each level doubles the work."""

INDEX = IndexType()


class Interval(NamedTuple):
    """The integers from one form up to another, both included; None is no bound."""

    low: Linear | None = None
    high: Linear | None = None


class Analyzer(Algebra):
    """What is known of the integers of a function, at the place where somebody asks.

    Indices do not overflow; an `iN` is looked through only where its range shows that it does not,
    or where it must not (`nsw`). Ranges come from constants, loops, `memref.dim`, and what has been
    assumed. What is asked about values of a region is kept until the scope that was opened last is
    closed. With `transitive`, several constraints are added up to prove something.
    """

    def __init__(self, *, transitive: bool = False) -> None:
        super().__init__(transitive)
        self.forms: Scoped[SSAValue, Linear] = Scoped()
        self._held: Scoped[tuple[Linear, int], SSAValue] = Scoped()

    # Scopes

    @contextmanager
    def scope(self) -> Generator[None]:
        """What is learned and held within is forgotten after."""
        tables = (self.forms, self.atoms, self._held)
        marks = [table.mark() for table in tables]
        with self.facts.scope():
            try:
                yield
            finally:
                for table, mark in zip(tables, marks, strict=True):
                    table.back(mark)

    @contextmanager
    def assuming(self, condition: SSAValue, truth: bool = True) -> Generator[None]:
        """Take it within that a condition holds, or that it does not."""
        with self.scope():
            self.assume(condition, truth)
            yield

    @contextmanager
    def inside(self, loop: ForOp) -> Generator[None]:
        """Be in the body of a loop: its extent is positive."""
        with self.scope():
            self.facts.learn(self.linear(loop.extent), Range(1))
            yield

    def assume(self, condition: SSAValue, truth: bool = True) -> None:
        """Take it until the end of the scope that a condition holds, or that it does not."""
        pending = [(condition, truth)]
        while pending:
            condition, truth = pending.pop()
            op = condition.owner
            match op:
                case LikelyOp():
                    pending.append((op.condition, truth))
                case arith.AndIOp() | arith.OrIOp():
                    if truth == isinstance(op, arith.AndIOp):
                        pending += [(op.lhs, truth), (op.rhs, truth)]
                        continue
                    for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                        if self.prove(one) is (not truth):
                            pending.append((other, truth))
                            break
                    self._learn_opaque(condition, truth)
                case arith.XOrIOp() if (flipped := negated(op)) is not None:
                    pending.append((flipped, not truth))
                case arith.CmpiOp() if (comparison := self.comparison(op)) is not None:
                    predicate, difference = comparison
                    self.assume_compared(predicate if truth else NEGATED[predicate], difference)
                case _:
                    self._learn_opaque(condition, truth)

    def assume_compared(self, predicate: Predicate, difference: Linear) -> None:
        """Take it until the end of the scope how a form compares with 0; signed."""
        if predicate in ("eq", "ne"):
            difference = self.even(difference)
        within = {
            "eq": Range(0, 0),
            "ne": Range(holes=frozenset([0])),
            "slt": Range(None, -1),
            "sle": Range(None, 0),
            "sgt": Range(1),
            "sge": Range(0),
        }[predicate]
        self.facts.learn(difference, within)

    def _learn_opaque(self, condition: SSAValue, truth: bool) -> None:
        if (atom := self.linear(condition).atom) is not None:
            self.facts.learn_condition(atom, truth)

    def hold(self, value: SSAValue) -> None:
        """Say that a value may be used from here to the end of the scope."""
        key = self.linear(value), _width(value.type)
        if key not in self._held:
            self._held.put(key, value)

    def held_value(self, form: Linear, type: Attribute) -> SSAValue | None:
        """The first value of a form and type that is held."""
        return self._held.get((form, _width(type)))

    # Questions

    def constant_of(self, value: SSAValue) -> int | None:
        """The integer that a value must be, if there is just one."""
        return self.bounds(value).constant

    def bounds(self, of: SSAValue | Linear) -> Range:
        """The range of a value or a form, without adding up constraints."""
        return self.facts.range_of(of if isinstance(of, Linear) else self.linear(of))

    def prove(self, condition: SSAValue, depth: int = PROOF_DEPTH) -> bool | None:
        """Whether a condition, of type i1, is shown to hold or shown not to."""
        op = condition.owner
        form = self.linear(condition)
        if not form.terms:
            return bool(form.constant)
        if (atom := form.atom) is not None and (found := self.facts.known.get(atom)) is not None:
            return found
        if depth == 0:
            return None
        match op:
            case LikelyOp():
                return self.prove(op.condition, depth - 1)
            case arith.CmpiOp():
                comparison = self.comparison(op)
                return None if comparison is None else self.compared(*comparison)
            case arith.AndIOp() | arith.OrIOp():
                return self._prove_both(op, isinstance(op, arith.AndIOp), depth - 1)
            case arith.XOrIOp():
                sides = self.prove(op.lhs, depth - 1), self.prove(op.rhs, depth - 1)
                return None if None in sides else sides[0] is not sides[1]
            case arith.SelectOp():
                chosen = self.prove(op.cond, depth - 1)
                if chosen is not None:
                    return self.prove(op.lhs if chosen else op.rhs, depth - 1)
                both = self.prove(op.lhs, depth - 1), self.prove(op.rhs, depth - 1)
                return both[0] if both[0] is both[1] else None
            case _:
                return None

    def _prove_both(
        self, op: arith.AndIOp | arith.OrIOp, conjunction: bool, depth: int
    ) -> bool | None:
        """The truth of a conjunction; of a disjunction, the negation of that of the negations."""
        sides = self.prove(op.lhs, depth), self.prove(op.rhs, depth)
        if (not conjunction) in sides:
            return not conjunction
        if sides[0] is not None and sides[0] is sides[1]:
            return conjunction
        if sides == (None, None) and depth >= PROOF_DEPTH - ASSUMING_DEPTH:
            with self.assuming(op.lhs, conjunction):
                if self.prove(op.rhs, depth) is (not conjunction):
                    return not conjunction
        return None

    def comparison(self, op: arith.CmpiOp) -> tuple[Predicate, Linear] | None:
        """A comparison as one of a form with 0, signed; None if it is of no integers, or unsigned
        and the signs are not known."""
        if not is_integer(op.lhs.type):
            return None
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        number = op.predicate.value.data
        if op.lhs.type == BOOLEAN and number > 1:
            return None
        if number >= ULT and not (self.is_non_negative(a) and self.is_non_negative(b)):
            return None
        return SIGNED[number], a.minus(b)

    def deduce(self, condition: SSAValue, truth: bool, variable: SSAValue) -> Interval | None:
        """The values of `variable` for which a condition holds, or does not: the interval's bounds
        do not depend on it. None if there is no interval that says just that.

        Source: `arith::DeduceBound`, which gives bounds that need not be exact.
        """
        atom = self.linear(variable).atom
        op = condition.owner
        match op:
            case LikelyOp():
                return self.deduce(op.condition, truth, variable)
            case arith.XOrIOp() if (flipped := negated(op)) is not None:
                return self.deduce(flipped, not truth, variable)
            case arith.AndIOp() | arith.OrIOp() if truth == isinstance(op, arith.AndIOp):
                one = self.deduce(op.lhs, truth, variable)
                other = self.deduce(op.rhs, truth, variable)
                return None if one is None or other is None else self._intersection(one, other)
            case arith.CmpiOp() if atom is not None:
                if (comparison := self.comparison(op)) is None:
                    return None
                predicate, difference = comparison
                return self.solve(predicate if truth else NEGATED[predicate], difference, atom)
            case _:
                return None

    def solve(self, predicate: Predicate, difference: Linear, atom: Atom) -> Interval | None:
        """The values of an atom for which a form compares with 0 in that way, as in `deduce`."""
        factor, rest = difference.coefficient(atom), difference.without(atom)
        if factor == 0 or any(_depends(other, atom) for other, _ in rest.terms):
            return None
        if factor < 0:
            factor, rest = -factor, rest.scaled(-1)
            predicate = MIRRORED.get(predicate, predicate)
        negative = rest.scaled(-1)  # how factor * atom compares with it
        match predicate:
            case "slt":
                return Interval(high=self.floordiv(negative.shifted(-1), factor))
            case "sle":
                return Interval(high=self.floordiv(negative, factor))
            case "sgt":
                return Interval(low=self.floordiv(negative, factor).shifted(1))
            case "sge":
                return Interval(low=self.floordiv(negative.shifted(factor - 1), factor))
            case "eq":
                low = self.floordiv(negative.shifted(factor - 1), factor)
                return Interval(low, self.floordiv(negative, factor))
            case _:
                return None

    def _intersection(self, one: Interval, other: Interval) -> Interval:
        low = _other_choice(self.maximum, one.low, other.low)
        return Interval(low, _other_choice(self.minimum, one.high, other.high))

    # Reading the IR

    def linear(self, value: SSAValue) -> Linear:
        """The normal form of a value; equal values that are seen to be so have equal forms.

        A value that is no integer is an atom.
        """
        if (form := self.forms.get(value)) is not None:
            return form
        pending = [value]
        while pending:
            value = pending[-1]
            if value in self.forms:
                pending.pop()
                continue
            needed = [v for v in _sources(value) if v not in self.forms]
            if needed:
                pending += needed
                continue
            pending.pop()
            form = self._read(value)
            if len(form.terms) > MOST_TERMS:
                form = self._opaque(value)
            self.forms.put(value, form)
        return self.forms[value]

    def _read(self, value: SSAValue) -> Linear:
        """The form of a value, from those of what it is made of."""
        if not isinstance(value, OpResult):
            assert isinstance(value.owner, Block)
            return self._read_argument(value, value.owner)
        op = value.op
        form = None
        if is_integer(value.type):
            form = self._read_operation(op)
        if form is not None:
            return form
        return self._structural(op) if _is_structural(type(op)) else self._opaque(value)

    def _read_argument(self, value: SSAValue, block: Block) -> Linear:
        loop = block.parent_op()
        if isinstance(loop, ForOp):
            first, extent = self.linear(loop.min), self.linear(loop.extent)
            if extent == ONE:
                return first
            last = self.add(first, extent).shifted(-1)
        elif isinstance(loop, scf.ForOp) and value is block.args[0] and value.type == INDEX:
            first, last = self.linear(loop.lb), self.linear(loop.ub).shifted(-1)
        else:
            return self._opaque(value)
        return Linear.of(self._make(Function.LOOP, (first, last), value))

    def _opaque(self, value: SSAValue, within: Range | None = None) -> Linear:
        """A new atom that is a value."""
        atom = self._make(Function.VALUE, (), value)
        type_range = _range_of_type(value.type)
        self.facts.give(atom, type_range if within is None else within.meet(type_range))
        return Linear.of(atom)

    def _structural(self, op: Operation) -> Linear:
        """An atom that is the same for all such operations on equal operands."""
        forms = tuple(map(self.linear, op.operands))
        value = op.results[0]
        key = (type(op), forms, value.type, *sorted(op.properties.items()))
        if (atom := self.atoms.get(key)) is None:
            atom = self._make(Function.OP, forms, value)
            self.atoms.put(key, atom)
            within = _range_of_type(value.type)
            if isinstance(op, memref.DimOp):
                within = Range(0)
            elif isinstance(op, arith.FPToSIOp | arith.FPToUIOp):
                within = within.meet(self._range_of_rounded(op.input))
            self.facts.give(atom, within)
        return Linear.of(atom)

    def _read_operation(self, op: Operation) -> Linear | None:
        """The form of the result of an operation on integers; None if it is an atom."""
        match op:
            case arith.ConstantOp():
                return _read_constant(op)
            case arith.AddiOp():
                return _in_type(self, self.add(self.linear(op.lhs), self.linear(op.rhs)), op)
            case arith.SubiOp():
                return _in_type(self, self.add(self.linear(op.lhs), self.linear(op.rhs), -1), op)
            case arith.MuliOp():
                return _in_type(self, self.multiply(self.linear(op.lhs), self.linear(op.rhs)), op)
            case (
                arith.FloorDivSIOp() | arith.DivSIOp() | arith.RemSIOp() | arith.CeilDivSIOp()
                | arith.DivUIOp() | arith.RemUIOp() | arith.CeilDivUIOp()
            ):  # fmt: skip
                return self._read_division(op)
            case arith.MinSIOp() | arith.MaxSIOp() | arith.MinUIOp() | arith.MaxUIOp():
                return self._read_extremum(op)
            case arith.ShLIOp() | arith.ShRSIOp() | arith.ShRUIOp():
                return self._read_shift(op)
            case arith.AndIOp() if op.result.type != BOOLEAN:
                return self._read_mask(op)
            case arith.IndexCastOp() | arith.ExtSIOp() | arith.ExtUIOp() | arith.TruncIOp():
                return self._read_cast(op)
            case arith.SelectOp():
                return self._read_select(op)
            case memref.DimOp():
                return self._read_dim(op)
            case _:
                return None

    def _read_division(self, op: arith.SignlessIntegerBinaryOperation) -> Linear | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        if b == ZERO:
            return None
        match op:
            case arith.FloorDivSIOp():
                return _in_type(self, self.floordiv(a, b), op, b.constant != -1)
            case arith.DivSIOp():
                return _in_type(self, self.div(a, b), op, b.constant != -1)
            case arith.RemSIOp():
                return self.rem(a, b)
            case arith.CeilDivSIOp() if not b.terms and b.constant > 0:
                return self.floordiv(a.shifted(b.constant - 1), b)
            case _:
                pass
        if not (self.is_non_negative(a) and self.is_non_negative(b)):
            return None
        match op:
            case arith.DivUIOp():
                return self.floordiv(a, b)
            case arith.RemUIOp():
                return self.mod(a, b)
            case _:
                return self.floordiv(self.add(a, b).shifted(-1), b)

    def _read_extremum(self, op: arith.SignlessIntegerBinaryOperation) -> Linear | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        if op.result.type == BOOLEAN:
            return None
        unsigned = isinstance(op, arith.MinUIOp | arith.MaxUIOp)
        if unsigned and not (self.is_non_negative(a) and self.is_non_negative(b)):
            return None
        least = isinstance(op, arith.MinSIOp | arith.MinUIOp)
        return self.minimum(a, b) if least else self.maximum(a, b)

    def _read_shift(self, op: arith.SignlessIntegerBinaryOperation) -> Linear | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        width = _width(op.result.type)
        if b.terms or not 0 <= b.constant < (64 if width < 0 else width):
            return None
        power = 1 << b.constant
        if isinstance(op, arith.ShRSIOp):
            return self.floordiv(a, power)
        if not self.is_non_negative(a):
            return None
        return (
            _in_type(self, a.scaled(power), op)
            if isinstance(op, arith.ShLIOp)
            else (self.floordiv(a, power))
        )

    def _read_mask(self, op: arith.AndIOp) -> Linear | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        if a == b:
            return a
        for form, mask in ((a, b), (b, a)):
            if not mask.terms and mask.constant >= 0 and mask.constant & (mask.constant + 1) == 0:
                return self.mod(form, mask.constant + 1)
        return None

    def _read_cast(self, op: Operation) -> Linear | None:
        source = op.operands[0]
        if source.type == BOOLEAN or op.results[0].type == BOOLEAN or not is_integer(source.type):
            return None
        form = self.linear(source)
        if isinstance(op, arith.ExtUIOp) and not self.is_non_negative(form):
            return None
        return _in_type(self, form, op)

    def _read_select(self, op: arith.SelectOp) -> Linear | None:
        a, b = self.linear(op.lhs), self.linear(op.rhs)
        if a == b:
            return a
        chosen = self.prove(op.cond)
        return None if chosen is None else a if chosen else b

    def _read_dim(self, op: memref.DimOp) -> Linear | None:
        axis, type = self.linear(op.index), op.source.type
        if axis.terms or not isinstance(type, MemRefType):
            return None
        shape = type.get_shape()
        if not 0 <= axis.constant < len(shape):
            return None
        if (size := shape[axis.constant]) != DYNAMIC_INDEX:
            return Linear((), size)
        if isinstance(made := op.source.owner, memref.AllocOp | memref.AllocaOp):
            return self.linear(made.dynamic_sizes[shape[: axis.constant].count(DYNAMIC_INDEX)])
        return None

    def _range_of_rounded(self, value: SSAValue) -> Range:
        """The range of `ceil(log2(x))` and of `floor(log2(x))`, as integers."""
        match value.owner:
            case math.CeilOp(operand=SSAValue(owner=math.Log2Op() as log)):
                rounded = ceil
            case math.FloorOp(operand=SSAValue(owner=math.Log2Op() as log)):
                rounded = floor
            case _:
                return Range()
        made = log.operand.owner
        if not isinstance(made, arith.SIToFPOp | arith.UIToFPOp) or value.type not in WIDE_FLOATS:
            return Range()
        found = self.facts.range_of(self.linear(made.input))
        if found.low is None or found.high is None or not 0 < found.low <= found.high <= 1 << 11:
            return Range()  # beyond, a float may not tell a logarithm from an integer next to it
        return Range(rounded(log2(found.low)), rounded(log2(found.high)))


def is_integer(type: Attribute) -> bool:
    """Whether a value of the type is one integer."""
    return isinstance(type, IndexType | IntegerType)


def negated(op: arith.XOrIOp) -> SSAValue | None:
    """The condition that it is the negation of, if it is one."""
    for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if op.result.type == BOOLEAN and isinstance(made := other.owner, arith.ConstantOp):
            if isinstance(made.value, IntegerAttr) and made.value.value.data & 1:
                return value
    return None


def _sources(value: SSAValue) -> Sequence[SSAValue]:
    """The values that `Analyzer` reads to find the form of one."""
    if isinstance(value, OpResult):
        op = value.op
        if not _is_structural(type(op)):
            return ()
        if isinstance(op, memref.DimOp) and isinstance(
            made := op.source.owner, memref.AllocOp | memref.AllocaOp
        ):
            return (*op.operands, *made.dynamic_sizes)
        return op.operands
    block = value.owner
    loop = block.parent_op() if isinstance(block, Block) else None
    match loop:
        case ForOp():
            return (loop.min, loop.extent)
        case scf.ForOp() if value is loop.body.block.args[0]:
            return (loop.lb, loop.ub)
        case _:
            return ()


@cache
def _is_structural(cls: type[Operation]) -> bool:
    """Whether what an operation gives is a function of its operands and properties alone."""
    if issubclass(cls, memref.DimOp):
        return True
    return cls.name.startswith(("arith.", "math.", "tir.")) and (
        cls.get_trait(Pure) is not None or cls.get_trait(NoMemoryEffect) is not None
    )


@cache
def _range_of_width(width: int) -> Range:
    if width == 0:
        return Range()
    if width == 1:
        return Range(0, 1)
    return Range(-(1 << (width - 1)), (1 << (width - 1)) - 1)


def _range_of_type(type: Attribute) -> Range:
    return Range() if isinstance(type, IndexType) else _range_of_width(_width(type))


def _width(type: Attribute) -> int:
    """The bits of an integer, those of an index being -1; 0 for what is none."""
    if isinstance(type, IndexType):
        return -1
    return type.bitwidth if isinstance(type, IntegerType) else 0


def _in_type(algebra: Algebra, form: Linear, op: Operation, may_wrap: bool = True) -> Linear | None:
    """The form, if the result of the operation does not wrap, or must not."""
    if isinstance(op.results[0].type, IndexType) or not may_wrap:
        return form
    flags = op.properties.get("overflowFlags")
    if isinstance(flags, arith.IntegerOverflowAttr) and NSW in flags.data:
        return form
    least, most, _ = _range_of_type(op.results[0].type)
    low, high, _ = algebra.facts.range_of(form)
    if low is None or high is None or least is None or most is None:
        return None
    return form if least <= low and high <= most else None


def _read_constant(op: arith.ConstantOp) -> Linear | None:
    if not isinstance(op.value, IntegerAttr):
        return None
    value = op.value.value.data
    if not isinstance(op.result.type, IndexType):
        width = _width(op.result.type)
        value &= (1 << width) - 1
        if width > 1 and value >> (width - 1):
            value -= 1 << width
    return Linear((), value)


def _depends(atom: Atom, on: Atom) -> bool:
    """Whether an atom is made of another one."""
    if atom is on:
        return True
    return any(_depends(inner, on) for operand in atom.operands for inner, _ in operand.terms)


def _other_choice(
    choose: Callable[[Linear, Linear], Linear], one: Linear | None, other: Linear | None
) -> Linear | None:
    return (one or other) if one is None or other is None else choose(one, other)


BOOLEAN = IntegerType(1)
NSW = arith.IntegerOverflowFlag.NSW
WIDE_FLOATS = (Float32Type(), Float64Type())
