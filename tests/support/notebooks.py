"""Objects as a notebook shows them."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Rich", "html_of"]


class Rich(Protocol):
    """An object that a notebook shows as HTML."""

    def _repr_html_(self) -> str: ...


def html_of(shown: Rich) -> str:
    """Return an object as HTML, without its styles."""
    return shown._repr_html_().partition("</style>")[2]  # pyright: ignore[reportPrivateUsage]
