"""Ranges of atoms from the ranges of their operands (TVM `ConstIntBoundAnalyzer`)."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from ..linear_form import Atom, AtomKind, LinearForm
from .ranges import Range

__all__ = ["range_of_function"]

RangeOf = Callable[[LinearForm], Range]

INDEX_BITS = 64
"""Bits in which a shifted index has to fit for its range to be known."""


def range_of_function(atom: Atom, range_of: RangeOf) -> Range:
    """Return the range of `atom` that follows from its kind and the ranges of its operands.

    `range_of` gives the range of an operand; it is called for the operands that matter only.
    """
    match atom.kind:
        case AtomKind.VALUE:
            return Range()
        case AtomKind.LOOP:
            first, last = map(range_of, atom.operands)
            return Range(first.low, last.high)
        case AtomKind.FLOORDIV | AtomKind.DIV:
            return _range_of_quotient(atom, range_of)
        case AtomKind.MOD:
            # The dividend is left out: of a constant divisor it would narrow the range only if all
            # of it lies between two multiples, and then `CanonicalArithmetic.mod` made no atom.
            divisor = range_of(atom.operands[1])
            if divisor.low is None or divisor.low <= 0:
                return Range()
            return Range(0, None if divisor.high is None else divisor.high - 1)
        case AtomKind.REM:
            return _range_of_remainder(atom, range_of)
        case AtomKind.MIN:
            return Range.of_minimum([*map(range_of, atom.operands)])
        case AtomKind.MAX:
            return Range.of_maximum([*map(range_of, atom.operands)])
        case AtomKind.MUL:
            return _range_of_product(atom, range_of)
        case AtomKind.OP:
            assert atom.value is not None and isinstance(atom.value.owner, Operation)
            return _range_of_result(atom.value.owner, atom.operands, range_of)


def _range_of_quotient(atom: Atom, range_of: RangeOf) -> Range:
    dividend, divisor = map(range_of, atom.operands)
    if divisor.low is None or divisor.low <= 0:
        return Range()
    if dividend.low is not None and dividend.low >= 0:
        low = 0 if divisor.high is None else dividend.low // divisor.high
        return Range(low, None if dividend.high is None else dividend.high // divisor.low)
    # A negative dividend is largest for the largest divisor: -8 by 2 to 4 is from -4 to -2. Such
    # divisors are rare in index arithmetic; the range is given up.
    if divisor.constant is None:
        return Range()
    found = dividend // divisor.low
    if atom.kind is AtomKind.FLOORDIV or found.low is None:
        return found
    # Rounding to 0 gives at most 0 for a negative dividend, where rounding down gives less.
    return Range(found.low, None if found.high is None else max(found.high, 0))


def _range_of_remainder(atom: Atom, range_of: RangeOf) -> Range:
    dividend, divisor = map(range_of, atom.operands)
    if divisor.low is None or divisor.high is None:
        return Range(0 if dividend.low is not None and dividend.low >= 0 else None)
    # A divisor of 0 has no remainder; that it is in the range does no harm.
    most = max(abs(divisor.low), abs(divisor.high)) - 1
    low = -most if dividend.low is None else max(-most, min(dividend.low, 0))
    return Range(low, most if dividend.high is None else min(most, max(dividend.high, 0)))


def _range_of_product(atom: Atom, range_of: RangeOf) -> Range:
    found = Range(1, 1)
    for operand in atom.operands:
        found = found * range_of(operand)
    if all(atom.operands.count(operand) % 2 == 0 for operand in atom.operands):
        found = found.meet(Range(0))  # a square
    return found


def _range_of_result(op: Operation, operands: tuple[LinearForm, ...], range_of: RangeOf) -> Range:
    match op:
        case arith.SelectOp():
            return range_of(operands[1]).join(range_of(operands[2]))
        case arith.AndIOp():
            ranges = [range_of(operand) for operand in operands]
            # An AND clears bits only: it is at most each operand that has no sign bit.
            highs = [one.high for one in ranges if one.low is not None and one.low >= 0]
            most = [high for high in highs if high is not None]
            return Range(0, min(most) if most else None) if highs else Range()
        case arith.OrIOp() | arith.XOrIOp():
            ranges = [range_of(operand) for operand in operands]
            if any(one.low is None or one.low < 0 for one in ranges):
                return Range()
            highs = [one.high for one in ranges if one.high is not None]
            if len(highs) < len(ranges):
                return Range(0)
            # No bit above the highest of both operands is set: of 5 and 8, at most 15.
            return Range(0, (1 << max(highs).bit_length()) - 1)
        case arith.ShLIOp():
            return _range_of_shift(op, *map(range_of, operands))
        case _:
            return Range()


def _range_of_shift(op: arith.ShLIOp, base: Range, by: Range) -> Range:
    """Return the range of a left shift; unbounded if it may overflow or an operand be negative."""
    if base.low is None or base.high is None or by.low is None or by.high is None:
        return Range()
    type = op.result.type
    width = type.bitwidth if isinstance(type, IntegerType) else INDEX_BITS
    if base.low < 0 or by.low < 0 or (base.high << min(by.high, width)) >= 1 << (width - 1):
        return Range()
    return Range(base.low << by.low, base.high << by.high)
