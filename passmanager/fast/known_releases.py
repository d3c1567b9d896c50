"""The releases of xDSL with which the accelerated parts were tried: `known_releases.txt`.

`python -m passline.passmanager.fast.known_releases PART ...` adds the installed one, for
maintainers, who run the tests with it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path

__all__ = ["FILE", "known_releases", "recorded"]

FILE = Path(__file__).with_name("known_releases.txt")


@cache
def known_releases() -> dict[str, list[str]]:
    """Return the parts that are accelerated with a release, by the checksum of its files."""
    rows = (line.split("|") for line in _lines() if not line.startswith("#"))
    return {checksum.strip(): parts.split() for _, checksum, parts in rows}


def recorded(parts: Collection[str]) -> str:
    """Return the text of the table with these parts for the installed xDSL."""
    from ..releases.release import xdsl_version
    from .parts import PARTS, REPLACED
    from .sources import checksum_of_files

    checksum = checksum_of_files()
    row = [xdsl_version(), checksum, " ".join(p for p in (*PARTS, *REPLACED) if p in parts)]
    lines = [line for line in _lines() if f"| {checksum} |" not in line]
    return "".join(f"{line}\n" for line in [*lines, " | ".join(row)])


def _lines() -> list[str]:
    return FILE.read_text(encoding="utf-8").splitlines()


def main() -> None:
    """Record the installed xDSL."""
    from .parts import PARTS, REPLACED

    every = (*PARTS, *REPLACED)
    if unknown := {*sys.argv[1:]} - {*every}:
        sys.exit(f"no accelerated part: {', '.join(unknown)}; there are {', '.join(every)}")
    FILE.write_text(recorded(sys.argv[1:] or every), encoding="utf-8")


if __name__ == "__main__":
    main()
