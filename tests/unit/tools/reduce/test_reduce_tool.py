"""passline-reduce: what it keeps, what it writes and says, how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.passes.toy import Append, Fail, Nothing, register_in_test
from support.suites.inprocess import Result, interruptible, passline_opt, passline_reduce
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import ModulePass, PassContext, register_pass
from passline.passmanager.ir.walk import walk
from passline.tools.reduce.reduce_tool import PasslineReduceMain
from passline.tools.trials.trial import Failure, Trials

REDUCE = Path(sys.executable).with_name("passline-reduce")


class Stumble(ModulePass):
    """Raises ValueError on a multiplication, with its result in the message."""

    name = "toy-stumble"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in walk(module):
            if op.name == "arith.muli":
                count = sum(1 for _ in walk(module))
                raise ValueError(f"%{op.results[0].name_hint} of {count} ops has no i32")


class Refuse(ModulePass):
    """Reports each multiplication as an error."""

    name = "toy-refuse"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in walk(module):
            if op.name == "arith.muli":
                ctx.diagnostics.error(op, "does not like this")


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy passes are installed, and gone after the test."""
    register_in_test(monkeypatch, Append, Fail, Nothing, Stumble, Refuse)


def program(count: int = 200) -> str:
    """A function of so many ops, each on the ones before it; one of them is a multiplication."""
    lines = [f"%v{n} = arith.constant {n} : i32" for n in range(3)]
    for n in range(3, count):
        name = "muli" if n == 2 * count // 3 else "addi"
        lines.append(f"%v{n} = arith.{name} %v{n - 1}, %v{n - 3} : i32")
    body = "\n  ".join(lines)
    return (
        f"func.func @f(%x: i32) -> i32 {{\n  {body}\n  func.return %v{count - 1} : i32\n}}\n"
        "func.func @g(%x: i32) -> i32 {\n"
        "  %r = func.call @f(%x) : (i32) -> i32\n  func.return %r : i32\n}\n"
    )


SMALL = """\
builtin.module {
  func.func @f(%x: i32) {
    %v133 = arith.muli %x, %x : i32
    func.return
  }
}

"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "bug.mlir"
    path.write_text(program())
    return str(path)


def script(tmp_path: Path, text: str) -> str:
    """An executable shell script."""
    path = tmp_path / "test.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def failing(status: int, *args: str, stdin: str = "") -> str:
    """What a run that writes nothing says on stderr."""
    result = passline_reduce(*args, stdin=stdin)
    assert result.status == status, result
    assert "Traceback" not in result.stderr and result.stdout == ""
    return result.stderr


def reduced(*args: str, stdin: str = "") -> Result:
    result = passline_reduce(*args, stdin=stdin)
    assert result.status == 0, result
    return result


# A pipeline that fails


def test_crash_is_reduced_to_the_op_that_causes_it(file: str) -> None:
    result = reduced(file, "-p", "toy-nothing,toy-stumble,toy-append")
    assert result.stdout == SMALL
    lines = result.stderr.splitlines()
    assert lines[0].endswith(": to be kept: ValueError in pass 'toy-stumble'")
    assert lines[-2].endswith("3 ops left, without some results")
    assert lines[-1].endswith(": pipeline: toy-stumble")
    assert Path(file).read_text() == program()


def test_what_is_left_fails_in_the_same_way(file: str, tmp_path: Path) -> None:
    small = str(tmp_path / "small.mlir")
    result = reduced(file, "-p", "toy-nothing,toy-stumble", "-o", small)
    assert result.stdout == ""
    assert "ValueError: %v133 of" in passline_opt(small, "-p", "toy-stumble").stderr


def test_errors_that_a_pass_reports(file: str) -> None:
    assert reduced(file, "-p", "toy-refuse", "--quiet") == Result(0, SMALL, "")


def test_passes_that_the_failure_needs_stay() -> None:
    text = "func.func @f(%x: i32) {\n  func.return\n}\n"
    args = "-p", "toy-nothing,toy-append{tag=a},fixpoint(toy-nothing),toy-invalidate"
    register_pass(Invalidate)
    result = reduced(*args, stdin=text)
    assert result.stderr.endswith('pipeline: toy-append{tag="a"},toy-invalidate\n')
    assert result.stdout == "builtin.module {\n}\n\n"


class Invalidate(ModulePass):
    """Gives an op that toy-append has made operands, after it."""

    name = "toy-invalidate"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in walk(module):
            if "tag" in op.attributes:
                raise RuntimeError("tagged")


def test_reproducer_is_reduced(file: str, tmp_path: Path) -> None:
    reproducer = str(tmp_path / "r.mlir")
    passline_opt(file, "-p", "toy-stumble", f"--crash-reproducer={reproducer}")
    assert reduced(reproducer, "--run-reproducer").stdout == SMALL


def test_other_failures_are_not_the_same() -> None:
    one = Failure("ValueError", "a", "x")
    assert one != Failure("TypeError", "a", "x") and one != Failure("ValueError", "b", "x")
    assert str(one) == "ValueError in pass 'a'" and str(Failure("E", "", "x")) == "E"


@table_test(
    ("one", "other"),
    [
        ("no %a at 3", "no %b at 17"),
        ("tensor<4x4xf32> is no !x.y<memref<2xi8>>", "tensor<?xf32> is no !x.y<vector<8xi1>>"),
        ("@f calls @g", "@g calls @h.i"),
        ("shapes 3 and 4x4", "shapes 17x2 and 1"),
        ("got i32", "got f64"),
        ("at 0x7f00, -1.5", "at 0xdead, 2"),
        ("'a.b' at x.mlir:3:4 and", "'a.b' at dir/y.mlir:17:21 and"),
        ("'a.b' at x.mlir:3:4 and", "'a.b' at loc(\"conv 1\") and"),
        ("first\n%a = long IR", "first\n%b = short IR"),
    ],
)
def test_messages_that_differ_in_numbers_names_and_types(one: str, other: str) -> None:
    assert failure_with(one) == failure_with(other) != failure_with("something else")


def failure_with(message: str) -> Failure | None:
    tool = PasslineReduceMain(args=["-p", "toy-fail"])
    return Trials(tool.ctx, tool.pass_context).run([Fail(message)], ModuleOp([])).failure


# A script


def test_script(file: str, tmp_path: Path) -> None:
    test = script(tmp_path, 'grep -q muli "$1"')
    assert reduced(file, "--test", test).stdout == SMALL


def test_script_gets_arguments_and_is_silent(file: str, tmp_path: Path) -> None:
    test = script(tmp_path, 'echo noise; echo noise >&2; grep -q "$1" "$2"')
    assert reduced(file, "--test", f"{test} muli", "--quiet") == Result(0, SMALL, "")


def test_script_sees_the_name_of_the_input(file: str, tmp_path: Path) -> None:
    reduced(file, "--test", script(tmp_path, 'test "${1##*/}" = bug.mlir'))


def test_script_on_stdin(tmp_path: Path) -> None:
    result = reduced("-", "--test", script(tmp_path, 'grep -q muli "$1"'), stdin=program())
    assert result.stdout == SMALL


def test_everything_goes_if_everything_is_interesting(file: str, tmp_path: Path) -> None:
    assert reduced(file, "--test", script(tmp_path, "true")).stdout == "builtin.module {\n}\n\n"


def test_invalid_input_stays_interesting(tmp_path: Path) -> None:
    text = 'func.func @f() {\n  "test.op"(%a) : (i32) -> ()\n  %a = "test.op"() : () -> i32\n'
    text += '  "test.op"() : () -> ()\n  func.return\n}\n'
    test = script(tmp_path, """grep -q 'op"(%a)' "$1" && grep -q '%a = "test' "$1\"""")
    result = reduced("--test", test, stdin=text)
    assert "the input is not valid" in result.stderr
    assert result.stdout.count("test.op") == 2


def test_timeout(file: str, tmp_path: Path) -> None:
    test = script(tmp_path, "sleep 60")
    began = time.monotonic()
    shown = failing(1, file, "--test", test, "--timeout", "0.2")
    assert "is not interesting" in shown and "took longer than 0.2 s" in shown
    assert time.monotonic() - began < 30


# What cannot be


def test_input_that_is_not_interesting(file: str, tmp_path: Path) -> None:
    test = script(tmp_path, "exit 3")
    shown = failing(1, file, "--test", test, "-o", str(tmp_path / "out.mlir"))
    assert shown == f"error: '{file}' is not interesting: '{test}' ended with status 3\n"
    assert not (tmp_path / "out.mlir").exists()
    shown = failing(1, file, "-p", "toy-nothing")
    assert shown == f"error: '{file}' is not interesting: the pipeline does not fail\n"


def test_broken_file() -> None:
    shown = failing(1, "-p", "toy-fail", stdin="func.func @f() {\n  func.retur\n}\n")
    assert shown.startswith("<stdin>:2:3: error: operation 'func.retur' is not registered")


def test_missing_file() -> None:
    shown = failing(1, "nofile.mlir", "-p", "toy-fail")
    assert shown == "error: 'nofile.mlir': No such file or directory\n"


def test_invalid_input_of_a_pipeline() -> None:
    text = 'func.func @f() {\n  "test.op"(%a) : (i32) -> ()\n  %a = "test.op"() : () -> i32\n'
    shown = failing(1, "-p", "toy-fail", stdin=f"{text}  func.return\n}}\n")
    assert shown.startswith("<stdin>:2:3: error: 'test.op' op operand #0 does not")


def test_script_that_is_none(file: str, tmp_path: Path) -> None:
    assert "argument --test: './no.sh' is not a command" in failing(2, file, "--test", "./no.sh")
    (tmp_path / "plain.sh").write_text("true")
    plain = str(tmp_path / "plain.sh")
    assert f"argument --test: '{plain}' is not executable" in failing(2, file, "--test", plain)
    (tmp_path / "plain.sh").chmod(0o755)
    assert failing(1, file, "--test", plain) == f"error: '{plain}': Exec format error\n"
    assert "argument --test: '' is not a command" in failing(2, file, "--test", " ")
    assert "argument --test: No closing quotation" in failing(2, file, "--test", "a 'b")


@table_test(
    ("args", "message"),
    [
        ([], "say what is interesting: either --test COMMAND or -p PIPELINE"),
        (["--test", "true", "-p", "toy-fail"], "either --test COMMAND or -p PIPELINE"),
        (["-p", "toy-fial"], "there is no pass 'toy-fial', did you mean 'toy-fail'?"),
        (["-p", "toy-fail", "--timeout=3"], "--timeout is for --test"),
        (["--test=true", "--timeout=0"], "expected a number of seconds, got '0'"),
        (["--test=true", "--timing"], "unrecognized arguments: --timing"),
        (["--run-reproducer", "-p", "toy-fail"], "takes the pipeline from the input"),
    ],
)
def test_arguments_that_cannot_be_meant(file: str, args: list[str], message: str) -> None:
    assert message in failing(2, file, *args)


def test_input_is_never_overwritten(file: str, tmp_path: Path) -> None:
    link = tmp_path / "link.mlir"
    link.symlink_to(file)
    shown = failing(2, file, "-p", "toy-stumble", "-o", str(link))
    assert f"-o would overwrite the input '{file}'" in shown


def test_output_that_cannot_be_written(file: str) -> None:
    shown = failing(1, file, "-p", "toy-stumble", "-o", "/no/such/x.mlir", "--quiet")
    assert shown == (
        "error: '/no/such/x.mlir': No such file or directory: there is no directory '/no/such'\n"
        "note: given by -o/--output-file\n"
    )


# Ctrl-C


def test_interrupted_in_a_pass(file: str) -> None:
    class Impatient(ModulePass):
        name = "toy-impatient"
        runs = 0

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            Impatient.runs += 1
            if Impatient.runs > 8:
                raise KeyboardInterrupt
            Stumble().transform_module(module, ctx)

    register_pass(Impatient)
    result = passline_reduce(file, "-p", "toy-impatient")
    assert result.status == 130
    assert ": pipeline: toy-impatient\nerror: interrupted\nnote: in pass" in result.stderr
    assert 0 < result.stdout.count("arith.addi") < 150 and "arith.muli" in result.stdout


def test_interrupted_in_a_script(file: str, tmp_path: Path) -> None:
    out, seen = tmp_path / "out.mlir", tmp_path / "seen"
    test = script(tmp_path, f'grep -q muli "$1" || exit 1; echo >> {seen}; sleep 0.2')
    command = [str(REDUCE), file, "--test", test, "-o", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
    while not (seen.exists() and len(seen.read_text()) > 3):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, shown = process.communicate(timeout=60)
    assert process.returncode == 130 and shown.endswith("error: interrupted\n"), shown
    assert out.read_text().count("arith.addi") < 150
    assert Path(file).read_text() == program()
