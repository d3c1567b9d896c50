"""The inputs on which a function is checked, with its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ....dialects.relax.base import TensorOp
from ....dialects.relax.elementwise.quantization import QuantizeOp, RequantizeOp
from ....dialects.relax.interfaces import FusionKind, FusionPattern
from ....dialects.relax.reduction.normalization import BatchNormOp
from ....passes.generic.analysis.call_graph import CallGraph
from ....passmanager.errors import PasslineError
from ....passmanager.ir.walk import walk
from ..signature import Function, Value
from .comparison import Compared
from .constants import Number, numbers_in
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
    Recipe,
    around_constants,
    elements_in,
    generate,
    has_floats,
    probes,
    variations,
)

__all__ = ["Sample", "Sampler", "reason_of"]

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
        """Those of them that were not accepted, each with the reason."""

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
