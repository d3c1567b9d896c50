"""Help and lists at the widths of terminals, and for a pipe."""

from __future__ import annotations

import re
import sys

import pytest
from support.suites.inprocess import capture, passline_opt

from passline.tools.command_line.short_help import filled, rows
from passline.tools.opt import PasslineOptMain

from .test_short_help import TOOLS, shown

WIDTHS = ("60", "80", "120")


def words(text: str) -> set[str]:
    """Return the words of a text that have a hyphen."""
    return set(re.findall(r"[\w-]+-[\w-]*", text))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_fits(
    columns: str, tool: type[PasslineOptMain], option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = tool.__name__.removeprefix("Passline").removesuffix("Main").lower()
    monkeypatch.setattr(sys, "argv", [f"passline-{name}"])
    monkeypatch.setenv("COLUMNS", "500")
    whole = words(shown(tool, option))
    monkeypatch.setenv("COLUMNS", columns)
    text = shown(tool, option)
    assert max(map(len, text.splitlines())) <= int(columns)
    assert words(text) == whole, "a name is broken"
    assert not re.search(r"\w \.\.\.$", text, re.M)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("option", ["--list-passes", "--list-passes=all", "--list-instruments"])
def test_lists_fit(columns: str, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    whole = words(passline_opt(option).stdout)
    monkeypatch.setenv("COLUMNS", columns)
    text = passline_opt(option).stdout
    assert max(map(len, text.splitlines())) <= int(columns)
    assert words(text) == whole and not re.search(r"\w \.\.\.$", text, re.M)


def test_a_pipe_gets_each_pass_on_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = passline_opt("--list-passes").stdout.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    all_of_them = passline_opt("--list-passes=all").stdout
    assert sorted(named) == re.findall(r"^(?! )(\S+)", all_of_them, re.M)
    (line,) = [line for line in lines if line.startswith("  fold-constant ")]
    assert line.endswith("  Replace operations on constants by their value.")
    (place,) = [i for i, line in enumerate(lines) if line.strip() == "lower-affine"]
    assert lines[place - 1] == "affine:" and lines[-1]
    assert all(line.endswith(".") for line in lines if line.startswith("  ") and "  " in line[2:])


def test_rows() -> None:
    pairs = [("a", "one two three"), ("a-long-name", "four")]
    assert [*rows(pairs, None)] == ["  a            one two three", "  a-long-name  four"]
    assert [*rows(pairs, 20)] == [
        "  a         one two",
        "            three",
        "  a-long-name",
        "            four",
    ]
    assert filled("a-b c", 4) == ["a-b", "c"] and filled("", 4, "  ", "x ") == ["x"]


def test_help_of_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    from passline.tools.report import main

    monkeypatch.setenv("COLUMNS", "60")
    for option in ("-h", "--help"):
        text = capture(lambda option=option: main([option])).stdout
        assert max(map(len, text.splitlines())) <= 60 and "--pass-statistics" in text
