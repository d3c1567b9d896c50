"""--verify-semantics of passline-opt and passline-run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.parsing import parsed
from support.passes.toy import register_in_test
from support.suites.inprocess import Result, capture, passline_opt
from support.tables import table_test
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from passline.compiler.interpreters.equivalence import SemanticsError
from passline.compiler.interpreters.signature import entry_function
from passline.instruments import SemanticsInstrument
from passline.passmanager import ModulePass, PassContext, Sequential
from passline.passmanager.ir.walk import walk
from passline.tools.run import PasslineRunMain

TEXT = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %r = arith.subi %a, %b : i32
  return %r : i32
}
func.func @g(%a: i32) -> i32 {
  %r = "x.y"(%a) : (i32) -> i32
  return %r : i32
}
"""


class Swap(ModulePass):
    """Swaps the operands of subtractions, which is wrong."""

    name = "toy-swap"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        for op in walk(module):
            if isinstance(op, arith.SubiOp):
                op.operands = (op.rhs, op.lhs)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The wrong pass is installed, and gone after the test."""
    register_in_test(monkeypatch, Swap)
    yield


def run(*args: str, stdin: str = TEXT) -> Result:
    return passline_opt("--allow-unregistered-dialect", *args, stdin=stdin)


def test_a_wrong_pass_ends_the_run_with_status_1():
    result = run("-p", "canonicalize,toy-swap,cse", "--verify-semantics")
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.startswith("error: pass 'toy-swap' changes what @f computes: the value is")
    assert "'arith.subi' at " in result.stderr
    assert "not checked: @g: no semantics for 'x.y'\n" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_input_that_is_saved_shows_the_difference(tmp_path: Path):
    result = run("-p", "toy-swap", "--verify-semantics")
    found = re.search(r"^the input is in (.+\.npz)$", result.stderr, re.MULTILINE)
    assert found is not None
    saved = Path(found[1])
    (tmp_path / "x.mlir").write_text(TEXT.split("func.func @g")[0])
    call = ["--function", "f", "--inputs", str(saved)]
    try:
        shown = [
            capture(lambda p=p: PasslineRunMain(args=[str(tmp_path / "x.mlir"), *p, *call]).run())
            for p in ([], ["-p", "toy-swap"])
        ]
    finally:
        saved.unlink()
    before, after = (int(result.stdout.split()[-1]) for result in shown)
    assert before == -after != 0


def test_right_passes_change_nothing_about_the_result():
    checked, plain = run("-p", "canonicalize", "--verify-semantics=3"), run("-p", "canonicalize")
    assert checked.stdout == plain.stdout
    assert checked.stderr == (
        "not checked: @g: no semantics for 'x.y'\n"
        "checked the results of 1 passes; functions: 1 checked, 0 but for inputs that were left "
        "out, 1 not checked\n"
    )


def test_what_is_not_checked_is_an_error_if_strict():
    result = run("-p", "canonicalize", "--verify-semantics=strict")
    assert (result.status, result.stdout) == (1, "")
    assert result.stderr.startswith("error: not checked: @g: no semantics for 'x.y'\n")
    whole = run(
        "-p", "canonicalize", "--verify-semantics=2,strict", stdin=TEXT.split("func.func @g")[0]
    )
    assert (whole.status, whole.stderr) == (0, "")


def test_the_limit_can_be_lowered():
    result = run("-p", "canonicalize", "--verify-semantics", "--semantics-limit=1")
    assert "not checked: @f: too large (more than 1 steps)\n" in result.stderr


@table_test(
    "option",
    ["--verify-semantics=0", "--verify-semantics=1,2", "--semantics-limit=-1"],
)
def test_numbers_that_make_no_sense_are_errors(option: str):
    assert run("-p", "canonicalize", option).status == 2


MODEL = """\
func.func @main(%x: tensor<2x3xf32>, %i: tensor<2xi64>) -> tensor<2x2xf32> {
  %0 = relax.nn.softmax %x {axis = 1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relax.take %0, %i {axis = 1} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
"""


@needs_native
def test_machine_code_is_compared(tmp_path: Path):
    (file := tmp_path / "x.mlir").write_text(MODEL)
    args = [str(file), "-O3", "--engine=native", "--verify-semantics"]
    result = capture(lambda: PasslineRunMain(args=args).run())
    assert (result.status, result.stderr) == (0, "")
    assert result.stdout.startswith("result0: float32 2x2\n")


def test_an_engine_that_computes_something_else_is_an_error(tmp_path: Path):
    module = parsed(TEXT.split("func.func @g")[0])
    checked = SemanticsInstrument(directory=str(tmp_path))
    with PassContext(instruments=[checked]):
        Sequential([])(module)
    func = entry_function(module, "f")

    def right(a: int, b: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int32]], ...]:
        return (np.asarray((a - b + 2**31) % 2**32 - 2**31).astype(np.int32),)

    def wrong(a: int, b: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int32]], ...]:
        return (np.asarray(0, np.int32),)

    checked.check_engine(module, func, right, "toy")
    with pytest.raises(SemanticsError, match="engine 'toy' changes what @f computes") as caught:
        checked.check_engine(module, func, wrong, "toy")
    assert (caught.value.culprit, caught.value.pass_text) == ("engine", "toy")
