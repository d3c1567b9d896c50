"""The properties of passes on random modules: see `check_case`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import TypeAlias

import numpy as np
from strategies.pipelines import FACTORIES
from support.gpu.checked import compile_checked
from support.loops import Arguments
from support.networks import distance_in
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from passline.compiler.interpreters.equivalence import Equivalence, evaluation
from passline.compiler.interpreters.equivalence.comparison import Comparison
from passline.compiler.interpreters.equivalence.evaluation import (
    Evaluated,
    RefusedArguments,
    evaluate,
    fit_arguments,
)
from passline.compiler.interpreters.signature import Function, Value
from passline.compiler.native import compile_module
from passline.passmanager import PassContext
from passline.passmanager.condition_checks import unmet_condition
from passline.passmanager.errors import (
    ConditionError,
    InvalidIRError,
    PassContractError,
    PasslineError,
)
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.verifier import verify
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context
from passline.passmanager.runner import info_of, nested_passes
from passline.tools.roundtrip import verify_roundtrip

from .cases import Case

__all__ = ["Broken", "Outcome", "check_case"]

Computed: TypeAlias = dict[tuple[str, int], Sequence[Value]]
"""The results of calls, by function and the number of the call."""

LIMITS = ("is too large to be unrolled", "memory of a size that cannot be computed")
"""What a pass says of a module that is too large for it; no condition excludes these."""

MAX_STEPS = 200
"""The most operations that are run for a function, before any pass; four times that afterwards."""


def is_idempotent(text: str) -> bool:
    """Return whether a second run of a pass must change nothing.

    The result of `cse` is that of xDSL's; `auto-max-depth` counts the loops that one run unrolls,
    as in TVM.
    """
    is_cse = text.partition("{")[0] == "cse" or "(cse)" in text
    return not is_cse and "auto-max-depth" not in text


class Broken(AssertionError):
    """The failure of a property."""


@dataclass
class Outcome:
    """The passes and comparisons of one case, counted to show that something was checked."""

    passes: list[str] = field(default_factory=list[str])
    """The passes that ran."""
    compared: int = 0
    """The number of calls whose results were compared."""
    left_out: list[str] = field(default_factory=list[str])
    """The passes that did not run, each with the condition that does not hold."""
    refusal: str = ""
    """The message with which a pass, or the compiler, refused the module; it ends the case."""
    compiled: bool = False
    """Whether compiled code was compared."""


def check_case(case: Case) -> Outcome:
    """Run the pipeline of a case; after each pass, check what it says of itself.

    A pass whose conditions do not hold is left out; one that runs does not fail, and what it
    ensures holds. The module is valid; a second run of the pass changes nothing; every function
    computes the same on the arguments of the case and on those of `Equivalence`, bit for bit up to
    the payload of NaN, or for a pass that rounds within a bound. After one of the passes the
    printed module reads back. At the end, machine code or tile programs compute the same. A pass
    may refuse a module that is too large: that ends the case. Errors: Broken, VerifyException, and
    whatever a pass raises.
    """
    with (
        np.errstate(all="ignore"),
        redirect_stderr(StringIO()),
        PassContext(opt_level=4, check_conditions="changed"),
    ):
        check = Check(case)
        for i, text in enumerate(case.pipeline):
            if not check.run_pass(text):
                return check.outcome
            if i == case.reads_back_after:
                verify_roundtrip(check.module, check.ctx)
        if case.engine != "numpy":
            check.run_compiled()
    return check.outcome


class Check:
    """Checks one case: holds the current module, and the results of its functions."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.ctx: Context = make_ir_context()
        self.module = case.module.clone()
        verify(self.module)
        self.outcome = Outcome()
        self.interpreted = True
        """Whether results are computed on numpy."""
        self.equivalence = Equivalence(self.module, max_steps=MAX_STEPS, ctx=self.ctx)
        self.expected: Computed = {}
        self.rounded: set[tuple[str, int]] = set()
        """The calls that were too large to be computed since a pass that rounds."""
        for call, outcome in evaluated(self.module, case.calls, self.ctx, MAX_STEPS, poison=True):
            if isinstance(outcome, Evaluated):
                self.expected[call] = outcome.results

    def run_pass(self, text: str) -> bool:
        """Run a pass and check its properties; False if it refuses the module."""
        (pass_,) = parse_pipeline(text, FACTORIES).passes
        if (unmet := unmet_condition(pass_, self.module)) is not None:
            self.outcome.left_out.append(f"{info_of(pass_).name}: {unmet}")
            return True
        try:
            pass_.apply(self.ctx, self.module)
        except (InvalidIRError, PassContractError, ConditionError):
            raise
        except (PasslineError, PassFailedException) as error:
            if not any(limit in str(error) for limit in LIMITS):
                raise Broken(
                    f"after {text}: refused, though its conditions hold: {error}"
                ) from error
            self.outcome.refusal = f"{text}: {error}"
            return False
        self.outcome.passes.append(text)
        verify(self.module)
        self.check_results(text, rounds(pass_))
        if is_idempotent(text):
            snapshot = Snapshot(self.module)
            pass_.apply(self.ctx, self.module)
            if snapshot.update():
                raise Broken(f"a second run of {text} changes the result of the first")
        return True

    def check_results(self, text: str, rounds: bool) -> None:
        """Compare the results after a pass with those before it."""
        if self.case.large and text.startswith("legalize-ops"):
            self.interpreted = False  # kernels on large tensors take minutes; machine code follows
        if not self.interpreted:
            return
        if (found := self.equivalence.compare(self.module, rounds=rounds)) is not None:
            raise Broken(f"after {text}: @{found.function}: {found.text}")
        self.outcome.compared += sum(map(len, self.equivalence.samples.values()))
        kept: Computed = {}
        steps = 4 * MAX_STEPS
        for call, outcome in evaluated(self.module, self.case.calls, self.ctx, steps, poison=False):
            if call not in self.expected:
                continue
            where = f"after {text}: @{call[0]}, call {call[1]}"
            if isinstance(outcome, RefusedArguments):
                raise Broken(f"{where}: {outcome.reason}")
            if isinstance(outcome, Evaluated):
                self.compare(call, outcome.results, rounds or call in self.rounded, where)
                kept[call] = outcome.results
        # After a pass whose results cannot be computed, machine code is still compared.
        self.expected |= kept
        self.rounded -= kept.keys()
        if rounds:
            self.rounded |= self.expected.keys() - kept.keys()

    def compare(
        self, call: tuple[str, int], actual: Sequence[Value], rounds: bool, where: str
    ) -> None:
        """Compare the results of a call with those before: exactly, or with the tolerances of the
        network; Broken if they differ."""
        name, index = call
        if not rounds:
            difference = Comparison().mismatch_in(self.expected[call], actual)
        elif self.case.network is not None and name == "main" and index == 0:
            difference = distance_in(self.case.network, actual)
        else:
            return  # only Equivalence has a bound for these
        if difference is not None:
            raise Broken(f"{where}: {difference}")
        self.outcome.compared += 1

    def run_compiled(self) -> None:
        """Compile each function, and compare what it computes: as machine code for one thread and
        for two, which share every parallel loop, or as tile programs."""
        if self.case.engine == "cuda-interpreter":
            self.run_on(lambda name: compile_checked(self.module, name), "tiles")
            return
        forks = {"tir-parallelize": {"fork_work": 0}, "tir-outline-parallel": {"fork_work": 0}}
        for threads in (1, 2):
            with PassContext(config={} if threads == 1 else forks):
                compile = partial(compile_module, self.module, threads=threads)
                self.run_on(compile, f"{threads} threads")

    def run_on(self, compile: Callable[[str], Callable[..., Sequence[Value]]], what: str) -> None:
        for name in functions(self.module):
            calls = [call for call in self.expected if call[0] == name]
            if not calls:
                continue
            try:
                function = compile(name)
            except InvalidIRError:
                raise
            except PasslineError as error:
                if "cannot be translated" in str(error) or "LLVM cannot" in str(error):
                    raise  # something is left that the lowering should have removed
                self.outcome.refusal = f"{what}: {error}"
                return
            for call in calls:
                given = tuple(array.copy() for array in self.case.calls[name][call[1]])
                # A function on buffers without `tir.outputs` returns what it writes to them.
                actual = function(*given) or tuple(array for array in given if array.ndim)
                network = self.case.network is not None
                self.compare(call, actual, network, f"@{name}, call {call[1]}, {what}")
                self.outcome.compiled = True


def rounds(pass_: ModulePass) -> bool:
    """Return whether a pass, or one that it is made of, may change the rounding of floats."""
    return any(info_of(nested).rounds for nested in nested_passes(pass_))


def functions(module: ModuleOp) -> dict[str, Function]:
    """Return the functions of the module that can be run, by name."""
    return {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, Function) and not op.is_declaration
    }


def evaluated(
    module: ModuleOp,
    calls: Mapping[str, Sequence[Arguments]],
    ctx: Context,
    steps: int,
    *,
    poison: bool,
) -> Iterator[tuple[tuple[str, int], evaluation.Outcome]]:
    """Yield what comes of each call of a function that the module still has."""
    found = functions(module)
    for name, listed in calls.items():
        for index, arguments in enumerate(listed if name in found else ()):
            func = found[name]
            fitted = fit_arguments(func, arguments)
            yield (name, index), evaluate(module, func, fitted, ctx, steps, poison=poison)
