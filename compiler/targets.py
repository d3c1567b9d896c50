"""The processors that options and functions name."""

from __future__ import annotations

from ..dialects.target import NAMED, Target
from ..passmanager.errors import PasslineError

__all__ = ["PROCESSORS", "parse_processor"]

PROCESSORS = (*NAMED, "host")
"""The names of processors."""


def parse_processor(named: str | Target | None) -> Target | None:
    """Return the processor that an option names; PasslineError for a mistake in it."""
    try:
        return Target.parse(named) if isinstance(named, str) else named
    except ValueError as error:
        raise PasslineError(str(error)) from None
