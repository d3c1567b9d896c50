"""The commands as processes: what happens to their output is in their exit status."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from support.needs_numpy import needs_numpy
from support.suites.inprocess import passline_opt
from support.tables import table_test

from passline.tools import commands

BIN = Path(sys.executable).parent
SMALL = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n"

Shell = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Return a function that runs a line of shell in a directory with a few inputs."""
    folder = tmp_path_factory.mktemp("process")
    (folder / "small.mlir").write_text(SMALL)
    (folder / "bad.mlir").write_text("x")
    big = "\n".join(f"func.func @{'f' * 100}{i}() {{ func.return }}" for i in range(1000))
    (folder / "big.mlir").write_text(big)
    options = ("-p", "cse", "-o", os.devnull, f"--record={folder / 'run.jsonl'}")
    assert passline_opt(str(folder / "small.mlir"), *options).status == 0

    def run(line: str, unbuffered: str = "") -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "PYTHONUNBUFFERED": unbuffered,
        }
        command = ["bash", "-c", line]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)

    return run


COMMANDS = [
    "passline-opt big.mlir",
    "passline-opt --help",
    "passline-opt --version",
    "passline-opt small.mlir --out-dir=out",
    "passline-run small.mlir",
    "passline-reduce --quiet small.mlir --test true",
    "passline-report run.jsonl -o -",
    "passline-report run.jsonl --timing",
    "passline new --help",
]


@needs_numpy
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
@pytest.mark.parametrize(("unbuffered", "commands"), [("", COMMANDS[:2]), ("1", COMMANDS)])
def test_a_full_disk_is_status_1(shell: Shell, unbuffered: str, commands: list[str]) -> None:
    for command in commands:
        done = shell(f"{command} > /dev/full", unbuffered)
        assert done.returncode == 1, command
        message = "error: '<stdout>': No space left on device"
        assert done.stderr.splitlines()[-1].endswith(message), command


@needs_numpy
@pytest.mark.parametrize(("unbuffered", "commands"), [("", COMMANDS[:2]), ("1", COMMANDS)])
def test_a_closed_pipe_is_status_141(shell: Shell, unbuffered: str, commands: list[str]) -> None:
    for command in commands:
        done = shell(f"{command} | (exec <&-; true); exit ${{PIPESTATUS[0]}}", unbuffered)
        assert (done.returncode, done.stderr) == (141, ""), command


def test_a_reader_that_stops_after_a_line(shell: Shell) -> None:
    done = shell("passline-opt big.mlir | head -1; exit ${PIPESTATUS[0]}", "1")
    assert (done.returncode, done.stdout) == (141, "builtin.module {\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_messages_that_cannot_be_written_change_no_failure(shell: Shell) -> None:
    assert shell("passline-opt bad.mlir 2> /dev/full").returncode == 1


def test_dev_stdout_is_no_file_to_be_replaced(shell: Shell) -> None:
    line = "echo before > log; passline-opt small.mlir -o /dev/stdout >> log; head -2 log"
    assert shell(line).stdout == "before\nbuiltin.module {\n"


INTERRUPT = """
import sys
from importlib.abc import MetaPathFinder

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["command", "--help"]
{call}
"""
CALL = "from passline.tools import commands; commands.{0}()"
NEW = "sys.argv.insert(1, 'new'); from passline.tools import commands; commands.passline()"


@table_test(
    ("module", "call"),
    [
        ("passline.tools.opt", CALL.format("opt")),
        ("xdsl.ir", CALL.format("opt")),
        ("xdsl.ir", CALL.format("compile")),
        ("xdsl.ir", CALL.format("run")),
        ("xdsl.ir", CALL.format("reduce")),
        ("xdsl.ir", CALL.format("report")),
        ("passline.passmanager.output.status", NEW),
        ("passline.tools.new.project", NEW),
    ],
)
def test_ctrl_c_while_modules_are_imported(module: str, call: str) -> None:
    script = INTERRUPT.format(module=module, call=call)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 130 and done.stdout == "", done
    assert done.stderr.endswith("error: interrupted\n") and "Traceback" not in done.stderr


def test_console_scripts_are_the_guarded_entry_points() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    for script, place in project["project"]["scripts"].items():
        assert place == f"passline.tools.commands:{script.removeprefix('passline-')}"
        assert callable(getattr(commands, place.partition(":")[2]))
