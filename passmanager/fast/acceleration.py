"""The accelerated parts: what Passline does again, faster than xDSL, and where it may.

Each part has two implementations, ours and xDSL's own, and `choose` returns the one to use; that is
the only place where this is decided. A part is accelerated with an xDSL with which it was tried: by
the maintainers (`known_releases.txt`), or here, once, by comparing both implementations on a sample
of IR (`comparison.py`). With any other xDSL, its own code does the work: slower, not wrong.

`PASSLINE_NO_ACCELERATION=1` in the environment turns all parts off, `PASSLINE_ACCELERATION=check`
does all work both ways and raises AccelerationError if the results differ. Modules choose when they
are imported: a part is on or off for the whole process.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from ..errors import PasslineError
from ..names import did_you_mean
from .known_releases import checksum_of_files, is_mixed, known_releases
from .parts import CHECK, NO_ACCELERATION, NONE, NOTE, OFF, PARTS, REPLACED, SETTING, Verdict

T = TypeVar("T")


def choose(part: str, ours: Callable[[], T], of_xdsl: Callable[[], T]) -> T:
    """Return the implementation of a part that is used in this process; the other is not made.

    Errors: those of making ours, with a note that names the part.
    """
    if not is_accelerated(part):
        return of_xdsl()
    try:
        if os.environ.get(SETTING) != CHECK:
            return ours()
        from .both_ways import both_ways

        return both_ways(part, ours(), of_xdsl())
    except Exception as error:
        error.add_note(f"{NOTE}{part}")
        raise


def is_accelerated(part: str) -> bool:
    """Return whether a part is done by our implementation in this process."""
    return part in accelerated_parts() and not (part in PARTS and is_turned_off())


def is_turned_off() -> bool:
    """Return whether the environment turns all parts off."""
    return os.environ.get(OFF, "0") not in ("", "0")


@cache
def accelerated_parts() -> frozenset[str]:
    """Return the parts that may be accelerated with this xDSL, or that the environment names.

    Errors: PasslineError for a name in the environment that is no part.
    """
    setting = os.environ.get(SETTING, "")
    if setting in ("", CHECK):
        return frozenset(_verdict().parts)
    parts = frozenset(setting.split(",")) - {NONE}
    for unknown in sorted(parts.difference(PARTS, REPLACED)):
        meant = did_you_mean(unknown, (CHECK, NONE, *PARTS, *REPLACED))
        raise PasslineError(f"{SETTING}={setting}: no '{unknown}'{meant}")
    return parts


@cache
def _verdict() -> Verdict:
    """Return what is known of this xDSL: by the table, by an earlier comparison, or by one now."""
    if is_mixed():
        return Verdict((), "its files were changed while this process runs")
    if (parts := known_releases().get(key := checksum_of_files())) is not None:
        return Verdict(parts)
    from .comparison import verdict_on

    return verdict_on(key)


def acceleration_text() -> str:
    """Return which parts are accelerated in this process, and why the others are not."""
    parts = [part for part in PARTS if is_accelerated(part)]
    lines = [f"accelerated: {', '.join(parts) or 'nothing'}"]
    if is_turned_off():
        lines[0] += f" ({NO_ACCELERATION} or {OFF})"
    elif others := [part for part in (*PARTS, *REPLACED) if not is_accelerated(part)]:
        lines.append(f"left to xDSL: {', '.join(others)} ({_verdict().difference})")
    return "\n".join(lines)
