"""passline-bisect finds planted faults: pass, pattern, operation, pipeline, and a lit test."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.models.seeded import light_path
from support.passes.faults import FAULTY, MENDED
from support.passes.toy import register_in_test
from support.suites.inprocess import (
    RunLineError,
    passline_bisect,
    passline_opt,
    run_line,
    run_lines,
)
from xdsl.dialects import math
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from passline.compiler.kernels.elementwise.elementwise import as_operation
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.elementwise.unary import TanhOp
from passline.passmanager import PatternPass, register_pass


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The faulty passes are installed, and gone after the test."""
    register_in_test(monkeypatch, *FAULTY)


def mend() -> None:
    """Put mended passes in the place of the faulty ones."""
    for pass_ in MENDED:
        register_pass(pass_)


@dataclass
class Bisection:
    """What passline-bisect says of a program, and the test that it saves."""

    directory: Path

    def __call__(
        self, program: str, pipeline: str, *options: str, command: Sequence[str] = ()
    ) -> dict[str, object]:
        file = self.directory / "bug.mlir"
        file.write_text(program)
        self.found: dict[str, object] = {}
        after = ["--", *command] if command else []
        tests = str(self.directory / "tests")
        result = passline_bisect(
            str(file), "-p", pipeline, "--json", f"--save-test={tests}", *options, *after
        )
        assert result.status == 0, result
        assert "Traceback" not in result.stderr
        self.found = json.loads(result.stdout)
        assert "does not show" not in str(self.found["notes"])
        return self.found

    @property
    def line(self) -> object:
        return self.found["line"]

    @property
    def culprit(self) -> tuple[object, ...]:
        return tuple(self.found[key] for key in ("pass", "function", "pattern", "operation"))

    def run_test(self) -> None:
        """Run the lines of the saved test as lit does; AssertionError if it fails."""
        file = Path(str(self.found["test"]))
        temporary = str(self.directory / "tmp")
        for line in run_lines(file):
            text = line.replace("%t", temporary).replace("%%", "%")
            if line.startswith("passline-opt"):
                run_line(text, file)
            elif subprocess.run(shlex.split(text)).returncode != 0:
                raise RunLineError(text)

    def check_test(self) -> None:
        """Check that the saved test fails today, and passes once the fault is mended."""
        with pytest.raises(RunLineError):
            self.run_test()
        mend()
        self.run_test()


@pytest.fixture
def bisection(tmp_path: Path) -> Bisection:
    return Bisection(tmp_path)


# Ten faults

ARITHMETIC = """\
func.func @first(%x: i32) -> i32 {
  %two = arith.constant 2 : i32
  %a = arith.muli %x, %two : i32
  func.return %a : i32
}
func.func @main(%x: i32, %y: i32) -> i32 {
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %four = arith.constant 4 : i32
  %a = arith.muli %x, %two : i32
  %s = arith.addi %a, %y : i32
  %b = arith.muli %s, %three : i32
  %c = arith.muli %b, %y : i32
  %d = arith.subi %four, %two : i32
  %e = arith.subi %two, %three : i32
  %f = arith.subi %three, %two : i32
  %g = arith.addi %c, %d : i32
  %h = arith.addi %g, %e : i32
  %i = arith.addi %h, %f : i32
  func.return %i : i32
}
"""


def test_wrong_pattern(bisection: Bisection) -> None:
    pipeline = "cse,canonicalize,toy-strength-reduction,dce"
    found = bisection(ARITHMETIC, pipeline, "--verify-semantics")
    assert bisection.culprit == ("toy-strength-reduction", "main", "AddSelfTwice", "arith.muli")
    assert bisection.line == "%b = arith.muli %s, %three : i32"
    assert found["pipeline"] == "toy-strength-reduction"
    bisection.check_test()


def test_wrong_fold(bisection: Bisection) -> None:
    found = bisection(ARITHMETIC, "cse,toy-fold,canonicalize,dce", "--verify-semantics")
    assert bisection.culprit == ("toy-fold", "main", None, "arith.subi")
    assert bisection.line == "%e = arith.subi %two, %three : i32"
    assert (found["step"], found["step_count"]) == (2, 3)
    assert found["pipeline"] == "toy-fold"
    bisection.check_test()


def test_dropped_use(bisection: Bisection) -> None:
    program = """\
func.func @main(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %a = arith.addi %x, %zero : i32
  %b = arith.muli %a, %x : i32
  %c = arith.addi %b, %zero : i32
  %d = arith.muli %c, %c : i32
  func.return %d : i32
}
"""
    found = bisection(program, "cse,toy-fold,toy-forward,dce")
    assert bisection.culprit == ("toy-forward", "main", "ForwardOnce", "arith.addi")
    assert bisection.line == "%c = arith.addi %b, %zero : i32"
    assert found["pipeline"] == "toy-forward"
    bisection.check_test()


def test_wrong_type(bisection: Bisection) -> None:
    program = """\
func.func @first(%x: i32) -> i32 {
  func.return %x : i32
}
func.func @main(%x: i32, %y: i32) -> i32 {
  %a = arith.addi %x, %y : i32
  %b = arith.divsi %a, %y : i32
  %c = arith.addi %b, %y : i32
  func.return %c : i32
}
"""
    found = bisection(program, "cse,canonicalize,toy-widen,dce")
    assert bisection.culprit == ("toy-widen", "main", None, "arith.divsi")
    assert bisection.line == "%b = arith.divsi %a, %y : i32"
    assert found["pipeline"] == "toy-widen"
    bisection.check_test()


def test_no_convergence(bisection: Bisection) -> None:
    program = """\
func.func @main(%x: i32, %y: i32) -> i32 {
  %two = arith.constant 2 : i32
  %a = arith.muli %x, %two : i32
  %b = arith.ori %a, %a : i32
  %c = arith.ori %a, %y : i32
  %d = arith.addi %b, %c : i32
  func.return %d : i32
}
"""
    found = bisection(program, "toy-fold,toy-sort,dce")
    assert bisection.culprit == ("toy-sort", "main", "Commute", "arith.ori")
    assert bisection.line == "%c = arith.ori %a, %y : i32"
    assert found["pipeline"] == "toy-sort"
    bisection.check_test()


def test_wrong_kernel(bisection: Bisection, monkeypatch: pytest.MonkeyPatch) -> None:
    program = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = relax.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = relax.abs %b : (tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
"""
    right = RELAX[TanhOp]
    monkeypatch.setitem(RELAX, TanhOp, as_operation(math.SqrtOp))
    pipeline = "fold-constant,eliminate-common-subexpr,fuse-ops,legalize-ops,plan-memory"
    found = bisection(program, pipeline, "--verify-semantics")
    assert bisection.culprit == ("legalize-ops", "main", None, "relax.tanh")
    assert bisection.line == "%b = relax.tanh %a : (tensor<4xf32>) -> tensor<4xf32>"
    assert found["pipeline"] == "legalize-ops"
    with pytest.raises(RunLineError):
        bisection.run_test()
    monkeypatch.setitem(RELAX, TanhOp, right)
    bisection.run_test()


def test_wrong_claim_to_preserve_an_analysis(bisection: Bisection) -> None:
    program = """\
func.func @main(%x: i32) -> i32 {
  %a = arith.muli %x, %x : i32
  %b = arith.xori %a, %a {toy.square} : i32
  %c = arith.muli %b, %x : i32
  func.return %c : i32
}
"""
    pipeline = "cse,toy-count-products,toy-fold,toy-expand-squares,dce,toy-check-products,cse"
    found = bisection(program, pipeline)
    assert bisection.culprit == ("toy-check-products", "main", None, "arith.muli")
    assert bisection.line == "%b = arith.xori %a, %a {toy.square} : i32"
    assert found["pipeline"] == "toy-count-products,toy-expand-squares,toy-check-products"
    assert found["notes"] == [
        "--verify-preserves: pass 'toy-expand-squares' claims to preserve Products, "
        "but the analysis of 'builtin.module' has changed"
    ]
    bisection.check_test()


def test_crash_on_one_operation(bisection: Bisection) -> None:
    program = """\
func.func @first(%x: i32) -> i32 {
  %c = arith.constant 3 : i32
  %0 = arith.shli %x, %c : i32
  func.return %0 : i32
}
func.func @main(%x: i32) -> i32 {
  %c = arith.constant 31 : i32
  %d = arith.constant 32 : i32
  %0 = arith.shli %x, %c : i32
  %1 = arith.shli %0, %d : i32
  %2 = arith.addi %0, %1 : i32
  func.return %2 : i32
}
"""
    found = bisection(program, "cse,toy-fold,toy-crash,dce")
    assert bisection.culprit == ("toy-crash", "main", None, "arith.shli")
    assert bisection.line == "%1 = arith.shli %0, %d : i32"
    assert found["pipeline"] == "toy-crash"
    assert "'toy-crash' numbers no steps" in str(found["notes"])
    bisection.check_test()


def test_wrong_in_one_function_of_twenty(bisection: Bisection) -> None:
    program = "".join(
        f"func.func @f{n}() -> (i32, i32) {{\n  %c = arith.constant {n} : i32\n"
        f"  %d = arith.constant {n + 100} : i32\n  func.return %c, %d : i32, i32\n}}\n"
        for n in range(20)
    )
    found = bisection(program, "cse,toy-fold,toy-lower,dce", "--bad-if", r"constant 6{3} +: i32$")
    assert bisection.culprit == ("toy-lower", "f13", None, "arith.constant")
    assert bisection.line == "%c = arith.constant 13 : i32"
    assert found["pipeline"] == "toy-lower"
    bisection.check_test()


def test_wrong_only_on_nan(bisection: Bisection) -> None:
    program = """\
func.func @main(%x: tensor<8xf32>) -> (tensor<8xi1>, tensor<8xi1>) {
  %0 = relax.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = relax.equal %x, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %2 = relax.equal %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  func.return %1, %2 : tensor<8xi1>, tensor<8xi1>
}
"""
    found = bisection(program, "cse,toy-simplify-compare,dce", "--verify-semantics")
    assert bisection.culprit == ("toy-simplify-compare", "main", "EqualToSelf", "relax.equal")
    assert str(bisection.line).startswith("%2 = relax.equal %x, %x :")
    assert found["pipeline"] == "toy-simplify-compare"
    assert "nan" in str(found["details"])
    bisection.check_test()


def test_wrong_only_in_combination(bisection: Bisection) -> None:
    program = """\
func.func @main(%x: i32, %y: i32) -> i1 {
  %a = arith.muli %y, %y : i32
  %b = arith.addi %x, %y : i32
  %c = arith.cmpi sgt, %b, %x : i32
  func.return %c : i1
}
"""
    pipeline = "toy-fold,toy-mark,cse,toy-exploit,dce"
    found = bisection(program, pipeline, "--verify-semantics")
    assert bisection.culprit == ("toy-exploit", "main", "UseMark", "arith.cmpi")
    assert bisection.line == "%c = arith.cmpi sgt, %b, %x : i32"
    assert found["pipeline"] == "toy-mark,toy-exploit"
    bisection.check_test()


def test_wrong_result_that_a_command_sees(bisection: Bisection) -> None:
    command = ["sh", "-c", '! grep -q "constant 666" "$1"', "-", "{}"]
    program = "func.func @f() -> i32 {\n  %c = arith.constant 13 : i32\n"
    found = bisection(
        f"{program}  func.return %c : i32\n}}\n", "cse,toy-lower,dce", command=command
    )
    assert bisection.culprit == ("toy-lower", "f", None, "arith.constant")
    assert found["pipeline"] == "toy-lower"
    with pytest.raises(RunLineError):
        bisection.run_test()
    mend()
    bisection.run_test()


def test_a_model(tmp_path: Path) -> None:
    class Crash(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: Conv2dOp, rewriter: PatternRewriter, /) -> None:
            if str(op.results[0].type).startswith("tensor<1x1000x"):
                raise IndexError("pop from empty list")

    class Crashing(PatternPass):
        name = "toy-conv"

        def patterns(self) -> Sequence[RewritePattern]:
            return [Crash()]

    register_pass(Crashing)
    pipeline = "infer-type,simplify-expr,fold-constant,toy-conv,fuse-ops"
    result = passline_bisect(str(light_path("squeezenet")), "-p", pipeline, "--json")
    assert result.status == 0, result
    found = json.loads(result.stdout)
    keys = ("pass", "function", "pattern", "operation", "location", "pipeline")
    culprit = ["toy-conv", "main", "Crash", "relax.nn.conv2d", 'loc("n62")', "toy-conv"]
    assert [found[key] for key in keys] == culprit
    assert found["module"].count("relax.") == 1


def test_the_saved_test_is_plain(bisection: Bisection) -> None:
    bisection(ARITHMETIC, "toy-strength-reduction", "--verify-semantics")
    text = Path(str(bisection.found["test"])).read_text()
    assert text.startswith("// RUN: passline-opt %s -p toy-strength-reduction --verify-semantics=1")
    assert "// The culprit: AddSelfTwice on 'arith.muli' at " in text
    assert text.count("arith.") == 3 and "@first" not in text
    assert passline_opt(str(bisection.found["test"])).status == 0
