"""The check of the functions of a module: their results on seeded inputs are compared with the
results that they had before a transformation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation
from xdsl.utils.type import get_element_type_or_self

from ....dialects.relax.types import Float
from ....dialects.signature import transformation_of
from ....passes.generic.call_graph import CallGraph
from ....passmanager.errors import ChangedResultError, PasslineError
from ....passmanager.ir.walk import PRIVATE, symbol_of, walk
from ....passmanager.names import Rounding
from ..arguments import check_arguments
from ..arrays import float_limits
from ..interpret import ArrayFunction
from ..signature import Function, Value, argument_names, input_types
from .comparison import Comparison, changed_effects, flat_values, named_arrays, tolerance
from .evaluation import (
    MAX_STEPS,
    Evaluated,
    RefusedArguments,
    evaluate,
    fit_arguments,
    free_numbers,
)
from .inputs import Number, Numbers, is_open, leaves, numbers_in, sizes_around_constants
from .samples import ModuleVersion, Sample, Sampler, describe_first_difference, reason_of, trace

# A changed result: the function, the input, both results, and where they begin to differ.


@dataclass(frozen=True)
class Difference:
    """An input on which a function computes something else after a transformation."""

    function: str
    """The name of the function."""
    names: Sequence[str]
    """The names of its parameters."""
    inputs: Sequence[Value]
    """The arguments."""
    recipe: str
    """How the arguments were chosen, in words."""
    before: Sequence[Value]
    """The results before."""
    after: Sequence[Value] | None
    """The results after; None if the function refuses the arguments."""
    reason: str
    """How the results differ, in words."""
    first: str = ""
    """The first operation whose value differs, in words; empty if it is not known."""

    @staticmethod
    def of_interface(function: str, reason: str) -> Difference:
        """Return a change of the interface of a function, or another one that no input shows."""
        return Difference(function, (), (), "", (), None, reason)

    @property
    def subject(self) -> str:
        """The name of the function if no input shows the difference; otherwise what it computes."""
        name = f"@{self.function}" if self.function else "the module"
        return f"what {name} computes" if self.recipe else name

    @property
    def text(self) -> str:
        """The difference in lines: inputs, results, first operation."""
        if not self.recipe:
            return self.reason
        pairs = zip(self.names, self.inputs, strict=True)
        arguments = [line for name, value in pairs for line in _lines(name, value)]
        before = _results(self.before)
        after = ["(none)"] if self.after is None else _results(self.after)
        lines = [self.reason]
        for title, block in (
            (f"input ({self.recipe}):", arguments),
            ("result before:", before),
            ("result after:", after),
        ):
            lines += [title, *(f"  {line}" for line in block)]
        return "\n".join([*lines, *([self.first] if self.first else [])])


class NotCheckedError(PasslineError):
    """The error for a function whose results cannot be compared, if all functions have to be."""


class SemanticsError(ChangedResultError):
    """The error for a pass, or an engine, that changes what a function computes.

    `culprit` is "pass" or "engine", `pass_text` the pass with its options or the name of the
    engine. `difference` has the function, the input and both results. `file` is the .npz file with
    the input, None if none was written.
    """

    def __init__(
        self,
        pass_text: str,
        difference: Difference,
        file: str | None = None,
        culprit: Literal["pass", "engine"] = "pass",
    ) -> None:
        self.pass_text, self.difference, self.file = pass_text, difference, file
        self.culprit = culprit
        saved = f"\nthe input is in {file}" if file else ""
        super().__init__(
            f"{culprit} '{pass_text}' changes {difference.subject}: {difference.text}{saved}",
            difference.function,
            difference.text,
        )


def _results(values: Sequence[Value]) -> list[str]:
    pairs = ((f"result{i}", value) for i, value in enumerate(values))
    return [line for name, value in pairs for line in _lines(name, value)]


def _lines(name: str, value: Value) -> list[str]:
    """Return a value as a message shows it: large arrays with their first and last elements."""
    lines: list[str] = []
    for part, array in named_arrays(name, value):
        shape = "x".join(map(str, array.shape)) or "scalar"
        text = np.array2string(array, threshold=20, edgeitems=2, max_line_width=80)
        if array.size > 20:
            text = text.replace("\n", " ")
            text = text if len(text) < 200 else f"{text[:197]}..."
        first, *rest = text.split("\n")
        lines += [f"{part}: {array.dtype} {shape} {first}", *(f"  {line}" for line in rest)]
    return lines


def find_difference(
    before: ModuleOp,
    after: ModuleOp,
    *,
    seeds: int = 1,
    rounds: bool | Rounding = False,
    max_steps: int = MAX_STEPS,
    ctx: Context | None = None,
) -> Difference | None:
    """Return the first input found on which a public function of `before` computes something else
    in `after`, or None.

    `rounds` allows floats to differ by rounding, as `Pass.rounds` does. `max_steps` is the budget
    of each function. `ctx` is the context of xDSL's own interpreter functions. A function is not
    compared if it cannot be evaluated, or if `after` does not have it, or has it with other
    parameters.
    """
    check = Equivalence(before, seeds=seeds, max_steps=max_steps, ctx=ctx)
    return check.compare(after, rounds=rounds)


class Equivalence:
    """The results of the public functions of a module, for comparison with later versions of it.

    The functions are those directly in the module that have a body and are not private: passes may
    change, add and remove private functions. `unchecked` names the functions that cannot be
    compared, or no longer can, each with the reason. `left_out` names the functions that did not
    accept all inputs, with the number of the refused inputs and the first reason.
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
        self.left_out: dict[str, str] = {}
        self._interface: dict[str, tuple[object, int]] = {}
        """The public functions, with their transformations and their number of parameters."""
        self._numbers: dict[str, set[Number]] = {}
        """The constants around which there are samples, by function."""
        self._tried: dict[str, set[int]] = {}
        """Function -> the sizes for which further samples were sought."""
        self._known: dict[str, list[Sample]] = {}
        """The samples, also of functions that cannot be evaluated any more."""
        self._version: ModuleVersion | None = None
        self._accept(module)

    def compare(
        self,
        module: ModuleOp,
        *,
        rounds: bool | Rounding = False,
        keeps_range: bool = True,
        keeps_interface: bool = False,
        changed: Callable[[Function], bool] = lambda _: True,
    ) -> Difference | None:
        """Compare the functions of `module` with those before; return the first difference, or None
        and keep the results for the next call.

        `keeps_range` is False if rounding may make a finite result infinite or NaN. With
        `keeps_interface`, it is a difference if a function is gone or has other parameters;
        otherwise such a function is not checked any more. Only the functions that are `changed` are
        evaluated.
        """
        functions = public_functions(module)
        allowed = _Allowed.of(rounds, module, keeps_range, keeps_interface)
        if keeps_interface and (difference := self._changed_interface(module)) is not None:
            return difference
        before = {} if self._version is None else public_functions(self._version.module)
        for name in list(self.samples):
            if name not in functions:
                self._drop(name, "it is removed, or private now")
            elif transformation_of(functions[name]) != transformation_of(before[name]):
                del self.samples[name]  # other parameters: `_accept` makes new samples
            elif changed(functions[name]):
                if (difference := self._compare(module, functions[name], allowed)) is not None:
                    return difference
        self._accept(module)
        return None

    def check_engine(
        self, module: ModuleOp, func: Function, function: ArrayFunction
    ) -> Difference | None:
        """Compare the last known results of `func` with those of `function`, which an engine made
        of it, and which may round in other places. `func` itself is not run: it may be too large by
        now."""
        bound = tolerance(epsilon_of(module))
        for sample in self._known.get(func.sym_name.data, ()):
            arguments = fit_arguments(func, sample.arguments)
            try:
                results = function(*check_arguments(func, arguments))
            except PasslineError as error:
                return _difference(func, sample, str(error), None)
            comparison = Comparison(bound, sample.compared)
            if (reason := _changed_results(sample, results, comparison)) is not None:
                return _difference(func, sample, reason, results)
        return None

    def _accept(self, module: ModuleOp) -> None:
        """Add the functions that are not known yet. Keep a copy of the module, to locate the first
        difference of a later version."""
        functions = public_functions(module)
        self._interface = {name: _interface_of(func) for name, func in functions.items()}
        for name, func in functions.items():
            if name in self.samples or name in self.unchecked:
                continue
            sampler = Sampler(module, func, self._ctx, self._max_steps)
            if samples := [*sampler.samples(self._seeds)]:
                self.samples[name] = self._known[name] = samples
                self._numbers[name] = {*sampler.numbers}
                self._note_left_out(name, sampler)
            else:
                self.unchecked[name] = sampler.reason
        self._version = ModuleVersion(module) if self.samples else None

    def _note_left_out(self, name: str, sampler: Sampler) -> None:
        if sampler.left_out:
            count = f"{len(sampler.left_out)} of {sampler.tried} inputs"
            self.left_out[name] = f"{count}; {sampler.left_out[0]}"

    def _changed_interface(self, module: ModuleOp) -> Difference | None:
        """Return the first public function that is gone, or has another number of parameters,
        unless it says that its parameters were transformed. A function that has become an operation
        of another dialect is not compared."""
        functions = public_functions(module)
        others = {symbol_of(op) for op in module.ops if not isinstance(op, Function)}
        for name, (transformation, count) in self._interface.items():
            if name in others:
                continue
            if name not in functions:
                return Difference.of_interface(name, "it is removed, renamed, or private now")
            now, number = _interface_of(functions[name])
            if now == transformation and number != count:
                reason = f"it has {number} parameters, before {count}"
                return Difference.of_interface(name, reason)
        return None

    def _compare(self, module: ModuleOp, func: Function, allowed: _Allowed) -> Difference | None:
        """Compare one function; drop the samples that can no longer be evaluated."""
        name = func.sym_name.data
        self._add_samples(module, func)
        kept: list[Sample] = []
        lost, left = "", self._max_steps
        free = self._free_numbers(name)
        for sample in self.samples[name]:
            arguments = fit_arguments(func, sample.arguments)
            try:
                check_arguments(func, arguments)
            except PasslineError as error:
                lost = f"its parameters change: {error}"
                if allowed.keeps_interface:
                    return Difference.of_interface(name, lost)
                continue
            outcome = evaluate(module, func, arguments, self._ctx, left, poison=False)
            seen = sample if allowed.keeps_range else replace(sample, range_is_free=True)
            comparison = replace(allowed.comparison, compared=seen.compared)
            if isinstance(outcome, RefusedArguments):
                return self._located(module, func, seen, comparison, outcome.reason)
            if not isinstance(outcome, Evaluated):
                lost = reason_of(outcome)
                break
            is_free = sample.recipe.numbers in free or (comparison.bound and sample.rounds_apart)
            reason = None if is_free else _changed(sample, outcome, comparison)
            if reason is not None:
                return self._located(module, func, seen, comparison, reason, outcome.results)
            left -= outcome.steps
            kept.append(replace(sample, outcome=outcome))
        if kept:
            self.samples[name] = self._known[name] = kept
        else:
            self._drop(name, lost)
        return None

    def _free_numbers(self, name: str) -> Collection[Numbers]:
        """Return the kinds of inputs for which the fast-math flags of a function, in the version
        before, leave its results open."""
        if self._version is None:
            return ()
        graph = CallGraph(self._version.module)
        return free_numbers(graph.reachable([graph.symbols[name]]))

    def _add_samples(self, module: ModuleOp, func: Function) -> None:
        """Add samples around the constants that a pass brought in, with the results of the version
        before. They have numbers near the constants, and such sizes of unknown dimensions, as a
        tile may end there."""
        name = func.sym_name.data
        samples, numbers = self.samples[name], self._numbers[name]
        tried = self._tried.setdefault(name, set())
        new_sizes: list[int] = []
        if any(map(is_open, leaves(input_types(func)))):
            known = tried | {sample.recipe.size for sample in samples}
            new_sizes = [size for size in sizes_around_constants(func) if size not in known]
        ops = CallGraph(module).reachable([func])
        new_numbers = [n for n in numbers_in(ops) if n not in numbers]
        tried.update(new_sizes)
        numbers.update(new_numbers)
        base = next((s.recipe for s in samples if s.recipe.numbers == "ordinary"), None)
        if base is None or (version := self._version) is None:
            return
        old = public_functions(version.module)[name]
        if new_sizes:
            sampler = Sampler(version.module, old, self._ctx, self._max_steps)
            samples += sampler.of_sizes(replace(base, distinct=False), new_sizes)
        if new_numbers:
            sampler = Sampler(version.module, old, self._ctx, self._max_steps)
            samples += sampler.of_constants(base, new_numbers)

    def _located(
        self,
        module: ModuleOp,
        func: Function,
        sample: Sample,
        comparison: Comparison,
        reason: str,
        after: tuple[Value, ...] | None = None,
    ) -> Difference:
        """Return the difference with the first operation whose value differs, which is found by
        running both versions once more."""
        version = self._version
        assert version is not None, "there are samples"
        old = public_functions(version.module)[func.sym_name.data]
        # The sample has the arguments of an earlier version. They are others now if tuples were
        # taken apart since.
        before, now = (
            trace(m, f, fit_arguments(f, sample.arguments), self._ctx, self._max_steps)
            for m, f in ((version.module, old), (module, func))
        )
        first = describe_first_difference(before, now, version.counterparts, comparison)
        return replace(_difference(func, sample, reason, after), first=first)

    def _drop(self, name: str, reason: str) -> None:
        del self.samples[name]
        self.unchecked[name] = reason


@dataclass(frozen=True)
class _Allowed:
    """The changes of results that are allowed."""

    comparison: Comparison
    keeps_range: bool
    keeps_interface: bool

    @staticmethod
    def of(
        rounds: bool | Rounding, module: ModuleOp, keeps_range: bool, keeps_interface: bool
    ) -> _Allowed:
        """Return what a pass with `rounds` may change."""
        if (rounding := Rounding.of(rounds)) is None:
            return _Allowed(Comparison(changes=()), keeps_range, keeps_interface)
        keeps_range &= "finite may become infinite" not in rounding.changes
        bound = tolerance(epsilon_of(module), rounding.units)
        comparison = Comparison(bound, changes=rounding.changes)
        return _Allowed(comparison, keeps_range, keeps_interface)


def _interface_of(func: Function) -> tuple[object, int]:
    """Return the transformation of the parameters of a function, and their number."""
    return transformation_of(func), len([*leaves(input_types(func))])


def _difference(
    func: Function, sample: Sample, reason: str, after: tuple[Value, ...] | None
) -> Difference:
    names = argument_names(func)
    if len(names) != len(sample.arguments):  # the elements of tuples are parameters now
        names = [f"arg{i}" for i in range(len(sample.arguments))]
    return Difference(
        function=func.sym_name.data,
        names=names,
        inputs=sample.arguments,
        recipe=sample.recipe.text,
        before=sample.outcome.results,
        after=after,
        reason=reason,
    )


def _changed(sample: Sample, after: Evaluated, comparison: Comparison) -> str | None:
    """Return in words how results or side effects differ, or None."""
    return _changed_results(sample, after.results, comparison) or changed_effects(
        sample.outcome.effects, after.effects, comparison
    )


def _changed_results(sample: Sample, after: Sequence[Value], comparison: Comparison) -> str | None:
    """Return how the results differ, or None. The lowering turns the elements of a tuple into
    results."""
    return comparison.mismatch_in(flat_values(sample.outcome.results), flat_values(after))


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


def epsilon_of(module: ModuleOp) -> float:
    """Return the distance from 1 to the next number in the type of floats of lowest precision that
    occurs in the module; that of f32 if there are no floats."""
    elements = {get_element_type_or_self(value.type) for op in walk(module) for value in op.results}
    floats = [element for element in elements if isinstance(element, Float)]
    return max(float_limits(element).epsilon for element in floats or [f32])
