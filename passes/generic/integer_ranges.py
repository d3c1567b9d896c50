"""The ranges of integers, signed and unsigned: what an analysis of the dataflow knows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Final, NamedTuple, TypeAlias, TypeGuard, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from ...passmanager.dataflow.sparse import ForwardAnalysis
from .arith_families import kind_of
from .canonicalize.constants import is_integer
from .canonicalize.scalar_folds import overflow_flags
from .canonicalize.scalar_values import predicate_of, width_of, wrap

__all__ = ["IntegerRange", "IntegerRanges", "has_range", "range_of_result"]

Bounds: TypeAlias = tuple[int, int]
"""The least and the greatest number of a range."""


class IntegerRange(NamedTuple):
    """The numbers that an integer of `width` bits may be, as signed and as unsigned ones; a width
    of 0 stands for a value that is no integer. As a signed number, true of i1 is -1.

    Both are kept, as 127 and 128 of 8 bits are near to each other as unsigned numbers only.
    """

    signed: Bounds
    unsigned: Bounds
    width: int

    @property
    def number(self) -> int | None:
        """The one signed number that is in the range; None if there are more."""
        low, high = self.signed
        return low if low == high and self.width else None


NO_INTEGER: Final = IntegerRange((0, 0), (0, 0), 0)


def full(width: int) -> IntegerRange:
    """Return the range of all numbers of a width."""
    half = 1 << (width - 1)
    return IntegerRange((-half, half - 1), (0, 2 * half - 1), width)


def has_range(type: Attribute) -> TypeGuard[IntegerType | IndexType]:
    """Return whether a type is that of an integer of one bit at least, or of an index."""
    return is_integer(type) and width_of(type) > 0


def of_type(type: Attribute) -> IntegerRange:
    """Return the range of all values of a type."""
    return full(width_of(type)) if has_range(type) else NO_INTEGER


def _within(numbers: Iterable[int] | None, limits: Bounds, *, clamps: bool = False) -> Bounds:
    """Return the bounds of `numbers`, which wrap around if all of them do so as often.

    If not, or if they are not known, these are `limits`; with `clamps`, what is outside of the
    limits does not occur.
    """
    if numbers is None:
        return limits
    first, last = limits
    low, high = min(numbers := [*numbers]), max(numbers)
    if clamps:
        return min(max(low, first), last), min(max(high, first), last)
    size = last - first + 1
    times = (low - first) // size
    return limits if (high - first) // size != times else (low - times * size, high - times * size)


def _common(a: Bounds, b: Bounds) -> Bounds | None:
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else None


def both(
    width: int,
    signed: Iterable[int] | None = None,
    unsigned: Iterable[int] | None = None,
    *,
    flags: frozenset[str] = frozenset(),
) -> IntegerRange:
    """Return the range from the least to the greatest of the signed and the unsigned numbers, as
    far as they are known; each of them narrows the other. `flags` say which do not overflow."""
    limits = full(width)
    s = _within(signed, limits.signed, clamps="nsw" in flags)
    u = _within(unsigned, limits.unsigned, clamps="nuw" in flags)
    if s[0] < 0 <= s[1]:
        common: Bounds | None = u
    else:
        common = _common(u, (s[0] % (1 << width), s[1] % (1 << width)))
    if common is None:  # no number is in both: the value is undefined
        return limits
    if common[0] >> (width - 1) == common[1] >> (width - 1):
        narrow = _common(s, (wrap(common[0], width), wrap(common[1], width)))
        if narrow is None:
            return limits
        s, common = narrow, (narrow[0] % (1 << width), narrow[1] % (1 << width))
    return IntegerRange(s, common, width)


def _union(a: IntegerRange, b: IntegerRange) -> IntegerRange:
    return IntegerRange(_hull(a.signed, b.signed), _hull(a.unsigned, b.unsigned), a.width)


def _hull(a: Bounds, b: Bounds) -> Bounds:
    return min(a[0], b[0]), max(a[1], b[1])


# Operations: the range of the result, given those of the operands and the width of the result.


Rule = Callable[[Operation, Sequence[IntegerRange], int], IntegerRange]


def _corners(compute: Callable[[int, int], int], a: Bounds, b: Bounds) -> list[int]:
    """Return the numbers of which two are the extrema, for a function that rises or falls."""
    return [compute(x, y) for x, y in product(a, b)]


def _ring(compute: Callable[[int, int], int]) -> Rule:
    """Return the rule of an operation that is the same for signed and unsigned numbers."""

    def rule(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
        a, b = operands
        signed = _corners(compute, a.signed, b.signed)
        unsigned = _corners(compute, a.unsigned, b.unsigned)
        return both(width, signed, unsigned, flags=overflow_flags(op))

    return rule


def _ordered(choose: Callable[[int, int], int], is_unsigned: bool) -> Rule:
    """Return the rule of a minimum or maximum."""

    def rule(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
        (a, b), (c, d) = (r.unsigned if is_unsigned else r.signed for r in operands)
        bounds = choose(a, c), choose(b, d)
        return both(width, unsigned=bounds) if is_unsigned else both(width, bounds)

    return rule


def _bits(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    """Return the range of `and`, `or` and `xor`: the leading bits that all numbers of an operand
    have in common are known."""
    (a, b), (c, d) = (r.unsigned for r in operands)
    left, right = (1 << (a ^ b).bit_length()) - 1, (1 << (c ^ d).bit_length()) - 1
    if kind_of(op) is arith.AndIOp:
        return both(
            width, unsigned=((a & ~left) & (c & ~right), min((b | left) & (d | right), b, d))
        )
    if kind_of(op) is arith.OrIOp:
        return both(width, unsigned=(max((a & ~left) | (c & ~right), a, c), b | left | d | right))
    unknown = left | right
    return both(width, unsigned=((a ^ c) & ~unknown, (a ^ c) | unknown))


def _floor(a: int, b: int) -> int:
    return a // b


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) is (b < 0) else -1)


def _quotient(divide: Callable[[int, int], int]) -> Rule:
    """Return the rule of a signed division."""

    def rule(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
        a, b = operands
        limits = full(width).signed
        if b.signed[0] <= 0 <= b.signed[1]:
            return full(width)
        numbers = _corners(divide, a.signed, b.signed)
        if max(numbers) > limits[1]:  # of the least number by -1
            return full(width)
        # The least number rounded up is one of either sign, by the definition in MLIR.
        if divide is _ceil and a.signed[0] == limits[0]:
            return full(width)
        return both(width, numbers)

    return rule


def _unsigned_quotient(divide: Callable[[int, int], int]) -> Rule:
    """Return the rule of an unsigned division; by zero it is undefined."""

    def rule(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
        (low, high), (least, most) = (r.unsigned for r in operands)
        if not most:
            return full(width)
        return both(width, unsigned=_corners(divide, (low, high), (max(least, 1), most)))

    return rule


def _remainder(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    is_unsigned = kind_of(op) is arith.RemUIOp
    (low, high), (least, most) = (r.unsigned if is_unsigned else r.signed for r in operands)
    # Of a divisor of zero nothing is defined.
    greatest = max(abs(least), abs(most)) - 1
    if greatest < 0:
        return full(width)
    bounds = max(min(low, 0), -greatest), min(max(high, 0), greatest)
    if least == most:
        start, end = (_truncated(bound, least) * least for bound in (low, high))
        if start == end:  # of numbers with the same quotient, the remainders are in order
            bounds = low - start, high - start
    elif low >= 0 and high < least:
        bounds = low, high
    return both(width, unsigned=bounds) if is_unsigned else both(width, bounds)


def _shift(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    a, by = operands[0], operands[1].unsigned
    if by[1] >= width:
        return full(width)
    if kind_of(op) is arith.ShRUIOp:
        return both(width, unsigned=_corners(int.__rshift__, a.unsigned, by))
    if kind_of(op) is arith.ShRSIOp:
        return both(width, _corners(int.__rshift__, a.signed, by))
    return both(
        width, _corners(int.__lshift__, a.signed, by), _corners(int.__lshift__, a.unsigned, by)
    )


def _resized(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    """Return the range after a cast; one to fewer bits keeps what fits."""
    (a,) = operands
    if width <= a.width:
        return both(width, a.signed, a.unsigned)
    return both(width, a.unsigned) if kind_of(op) is arith.ExtUIOp else both(width, a.signed)


def _select(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    condition, a, b = operands
    if condition.number is None:
        return _union(a, b)
    return a if condition.number else b


def _holds(predicate: int, a: IntegerRange, b: IntegerRange) -> bool | None:
    """Return whether a predicate holds for all numbers of two ranges; None if for some."""
    if predicate < 2:
        if _common(a.signed, b.signed) and _common(a.unsigned, b.unsigned):
            equal = True if a.number is not None and a.number == b.number else None
        else:
            equal = False
        return equal if predicate == 0 or equal is None else not equal
    (la, ha), (lb, hb) = (r.unsigned if predicate >= 6 else r.signed for r in (a, b))
    kind = (predicate - 2) % 4
    if kind > 1:  # `a > b` is `b < a`
        la, ha, lb, hb = lb, hb, la, ha
    strict = int(kind % 2 == 0)
    return True if ha + strict <= lb else False if la + strict > hb else None


def _compare(op: Operation, operands: Sequence[IntegerRange], width: int) -> IntegerRange:
    a, b = operands
    holds = _holds(predicate_of(op), a, b)
    return full(1) if holds is None else both(1, (-holds,))


_RULES: Final[dict[type[Operation], Rule]] = {
    arith.AddiOp: _ring(int.__add__),
    arith.SubiOp: _ring(int.__sub__),
    arith.MuliOp: _ring(int.__mul__),
    arith.MinSIOp: _ordered(min, False),
    arith.MaxSIOp: _ordered(max, False),
    arith.MinUIOp: _ordered(min, True),
    arith.MaxUIOp: _ordered(max, True),
    arith.AndIOp: _bits,
    arith.OrIOp: _bits,
    arith.XOrIOp: _bits,
    arith.DivSIOp: _quotient(_truncated),
    arith.FloorDivSIOp: _quotient(_floor),
    arith.CeilDivSIOp: _quotient(_ceil),
    arith.DivUIOp: _unsigned_quotient(_floor),
    arith.CeilDivUIOp: _unsigned_quotient(_ceil),
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _remainder,
    arith.ShRSIOp: _shift,
    arith.ShRUIOp: _shift,
    arith.ShLIOp: _shift,
    arith.ExtSIOp: _resized,
    arith.ExtUIOp: _resized,
    arith.TruncIOp: _resized,
    arith.IndexCastOp: _resized,
    arith.SelectOp: _select,
    arith.CmpiOp: _compare,
}


def range_of_result(op: Operation, operands: Iterable[IntegerRange]) -> IntegerRange | None:
    """Return the range of the result of an operation of `arith`, given those of its operands; None
    if there is no rule for it."""
    if (rule := _RULES.get(kind_of(op))) is None or not has_range(type := op.results[0].type):
        return None
    return rule(op, [*operands], width_of(type))


class IntegerRanges(ForwardAnalysis[IntegerRange]):
    """The ranges of integers and indices (MLIR's `IntegerRangeAnalysis`).

    The variable of `scf.for` is between its bounds; what a loop carries is known if it stops
    growing after a few iterations.
    """

    def join(self, a: IntegerRange, b: IntegerRange) -> IntegerRange:
        return _union(a, b)

    def widen(self, old: IntegerRange, new: IntegerRange) -> IntegerRange:
        def widened(old: Bounds, new: Bounds, limits: Bounds) -> Bounds:
            low = limits[0] if new[0] < old[0] else new[0]
            return low, limits[1] if new[1] > old[1] else new[1]

        limits = full(new.width)
        return IntegerRange(
            widened(old.signed, new.signed, limits.signed),
            widened(old.unsigned, new.unsigned, limits.unsigned),
            new.width,
        )

    def entry(self, value: SSAValue) -> IntegerRange:
        return of_type(value.type)

    def argument(self, op: Operation, value: SSAValue) -> IntegerRange:
        known = self.entry(value)
        if op.name != "scf.for":
            return known
        lower, upper, _ = (self.state(operand) or known for operand in op.operands[:3])
        if "unsignedCmp" in (op.properties | op.attributes):
            low, high = lower.unsigned[0], upper.unsigned[1] - 1
            return both(known.width, unsigned=(low, max(low, high)))
        low, high = lower.signed[0], upper.signed[1] - 1
        return both(known.width, (low, max(low, high)))

    def constant(self, state: IntegerRange) -> Attribute | None:
        number = state.number
        return None if number is None else IntegerAttr(number, IntegerType(state.width))

    def transfer(
        self, op: Operation, operands: Sequence[IntegerRange]
    ) -> Sequence[IntegerRange] | None:
        if op.name in _SIZES:
            return [both(64, (0, full(64).signed[1]))]
        if not has_range(type := op.results[0].type):
            return None
        width = width_of(type)
        if isinstance(op, arith.ConstantOp):
            number = cast("IntegerAttr", op.properties["value"]).value.data
            return [both(width, (number,))]
        found = range_of_result(op, operands)
        return None if found is None else [found]


_SIZES: Final = frozenset(("memref.dim", "tensor.dim"))
"""Operations whose results are sizes."""
