"""The elements of small integer tensors as symbolic sizes: how operations compute shapes.

Followed are i64 and i1 tensors of rank 0 and 1, through the operations that exporters write between
the shape of one tensor and the shape operand of another. Sizes in i32 are not: they may wrap. The
arithmetic of sizes in i64 is taken not to overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import Any, TypeAlias

from xdsl.dialects.builtin import i1, i64
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.numbers import (
    PYTHON,
    Condition,
    Number,
    as_number,
    as_size,
    at_least,
    equal,
    less,
    maximum,
    minimum,
    product,
)
from ...dialects.relax.constant import ConstantOp, FullOp, constant_integers
from ...dialects.relax.data.concatenation import ConcatenateOp, StackOp
from ...dialects.relax.data.creation import ShapeOfOp, SizeOfOp
from ...dialects.relax.data.indexing import StridedSliceOp, TakeOp
from ...dialects.relax.data.manipulation import BroadcastToOp
from ...dialects.relax.dimensions import Facts, dimensions_of
from ...dialects.relax.dynamic.computation import DynamicFullOp
from ...dialects.relax.dynamic.data_movement import (
    DynamicBroadcastToOp,
    DynamicExpandDimsOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicSqueezeOp,
)
from ...dialects.relax.elementwise.binary import (
    AddOp,
    DivideOp,
    EqualOp,
    FloorDivideOp,
    FloorModOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    MaximumOp,
    MinimumOp,
    ModOp,
    MultiplyOp,
    NotEqualOp,
    SubtractOp,
)
from ...dialects.relax.elementwise.elementwise import AstypeOp, WhereOp
from ...dialects.relax.graph import MatchCastOp
from ...dialects.relax.interfaces import View
from ...dialects.relax.reduction.reduction import ProdOp, SumOp
from ...dialects.relax.types import is_integer, is_ranked, is_tensor, static_shape, tensor_type
from ...dialects.sizes import Size
from ...passmanager.ir.per_class import PerClass

Elements: TypeAlias = "tuple[Size | None, ...]"
Rule: TypeAlias = "Callable[[Any, Facts], Sequence[Size | None] | None]"

MAX_ELEMENTS = 64
"""The most elements of a tensor that are followed."""


def computed_elements(op: Operation, facts: Facts) -> Elements | None:
    """Return the elements of the result of `op`; None if none is known."""
    if (rule := _rule_of[type(op)]) is None or not _is_followed(op.results[0]):
        return None
    try:
        elements = rule(op, facts)
    except VerifyException:  # invalid properties, which the verifier reports
        return None
    if elements is None or len(elements) > MAX_ELEMENTS:
        return None
    shape = static_shape(op.results[0].type)
    # Nothing is inferred from a contradiction between the type and the elements.
    if shape is not None and (shape[0] if shape else 1) != len(elements):
        return None
    return (*elements,) if any(element is not None for element in elements) else None


def _is_followed(value: SSAValue) -> bool:
    type = value.type
    if not is_tensor(type):
        return False
    vector = not is_ranked(type) or type.get_num_dims() <= 1
    if vector and prod(static_shape(type) or ()) > MAX_ELEMENTS:
        return False
    return vector and (type.element_type == i64 or type.element_type == i1)


def _elements(value: SSAValue, facts: Facts) -> Sequence[Size | None] | None:
    """Return the elements of an operand. A constant may also have another integer type."""
    if (known := facts.elements_of(value)) is not None:
        return known
    return _constant(value)


def _constant(value: SSAValue) -> Sequence[Size] | None:
    shape = static_shape(value.type)
    if shape is None or len(shape) > 1 or (shape and shape[0] > MAX_ELEMENTS):
        return None
    if not is_tensor(value.type) or not is_integer(value.type.element_type):
        return None
    numbers = constant_integers(value)
    if numbers is not None and value.type.element_type == i1:
        numbers = [number != 0 for number in numbers]
    return None if numbers is None else [Size.of(int(number)) for number in numbers]


# Sources


def _literal(op: ConstantOp | FullOp, facts: Facts) -> Sequence[Size] | None:
    return _constant(op.results[0])


def _shape_of(op: ShapeOfOp, facts: Facts) -> Sequence[Size | None] | None:
    shape = dimensions_of(facts, op.data)
    return None if shape is None else [*map(as_size, shape)]


def _size_of(op: SizeOfOp, facts: Facts) -> Sequence[Size | None] | None:
    shape = dimensions_of(facts, op.data)
    return None if shape is None else [as_size(product(shape))]


# Moving elements


def _same(op: Operation, facts: Facts) -> Sequence[Size | None] | None:
    """Return the elements of the first operand in the same order."""
    return _elements(op.operands[0], facts)


def _astype(op: AstypeOp, facts: Facts) -> Sequence[Size | None] | None:
    source = op.input.type
    # A float on the way, as of `Cast(float)`, `Mul`, `Floor`, `Cast(int64)`, ends the trace: it
    # rounds.
    if not is_tensor(source) or not is_integer(source.element_type) or op.dtype != i64:
        return None
    return _elements(op.input, facts)


def _take(op: TakeOp, facts: Facts) -> Sequence[Size | None] | None:
    elements, places = _elements(op.x, facts), _constant(op.indices)
    if elements is None or places is None:
        return None
    return [_taken(elements, place.known, op.mode) for place in places]


def _taken(elements: Sequence[Size | None], place: int | None, mode: str) -> Size | None:
    if place is None or not -len(elements) <= place < len(elements):
        return None
    # The mode "clip" takes element 0 for a negative index, others count from the end.
    return elements[place] if place >= 0 or mode in ("raise", "wrap") else None


def _slice(op: StridedSliceOp, facts: Facts) -> Sequence[Size | None] | None:
    if (elements := _elements(op.data, facts)) is None:
        return None
    for part in op.slices(1).values():
        elements = elements[part]
    return elements


def _concatenate(op: ConcatenateOp | StackOp, facts: Facts) -> Sequence[Size | None] | None:
    elements: list[Size | None] = []
    for tensor in op.tensors:
        if (known := _elements(tensor, facts)) is None:
            shape = static_shape(tensor.type)
            if shape is None or len(shape) > 1 or prod(shape) > MAX_ELEMENTS:
                return None
            # One unknown operand leaves the elements of the others in their places.
            known = [None] * (shape[0] if shape else 1)
        elements += known
    return elements


def _repeated(op: Operation, facts: Facts) -> Sequence[Size | None] | None:
    """Return the one element of the operand as often as the result has elements."""
    elements, shape = _elements(op.operands[0], facts), dimensions_of(facts, op.results[0])
    if isinstance(op, DynamicFullOp | DynamicBroadcastToOp | DynamicExpandOp):
        shape = facts.elements_of(op.operands[1])
    if elements is None or shape is None or len(shape) != 1 or shape[0] is None:
        return None
    number = as_number(shape[0]) if isinstance(shape[0], Size) else shape[0]
    if not isinstance(number, int) or not 0 <= number <= MAX_ELEMENTS:
        return None
    if len(elements) == number:
        return elements
    return [*elements] * number if len(elements) == 1 else None


# Arithmetic

Function: TypeAlias = "Callable[[Number, Number], Number | None]"


def _divided(a: Number, b: Number) -> Number | None:
    """Return the quotient; None unless rounding down and rounding toward zero are known to
    agree."""
    # Rounding modes of ONNX `Div` (to 0) and Python's `//` (down) differ for negative numbers.
    return a // b if isinstance(b, int) and b > 0 and at_least(a, 0) else None


def _remainder(a: Number, b: Number) -> Number | None:
    whole = _divided(a, b)
    return None if whole is None else a - whole * b


def _at_least(a: Number, b: Number) -> Condition:
    return less(b, a + 1)


def _differ(a: Number, b: Number) -> bool | None:
    same = equal(a, b)
    return not same if isinstance(same, bool) else None


_FUNCTIONS: dict[type[Operation], Function] = {
    AddOp: PYTHON["add"],
    DivideOp: _divided,
    EqualOp: equal,
    FloorDivideOp: _divided,
    FloorModOp: _remainder,
    GreaterEqualOp: _at_least,
    GreaterOp: lambda a, b: less(b, a),
    LessEqualOp: lambda a, b: _at_least(b, a),
    LessOp: less,
    MaximumOp: maximum,
    MinimumOp: minimum,
    ModOp: _remainder,
    MultiplyOp: PYTHON["mul"],
    NotEqualOp: _differ,
    SubtractOp: PYTHON["sub"],
}


def _binary(op: Operation, facts: Facts) -> Sequence[Size | None] | None:
    """Return the result of an element-wise function of two vectors of i64."""
    types = [value.type for value in op.operands]
    if any(not is_tensor(type) or type.element_type != i64 for type in types):
        return None
    columns = _aligned(_elements(value, facts) for value in op.operands)
    function = _FUNCTIONS[type(op)]
    if columns is None:
        return None
    return [
        None if a is None or b is None else as_size(function(as_number(a), as_number(b)))
        for a, b in columns
    ]


def _where(op: WhereOp, facts: Facts) -> Sequence[Size | None] | None:
    columns = _aligned(_elements(value, facts) for value in op.operands)
    return None if columns is None else [_chosen(*column) for column in columns]


def _chosen(condition: Size | None, a: Size | None, b: Size | None) -> Size | None:
    if a == b:
        return a
    # `Where(shape == -1, a, shape)` of exported broadcasts: equal branches need no condition.
    truth = None if condition is None else condition.known
    return None if truth is None else a if truth else b


def _aligned(
    operands: Iterable[Sequence[Size | None] | None],
) -> list[tuple[Size | None, ...]] | None:
    """Return the elements of vectors side by side, single elements repeated; None if one is
    unknown or their numbers differ."""
    rows: list[Sequence[Size | None]] = []
    for elements in operands:
        if elements is None:
            return None
        rows.append(elements)
    number = max(map(len, rows), default=0)
    if any(len(row) not in (1, number) for row in rows):
        return None
    return [*zip(*([*row] * (number if len(row) == 1 else 1) for row in rows), strict=True)]


def _reduced(
    op: ProdOp | SumOp, facts: Facts, function: Callable[[Iterable[Number]], Number]
) -> Sequence[Size | None] | None:
    elements = _elements(op.input, facts)
    # No axes at all would reduce nothing. Such an identity is rare, and left out.
    if elements is None or op.axis == () or tensor_type(op.result).element_type != i64:
        return None
    known = [as_number(element) for element in elements if element is not None]
    return [as_size(function(known))] if len(known) == len(elements) else None


_RULES: Sequence[tuple[type[Operation] | tuple[type[Operation], ...], Rule]] = (
    (tuple(_FUNCTIONS), _binary),
    (
        (
            CastOp,
            DynamicExpandDimsOp,
            DynamicReshapeOp,
            DynamicSqueezeOp,
            MatchCastOp,
            View,
        ),
        _same,
    ),
    (AstypeOp, _astype),
    ((BroadcastToOp, DynamicBroadcastToOp, DynamicExpandOp, DynamicFullOp), _repeated),
    ((ConcatenateOp, StackOp), _concatenate),
    ((ConstantOp, FullOp), _literal),
    (ProdOp, partial(_reduced, function=product)),
    (ShapeOfOp, _shape_of),
    (SizeOfOp, _size_of),
    (StridedSliceOp, _slice),
    (SumOp, partial(_reduced, function=sum)),
    (TakeOp, _take),
    (WhereOp, _where),
)


def _find_rule(cls: type[Operation]) -> Rule | None:
    return next((rule for classes, rule in _RULES if issubclass(cls, classes)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)
