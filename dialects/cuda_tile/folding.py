"""Constant folding: the results of operations on tiles whose elements are known.

Integers wrap. Floats are folded where the result is rounded to nearest and is neither infinite nor
NaN: f64 holds what is then rounded to the type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike, HasFolder
from xdsl.utils.hints import isa

from ...passmanager.releases.floats import pack
from .attributes import ComparisonOrdering, ComparisonPredicate, RoundingMode, Signedness
from .constraints import element_width, tile, width_of
from .elements import FLOATS
from .literals import tensor_of

LARGEST = 1 << 12
"""The most elements that are computed, unless all are equal."""

Folded = SSAValue | Attribute | None
Number = Any
"""An integer or a float."""


class TileFolder(HasFolder):
    """The folder of the operations of this file."""

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute] | None:
        """Return the constant or the value that the only result is equal to."""
        mnemonic = op.name.partition(".")[2]
        for rule in (*_RULES.get(mnemonic, ()), _computed):
            if (found := rule(op)) is not None:
                return (found,)
        return None


def elements_of(value: SSAValue) -> list[Number] | None:
    """Return the elements of a constant, one if all are equal; None if it is not known."""
    constant = ConstantLike.get_constant_value(value)
    if not isa(constant, DenseIntOrFPElementsAttr):
        return None
    data, count, values = constant.data.data, len(constant), constant.iter_values()
    return [next(iter(values))] if data[: len(data) // count] * count == data else [*values]


def truth_of(value: SSAValue) -> bool | None:
    """Return what all elements of a tile of i1 are; None if they differ, or are not known."""
    elements = elements_of(value)
    return None if elements is None or len(elements) > 1 else bool(elements[0])


def negated(value: SSAValue) -> SSAValue | None:
    """Return the tile of i1 of which a value is the negation."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "cuda_tile.xori":
        return None
    is_negation = tile(value.type).element_type == i1 and truth_of(owner.operands[1])
    return owner.operands[0] if is_negation else None


# Functions of elements. They raise ArithmeticError, or ValueError, where nothing is folded.


def _computed(op: Operation) -> Folded:
    """Return the constant of the results of a function of elements."""
    mnemonic = op.name.partition(".")[2]
    function = _FUNCTIONS.get(mnemonic) or _FUNCTIONS.get(mnemonic[:-1])
    rows = [elements_of(operand) for operand in op.operands]
    count = max((len(row or ()) for row in rows), default=0)
    if (dependent := _DEPENDENT.get(mnemonic)) is not None:
        function = partial(dependent, op)
    if function is None or None in rows or not 0 < count <= LARGEST:
        return None
    columns = zip(*(row * (count if len(row) == 1 else 1) for row in rows if row))
    type, read = tile(op.results[0].type), _reader(op)
    try:
        values = [_fitted(op, function(*map(read, xs)), type.element_type) for xs in columns]
    except (ArithmeticError, ValueError):
        return None
    return DenseIntOrFPElementsAttr.from_list(tensor_of(type), values)


def _reader(op: Operation) -> Callable[[Number], Number]:
    """Return how operands are read: floats as they are, integers as `signedness` says."""
    element = tile(op.operands[0].type).element_type
    if not isinstance(element, IntegerType) or op.name == "cuda_tile.select":
        return lambda number: number
    width = width_of(cast(Attribute, element))
    return partial(_read, width=width, signed=_is_signed(op))


def _is_signed(op: Operation) -> bool:
    signedness: Any = op.properties.get("signedness")
    return signedness is None or signedness.data is Signedness.SIGNED


def _read(number: int, width: int, signed: bool) -> int:
    bits = number & ((1 << width) - 1)
    return bits - (1 << width) if signed and bits >> (width - 1) else bits


def _fitted(op: Operation, number: Number, element: Any) -> Number:
    """Return a number as an element: wrapped, or rounded to nearest."""
    if isinstance(element, IntegerType):
        width = width_of(cast(Attribute, element))
        return _read(number, width, width > 1)
    mode: Any = op.properties.get("rounding_mode")
    is_nearest = mode is None or mode.data is RoundingMode.NEAREST_EVEN
    if not is_nearest or "flush_to_zero" in op.properties or element not in FLOATS:
        raise ArithmeticError
    if not math.isfinite(number) or (isinstance(number, int) and float(number) != number):
        raise ArithmeticError  # an integer would be rounded twice
    pack(element, (number,))
    return float(number)


def _quotient(op: Operation, lhs: int, rhs: int) -> int:
    mode: Any = op.properties["rounding"]
    up = mode.data is RoundingMode.POSITIVE_INF
    up |= mode.data is RoundingMode.ZERO and (lhs < 0) != (rhs < 0)
    return -(-lhs // rhs) if up else lhs // rhs


def _remainder(lhs: int, rhs: int) -> int:
    return (abs(lhs) % abs(rhs)) * (-1 if lhs < 0 else 1)


def _shift(op: Operation, number: int, count: int) -> int:
    width = element_width(op.operands[0].type)
    if not 0 <= (bits := _read(count, width, False)) < width:
        raise ArithmeticError
    return number << bits if op.name == "cuda_tile.shli" else number >> bits


def _truncated(op: Operation, number: float) -> int:
    if (whole := int(number)) != _read(whole, element_width(op.results[0].type), _is_signed(op)):
        raise ArithmeticError
    return whole


def _compared(op: Operation, lhs: Number, rhs: Number) -> bool:
    predicate: Any = op.properties["comparison_predicate"]
    ordering: Any = op.properties.get("comparison_ordering")
    if lhs != lhs or rhs != rhs:
        return ordering.data is ComparisonOrdering.UNORDERED
    return _RELATIONS[predicate.data](lhs, rhs)


def _chosen(condition: int, then: Number, otherwise: Number) -> Number:
    return then if condition else otherwise


python: Any = operator  # whose types are not known

_RELATIONS: Mapping[ComparisonPredicate, Callable[[Number, Number], bool]] = {
    ComparisonPredicate.EQUAL: python.eq,
    ComparisonPredicate.NOT_EQUAL: python.ne,
    ComparisonPredicate.LESS_THAN: python.lt,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: python.le,
    ComparisonPredicate.GREATER_THAN: python.gt,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: python.ge,
}
_DEPENDENT: Mapping[str, Callable[..., Number]] = {
    "cmpf": _compared,
    "cmpi": _compared,
    "divi": _quotient,
    "ftoi": _truncated,
    "shli": _shift,
    "shri": _shift,
}
"""The functions of elements that depend on the operation."""
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "abs": abs,
    "add": python.add,
    "andi": python.and_,
    "divf": python.truediv,
    "ext": python.pos,
    "fto": python.pos,
    "ito": python.pos,
    "maxi": max,
    "mini": min,
    "mul": python.mul,
    "neg": python.neg,
    "ori": python.or_,
    "remi": _remainder,
    "select": _chosen,
    "sub": python.sub,
    "trunc": python.pos,
    "xori": python.xor,
}
"""The other functions of elements: names without `f` and `i` are those for floats and integers."""


# Rules on whole tiles


def _constant(op: Operation) -> Folded:
    return op.properties["value"]


def _reshaped(op: Operation) -> Folded:
    """Fold a constant whose elements are all equal to one of another shape."""
    elements, type = elements_of(op.operands[0]), tile(op.results[0].type)
    if elements is None or len(elements) > 1:
        return None
    return DenseIntOrFPElementsAttr.from_list(tensor_of(type), elements)


def _same_assumption(op: Operation) -> Folded:
    match op.operands[0].owner:
        case Operation(name=op.name, properties=op.properties):
            return op.operands[0]
        case _:
            return None


def _selected(op: Operation) -> Folded:
    condition, then, otherwise = op.operands
    if then is otherwise or (truth := truth_of(condition)):
        return then
    return otherwise if truth is False else None


def _condition(op: Operation) -> Folded:
    condition, then, otherwise = op.operands
    if tile(then.type).element_type == i1 and truth_of(then) and truth_of(otherwise) is False:
        return condition
    return None


def _selected_by_equality(op: Operation) -> Folded:
    """Fold `select(x == y, x, y)` to y, and `select(x != y, x, y)` to x."""
    owner, operands = op.operands[0].owner, op.operands[1:]
    if not isinstance(owner, Operation) or owner.name != "cuda_tile.cmpi":
        return None
    predicate: Any = owner.properties["comparison_predicate"]
    if {*owner.operands} != {*operands}:
        return None
    match predicate.data:
        case ComparisonPredicate.EQUAL:
            return operands[1]
        case ComparisonPredicate.NOT_EQUAL:
            return operands[0]
        case _:
            return None


_RULES: Mapping[str, Sequence[Callable[[Operation], Folded]]] = {
    "assume": (_same_assumption,),
    "broadcast": (_reshaped,),
    "constant": (_constant,),
    "reshape": (_reshaped,),
    "select": (_selected, _condition, _selected_by_equality),
}
"""What is tried before functions, by the name of the operation."""
