"""The instrument that checks that no pass changes what functions compute."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from typing import cast
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from ...dialects.fast_math import FastMath
from ...passmanager.context import PassContext
from ...passmanager.instrument import PassInstrument
from ...passmanager.ir.symbols import symbol_of
from ...passmanager.ir.walk import walk
from ...passmanager.registration.info import PassInfo
from ...passmanager.run import Run
from ..array_files import save_arrays
from ..interpret import ArrayFunction
from ..signature import Function
from .check import Equivalence
from .difference import Difference, SemanticsError
from .evaluation import MAX_STEPS
from .values import named_arrays

__all__ = ["SemanticsInstrument"]


class SemanticsInstrument(PassInstrument):
    """An instrument that runs the public functions on seeded inputs, and compares the results after
    each pass with those before.

    It raises SemanticsError after the first pass that changes a result, and writes the input to a
    .npz file in `directory`, by default that of temporary files. A pass may only round elsewhere if
    its class says `rounds = True`. `seeds` is the number of inputs of each kind, `max_steps` the
    budget of a function: an operation is a step, and so are 4096 elements of tensors.
    `unchecked` has the functions that were not checked, each with the reason.
    """

    def __init__(
        self, seeds: int = 1, max_steps: int = MAX_STEPS, directory: str | None = None
    ) -> None:
        self.seeds, self.max_steps, self.directory = seeds, max_steps, directory
        self.unchecked: dict[str, str] = {}
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

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        run = Run.current()
        state = self._runs.get(run)
        if state is not None and not info.composite:
            state.rounds |= info.rounds
            state.keeps_range &= _keeps_range(info)
            # A pass called by a pass: the outer one is checked, which may not be done.
            if all(frame.info.composite for frame in run.frames[:-1]):
                self._check(state, run, info)
        self._forget(run)

    def pass_failed(self, module: ModuleOp, info: PassInfo, error: BaseException) -> None:
        self._forget(Run.current())

    def check_engine(
        self, module: ModuleOp, func: Function, function: ArrayFunction, engine: str
    ) -> None:
        """Compare the results of `func` after the last run with those of `function`, which `engine`
        made of it. SemanticsError if they differ, other than by rounding."""
        if self._last is not None:
            difference = self._last.check_engine(module, func, function)
            if difference is not None:
                file = self._save(engine, difference)
                raise SemanticsError(engine, difference, file, "engine")

    def report(self) -> str:
        """Return a line for each function that was not checked."""
        return "".join(f"not checked: @{n}: {reason}\n" for n, reason in self.unchecked.items())

    def _check(self, state: _State, run: Run, info: PassInfo) -> None:
        if (difference := state.update(run)) is not None:
            raise SemanticsError(info.text, difference, self._save(info.name, difference))
        self.checks += 1
        self._note_unchecked(run, f"since pass '{info.name}': ")

    def _note_unchecked(self, run: Run, since: str = "") -> None:
        for name, reason in self._runs[run].equivalence.unchecked.items():
            self.unchecked.setdefault(name, since + reason)

    def _save(self, name: str, difference: Difference) -> str:
        """Write the input of a difference to a new file; return its path."""
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
        self.rounds = False
        """Whether a pass since then may round elsewhere."""
        self.keeps_range = True
        """Whether no pass since then may make a finite result infinite."""
        self._version = run.version

    def update(self, run: Run) -> Difference | None:
        """Compare the functions that changed; keep the new results."""
        if self._version == run.version:
            return None
        tables = {symbol_of(op): op for op in run.module.ops}
        changed = {op for op, version in run.changed_in.items() if version > self._version}

        def is_changed(func: Operation) -> bool:
            return not changed.isdisjoint(_reachable(func, tables))

        difference = self.equivalence.compare(
            run.module, rounds=self.rounds, keeps_range=self.keeps_range, changed=is_changed
        )
        self._version, self.rounds, self.keeps_range = run.version, False, True
        return difference


def _keeps_range(info: PassInfo) -> bool:
    """Return whether finite results have to stay finite: after passes of levels up to 2, unless the
    config option `relax.fastmath` allows otherwise."""
    mode = PassContext.current().get_config("relax.fastmath")
    return info.opt_level <= 2 and mode in (None, FastMath.none)


def _reachable(func: Operation, symbols: dict[str, Operation]) -> set[Operation]:
    """Return the top-level ops that `func` refers to, directly or not, and itself."""
    found, pending = {func}, [func]
    while pending:
        for op in walk(pending.pop()):
            for attribute in (*op.properties.values(), *op.attributes.values()):
                for name in _references(attribute):
                    target = symbols.get(name)
                    if target is not None and target not in found:
                        found.add(target)
                        pending.append(target)
    return found


def _references(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for part in cast("ArrayAttr[Attribute]", attribute):
            yield from _references(part)
