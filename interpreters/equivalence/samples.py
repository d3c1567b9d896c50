"""The inputs on which a function is checked, with its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...dialects.relax.base import TensorOp
from ...dialects.relax.elementwise.quantization import QuantizeOp, RequantizeOp
from ...dialects.relax.interfaces import FusionKind, FusionPattern
from ...dialects.relax.reduction.normalization import BatchNormOp
from ...passmanager.errors import PasslineError
from ...passmanager.ir.walk import walk
from ..signature import Function, Value
from .comparison import Compared
from .evaluation import (
    ELEMENTS_PER_STEP,
    Evaluated,
    NotEvaluable,
    Outcome,
    Refused,
    TooLarge,
    evaluate,
)
from .inputs import SIZES, Recipe, elements_in, generate, probes, variations

__all__ = ["Sample", "Sampler", "reason_of"]

MOST_PROBED = max(SIZES)
MOST_ELEMENTS = 1 << 16
"""The most elements of arguments whose unknown sizes are larger than `MOST_PROBED`."""


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

    @property
    def compared(self) -> Compared:
        """The property of results that is compared after a pass that rounds."""
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
        self.reason = ""
        """Why the first input was not accepted."""

    def samples(self, seeds: int) -> Iterator[Sample]:
        """Yield inputs: ordinary ones, of which the function accepts one, and variations of it."""
        for seed in range(seeds):
            if (base := self._first_accepted(seed)) is None:
                return
            yield base
            for recipe in variations(self._func, base.recipe):
                if self._left < base.outcome.steps:
                    return
                if recipe.numbers == "large" and self._sums:
                    continue  # only shapes would be compared
                if isinstance(sample := self._try(recipe), Sample):
                    yield sample

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
        for size in sizes:
            if self._left > 0 and isinstance(sample := self._try(replace(base, size=size)), Sample):
                yield sample

    def _try(self, recipe: Recipe) -> Sample | Refused | NotEvaluable | TooLarge:
        elements = elements_in(self._func, recipe)
        if recipe.size > MOST_PROBED and elements > MOST_ELEMENTS:
            return TooLarge(f"its arguments have more than {MOST_ELEMENTS} elements")
        if elements > self._left * ELEMENTS_PER_STEP:
            return TooLarge(f"its arguments alone take more than {self._left} steps")
        try:
            arguments = generate(self._func, recipe)
        except PasslineError as error:
            return NotEvaluable(str(error))
        outcome = evaluate(self._module, self._func, arguments, self._ctx, self._left)
        if not isinstance(outcome, NotEvaluable):
            self._left -= outcome.steps
        if isinstance(outcome, Evaluated):
            return Sample(recipe, arguments, outcome, self._sums, self._quantizes)
        return outcome


def reason_of(outcome: Outcome) -> str:
    """Return the reason why a function has no result, for messages."""
    match outcome:
        case Refused():
            return f"every input is refused: {outcome.reason}"
        case TooLarge():
            return f"too large ({outcome.reason})"
        case NotEvaluable():
            return outcome.reason
        case Evaluated():
            return ""


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
