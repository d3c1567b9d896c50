"""The passes to bisect, and the fewest of them that are bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from xdsl.passes import ModulePass

from ...passmanager.context import PassContext
from ...passmanager.runner import info_of, nested_passes
from ...passmanager.sequential import Fixpoint, Repeat, Sequential
from ..reduce.delta import smaller_lists
from ..trial_tool import flat

__all__ = ["enabled_passes", "fewest_passes", "highest_level"]


def enabled_passes(pipeline: Sequential, ctx: PassContext) -> list[ModulePass]:
    """Return the passes of a pipeline that `ctx` enables, with the options that it sets."""
    return [_resolved(p, ctx) for p in flat(pipeline) if ctx.pass_enabled(info_of(p))]


def _resolved(pass_: ModulePass, ctx: PassContext) -> ModulePass:
    match pass_:
        case Sequential():
            own = pass_.options
            children = enabled_passes(pass_, ctx)
            return Sequential(children, own.opt_level, own.name, own.required)
        case Fixpoint():
            return Fixpoint(_resolved(pass_.pass_, ctx), pass_.options.max_iterations)
        case Repeat():
            return Repeat(_resolved(pass_.pass_, ctx), pass_.options.n)
        case _:
            return ctx.config.apply(pass_, pass_.name)


def highest_level(passes: Iterable[ModulePass]) -> int:
    """Return the highest level of the passes and those nested in them."""
    return max((info_of(n).opt_level for p in passes for n in nested_passes(p)), default=0)


def fewest_passes(
    passes: Sequence[ModulePass], is_bad: Callable[[Sequence[ModulePass]], bool]
) -> Iterator[list[ModulePass]]:
    """Yield ever shorter lists of passes that are bad; composites are taken apart on the way."""
    best = [*passes]
    found = True
    while found:
        found = False
        for shorter in smaller_lists(best, is_bad):
            best, found = shorter, True
            yield best
        for number, pass_ in enumerate(best):
            children = pass_.children if isinstance(pass_, Sequential | Fixpoint | Repeat) else ()
            if children and is_bad(apart := [*best[:number], *children, *best[number + 1 :]]):
                best, found = apart, True
                yield best
                break
