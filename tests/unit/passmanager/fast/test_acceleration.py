"""Which implementation runs: ours where it does the same as xDSL, else xDSL's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.other_xdsl import OPT, ran, version

from passline.passmanager.fast import acceleration, comparison
from passline.passmanager.fast.known_releases import (
    FILE,
    checksum_of_files,
    known_releases,
    recorded,
)
from passline.passmanager.fast.parts import OFF, SETTING

# Known releases


def test_a_known_release_is_not_compared(monkeypatch: pytest.MonkeyPatch):
    if checksum_of_files() not in known_releases():
        pytest.skip("this xDSL is not a known release")

    def compared(checksum: str) -> None:
        pytest.fail("is compared")

    monkeypatch.setattr(comparison, "verdict_on", compared)
    assert acceleration._verdict.__wrapped__().parts  # pyright: ignore[reportPrivateUsage]


def test_recording_a_known_release_changes_nothing():
    parts = known_releases().get(checksum_of_files())
    if parts is None:
        pytest.skip("this xDSL is not a known release")
    assert sorted(recorded(parts).splitlines()) == sorted(FILE.read_text().splitlines())


def test_nothing_of_xdsl_is_imported_for_the_checksum():
    code = (
        "import sys\nfrom passline.passmanager.fast import known_releases\n"
        "known_releases.checksum_of_files(), known_releases.is_mixed()\n"
        "print([name for name in sys.modules if name.startswith('xdsl.')])"
    )
    assert ran(sys.executable, "-c", code, env={}).stdout.strip() == "[]"


# The environment


@pytest.mark.parametrize(("value", "is_off"), [("1", True), ("0", False), ("", False)])
def test_the_environment_turns_everything_off(value: str, is_off: bool, tmp_path: Path):
    (line, *_) = version(None, tmp_path, **{OFF: value})
    assert line.startswith("accelerated: nothing (--no-acceleration") is is_off


def test_an_unknown_setting_is_an_error_with_the_nearest_name(tmp_path: Path):
    done = ran(*OPT, "--version", env={SETTING: "chek"})
    assert done.returncode == 1
    said = "error: PASSLINE_ACCELERATION=chek: no 'chek', did you mean 'check'?\n"
    assert done.stderr == said


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '[["no such part"], "x"]', "[1, 2]", '["printing"]', '[["printing"], 1]'],
)
def test_a_damaged_verdict(text: str, tmp_path: Path):
    (file := tmp_path / "verdict.json").write_text(text)
    assert comparison._load(file) is None  # pyright: ignore[reportPrivateUsage]
