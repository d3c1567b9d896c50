"""`python -m passline.compat.acceleration.record PART ...`: record the sources of the installed
xDSL, as ones with which these parts were tested.

For maintainers, who run the tests with it: it rewrites `known_sources.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

from .acceleration import PARTS, checksum_of_files
from .known_sources import KNOWN_SOURCES, RELEASES
from .sources import checksum_of

__all__ = ["record"]

_HEAD = '''"""The sources of xDSL that parts were tested with; written by `record.py`."""

from __future__ import annotations

from typing import Final

__all__ = ["KNOWN_SOURCES", "RELEASES"]

'''


def record(parts: Collection[str]) -> str:
    """Return the text of `known_sources.py`, with the installed xDSL added for these parts."""
    known = {key: [*checksums] for key, checksums in KNOWN_SOURCES.items()}
    for part in parts:
        for place in PARTS[part].places:
            checksums = known.setdefault(f"{part} {place}", [])
            if (found := checksum_of(place)) is not None and found not in checksums:
                checksums.append(found)
    releases = RELEASES | {checksum_of_files(): tuple(sorted(parts))}
    return "".join(
        (
            _HEAD,
            "RELEASES: Final[dict[str, tuple[str, ...]]] = {\n",
            *(f'    "{key}": ({_words(parts)}),\n' for key, parts in releases.items()),
            '}\n"""The parts that are accelerated with a release, by its checksum."""\n\n',
            "KNOWN_SOURCES: Final[dict[str, tuple[str, ...]]] = {\n",
            *(f'    "{key}": ({_words(found)}),\n' for key, found in sorted(known.items())),
            '}\n"""The checksums of a place, by part and place."""\n',
        )
    )


def _words(words: Collection[str]) -> str:
    return "".join(f'"{word}", ' for word in words).rstrip(" ")


def main() -> None:
    """Record the installed xDSL."""
    if unknown := set(sys.argv[1:]) - PARTS.keys():
        sys.exit(f"no accelerated part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    text = record(sys.argv[1:] or [*PARTS])
    Path(__file__).with_name("known_sources.py").write_text(text, encoding="utf-8")
    print(f"recorded xDSL {version('xdsl')}", file=sys.stderr)


if __name__ == "__main__":
    main()
