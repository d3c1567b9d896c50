"""Observations of an evaluation besides its results: side effects in their order, and whether an
infinity or NaN was lost in a finite result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.dialects.cf import AssertOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation
from xdsl.traits import IsTerminator, SymbolUserOpInterface

from ....passmanager.ir.effects import UNKNOWN, WRITES, class_effects
from ....passmanager.ir.per_class import PerClass
from ..arrays import Array
from ..signature import Value
from .comparison import Comparison

__all__ = ["Effect", "EffectRecorder", "Squashing", "changed_effects"]


@dataclass(frozen=True)
class Effect:
    """One side effect of a program: an operation, and the values of its operands."""

    text: str
    """The name and the properties of the operation."""
    values: tuple[Value, ...]


def _is_effect(op_class: type[Operation]) -> bool:
    """Return whether operations of a class may have side effects.

    Terminators and calls have none themselves. Neither have assertions, which passes add and
    remove: an input for which one fails is refused.
    """
    if issubclass(op_class, AssertOp):
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
