"""The nearest valid name, which a message about an unknown name ends with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from .names import name_key

__all__ = ["closest_name", "did_you_mean", "nearest_file", "register_successor"]

_successors: dict[str, str] = {}


def register_successor(name: str, successor: str) -> None:
    """Register that messages about the unknown pass `name`, as one of TVM, suggest `successor`: by
    the names of their classes."""
    _successors[name_key(name)] = name_key(successor)


def _successor(name: str, keys: Iterable[str]) -> str | None:
    """Return the registered successor of `name` among `keys`. A name of a pass on `tir` begins with
    that, and one of its class does not."""
    key = _successors.get(name_key(name).removeprefix("tir"))
    return next((k for k in keys if k.removeprefix("tir") == key), None)


def closest_name(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the candidate that resembles `name` most, or None if none is as close as `cutoff`: 1
    for equal names, 0 for names without a common letter."""
    from difflib import get_close_matches

    keys = {name_key(candidate): candidate for candidate in candidates}
    if (successor := _successor(name, keys)) is not None:
        return keys[successor]
    found = get_close_matches(name_key(name), keys, n=1, cutoff=cutoff)
    return keys[found[0]] if found else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: `, did you mean 'x'?`, or empty text."""
    closest = closest_name(name, candidates)
    return f", did you mean '{closest}'?" if closest else ""


def nearest_file(path: Path) -> str:
    """Return the end of a message about a file that does not exist: that its directory does not,
    or the nearest name in it."""
    if not path.parent.is_dir():
        return f": there is no directory '{path.parent}'"
    try:
        return did_you_mean(path.name, os.listdir(path.parent))
    except OSError:  # a directory that cannot be read
        return ""
