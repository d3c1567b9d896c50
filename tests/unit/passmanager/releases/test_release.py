"""The range of releases of xDSL."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from passline.passmanager.releases import release
from passline.passmanager.releases.release import (
    NEWEST,
    OLDEST,
    unknown_release,
    unsupported_release,
    xdsl_version,
)

PROJECT = Path(__file__).parents[4] / "pyproject.toml"


def test_the_range_is_that_of_the_project() -> None:
    dependencies = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    assert f"xdsl>={OLDEST}" in dependencies


def test_the_newest_release_is_that_of_the_lock() -> None:
    lock = (PROJECT.parent / "constraints.txt").read_text()
    assert f"\nxdsl=={NEWEST}." in lock


def test_the_installed_release_is_supported() -> None:
    assert unsupported_release() is None and xdsl_version()


@pytest.mark.parametrize(
    ("version", "supported"),
    [
        ("0.58.0", False),
        ("0.9.1", False),
        ("0.59.0", True),
        ("0.59.0.dev3", True),
        ("0.74.0+4.gabc", True),
        ("1.0", True),
        ("unknown", True),
    ],
)
def test_older_releases_are_refused(
    version: str, supported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "xdsl_version", lambda: version)
    reason = f"xDSL {version} is too old: Passline works with xDSL {OLDEST} and newer"
    assert unsupported_release() == (None if supported else reason)


@pytest.mark.parametrize(
    ("version", "known"),
    [
        ("0.59.0", True),
        (f"{NEWEST}.3", True),
        (f"{NEWEST}.0+4.gabc", True),
        ("unknown", True),
        ("0.100.0", False),
        ("1.0", False),
    ],
)
def test_newer_releases_are_named(
    version: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "xdsl_version", lambda: version)
    said = f"xDSL {version} is newer than {NEWEST}, the newest that Passline was tested with"
    assert unknown_release() == (None if known else said)
    assert unsupported_release() is None
