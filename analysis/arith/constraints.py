"""What is known of linear forms: ranges of atoms, and the constraints in force."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from .linear_form import Atom, Function, Linear, Range, Scoped, Stack, Terms

__all__ = ["Facts"]

MOST_RELATIONS = 16
"""So many of the constraints on an atom are looked at, the last ones put in force."""

DEPTH = 2
TRANSITIVE_DEPTH = 5
"""So many relations are added up to prove something."""

MOST_STEPS = 200
"""So many sums are tried to prove something."""


class Facts:
    """Ranges of linear forms, from those of their atoms and from constraints.

    A constraint is a range of a primitive sum of terms (`Linear.primitive`). Several of them are
    added up if `transitive`; the relations of loop variables to their bounds always are.
    """

    def __init__(self, transitive: bool = False) -> None:
        self.transitive = transitive
        self.ranges: Scoped[Terms, Range] = Scoped()
        self.relations: Scoped[Atom, Stack[Terms]] = Scoped()
        self.known: Scoped[Atom, bool] = Scoped()
        """Conditions, as atoms, that hold or do not."""
        self.state = 0
        """A number that is the same only where the same is known."""
        self._states = 0
        self._of_atoms: dict[Atom, tuple[int, Range]] = {}

    @contextmanager
    def scope(self) -> Generator[None]:
        """What is learned within is forgotten after."""
        tables = (self.ranges, self.relations, self.known)
        marks = [table.mark() for table in tables]
        state = self.state
        try:
            yield
        finally:
            for table, mark in zip(tables, marks, strict=True):
                table.back(mark)
            self.state = state

    # Learning

    def learn(self, linear: Linear, within: Range) -> None:
        """Take it that a form is in a range; nothing if that contradicts what is known."""
        terms, factor = linear.primitive()
        if not terms:
            return
        within = _divided(within.plus(Range(-linear.constant, -linear.constant)), factor)
        old = self.ranges.get(terms)
        new = within if old is None else old.meet(within)
        if new == old or self._interval(terms).meet(new).is_empty:
            return
        self.ranges.put(terms, new)
        self._renew()
        if len(terms) == 1:
            self._learn_of_operands(terms[0][0], new)
        else:
            for atom, _ in terms:
                if old is None:
                    self.relations.put(atom, Stack(terms, self.relations.get(atom)))

    def give(self, atom: Atom, within: Range) -> None:
        """Say what the range of an atom is that has just been made."""
        self.ranges.put(((atom, 1),), within)

    def learn_condition(self, atom: Atom, truth: bool) -> None:
        """Take it that a condition holds or that it does not."""
        if atom not in self.known:
            self.known.put(atom, truth)
            self._renew()

    def _renew(self) -> None:
        self._states += 1
        self.state = self._states

    def _learn_of_operands(self, atom: Atom, within: Range) -> None:
        match atom.function, atom.operands:
            case Function.FLOORDIV, (dividend, Linear((), divisor)) if divisor > 0:
                low = None if within.low is None else within.low * divisor
                high = None if within.high is None else within.high * divisor + divisor - 1
                self.learn(dividend, Range(low, high))
            case Function.MIN, operands if within.low is not None:
                for operand in operands:
                    self.learn(operand, Range(within.low))
            case Function.MAX, operands if within.high is not None:
                for operand in operands:
                    self.learn(operand, Range(None, within.high))
            case Function.MUL, operands if within.low is not None and within.low > 0:
                for operand in operands:
                    if self.range_of(operand).low == 0:
                        self.learn(operand, Range(1))
            case _:
                pass

    # Asking

    def range_of(self, linear: Linear) -> Range:
        """The range that the ranges of the atoms, and a constraint on just these terms, give."""
        constant = linear.constant
        if not linear.terms:
            return Range(constant, constant)
        if len(linear.terms) == 1:
            atom, count = linear.terms[0]
            return self.range_of_atom(atom).scaled(count).plus(Range(constant, constant))
        found = self._interval(linear.terms)
        if self.ranges:
            terms, factor = linear.primitive()
            if (fact := self.ranges.get(terms)) is not None:
                found = found.meet(fact.scaled(factor))
        return found.plus(Range(constant, constant))

    def upper(self, linear: Linear) -> int | None:
        """The least upper bound that is found, by adding up relations too; None for none."""
        self._steps = MOST_STEPS
        depth = TRANSITIVE_DEPTH if self.transitive else DEPTH
        return self._upper(linear, depth, False)

    def lower(self, linear: Linear) -> int | None:
        """The greatest lower bound that is found, by adding up relations too; None for none."""
        high = self.upper(linear.scaled(-1))
        return None if high is None else -high

    def decide(self, linear: Linear, question: Callable[[Range], bool | None]) -> bool | None:
        """The answer to a question about the range, asked of better and better ones."""
        found = self.range_of(linear)
        answer = question(found)
        if answer is not None or not linear.terms:
            return answer
        found = found.meet(Range(None, self.upper(linear)))
        if (answer := question(found)) is not None:
            return answer
        return question(found.meet(Range(self.lower(linear))))

    def _interval(self, terms: Terms) -> Range:
        low: int | None = 0
        high: int | None = 0
        for atom, count in terms:
            one = self.range_of_atom(atom)
            least, most = (one.low, one.high) if count > 0 else (one.high, one.low)
            low = None if low is None or least is None else low + count * least
            high = None if high is None or most is None else high + count * most
        return Range(low, high)

    def _upper(self, linear: Linear, depth: int, constrained: bool) -> int | None:
        if constrained and not self.transitive and len(linear.terms) > 1:
            high = self._interval(linear.terms).high
            best = None if high is None else high + linear.constant
        else:
            best = self.range_of(linear).high
        if depth == 0:
            return best
        for atom, count in linear.terms:
            for relation, within, is_constraint in self._relations_of(atom):
                if self._steps <= 0:
                    return best
                if is_constraint and constrained and not self.transitive:
                    continue
                factor, rest = divmod(count, relation.coefficient(atom))
                bound = within.high if factor > 0 else within.low
                if rest or bound is None:
                    continue
                left = linear.plus(relation, -factor)
                if len(left.terms) > len(linear.terms) + 1:
                    continue
                self._steps -= 1
                high = self._upper(left, depth - 1, constrained or is_constraint)
                if high is not None and (best is None or high + factor * bound < best):
                    best = high + factor * bound
        return best

    def _relations_of(self, atom: Atom) -> Iterator[tuple[Linear, Range, bool]]:
        """Sums with the atom, their ranges, and whether they come from a constraint."""
        if atom.function is Function.LOOP:
            first, last = atom.operands
            for bound, within in ((first, Range(0)), (last, Range(None, 0))):
                if bound.terms:
                    yield Linear.of(atom).minus(bound), within, False
        if atom.function in (Function.MIN, Function.MAX):
            within = Range(None, 0) if atom.function is Function.MIN else Range(0)
            for operand in atom.operands:
                if operand.terms:
                    yield Linear.of(atom).minus(operand), within, False
        if (stack := self.relations.get(atom)) is not None:
            for number, terms in enumerate(stack.entries()):
                if number == MOST_RELATIONS:
                    break
                yield Linear(terms, 0), self.ranges[terms], True

    # Ranges of atoms

    def range_of_atom(self, atom: Atom) -> Range:
        """The range of what it is of its operands, and of constraints on it alone."""
        cached = self._of_atoms.get(atom)
        if cached is not None and cached[0] == self.state:
            return cached[1]
        found = self._natural(atom)
        if (fact := self.ranges.get(((atom, 1),))) is not None:
            found = found.meet(fact)
        self._of_atoms[atom] = self.state, found
        return found

    def _natural(self, atom: Atom) -> Range:
        match atom.function:
            case Function.VALUE:
                return Range()
            case Function.LOOP:
                first, last = map(self.range_of, atom.operands)
                return Range(first.low, last.high)
            case Function.FLOORDIV | Function.DIV:
                return self._range_of_quotient(atom)
            case Function.MOD:
                divisor = self.range_of(atom.operands[1])
                if divisor.low is None or divisor.low <= 0:
                    return Range()
                return Range(0, None if divisor.high is None else divisor.high - 1)
            case Function.REM:
                return self._range_of_remainder(atom)
            case Function.MIN | Function.MAX:
                ranges = [self.range_of(operand) for operand in atom.operands]
                return _least(ranges) if atom.function is Function.MIN else _greatest(ranges)
            case Function.MUL:
                return self._range_of_product(atom)
            case Function.OP:
                assert atom.value is not None and isinstance(atom.value.owner, Operation)
                return self._range_of_op(atom.value.owner, atom.operands)

    def _range_of_quotient(self, atom: Atom) -> Range:
        dividend, divisor = map(self.range_of, atom.operands)
        if divisor.low is None or divisor.low <= 0:
            return Range()
        if dividend.low is not None and dividend.low >= 0:
            low = 0 if divisor.high is None else dividend.low // divisor.high
            return Range(low, None if dividend.high is None else dividend.high // divisor.low)
        if divisor.constant is None:
            return Range()
        found = dividend.floordiv(divisor.low)
        if atom.function is Function.FLOORDIV or found.low is None:
            return found
        return Range(found.low, None if found.high is None else max(found.high, 0))

    def _range_of_remainder(self, atom: Atom) -> Range:
        dividend, divisor = map(self.range_of, atom.operands)
        if divisor.low is None or divisor.high is None:
            return Range(0 if dividend.low is not None and dividend.low >= 0 else None)
        most = max(abs(divisor.low), abs(divisor.high)) - 1
        low = -most if dividend.low is None else max(-most, min(dividend.low, 0))
        return Range(low, most if dividend.high is None else min(most, max(dividend.high, 0)))

    def _range_of_product(self, atom: Atom) -> Range:
        found = Range(1, 1)
        for operand in atom.operands:
            found = found.times(self.range_of(operand))
        if all(atom.operands.count(operand) % 2 == 0 for operand in atom.operands):
            found = found.meet(Range(0))
        return found

    def _range_of_op(self, op: Operation, operands: tuple[Linear, ...]) -> Range:
        match op:
            case arith.SelectOp():
                return self.range_of(operands[1]).join(self.range_of(operands[2]))
            case arith.AndIOp():
                ranges = [self.range_of(operand) for operand in operands]
                highs = [one.high for one in ranges if one.low is not None and one.low >= 0]
                most = [high for high in highs if high is not None]
                return Range(0, min(most) if most else None) if highs else Range()
            case arith.OrIOp() | arith.XOrIOp():
                ranges = [self.range_of(operand) for operand in operands]
                if any(one.low is None or one.low < 0 for one in ranges):
                    return Range()
                highs = [one.high for one in ranges if one.high is not None]
                if len(highs) < len(ranges):
                    return Range(0)
                return Range(0, (1 << max(highs).bit_length()) - 1)
            case arith.ShLIOp():
                return self._range_of_shift(op, *map(self.range_of, operands))
            case _:
                return Range()

    def _range_of_shift(self, op: arith.ShLIOp, base: Range, by: Range) -> Range:
        """Of shifts of negatives, and by negatives, nothing is known."""
        if base.low is None or base.high is None or by.low is None or by.high is None:
            return Range()
        type = op.result.type
        width = type.bitwidth if isinstance(type, IntegerType) else 64
        if base.low < 0 or by.low < 0 or (base.high << min(by.high, width)) >= 1 << (width - 1):
            return Range()
        return Range(base.low << by.low, base.high << by.high)


def _divided(within: Range, factor: int) -> Range:
    """The range of `x` where `factor * x` is in one, which has whole bounds."""
    if factor < 0:
        within, factor = within.scaled(-1), -factor
    low = None if within.low is None else -(-within.low // factor)
    high = None if within.high is None else within.high // factor
    holes = frozenset(hole // factor for hole in within.holes if hole % factor == 0)
    return Range(low, high, holes)


def _least(ranges: list[Range]) -> Range:
    lows = [one.low for one in ranges if one.low is not None]
    highs = [one.high for one in ranges if one.high is not None]
    low = min(lows) if len(lows) == len(ranges) else None
    return Range(low, min(highs) if highs else None)


def _greatest(ranges: list[Range]) -> Range:
    return _least([one.scaled(-1) for one in ranges]).scaled(-1)
