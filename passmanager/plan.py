"""Plan: the steps of a pipeline under a context, with reasons, as text, JSON and a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from json import dumps
from typing import Literal, NamedTuple

from xdsl.passes import ModulePass

from .conditions import conditions_of
from .context import PassContext
from .names import name_key
from .output.html import to_html
from .placement import placement_of
from .requirements import RequirementScope, Step
from .runner import info_of, is_own

AGAIN = ", unless it is still valid"
"""The end of the reason of a requirement that ran before in the plan."""


class PlanEdge(NamedTuple):
    """A relation between two steps of a plan, by their positions: the `first` runs before the
    `second`, because it is written so, the second requires it, or one is placed so."""

    first: int
    second: int
    kind: Literal["order", "requires", "after", "before"]


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
            if step.reason.endswith(AGAIN):
                dependent = step.reason.removeprefix("required by ").removesuffix(AGAIN)
                again.setdefault(step.info.text, {})[dependent] = None
            else:
                lines.append(str(step))
        for name, dependents in again.items():
            before = ", ".join(dependents) if len(dependents) < 4 else f"{len(dependents)} passes"
            lines.append(f"run  {name}  # again before {before}{AGAIN}")
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

    # The graph

    def edges(self) -> Iterator[PlanEdge]:
        """Yield the relations between the steps that run: each with the next, with the steps that
        it requires, and with the places that it names."""
        running = [i for i, step in enumerate(self.steps) if step.action != "skip"]
        for first, second in pairwise(running):
            yield PlanEdge(first, second, "order")
        found: dict[str, list[int]] = {}
        for i in running:
            found.setdefault(self.steps[i].info.key, []).append(i)
        for i in running:
            step = self.steps[i]
            at = placement_of(step.pass_)
            for name in (*step.info.required, *at.after):
                if earlier := [n for n in found.get(name_key(name), ()) if n < i]:
                    yield PlanEdge(earlier[-1], i, "after" if name in at.after else "requires")
            for name in at.before:
                if later := [n for n in found.get(name_key(name), ()) if n > i]:
                    yield PlanEdge(i, later[0], "before")

    def json(self) -> str:
        """Return the steps and the edges as JSON; steps are named by their positions."""
        steps: list[dict[str, object]] = []
        for step in self.steps:
            at = placement_of(step.pass_)
            steps.append(
                {
                    "pass": str(step.info.name),
                    "text": step.info.text,
                    "level": step.info.opt_level,
                    "action": step.action,
                    "reason": step.reason,
                    "depth": step.depth,
                    "stage": step.stage,
                    "required": step.info.required,
                    "preserves": _preserved(step),
                    "requires": [str(c) for c in conditions_of(step.pass_, "requires")],
                    "ensures": [str(c) for c in conditions_of(step.pass_, "ensures")],
                    "placement": {"after": at.after, "before": at.before, "stage": at.stage},
                }
            )
        return dumps({"steps": steps, "edges": [edge._asdict() for edge in self.edges()]}, indent=2)

    def dot(self) -> str:
        """Return the graph of the steps for Graphviz: solid lines show the order, dashed ones what
        a pass requires, dotted ones its places."""
        lines = ["digraph pipeline {", "  node [shape=box];"]
        for i, step in enumerate(self.steps):
            label = [step.info.name if step.info.composite else step.info.text, step.reason]
            if preserved := _preserved(step):
                label.append(f"preserves {', '.join(preserved)}")
            text = "\\n".join(filter(None, label)).replace('"', '\\"')
            style = ", style=dashed" if step.action == "skip" else ""
            lines.append(f'  {i} [label="{text}"{style}];')
        styles = {"order": "", "requires": "dashed", "after": "dotted", "before": "dotted"}
        for edge in self.edges():
            style = styles[edge.kind]
            attributes = f' [style={style}, label="{edge.kind}", constraint=false]' if style else ""
            lines.append(f"  {edge.first} -> {edge.second}{attributes};")
        return "\n".join([*lines, "}"])


def _preserved(step: Step) -> list[str]:
    """Return the names of the passes and analyses that a step preserves."""
    preserves: Sequence[str | type] = getattr(step.pass_, "preserves", ())
    return [item if isinstance(item, str) else item.__name__ for item in preserves]


# The steps of a pipeline


def plan_of(pipeline: ModulePass, ctx: PassContext) -> Plan:
    """Return the plan of a pipeline under `ctx`.

    Errors: PassDependencyError for requirements that are unknown, form a cycle, cannot be built or
    invalidate each other; PassPlacementError.
    """
    scope = RequirementScope({})
    scope.enter(pipeline, ctx)
    return Plan(tuple(_inside(pipeline, ctx, scope, 0, set())))


def _inside(
    pass_: ModulePass, ctx: PassContext, scope: RequirementScope, depth: int, seen: set[str]
) -> Iterator[Step]:
    """Yield the steps inside of a composite; of one that repeats, those of one iteration."""
    if not is_own(pass_):
        return
    if steps_under := getattr(pass_, "steps_under", None):
        yield from _planned(steps_under(ctx), ctx, scope, depth, seen)
    elif repetition := getattr(pass_, "repetition", ""):
        (inner,) = pass_.children
        info = info_of(inner)
        if ctx.is_disabled(info):
            yield Step(inner, info, "skip", "disabled", depth=depth)
            return
        yield Step(inner, info, "run", repetition, depth=depth)
        yield from _inside(inner, ctx, scope, depth + 1, seen)


def _planned(
    steps: Sequence[Step], ctx: PassContext, scope: RequirementScope, depth: int, seen: set[str]
) -> Iterator[Step]:
    """Yield the steps with their requirements, and after a nested pipeline its own. A requirement
    is assumed valid for one child only, as that may change the module.
    """
    assumed: set[str] = set()
    for step in steps:
        info = step.info
        if (reason := ctx.skip_reason(info)) is not None:
            why = f"{reason}; {step.reason}" if step.reason else reason
            yield step._replace(action="skip", depth=depth, reason=why)
            continue
        needed = scope.ensure(info, lambda name: name_key(name) in assumed) if info.required else ()
        for requirement in needed:
            again = requirement.info.key in seen
            reason = f"{requirement.reason}{AGAIN}" if again else requirement.reason
            yield requirement._replace(depth=depth, reason=reason)
            assumed.add(requirement.info.key)
            seen.add(requirement.info.key)
            yield from _inside(requirement.pass_, ctx, scope, depth + 1, seen)
        assumed.clear()
        yield step._replace(depth=depth)
        seen.add(info.key)
        yield from _inside(step.pass_, ctx, scope, depth + 1, seen)
