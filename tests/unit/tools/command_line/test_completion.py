"""The completion of command lines in bash, and the scripts for zsh and fish."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from support.suites.inprocess import capture
from support.tables import table_test

from passline.tools.bisect.bisect_tool import PasslineBisectMain
from passline.tools.command_line.argument_parser import OptionalValue
from passline.tools.compile import PasslineCompileMain
from passline.tools.opt import PasslineOptMain
from passline.tools.overview import main as overview
from passline.tools.reduce.reduce_tool import PasslineReduceMain
from passline.tools.report import main as report
from passline.tools.run import PasslineRunMain
from passline.tools.tune import PasslineTuneMain

COMMANDS: dict[str, Callable[[list[str]], object]] = {
    "passline": overview,
    "passline-bisect": lambda args: PasslineBisectMain(args=args),
    "passline-compile": lambda args: PasslineCompileMain(args=args),
    "passline-opt": lambda args: PasslineOptMain(args=args),
    "passline-reduce": lambda args: PasslineReduceMain(args=args),
    "passline-report": report,
    "passline-run": lambda args: PasslineRunMain(args=args),
    "passline-tune": lambda args: PasslineTuneMain(args=args),
}
SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    def script(command: str, shell: str) -> str:
        monkeypatch.setattr(sys, "argv", [command])
        result = capture(lambda: COMMANDS[command]([f"--print-completion={shell}"]))
        assert (result.status, result.stderr) == (0, "")
        return result.stdout

    return script


Script = Callable[[str, str], str]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_command_of_two_words_is_completed_under_its_name_of_one(
    shell: str, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = script("passline-opt", shell)
    monkeypatch.setitem(COMMANDS, "passline opt", COMMANDS["passline-opt"])
    assert script("passline opt", shell) == text


@table_test("shell", SHELLS)
@table_test("command", COMMANDS)
def test_each_command_has_a_script_that_the_shell_reads(
    command: str, shell: str, script: Script
) -> None:
    text = script(command, shell)
    assert command in text and "version" in text and "# Usage" not in text
    if shutil.which(shell) is not None:
        done = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def completed(text: str, *words: str) -> list[str]:
    """Return the completions of the last word, where bash breaks a line into `words`."""
    found = re.search(r"^complete .* -F (\S+) (\S+)$", text, re.MULTILINE)
    assert found is not None and found[2] == words[0]
    given = " ".join(f"'{word}'" for word in words)
    code = f"COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}\n{found[1]}\n"
    code = f'{text}\n{code}printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
    return done.stdout.split()


FUSE = ["fuse-ops", "fuse-ops-by-pattern", "fuse-transpose-matmul"]


@table_test(
    ("words", "expected"),
    [
        (["-p", "fold-cons"], ["fold-constant"]),
        (["-p", "cse,fuse"], [f"cse,{name}" for name in FUSE]),
        (["--passes", "=", "cse,fuse"], [f"cse,{name}" for name in FUSE]),
        (["-p", "fold-constant{max-elements", "=", "4},fuse"], [f"4}},{name}" for name in FUSE]),
        (["-p", "builtin.module(cse,fuse"], [f"builtin.module(cse,{name}" for name in FUSE]),
        (["--timing", "="], ["tree", "list", "json"]),
        (["--timing", "=", "t"], ["tree"]),
        (["-p", "cse", "--print-diff", "=", ""], ["color", "plain", "auto"]),
        (["-t", "x86-64-v"], ["x86-64-v2", "x86-64-v3", "x86-64-v4"]),
        (["--frontend", "=", "on"], ["onnx"]),
        (["-O", ""], ["0", "1", "2", "3"]),
        (["--config", "relax.fast"], ["relax.fastmath="]),
        (["--help-pass", "=", "fold-cons"], ["fold-constant"]),
        (["--no-such", "--print-comp"], ["--print-completion"]),
    ],
)
def test_bash_completes_values(words: list[str], expected: list[str], script: Script) -> None:
    assert completed(script("passline-opt", "bash"), "passline-opt", *words) == expected


@table_test(
    ("words", "expected"),
    [
        (["comp"], ["compile"]),
        (["opt", "-p", "cse,fuse"], [f"cse,{name}" for name in FUSE]),
        (["run", "--engine", "=", "n"], ["numpy", "native"]),
        (["compile", "--emit", ""], ["so", "o", "ll", "s", "cubin", "tileirbc"]),
        (["report", "--pass-stat"], ["--pass-statistics"]),
    ],
)
def test_bash_completes_the_commands(words: list[str], expected: list[str], script: Script) -> None:
    assert completed(script("passline", "bash"), "passline", *words) == expected


def test_files_are_completed_after_an_option_with_an_optional_value(
    script: Script, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (file := tmp_path_factory.mktemp("x") / "model.mlir").touch()
    text = script("passline-opt", "bash")
    assert completed(text, "passline-opt", "--timing", str(file)[:-3]) == [str(file)]


def test_zsh_and_fish_take_values_after_an_equals_sign(script: Script) -> None:
    zsh = script("passline-opt", "zsh")
    assert '"--timing=-[' in zsh and '{-o+,--output-file=}"[' in zsh and '"*--config=[' in zsh
    fish = script("passline-opt", "fish")
    assert ' -l timing -fka "tree list json"' in fish and ' -l emit -xka "' not in fish
    for action in PasslineOptMain.unused().arg_parser._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, OptionalValue):
            assert f" -l {action.option_strings[0][2:]} -x" not in fish
