"""Observations of evaluations, and their comparison: bit for bit, or within a bound."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np
from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    TupleType,
    UnrankedMemRefType,
)
from xdsl.dialects.cf import AssertOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator, SymbolUserOpInterface
from xdsl.utils.type import get_element_type_or_self

from ....dialects.relax.types import is_number
from ....dialects.tir.ops import AssumeOp
from ....passmanager.ir.effects import UNKNOWN, WRITES, class_effects
from ....passmanager.ir.per_class import PerClass
from ....passmanager.names import Change, Rounding
from ..arrays import Array, fit
from ..signature import Value

# Values of the interpreter: tuples as lists of arrays, and the form that depends on the type
# alone.


def is_tuple(value: Value) -> TypeIs[tuple[Value, ...]]:
    """Return whether `value` is a tuple."""
    return isinstance(value, tuple)


def is_function(value: Value) -> TypeIs[Callable[..., object]]:
    """Return whether `value` is a function, which cannot be compared."""
    return callable(value)


def flat_values(values: Sequence[Value]) -> list[Value]:
    """Return the arrays and functions in `values`: tuples are replaced by their elements, as
    the lowering does for parameters and results."""
    flat: list[Value] = []
    for value in values:
        flat += flat_values(value) if is_tuple(value) else [value]
    return flat


def named_arrays(name: str, value: Value) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a value, those of a tuple as `name.0`, `name.1`, ..."""
    if is_tuple(value):
        for i, element in enumerate(value):
            yield from named_arrays(f"{name}.{i}", element)
    elif not is_function(value):
        yield name, value


def normalized(type: Attribute, value: Value) -> Value:
    """Return a value in a form that depends on its type alone: in the interpreter, a scalar of i1
    may be 1, -1 or True."""
    if is_tuple(value):
        types = type.types.data if isinstance(type, TupleType) else [type] * len(value)
        return tuple(map(normalized, types, value))
    if is_function(value):
        return value
    element = get_element_type_or_self(type)
    array: Array = np.asarray(value)
    return fit(array, element) if is_number(element) else array


# The comparison of results: bit for bit, or within a bound; NaN equals NaN.


EXACT = 0.0
"""The tolerance with which floats are compared bit for bit, up to the payload of NaN."""


Compared: TypeAlias = Literal["values", "steps", "finite", "shapes"]
"""How floats are compared that may be rounded in other places: by value, by value up to a few steps
of a quantization, by whether finite ones stay finite, or by shape and element type alone."""

STEPS = 4
"""The steps by which 8-bit and 16-bit integers may differ where floats are quantized: a number that
is rounded the other way changes some numbers of the next layer, and so on."""


def tolerance(epsilon: float, units: int = Rounding.units) -> float:
    """Return the relative bound for results if an operation may be rounded in another place, by
    `units` in the last place. `epsilon` is the distance from 1 to the next number. For 16 units,
    the bound is 1e-4 for f32, 1.5e-10 for f64 and 4e-2 for f16.

    A unit may grow by `epsilon^(-1/3) / 4` in the operations after it, 51 in f32.
    """
    return units / 4 * epsilon ** (2 / 3)


@dataclass(frozen=True)
class Comparison:
    """The differences that are allowed between a value and the same one after a transformation.

    Integers are compared exactly, floats bit for bit up to NaN if `bound` is 0. Otherwise finite
    floats may differ by `bound` of their magnitude, and of the maximum of the finite ones in the
    array. NaN stays NaN, and an infinity stays an infinity, except for the `changes` that are
    allowed: in another order, there may be a NaN by `0 * inf` or `inf - inf`.

    With a bound, `compared` restricts this. "finite" allows any difference, as intermediate results
    may lose all their digits, but a finite number must not become infinite or NaN. A number that is
    within `bound` of the maximum of the type may, by rounding. "steps" allows narrow integers to
    differ by `STEPS`, and floats by `STEPS / 64` of the maximum. "shapes" compares only shapes and
    element types. Functions are not compared.
    """

    bound: float = EXACT
    compared: Compared = "values"
    changes: Collection[Change] = Rounding.changes

    def mismatch(self, before: Value, after: Value) -> str | None:
        """Return in words how two values differ, or None if they are equal."""
        if is_tuple(before) or is_tuple(after):
            return self.mismatch_in(flat_values([before]), flat_values([after]))
        if is_function(before) or is_function(after):
            same = is_function(before) == is_function(after)
            return None if same else "one value is a function, the other is not"
        return _mismatch_of_arrays(before, after, self)

    def mismatch_in(self, before: Sequence[Value], after: Sequence[Value]) -> str | None:
        """Return in words how two lists of values differ, or None."""
        if len(before) != len(after):
            return f"there are {len(after)} values, before {len(before)}"
        for i, (old, new) in enumerate(zip(before, after)):
            if (text := self.mismatch(old, new)) is not None:
                return text if len(before) == 1 else f"of value {i}, {text}"
        return None


def _mismatch_of_arrays(before: Array, after: Array, comparison: Comparison) -> str | None:
    bound, compared = comparison.bound, comparison.compared
    if before.shape != after.shape:
        return f"the shape is {_shape(after)}, before {_shape(before)}"
    if before.dtype != after.dtype:
        return f"the element type is {after.dtype}, before {before.dtype}"
    if before.tobytes() == after.tobytes():
        return None
    if bound and compared == "steps":
        wrong = ~_within_steps(before, after)
    elif bound and compared != "values" and before.dtype.kind == "f":
        if compared == "shapes":
            return None
        wrong = _loses_finite(before, after, bound)
    else:
        wrong = ~_equal(before, after, bound, comparison.changes)
    if not (count := int(np.count_nonzero(wrong))):
        return None
    index = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    place = f"element {list(index)} is" if index else "the value is"
    old, new = (_number(array[index]) for array in (before, after))
    more = f" ({count} of {wrong.size} differ)" if wrong.size > 1 else ""
    return f"{place} {new}, before {old}{more}"


def _equal(
    before: Array, after: Array, bound: float, changes: Collection[Change] = Rounding.changes
) -> Array:
    """Return which elements are equal, or changed as they may be."""
    if before.dtype.kind != "f":
        return np.asarray(before == after)
    nan = np.isnan(before) & np.isnan(after)
    bits = f"u{before.dtype.itemsize}"
    if not bound:
        same = np.ascontiguousarray(before).view(bits) == np.ascontiguousarray(after).view(bits)
        return np.asarray(nan | same.reshape(before.shape))
    with np.errstate(all="ignore"):
        finite = np.isfinite(before) & np.isfinite(after)
        a, b = (np.where(finite, x, 0).astype(np.float64) for x in (before, after))
        magnitude = np.maximum(np.abs(a), np.abs(b))
        close = np.abs(a - b) <= bound * (magnitude + np.max(magnitude, initial=0))
        if "sign of zero may change" not in changes:
            close &= (a != 0) | (b != 0) | (np.signbit(a) == np.signbit(b))
        allowed = [_kinds(change, before, after) for change in changes if change in _KINDS]
        same = nan | (finite & close) | (np.isinf(before) & (before == after))
        return np.logical_or.reduce([same, *allowed])


_KINDS = {
    "infinite may become finite": (np.isinf, np.isfinite),
    "infinite may become NaN": (np.isinf, np.isnan),
    "NaN may become infinite": (np.isnan, np.isinf),
    "finite may become infinite": (np.isfinite, np.isinf),
    "finite may become NaN": (np.isfinite, np.isnan),
}
"""Change -> what an element is before and after it."""


def _kinds(change: Change, before: Array, after: Array) -> Array:
    """Return which elements change in the way that `change` says."""
    old, new = _KINDS[change]
    return np.asarray(old(before) & new(after))


def _within_steps(before: Array, after: Array) -> Array:
    """Return which elements are equal up to a few steps of a quantization."""
    if before.dtype.kind == "f":
        return _equal(before, after, STEPS / 64)
    if before.dtype.itemsize > 2 or before.dtype.kind not in "iu":
        return np.asarray(before == after)
    return np.asarray(np.abs(before.astype(np.int32) - after.astype(np.int32)) <= STEPS)


def _loses_finite(before: Array, after: Array, bound: float) -> Array:
    """Return which elements are finite before, even without rounding, and not finite after."""
    finite = np.abs(before) <= float(np.finfo(before.dtype).max) * (1 - bound)
    return np.asarray(finite & ~np.isfinite(after))


def _shape(array: Array) -> str:
    return "x".join(map(str, array.shape)) or "that of a scalar"


def _number(value: object) -> str:
    """Return a number with all digits that tell it from its neighbours."""
    return str(cast("np.generic", value))


# Observations of an evaluation besides its results: side effects in their order, and whether an
# infinity or NaN was lost in a finite result.


@dataclass(frozen=True)
class Effect:
    """One side effect of a program: an operation, and the values of its operands."""

    text: str
    """The name and the properties of the operation."""
    values: tuple[Value, ...]


def _is_effect(op_class: type[Operation]) -> bool:
    """Return whether operations of a class may have side effects.

    Terminators and calls have none themselves. Neither have assertions and assumptions, which
    passes add and remove: an input for which one fails is refused.
    """
    if issubclass(op_class, AssertOp | AssumeOp):
        return False
    traits = (IsTerminator, SymbolUserOpInterface)
    if any(op_class.has_trait(trait, value_if_unregistered=False) for trait in traits):
        return False
    return bool(class_effects[op_class] & (UNKNOWN | WRITES))


_has_effects = PerClass[Operation, bool](_is_effect)
_NO_VALUES = (FunctionType, MemRefType, UnrankedMemRefType)
"""The types of operands that an operation calls or writes to."""


def _is_action(op: Operation) -> bool:
    """Return whether an operation has side effects, and its operands are all that can be observed
    of them."""
    if not _has_effects[type(op)] or op.results or op.regions:
        return False
    return not any(isinstance(type, _NO_VALUES) for type in op.operand_types)


class EffectRecorder(Interpreter.Listener):
    """A listener that records the side effects of a program, such as what `printf` prints."""

    def __init__(self) -> None:
        self.found: list[Effect] = []
        self._acts: dict[int, bool] = {}
        """Whether an operation has side effects, by id."""

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        if (acts := self._acts.get(id(op))) is None:
            acts = self._acts[id(op)] = _is_action(op)
        if not acts:
            return
        attributes = (op.properties | op.attributes).items()
        text = ", ".join([op.name, *(f"{name} = {value}" for name, value in attributes)])
        self.found.append(Effect(text, tuple(np.array(value) for value in args)))


def changed_effects(
    before: tuple[Effect, ...], after: tuple[Effect, ...], comparison: Comparison
) -> str | None:
    """Return in words how two lists of effects differ, or None."""
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        if old.text != new.text:
            return f"effect {number} is '{new.text}', before '{old.text}'"
        if (reason := comparison.mismatch_in(old.values, new.values)) is not None:
            return f"effect {number}, '{old.text}': {reason}"
    if len(before) > len(after):
        return f"the effect '{before[len(after)].text}' is missing"
    if len(before) < len(after):
        return f"the effect '{after[len(before)].text}' is new"
    return None


class Squashing(Interpreter.Listener):
    """A listener that notes whether an operation turned an intermediate infinity or NaN into a
    finite result, as `tanh(x * s)` does where the product is infinite.

    A pass that rounds may change which intermediate results are infinite: inf * 0 is NaN, but inf
    times a rounded 0 is not. The finite result does not show this. Only results that were computed
    from several floats are uncertain; an argument of the function, as in `relu(x)`, is not.
    """

    def __init__(self) -> None:
        self.found = False
        self._given: list[tuple[list[Array], bool]] = []
        """For each operation that runs: which elements of uncertain operands are not finite, and
        whether several operands are floats."""
        self._uncertain: dict[int, object] = {}
        """Values with an element that is not finite, by id. They stay alive."""
        self._integral: dict[int, bool] = {}
        """Whether all operands and results of an operation are integers, by id. Such operations
        are left out."""

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        if (integral := self._integral.get(id(op))) is None:
            integral = self._integral[id(op)] = _is_integral(op)
        if integral or self.found:
            return
        known = self._uncertain
        infinite = [~_finite(arg) for arg in args if id(arg) in known] if known else []
        self._given.append((infinite, sum(map(_has_floats, args)) > 1))

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if self._integral[id(op)] or self.found:
            return
        given, combines = self._given.pop()
        if not (given or combines):
            return
        finite = [*map(_finite, results)]
        self.found = any(_squashed(array, other) for array in given for other in finite)
        pairs = zip(results, finite, strict=True)
        self._uncertain |= {id(result): result for result, f in pairs if not f.all()}


def _is_integral(op: Operation) -> bool:
    """Return whether all operands and results of `op` are integers or indices."""
    return {*map(type, op.operand_types), *map(type, op.result_types)} <= _INTEGERS


_INTEGERS = {IndexType, IntegerType}


def _has_floats(value: object) -> bool:
    """Return whether a value is a float or an array with elements that are floats."""
    if isinstance(value, np.ndarray):
        array = cast(Array, value)
        return array.dtype.kind == "f" and array.size > 0
    return isinstance(value, np.floating)


_NONE = np.ones(0, bool)


def _finite(value: object) -> Array:
    """Return which elements of an array or number are finite; an empty array for integers."""
    return np.isfinite(np.asarray(cast(Array, value))) if _has_floats(value) else _NONE


def _squashed(infinite: Array, finite: Array) -> bool:
    """Return whether an element that was not finite is finite now. If the shapes differ, return
    whether all elements are finite now."""
    if infinite.shape == finite.shape:
        return bool((infinite & finite).any())
    return finite.size > 0 and bool(finite.all())
