"""Run, the state of one outermost call of a pass, with the changes of the module since; and Frame,
a pass that is running in it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from .analysis_manager import AnalysisManager
from .diagnostics import DiagnosticContext, DiagnosticError, Renderer
from .errors import InvalidIRError, PassContractError
from .instrument import PassInstrumentor
from .ir.changes import Changes, ModuleRecord, Snapshot
from .ir.location import place_of
from .ir.per_class import OpClasses
from .ir.walk import ancestors, symbol_of, walk
from .limits import deep_recursion
from .names import name_key
from .registry import PassInfo, make_ir_context

if TYPE_CHECKING:
    from .conditions import Condition


class Run:
    """The state of one outermost call: the module, its analyses and changes, the valid passes, the
    stack of frames.

    A pass that calls a pass on the module of the current run joins that run; a call on another
    module has a run of its own.
    """

    def __init__(
        self,
        module: ModuleOp,
        ir_context: Context | None = None,
        instrumentor: Callable[[], PassInstrumentor] = PassInstrumentor,
    ) -> None:
        self.module = module
        self.frames: list[PassFrame] = []
        self.part: ModuleOp | None = None
        """The module that holds one op of this one alone, while a nested pass runs on it."""
        self.around: PassFrame | None = None
        """The pass that is nested on `module`, if that is the part of another run."""
        self.analyses = AnalysisManager(self.watch, instrumentor)
        self.counts: dict[str, Counter[str]] = {}
        self.passes: dict[str, ModulePass] = {}
        """The passes in which requirements are looked up, by the key of their name."""
        self.warned: set[str] = set()
        """The keys of the passes that a warning was reported about."""
        self.invalidated_by: dict[str, str] = {}
        """The key of a pass that is no longer valid -> the name of the pass that invalidated it."""
        self.version = 0
        """The number of passes that were found to change the module."""
        self.changed_in: dict[Operation, int] = {}
        """The version of the last change of each top-level op that changed since tracking began."""
        self.foreseen: Changes | None = None
        """The changes that workers made by the pass that runs, which are verified."""
        self.unsuited: set[str] = set()
        """The keys of the passes that workers could not run."""
        self.patterns: dict[Operation, str] | None = None
        """The pattern that inserted or erased each op, None if no instrument asks for it."""
        self.merged: dict[Operation, Operation] = {}
        """The equal op that remained for each op that was erased, if `patterns` are asked for."""
        self.last_changed: dict[Operation, tuple[str, str]] = {}
        """The pass that changed, made or moved each op last, and the pattern that made it if that
        is in `patterns`, while conditions are checked."""
        self._ir_context = ir_context
        self.watching = False
        """Whether changes are tracked, which costs a snapshot for each pass."""
        self._snapshot: Snapshot | None = None
        self.tracked: set[str] = set()
        """The keys of the passes of which is tracked whether they are valid."""
        self.valid: set[str] = set()
        """The keys of the tracked passes that are valid."""
        self._thread = threading.get_ident()

    # Which passes and analyses are valid

    def is_valid(self, name: str) -> bool:
        """Return whether a tracked pass ran, and no pass that does not preserve it changed the
        module since.
        """
        return name_key(name) in self.valid

    def mark_valid(self, info: PassInfo) -> None:
        """Note that a pass ran: it is valid then, and need not list itself in `preserves`."""
        if info.key in self.tracked:
            self.valid.add(info.key)
            self.invalidated_by.pop(info.key, None)

    def invalidate(self, frame: PassFrame, changes: Changes) -> None:
        """Drop the valid passes and the analyses that the pass of `frame` did not preserve with its
        changes."""
        kept = frozenset(frame.preserves)
        if self.around is not None:
            self.around.preserves = kept.intersection(self.around.preserves)
        invalidated = self.valid - {name_key(name) for name in kept if isinstance(name, str)}
        self.valid -= invalidated
        self.invalidated_by.update(dict.fromkeys(invalidated, frame.info.name))
        self.analyses.invalidate(changes, {each for each in kept if not isinstance(each, str)})

    def forget(self, error: BaseException) -> None:
        """Drop all that is known of the module, in which a pass failed with `error`."""
        if self.around is not None:
            self.around.preserves = ()
        self.valid.clear()
        self.analyses.clear(error)

    # The current run

    @staticmethod
    def active() -> Run | None:
        """Return the current run of this thread or task, or None if no pass is running."""
        run = _current.get()
        return run if run is not None and run._thread == threading.get_ident() else None

    @staticmethod
    def current() -> Run:
        """Return the current run of this thread or task; RuntimeError if no pass is running."""
        if (run := Run.active()) is None:
            raise RuntimeError(
                "no pass is running: diagnostics, analyses, counters and ir_context belong to a run"
            )
        return run

    @staticmethod
    @contextmanager
    def on(
        module: ModuleOp,
        ir_context: Context | None = None,
        instrumentor: Callable[[], PassInstrumentor] = PassInstrumentor,
    ) -> Generator[Run]:
        """Enter the current run if it is on `module`, else a new one, whose analyses report to the
        instrumentor.
        """
        outer = Run.active()
        if outer is not None:
            outer.check_reach(module)
            if outer.module is module:
                yield outer
                return
        _current.set(run := Run(module, ir_context, instrumentor))
        if outer is not None and outer.part is module:
            run.around = outer.frames[-1]
            if outer.watching:
                run.watch()
        try:
            with deep_recursion():
                yield run
        finally:
            _current.set(outer)

    def check_reach(self, module: ModuleOp) -> None:
        """Raise PassContractError if `module` is around the part that the running pass is nested
        on: others may be at work there."""
        if self.part is None or self.part is module or not module.is_ancestor(self.part):
            return
        raise PassContractError(
            f"pass '{self.frames[-1].info.name}' runs on a part of '{module.name}', and may not "
            "run passes on the whole: it may on ops that are nested in the part"
        )

    @property
    def ir_context(self) -> Context:
        """The xDSL context: the caller's, or a new one in which all registered dialects are
        available.
        """
        if self._ir_context is None:
            self._ir_context = make_ir_context()
        return self._ir_context

    @property
    def diagnostics(self) -> DiagnosticContext:
        """The diagnostics of the pass that is running."""
        return self.frames[-1].diagnostics

    @property
    def is_inside_leaf(self) -> bool:
        """Whether the pass that is running was called by one that is no composite."""
        return self.around is not None or any(not f.info.composite for f in self.frames[:-1])

    def count(self, name: str, n: int) -> None:
        """Add `n` to a counter of the pass that is running."""
        self.counters(self.frames[-1].info.name)[name] += n

    def counters(self, pass_name: str) -> Counter[str]:
        """Return the counters of a pass."""
        return self.counts.setdefault(pass_name, Counter())

    # Changes

    def watch(self) -> None:
        """Track the changes of the module from now on."""
        if self._snapshot is None:
            self._snapshot = Snapshot(self.module)
            self.watching = True

    def changes(self, details: bool = True) -> Changes:
        """Return the changes of the module since the last call, or since tracking began; without
        `details` only what changed at the top level.
        """
        self.watch()
        assert self._snapshot is not None
        changes, self.foreseen = self.foreseen, None
        if changes is None:
            changes = self._snapshot.update(details)
        if changes:
            self.version += 1
            self.changed_in.update(dict.fromkeys(changes.top_level, self.version))
            for op in changes.removed:
                self.changed_in.pop(op, None)
        return changes

    def reject(self, changes: Changes) -> None:
        """Let the next call of `changes` return these again: they failed verification."""
        if self._snapshot is not None:
            self._snapshot.reject(changes)

    @property
    def record(self) -> ModuleRecord | None:
        """The state of the module without pending changes; None if it is not tracked."""
        return None if self._snapshot is None else self._snapshot.record

    def op_classes(self) -> OpClasses:
        """Return the classes of the ops in the module, of which no change is pending."""
        if self._snapshot is None:
            return frozenset(map(type, walk(self.module)))
        return self._snapshot.op_classes

    def restart_tracking(self) -> None:
        """Take the current state of the module, which was restored, for the one to compare with."""
        if self.watching:
            self._snapshot = Snapshot(self.module)


_current: ContextVar[Run | None] = ContextVar("passline_run", default=None)


# A pass that is running


class PassFrame:
    """A pass that is running: its position in the pipeline, its current function, its
    diagnostics.
    """

    verify_each = verify_preserves = verify_dominance = False
    """Whether the context of the pass asks for the verification of its changes."""
    checks_conditions = False
    """Whether the context of the pass asks for checks of its conditions."""
    backup: ModuleOp | None = None
    """A copy of the module before the pass, if the context asks for a rollback."""
    function: Operation | None = None
    reported: DiagnosticContext | None = None
    step: Operation | None = None
    """The op of the step that the pass asked about last, if an instrument decides about steps."""
    verify_time = 0.0
    """The seconds spent on finding and verifying the changes of the pass."""
    worker_time = 0.0
    """The seconds that workers spent on the pass before it started here."""
    load_time = 0.0
    """The seconds spent, before the pass started, on importing modules that it needs."""

    def __init__(self, info: PassInfo, place: str = "", pass_: ModulePass | None = None) -> None:
        self.info = info
        self.place = place
        self.pass_ = pass_

    @cached_property
    def preserves(self) -> Collection[str | type | Condition]:
        """What the pass claims to preserve with its own changes, not with those of passes that it
        runs."""
        preserves: Collection[str | type | Condition] = getattr(self.pass_, "preserves", ())
        return preserves

    @property
    def diagnostics(self) -> DiagnosticContext:
        """Return the diagnostics of this pass, created on first use."""
        if self.reported is None:
            self.reported = DiagnosticContext()
        return self.reported

    def flush(self, renderer: Renderer) -> None:
        """Pass the collected diagnostics to `renderer`, and clear them; raise DiagnosticError if
        one of them is an error.
        """
        if self.reported is not None:
            self.reported.flush(renderer)

    def fail(self, error: BaseException, renderer: Renderer) -> None:
        """Render the collected diagnostics, and add a note to `error` that names the pass."""
        # `error` came first; the user sees the diagnostics all the same.
        with suppress(DiagnosticError):
            self.flush(renderer)
        strip_ir_notes(error)
        op = self.function
        if isinstance(error, InvalidIRError) and not self.info.composite:
            op = error.op
        where = _where(op) if op is not None else ""
        error.add_note(f"in pass '{self.info.text}'{self.place}{where}")


def _where(op: Operation) -> str:
    """Return ` on function @f at file:line:col` for an op in a function, and the op after it if
    that has another place."""
    function = next((around for around in ancestors(op) if symbol_of(around)), op)
    name = f"function @{symbol_of(function)}" if symbol_of(function) else f"'{op.name}'"
    place, inner = place_of(function), place_of(op)
    within = f", in '{op.name}'{inner}" if inner != place else ""
    return f" on {name}{place}{within}"


def strip_ir_notes(error: BaseException) -> None:
    """Move the notes in which xDSL's `emit_error` prints the whole IR in generic form, up to
    megabytes, to the attribute `ir_notes`.
    """
    notes: list[str] = getattr(error, "__notes__", [])
    if found := [note for note in notes if note.startswith('"') and "\n" in note]:
        notes[:] = [note for note in notes if note not in found]
        error.ir_notes = found  # pyright: ignore[reportAttributeAccessIssue]
