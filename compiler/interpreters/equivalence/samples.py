"""The inputs on which a function is checked, with its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from ....dialects.relax.base import TensorOp
from ....dialects.relax.elementwise.quantization import QuantizeOp, RequantizeOp
from ....dialects.relax.interfaces import FusionKind, FusionPattern
from ....dialects.relax.reduction.normalization import BatchNormOp
from ....passes.generic.call_graph import CallGraph
from ....passmanager.errors import PasslineError
from ....passmanager.fast.clone import clone
from ....passmanager.ir.location import file_location, place_of
from ....passmanager.ir.walk import name_of, walk
from ..signature import Function, Value, is_buffer
from .comparison import Compared, Comparison, is_function, is_tuple, normalized
from .evaluation import (
    ELEMENTS_PER_STEP,
    Evaluated,
    NoResults,
    NotEvaluable,
    RefusedArguments,
    TooLarge,
    evaluate,
)
from .inputs import (
    SIZES,
    Number,
    Recipe,
    around_constants,
    elements_in,
    generate,
    has_floats,
    numbers_in,
    probes,
    variations,
)

MAX_PROBED = max(SIZES)
MAX_ELEMENTS = 1 << 16
"""The most elements of arguments whose unknown sizes are larger than `MAX_PROBED`."""


@dataclass(frozen=True)
class Sample:
    """Arguments of a function, and its results."""

    recipe: Recipe
    arguments: tuple[Value, ...]
    outcome: Evaluated
    range_is_free: bool = False
    """Whether a finite result may become infinite: the function sums up many elements, and an
    intermediate sum may overflow in one order of them and not in another."""
    quantizes: bool = False
    """Whether floats are rounded to integers: a small difference may become a whole step."""
    rounds_apart: bool = False
    """Whether floats are close to constants. Their difference has few exact digits, and a
    comparison may have another result: after a pass that rounds, the sample is not compared."""

    @property
    def compared(self) -> Compared:
        """The way in which results are compared after a pass that rounds."""
        if self.outcome.squashes:
            return "shapes"
        if self.recipe.numbers in ("ordinary", "special"):
            return "steps" if self.quantizes else "values"
        if self.quantizes:
            return "shapes"
        return "shapes" if self.range_is_free else "finite"


class Sampler:
    """A search for inputs that a function accepts, until a budget is spent.

    An input that the function refuses, as for an index out of range, is left out: a pass may define
    what is undefined.
    """

    def __init__(self, module: ModuleOp, func: Function, ctx: Context, max_steps: int) -> None:
        self._module, self._func, self._ctx = module, func, ctx
        self._left = max_steps
        self._sums = sums_elements(module)
        self._quantizes = quantizes(module)
        self._floats = any(has_floats(value.type) for op in walk(module) for value in op.results)
        self.numbers = numbers_in(CallGraph(module).reachable([func]))
        self.reason = ""
        """Why the first input was not accepted."""
        self.tried = 0
        """The number of inputs after the first one that was accepted."""
        self.left_out: list[str] = []
        """The inputs among these that were not accepted, each with the reason."""

    def samples(self, seeds: int) -> Iterator[Sample]:
        """Yield inputs: an ordinary one that the function accepts, and variations of it."""
        for seed in range(seeds):
            if (base := self._first_accepted(seed)) is None:
                return
            yield base
            others = variations(self._func, base.recipe)
            constant = around_constants(self._func, base.recipe, self.numbers)
            for recipe in chain(islice(others, 4), constant, others):
                if self._left < base.outcome.steps:
                    return
                if recipe.numbers == "large" and self._sums:
                    continue  # only shapes would be compared
                yield from self._accepted(recipe)

    def _accepted(self, recipe: Recipe) -> Iterator[Sample]:
        """Yield the input if the function accepts it; note it if not."""
        outcome = self._try(recipe)
        self.tried += 1
        if isinstance(outcome, Sample):
            yield outcome
        elif not isinstance(outcome, TooLarge):
            self.left_out.append(f"{recipe.text}: {outcome.reason}")

    def _first_accepted(self, seed: int) -> Sample | None:
        for recipe in probes(self._func, seed):
            outcome = self._try(recipe)
            if isinstance(outcome, Sample):
                return outcome
            self.reason = self.reason or reason_of(outcome)
            if isinstance(outcome, NotEvaluable) or self._left <= 0:
                break
        return None

    def of_sizes(self, base: Recipe, sizes: Sequence[int]) -> Iterator[Sample]:
        """Yield ordinary inputs of further sizes."""
        return self._more(replace(base, size=size) for size in sizes)

    def of_constants(self, base: Recipe, numbers: Sequence[Number]) -> Iterator[Sample]:
        """Yield inputs around further constants."""
        return self._more(around_constants(self._func, base, numbers))

    def _more(self, recipes: Iterable[Recipe]) -> Iterator[Sample]:
        for recipe in recipes:
            if self._left > 0 and isinstance(sample := self._try(recipe), Sample):
                yield sample

    def _try(self, recipe: Recipe) -> Sample | NoResults:
        elements = elements_in(self._func, recipe)
        if recipe.size > MAX_PROBED and elements > MAX_ELEMENTS:
            return TooLarge(f"its arguments have more than {MAX_ELEMENTS} elements")
        if elements > self._left * ELEMENTS_PER_STEP:
            return TooLarge(f"its arguments alone take more than {self._left} steps")
        try:
            arguments = generate(self._func, recipe)
        except PasslineError as error:
            return NotEvaluable(str(error))
        outcome = evaluate(self._module, self._func, arguments, self._ctx, self._left)
        self._left -= outcome.steps
        if isinstance(outcome, Evaluated):
            apart = self._floats and recipe.numbers == "constant"
            return Sample(recipe, arguments, outcome, self._sums, self._quantizes, apart)
        return outcome


def reason_of(outcome: NoResults) -> str:
    """Return the reason why a function has no result, for messages."""
    match outcome:
        case RefusedArguments():
            return f"every input is refused: {outcome.reason}"
        case TooLarge():
            return f"too large ({outcome.reason})"
        case _:
            return outcome.reason


def quantizes(module: ModuleOp) -> bool:
    """Return whether an operation of `module` quantizes floats or sums of products."""
    return any(isinstance(op, QuantizeOp | RequantizeOp) for op in walk(module))


def sums_elements(module: ModuleOp) -> bool:
    """Return whether an operation of `module` may combine many elements into one: loops, and
    operations on tensors that are not known to be element-wise or to move elements only."""
    return any(map(_may_sum, walk(module)))


def _may_sum(op: Operation) -> bool:
    if isinstance(op, BatchNormOp):
        return False  # element-wise at inference; its kind says which operations fuse with it
    if isinstance(op, FusionPattern):
        kind = op.fusion_kind()
        return kind is not FusionKind.TUPLE and kind > FusionKind.INJECTIVE
    return isinstance(op, TensorOp) or (bool(op.regions) and not isinstance(op, FuncOp | ModuleOp))


# The values of all operations of two evaluations, and the first operation whose value differs.


class ModuleVersion:
    """A copy of a module at one time; `counterparts` has the copy of each of its operations."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = clone(module)
        self.counterparts = dict(zip(walk(module), walk(self.module), strict=True))


class Trace(Interpreter.Listener):
    """A listener that keeps the values of each operation, one item for each execution.

    Operations whose results are buffers are left out: what a buffer holds changes later.
    """

    def __init__(self) -> None:
        self.values: dict[Operation, list[tuple[Value, ...]]] = {}

    def did_interpret_op(self, op: Operation, results: PythonValues) -> None:
        if op.results and not any(is_buffer(result.type) for result in op.results):
            values = tuple(normalized(r.type, v) for r, v in zip(op.results, results))
            self.values.setdefault(op, []).append(values)


def trace(
    module: ModuleOp, func: Function, arguments: Sequence[Value], ctx: Context, max_steps: int
) -> Trace:
    """Evaluate a function once more, and return the values of all operations."""
    values = Trace()
    evaluate(module, func, arguments, ctx, max_steps, (values,), poison=False)
    return values


def describe_first_difference(
    before: Trace,
    after: Trace,
    counterparts: Mapping[Operation, Operation],
    comparison: Comparison,
) -> str:
    """Describe the first operation of `after` whose value differs from its counterpart's in
    `before`.

    The counterpart of an operation is the one in `counterparts` (operation after -> before), else
    the one with its location, else the one whose result has its name. An operation is not compared
    if it has no counterpart, or if the two differ in the number of executions, or in the shapes and
    types of the values.
    """
    matches = _matches(before, after, counterparts)
    unmatched = 0
    for op, values in after.values.items():
        other = matches.get(op)
        old = before.values.get(other) if other is not None else None
        if other is None or old is None or not _comparable(old, values):
            unmatched += 1
            continue
        for number, (a, b) in enumerate(zip(old, values), 1):
            if (text := comparison.mismatch_in(a, b)) is not None:
                at = f" in execution {number} of {len(values)}" if len(values) > 1 else ""
                since = "" if name_of(op) == name_of(other) else f", where '{name_of(other)}' was"
                rest = f"; not compared before it: {unmatched}" if unmatched else ""
                return (
                    f"the first operation whose value differs is '{name_of(op)}'{place_of(op)}"
                    f"{since}{at}: {text}{rest}"
                )
    total = len(after.values)
    if not (found := total - unmatched):
        return "the first operation that differs is not known: none has a counterpart before"
    return (
        "the first operation that differs is not known: "
        f"{found} of {total} operations have a counterpart before, with the same value"
    )


def _comparable(before: Sequence[tuple[Value, ...]], after: Sequence[tuple[Value, ...]]) -> bool:
    """Return whether two operations ran equally often, with values of the same shapes and types."""
    return [[*map(_kind, v)] for v in before] == [[*map(_kind, v)] for v in after]


def _kind(value: Value) -> object:
    if is_tuple(value):
        return tuple(map(_kind, value))
    if is_function(value):
        return "function"
    array = np.asarray(value)
    return array.shape, array.dtype.str


def _matches(
    before: Trace, after: Trace, counterparts: Mapping[Operation, Operation]
) -> dict[Operation, Operation]:
    """Return the counterpart of each operation after, if it has one."""
    matches = {op: counterparts[op] for op in after.values if op in counterparts}
    taken = set(matches.values())
    for key in (_place, _hint):
        olds = _last_by(key, (op for op in before.values if op not in taken))
        news = _last_by(key, (op for op in after.values if op not in matches))
        for name, op in news.items():
            if name in olds:
                matches[op] = olds[name]
                taken.add(olds[name])
    return matches


def _last_by(
    key: Callable[[Operation], object], ops: Iterable[Operation]
) -> dict[object, Operation]:
    """Return the last of the operations with each key.

    The operations that an operation was decomposed into all have its location: the last one
    computes its result.
    """
    return {name: op for op in ops if (name := key(op)) is not None}


def _place(op: Operation) -> object:
    """Return the location of `op` in a file, or None."""
    return file_location(op.location)


def _hint(op: Operation) -> object:
    """Return the name of the first result in the text, or None."""
    return op.results[0].name_hint
