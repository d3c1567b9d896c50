"""`passline`: the list of the commands, and each of them as `passline NAME`."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from support.needs_numpy import needs_numpy
from support.suites.inprocess import Result, capture

from passline.tools import commands
from passline.tools.overview import SAYS

Run = Callable[..., Result]
PROJECT = Path(__file__).parents[3] / "pyproject.toml"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command in this process."""

    def run(*args: str, stdin: str = "") -> Result:
        monkeypatch.setattr(sys, "argv", ["/bin/passline", *args])
        return capture(commands.passline, stdin)

    return run


def test_the_commands_are_those_that_are_installed() -> None:
    scripts = tomllib.loads(PROJECT.read_text())["project"]["scripts"]
    assert {f"passline-{name}" for name in commands.COMMANDS} | {"passline"} == scripts.keys()
    assert [*SAYS] == [*commands.COMMANDS]


@pytest.mark.parametrize("args", [(), ("-h",), ("--help",)])
def test_the_list_of_commands(
    args: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    result = run(*args)
    assert result.status == 0 and all(f"\n  {name} " in result.stdout for name in SAYS)
    assert max(map(len, result.stdout.splitlines())) <= 60
    assert "  -h, --help " in result.stdout and "all options, and exit" not in result.stdout
    assert "--print-completion {bash,zsh,fish}" in result.stdout


@needs_numpy
def test_versions(run: Run) -> None:
    assert run("--version").stdout.startswith("passline: Passline ")
    for name in commands.COMMANDS:
        assert run(name, "--version").stdout.startswith(f"passline {name}: Passline ")


def test_a_command_runs(run: Run) -> None:
    text = "func.func @f() {\n  func.return\n}\n"
    assert "func.func @f()" in run("opt", "-p", "cse", stdin=text).stdout
    failed = run("opt", "-p", "csee", stdin=text)
    assert failed.status == 2 and failed.stderr.startswith("passline opt: error: ")
    assert "see 'passline opt --help'" in failed.stderr


def test_a_project_is_started(run: Run) -> None:
    assert run("new", "--help").stdout.startswith("usage: passline new ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("optt", "x.mlir"), "there is no command 'optt', did you mean 'opt'?"),
        (("passline-redcue",), "there is no command 'passline-redcue', did you mean 'reduce'?"),
        ((str(PROJECT),), f"there is no command '{PROJECT}'; 'passline opt {PROJECT}' reads the"),
        (("zzzz",), "there is no command 'zzzz'; choose from opt, run, compile, "),
        (("help",), "there is no command 'help': write 'passline --help'"),
        (
            ("--list-passes",),
            "'--list-passes' is an option of a command, as in 'passline opt --list",
        ),
        (("-O3", "x.mlir"), "'-O3' is an option of a command, as in 'passline opt -O3'"),
        (("--engine=native",), "'--engine=native' is an option of a command, as in 'passline run "),
        (("--verson",), "unrecognized arguments: --verson (did you mean '--version'?)"),
    ],
)
def test_a_mistake_in_the_name(args: tuple[str, ...], message: str, run: Run) -> None:
    result = run(*args)
    assert result.status == 2 and result.stdout == ""
    assert result.stderr.startswith(f"passline: error: {message}")
