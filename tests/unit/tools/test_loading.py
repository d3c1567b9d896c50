"""--load: a Python file with a dialect and passes, without an entry point."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from support.needs_numpy import needs_numpy
from support.suites.inprocess import capture, passline_bisect, passline_opt, passline_reduce

from passline.passmanager.registry import installed
from passline.tools.run import PasslineRunMain

FILE = '''
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.interpreter import Interpreter, InterpreterFunctions, impl, register_impls
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def
from xdsl.passes import ModulePass
from xdsl.transforms.canonicalize import CanonicalizePass

from passline.compiler.interpreters import register_semantics
from passline.passmanager import FunctionPass, function_pass


@irdl_op_definition
class Four(IRDLOperation):
    name = "mine.four"
    result = result_def(i32)
    assembly_format = "attr-dict"


Mine = Dialect("mine", [Four])


@register_impls
class Functions(InterpreterFunctions):
    @impl(Four)
    def four(self, interpreter, op, args):
        return (4,)


register_semantics("mine", Functions)


@dataclass(frozen=True)
class Rename(FunctionPass):
    """Rename values."""

    name = "mine-rename"

    to: str = "x"

    def transform_function(self, func, module, ctx):
        for op in func.walk():
            for result in op.results:
                result.name_hint = self.to


class Plain(ModulePass):
    name = "mine-fail"

    def apply(self, ctx, op):
        raise ValueError("on purpose")


@function_pass(opt_level=1)
def mine_count(func, module, ctx):
    """Count functions."""
    ctx.count("functions")
'''
TEXT = """func.func @main() -> i32 {
  %a = mine.four
  func.return %a : i32
}
"""


@pytest.fixture(autouse=True)
def registry() -> Generator[None]:
    """Give each test a registry of its own, and restore the previous one."""
    before = installed()
    installed.cache_clear()
    yield
    installed.cache_clear()
    vars(installed()).update(vars(before))


@pytest.fixture
def load(tmp_path: Path) -> str:
    (path := tmp_path / "mine.py").write_text(FILE)
    return f"--load={path}"


def test_a_dialect_and_passes_of_a_file(load: str) -> None:
    args = ("--mine-rename=to=y", "-p", "mine-count", "--pass-statistics")
    result = passline_opt(*args, "--load", load.partition("=")[2], stdin=TEXT)
    assert "%y = mine.four" in result.stdout and "(S) 1 functions" in result.stderr, result
    listed = passline_opt(load, "--list-passes").stdout
    assert "mine-rename" in listed and "mine-fail" in listed
    assert (
        "canonicalize" in listed
        and "Rename values." in passline_opt(load, "--help-pass=mine-rename").stdout
    )
    assert passline_opt(load, "--list-dialects").stdout.count("\nmine\n") == 1


def test_what_a_file_imports_is_not_taken_from_it(load: str) -> None:
    known = passline_opt("--help-pass=canonicalize").stdout
    assert passline_opt(load, "--help-pass=canonicalize").stdout == known


@needs_numpy
def test_the_other_commands_load_files(load: str) -> None:
    result = capture(lambda: PasslineRunMain(args=[load]).run(), TEXT)
    assert result.stdout.endswith(" scalar\n4\n"), result
    assert "on purpose" in passline_bisect(load, "-p", "mine-count,mine-fail", stdin=TEXT).stdout
    reduced = passline_reduce(load, "-p", "mine-count,mine-fail", stdin=TEXT)
    assert "pipeline: mine-fail" in reduced.stderr and "mine.four" not in reduced.stdout


def test_the_workers_of_many_inputs_load_files(load: str, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.mlir").write_text(TEXT)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "passline.tools.opt", load, f"--out-dir={out}", "-j2"]
    done = subprocess.run(
        [*command, "-p", "mine-rename", *map(str, tmp_path.glob("*.mlir"))],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done
    assert all("%x = mine.four" in file.read_text() for file in out.rglob("*.mlir"))


def test_a_file_that_has_changed_is_loaded_again(load: str, tmp_path: Path) -> None:
    assert "mine-rename" in passline_opt(load, "--list-passes").stdout
    (tmp_path / "mine.py").write_text(FILE.replace("mine-rename", "mine-new-name"))
    assert "mine-new-name" in passline_opt(load, "--list-passes").stdout


def test_a_file_may_have_the_name_of_a_module(tmp_path: Path) -> None:
    (path := tmp_path / "json.py").write_text(FILE)
    assert "mine.four" in passline_opt(f"--load={path}", stdin=TEXT).stdout
    assert sys.modules["json"].__file__ != str(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x = 1\ndef f():\n    return x / 0\nf()\n",
            "{}:3:12: error: ZeroDivisionError:",
        ),
        ("def f(:\n", "{}:1:7: error: SyntaxError: invalid syntax\ndef f(:\n"),
        ("import no_such_module\n", "{}:1:1: error: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)\n", "{}:1:1: error: SystemExit: 3"),
        ("x = 1\n", "error: '{}' defines no dialect, pass, target or frontend"),
        ("\0", "error: '{}': SyntaxError: source code string cannot contain null bytes"),
    ],
)
def test_a_fault_of_the_file_is_named_with_its_line(
    text: str, message: str, tmp_path: Path
) -> None:
    (path := tmp_path / "mine.py").write_text(text)
    result = passline_opt(f"--load={path}", stdin=TEXT)
    assert result.status == 1 and "Traceback" not in result.stderr
    assert result.stderr.startswith(message.format(path)), result.stderr
    debugged = passline_opt(f"--load={path}", "--debug", stdin=TEXT)
    assert "Traceback" in debugged.stderr


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    result = passline_opt("--load", f"{tmp_path}/no.py", stdin=TEXT)
    assert (result.status, result.stderr) == (
        1,
        f"error: '{tmp_path}/no.py': No such file or directory\n",
    )
