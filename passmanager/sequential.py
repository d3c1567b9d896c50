"""Sequential and Fixpoint, the passes made of passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .base import Pass
from .context import PassContext
from .options import options_text
from .registry import PassInfo, check_level, check_name, check_names, check_passes
from .requirements import RequirementScope, Step, enter_scope, run_required, run_requirements
from .run import Run
from .runner import info_of, is_own, nested_passes, run_pass

if TYPE_CHECKING:
    from .placement import Place
    from .plan import Plan


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
        traceable: bool = False,
    ) -> None:
        self.passes = check_passes(passes)
        if isinstance(opt_level, PassInfo):
            given = opt_level
            opt_level, name, required = given.opt_level, given.name, given.required
            traceable = given.traceable
        self.options = SequentialOptions(name, opt_level, check_names("required", required))
        self._traceable = traceable
        self.stages: Mapping[str, range] = {}
        """The stages, and their ranges in `passes`."""
        self.places: Mapping[int, Place] = {}
        """The places of passes in stages, with reasons, by the `id` of a pass."""
        check_name(name)
        check_level(opt_level)

    @cached_property
    def info(self) -> PassInfo:
        own = self.options
        children = ",".join(info_of(child).text for child in self.passes)
        text = f"{Sequential.name}{options_text(own)}({children})"
        traceable = self._traceable
        return PassInfo(
            own.name, own.opt_level, own.required, text, composite=True, traceable=traceable
        )

    @property
    def children(self) -> tuple[ModulePass, ...]:
        return self.passes

    @cached_property
    def _own_steps(self) -> tuple[Step, ...]:
        """The steps if all passes are enabled and require nothing."""
        count = len(self.passes)
        steps = (
            Step(child, info_of(child), "run", place=f" ({index} of {count})")
            for index, child in enumerate(self.passes, 1)
        )
        return tuple(map(self._placed, steps) if self.places else steps)

    def _placed(self, step: Step) -> Step:
        """Return a step with its stage, and the reason of a pass that was added."""
        place = self.places.get(id(step.pass_))
        return step if place is None else step._replace(stage=place.stage, reason=place.reason)

    def extended(
        self,
        *passes: ModulePass,
        after: Iterable[str] = (),
        before: Iterable[str] = (),
        stage: str = "",
        warn: Callable[[str], None] | None = None,
    ) -> Self:
        """Return this pipeline with further passes, at the places that their classes name by
        `after`, `before` and `stage`, or at the given ones.

        Passes without a place stand at the end. `warn` gets a message about a place that
        does not exist in this pipeline, which is logged by default. Errors: PassPlacementError for
        places that contradict each other.
        """
        from .additions import Placement, extend

        places = check_names("after", after), check_names("before", before), stage
        at = Placement(*places, "extended") if any(places) else None
        return extend(self, check_passes(passes), at, warn)

    def replaced(self, name: str, *passes: ModulePass) -> Self:
        """Return this pipeline with `passes` in the place of each pass called `name`, also in
        nested pipelines.

        Errors: PassNotFoundError, with the nearest name, if there is none.
        """
        from .additions import replace_pass

        return replace_pass(self, name, check_passes(passes))

    def with_children(self, children: Sequence[Sequence[ModulePass]]) -> Self:
        starts = [0, *accumulate(map(len, children))]
        stages = {n: range(starts[own.start], starts[own.stop]) for n, own in self.stages.items()}
        places = dict(self.places)
        for old, new in zip(self.passes, children, strict=True):
            places |= {id(pass_): self.places[id(old)] for pass_ in new if id(old) in self.places}
        return self.with_order(tuple(chain.from_iterable(children)), stages, places)

    def with_order(
        self,
        passes: tuple[ModulePass, ...],
        stages: Mapping[str, range],
        places: Mapping[int, Place],
    ) -> Self:
        """Return a copy of this pipeline that runs `passes`."""
        new = copy(self)
        for name in ("info", "_own_steps", "_requires_any"):
            vars(new).pop(name, None)
        new.passes, new.stages = passes, stages
        new.places = {id(pass_): places[id(pass_)] for pass_ in passes if id(pass_) in places}
        return new

    @cached_property
    def _requires_any(self) -> bool:
        """Whether a pass nested in this one requires another, or is open to such passes."""
        nested = nested_passes(self)
        return any(info_of(pass_).required or (is_own(pass_) and pass_.is_open) for pass_ in nested)

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        run = Run.current()
        scope = enter_scope(self, run, ctx) if self._requires_any else RequirementScope(run.passes)
        skipped: list[Step] = []
        ran = False
        workers = None
        if ctx.workers > 1:
            from .workers import workers_for

            workers = workers_for(self._own_steps, run, ctx)
        for step in self._own_steps:
            pass_, info, _, _, place, _, _ = step
            # Asked as late as here: the passes before this one may change the settings.
            if (reason := ctx.skip_reason(info)) is not None:
                ctx.instrumentor.pass_skipped(module, info, reason)
                skipped.append(step)
                continue
            if info.required:
                run_requirements(info, scope, run, ctx)
            if workers is not None:
                pass_ = workers.replay_of(step) or pass_
            ran = run_pass(pass_, info, run, ctx, place) or ran
        if skipped and not ran:
            _warn_about_levels(self.info, skipped, ctx, run)

    def plan(self, ctx: PassContext | None = None) -> Plan:
        """Return the steps under `ctx`, by default the current context, with the reasons of skipped
        ones; nothing is run.
        """
        from .plan import plan_of

        return plan_of(self, ctx or PassContext.current())

    def steps_under(self, ctx: PassContext) -> tuple[Step, ...]:
        """Return the steps of the passes under `ctx`, without requirements."""
        return self._own_steps


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
    Fixpoint and Repeat. `repetition` says how often, for plans."""

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

    def with_children(self, children: Sequence[Sequence[ModulePass]]) -> Self:
        new = copy(self)
        vars(new).pop("info", None)
        new.pass_ = _single(children[0])
        return new

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
    repetition: ClassVar[str] = "until nothing changes"

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

    @property
    def repetition(self) -> str:
        return f"{self.options.n} times"

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        n = self.options.n
        for time in range(1, n + 1):
            self._run_once(Run.current(), ctx, f" (time {time} of {n})")


def _single(pass_: ModulePass | Iterable[ModulePass]) -> ModulePass:
    """Return the pass, or a Sequential of several."""
    single = isinstance(pass_, ModulePass | str | type)  # the latter two are errors
    passes = check_passes([pass_] if single else pass_)
    return passes[0] if len(passes) == 1 else Sequential(passes)


def _warn_about_levels(info: PassInfo, skipped: list[Step], ctx: PassContext, run: Run) -> None:
    """Warn about a pipeline of which every pass was skipped, because of its level."""
    if not any(ctx.is_disabled(step.info) for step in skipped):
        names = ", ".join(f"{step.info.name} ({step.info.opt_level})" for step in skipped)
        run.diagnostics.warning(
            None,
            f"pipeline '{info.name}' ran none of its passes: "
            f"opt_level {ctx.opt_level} is below {names}",
        )
