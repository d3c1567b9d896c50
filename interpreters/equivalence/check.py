"""The check of the functions of a module: their results on seeded inputs, compared with those that
they had before a transformation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float64Type, ModuleOp
from xdsl.ir import Operation

from ...passmanager.errors import PasslineError
from ...passmanager.ir.symbols import PRIVATE
from ...passmanager.ir.walk import walk
from ..arguments import check_arguments
from ..signature import Function, Value, argument_names
from .comparison import EXACT, mismatch_in, tolerance
from .difference import Difference
from .evaluation import (
    MAX_STEPS,
    Evaluated,
    NotEvaluable,
    Refused,
    TooLarge,
    evaluate,
    fit_arguments,
)
from .inputs import Recipe, element_of, generate, probes, variations
from .values import flat_values

__all__ = ["Equivalence", "find_difference", "public_functions"]


def find_difference(
    before: ModuleOp,
    after: ModuleOp,
    *,
    seeds: int = 1,
    rounds: bool = False,
    max_steps: int = MAX_STEPS,
    ctx: Context | None = None,
) -> Difference | None:
    """Return the first input found on which a public function of `before` computes something else
    in `after`, or None.

    `rounds` allows floats to differ by rounding. `max_steps` is the budget of each function. `ctx`
    is the context of xDSL's own interpreter functions. Functions that cannot be evaluated, that
    `after` has not, or has with other parameters, are not compared.
    """
    check = Equivalence(before, seeds=seeds, max_steps=max_steps, ctx=ctx)
    return check.compare(after, rounds=rounds)


@dataclass(frozen=True)
class Sample:
    """Arguments of a function, and its results."""

    recipe: Recipe
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    steps: int


class Equivalence:
    """The results of the public functions of a module, to compare those of later versions of it
    with.

    The functions are those directly in the module, with a body, and not private: passes may change
    private ones, add and remove them. `unchecked` names the functions that cannot be compared, or
    no longer, each with the reason.
    """

    def __init__(
        self,
        module: ModuleOp,
        *,
        seeds: int = 1,
        max_steps: int = MAX_STEPS,
        ctx: Context | None = None,
    ) -> None:
        self._seeds, self._max_steps = seeds, max_steps
        self._ctx = Context() if ctx is None else ctx
        self.samples: dict[str, list[Sample]] = {}
        self.unchecked: dict[str, str] = {}
        self.evaluations = 0
        self._add_functions(module)

    def compare(
        self,
        module: ModuleOp,
        *,
        rounds: bool = False,
        changed: Callable[[Function], bool] = lambda _: True,
    ) -> Difference | None:
        """Compare the functions of `module` with those before; return the first difference, or None
        and keep the results for the next call.

        Only the functions that are `changed` are evaluated.
        """
        functions = public_functions(module)
        for name in [name for name in self.samples if name not in functions]:
            self._drop(name, "it is removed")
        for name in self.samples.keys() & functions.keys():
            if changed(functions[name]):
                difference = self._compare(module, functions[name], rounds)
                if difference is not None:
                    return difference
        self._add_functions(module)
        return None

    def _compare(self, module: ModuleOp, func: Function, rounds: bool) -> Difference | None:
        """Compare one function; drop the samples that can no longer be evaluated."""
        name = func.sym_name.data
        bound = tolerance(_epsilon(module)) if rounds else EXACT
        kept: list[Sample] = []
        reason, steps = "", 0
        for sample in self.samples[name]:
            arguments = fit_arguments(func, sample.arguments)
            try:
                check_arguments(func, arguments)
            except PasslineError as error:
                reason = f"its parameters change: {error}"
                continue
            outcome = self._evaluate(module, func, arguments, self._max_steps - steps)
            match outcome:
                case Evaluated():
                    steps += outcome.steps
                    text = _changed(sample.results, outcome.results, bound)
                    if text is not None:
                        return self._difference(func, sample, text, outcome.results)
                    kept.append(replace(sample, results=outcome.results, steps=outcome.steps))
                case Refused():
                    return self._difference(func, sample, outcome.reason, None)
                case TooLarge():
                    reason = f"too large ({outcome.reason})"
                    break
                case NotEvaluable():
                    reason = outcome.reason
                    break
        if kept:
            self.samples[name] = kept
        elif self.samples[name]:
            self._drop(name, reason)
        return None

    def _difference(
        self, func: Function, sample: Sample, reason: str, after: tuple[Value, ...] | None
    ) -> Difference:
        names = argument_names(func)
        if len(names) != len(sample.arguments):
            names = [f"arg{i}" for i in range(len(sample.arguments))]
        return Difference(
            function=func.sym_name.data,
            names=names,
            inputs=sample.arguments,
            recipe=sample.recipe.text,
            before=sample.results,
            after=after,
            reason=reason,
        )

    def _drop(self, name: str, reason: str) -> None:
        del self.samples[name]
        self.unchecked[name] = reason

    def _add_functions(self, module: ModuleOp) -> None:
        """Evaluate the functions that are not known yet."""
        for name, func in public_functions(module).items():
            if name in self.samples or name in self.unchecked:
                continue
            samples, reason = self._samples_of(module, func)
            if samples:
                self.samples[name] = samples
            else:
                self.unchecked[name] = reason

    def _samples_of(self, module: ModuleOp, func: Function) -> tuple[list[Sample], str]:
        """Return inputs of a function with its results, or the reason why there are none."""
        samples: list[Sample] = []
        for seed in range(self._seeds):
            reason = ""
            for recipe in probes(func, seed):
                sample = self._sample(module, func, recipe, self._left(samples))
                if isinstance(sample, Sample):
                    samples.append(sample)
                    break
                reason = _reason(sample)
                if not isinstance(sample, Refused):
                    return samples, reason
            else:
                return samples, reason
            for recipe in variations(func, samples[-1].recipe):
                # An input costs about what those before did; one that costs more ends the loop.
                if self._left(samples) < samples[-1].steps:
                    return samples, ""
                sample = self._sample(module, func, recipe, self._left(samples))
                if isinstance(sample, Sample):
                    samples.append(sample)
        return samples, ""

    def _left(self, samples: list[Sample]) -> int:
        """Return what is left of the budget of a function."""
        return self._max_steps - sum(sample.steps for sample in samples)

    def _sample(
        self, module: ModuleOp, func: Function, recipe: Recipe, max_steps: int
    ) -> Sample | Refused | NotEvaluable | TooLarge:
        try:
            arguments = generate(func, recipe)
        except PasslineError as error:
            return NotEvaluable(str(error))
        outcome = self._evaluate(module, func, arguments, max_steps)
        if isinstance(outcome, Evaluated):
            return Sample(recipe, arguments, outcome.results, outcome.steps)
        return outcome

    def _evaluate(
        self, module: ModuleOp, func: Function, arguments: Sequence[Value], max_steps: int
    ) -> Evaluated | Refused | NotEvaluable | TooLarge:
        self.evaluations += 1
        return evaluate(module, func, arguments, self._ctx, max_steps)


def public_functions(module: ModuleOp) -> dict[str, Function]:
    """Return the functions that a caller of the module can run, by name."""
    return {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, Function) and not op.is_declaration and not _is_private(op)
    }


def _is_private(op: Operation) -> bool:
    visibility = op.properties.get("sym_visibility") or op.attributes.get("sym_visibility")
    return visibility == PRIVATE


def _reason(outcome: Refused | NotEvaluable | TooLarge) -> str:
    match outcome:
        case Refused():
            return f"every input is refused: {outcome.reason}"
        case TooLarge():
            return f"too large ({outcome.reason})"
        case NotEvaluable():
            return outcome.reason


def _changed(before: Sequence[Value], after: Sequence[Value], bound: float) -> str | None:
    """Return how the results differ; the lowering makes results of the elements of tuples."""
    return mismatch_in(flat_values(before), flat_values(after), bound)


def _epsilon(module: ModuleOp) -> float:
    """Return the distance from 1 to the next number in the least precise type of floats that
    occurs in the module; that of f32 if there are no floats."""
    elements = {element_of(v.type) for op in walk(module) for v in op.results}
    if any(isinstance(element, BFloat16Type) for element in elements):
        return 2.0**-7
    if any(isinstance(element, Float16Type) for element in elements):
        return 2.0**-10
    only_double = any(isinstance(e, Float64Type) for e in elements)
    return 2.0**-52 if only_double and not any(e.name == "f32" for e in elements) else 2.0**-23
