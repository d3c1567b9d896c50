"""Frame: a pass that is running, with its diagnostics."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..errors import InvalidIRError
from ..ir.location import place_of
from ..ir.symbols import symbol_of
from ..ir.walk import ancestors
from ..registration.info import PassInfo
from .diagnostics import DiagnosticContext, DiagnosticError, Renderer

__all__ = ["Frame", "strip_ir_notes"]


class Frame:
    """A pass that is running: its position in the pipeline, its current function, its
    diagnostics.
    """

    verify_each = verify_preserves = verify_dominance = False
    """Whether the context of the pass asks for the verification of its changes."""
    backup: ModuleOp | None = None
    """A copy of the module before the pass, if the context asks for a rollback."""
    function: Operation | None = None
    reported: DiagnosticContext | None = None
    step: Operation | None = None
    """The op of the step that the pass asked about last, if an instrument decides about steps."""
    verify_time = 0.0
    """The seconds spent on finding and verifying the changes of the pass."""
    load_time = 0.0
    """The seconds spent, before the pass started, on importing modules that it needs."""

    def __init__(self, info: PassInfo, place: str = "", pass_: ModulePass | None = None) -> None:
        self.info = info
        self.place = place
        self.pass_ = pass_

    @cached_property
    def preserves(self) -> Collection[str | type]:
        """What the pass claims to preserve with its own changes, not with those of passes that it
        runs."""
        preserves: Collection[str | type] = getattr(self.pass_, "preserves", ())
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
