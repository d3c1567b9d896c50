"""HTML for notebooks: elements, tables and sections that fold, with all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from importlib import import_module
from itertools import chain, repeat


class Html(str):
    """A text that is HTML already; any other is escaped."""


def join(*parts: object) -> Html:
    """Return the parts one after the other; those that are not Html are escaped."""
    return Html("".join(p if isinstance(p, Html) else _escape(str(p)) for p in parts))


def _escape(text: str) -> str:
    from html import escape  # loads a table of 2,231 entities

    return escape(text)


def element(tag: str, *children: object, **attributes: str) -> Html:
    """Return an element with children, and attributes if not empty; `class_` is `class`."""
    given = "".join(f' {k.rstrip("_")}="{_escape(v)}"' for k, v in attributes.items() if v)
    return Html(f"<{tag}{given}>{join(*children)}</{tag}>")


class Number(str):
    """The text of a number, which a table aligns to the right."""


def table(
    header: Sequence[object], rows: Iterable[Sequence[object]], classes: Iterable[str] = ()
) -> Html:
    """Return a table, with a class for each row if any are given. Numbers are aligned to the right;
    blanks at the start of a cell indent it.
    """
    head = element("tr", *[element("th", name) for name in header])
    rows_classes = zip(rows, chain(classes, repeat("")))
    body = [element("tr", *map(_cell, row), class_=kind) for row, kind in rows_classes]
    return element("table", element("thead", head), element("tbody", *body))


def _cell(value: object) -> Html:
    if isinstance(value, Html):
        return element("td", value)
    text = str(value)
    if isinstance(value, int | Number):
        return element("td", text, class_="number")
    if indent := len(text) - len(text.lstrip()):
        return element("td", text.lstrip(), style=f"padding-left: {indent / 2 + 0.5}em")
    return element("td", text)


def fold(summary: object, *body: object, is_open: bool = False) -> Html:
    """Return a section that a click on its summary opens and closes."""
    inner = join(element("summary", summary), *body)
    return Html(f"<details{' open' if is_open else ''}>{inner}</details>")


def block(*parts: object) -> Html:
    """Return parts with the styles of this page, as the whole representation of an object."""
    return element("div", element("style", Html(_STYLE)), *parts, class_="passline")


# The variables are those of Jupyter's and VS Code's themes; the colours without them are legible
# on light and on dark ground.
_STYLE = """
.passline pre { line-height: 1.3; margin: 0 0 0 1em; overflow-x: auto; }
.passline summary { cursor: pointer; font-family: monospace; white-space: pre; overflow: hidden; }
.passline td, .passline th { text-align: left; vertical-align: top; }
.passline td.number { text-align: right; font-variant-numeric: tabular-nums; }
.passline .skip { opacity: 0.55; }
.passline .bar { background: var(--jp-brand-color2, #4078f2); height: 0.7em; min-width: 1px; }
.passline .k { color: var(--jp-mirror-editor-keyword-color, #a626a4); }
.passline .kt { color: var(--jp-mirror-editor-variable-3-color, #0e8a8a); }
.passline .nv { color: var(--jp-mirror-editor-variable-2-color, #4078f2); }
.passline .nf, .passline .nl { color: var(--jp-mirror-editor-def-color, #4078f2); }
.passline .mi, .passline .mf { color: var(--jp-mirror-editor-number-color, #50a14f); }
.passline .mh { color: var(--jp-mirror-editor-number-color, #50a14f); }
.passline .s, .passline .gd { color: var(--jp-mirror-editor-string-color, #d0453b); }
.passline .gi { color: #40973f; }
.passline .c, .passline .gu { color: var(--jp-mirror-editor-comment-color, #888888); }
"""


@singledispatch
def to_html(shown: object) -> str:
    """Return the HTML of a pass, a plan or a context."""
    import_module("..notebook", __package__)  # registers them
    make = to_html.dispatch(type(shown))
    if make is to_html.dispatch(object):
        raise TypeError(f"{type(shown).__name__} has no HTML")
    return make(shown)
