"""Passes as HTML for notebooks: the metadata and options of a pass, the passes of a pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from xdsl.passes import ModulePass

from ..options.options import pass_options
from ..options.types import to_text
from ..runner import AbstractPass, info_of, is_own
from .elements import Html, block, element, join, table

__all__ = ["html_of_pass"]


def html_of_pass(pass_: AbstractPass) -> Html:
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
