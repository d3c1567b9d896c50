"""What passes report: the actions that they took and missed, and remarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from xdsl.ir import Operation

from .diagnostics import Diagnostic, DiagnosticError, Severity, Where, make, op_at, place_in_file
from .instrument import PassInstrument
from .ir.walk import ancestors, symbol_of
from .names import did_you_mean
from .run import PassFrame

# Remarks: optimization remarks of passes as data, their selection, and their text and YAML.


Argument = str | int | float
"""The value of an argument of a remark."""


class RemarkKind(Enum):
    """The kind of a remark; the values are LLVM's words."""

    PASSED = "Passed"
    MISSED = "Missed"
    FAILED = "Failure"
    ANALYSIS = "Analysis"


@dataclass
class Remark(Diagnostic):
    """A remark as data; its message is the whole remark as text, in MLIR's format."""

    kind: RemarkKind = field(kw_only=True)
    name: str = field(kw_only=True)
    pass_name: str = field(kw_only=True)
    function: str = field(kw_only=True)
    """The symbol of the function of its subject, empty if unknown."""
    arguments: dict[str, Argument] = field(kw_only=True)
    category: str = field(kw_only=True)
    """By default the name of the pass."""
    related: Remark | None = field(default=None, kw_only=True)
    """Another remark that explains this one, as the analysis that allows a change."""
    number: int = field(default=0, kw_only=True)
    """The number among the diagnostics of the pass, once it has ended."""

    @property
    def text(self) -> str:
        """The whole remark in MLIR's format."""
        parts = [f"[{self.kind.value}] {self.name}", f"Category:{self.category}"]
        parts += [f"Function={self.function}"] if self.function else []
        parts += [", ".join(f"{key}={_shown(value)}" for key, value in self.arguments.items())]
        return " | ".join(parts)

    def settle(self, number: int) -> None:
        # Workers make remarks of one pass at the same time: they are numbered in order at its end.
        self.number = number
        if (other := self.related) is not None:
            self.arguments["RelatedTo"] = other.arguments.setdefault("RemarkId", other.number)
            self.message, other.message = self.text, other.text


class RemarkFilter:
    """A selection of remarks by kind, and by pass or category.

    `patterns` has a regular expression, searched in the names of passes and in categories, for each
    kind, or for all kinds under `all`; a single string is for all kinds. Errors: ValueError for an
    unknown kind or an invalid regular expression.
    """

    def __init__(self, patterns: str | Mapping[str, str] | None = None) -> None:
        given = {"all": patterns} if isinstance(patterns, str) else patterns or {}
        self._patterns: list[tuple[frozenset[RemarkKind], re.Pattern[str]]] = []
        for name, pattern in given.items():
            try:
                self._patterns.append((_kinds_called(name), re.compile(pattern)))
            except re.error as error:
                raise ValueError(f"remark_filter: '{pattern}' for {name}: {error}") from None

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def matches(self, names: Iterable[str]) -> bool:
        """Return whether remarks of one of these passes or categories may be wanted."""
        return any(pattern.search(name) for name in names for _, pattern in self._patterns)

    def wants(self, kind: RemarkKind, pass_name: str, category: str = "") -> bool:
        """Return whether a remark of this kind, pass and category is wanted."""
        return any(
            kind in kinds and (pattern.search(pass_name) or pattern.search(category))
            for kinds, pattern in self._patterns
        )


def _kinds_called(name: str) -> frozenset[RemarkKind]:
    known = {kind.name.lower(): frozenset([kind]) for kind in RemarkKind}
    known["all"] = frozenset(RemarkKind)
    if name not in known:
        hint = did_you_mean(name, known) or f"; choose from {', '.join(known)}"
        raise ValueError(f"remark_filter: unknown kind of remarks '{name}'{hint}")
    return known[name]


def make_remark(
    frame: PassFrame,
    kind: RemarkKind,
    where: Where,
    name: str,
    message: str,
    arguments: Mapping[str, Argument],
    scope: Operation | None = None,
    category: str = "",
) -> Remark:
    """Return a remark of the pass of `frame` about `where`; `scope` is the op that held `where`, if
    that has been erased.
    """
    values: dict[str, Argument] = {"Remark": message}
    if isinstance(where, Operation):
        values["Op"] = where.name
    values.update(arguments)
    remark = Remark(
        Severity.REMARK,
        "",
        place_in_file(where),
        kind=kind,
        name=name,
        pass_name=frame.info.name,
        function=_function_of(scope or op_at(where)) or _function_of(frame.function),
        arguments=values,
        category=category or frame.info.name,
    )
    remark.message = remark.text
    return remark


def _function_of(op: Operation | None) -> str:
    """Return the symbol of the innermost symbol op around `op`, or `op` itself; empty if none."""
    return next((name for around in ancestors(op) if (name := symbol_of(around))), "")


def _shown(value: Argument) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


# Actions: the permission that an algorithm asks for before a change, and its reports afterwards.
#
# An algorithm takes an `Actions` object and reports to it without conditions:
#
#     def fold_constants(func, actions: Actions = SILENT) -> None:
#         ...
#             if actions.allowed(op):
#                 replace(op, values)
#                 actions.passed(op, "Folded", "replaced by its value")
#                 actions.count("folded")


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
        *,
        category: str = "",
        related: Remark | None = None,
        **arguments: Argument,
    ) -> Remark | None:
        """Report a change that was made; return the remark about it, or None if none is wanted.

        `name` is the same for all changes of a kind. `scope` is the op that held `where`, if
        `where` has been erased. `category` is what remarks are selected by, by default the name
        of the pass; `related` is another remark, which explains this one.
        """
        kind = RemarkKind.PASSED
        return self.remark(kind, where, name, message, arguments, scope, category, related)

    def missed(
        self,
        where: Where,
        name: str,
        message: str,
        /,
        *,
        category: str = "",
        related: Remark | None = None,
        **arguments: Argument,
    ) -> Remark | None:
        """Report a change that was not made, and why."""
        kind = RemarkKind.MISSED
        return self.remark(kind, where, name, message, arguments, None, category, related)

    def failed(
        self,
        where: Where,
        name: str,
        message: str,
        /,
        *,
        category: str = "",
        related: Remark | None = None,
        **arguments: Argument,
    ) -> Remark | None:
        """Report a change that was tried without success, and why."""
        kind = RemarkKind.FAILED
        return self.remark(kind, where, name, message, arguments, None, category, related)

    def analysis(
        self,
        where: Where,
        name: str,
        message: str,
        /,
        *,
        category: str = "",
        related: Remark | None = None,
        **arguments: Argument,
    ) -> Remark | None:
        """Report a fact that was found."""
        kind = RemarkKind.ANALYSIS
        return self.remark(kind, where, name, message, arguments, None, category, related)

    def remark(
        self,
        kind: RemarkKind,
        where: Where,
        name: str,
        message: str,
        arguments: Mapping[str, Argument],
        scope: Operation | None = None,
        category: str = "",
        related: Remark | None = None,
        /,
    ) -> Remark | None:
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

    The instruments `deciders` decide about its steps. The `wanted` remarks and errors become
    diagnostics of the pass, and counters its statistics. `patterns` gets the pattern that
    inserted or erased each op, and `merged` the op that each merged one was merged into.
    """

    def __init__(
        self,
        frame: PassFrame,
        counters: Counter[str],
        wanted: RemarkFilter | None = None,
        deciders: Sequence[PassInstrument] = (),
        patterns: dict[Operation, str] | None = None,
        merged: dict[Operation, Operation] | None = None,
    ) -> None:
        self._frame = frame
        self._counters = counters
        self._wanted = wanted or RemarkFilter()
        categories: Iterable[str] = getattr(frame.pass_, "remark_categories", ())
        self._deciders = deciders
        self.decides = bool(deciders)
        self._patterns = patterns
        self._merged = merged
        self.wants_remarks = self._wanted.matches((frame.info.name, *categories))
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
        category: str = "",
        related: Remark | None = None,
        /,
    ) -> Remark | None:
        if not self._wanted.wants(kind, self._frame.info.name, category):
            return None
        frame = self._frame
        remark = make_remark(frame, kind, where, name, message, arguments, scope, category)
        remark.related = related
        frame.diagnostics.add(remark)
        return remark


class CollectingActions(Actions):
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
