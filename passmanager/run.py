"""Run: the state of one outermost call of a pass, and what changed in the module since."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from .analysis_manager import AnalysisManager
from .diagnostics import DiagnosticContext, DiagnosticError, Renderer
from .errors import InvalidIRError
from .info import PassInfo, name_key
from .instrumentor import PassInstrumentor
from .ir.changes import Changes
from .ir.location import place_of
from .ir.snapshot import Snapshot
from .ir.symbols import symbol_of
from .registry import make_ir_context

__all__ = ["Frame", "Run"]


class Frame:
    """One pass that is running: its place in the pipeline, the function it is at, what it has
    reported.
    """

    function: Operation | None = None
    reported: DiagnosticContext | None = None
    verify_time = 0.0
    """The seconds that went into seeing and verifying what the pass changed."""

    def __init__(self, info: PassInfo, place: str = "") -> None:
        self.info = info
        self.place = place

    @property
    def diagnostics(self) -> DiagnosticContext:
        """Where the pass reports."""
        if self.reported is None:
            self.reported = DiagnosticContext()
        return self.reported

    def flush(self, renderer: Renderer) -> None:
        """Render what the pass reported; raise DiagnosticError if that is an error."""
        if self.reported is not None:
            self.reported.flush(renderer)

    def fail(self, error: BaseException, renderer: Renderer) -> None:
        """Render what the pass reported, and note on `error` which pass it came out of."""
        try:
            self.flush(renderer)
        except DiagnosticError:
            pass  # `error` was there first; the user has seen the diagnostics.
        strip_ir_notes(error)
        op = self.function
        if isinstance(error, InvalidIRError) and not self.info.composite:
            op = error.op
        where = f" on {_function_name(op)}{place_of(op)}" if op is not None else ""
        error.add_note(f"in pass '{self.info.text}'{self.place}{where}")


def _function_name(op: Operation) -> str:
    """`function @f` for an op that is in one, else the name of the op."""
    current: Operation | None = op
    while current is not None:
        if name := symbol_of(current):
            return f"function @{name}"
        current = current.parent_op()
    return f"'{op.name}'"


def strip_ir_notes(error: BaseException) -> None:
    """Take off the notes in which xDSL's `emit_error` prints the whole IR in generic form:
    megabytes of it.
    """
    notes: list[str] = getattr(error, "__notes__", [])
    notes[:] = [n for n in notes if not (n.startswith('"') and "\n" in n)]


class Run:
    """What belongs to one outermost call: the module, diagnostics, analyses, what holds, the stack
    of passes.

    A call of a pass on the module of the present run belongs to that run; a call on another module
    has a run of its own.
    """

    def __init__(
        self,
        module: ModuleOp,
        ir_context: Context | None = None,
        instrumentor: Callable[[], PassInstrumentor] = PassInstrumentor,
    ) -> None:
        self.module = module
        self.frames: list[Frame] = []
        self.analyses = AnalysisManager(self.watch, instrumentor)
        self.counts: dict[str, Counter[str]] = {}
        self.passes: dict[str, ModulePass] = {}
        """The passes that requirements are looked up in, by the key of their name."""
        self.warned: set[str] = set()
        """The passes that were warned about."""
        self.invalidated_by: dict[str, str] = {}
        """The key of a pass that ceased to hold -> the name of the pass that saw to it."""
        self.version = 0
        """How many passes were seen to have changed the module."""
        self._ir_context = ir_context
        self.watching = False
        """Whether changes to the module are seen; where nobody wants to know, nothing is spent."""
        self._snapshot: Snapshot | None = None
        self._tracked: set[str] = set()
        self._valid: set[str] = set()
        self._thread = threading.get_ident()

    # The present run

    @staticmethod
    def active() -> Run | None:
        """The run of this thread or task, if a pass is running."""
        run = _present.get()
        return run if run is not None and run._thread == threading.get_ident() else None

    @staticmethod
    def current() -> Run:
        """The run of this thread or task; RuntimeError if no pass is running."""
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
        """The present run if it is on `module`, else a new one, which is the present one until the
        end, and tells the `instruments` of its analyses.
        """
        outer = Run.active()
        if outer is not None and outer.module is module:
            yield outer
            return
        _present.set(run := Run(module, ir_context, instrumentor))
        try:
            yield run
        finally:
            _present.set(outer)

    @property
    def ir_context(self) -> Context:
        """The xDSL context: the caller's, or one in which every installed dialect is registered."""
        if self._ir_context is None:
            self._ir_context = make_ir_context()
        return self._ir_context

    @property
    def diagnostics(self) -> DiagnosticContext:
        """Where the pass that is running reports."""
        return self.frames[-1].diagnostics

    def count(self, name: str, n: int) -> None:
        """Add `n` to a counter of the pass that is running."""
        self.counters(self.frames[-1].info.name)[name] += n

    def counters(self, pass_name: str) -> Counter[str]:
        """Return the counters of a pass."""
        return self.counts.setdefault(pass_name, Counter())

    # What changed

    def watch(self) -> None:
        """From here on, changes to the module are seen."""
        if self._snapshot is None:
            self._snapshot = Snapshot(self.module)
            self.watching = True

    def changes(self) -> Changes:
        """What changed in the module since this was asked last."""
        self.watch()
        assert self._snapshot is not None
        changes = self._snapshot.update()
        self.version += bool(changes)
        return changes

    # What holds

    def track(self, names: Iterable[str]) -> None:
        """From here on, keep track of whether these passes hold."""
        self._tracked.update(map(name_key, names))
        if self._tracked:
            self.watch()

    def is_valid(self, name: str) -> bool:
        """Whether the pass ran, and nothing that does not preserve it changed the module since."""
        return name_key(name) in self._valid

    def update_preserved(
        self, info: PassInfo, preserves: Iterable[str | type], changes: Changes | None
    ) -> None:
        """After a pass: forget what no longer holds, remember that this pass does."""
        if changes:
            kept = frozenset(preserves)
            undone = self._valid - {name_key(name) for name in kept if isinstance(name, str)}
            self._valid -= undone
            self.invalidated_by.update(dict.fromkeys(undone, info.name))
            self.analyses.invalidate(changes, {cls for cls in kept if isinstance(cls, type)})
        if info.key in self._tracked:
            self._valid.add(info.key)
            self.invalidated_by.pop(info.key, None)

    def forget(self, error: BaseException) -> None:
        """Nothing is known of the module any more: `error` made it go back to an earlier state."""
        if self.watching:
            self._snapshot = Snapshot(self.module)
        self._valid.clear()
        self.analyses.clear(error)


_present: ContextVar[Run | None] = ContextVar("passline_run", default=None)
