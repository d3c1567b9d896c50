"""Folds and patterns of MLIR's `index`, for `canonicalize`.

An index has 32 bits or 64, by the target. What is computed here is the same on both: the low 32
bits of the result for 64 are the result for 32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr
from xdsl.ir import Data, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from .by_dialect import Fold, Folded
from .constants import is_integer, truncated_integer
from .scalar_values import width_of, wrap

Function: TypeAlias = Callable[[int, int, int], int | None]
"""A function of two signed numbers and their width; its result is wrapped. None if undefined."""

_CONSTANTS: Final = frozenset(("arith.constant", "index.constant", "index.bool.constant"))


def _number(value: SSAValue) -> int | None:
    """Return the signed integer that a constant is; None for any other value."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in _CONSTANTS:
        return None
    constant = owner.properties.get("value")
    if not isinstance(constant, IntegerAttr):
        return None
    return wrap(constant.value.data, width_of(value.type))


# Arithmetic


def _unsigned(function: Callable[[int, int], int | None]) -> Function:
    """Return a function that gets its operands as numbers without a sign."""

    def compute(lhs: int, rhs: int, width: int) -> int | None:
        ones = (1 << width) - 1
        return function(lhs & ones, rhs & ones)

    return compute


def _signed(function: Callable[[int, int], int | None]) -> Function:
    def compute(lhs: int, rhs: int, width: int) -> int | None:
        return function(lhs, rhs)

    return compute


def _floor(lhs: int, rhs: int) -> int | None:
    return lhs // rhs if rhs else None


def _ceil(lhs: int, rhs: int) -> int | None:
    return -(-lhs // rhs) if rhs else None


def _quotient(lhs: int, rhs: int) -> int | None:
    """Divide, rounding to zero."""
    if not rhs:
        return None
    return abs(lhs) // abs(rhs) * (1 if (lhs < 0) is (rhs < 0) else -1)


def _remainder(lhs: int, rhs: int) -> int | None:
    """Return the remainder, with the sign of the dividend."""
    quotient = _quotient(lhs, rhs)
    return None if quotient is None else lhs - quotient * rhs


def _shift_left(lhs: int, rhs: int) -> int | None:
    return lhs << rhs if 0 <= rhs < 32 else None


def _shift_right(lhs: int, rhs: int) -> int | None:
    return lhs >> rhs if 0 <= rhs < 32 else None


_FUNCTIONS: Final[Mapping[str, Function]] = {
    "index.add": _signed(int.__add__),
    "index.and": _signed(int.__and__),
    "index.ceildivs": _signed(_ceil),
    "index.ceildivu": _unsigned(_ceil),
    "index.divs": _signed(_quotient),
    "index.divu": _unsigned(_floor),
    "index.floordivs": _signed(_floor),
    "index.maxs": _signed(max),
    "index.maxu": _unsigned(max),
    "index.mins": _signed(min),
    "index.minu": _unsigned(min),
    "index.mul": _signed(int.__mul__),
    "index.or": _signed(int.__or__),
    "index.rems": _signed(_remainder),
    "index.remu": _unsigned(_remainder),
    "index.shl": _signed(_shift_left),
    "index.shrs": _signed(_shift_right),
    "index.shru": _unsigned(_shift_right),
    "index.sub": _signed(int.__sub__),
    "index.xor": _signed(int.__xor__),
}
_OVERFLOWING: Final = frozenset(("index.ceildivs", "index.divs", "index.floordivs", "index.rems"))
"""The divisions that are undefined for the least number by -1."""
_NEUTRAL: Final[Mapping[str, int]] = {"index.add": 0, "index.mul": 1, "index.sub": 0}
"""The right operand for which an operation returns the left one."""
_ASSOCIATIVE: Final = tuple(
    f"index.{name}" for name in ("add", "and", "maxs", "maxu", "mins", "minu", "mul", "or", "xor")
)
"""The operations whose operands may be exchanged and grouped in any way."""


def _computed(name: str, lhs: int, rhs: int) -> int | None:
    """Return the result of an operation on constants; None if it is undefined, or not the same
    for 32 and 64 bits."""
    if name in _OVERFLOWING and rhs == -1 and lhs == -1 << 63:
        return None
    function = _FUNCTIONS[name]
    wide, narrow = function(lhs, rhs, 64), function(wrap(lhs, 32), wrap(rhs, 32), 32)
    if wide is None or narrow is None or wrap(wide, 32) != wrap(narrow, 32):
        return None
    return wrap(wide, 64)


def _fold_arithmetic(op: Operation) -> Folded | None:
    left, right = op.operands
    if (rhs := _number(right)) is None:
        return None
    if (lhs := _number(left)) is not None:
        number = _computed(op.name, lhs, rhs)
        return None if number is None else truncated_integer(number, IndexType())
    if rhs == _NEUTRAL.get(op.name):
        return left
    return right if rhs == 0 and op.name == "index.mul" else None


# Casts


def _fold_cast(op: Operation) -> Folded | None:
    """Return the constant that is the cast of one.

    From an index it is the same for 32 bits and 64, or there is none.
    """
    if (number := _number(op.operands[0])) is None:
        return None
    source, target = op.operands[0].type, op.results[0].type
    has_sign = op.name == "index.casts"
    if not is_integer(source) or not is_integer(target):
        return None
    if isinstance(target, IndexType):
        return truncated_integer(_extended(number, width_of(source), has_sign=has_sign), target)
    wide = truncated_integer(_extended(number, 64, has_sign=has_sign), target)
    narrow = truncated_integer(_extended(number, 32, has_sign=has_sign), target)
    return wide if wide == narrow else None


def _extended(number: int, width: int, *, has_sign: bool) -> int:
    return wrap(number, width) if has_sign else number & ((1 << width) - 1)


# Comparisons


class _Bounds(NamedTuple):
    """The least and the greatest number that a value may be."""

    low: int
    high: int


class _Range(NamedTuple):
    """The range of a value, read as a signed and as an unsigned number."""

    signed: _Bounds
    unsigned: _Bounds


def _range(name: str, number: int, width: int) -> _Range:
    """Return what the result of an operation with a constant may be; for any that is no minimum
    or maximum, the constant."""
    ones, half = (1 << width) - 1, 1 << (width - 1)
    number = wrap(number, width)
    if name in ("index.maxu", "index.minu"):
        natural = number & ones
        unsigned = _Bounds(natural, ones) if name == "index.maxu" else _Bounds(0, natural)
        low, high = (wrap(bound, width) for bound in unsigned)
        signed = _Bounds(low, high) if low <= high else _Bounds(-half, half - 1)
        return _Range(signed, unsigned)
    low = -half if name == "index.mins" else number
    high = half - 1 if name == "index.maxs" else number
    # A range with numbers of both signs says nothing of the numbers without a sign.
    is_split = low < 0 <= high
    return _Range(
        _Bounds(low, high), _Bounds(0, ones) if is_split else _Bounds(low & ones, high & ones)
    )


def _less(lhs: _Bounds, rhs: _Bounds, *, or_equal: bool) -> bool | None:
    if lhs.high < rhs.low + or_equal:
        return True
    return False if lhs.low >= rhs.high + or_equal else None


def _equal(lhs: _Bounds, rhs: _Bounds) -> bool | None:
    if lhs.high < rhs.low or rhs.high < lhs.low:
        return False
    return True if lhs.low == lhs.high and lhs == rhs else None


def _compared(predicate: str, lhs: _Range, rhs: _Range) -> bool | None:
    """Return whether a predicate holds for all numbers of two ranges; None if for some."""
    if predicate in ("eq", "ne"):
        equal = _equal(lhs.signed, rhs.signed)
        if equal is None:
            equal = _equal(lhs.unsigned, rhs.unsigned)
        return None if equal is None else equal is (predicate == "eq")
    left, right = (lhs.signed, rhs.signed) if predicate[0] == "s" else (lhs.unsigned, rhs.unsigned)
    if predicate[1] == "g":
        left, right = right, left
    return _less(left, right, or_equal=predicate[2] == "e")


def _predicate(op: Operation) -> str:
    """Return the name of the predicate of a comparison."""
    predicate = op.properties["pred"]
    assert isinstance(predicate, Data)
    return str(cast("Data[str]", predicate).data)


def _fold_comparison(op: Operation) -> Folded | None:
    left, right = op.operands
    predicate = _predicate(op)
    if left is right:
        return BoolAttr.from_bool(predicate in ("eq", "sge", "sle", "uge", "ule"))
    if (number := _number(right)) is None:
        return None
    name, bound = "index.constant", _number(left)
    if bound is None and isinstance(owner := left.owner, Operation):
        # One of a constant and any value.
        if (name := owner.name) not in ("index.maxs", "index.maxu", "index.mins", "index.minu"):
            return None
        bound = _number(owner.operands[1])
    if bound is None:
        return None
    wide, narrow = (
        _compared(predicate, _range(name, bound, width), _range("index.constant", number, width))
        for width in (64, 32)
    )
    return BoolAttr.from_bool(wide) if wide is not None and wide is narrow else None


FOLDS: Final[Mapping[str, Fold]] = {
    **dict.fromkeys(_FUNCTIONS, _fold_arithmetic),
    "index.casts": _fold_cast,
    "index.castu": _fold_cast,
    "index.cmp": _fold_comparison,
}


# Patterns


class IndexConstantToRight(RewritePattern):
    """Exchange the operands of a commutative operation whose left one is a constant."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match an operation of `_ASSOCIATIVE`."""
        lhs, rhs = op.operands
        if _number(lhs) is not None and _number(rhs) is None:
            op.operands = [rhs, lhs]
            rewriter.handle_operation_modification(op)


class MergeIndexConstants(RewritePattern):
    """Replace two operations of one kind with constants by one: `max(max(x, 1), 3)` by
    `max(x, 3)`."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match an operation of `_ASSOCIATIVE`."""
        inner, right = op.operands[0].owner, op.operands[1]
        if not isinstance(inner, Operation) or inner.name != op.name:
            return
        value, first = inner.operands
        if (lhs := _number(first)) is None or (rhs := _number(right)) is None:
            return
        # Of a maximum not the same for 32 bits and 64, both stay.
        if (number := _computed(op.name, lhs, rhs)) is None:
            return
        source = right.owner
        assert isinstance(source, Operation)
        constant = type(source).create(
            result_types=[IndexType()], properties={"value": truncated_integer(number, IndexType())}
        )
        merged = type(op).create(
            operands=[value, constant.results[0]],
            result_types=[IndexType()],
            attributes=op.attributes,
        )
        rewriter.replace(op, [constant, merged])


class CompareOperandsOfDifference(RewritePattern):
    """Replace the comparison of a difference with 0, for equality, by that of its operands.

    MLIR does so for each predicate, which is wrong where the difference overflows: `0 - 1` is
    greater than 0 as a number without a sign.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Match an `index.cmp`."""
        if _predicate(op) not in ("eq", "ne"):
            return
        lhs, rhs = op.operands
        difference = lhs.owner if _number(rhs) == 0 else rhs.owner if _number(lhs) == 0 else None
        if isinstance(difference, Operation) and difference.name == "index.sub":
            op.operands = list(difference.operands)
            rewriter.handle_operation_modification(op)


NAMED: Final[Mapping[str, Sequence[RewritePattern]]] = {
    **dict.fromkeys(_ASSOCIATIVE, (IndexConstantToRight(), MergeIndexConstants())),
    "index.cmp": (CompareOperandsOfDifference(),),
}
