"""The help of one screen that -h prints."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.suites.inprocess import capture
from support.tables import table_test

from passline.tools.bisect.bisect_tool import PasslineBisectMain
from passline.tools.command_line.short_help import XDSL_HELP
from passline.tools.compile import PasslineCompileMain
from passline.tools.opt import PasslineOptMain
from passline.tools.reduce.reduce_tool import PasslineReduceMain
from passline.tools.run import PasslineRunMain
from passline.tools.tune import PasslineTuneMain

TOOLS = (
    PasslineBisectMain,
    PasslineCompileMain,
    PasslineOptMain,
    PasslineReduceMain,
    PasslineRunMain,
    PasslineTuneMain,
)


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the width of the help; a worker of pytest has 80 columns, other processes 100."""
    monkeypatch.setenv("COLUMNS", "100")


def shown(tool: Callable[..., PasslineOptMain], option: str) -> str:
    result = capture(lambda: tool(args=[option]))
    assert (result.status, result.stderr) == (0, "")
    return result.stdout


@table_test("tool", TOOLS)
def test_the_short_help_is_one_screen(tool: type[PasslineOptMain]) -> None:
    lines = shown(tool, "-h").splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    assert lines[0].startswith("usage: ")
    assert any("--help shows all options" in line for line in lines)


def test_the_short_help_shows_the_values_of_options() -> None:
    text = shown(PasslineOptMain, "-h")
    assert "--remarks[=REGEX] " in text and "--verify-semantics[=SEEDS,strict] " in text
    engines = "--engine {numpy,native,cuda,cuda-interpreter}\n"
    assert "--timing " in text and engines in shown(PasslineRunMain, "-h")


@table_test("tool", TOOLS)
def test_all_options_of_the_short_help_exist(tool: type[PasslineOptMain]) -> None:
    short = tool.short_help
    assert (
        short is not None and short is not PasslineOptMain.short_help
    ) or tool is PasslineOptMain
    assert short is not None
    text = shown(tool, "--help")
    for option in short.frequent:
        assert option in text, option


def test_the_options_of_xdsl_stand_in_our_groups() -> None:
    text = shown(PasslineOptMain, "--help")
    first = text.partition("input and output:")[0]
    for helps in XDSL_HELP.values():
        for option, help in helps.items():
            assert option in text and option not in first
            assert help.split()[0] in text
