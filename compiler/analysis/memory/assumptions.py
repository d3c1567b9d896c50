"""What assumptions (`tir.assume`) say about the elements of buffers, and where it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.tir.ops import AssumeOp, ForOp, LikelyOp
from ....passes.generic.sccp import fold
from ..arith.analyzer import Analyzer
from ..arith.expressions import CMPI_NUMBER, is_expression, negated_operand
from .effects import Stamp

MAX_EXPRESSION = 256
"""The most operations of an expression that is compared: expressions may share their parts, so that
all of them together have more than the function."""

Truth = tuple[SSAValue, bool]
"""A condition, and whether it holds."""

OEQ, UNE = 1, 13
"""The numbers of `oeq` and `une` in `arith.cmpf`."""


@dataclass(frozen=True)
class Assumption:
    """An element of a buffer has a value where some conditions hold.

    It holds for all iterations of the `loops`, which have ended: their variables are free.
    """

    load: memref.LoadOp
    """The load of the element, with the buffer and the indices."""
    value: SSAValue
    """An expression."""
    conditions: tuple[Truth, ...]
    stamp: Stamp
    """The version of the memory that it is about."""
    loops: tuple[ForOp, ...] = ()
    """Innermost first."""

    def outside(self, op: Operation, region: int) -> Assumption | None:
        """Return what is known after `op`, if this is known at the end of one of its regions.

        None if it depends on a value of one iteration that is not a function of loop variables.
        """
        match op:
            case ForOp():
                left = replace(self, loops=(*self.loops, op))
            case scf.IfOp():
                left = replace(self, conditions=(*self.conditions, (op.cond, region == 0)))
            case _:
                return None
        return None if any(op.is_ancestor(leaf.owner) for leaf in left._leaves()) else left

    def _leaves(self) -> Iterator[SSAValue]:
        """Yield the values from which the parts are computed, other than the free variables."""
        parts = [self.load.memref, *self.load.indices, self.value]
        parts += [condition for condition, _ in self.conditions]
        parts += [bound for loop in self.loops for bound in (loop.min, loop.extent)]
        free = {loop.variable for loop in self.loops}
        for value in expression_values(parts):
            if value not in free and _operands(value) is None:
                yield value


def assumptions_of(op: AssumeOp) -> Iterator[tuple[memref.LoadOp, SSAValue, tuple[Truth, ...]]]:
    """Yield the loads whose results `op` says to be equal to a value, the value, and the conditions
    under which it does.

    `i < 14 or a[i] == 0` says that `a[i]` is 0 unless `i < 14`.
    """
    for condition, truth in _members((op.condition, True), of_conjunction=True):
        members = [*_members((condition, truth), of_conjunction=False)]
        for member in members:
            others = tuple((value, not holds) for value, holds in members if value != member[0])
            for load, value in _equation(*member):
                yield load, value, others


def _members(condition: Truth, *, of_conjunction: bool) -> Iterator[Truth]:
    """Yield the members of a conjunction, or of a disjunction; they may be negated."""
    pending = [condition]
    while pending:
        value, truth = pending.pop()
        match value.owner:
            case LikelyOp() as op:
                pending.append((op.condition, truth))
            # By De Morgan's laws, a conjunction that fails is a disjunction.
            case arith.AndIOp() | arith.OrIOp() as op if (
                isinstance(op, arith.AndIOp) is truth
            ) is of_conjunction:
                pending += [(op.rhs, truth), (op.lhs, truth)]
            case arith.XOrIOp() as op if (operand := negated_operand(op)) is not None:
                pending.append((operand, not truth))
            case _:
                yield value, truth


def _equation(condition: SSAValue, truth: bool) -> Iterator[tuple[memref.LoadOp, SSAValue]]:
    """Yield the sides of an equation that are loads, each with the other side."""
    op = condition.owner
    match op:
        case arith.CmpiOp():
            says_equal = op.predicate.value.data == CMPI_NUMBER["eq" if truth else "ne"]
        case arith.CmpfOp():
            says_equal = op.predicate.value.data == (OEQ if truth else UNE)
        case _:
            return
    if says_equal:
        for side, value in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if isinstance(load := side.owner, memref.LoadOp):
                yield load, value


# Expressions with other values in them.


def _operands(value: SSAValue) -> Sequence[SSAValue] | None:
    """Return the operands of the operation that computes `value`; None if it is no expression."""
    op = value.owner
    return op.operands if isinstance(op, Operation) and is_expression(op) else None


def expression_values(values: Iterable[SSAValue]) -> Iterator[SSAValue]:
    """Yield `values`, and all from which they are computed by expressions, each once."""
    pending, seen = [*values], set[SSAValue]()
    while pending:
        if (value := pending.pop()) not in seen:
            seen.add(value)
            yield value
            pending += _operands(value) or ()


class Substitution:
    """Copies of expressions in which values are replaced by others, folded; they are in no block.

    Use it in a `with` statement: the copies last until its end.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._made: list[Operation] = []

    def __enter__(self) -> Substitution:
        return self

    def __exit__(self, *_: object) -> None:
        for op in self._made:
            op.drop_all_references()

    def constant(self, attribute: Attribute) -> SSAValue:
        """Return a constant."""
        self._made.append(op := arith.ConstantOp(attribute))  # pyright: ignore[reportArgumentType]
        return op.result

    def of(self, value: SSAValue, values: Mapping[SSAValue, SSAValue]) -> SSAValue:
        """Return `value`, computed with `values` in the places of their keys."""
        known = dict(values)
        pending = [value]
        while pending:
            value = pending[-1]
            operands = () if value in known else _operands(value) or ()
            if unknown := [operand for operand in operands if operand not in known]:
                pending += unknown
                continue
            pending.pop()
            if value not in known:
                known[value] = self._computed(value, [known[operand] for operand in operands])
        return known[value]

    def _computed(self, value: SSAValue, operands: Sequence[SSAValue]) -> SSAValue:
        """Return `value` with other operands."""
        op = value.owner
        if not isinstance(op, Operation) or not operands:
            return value
        if isinstance(op, arith.SelectOp):
            if (truth := self._analyzer.prove(operands[0])) is not None:
                return operands[1 if truth else 2]
        if all(new is old for new, old in zip(operands, op.operands, strict=True)):
            return value
        new = type(op).create(
            operands=operands,
            result_types=op.result_types,
            properties=op.properties.copy(),
            attributes=op.attributes.copy(),
        )
        self._made.append(new)
        if not (folded := fold(new)):
            return new.results[0]
        (result,) = folded
        return result if isinstance(result, SSAValue) else self.constant(result)


def assumed_value(
    assumption: Assumption, load: memref.LoadOp, analyzer: Analyzer, copies: Substitution
) -> SSAValue | None:
    """Return the value that `load` has by an assumption on the memory that it reads; None if the
    element, or one of the conditions, is not known to be that of the assumption."""
    free = {loop.variable for loop in assumption.loops}
    values: dict[SSAValue, SSAValue] = {}
    others: list[tuple[SSAValue, SSAValue]] = []
    for index, wanted in zip(assumption.load.indices, load.indices, strict=True):
        if index in free and index not in values:
            values[index] = wanted
        else:
            others.append((index, wanted))
    for loop in reversed(assumption.loops):
        low = analyzer.linear(copies.of(loop.min, values))
        # A variable that is no index: one iteration is as good as another one, if there is one.
        at = values.setdefault(loop.variable, copies.of(loop.min, values))
        end = low + analyzer.linear(copies.of(loop.extent, values))
        at = analyzer.linear(at)
        if not (analyzer.can_prove("sge", at, low) and analyzer.can_prove("slt", at, end)):
            return None
    for index, wanted in others:
        form = analyzer.linear(copies.of(index, values))
        if not analyzer.can_prove("eq", form, analyzer.linear(wanted)):
            return None
    for condition, truth in assumption.conditions:
        if analyzer.prove(copies.of(condition, values)) is not truth:
            return None
    return copies.of(assumption.value, values)
