"""The passes to bisect, and the fewest of them that are bad."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from xdsl.passes import ModulePass

from ...passmanager.context import PassContext
from ...passmanager.runner import info_of, nested_passes
from ...passmanager.sequential import Fixpoint, Repeat, Sequential, SequentialOptions
from ..reduce.delta import smaller_lists
from ..trials.tool import flat

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
    """Yield ever shorter lists of passes that are bad, with smaller composites."""
    best = [*passes]
    found = True
    while found:
        found = False
        for shorter in smaller_lists(best, is_bad):
            best, found = shorter, True
            yield best
        for number, pass_ in enumerate(best):
            replacements = ([*best[:number], *new, *best[number + 1 :]] for new in _parts(pass_))
            if (smaller := next(filter(is_bad, replacements), None)) is not None:
                best, found = smaller, True
                yield best
                break


def _parts(pass_: ModulePass) -> Iterator[Sequence[ModulePass]]:
    """Yield replacements of a composite: its children, or the composite without one pass."""
    if isinstance(pass_, Sequential | Fixpoint | Repeat):
        yield pass_.children
    for smaller in _without_one(pass_):
        yield [smaller]


def _without_one(pass_: ModulePass) -> Iterator[ModulePass]:
    """Yield copies of a composite that lack one of the passes in it, at any depth."""
    match pass_:
        case Sequential():
            own, children = pass_.options, pass_.passes
            for number, child in enumerate(children):
                for new in ([], *([smaller] for smaller in _without_one(child))):
                    left = [*children[:number], *new, *children[number + 1 :]]
                    if len(left) == 1 and own == SequentialOptions():
                        yield left[0]
                    elif left:
                        yield Sequential(left, own.opt_level, own.name, own.required)
        case Fixpoint():
            limit = pass_.options.max_iterations
            yield from (Fixpoint(inner, limit) for inner in _without_one(pass_.pass_))
        case Repeat():
            yield from (Repeat(inner, pass_.options.n) for inner in _without_one(pass_.pass_))
        case _:
            pass
