"""Staged pipelines: pipelines of named stages, in which passes of other projects take part.

A stage is an extension point: a pass may stand in it, before it or after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .additions import additions_under
from .context import PassContext
from .names import name_key
from .pipeline import parse_pipeline
from .placement import Place, order_passes
from .registry import check_passes, installed
from .requirements import Step
from .run import Run
from .runner import info_of
from .sequential import Sequential


class Stages(tuple[str, ...]):
    """The passes of a pipeline as text, in named stages.

    It is a tuple of all of them in order; `by_name` has those of each stage.
    """

    by_name: Mapping[str, tuple[str, ...]]

    def __new__(cls, by_name: Mapping[str, Iterable[str]]) -> Stages:
        stages = {name: tuple(passes) for name, passes in by_name.items()}
        self = super().__new__(cls, (text for passes in stages.values() for text in passes))
        self.by_name = stages
        return self

    def passes(self) -> dict[str, tuple[ModulePass, ...]]:
        """Return the passes of each stage; PipelineSyntaxError for invalid text."""
        return {name: parse_pipeline(",".join(t)).passes for name, t in self.by_name.items()}


class StagedPipeline(Sequential):
    """A Sequential of named stages, in which further passes take part.

    They are those of installed projects whose classes say by `after`, `before` or `stage` where
    they belong, and those in `extra_passes` of the context. Which ones do is decided under the
    context in which the pipeline runs or is planned: its `extensions` choose among the projects.

    Errors: ValueError for a stage with the name of a pass of the pipeline; PassPlacementError,
    before anything runs, for places that contradict each other.
    Source: `registerPipelineStartEPCallback` and its like in LLVM's PassBuilder.
    """

    name = "staged-pipeline"

    def __init__(
        self,
        stages: Mapping[str, Iterable[ModulePass]],
        opt_level: int = 0,
        name: str = Sequential.name,
        required: Iterable[str] = (),
    ) -> None:
        passes: list[ModulePass] = []
        ranges: dict[str, range] = {}
        places: dict[int, Place] = {}
        for stage, own in stages.items():
            own = check_passes(own, f"stage '{stage}' is")
            ranges[stage] = range(len(passes), len(passes) + len(own))
            places |= {id(pass_): Place(stage) for pass_ in own}
            passes += own
        super().__init__(passes, opt_level, name, required)
        self.stages, self.places = ranges, places
        taken = {info_of(pass_).key: "a pass in it" for pass_ in passes}
        for stage in stages:
            if (
                other := taken.setdefault(name_key(stage), f"stage '{stage}'")
            ) != f"stage '{stage}'":
                raise ValueError(
                    f"stage '{stage}' of pipeline '{name}' has the name of {other}: places could "
                    "mean both"
                )
        self._is_resolved = False
        """Whether this is a pipeline that `under` made."""
        self.warnings: Sequence[str] = ()
        """What is wrong with the places of the passes that take part."""
        self._last: tuple[object, Self] | None = None
        """The passes that took part last, and the pipeline with them."""

    @property
    def is_open(self) -> bool:
        return not self._is_resolved

    def under(self, ctx: PassContext) -> Self:
        if self._is_resolved or not (ctx.extra_passes or (ctx.extensions and installed().sources)):
            return self
        additions, warnings = additions_under(ctx)
        if not (additions or warnings):
            return self
        key = ctx.extra_passes, warnings, [(type(a.pass_), a.source) for a in additions]
        last = self._last  # once: another thread may run this pipeline under another context
        if last is not None and last[0] == key:
            return last[1]
        order = order_passes(self.passes, self.stages, additions)
        new = self
        found = (*warnings, *order.warnings)
        if found or len(order.passes) > len(self.passes):
            new = self.with_order(order.passes, order.stages, {**order.places, **self.places})
            new._is_resolved, new.warnings = True, found
        self._last = key, new
        return new

    def with_order(
        self,
        passes: tuple[ModulePass, ...],
        stages: Mapping[str, range],
        places: Mapping[int, Place],
    ) -> Self:
        new = super().with_order(passes, stages, places)
        new._last = None
        return new

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        pipeline, run = self.under(ctx), Run.current()
        for warning in pipeline.warnings:
            if warning not in run.warned:
                run.warned.add(warning)
                run.diagnostics.warning(None, warning)
        super(StagedPipeline, pipeline).transform(module, ctx)

    def steps_under(self, ctx: PassContext) -> tuple[Step, ...]:
        return super(StagedPipeline, self.under(ctx)).steps_under(ctx)


class NamedPipeline(StagedPipeline):
    """A StagedPipeline whose passes are given as text when the class is made: a pass to register
    under its name."""

    text: ClassVar[Stages]

    def __init__(self) -> None:
        super().__init__(self.text.passes(), name=self.name)


def named_pipeline(name: str, stages: Stages, module: str = __name__) -> type[NamedPipeline]:
    """Make the class of the pipeline `name` that runs `stages`, for the module that defines it."""
    body = {"name": name, "text": stages, "__doc__": f"Run {', '.join(stages)}."}
    return type(name, (NamedPipeline,), {**body, "__module__": module})
