"""Actions: the permission that an algorithm asks for before a change, and its reports afterwards.

An algorithm takes an `Actions` object and reports to it without conditions:

    def fold_constants(func, actions: Actions = SILENT) -> None:
        ...
            if actions.allowed(op):
                replace(op, values)
                actions.passed(op, "Folded", "replaced by its value")
                actions.count("folded")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from xdsl.ir import Operation

from ..instrument import PassInstrument
from ..run import PassFrame
from .diagnostics import Diagnostic, DiagnosticError, Severity, Where, make
from .remarks import Argument, RemarkKind, make_remark

__all__ = ["SILENT", "Actions", "PassActions", "Recorder"]


class Actions:
    """The base class, which allows every step and records nothing; an error raises at once.

    Subclasses number and filter the steps, count them, and make remarks. `decides` is false where
    every step is allowed, `wants_remarks` where remarks are dropped, and `wants_rewrites` where
    nobody asks which pattern made an op, so that an algorithm can skip work that only these need.
    Source: MLIR's `Action` and `remark`.
    """

    decides: bool = False
    wants_remarks: bool = False
    wants_rewrites: bool = False

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        """Return whether the next step may be taken; ask just before it, and skip it if not.

        `tag` is the kind of step, by default the name of the pass.
        """
        return True

    def passed(
        self,
        where: Where,
        name: str,
        message: str,
        /,
        scope: Operation | None = None,
        **arguments: Argument,
    ) -> None:
        """Report a change that was made.

        `name` is the same for all changes of a kind. `scope` is the op that held `where`, if
        `where` has been erased.
        """
        self.remark(RemarkKind.PASSED, where, name, message, arguments, scope)

    def missed(self, where: Where, name: str, message: str, /, **arguments: Argument) -> None:
        """Report a change that was not made, and why."""
        self.remark(RemarkKind.MISSED, where, name, message, arguments)

    def failed(self, where: Where, name: str, message: str, /, **arguments: Argument) -> None:
        """Report a change that was tried without success, and why."""
        self.remark(RemarkKind.FAILED, where, name, message, arguments)

    def analysis(self, where: Where, name: str, message: str, /, **arguments: Argument) -> None:
        """Report a fact that was found."""
        self.remark(RemarkKind.ANALYSIS, where, name, message, arguments)

    def remark(
        self,
        kind: RemarkKind,
        where: Where,
        name: str,
        message: str,
        arguments: Mapping[str, Argument],
        scope: Operation | None = None,
        /,
    ) -> None:
        """Make a remark of a kind: what the four methods above call."""

    def rewrote(
        self, pattern: str, inserted: Iterable[Operation], erased: Iterable[Operation]
    ) -> None:
        """Report a rewrite with the ops that it inserted and erased."""

    def merged(self, op: Operation, into: Operation) -> None:
        """Report that `op` is erased because the equal op `into` takes its place."""

    def error(self, where: Where, message: str) -> Diagnostic:
        """Report invalid input: the pass fails when it ends. Outside of a pass, raise
        DiagnosticError.
        """
        diagnostic = make(Severity.ERROR, where, message)
        raise DiagnosticError(str(diagnostic), [diagnostic])

    def warning(self, where: Where, message: str) -> None:
        """Report input that is valid but suspicious."""

    def count(self, name: str, n: int = 1) -> None:
        """Add `n` to the counter `name`."""


SILENT = Actions()
"""The actions of an algorithm that is called outside of a pass."""


class PassActions(Actions):
    """The actions of the pass of `frame`.

    The instruments `deciders` decide about its steps. Remarks of the wanted `kinds` and errors
    become diagnostics of the pass, and counters its statistics. `patterns` gets the pattern that
    inserted or erased each op, and `merged` the op that each merged one was merged into.
    """

    def __init__(
        self,
        frame: PassFrame,
        counters: Counter[str],
        kinds: Collection[RemarkKind] = (),
        deciders: Sequence[PassInstrument] = (),
        patterns: dict[Operation, str] | None = None,
        merged: dict[Operation, Operation] | None = None,
    ) -> None:
        self._frame = frame
        self._counters = counters
        self._kinds = kinds
        self._deciders = deciders
        self.decides = bool(deciders)
        self._patterns = patterns
        self._merged = merged
        self.wants_remarks = bool(kinds)
        self.wants_rewrites = patterns is not None

    def allowed(self, op: Operation | None = None, tag: str = "") -> bool:
        if not self._deciders:
            return True
        tag = tag or self._frame.info.name
        self._frame.step = op
        # All are asked, so that each counts every step.
        return all([decider.should_execute(tag) for decider in self._deciders])

    def rewrote(
        self, pattern: str, inserted: Iterable[Operation], erased: Iterable[Operation]
    ) -> None:
        if self._patterns is not None:
            self._patterns.update(dict.fromkeys([*inserted, *erased], pattern))

    def merged(self, op: Operation, into: Operation) -> None:
        if self.wants_rewrites and self._merged is not None:
            self._merged[op] = into

    def error(self, where: Where, message: str) -> Diagnostic:
        return self._frame.diagnostics.error(where, message)

    def warning(self, where: Where, message: str) -> None:
        self._frame.diagnostics.warning(where, message)

    def count(self, name: str, n: int = 1) -> None:
        self._counters[name] += n

    def remark(
        self,
        kind: RemarkKind,
        where: Where,
        name: str,
        message: str,
        arguments: Mapping[str, Argument],
        scope: Operation | None = None,
        /,
    ) -> None:
        if kind in self._kinds:
            remark = make_remark(self._frame, kind, where, name, message, arguments, scope)
            self._frame.diagnostics.add(remark)


class Recorder(Actions):
    """Actions that keep the reports: for tests, and for callers outside of a pass.

    `counts` has the counters, `remarks` pairs of a kind and a name, `errors` and `warnings` the
    diagnostics.
    """

    wants_remarks = True

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.remarks: list[tuple[RemarkKind, str]] = []
        self.errors: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []

    def remark(self, kind: RemarkKind, where: Where, name: str, /, *_: object) -> None:
        self.remarks.append((kind, name))

    def error(self, where: Where, message: str) -> Diagnostic:
        self.errors.append(diagnostic := make(Severity.ERROR, where, message))
        return diagnostic

    def warning(self, where: Where, message: str) -> None:
        self.warnings.append(make(Severity.WARNING, where, message))

    def count(self, name: str, n: int = 1) -> None:
        self.counts[name] += n
