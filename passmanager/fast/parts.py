"""The accelerated parts, the settings of the environment on them, and what may be accelerated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

OFF = "PASSLINE_NO_ACCELERATION"
"""The environment variable that turns all accelerated parts off, unless it is empty or 0."""
NO_ACCELERATION = "--no-acceleration"
"""The option of the tools that does the same."""
SETTING = "PASSLINE_ACCELERATION"
"""The environment variable that is `check`, or `none`, or has the parts to accelerate."""
CHECK, NONE = "check", "none"

PARTS: Final = (
    "fields",
    "creating",
    "copying",
    "editing",
    "reading",
    "printing",
    "verifying",
    "rewriting",
)
"""The accelerated parts."""
REPLACED: Final = ("locating",)
"""What is done again for its results, not for speed, here the places of operations and of errors in
a text: it stays where acceleration is turned off."""
PLAIN_READING = "plain reading"
"""What `reading` is compared with: the results of our own reader without acceleration."""
NOTE = "in the accelerated part "
"""The start of the note on an error of making an implementation."""


class Verdict(NamedTuple):
    """The parts that may be accelerated with a release of xDSL."""

    parts: Sequence[str]
    difference: str = "it was not tried with this release"
    """Why the other parts may not."""
