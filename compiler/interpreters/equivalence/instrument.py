"""The instrument that checks that no pass changes what functions compute."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from itertools import zip_longest
from weakref import WeakKeyDictionary

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ....dialects.arith_types import FastMath
from ....passes.generic.call_graph import CallGraph
from ....passmanager.context import PassContext
from ....passmanager.instrument import PassInstrument
from ....passmanager.ir.walk import symbol_of, walk
from ....passmanager.names import Rounding
from ....passmanager.registry import PassInfo
from ....passmanager.run import Run
from ....passmanager.runner import run_pass
from ..arguments import save_arrays
from ..interpret import ArrayFunction
from ..signature import Function
from .check import Difference, Equivalence, NotCheckedError, SemanticsError
from .comparison import named_arrays
from .evaluation import MAX_STEPS, added_flag
from .samples import ModuleVersion


class SemanticsInstrument(PassInstrument):
    """An instrument that runs the public functions on seeded inputs, and compares the results after
    each pass with those before.

    It raises SemanticsError after the first pass that changes a result, and writes the input to a
    .npz file in `directory`, by default that of temporary files. It also raises this error if a
    pass changes the public functions or their parameters, unless its class says
    `changes_interface = True`. A pass must not add a flag such as `nsw` to an operation, nor give
    another result when it runs again on the same module. A pass may round in other places only if
    its class says so in `rounds`. `seeds` is the number of inputs of each kind, `max_steps` the
    budget of a function: an operation is a step, and so are 4096 elements of tensors. `unchecked`
    has the functions that were not checked, each with the reason; if `strict`, the first one raises
    NotCheckedError. `left_out` has the functions that did not accept all inputs.
    """

    def __init__(
        self,
        seeds: int = 1,
        max_steps: int = MAX_STEPS,
        directory: str | None = None,
        strict: bool = False,
    ) -> None:
        self.seeds, self.max_steps, self.directory = seeds, max_steps, directory
        self.strict = strict
        self.unchecked: dict[str, str] = {}
        self.left_out: dict[str, str] = {}
        self.checked: set[str] = set()
        """The functions that were compared, also those that are not checked any more."""
        self.checks = 0
        """The number of passes after which functions were compared."""
        self._runs: WeakKeyDictionary[Run, _State] = WeakKeyDictionary()
        self._last: Equivalence | None = None
        """The results after the last run."""

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        if run not in self._runs:
            run.watch()
            self._runs[run] = _State(run, self)
            self._note_unchecked(run)
        if not info.composite and _is_outermost(run):
            self._runs[run].before = ModuleVersion(module)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        state = self._runs.get(run)
        if state is not None and not info.composite:
            state.join(info)
            # If a pass calls another pass, the outer one is checked, and it may not be done yet.
            if _is_outermost(run):
                self._check(state, run, info)
        self._forget(run)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self._forget(Run.current())

    def check_engine(
        self, module: ModuleOp, func: Function, function: ArrayFunction, engine: str
    ) -> None:
        """Compare the results of `func` after the last run with those of `function`, which `engine`
        made of it. Raise SemanticsError if they differ, except by rounding."""
        if self._last is not None:
            difference = self._last.check_engine(module, func, function)
            if difference is not None:
                file = self._save(engine, difference)
                raise SemanticsError(engine, difference, file, "engine")

    def report(self) -> str:
        """Return a line for each function that was not checked, or not on all inputs."""
        lines = [f"not checked: @{name}: {reason}" for name, reason in self.unchecked.items()]
        lines += [f"left out: @{name}: {text}" for name, text in self.left_out.items()]
        return "".join(f"{line}\n" for line in lines)

    def summary(self) -> str:
        """Return a line with the numbers of passes and functions that were checked; empty if all
        were, on all inputs."""
        if not self.unchecked and not self.left_out:
            return ""
        whole = len(self.checked - self.unchecked.keys() - self.left_out.keys())
        return (
            f"checked the results of {self.checks} passes; functions: {whole} checked, "
            f"{len(self.left_out.keys() - self.unchecked.keys())} but for inputs that were left "
            f"out, {len(self.unchecked)} not checked\n"
        )

    def _check(self, state: _State, run: Run, info: PassInfo) -> None:
        if (difference := state.update(run, info)) is not None:
            raise SemanticsError(info.text, difference, self._save(info.name, difference))
        self.checks += 1
        self._note_unchecked(run, f"since pass '{info.name}': ")

    def _note_unchecked(self, run: Run, since: str = "") -> None:
        equivalence = self._runs[run].equivalence
        self.checked |= equivalence.samples.keys()
        for name, text in equivalence.left_out.items():
            self.left_out.setdefault(name, text)
        for name, reason in equivalence.unchecked.items():
            self.unchecked.setdefault(name, since + reason)
            if self.strict:
                raise NotCheckedError(f"not checked: @{name}: {since}{reason}")

    def _save(self, name: str, difference: Difference) -> str | None:
        """Write the input of a difference, if there is one, to a new file; return its path."""
        if not difference.inputs:
            return None
        words = re.sub(r"[^\w.-]+", "_", f"{name}-{difference.function}")
        handle, path = tempfile.mkstemp(".npz", f"passline-{words}-", self.directory)
        os.close(handle)
        pairs = zip(difference.names, difference.inputs, strict=True)
        save_arrays(path, {n: a for name, value in pairs for n, a in named_arrays(name, value)})
        return path

    def _forget(self, run: Run) -> None:
        """Drop the state of a run when its outermost pass ends."""
        if len(run.frames) == 1 and (state := self._runs.pop(run, None)) is not None:
            self._last = state.equivalence


class _State:
    """The results of the functions of a run's module after the last pass that was checked."""

    def __init__(self, run: Run, instrument: SemanticsInstrument) -> None:
        self.equivalence = Equivalence(
            run.module,
            seeds=instrument.seeds,
            max_steps=instrument.max_steps,
            ctx=run.ir_context,
        )
        self.before: ModuleVersion | None = None
        """The module before the pass that runs."""
        self._version = run.version
        self._reset()

    def _reset(self) -> None:
        self.rounding: Rounding | None = None
        """The rounding of the passes since then."""
        self.keeps_range = True
        """Whether no pass since then may make a finite result infinite."""
        self.keeps_interface = True
        """Whether no pass since then may change the public functions."""

    def join(self, info: PassInfo) -> None:
        """Allow what another pass may change."""
        if (rounding := Rounding.of(info.rounds)) is not None:
            self.rounding = rounding.joined(self.rounding)
        self.keeps_range &= _keeps_range(info)
        self.keeps_interface &= not info.changes_interface

    def update(self, run: Run, info: PassInfo) -> Difference | None:
        """Compare the functions that changed; keep the new results."""
        if self._version == run.version:
            return self._of_flags(run) or self._of_second_run(run, info)
        graph = CallGraph(run.module)
        changed = {op for op, version in run.changed_in.items() if version > self._version}

        def is_changed(func: Operation) -> bool:
            return not changed.isdisjoint(graph.reachable([func]))

        difference = self.equivalence.compare(
            run.module,
            rounds=self.rounding or False,
            keeps_range=self.keeps_range,
            keeps_interface=self.keeps_interface,
            changed=is_changed,
        )
        difference = difference or self._of_flags(run) or self._of_second_run(run, info)
        self._version = run.version
        self._reset()
        return difference

    def _of_flags(self, run: Run) -> Difference | None:
        """Return the first flag that was added to an operation, such as `nsw`."""
        if (before := self.before) is None:
            return None
        old, new = (walk(module) for module in (before.module, run.module))
        flag = added_flag(old, new, before.counterparts, self.rounding)
        return flag and Difference.of_interface(flag[0], flag[1])

    def _of_second_run(self, run: Run, info: PassInfo) -> Difference | None:
        """Return how the module differs from the result of a second run of the pass on the same
        input.

        There is no second run if an instrument decides which steps of the pass are taken: it may
        decide differently then.
        """
        pass_ = run.frames[-1].pass_
        if self.before is None or pass_ is None or PassContext.current().instrumentor.deciders:
            return None
        again = self.before.module
        run_again(pass_, info, again, run.ir_context)
        if _is_same(again, run.module):
            return None
        function, reason = _first_difference(again, run.module)
        return Difference.of_interface(function, reason)


def _is_outermost(run: Run) -> bool:
    """Return whether no pass but composites called the one that runs."""
    return all(frame.info.composite for frame in run.frames[:-1])


def run_again(pass_: ModulePass, info: PassInfo, module: ModuleOp, ir_context: Context) -> None:
    """Run a pass on another module, under the settings of the current context. The pass runs
    without the instruments of the context, and what it reports and prints is dropped."""
    current = PassContext.current()
    settings = PassContext(verify_each=False, renderer=lambda _: None)
    settings.opt_level = current.opt_level  # a tool may set one above all levels
    settings.config = current.config
    with settings, redirect_stdout(StringIO()), Run.on(module, ir_context) as run:
        run_pass(pass_, info, run, settings)


def _is_same(first: Operation, second: Operation) -> bool:
    """Return whether two operations are equal except for names. The text is compared, too, as
    xDSL's comparison does not support uses before definitions, which graph regions have."""
    return first.is_structurally_equivalent(second) or str(first) == str(second)


def _first_difference(again: ModuleOp, module: ModuleOp) -> tuple[str, str]:
    """Return the first symbol that two runs of a pass make different, and a message."""
    reason = "two runs of the pass on the same module give different results"
    for first, second in zip_longest(module.ops, again.ops):
        if first is None or second is None or not _is_same(first, second):
            op = first or second
            return ("" if op is None else symbol_of(op)), reason
    return "", reason


def _keeps_range(info: PassInfo) -> bool:
    """Return whether finite results have to stay finite: after passes of levels up to 2, unless the
    config option `relax.fastmath` allows otherwise."""
    mode = PassContext.current().get_config("relax.fastmath")
    return info.opt_level <= 2 and mode in (None, FastMath.none)
