"""passline-bisect: what it says when it cannot narrow a fault, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.needs_numpy import needs_numpy
from support.passes.faults import FAULTY, Lower
from support.passes.toy import Append, Fail, Nothing, register_in_test
from support.suites.inprocess import Result, interruptible, passline_bisect
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from passline.passmanager import FunctionPass, ModulePass, PassContext, register_pass

BISECT = Path(sys.executable).with_name("passline-bisect")
PROGRAM = """\
func.func @main(%x: i32) -> i32 {
  %c = arith.constant 13 : i32
  %0 = arith.addi %x, %c : i32
  func.return %0 : i32
}
"""


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy passes are installed, and gone after the test."""
    register_in_test(monkeypatch, *FAULTY, Append, Fail, Nothing)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "bug.mlir"
    path.write_text(PROGRAM)
    return str(path)


def failing(status: int, *args: str, stdin: str = "") -> str:
    result = passline_bisect(*args, stdin=stdin)
    assert result.status == status, result
    assert "Traceback" not in result.stderr and result.stdout == ""
    return result.stderr


def found(*args: str, stdin: str = "") -> Result:
    result = passline_bisect(*args, stdin=stdin)
    assert result.status == 0, result
    return result


# What it prints

REPORT = """\
wrong:     the output matches '666'
pass:      toy-lower (2 of 3 that ran)
function:  @main
operation: 'arith.constant' at <stdin>:2:8
           %c = arith.constant 13 : i32
pipeline:  toy-lower
note:      'toy-lower' numbers no steps (ctx.actions.allowed): which of its changes is bad cannot \
be told

builtin.module {
  func.func @main() {
    %c = arith.constant 13 : i32
    func.return
  }
}
"""


def test_report() -> None:
    args = ["-p", "toy-nothing,toy-lower,toy-nothing", "--bad-if", "666", "--quiet"]
    assert found(*args, stdin=PROGRAM) == Result(0, REPORT, "")


def test_progress_has_a_line_for_each_step(file: str) -> None:
    result = found(file, "-p", "toy-nothing,toy-lower,toy-nothing", "--bad-if", "666")
    lines = [line.partition(": ")[2] for line in result.stderr.splitlines()]
    assert lines[:5] == [
        "0 of 3 passes: good",
        "3 of 3 passes: bad",
        "1 of 3 passes: good",
        "2 of 3 passes: bad",
        "pass 2 of 3: toy-lower",
    ]
    assert "1 pass is bad: toy-lower" in lines


def test_json(file: str) -> None:
    data = json.loads(found(file, "-p", "toy-lower", "--bad-if", "666", "--json").stdout)
    assert data["pass"] == "toy-lower" and data["pattern"] is None and data["test"] is None
    assert data["location"] == f"{file}:2:8" and data["operation"] == "arith.constant"


def test_a_module_is_not_reduced_on_request(file: str) -> None:
    result = found(file, "-p", "toy-lower", "--bad-if", "666", "--no-reduce")
    assert "%0 = arith.addi %x, %c : i32" in result.stdout
    many = "".join(PROGRAM.replace("main", f"f{n}") for n in range(30))
    result = found("-p", "toy-lower", "--bad-if", "666", "--no-reduce", stdin=many)
    assert "lines of IR: --save-test writes them to a file)" in result.stdout


def test_tests_do_not_overwrite_each_other(file: str, tmp_path: Path) -> None:
    directory = str(tmp_path / "a" / "b")
    for _ in range(2):
        found(file, "-p", "toy-lower", "--bad-if", "666", "--save-test", directory)
    assert sorted(os.listdir(directory)) == ["toy-lower-2.mlir", "toy-lower.mlir"]


# Pipelines


def test_level_requirements_and_options(file: str, tmp_path: Path) -> None:
    class High(Lower):
        name = "toy-high"
        opt_level = 3
        required = ("toy-nothing",)

    register_pass(High)
    pipeline = "toy-nothing,sequential{name=x}(toy-append{tag=a},toy-high)"
    args = [file, "-p", pipeline, "--bad-if", "666", "--json", "--save-test", str(tmp_path)]
    assert "not bad" in failing(1, *args, "-O2")
    data = json.loads(found(*args, "-O2", "--require-pass=toy-high").stdout)
    assert (data["pass"], data["pass_number"], data["pipeline"]) == ("toy-high", 4, "toy-high")
    text = Path(data["test"]).read_text()
    assert text.startswith("// RUN: passline-opt %s -p toy-high | filecheck %s")
    assert "// CHECK-NOT: {{666}}" in text


def test_options_of_passes_are_in_the_pipeline(file: str, tmp_path: Path) -> None:
    args = ["-p", "toy-append", "--config=toy-append.tag=wrong", "--bad-if=wrong"]
    result = found(file, *args, "--disable-pass=toy-nothing", "--save-test", str(tmp_path))
    assert 'pipeline:  toy-append{tag="wrong"}\n' in result.stdout
    text = (tmp_path / "toy-append.mlir").read_text()
    assert "-p 'toy-append{tag=\"wrong\"}' --disable-pass=toy-nothing | " in text


def test_names_that_are_no_passes_are_warned_about(file: str) -> None:
    result = found(file, "-p", "toy-lower", "--bad-if=666", "--disable-pass=toy-nothin")
    assert "--disable-pass names 'toy-nothin', which is not a pass" in result.stderr


def test_a_warning_is_bad(tmp_path: Path) -> None:
    pipeline = "toy-nothing,fixpoint{max-iterations=3}(toy-nothing,toy-append)"
    args = ["-p", pipeline, "--bad-if", "still changed", "--save-test", str(tmp_path)]
    result = found(*args, stdin=PROGRAM)
    assert "pass:      toy-append (7 of 7 that ran)\npipeline:" in result.stdout
    assert "pipeline:  fixpoint{max-iterations=3}(toy-append)\n" in result.stdout
    assert " 2>&1 | filecheck" in (tmp_path / "toy-append.mlir").read_text()


# What cannot be narrowed


def test_nothing_is_bad(file: str) -> None:
    shown = failing(1, file, "-p", "cse")
    assert shown == (
        f"error: the pipeline does not fail on '{file}': say what is bad by --bad-if, "
        "or by a command after --\n"
    )
    shown = failing(1, file, "-p", "cse", "--bad-if", "666")
    assert shown.endswith("error: not bad: the outcome of the whole pipeline is good\n")


def test_bad_before_any_pass(file: str) -> None:
    shown = failing(1, file, "-p", "cse", "--", "false")
    assert shown.endswith("error: bad before any pass: the command ended with status 1: false\n")


@needs_numpy
def test_what_was_not_checked_is_named() -> None:
    text = 'func.func @f(%x: i32) {\n  "test.op"(%x) : (i32) -> ()\n  func.return\n}\n'
    shown = failing(1, "-p", "cse", "--verify-semantics", stdin=text)
    assert "fails no check" in shown and "not checked: @f: no semantics for 'test.op'" in shown


def test_a_command_does_not_judge_a_failure(file: str) -> None:
    shown = failing(1, file, "-p", "toy-fail", "--", "true")
    assert "the pipeline fails, so that 'true' cannot judge its result" in shown
    assert "ValueError in pass 'toy-fail'" in shown


def test_more_than_one_culprit(file: str) -> None:
    class Clean(FunctionPass):
        name = "toy-clean"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            func.attributes.clear()

    class Spoil(FunctionPass):
        name = "toy-spoil"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            func.attributes["toy.bad"] = func.sym_name

    register_pass(Clean)
    register_pass(Spoil)
    args = ["-p", "toy-spoil,toy-clean,toy-spoil", "--bad-if", "toy.bad"]
    result = found(file, *args)
    assert "pass:      toy-spoil (1 of 3 that ran)" in result.stdout
    assert "bad with 1 passes, good again with 2: there is more than one culprit" in result.stdout


# Time


def test_a_pass_that_does_not_end(file: str) -> None:
    class Endless(ModulePass):
        name = "toy-endless"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            while "addi" in str(module):
                pass

    register_pass(Endless)
    result = found(file, "-p", "toy-nothing,toy-endless", "--timeout=0.4", "--no-reduce")
    assert "TimeLimitError in pass 'toy-endless': took longer than 0.4 s" in result.stdout


def test_a_command_that_takes_too_long(file: str, tmp_path: Path) -> None:
    script = tmp_path / "slow.sh"
    script.write_text('#!/bin/sh\ngrep -q 666 "$1" && sleep 60\ntrue\n')
    script.chmod(0o755)
    args = ["-p", "toy-lower", "--timeout=3", "--no-reduce", "--", str(script)]
    assert "the command took longer than 3 s" in found(file, *args).stdout


# Mistakes


@table_test(
    ("args", "message"),
    [
        ([], "say what to bisect: -p PIPELINE, -O or --run-reproducer"),
        (["-p", "toy-fial"], "there is no pass 'toy-fial', did you mean 'toy-fail'?"),
        (["-p", "cse", "--bad-iff=x"], "unrecognized arguments: --bad-iff=x (did you mean"),
        (["-p", "cse", "--bad-if", "a("], "'a(' is not a regular expression: missing )"),
        (["-p", "cse", "--bad-if=x", "--", "true"], "either --bad-if or a command after --"),
        (["-p", "cse", "--"], "expected a command after --"),
        (["-p", "cse", "--", "./nothing"], "'./nothing' is not a command"),
        (["-p", "cse", "--target=pdp11"], "pdp11"),
        (["--run-reproducer", "-p", "cse"], "takes the pipeline from the input"),
    ],
)
def test_arguments_that_cannot_be_meant(file: str, args: list[str], message: str) -> None:
    assert message in failing(2, file, *args)


def test_files_and_commands_that_do_not_work(file: str, tmp_path: Path) -> None:
    shown = failing(1, "nofile.mlir", "-p", "toy-fail")
    assert shown == "error: 'nofile.mlir': No such file or directory\n"
    shown = failing(1, file, "-p", "toy-fail", "--save-test", file)
    assert shown == f"error: '{file}': File exists\nnote: given by --save-test\n"
    shown = failing(1, file, "-p", "cse", "--", "sh", "-c", "nothing {}")
    assert shown == "error: the command could not be run, status 127: sh -c 'nothing {}'\n"
    shown = failing(1, "-p", "toy-fail", stdin="func.func @f() {\n  func.retur\n}\n")
    assert shown.startswith("<stdin>:2:3: error: operation 'func.retur' is not registered")


# Ctrl-C


def test_interrupted_in_a_pass(file: str) -> None:
    class Impatient(Lower):
        name = "toy-impatient"
        runs = 0

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            Impatient.runs += 1
            if Impatient.runs > 7:
                raise KeyboardInterrupt
            super().transform_function(func, module, ctx)

    register_pass(Impatient)
    result = passline_bisect(file, "-p", "toy-impatient", "--bad-if=666")
    assert result.status == 130
    assert "\nerror: interrupted\nnote: in pass" in result.stderr
    assert result.stdout.startswith("wrong:     the output matches '666'\npass:      toy-impatient")


def test_interrupted_in_a_command(file: str, tmp_path: Path) -> None:
    seen, script = tmp_path / "seen", tmp_path / "slow.sh"
    script.write_text(f'#!/bin/sh\necho >> {seen}; sleep 0.2; grep -q "addi" "$1"\n')
    script.chmod(0o755)
    command = [str(BISECT), file, "-p", "canonicalize,dce", "--", str(script)]
    if not BISECT.exists():
        command[0:1] = [sys.executable, "-m", "passline.tools.bisect.bisect_tool"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
    while not seen.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130 and shown.endswith("error: interrupted\n"), shown
