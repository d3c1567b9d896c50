"""Options as mlir-opt and LLVM's opt spell them: those that work here, and the hints for others."""

from __future__ import annotations

import re
from typing import TextIO

import pytest
from support.passes.toy import Append, Nothing, register_in_test
from support.suites.inprocess import Result, capture, passline_opt
from support.tables import table_test

from passline.tools.command_line.foreign_options import ADVICE, advice
from passline.tools.run import PasslineRunMain

FUNCTION = "func.func @f() {\n  func.return\n}\n"


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy passes are installed, and gone after the test."""
    register_in_test(monkeypatch, Append, Nothing)


def run(*args: str, status: int = 0) -> Result:
    result = passline_opt(*args, stdin=FUNCTION)
    assert result.status == status, result
    return result


# Options that work


@table_test(
    "option",
    [
        "--pass-pipeline=builtin.module(toy-append)",
        "-pass-pipeline=builtin.module(toy-append)",
        "-passes=toy-append",
        "-toy-append",
    ],
)
def test_pipeline_option_of_others(option: str) -> None:
    assert run(option).stdout == run("-p", "toy-append").stdout
    assert 'tag = "x"' in run(option).stdout


def test_one_dash_with_an_optional_value() -> None:
    assert "Execution time" in run("-timing", "-p", "toy-nothing").stderr
    assert '"name"' in run("-timing=json", "-p", "toy-nothing").stderr


def test_short_options_keep_their_joined_values() -> None:
    assert run("-ptoy-append", "-O3").stdout == run("-p", "toy-append", "-O", "3").stdout
    assert run("-tmlir").stdout == run("-t", "mlir").stdout


@table_test(
    ("spelling", "same"),
    [
        ("--verify-each=0", ["--no-verify-each"]),
        ("--verify-each=false", ["--no-verify-each"]),
        ("--verify-each=true", ["--verify-each"]),
        ("--no-print=1", ["--no-print"]),
        ("--no-print=0", []),
    ],
)
def test_switch_with_a_value(spelling: str, same: list[str]) -> None:
    parsed = [run(*args, "--debug-pass-manager", "-p", "toy-append") for args in ([spelling], same)]
    assert parsed[0] == parsed[1]


def test_switch_with_another_value_is_an_error() -> None:
    assert "expected 0, 1, true or false, got '2'" in run("--verify-each=2", status=2).stderr


# Options that do not


@table_test(
    ("option", "hint"),
    [
        ("--mlir-print-ir-after-all", "write --print-ir-after-all"),
        ("--mlir-print-op-generic", "write --print-op-generic"),
        ("--mlir-print-ir-tree-dir=d", "write --print-ir-tree-dir"),
        ("--mlir-disable-threading", "passes run one after the other"),
        ("-print-after-all", "write --print-ir-after-all"),
        ("-print-changed=diff", "--print-diff"),
        ("-S", "the result is text"),
        ("--convert-func-to-llvm", "write -p 'mlir-opt[convert-func-to-llvm]'"),
        ("--one-shot-bufferize=bufferize-function-boundaries", "'mlir-opt[one-shot-bufferize]'"),
        ("--entry-point=main", "--function=NAME"),
        ("-e", "--function=NAME"),
        ("--emit=llvm", "passline-compile"),
    ],
)
def test_option_of_others_has_a_hint(option: str, hint: str) -> None:
    error = run(option, status=2).stderr
    assert "unrecognized arguments: " in error and hint in error and "did you mean" not in error


def test_option_that_nobody_has_gets_no_advice() -> None:
    assert advice("--mlir-nonsense", ["--print-ir-after"]) is None


def test_hints_name_options_that_exist() -> None:
    texts = (run("--help").stdout, capture(lambda: PasslineRunMain(["--help"]).run()).stdout)
    known = {option for text in texts for option in re.findall(r"--[a-z][a-z-]+", text)}
    for option, hint in ADVICE.items():
        assert option not in known
        assert set(re.findall(r"--[a-z][a-z-]+", hint)) <= known, option


# Colour


def always(stream: TextIO) -> bool:
    return True


def test_errors_have_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("passline.passmanager.diagnostics.wants_colour", always)
    assert ": \x1b[1;31merror:\x1b[0m there is no pass 'csee'" in run("-p", "csee", status=2).stderr
    monkeypatch.undo()
    assert "\x1b" not in run("-p", "csee", status=2).stderr
