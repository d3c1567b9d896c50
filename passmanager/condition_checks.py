"""The checks of what a pass requires and ensures, and the errors about what does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Literal, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from .conditions import Condition, Violation, conditions_of, default_conditions
from .context import PassContext
from .errors import ConditionError
from .ir.location import place_of
from .ir.walk import ancestors, name_of, symbol_of
from .names import did_you_mean, name_key
from .registry import PassInfo, installed
from .run import PassFrame, Run

Attribute = Literal["requires", "ensures"]


def check_conditions(attribute: Attribute, frame: PassFrame, run: Run, ctx: PassContext) -> None:
    """Check the conditions that the pass of `frame` requires or ensures, where it visits ops.

    A pass whose steps an instrument may block, as a debug counter does, ensures nothing.
    Errors: ConditionError for the first that does not hold, or that cannot be checked.
    """
    if attribute == "ensures" and ctx.instrumentor.deciders:
        return
    assert frame.pass_ is not None
    for condition in conditions_of(frame.pass_, attribute):
        if condition.named_ops and str(condition) not in run.warned:
            run.warned.add(str(condition))
            _warn_about_names(condition, run)
        for op in checked_ops(condition, frame.pass_, run.module):
            try:
                violations = _violations(condition, op, run, ctx)
            except ConditionError as error:
                error.add_note(f"in condition '{condition}', which the pass {attribute}")
                raise
            if violations:
                raise _error(attribute, condition, violations, frame, run, ctx)


def _warn_about_names(condition: Condition, run: Run) -> None:
    """Warn, once a run, about an operation that does not exist: the condition holds always."""
    context = run.ir_context
    for name in condition.named_ops:
        if context.get_optional_op(name) is None:
            hint = did_you_mean(name, [op.name for op in context.loaded_ops])
            message = f"condition '{condition}': there is no operation '{name}'{hint}"
            run.diagnostics.warning(None, message)


def unmet_condition(pass_: ModulePass, module: ModuleOp) -> Condition | None:
    """Return the first condition that `pass_` requires and that does not hold in `module`; None if
    the pass may run."""
    return next(
        (
            condition
            for condition in conditions_of(pass_, "requires")
            if any(condition(op) for op in checked_ops(condition, pass_, module))
        ),
        None,
    )


def checked_ops(condition: Condition, pass_: ModulePass, module: ModuleOp) -> Iterable[Operation]:
    """Return the ops on which a condition of `pass_` is checked."""
    if condition.whole_module:
        return (module,)
    visited = getattr(pass_, "visited", None)  # a pass of another project has none
    return [*module.ops] if visited is None else [*visited(module)]


def _violations(
    condition: Condition, op: Operation, run: Run, ctx: PassContext
) -> tuple[Violation, ...]:
    if ctx.check_conditions == "always":
        return condition(op)
    # An analysis is called with an op, and has a name: the manager and the instruments need no
    # more.
    return run.analyses.get(cast("type[tuple[Violation, ...]]", condition), op)


# Errors


def _error(
    attribute: Attribute,
    condition: Condition,
    violations: tuple[Violation, ...],
    frame: PassFrame,
    run: Run,
    ctx: PassContext,
) -> ConditionError:
    op, how = violations[0]
    breaks = f", but {_subject(op)} {how}" if how else f", which {_subject(op)} breaks"
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    what = f"{attribute} '{condition}' ({condition.statement})"
    message = f"pass '{frame.info.name}' {what}{breaks}{more}"
    if attribute == "requires":
        advice = _advice(condition, frame, run, ctx)
    else:
        advice = "the pass broke its promise: the error is in it, or in what it ensures"
    blame = _blame(op, run)
    error = ConditionError("; ".join(filter(None, (f"{message}{place_of(op)}", blame, advice))))
    error.op, error.message, error.blame, error.advice = op, message, blame, advice
    return error


def _subject(op: Operation) -> str:
    return f"@{symbol}" if (symbol := symbol_of(op)) else f"'{name_of(op)}'"


def _blame(op: Operation, run: Run) -> str:
    """Return which pass changed `op`, or the nearest op around it that one changed, last; empty
    text if that is not recorded."""
    if not run.frames[-1].checks_conditions:
        return ""
    around = next((each for each in ancestors(op) if each in run.last_changed), None)
    if around is None or isinstance(around, ModuleOp):
        return "no pass has changed it"
    name, pattern = run.last_changed[around]
    subject = "it" if around is op else _subject(around)
    by = f" (pattern {pattern})" if pattern else ""
    return f"{subject} was last changed by '{name}'{by}"


def _advice(condition: Condition, frame: PassFrame, run: Run, ctx: PassContext) -> str:
    """Return which pass establishes a condition: one of the pipeline, or else registered ones."""
    outermost = run.frames[0].pass_
    pipeline = [] if outermost is None else [*_nested(outermost)]
    # By identity first: a pass may be in the pipeline several times.
    here = next((at for at, pass_ in enumerate(pipeline) if pass_ is frame.pass_), len(pipeline))
    found = [at for at, pass_ in enumerate(pipeline) if at != here and _ensures(pass_, condition)]
    for at in found:
        info: object = getattr(pipeline[at], "info", None)  # a pass of another project has none
        skipped = ctx.skip_reason(info) if isinstance(info, PassInfo) else None
        if skipped is not None:
            return f"{pipeline[at].name} would establish it, but is skipped ({skipped})"
        again = f"run {pipeline[at].name} again before it"
        return again if at < here else f"move {pipeline[at].name} before it"
    others = [name for name in establishing_passes(condition) if name_key(name) != frame.info.key]
    return f"run {' or '.join(others)} first" if others else ""


def _nested(pass_: ModulePass) -> Iterator[ModulePass]:
    """Yield the leaves of a pipeline in order."""
    children: tuple[ModulePass, ...] = getattr(pass_, "children", ())
    if not children:
        yield pass_
    for child in children:
        yield from _nested(child)


def establishing_passes(condition: Condition) -> Iterator[str]:
    """Yield the names of the registered passes after which a condition holds."""
    return (name for name, cls in _registered_passes() if _ensures(cls, condition))


def registered_conditions() -> list[Condition]:
    """Return the conditions that registered passes require or ensure with their default options."""
    found: dict[Condition, None] = {}
    for _, cls in _registered_passes():
        for attribute in ("requires", "ensures"):
            found |= dict.fromkeys(default_conditions(cls, attribute))
    return [*found]


def _registered_passes() -> Iterator[tuple[str, type[ModulePass]]]:
    """Yield the registered passes with their names; not those of xDSL, which have no conditions and
    take a second to import, and not those that need what is not installed."""
    for name, factory in sorted(installed().passes.items()):
        if factory.__module__.partition(".")[0] != "xdsl":
            with suppress(Exception):
                yield name, factory()


def _ensures(pass_: object, condition: Condition) -> bool:
    """Return whether a pass, or the class of one, ensures a condition whatever its options."""
    ensured: object = getattr(pass_, "ensures", ())
    if not isinstance(ensured, Iterable):
        return False  # a property of a class
    given = cast(Iterable[object], ensured)
    return any(isinstance(each, Condition) and condition.follows_from(each) for each in given)
