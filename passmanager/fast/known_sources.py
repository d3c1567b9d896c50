"""The table `known_sources.txt`: the places in xDSL's sources on which accelerated parts rely, and
the checksums of their sources in the releases with which the parts were tested."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["FILE", "Place", "known_places", "known_releases"]

FILE = Path(__file__).with_name("known_sources.txt")


class Place(NamedTuple):
    """A row of the table: a place, the parts that rely on it, and the checksums of the sources with
    which they were tested."""

    name: str
    parts: list[str]
    checksums: list[str]


@cache
def _rows() -> list[list[str]]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [line.split("|") for line in lines if not line.startswith("#")]


@cache
def known_places() -> list[Place]:
    """Return the rows about places."""
    rows = (row for row in _rows() if len(row) == 3)
    return [Place(name.strip(), parts.split(), sums.split()) for name, parts, sums in rows]


@cache
def known_releases() -> dict[str, list[str]]:
    """Return the parts that are accelerated with a release, by the checksum of its files."""
    return {row[0].strip(): row[1].split() for row in _rows() if len(row) == 2}
