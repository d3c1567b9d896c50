"""The processors that options and functions name."""

from __future__ import annotations

from ..dialects.target import NAMED, Target
from ..passmanager.errors import PasslineError

__all__ = ["PROCESSORS", "parse_processor"]

PROCESSORS = (*NAMED, "host")
"""The names of processors."""


def parse_processor(text: str | None) -> Target | None:
    """Return the processor that an option names; PasslineError for a mistake in it."""
    try:
        return None if text is None else Target.parse(text)
    except ValueError as error:
        raise PasslineError(str(error)) from None
