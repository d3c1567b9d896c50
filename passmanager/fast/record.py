"""`python -m passline.passmanager.fast.record PART ...`: record the sources of the installed
xDSL, as ones with which these parts were tested.

For maintainers, who run the tests with it: it rewrites `known_sources.txt`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from importlib.metadata import version
from itertools import takewhile

from .acceleration import PARTS, REPLACED, checksum_of_files
from .known_sources import FILE, known_places, known_releases
from .sources import checksum_of

__all__ = ["record"]

_ALL = (*PARTS, *REPLACED)


def record(parts: Collection[str]) -> str:
    """Return the text of `known_sources.txt`, with the installed xDSL added for these parts."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    releases = known_releases() | {checksum_of_files(): [p for p in _ALL if p in parts]}
    rows = [(key, accelerated) for key, accelerated in releases.items()]
    lines = [
        *takewhile(lambda line: line.startswith("#"), lines),
        *map(_row, rows),
        *_places(parts),
    ]
    return "".join(f"{line}\n" for line in lines)


def _places(tested: Collection[str]) -> Iterator[str]:
    """Yield the rows about places; parts that were tested with other sources get a row each."""
    for place, parts, checksums in known_places():
        found = checksum_of(place)
        new = [p for p in parts if p in tested and found not in (None, *checksums)]
        if others := [part for part in parts if part not in new]:
            yield _row((place, others, checksums))
        if new:
            yield _row((place, new, [*checksums, str(found)]))


def _row(columns: tuple[str, *tuple[Collection[str], ...]]) -> str:
    name, *words = columns
    return " | ".join([name, *map(" ".join, words)])


def main() -> None:
    """Record the installed xDSL."""
    if unknown := set(sys.argv[1:]) - set(_ALL):
        sys.exit(f"no accelerated part: {', '.join(unknown)}; there are {', '.join(_ALL)}")
    text = record(sys.argv[1:] or _ALL)
    FILE.write_text(text, encoding="utf-8")
    print(f"recorded xDSL {version('xdsl')}", file=sys.stderr)


if __name__ == "__main__":
    main()
