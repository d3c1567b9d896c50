"""Sequential and Fixpoint, the passes made of passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from .base import Pass
from .context import PassContext
from .ir.walk import brief
from .names import name_key
from .options import options_text
from .output.html import to_html
from .registry import PassInfo, check_level, check_name, check_names
from .requirements import RequirementScope, Step, enter_scope, run_required, run_requirements
from .run import Run
from .runner import info_of, nested_passes, run_pass


@dataclass(frozen=True)
class SequentialOptions:
    """The options of a Sequential."""

    name: str = "sequential"
    opt_level: int = 0
    required: tuple[str, ...] = ()


class Sequential(Pass):
    """A pass that runs passes in order: those that the context enables, each after its
    requirements.

    A required pass runs unless it is still valid: it ran in this call, and no pass that does not
    preserve it has changed the module since. It is looked up in the pipeline first, then among the
    registered passes. A PassInfo in the place of the level has all three, as in TVM's C++.

    Errors: TypeError for an object that is not a pass; PassDependencyError, before anything runs,
    for requirements that are unknown, form a cycle or cannot be built, and later for two that
    invalidate each other. Source: `tvm.transform.Sequential`.
    """

    name = "sequential"

    def __init__(
        self,
        passes: Iterable[ModulePass] = (),
        opt_level: int | PassInfo = 0,
        name: str = "sequential",
        required: Iterable[str] = (),
    ) -> None:
        self.passes = check_passes(passes)
        if isinstance(opt_level, PassInfo):
            opt_level, name, required = opt_level.opt_level, opt_level.name, opt_level.required
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
        """The steps if all passes are enabled and require nothing."""
        count = len(self.passes)
        return tuple(
            Step(child, info_of(child), "run", place=f" ({index} of {count})")
            for index, child in enumerate(self.passes, 1)
        )

    @cached_property
    def _requires_any(self) -> bool:
        """Whether a pass nested in this one requires another."""
        return any(info_of(pass_).required for pass_ in nested_passes(self))

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        scope = enter_scope(self, run, ctx) if self._requires_any else RequirementScope(run.passes)
        skipped: list[Step] = []
        ran = False
        for step in self._own_steps:
            pass_, info, _, _, place, _ = step
            # Asked as late as here: the passes before this one may change the settings.
            if (reason := ctx.skip_reason(info)) is not None:
                ctx.instrumentor.pass_skipped(module, info, reason)
                skipped.append(step)
                continue
            if info.required:
                run_requirements(info, scope, run, ctx)
            ran = run_pass(pass_, info, run, ctx, place) or ran
        if skipped and not ran:
            _warn_about_levels(self.info, skipped, ctx, run)

    def plan(self, ctx: PassContext | None = None) -> Plan:
        """Return the steps under `ctx`, by default the current context, with the reasons of skipped
        ones; nothing is run.
        """
        ctx = ctx or PassContext.current()
        scope = RequirementScope({})
        scope.enter(self, ctx)
        return Plan(tuple(self._planned(ctx, scope, 0, set())))

    def _planned(
        self, ctx: PassContext, scope: RequirementScope, depth: int, seen: set[str]
    ) -> Iterator[Step]:
        """Yield the steps, and after a nested pipeline its own. A requirement is assumed valid for
        one child only, as that may change the module.
        """
        assumed: set[str] = set()
        for step in self._steps(ctx, scope, lambda name: name_key(name) in assumed):
            again = step.action == "ensure" and step.info.key in seen
            reason = f"{step.reason}{_AGAIN}" if again else step.reason
            yield step._replace(depth=depth, reason=reason)
            if step.action == "ensure":
                assumed.add(step.info.key)
            else:
                assumed.clear()
            if step.action != "skip":
                seen.add(step.info.key)
                yield from self._inside(step.pass_, ctx, scope, depth + 1, seen)

    @staticmethod
    def _inside(
        pass_: ModulePass, ctx: PassContext, scope: RequirementScope, depth: int, seen: set[str]
    ) -> Iterator[Step]:
        """Yield the steps inside of a composite; of one that repeats, those of one iteration."""
        if isinstance(pass_, Sequential):
            yield from pass_._planned(ctx, scope, depth, seen)
        elif isinstance(pass_, Fixpoint | Repeat):
            is_fixpoint = isinstance(pass_, Fixpoint)
            reason = "until nothing changes" if is_fixpoint else f"{pass_.options.n} times"
            inner, info = pass_.pass_, info_of(pass_.pass_)
            if ctx.is_disabled(info):
                yield Step(inner, info, "skip", "disabled", depth=depth)
                return
            yield Step(inner, info, "run", reason, depth=depth)
            yield from Sequential._inside(inner, ctx, scope, depth + 1, seen)

    def _steps(
        self, ctx: PassContext, scope: RequirementScope, is_valid: Callable[[str], bool]
    ) -> Iterator[Step]:
        """Yield the steps, with requirements; `is_valid` is asked between them."""
        for step in self._own_steps:
            info = step.info
            if (reason := ctx.skip_reason(info)) is not None:
                yield step._replace(action="skip", reason=reason)
                continue
            if info.required:
                yield from scope.ensure(info, is_valid)
            yield step


_AGAIN = ", unless it is still valid"
"""The end of the reason of a requirement that ran before in the plan."""


@dataclass(frozen=True, repr=False)
class Plan:
    """The steps of a pipeline, run and skipped, with reasons.

    `str` gives a line for each; requirements that may run again have one line for all, at the end.
    """

    steps: tuple[Step, ...]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __str__(self) -> str:
        lines: list[str] = []
        again: dict[str, dict[str, None]] = {}
        for step in self.steps:
            if step.reason.endswith(_AGAIN):
                dependent = step.reason.removeprefix("required by ").removesuffix(_AGAIN)
                again.setdefault(step.info.text, {})[dependent] = None
            else:
                lines.append(str(step))
        for name, dependents in again.items():
            before = ", ".join(dependents) if len(dependents) < 4 else f"{len(dependents)} passes"
            lines.append(f"run  {name}  # again before {before}{_AGAIN}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"{self.summary}\n{self}" if self.steps else self.summary

    @property
    def summary(self) -> str:
        """The numbers of passes that run and are skipped, as text."""
        skipped = sum(step.action == "skip" for step in self.steps)
        return f"{len(self.steps) - skipped} run, {skipped} skipped"

    def _repr_html_(self) -> str:
        return to_html(self)


@dataclass(frozen=True)
class FixpointOptions:
    """The options of a Fixpoint."""

    max_iterations: int = 10


@dataclass(frozen=True)
class RepeatOptions:
    """The options of a Repeat."""

    n: int


_Options = TypeVar("_Options", FixpointOptions, RepeatOptions)


class _Repetition(Pass, Generic[_Options]):
    """A composite that runs one pass several times, each time after what it requires; the base of
    Fixpoint and Repeat."""

    def __init__(self, pass_: ModulePass | Iterable[ModulePass], options: _Options) -> None:
        self.pass_ = _single(pass_)
        self.options = options

    @cached_property
    def info(self) -> PassInfo:
        child = info_of(self.pass_)
        text = f"{self.name}{options_text(self.options)}({child.text})"
        return PassInfo(self.name, child.opt_level, child.required, text, composite=True)

    @property
    def children(self) -> tuple[ModulePass, ...]:
        return (self.pass_,)

    def _run_once(self, run: Run, ctx: PassContext, place: str) -> None:
        """Run the pass after its requirements, which it may have invalidated the time before;
        unless the context disables it."""
        info = info_of(self.pass_)
        if ctx.is_disabled(info):
            ctx.instrumentor.pass_skipped(run.module, info, "disabled")
            return
        if info.required:
            run_required(self.pass_, run, ctx)
        run_pass(self.pass_, info, run, ctx, place)


class Fixpoint(_Repetition[FixpointOptions]):
    """A pass that repeats another pass, or several in order, until they change nothing.

    It reports a warning if the pass still changes the module in the last of `max_iterations`.
    """

    name = "fixpoint"

    def __init__(self, pass_: ModulePass | Iterable[ModulePass], max_iterations: int = 10) -> None:
        super().__init__(pass_, FixpointOptions(max_iterations))
        if max_iterations < 1:
            raise ValueError(f"max_iterations is 1 or more, not {max_iterations}")

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        run.watch()
        limit = self.options.max_iterations
        for iteration in range(1, limit + 1):
            version = run.version
            self._run_once(run, ctx, f" (iteration {iteration})")
            if run.version == version:
                return
        run.diagnostics.warning(
            None,
            f"pass '{self.info.text}' still changed the module in the last of {limit} iterations",
        )


class Repeat(_Repetition[RepeatOptions]):
    """A pass that runs another pass, or several in order, `n` times, whether they change anything
    or not.

    Source: `repeat<n>(...)` of LLVM's `opt`.
    """

    name = "repeat"

    def __init__(self, pass_: ModulePass | Iterable[ModulePass], n: int) -> None:
        super().__init__(pass_, RepeatOptions(n))
        if n < 1:
            raise ValueError(f"n is 1 or more, not {n}")

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        n = self.options.n
        for time in range(1, n + 1):
            self._run_once(Run.current(), ctx, f" (time {time} of {n})")


def _single(pass_: ModulePass | Iterable[ModulePass]) -> ModulePass:
    """Return the pass, or a Sequential of several."""
    single = isinstance(pass_, ModulePass | str | type)  # the latter two are errors
    passes = check_passes([pass_] if single else pass_)
    return passes[0] if len(passes) == 1 else Sequential(passes)


def check_passes(passes: object) -> tuple[ModulePass, ...]:
    """Return the passes in `passes`; TypeError with advice for anything else."""
    if isinstance(passes, str | ModulePass | PassPipeline) or not isinstance(passes, Iterable):
        raise TypeError(f"a pipeline is made of a list of passes, not of {brief(passes)}")
    checked: list[ModulePass] = []
    for pass_ in cast(Iterable[object], passes):
        if not isinstance(pass_, ModulePass):
            raise TypeError(f"{brief(pass_)} is not a pass{_instead(pass_)}")
        checked.append(pass_)
    return tuple(checked)


def _instead(given: object) -> str:
    """Return advice on how to make a pass of an object that was given as one."""
    if isinstance(given, type) and issubclass(given, ModulePass):
        return f" but the class of one: write {given.__name__}()"
    if isinstance(given, str):
        return (
            f" but a string: write passline.parse_pipeline({given!r}), or an instance of its class"
        )
    if isinstance(given, PassPipeline):
        return ": write Sequential(pipeline.passes) for a PassPipeline"
    return ""


def _warn_about_levels(info: PassInfo, skipped: list[Step], ctx: PassContext, run: Run) -> None:
    """Warn about a pipeline of which every pass was skipped, because of its level."""
    if not any(ctx.is_disabled(step.info) for step in skipped):
        names = ", ".join(f"{step.info.name} ({step.info.opt_level})" for step in skipped)
        run.diagnostics.warning(
            None,
            f"pipeline '{info.name}' ran none of its passes: "
            f"opt_level {ctx.opt_level} is below {names}",
        )
