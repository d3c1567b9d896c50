"""Passes made of passes: one after the other with what they require, or one again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from .base import Pass
from .context import PassContext
from .info import PassInfo, check_level, check_name, check_names, name_key
from .options import options_text
from .requirements import Scope, Step
from .run import Run
from .runner import info_of, nested_passes, run_pass

__all__ = ["Fixpoint", "Plan", "Sequential"]


@dataclass(frozen=True)
class SequentialOptions:
    """What a Sequential has beside its passes."""

    name: str = "sequential"
    opt_level: int = 0
    required: tuple[str, ...] = ()


class Sequential(Pass):
    """Passes that run in order: those that the context enables, each after the passes that it
    requires.

    A required pass runs unless it still holds, that is, ran in this call and nothing that does not
    preserve it has changed the module since. It is looked up in the pipeline first, then among the
    installed passes. Errors: TypeError for what is no pass; PassDependencyError, before anything
    runs, for requirements that are unknown, form a cycle or cannot be built, and later for two that
    undo each other. Source: `tvm.transform.Sequential`.
    """

    name = "sequential"

    def __init__(
        self,
        passes: Iterable[ModulePass] = (),
        opt_level: int = 0,
        name: str = "sequential",
        required: Iterable[str] = (),
    ) -> None:
        self.passes = check_passes(passes)
        self.options = SequentialOptions(name, opt_level, check_names("required", required))
        check_name(name)
        check_level(opt_level)

    @cached_property
    def info(self) -> PassInfo:
        own = self.options
        children = ",".join(info_of(child).text for child in self.passes)
        text = f"{Sequential.name}{options_text(own)}({children})"
        return PassInfo(own.name, own.opt_level, own.required, text, composite=True)

    @property
    def children(self) -> tuple[ModulePass, ...]:
        return self.passes

    @cached_property
    def _own_steps(self) -> tuple[Step, ...]:
        """The steps if every pass runs and requires nothing."""
        count = len(self.passes)
        return tuple(
            Step(child, info_of(child), "run", place=f" ({index} of {count})")
            for index, child in enumerate(self.passes, 1)
        )

    @cached_property
    def _requires_any(self) -> bool:
        """Whether any pass in here requires another."""
        return any(info_of(pass_).required for pass_ in nested_passes(self))

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        scope = Scope(run.passes)
        if self._requires_any:
            run.track(scope.enter(self, ctx))
        waived: set[str] = set()
        skipped: list[Step] = []
        ran = False
        for step in self._steps(
            ctx, scope, lambda name: name_key(name) in waived or run.is_valid(name)
        ):
            pass_, info, action, reason, place, _ = step
            if action == "run":
                ran = run_pass(pass_, run, ctx, place) or ran
                waived.clear()
            elif action == "skip":
                ctx.instrumentor.pass_skipped(module, info, reason)
                skipped.append(step)
            else:
                _warn_about_requirement(step, ctx, run)
                if not run_pass(pass_, run, ctx, place):
                    waived.add(info.key)
        if skipped and not ran:
            _warn_about_levels(self.info, skipped, ctx, run)

    def plan(self, ctx: PassContext | None = None) -> Plan:
        """What would run under `ctx`, or the present context, and what not, and why; nothing is
        run.
        """
        ctx = ctx or PassContext.current()
        scope = Scope({})
        scope.enter(self, ctx)
        return Plan(tuple(self._planned(ctx, scope, 0, set())))

    def _planned(
        self, ctx: PassContext, scope: Scope, depth: int, seen: set[str]
    ) -> Iterator[Step]:
        """The steps, and below each nested pipeline its own; what is ensured counts as holding for
        one child.
        """
        assumed: set[str] = set()
        for step in self._steps(ctx, scope, lambda name: name_key(name) in assumed):
            again = step.action == "ensure" and step.info.key in seen
            reason = f"{step.reason}, unless it still holds" if again else step.reason
            yield step._replace(depth=depth, reason=reason)
            if step.action == "ensure":
                assumed.add(step.info.key)
            else:
                assumed.clear()
            if step.action != "skip":
                seen.add(step.info.key)
                if isinstance(step.pass_, Sequential):
                    yield from step.pass_._planned(ctx, scope, depth + 1, seen)

    def _steps(
        self, ctx: PassContext, scope: Scope, holds: Callable[[str], bool]
    ) -> Iterator[Step]:
        """What is to be done next; `holds` is asked as the steps are done."""
        for step in self._own_steps:
            info = step.info
            if (reason := ctx.skip_reason(info)) is not None:
                yield step._replace(action="skip", reason=reason)
                continue
            if info.required:
                yield from scope.ensure(info, holds)
            yield step


@dataclass(frozen=True)
class Plan:
    """What a pipeline would run, and what not, and why; `str` gives it as text, a line a pass."""

    steps: tuple[Step, ...]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))


@dataclass(frozen=True)
class FixpointOptions:
    """What a Fixpoint has beside its pass."""

    max_iterations: int = 10


class Fixpoint(Pass):
    """A pass that runs another again and again until it changes nothing more.

    A warning says so if that is still not the case after `max_iterations`.
    """

    name = "fixpoint"

    def __init__(self, pass_: ModulePass, max_iterations: int = 10) -> None:
        (self.pass_,) = check_passes([pass_])
        if max_iterations < 1:
            raise ValueError(f"max_iterations is 1 or more, not {max_iterations}")
        self.options = FixpointOptions(max_iterations)

    @cached_property
    def info(self) -> PassInfo:
        child = info_of(self.pass_)
        text = f"{self.name}{options_text(self.options)}({child.text})"
        return PassInfo(self.name, child.opt_level, child.required, text, composite=True)

    @property
    def children(self) -> tuple[ModulePass, ...]:
        return (self.pass_,)

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        run.watch()
        limit = self.options.max_iterations
        for iteration in range(1, limit + 1):
            version = run.version
            run_pass(self.pass_, run, ctx, f" (iteration {iteration})")
            if run.version == version:
                return
        run.diagnostics.warning(
            None,
            f"pass '{self.info.text}' still changed the module in the last of {limit} iterations",
        )


def check_passes(passes: object) -> tuple[ModulePass, ...]:
    """The passes in `passes`; TypeError that says what to write for anything else."""
    if isinstance(passes, str | ModulePass | PassPipeline) or not isinstance(passes, Iterable):
        raise TypeError(f"a pipeline is made of a list of passes, not of {passes!r}")
    checked: list[ModulePass] = []
    for pass_ in cast(Iterable[object], passes):
        if not isinstance(pass_, ModulePass):
            raise TypeError(f"{pass_!r} is no pass{_instead(pass_)}")
        checked.append(pass_)
    return tuple(checked)


def _instead(given: object) -> str:
    """What to write instead of something that is no pass."""
    if isinstance(given, type) and issubclass(given, ModulePass):
        return f" but the class of one: write {given.__name__}()"
    if isinstance(given, str):
        return f" but a string: write parse_pipeline({given!r}), or an instance of its class"
    if isinstance(given, PassPipeline):
        return ": write Sequential(pipeline.passes) for a PassPipeline"
    return ""


def _warn_about_requirement(step: Step, ctx: PassContext, run: Run) -> None:
    """Report, once a run, a requirement that runs although the context leaves it out."""
    if (reason := ctx.skip_reason(step.info)) is not None and step.info.key not in run.warned:
        run.warned.add(step.info.key)
        run.diagnostics.warning(
            None, f"pass '{step.info.name}' runs although it is left out ({reason}): {step.reason}"
        )


def _warn_about_levels(info: PassInfo, skipped: list[Step], ctx: PassContext, run: Run) -> None:
    """Report a pipeline that did nothing because all of its passes are of a higher level."""
    if not any(ctx.is_disabled(step.info) for step in skipped):
        names = ", ".join(f"{step.info.name} ({step.info.opt_level})" for step in skipped)
        run.diagnostics.warning(
            None,
            f"pipeline '{info.name}' ran none of its passes: "
            f"opt_level {ctx.opt_level} is below {names}",
        )
