"""The evaluation of a function within a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, BFloat16Type, ModuleOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, Operation

from ....dialects.relax.dynamic.base import DynamicOp
from ....dialects.relax.types import is_ranked
from ....passmanager.errors import PasslineError
from ..interpret import NoSemanticsError, interpret
from ..signature import Function, Value, input_types, result_buffers
from .observations import Effect, EffectRecorder, Squashing
from .undefined import Undefined, UndefinedBehaviour
from .values import flat_values, normalized

__all__ = [
    "ELEMENTS_PER_STEP",
    "MAX_STEPS",
    "Evaluated",
    "NoResults",
    "NotEvaluable",
    "Outcome",
    "RefusedArguments",
    "TooLarge",
    "evaluate",
    "fit_arguments",
]

MAX_STEPS = 1 << 16
"""The default budget of a function, for all inputs together."""
ELEMENTS_PER_STEP = 4096
"""The elements of tensors that cost as much as an operation."""
MAX_DEPTH = 64
"""The nested calls and loops of an evaluation, each of which takes a dozen frames of Python."""


@dataclass(frozen=True)
class Evaluated:
    """The results of a function; the budget that they took."""

    results: tuple[Value, ...]
    steps: int
    effects: tuple[Effect, ...] = ()
    squashes: bool = False
    """Whether a number that is not finite became a finite one on the way."""


@dataclass(frozen=True)
class NoResults:
    """The reason why an evaluation has no results; the budget that it took."""

    reason: str
    steps: int = 0


class RefusedArguments(NoResults):
    """The program does not accept the arguments, such as an index out of range."""


class NotEvaluable(NoResults):
    """The function cannot be evaluated on any arguments."""


class TooLarge(NoResults):
    """The evaluation took more steps than allowed, or calls are nested too deeply."""


Outcome: TypeAlias = Evaluated | NoResults


class OverBudget(BaseException):
    """The end of an evaluation that takes too many steps or nested calls, as the message says.

    Not an Exception: xDSL's interpreter would print the module into the message of each one, at
    each nested region.
    """


class UnsupportedEvaluation(BaseException):
    """The end of an evaluation that numpy cannot do; no Exception for the same reason."""


def evaluate(
    module: ModuleOp,
    func: Function,
    arguments: Sequence[Value],
    ctx: Context,
    max_steps: int = MAX_STEPS,
    listeners: Sequence[Interpreter.Listener] = (),
    poison: bool = True,
) -> Outcome:
    """Run `func` on arguments of its types.

    Undefined behaviour is refused; without `poison`, only what is undefined even if the result is
    not used.
    """
    budget = Budget(max_steps)
    effects, squashing = EffectRecorder(), Squashing()
    own = (budget, UndefinedBehaviour(poison), effects, squashing)
    try:
        with np.errstate(all="ignore"):
            results = interpret(module, func, ctx, (*own, *listeners))(*arguments)
    except OverBudget as error:
        return TooLarge(str(error), budget.steps)
    except UnsupportedEvaluation as error:
        return NotEvaluable(str(error))
    except Undefined as error:
        return RefusedArguments(f"undefined behaviour: {error}", budget.steps)
    except NoSemanticsError as error:
        return NotEvaluable(f"no semantics for '{error.op_name}'")
    except PasslineError as error:
        return RefusedArguments(str(error), budget.steps)
    except MemoryError:
        return TooLarge("out of memory", budget.steps)
    types = func.function_type.outputs.data or [
        func.function_type.inputs.data[i] for i in result_buffers(func)
    ]
    values = tuple(map(normalized, types, results))
    return Evaluated(values, budget.steps, tuple(effects.found), squashing.found)


def fit_arguments(func: Function, arguments: Sequence[Value]) -> Sequence[Value]:
    """Return the arguments for `func`; the lowering makes parameters of the elements of tuples."""
    if len(input_types(func)) == len(arguments):
        return arguments
    return flat_values(arguments)


class Budget(Interpreter.Listener):
    """A listener that ends an evaluation that takes too many steps, before it takes them."""

    def __init__(self, max_steps: int) -> None:
        self.steps = 0
        self._max = max_steps
        self._depth = 0
        self._created: dict[int, int] = {}
        """Identity of an operation -> the elements of its results, where its types tell."""

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        if (created := self._created.get(id(op))) is None:
            created = self._created_by(op, args)
        self.steps += 1 + _size(args) // ELEMENTS_PER_STEP
        if self.steps + created // ELEMENTS_PER_STEP > self._max:
            raise OverBudget(f"more than {self._max} steps")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise OverBudget(f"more than {MAX_DEPTH} nested calls and loops")

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        self.steps += _size(results) // ELEMENTS_PER_STEP
        self._depth -= 1

    def _created_by(self, op: Operation, args: PythonValues) -> int:
        """Return the number of elements of the results as far as the types say; those of an
        operation with sizes as operands from their values."""
        if isinstance(op, memref.ViewOp) and isinstance(op.result.type.element_type, BFloat16Type):
            raise UnsupportedEvaluation("a view of bytes as bf16, which takes four bytes in numpy")
        if isinstance(op, DynamicOp):
            return _elements(_types_at_run_time(op, args) or op.result_types)
        return self._created.setdefault(id(op), _elements(op.result_types))


def _size(values: PythonValues) -> int:
    """Return the number of elements of the arrays in `values`."""
    size = 0
    for value in values:
        if isinstance(value, np.ndarray):
            size += value.size
    return size


def _elements(types: Sequence[Attribute]) -> int:
    """Return the number of elements of the types, without those of unknown size."""
    return sum(
        math.prod(0 if size == DYNAMIC_INDEX else size for size in type.get_shape())
        for type in types
        if is_ranked(type)
    )


def _types_at_run_time(op: DynamicOp, args: PythonValues) -> Sequence[Attribute] | None:
    """Return the result types of the static operation, None if there is none: the semantics then
    say why."""
    try:
        values = [array.ravel().tolist() for array in args[op.INPUTS :]]
        static = op.static_for([array.shape for array in args[: op.INPUTS]], values)
    except Exception:  # invalid parameters: anything may be raised
        return None
    return None if static is None else static.result_types
