"""HTML that notebooks show of passes, plans, contexts and results."""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module

__all__ = ["to_html"]


@singledispatch
def to_html(shown: object) -> str:
    """Return the HTML of a pass, a plan or a context."""
    import_module(".representations", __package__)  # registers them
    make = to_html.dispatch(type(shown))
    if make is to_html.dispatch(object):
        raise TypeError(f"{type(shown).__name__} has no HTML")
    return make(shown)
