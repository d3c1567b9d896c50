"""The HTML of a pass, with its options or the passes in it, of a plan, and of a context."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from xdsl.passes import ModulePass

from ..context import PassContext
from ..options.options import pass_options
from ..options.types import to_text
from ..output.html import Html, block, element, join, table
from ..runner import AbstractPass, info_of, is_own
from ..sequential import Plan
from . import to_html

__all__ = ["html_of_context", "html_of_pass", "html_of_plan"]


@to_html.register
def html_of_context(context: PassContext) -> str:
    """Return a table of the settings of a context."""
    rows = [
        ("opt_level", str(context.opt_level)),
        ("required_pass", ", ".join(context.required_pass)),
        ("disabled_pass", ", ".join(context.disabled_pass)),
        ("instruments", ", ".join(i.name for i in context.instruments)),
        *((f"config: {key}", repr(value)) for key, value in context.config.items()),
        ("verify_each", str(context.verify_each)),
        ("verify_dominance", str(context.verify_dominance)),
        ("verify_preserves", str(context.verify_preserves)),
        ("rollback", str(context.rollback)),
    ]
    return block(element("p", element("b", type(context).__name__)), table(("", ""), rows))


@to_html.register
def html_of_plan(plan: Plan) -> str:
    """Return a table of the steps of a plan."""
    rows = [step.columns for step in plan.steps]
    header = ("", "pass", "level", "reason")
    body = table(header, rows, [step.action for step in plan.steps])
    return block(element("p", plan.summary), body)


@to_html.register
def html_of_pass(pass_: AbstractPass) -> str:
    """Return the name, level and requirements of a pass, the first paragraph of its documentation,
    and a table of its options, or of the passes in it.
    """
    info = pass_.info
    required = f", requires {', '.join(info.required)}" if info.required else ""
    head = element("p", element("b", info.name), f": level {info.opt_level}{required}")
    if pass_.children:
        rows = [row for child in pass_.children for row in _rows(child, 0)]
        return block(head, table(("pass", "level", "requires"), rows))
    text = (inspect.getdoc(type(pass_)) or "").partition("\n\n")[0]
    return block(head, element("p", text), _options(pass_))


def _rows(pass_: ModulePass, depth: int) -> Iterator[tuple[object, ...]]:
    """Yield a row for a pass, followed by those for the passes in it."""
    info = info_of(pass_)
    name = info.name if info.composite else info.text
    yield "  " * depth + name, info.opt_level, ", ".join(info.required)
    for child in pass_.children if is_own(pass_) else ():
        yield from _rows(child, depth + 1)


def _options(pass_: AbstractPass) -> Html:
    options = pass_options(type(pass_))
    if not options:
        return Html()
    rows = [
        (option.name, to_text(getattr(pass_, option.field)), option.type_text, option.help)
        for option in options
    ]
    return join(table(("option", "value", "type", ""), rows))
