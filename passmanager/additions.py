"""Additions to pipelines: further passes, passes in the place of others, and the passes that take
part in staged pipelines by themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Protocol, Self, TypeVar, cast

from xdsl.passes import ModulePass

from .context import PassContext
from .errors import PassNotFoundError
from .names import did_you_mean, name_key
from .placement import Addition, Place, Placement, inner_keys, key_of, order_passes, placement_of
from .registry import PassFactory, installed
from .runner import AbstractPass, info_of, is_own, nested_passes


class _Pipeline(Protocol):
    """A Sequential, which this module must not import: that imports this one."""

    @property
    def passes(self) -> tuple[ModulePass, ...]: ...
    @property
    def stages(self) -> Mapping[str, range]: ...
    @property
    def places(self) -> Mapping[int, Place]: ...
    def with_children(self, children: Sequence[Sequence[ModulePass]]) -> Self: ...
    def with_order(
        self,
        passes: tuple[ModulePass, ...],
        stages: Mapping[str, range],
        places: Mapping[int, Place],
    ) -> Self: ...


C = TypeVar("C", bound=AbstractPass)
P = TypeVar("P", bound=_Pipeline)


def extend(
    pipeline: P,
    passes: Iterable[ModulePass],
    at: Placement | None = None,
    warn: Callable[[str], None] | None = None,
    by: str = "added",
) -> P:
    """Return `pipeline` with further passes, at the places of their classes, or all of them `at`
    one; `by` says who adds them.

    A pass whose places are not in the pipeline itself, but in a staged pipeline in it, is added to
    that. Errors: as `order_passes`.
    """
    here = [Addition(p, placement_of(p) if at is None else at, by) for p in passes]
    inside = _open_children(pipeline, here)
    elsewhere = {id(addition) for found in inside.values() for addition in found}
    here = [addition for addition in here if id(addition) not in elsewhere]
    if inside:
        children = [*pipeline.passes]
        for i, found in inside.items():
            child = extend(cast(_Pipeline, children[i]), [a.pass_ for a in found], at, warn, by)
            children[i] = cast(ModulePass, child)
        pipeline = pipeline.with_children([(child,) for child in children])
    if not here:
        return pipeline
    order = order_passes(pipeline.passes, pipeline.stages, here)
    for warning in order.warnings:
        (warn or _log_warning)(warning)
    return pipeline.with_order(order.passes, order.stages, {**order.places, **pipeline.places})


def _open_children(
    pipeline: _Pipeline, additions: Sequence[Addition]
) -> Mapping[int, list[Addition]]:
    """Return the additions whose places are in a staged pipeline in `pipeline`, by the position of
    the first that has one; places in `pipeline` itself come first."""
    own = {key_of(pass_) for pass_ in pipeline.passes}.union(map(name_key, pipeline.stages))
    homes = dict.fromkeys(own, -1)
    for i, child in enumerate(pipeline.passes):
        if is_own(child) and child.is_open:
            stages: Mapping[str, range] = getattr(child, "stages", {})
            for key in (*inner_keys(child), *map(name_key, stages)):
                homes.setdefault(key, i)
    inside: dict[int, list[Addition]] = defaultdict(list)
    pending, found = [*additions], True
    while found:  # places may be those of other additions
        found = False
        for addition in [*pending]:
            at = addition.placement
            names = (*at.after, *at.before, *((at.stage,) if at.stage else ()))
            if near := [homes[key] for key in map(name_key, names) if key in homes]:
                homes.setdefault(key_of(addition.pass_), min(near))
                if min(near) >= 0:
                    inside[min(near)].append(addition)
                pending.remove(addition)
                found = True
    return inside


def replace_pass(pipeline: P, name: str, passes: Sequence[ModulePass]) -> P:
    """Return `pipeline` with `passes` in the place of each pass called `name`, at any depth.

    Errors: PassNotFoundError, with the nearest name, if there is none.
    """
    key = name_key(name)
    nested = [inner for child in pipeline.passes for inner in nested_passes(child)]
    if key not in map(key_of, nested):
        hint = did_you_mean(name, (info_of(inner).name for inner in nested))
        raise PassNotFoundError(f"there is no pass '{name}' in the pipeline to replace{hint}")
    new = pipeline.with_children([_replaced(child, key, passes) for child in pipeline.passes])
    places = dict(new.places)
    for pass_ in passes:
        at = places.get(id(pass_), Place())
        places[id(pass_)] = at._replace(reason=f"in the place of {name}")
    return new.with_order(new.passes, new.stages, places)


def resolve(pipeline: C, ctx: PassContext) -> C:
    """Return the composite `pipeline` with the passes that take part in it, and in the staged
    pipelines in it, under `ctx`: what runs is known then, whatever the context of the run says.

    Errors: PassPlacementError for places that contradict each other.
    """
    pipeline = pipeline.under(ctx)
    children = [(_resolved(child, ctx),) for child in pipeline.children]
    if all(new is old for (new,), old in zip(children, pipeline.children, strict=True)):
        return pipeline
    return pipeline.with_children(children)


def _resolved(pass_: ModulePass, ctx: PassContext) -> ModulePass:
    return resolve(pass_, ctx) if is_own(pass_) and pass_.children else pass_


def _replaced(pass_: ModulePass, key: str, passes: Sequence[ModulePass]) -> tuple[ModulePass, ...]:
    if key_of(pass_) == key:
        return tuple(passes)
    if not is_own(pass_) or not pass_.children:
        return (pass_,)
    children = [_replaced(child, key, passes) for child in pass_.children]
    pairs = zip(children, pass_.children, strict=True)
    is_same = all(len(new) == 1 and new[0] is old for new, old in pairs)
    return (pass_,) if is_same else (pass_.with_children(children),)


# What takes part by itself


def additions_under(ctx: PassContext) -> tuple[list[Addition], list[str]]:
    """Return the passes that take part in staged pipelines under `ctx`, and warnings: its
    `extra_passes` in their order, and those of installed projects by name."""
    found = [
        Addition(pass_, placement_of(pass_), "extra_passes", "", True) for pass_ in ctx.extra_passes
    ]
    if ctx.extensions is False:
        return found, []
    registry = installed()
    chosen = None if ctx.extensions is True else set(map(name_key, ctx.extensions))
    warnings: list[str] = []
    seen: dict[str, str] = {}
    for name in sorted(registry.sources.keys() & registry.passes):
        if not (source := registry.source_of(name)):
            continue  # the project does not know Passline: its classes need not be imported
        project = source.partition(" ")[0]
        seen[name_key(project)] = project
        if chosen is not None and name_key(project) not in chosen:
            continue
        cls = _loaded(registry.passes[name], name, source)
        if cls is None or not (at := placement_of(cls)):
            continue
        try:
            found.append(Addition(cls(), at, "", source, True))
        except TypeError as error:
            warnings.append(f"pass '{name}' from {source} takes no part in pipelines: {error}")
    for name in () if ctx.extensions is True else ctx.extensions:
        if name_key(name) not in seen:
            hint = did_you_mean(name, seen.values())
            warnings.append(f"extensions names '{name}', which has no installed pass{hint}")
    return found, warnings


@cache
def _loaded(factory: PassFactory, name: str, source: str) -> type[ModulePass] | None:
    """Return the class of a registered pass; warn, once, and return None if it fails to load."""
    try:
        return factory()
    except Exception as error:
        _log_warning(f"pass '{name}' from {source} cannot be loaded and takes no part: {error!r}")
        return None


def _log_warning(message: str) -> None:
    import logging

    logging.getLogger(__name__).warning(message)
