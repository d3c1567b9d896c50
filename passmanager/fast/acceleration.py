"""The accelerated parts: what Passline does again, faster than xDSL, and where it may.

A part relies on facts about xDSL's sources: methods that it does again or whose effects it knows,
and the fields of classes that it reads or writes. It is on if each of them reads as in a release
with which it was tested (`known_sources.txt`); else xDSL's own code does the work, with the same
results. So a release of xDSL that nobody has tried is slower, not wrong.

`PASSLINE_NO_ACCELERATION=1` in the environment turns all parts off. Modules ask when they are
imported: a part is on or off for the whole process.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Final
from zlib import crc32

from .known_sources import known_places, known_releases
from .sources import checksum_of, source_bytes

__all__ = [
    "NO_ACCELERATION",
    "PARTS",
    "REPLACED",
    "VARIABLE",
    "acceleration_text",
    "checksum_of_files",
    "is_accelerated",
    "is_known",
    "is_turned_off",
    "unknown_place",
]

VARIABLE = "PASSLINE_NO_ACCELERATION"
"""The environment variable that turns all accelerated parts off, unless it is empty or 0."""
NO_ACCELERATION = "--no-acceleration"
"""The option of the tools that does the same."""


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
REPLACED: Final = ("literals",)
"""The parts that are done again for their errors, not for speed: they stay where acceleration is
turned off."""


def is_accelerated(part: str) -> bool:
    """Return whether a part of `PARTS` is accelerated in this process."""
    return not is_turned_off() and is_known(part)


@cache
def is_known(part: str) -> bool:
    """Return whether all on which a part relies reads as in a release with which it was tested."""
    if (parts := known_releases().get(checksum_of_files())) is not None:
        return part in parts
    return unknown_place(part) is None


def acceleration_text() -> str:
    """Return which parts are accelerated in this process, and why the others are not."""
    parts = [part for part in PARTS if is_accelerated(part)]
    lines = [f"accelerated: {', '.join(parts) or 'nothing'}"]
    if is_turned_off():
        lines[0] += f" ({NO_ACCELERATION} or {VARIABLE})"
    elif others := [part for part in (*PARTS, *REPLACED) if not is_known(part)]:
        lines.append(f"left to xDSL: {', '.join(others)} (its sources differ from those known)")
    return "\n".join(lines)


def is_turned_off() -> bool:
    """Return whether the environment turns all parts off."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def unknown_place(part: str) -> str | None:
    """Return the first place on which a part relies and that differs from all releases with which
    the part was tested; None if there is none.
    """
    for place, parts, checksums in known_places():
        if part in parts and checksum_of(place) not in checksums:
            return place
    return None


@cache
def checksum_of_files() -> str:
    """Return a checksum of all modules of xDSL on which a part relies.

    A release is recognized by it in 2 ms, where looking up all places takes 20.
    """
    checksum, size = 0, 0
    for module in sorted({place.name.partition(":")[0] for place in known_places()}):
        content = source_bytes(module)
        checksum, size = crc32(content, checksum), size + len(content)
    return f"{checksum:08x}-{size}"
