"""Numbers with Python's operators: known, expressions of sizes, computed at run time.

    maximum(n - 1, m)    # Computed, the maximum of two values
    n * 2 // 2           # n
    i * 4 + 1            # two operations, if `i` is a `Value`

A known number is a plain integer. Any other one is a `Term`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from xdsl.ir import Operation, SSAValue

from .sizes import Size, TooComplex

__all__ = [
    "Computed",
    "Condition",
    "Dimension",
    "Element",
    "Function",
    "Insert",
    "Number",
    "Scalar",
    "Symbolic",
    "Term",
    "Value",
    "as_number",
    "as_size",
    "at_least",
    "ceildiv",
    "either",
    "equal",
    "folded",
    "less",
    "maximum",
    "minimum",
    "non_negative",
    "product",
    "select",
]

S = TypeVar("S")
T = TypeVar("T")
Function: TypeAlias = Literal["add", "sub", "mul", "div", "floordiv", "mod"]

PYTHON: Mapping[Function, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
}
NEUTRAL: Mapping[Function, int] = {"add": 0, "sub": 0, "mul": 1, "floordiv": 1}
"""Function -> the second operand with which it returns the first one."""


class Term(ABC, Generic[S, T]):
    """A number that is not known when code is generated; combined with an `S` it gives a `T`."""

    partners: ClassVar[tuple[type, ...]] = ()
    """The types of numbers with which this type implements functions; all others implement their
    functions with this type themselves."""

    @abstractmethod
    def apply(self, function: Function, a: Any, b: Any) -> T:
        """Return `function` of `a` and `b`, one of which is this number."""

    def _apply(self, function: Function, a: Any, b: Any) -> T:
        # Python then asks the other operand.
        if not (isinstance(a, self.partners) and isinstance(b, self.partners)):
            return NotImplemented
        return self.apply(function, a, b)

    def __neg__(self) -> T:
        return self._apply("sub", 0, self)

    def __add__(self, other: S) -> T:
        return self._apply("add", self, other)

    def __radd__(self, other: S) -> T:
        return self._apply("add", other, self)

    def __sub__(self, other: S) -> T:
        return self._apply("sub", self, other)

    def __rsub__(self, other: S) -> T:
        return self._apply("sub", other, self)

    def __mul__(self, other: S) -> T:
        return self._apply("mul", self, other)

    def __rmul__(self, other: S) -> T:
        return self._apply("mul", other, self)

    def __truediv__(self, other: S) -> T:
        return self._apply("div", self, other)

    def __rtruediv__(self, other: S) -> T:
        return self._apply("div", other, self)

    def __floordiv__(self, other: S) -> T:
        return self._apply("floordiv", self, other)

    def __rfloordiv__(self, other: S) -> T:
        return self._apply("floordiv", other, self)

    def __mod__(self, other: S) -> T:
        return self._apply("mod", self, other)

    def __rmod__(self, other: S) -> T:
        return self._apply("mod", other, self)


def folded(function: Function, a: Any, b: Any) -> Any:
    """Fold a function of two numbers: return its value for two integers, the operand that it
    returns unchanged, or 0 if that is the result. None if it cannot be folded."""
    if isinstance(b, int):
        if isinstance(a, int):
            return PYTHON[function](a, b)
        if b == NEUTRAL.get(function):
            return a
        return 0 if (function, b) in (("mul", 0), ("mod", 1)) else None
    if isinstance(a, int) and function in ("add", "mul"):
        return b if a == NEUTRAL[function] else 0 if a == 0 else None
    return None


class Emitter(Protocol):
    """A builder that inserts the operations of a function of two values."""

    def emit(self, function: Function, a: Any, b: Any) -> Any:
        """Return `a function b`, computed by operations unless it can be folded."""


class Value(Term[T, T]):
    """An SSA value on which operators insert operations."""

    __slots__ = ("emitter", "value")

    def __init__(self, emitter: Emitter, value: SSAValue) -> None:
        self.emitter = emitter
        self.value = value

    def apply(self, function: Function, a: Any, b: Any) -> T:
        return self.emitter.emit(function, a, b)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and other.value is self.value

    def __hash__(self) -> int:
        return hash(self.value)


# Numbers of shape rules

Insert: TypeAlias = Callable[[Operation], SSAValue]
"""A function that inserts an operation and returns its result."""


class _Deferred(Term["Number", "Number"]):
    """A number that is computed at run time, or read then."""

    def apply(self, function: Function, a: Number, b: Number) -> Number:
        return _arithmetic(function, a, b)


@dataclass(frozen=True)
class Symbolic(_Deferred):
    """An expression of unknown sizes, never a known one."""

    size: Size


@dataclass(frozen=True, eq=False)
class Element(_Deferred):
    """An element of a vector of integers, or of a scalar, as a size."""

    value: SSAValue
    index: int


@dataclass(frozen=True, eq=False)
class Dimension(_Deferred):
    """A dimension that is read from a tensor, even if its size is known."""

    value: SSAValue
    axis: int


@dataclass(frozen=True, eq=False)
class Scalar(_Deferred):
    """The number in a scalar, in its type."""

    value: SSAValue


@dataclass(frozen=True, eq=False)
class Computed(_Deferred):
    """The result of a function of other numbers, or of floats."""

    function: str | Callable[..., SSAValue]
    """The name of an operation, as in `arith` (`addi`), or a predicate (`slt`); or a function that
    inserts operations by a function of the type `Insert`, given the operands."""
    operands: tuple[Number | float, ...]


Number: TypeAlias = int | Symbolic | Computed | Dimension | Element | Scalar
Condition: TypeAlias = bool | Computed

_Deferred.partners = (int, _Deferred)

OPERATIONS: Mapping[Function, str] = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    # This rounds negative numbers toward zero: the dividend has to be known not to be negative.
    "floordiv": "divsi",
}


def as_number(size: Size) -> int | Symbolic:
    """Return a size, which may be known, as a number."""
    return Symbolic(size) if size.known is None else size.known


def as_size(number: Number | None) -> Size | None:
    """Return a number as a size; None if it cannot be written as an expression of sizes."""
    if isinstance(number, int):
        return Size.of(int(number))
    return number.size if isinstance(number, Symbolic) else None


def _arithmetic(function: Function, a: Number, b: Number) -> Number:
    """Return the function of two integers or sizes, or the operation on other numbers."""
    if (number := folded(function, a, b)) is not None:
        return number
    x, y = as_size(a), b if function == "floordiv" else as_size(b)
    if x is not None and isinstance(y, int | Size):
        try:
            return as_number(PYTHON[function](x, y))
        except TooComplex:
            pass
    return Computed(OPERATIONS[function], (a, b))


def at_least(a: Number, b: Number, margin: int = 0) -> bool:
    """Return whether `a >= b + margin` is known."""
    match a:
        case Computed("maxsi" | "minsi" as kind, operands):
            bounds = [not isinstance(n, float) and at_least(n, b, margin) for n in operands]
            return any(bounds) if kind == "maxsi" else all(bounds)
        case _:
            pass
    if as_size(a) is None or as_size(b) is None or (difference := as_size(a - b)) is None:
        return False
    return difference.low is not None and difference.low >= margin


def product(numbers: Iterable[T]) -> T | int:
    """Return the product of numbers."""
    return reduce(PYTHON["mul"], numbers, 1)


def ceildiv(a: Number, b: int) -> Number:
    """Return the quotient by a positive integer, rounded up; for numbers of at least 0."""
    return (a + (b - 1)) // b


def maximum(a: Number, b: Number) -> Number:
    if at_least(a, b) or at_least(b, a):
        return a if at_least(a, b) else b
    return Computed("maxsi", (a, b))


def minimum(a: Number, b: Number) -> Number:
    if at_least(a, b) or at_least(b, a):
        return b if at_least(a, b) else a
    return Computed("minsi", (a, b))


def non_negative(a: Number) -> Number:
    """Return a size that the kernel asserts not to be negative. It is computed before the kernel
    runs, where a negative one becomes 0."""
    return a if isinstance(a, int | Symbolic) else Computed("maxsi", (a, 0))


def less(a: Number, b: Number) -> Condition:
    """Return whether `a < b`."""
    if at_least(a, b):
        return False
    return at_least(b, a, 1) or Computed("slt", (a, b))


def equal(a: Number, b: Number) -> Condition:
    """Return whether `a == b`."""
    if a == b:
        return True
    if at_least(a, b, 1) or at_least(b, a, 1):
        return False
    return Computed("eq", (a, b))


def either(a: Condition, b: Condition) -> Condition:
    """Return the disjunction of conditions."""
    if isinstance(a, bool):
        return a or b
    return b or a if isinstance(b, bool) else Computed("ori", (a, b))


def select(condition: Condition, then: Number, otherwise: Number) -> Number:
    """Return one of two numbers."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return then if then == otherwise else Computed("select", (condition, then, otherwise))
