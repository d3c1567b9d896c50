"""IntRangeOptimizations: the ranges of integers, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple, TypeGuard, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...passmanager.actions import SILENT, Actions
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.dataflow.sparse import ForwardAnalysis
from ...passmanager.fast.edit import erase
from ...passmanager.ir.walk import ops_of
from ...passmanager.releases.floats import key_of
from .arith_families import kind_of
from .canonicalize.constants import is_integer, truncated_integer
from .canonicalize.scalar_values import predicate_of, width_of, wrap
from .sccp import ConstantValue, replace_by_constants

__all__ = ["IntRangeOptimizations", "IntegerRange", "IntegerRanges"]

# Ranges


class IntegerRange(NamedTuple):
    """The least and the greatest signed number that an integer of `width` bits may be; a width of 0
    stands for a value that is no integer. Of i1, true is -1."""

    low: int
    high: int
    width: int

    @property
    def is_nonnegative(self) -> bool:
        """Whether no number is below 0, so that signed and unsigned operations are the same."""
        return self.low >= 0

    def unsigned(self) -> tuple[int, int]:
        """Return the least and the greatest number, read as unsigned ones."""
        if self.low < 0 <= self.high:
            return 0, (1 << self.width) - 1
        return self.low % (1 << self.width), self.high % (1 << self.width)


NO_INTEGER: Final = IntegerRange(0, 0, 0)


def full(width: int) -> IntegerRange:
    """Return the range of all numbers of a width."""
    half = 1 << (width - 1)
    return IntegerRange(-half, half - 1, width)


def has_range(type: Attribute) -> TypeGuard[IntegerType | IndexType]:
    """Return whether a type is that of an integer of one bit at least, or of an index."""
    return is_integer(type) and width_of(type) > 0


def of_type(type: Attribute) -> IntegerRange:
    """Return the range of all values of a type."""
    return full(width_of(type)) if has_range(type) else NO_INTEGER


def signed(numbers: Sequence[int], width: int) -> IntegerRange:
    """Return the range from the least to the greatest of `numbers`, all if one does not fit; a
    single one wraps around."""
    limits = full(width)
    low, high = min(numbers), max(numbers)
    if low == high:
        low = high = wrap(low, width)
    fits = limits.low <= low and high <= limits.high
    return IntegerRange(low, high, width) if fits else limits


def unsigned(low: int, high: int, width: int) -> IntegerRange:
    """Return the range of unsigned numbers from `low` to `high`."""
    if low >> (width - 1) != high >> (width - 1):  # it has numbers of both signs
        return full(width)
    return IntegerRange(wrap(low, width), wrap(high, width), width)


# Operations: the range of the result, given those of the operands and the width of the result.


Rule = Callable[[Operation, Sequence[IntegerRange], int], IntegerRange]


def _corners(compute: Callable[[int, int], int]) -> Rule:
    """Return the rule of an operation whose extrema are at those of its operands."""

    def rule(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
        a, b = operands
        return signed([compute(x, y) for x, y in product(a[:2], b[:2])], width)

    return rule


def _ordered(choose: Callable[[int, int], int], is_unsigned: bool) -> Rule:
    """Return the rule of a minimum or maximum."""

    def rule(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
        (a, b), (c, d) = (r.unsigned() if is_unsigned else r[:2] for r in operands)
        low, high = choose(a, c), choose(b, d)
        return unsigned(low, high, width) if is_unsigned else IntegerRange(low, high, width)

    return rule


def _and(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    highs = [r.high for r in operands if r.is_nonnegative]
    return IntegerRange(0, min(highs), width) if highs else full(width)


def _or(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    if not all(r.is_nonnegative for r in operands):
        return full(width)
    bits = max(r.high.bit_length() for r in operands)
    low = max(r.low for r in operands) if kind_of(op) is arith.OrIOp else 0
    return IntegerRange(low, (1 << bits) - 1, width)


def _quotient(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    a, b = operands
    if not (a.is_nonnegative and b.low > 0):
        return full(width)
    return IntegerRange(a.low // b.high, a.high // b.low, width)


def _remainder(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    a, b = operands
    if b.low <= 0:
        return full(width)
    if a.is_nonnegative:
        return a if a.high < b.low else IntegerRange(0, min(a.high, b.high - 1), width)
    if kind_of(op) is arith.RemUIOp:
        return IntegerRange(0, b.high - 1, width)
    return IntegerRange(max(a.low, 1 - b.high), max(0, min(a.high, b.high - 1)), width)


def _shift_right(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    a, by = operands
    if not 0 <= by.low == by.high < width:
        return full(width)
    if kind_of(op) is arith.ShRUIOp:
        low, high = a.unsigned()
        return unsigned(low >> by.low, high >> by.low, width)
    return IntegerRange(a.low >> by.low, a.high >> by.low, width)


def _shift_left(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    a, by = operands
    if not 0 <= by.low == by.high < width:
        return full(width)
    return signed([a.low << by.low, a.high << by.low], width)


def _resized(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    """Return the range after a cast; one to fewer bits keeps what fits."""
    (a,) = operands
    if kind_of(op) is arith.ExtUIOp:
        return signed(a.unsigned(), width)
    return signed(a[:2], width)


def _select(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    condition, a, b = operands
    if condition.low == condition.high:
        return a if condition.low else b
    return IntegerRange(min(a.low, b.low), max(a.high, b.high), width)


def _compare(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    predicate = predicate_of(op)
    a, b = operands
    (la, ha), (lb, hb) = (r.unsigned() if predicate >= 6 else r[:2] for r in (a, b))
    if predicate < 2:
        equal = True if la == ha == lb == hb else False if ha < lb or hb < la else None
        holds = equal if predicate == 0 or equal is None else not equal
    else:
        kind = (predicate - 2) % 4
        if kind > 1:  # `a > b` is `b < a`
            la, ha, lb, hb = lb, hb, la, ha
        strict = int(kind % 2 == 0)
        holds = True if ha + strict <= lb else False if la + strict > hb else None
    return IntegerRange(-1, 0, 1) if holds is None else IntegerRange(-holds, -holds, 1)


_RULES: Final[dict[type[Operation], Rule]] = {
    arith.AddiOp: _corners(lambda x, y: x + y),
    arith.SubiOp: _corners(lambda x, y: x - y),
    arith.MuliOp: _corners(lambda x, y: x * y),
    arith.MinSIOp: _ordered(min, False),
    arith.MaxSIOp: _ordered(max, False),
    arith.MinUIOp: _ordered(min, True),
    arith.MaxUIOp: _ordered(max, True),
    arith.AndIOp: _and,
    arith.OrIOp: _or,
    arith.XOrIOp: _or,
    arith.DivSIOp: _quotient,
    arith.DivUIOp: _quotient,
    arith.FloorDivSIOp: _quotient,
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _remainder,
    arith.ShRSIOp: _shift_right,
    arith.ShRUIOp: _shift_right,
    arith.ShLIOp: _shift_left,
    arith.ExtSIOp: _resized,
    arith.ExtUIOp: _resized,
    arith.TruncIOp: _resized,
    arith.IndexCastOp: _resized,
    arith.SelectOp: _select,
    arith.CmpiOp: _compare,
}


class IntegerRanges(ForwardAnalysis[IntegerRange]):
    """The ranges of integers and indices (MLIR's `IntegerRangeAnalysis`).

    The variable of `scf.for` is between its bounds; what a loop carries is known if it stops
    growing after a few iterations.
    """

    def join(self, a: IntegerRange, b: IntegerRange) -> IntegerRange:
        return IntegerRange(min(a.low, b.low), max(a.high, b.high), a.width)

    def widen(self, old: IntegerRange, new: IntegerRange) -> IntegerRange:
        limits = full(new.width)
        low = limits.low if new.low < old.low else new.low
        return IntegerRange(low, limits.high if new.high > old.high else new.high, new.width)

    def entry(self, value: SSAValue) -> IntegerRange:
        return of_type(value.type)

    def argument(self, op: Operation, value: SSAValue) -> IntegerRange:
        known = self.entry(value)
        if op.name != "scf.for" or "unsignedCmp" in (op.properties | op.attributes):
            return known
        lower, upper, _ = (self.state(operand) or known for operand in op.operands[:3])
        return IntegerRange(lower.low, max(lower.low, upper.high - 1), known.width)

    def constant(self, state: IntegerRange) -> Attribute | None:
        if not state.width or state.low != state.high:
            return None
        return IntegerAttr(state.low, IntegerType(state.width))

    def transfer(
        self, op: Operation, operands: Sequence[IntegerRange]
    ) -> Sequence[IntegerRange] | None:
        if op.name in _SIZES:
            return [IntegerRange(0, full(64).high, 64)]
        if not has_range(type := op.results[0].type):
            return None
        width = width_of(type)
        if isinstance(op, arith.ConstantOp):
            number = cast("IntegerAttr", op.properties["value"]).value.data
            return [IntegerRange(wrap(number, width), wrap(number, width), width)]
        rule = _RULES.get(kind_of(op))
        return None if rule is None else [rule(op, operands, width)]


_SIZES: Final = frozenset(("memref.dim", "tensor.dim"))
"""Operations whose results are sizes."""


# The optimizations.


def optimize_by_ranges(root: Operation, actions: Actions = SILENT) -> None:
    """Replace the values in `root` of which only one number is possible, and the remainders that
    are their dividends."""
    known = IntegerRanges(root, actions=actions)

    def constant_of(value: SSAValue) -> ConstantValue | None:
        state, type = known.state(value), value.type
        if state is None or state.low != state.high or not has_range(type):
            return None
        attribute = truncated_integer(state.low, type)
        owner = value.owner
        source = owner if isinstance(owner, arith.ConstantOp) else None
        return ConstantValue((arith.ConstantOp.name, key_of(attribute), type), attribute, source)

    replace_by_constants(root, constant_of, known.reached, actions)
    for op in ops_of(root, arith.RemSIOp, arith.RemUIOp):
        a, b = (known.state(operand) for operand in op.operands)
        if a is not None and b is not None and 0 <= a.low <= a.high < b.low and actions.allowed(op):
            actions.passed(op, "Folded", "is its dividend, which is below the divisor")
            actions.count("folded")
            op.result.replace_all_uses_with(op.lhs)
            erase(op)


@dataclass(frozen=True)
class IntRangeOptimizations(ModulePass):
    """Replace integers of which the range has one number, comparisons among them, and remainders of
    dividends below the divisor.

    Ranges are followed through blocks, regions, and calls of private functions, by the interfaces
    of control flow. Source: MLIR's `int-range-optimizations`.

    Before:

        func.func @f(%n: index) -> (i1, index) {
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %ten = arith.constant 10 : index
          %0 = arith.remui %n, %ten : index
          %1 = arith.cmpi ult, %0, %ten : index
          %2 = arith.remui %0, %ten : index
          func.return %1, %2 : i1, index
        }

    After:

        func.func @f(%n: index) -> (i1, index) {
          %0 = arith.constant true
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %ten = arith.constant 10 : index
          %1 = arith.remui %n, %ten : index
          func.return %0, %1 : i1, index
        }
    """

    name = "int-range-optimizations"
    opt_level = 1
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        optimize_by_ranges(module, ctx.actions)
