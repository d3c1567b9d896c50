"""All registered passes up to a level, as one pipeline."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.passes import ModulePass

from ..passmanager.additions import extend
from ..passmanager.base import Pass
from ..passmanager.context import PassContext
from ..passmanager.registry import check_context_level, find_pass, installed
from ..passmanager.runner import info_of, nested_passes
from ..passmanager.sequential import Sequential
from ..passmanager.stages import StagedPipeline
from .pipelines import LOWER_TO_LLVM, LOWER_TO_MLIR, LOWER_TO_TIR, OPTIMIZE

__all__ = ["at_level"]


def at_level(level: int) -> Sequential:
    """Return a pipeline of all registered passes up to `level`, each once: without those that the
    current PassContext disables, and those that need arguments.

    Those of the default pipelines stand in the order of these, and the others where their classes
    say, or else at the end. It has all levels of lowering, and passes that change what a module is
    for, such as `gradient`: `disabled_pass` leaves them out. The passes of xDSL have no level, and
    are not in it. Errors: ConfigError for a level that does not exist; PassPlacementError.
    Source: "glob all passes at `opt_level=3`" in the design of TVM's pass infrastructure.
    """
    check_context_level(level)
    ctx = PassContext.current()

    def is_taken(pass_: ModulePass) -> bool:
        info = info_of(pass_)
        return info.opt_level <= level and not ctx.is_disabled(info)

    stages: dict[str, list[ModulePass]] = {}
    seen: set[str] = set()
    for pipeline in (OPTIMIZE, LOWER_TO_TIR, LOWER_TO_MLIR, LOWER_TO_LLVM):
        for stage, passes in pipeline.passes().items():
            new = [pass_ for pass_ in passes if info_of(pass_).key not in seen]
            seen |= {info_of(inner).key for pass_ in new for inner in nested_passes(pass_)}
            stages[stage] = [pass_ for pass_ in new if is_taken(pass_)]
    others = [p for p in _other_passes() if info_of(p).key not in seen and is_taken(p)]
    return extend(StagedPipeline(stages), others)


def _other_passes() -> Iterator[ModulePass]:
    """Yield the passes with a level that can be built without arguments, by name."""
    for name in sorted(installed().passes):
        cls = find_pass(name)
        if issubclass(cls, Pass) and not issubclass(cls, StagedPipeline):
            try:
                yield cls()
            except TypeError:
                continue
