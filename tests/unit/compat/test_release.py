"""The range of releases of xDSL."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from passline.compat import release
from passline.compat.release import OLDEST, unsupported_release, xdsl_version

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_the_range_is_that_of_the_project() -> None:
    dependencies = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    assert f"xdsl>={OLDEST}" in dependencies


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
