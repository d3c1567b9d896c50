"""The evaluation of a function within a budget, with what is undefined in it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast, get_args

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, BFloat16Type, IntegerType, ModuleOp, UnitAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Attribute, Operation

from ....dialects.relax.dynamic.computation import DynamicOp
from ....dialects.relax.graph import MatchCastOp
from ....dialects.relax.shapes import merge
from ....dialects.relax.types import is_ranked
from ....passmanager.errors import PasslineError
from ....passmanager.ir.location import file_location, place_of
from ....passmanager.ir.walk import ancestors, name_of, symbol_of, walk
from ....passmanager.names import Rounding
from ..arrays import Array
from ..interpret import NoSemanticsError, interpret
from ..signature import Function, Value, input_types, result_buffers
from ..tir.table import element_type
from .comparison import Effect, EffectRecorder, Squashing, flat_values, normalized
from .inputs import Numbers

# The flags of operations that promise something, such as `nsw`, and those that a pass added.


_SETS = ("overflowFlags", "fastmath", "fastmathFlags")
"""The properties that are sets of flags."""
_UNITS = ("isExact", "isDisjoint", "nonNeg")
"""The properties that are flags."""
_ROUNDING = frozenset(
    {
        *(FastMathFlag.REASSOC, FastMathFlag.ALLOW_CONTRACT),
        *(FastMathFlag.ALLOW_RECIP, FastMathFlag.APPROX_FUNC),
    }
)
"""The flags that only allow rounding in another place."""


def added_flag(
    before: Iterable[Operation],
    after: Iterable[Operation],
    counterparts: Mapping[Operation, Operation],
    rounding: Rounding | None,
) -> tuple[str, str] | None:
    """Return the function and, in words, the flag that an operation of `after` has and its
    counterpart in `before` does not have; None if there is no such flag.

    The counterpart of an operation is the one in `counterparts`, or else the operations of its
    class with its location or name. An operation without a counterpart is not compared. A pass with
    a `rounding` may add flags that allow rounding.
    """
    ops = {op: flags for op in after if (flags := _flags_of(op))}
    if not ops:
        return None
    known: defaultdict[object, list[Operation]] = defaultdict(list)
    for op in before:
        for key in _keys(op):
            known[key].append(op)
    for op, flags in ops.items():
        olds = [counterparts[op]] if op in counterparts else _first(known, op)
        had = {flag for old in olds for flag in _flags_of(old)}
        if olds and (added := flags - had - _allowed(rounding)):
            names = ", ".join(sorted(getattr(flag, "value", str(flag)) for flag in added))
            reason = f"'{name_of(op)}'{place_of(op)} has the flag {names}, which it had not before"
            function = next((name for a in ancestors(op) if (name := symbol_of(a))), "")
            return function, reason
    return None


def free_numbers(functions: Iterable[Operation]) -> Collection[Numbers]:
    """Return the kinds of inputs for which fast-math flags in `functions` leave the results open:
    all kinds with `reassoc`, the special ones with `nnan` and `ninf`."""
    flags = {flag for top in functions for op in walk(top) for flag in _flags_of(op)}
    if FastMathFlag.REASSOC in flags:
        return get_args(Numbers)
    special = flags & {FastMathFlag.NO_NANS, FastMathFlag.NO_INFS}
    return ("special", "edge", "large") if special else ()


def _flags_of(op: Operation) -> set[object]:
    """Return the flags of an operation."""
    found: set[object] = set()
    for name in _SETS:
        if (attribute := op.properties.get(name)) is not None:
            found.update(cast("Iterable[object]", getattr(attribute, "data", ())))
    return found.union(n for n in _UNITS if isinstance(op.properties.get(n), UnitAttr))


def _allowed(rounding: Rounding | None) -> set[object]:
    """Return the flags that a pass may add."""
    if rounding is None:
        return set()
    signs = "sign of zero may change" in rounding.changes
    return {*_ROUNDING, *([FastMathFlag.NO_SIGNED_ZEROS] if signs else [])}


def _keys(op: Operation) -> Iterable[object]:
    """Yield the keys that tell an operation of a class from others: its location and its name."""
    if (place := file_location(op.location)) is not None:
        yield type(op), place
    if op.results and (hint := op.results[0].name_hint) is not None:
        yield type(op), hint


def _first(known: Mapping[object, list[Operation]], op: Operation) -> list[Operation]:
    """Return the operations that are in `known` under the first key of `op` that is there."""
    for key in _keys(op):
        if key in known:
            return known[key]
    return []


# Undefined behaviour of arithmetic and casts, for which the semantics have a result too.


class Undefined(BaseException):
    """The end of an evaluation with undefined behaviour.

    Not an Exception: xDSL's interpreter would print the module into the message of each one, at
    each nested region.
    """


class UndefinedBehaviour(Interpreter.Listener):
    """A listener that ends an evaluation at a division by zero or one that overflows.

    With `poison`, also at an overflow under `nsw` or `nuw`, at a shift by the width or more, and at
    a cast to a shape that the value does not have. Only a use of their result is undefined: a pass
    may add such operations if nothing uses the result.
    """

    def __init__(self, poison: bool) -> None:
        self._poison = poison

    def will_interpret_op(self, op: Operation, args: PythonValues) -> None:
        cls = type(op)
        if cls in DIVISIONS:
            if _is_undefined(op, args):
                raise Undefined(f"'{op.name}'{place_of(op)} divides by zero, or overflows")
        elif self._poison and (cls in EXACT or cls in SHIFTS) and _is_poison(op, args):
            raise Undefined(f"'{op.name}'{place_of(op)} overflows")
        elif self._poison and cls in CASTS and not _has_type(args[0], op.results[0].type):
            raise Undefined(f"'{op.name}'{place_of(op)} casts to another shape")


UNSIGNED = {arith.DivUIOp, arith.CeilDivUIOp, arith.RemUIOp}
DIVISIONS = UNSIGNED | {arith.DivSIOp, arith.FloorDivSIOp, arith.CeilDivSIOp, arith.RemSIOp}
SHIFTS = {arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp}
CASTS = {tensor.CastOp, MatchCastOp}
EXACT: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.ShLIOp: lambda a, b: a << b,
}


def _is_undefined(op: Operation, args: PythonValues) -> bool:
    """Return whether a division has no result."""
    width = _width(op)
    for a, b in _pairs(args):
        if b % (1 << width) == 0:
            return True
        if type(op) not in UNSIGNED and width > 1 and b == -1 and a == -(1 << width - 1):
            return True
    return False


def _is_poison(op: Operation, args: PythonValues) -> bool:
    """Return whether the result of an operation depends on an overflow that its flags exclude."""
    flags = op.properties.get("overflowFlags")
    data = flags.data if isinstance(flags, arith.IntegerOverflowAttr) else ()
    shifts = type(op) in SHIFTS
    if not data and not shifts:
        return False
    width = _width(op)
    for a, b in _pairs(args):
        if shifts and not 0 <= b < width:
            return True
        if not data:
            continue
        compute = EXACT[type(op)]
        half, whole = 1 << width - 1, 1 << width
        if arith.IntegerOverflowFlag.NSW in data and not -half <= compute(a, b) < half:
            return True
        if arith.IntegerOverflowFlag.NUW in data:
            b = b if shifts else b % whole
            if not 0 <= compute(a % whole, b) < whole:
                return True
    return False


def _has_type(value: object, type: Attribute) -> bool:
    """Return whether an array has the rank and the static dimensions of a type."""
    if not isinstance(value, np.ndarray) or not is_ranked(type):
        return True
    return merge(type.get_shape(), cast(Array, value).shape) is not None


def _width(op: Operation) -> int:
    """Return the bits of an element of the result; an index has 64."""
    element = element_type(op.results[0].type)
    return element.bitwidth if isinstance(element, IntegerType) else 64


def _pairs(args: PythonValues) -> list[tuple[int, int]]:
    """Return the pairs of elements of two integers or vectors."""
    lhs, rhs = (np.asarray(arg).ravel().tolist() for arg in args)
    return [(int(a), int(b)) for a, b in zip(lhs, rhs, strict=True)]


# The evaluation of a function within a budget.


MAX_STEPS = 1 << 16
"""The default budget of a function, for all inputs together."""
ELEMENTS_PER_STEP = 4096
"""The elements of tensors that cost as much as an operation."""
MAX_DEPTH = 64
"""The maximum depth of nested calls and loops. Each level takes a dozen frames of Python."""


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
    not used. Launches of tile blocks are checked for races.
    """
    budget = Budget(max_steps)
    effects, squashing = EffectRecorder(), Squashing()
    own = (budget, UndefinedBehaviour(poison), effects, squashing)
    try:
        with np.errstate(all="ignore"):
            run = interpret(module, func, ctx, (*own, *listeners), warn_of_launch=_ignore)
            results = run(*arguments)
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


def _ignore(warning: str) -> None:
    """Take a warning of the check of launches: a token too many changes no results."""


def fit_arguments(func: Function, arguments: Sequence[Value]) -> Sequence[Value]:
    """Return the arguments for `func`; the lowering makes parameters of the elements of tuples."""
    if len(input_types(func)) == len(arguments):
        return arguments
    return flat_values(arguments)


class Budget(Interpreter.Listener):
    """A listener that ends an evaluation before it takes too many steps."""

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
        """Return the number of elements of the results, as far as the types tell it. If an
        operation has sizes as operands, it is computed from their values."""
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
    """Return the result types of the static form of `op` for these arguments. None if it has no
    such form: the semantics then report why."""
    try:
        values = [array.ravel().tolist() for array in args[op.INPUTS :]]
        static = op.static_for([array.shape for array in args[: op.INPUTS]], values)
    except Exception:  # invalid parameters: anything may be raised
        return None
    return None if static is None else static.result_types
