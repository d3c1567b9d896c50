"""The options for how IR is printed: they hold for the result and for all that shows IR."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from support.needs_numpy import needs_numpy
from support.suites.inprocess import Result, mlir_opt, passline_opt
from support.tables import table_test

from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context
from passline.tools.opt import PasslineOptMain

RELAX = """\
func.func @f() -> tensor<3xf32> {
  %0 = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %1 = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  func.return %1 : tensor<3xf32>
}
"""
ARITH = """\
func.func @f(%arg0: i32) -> (tensor<3xf32>, vector<2xi64>) {
  %cst = arith.constant dense<[1.0, 2.0, -0.0]> : tensor<3xf32>
  %cst_0 = arith.constant dense<[1, -2]> : vector<2xi64>
  %cst_1 = arith.constant dense<[true, false]> : tensor<2xi1>
  %cst_2 = arith.constant dense<5> : tensor<90xi8>
  %0 = arith.addi %arg0, %arg0 : i32
  %1 = arith.muli %0, %arg0 : i32
  func.return %cst, %cst_0 : tensor<3xf32>, vector<2xi64>
}
"""


def run(*args: str, stdin: str, status: int = 0) -> Result:
    result = passline_opt(*args, stdin=stdin)
    assert result.status == status, result
    return result


@pytest.mark.parametrize(
    ("option", "sign", "times"),
    [
        ("--elide-elementsattrs-if-larger=2", "dense_resource<__elided__>", 1),
        ("--large-elements-as-resources=2", "dense_resource<constant_39e3cdda80f11d27>", 1),
        ("--print-value-users", "// user: %", 1),
        ("--print-op-generic", '"relax.constant"()', 1),
        ("--print-debuginfo", 'loc("<stdin>":1:1)', 1),
    ],
)
def test_result_and_dumps_are_printed_alike(
    option: str, sign: str, times: int, tmp_path: Path
) -> None:
    dumps = ("--print-ir-after-all", "--dump-ir", str(tmp_path))
    result = run("--cse", option, *dumps, stdin=RELAX)
    assert result.stdout.count(sign) == times
    assert result.stderr.count(sign) == times
    first, last = sorted(tmp_path.iterdir())
    assert sign in first.read_text() and last.read_text().count(sign) == times
    diff = run("--cse", option, "--print-diff=plain", stdin=RELAX).stderr
    assert sign in diff and sign not in run("--cse", "--print-diff=plain", stdin=RELAX).stderr


def test_skipped_regions_are_skipped_everywhere() -> None:
    result = run("--cse", "--print-skip-regions", "--print-ir-after-all", stdin=RELAX)
    assert result.stdout.strip() == "builtin.module {...}"
    assert result.stderr == "// -----// IR Dump After cse //----- //\nbuiltin.module {...}\n\n"


def test_dump_can_be_read_again(tmp_path: Path) -> None:
    options = ("--large-elements-as-resources=2", "--dump-ir", str(tmp_path))
    shown = run("--cse", *options, stdin=RELAX).stdout
    last = max(tmp_path.iterdir()).read_text()
    whole = run("--cse", stdin=RELAX).stdout
    assert run(stdin=last).stdout == run(stdin=shown).stdout == whole


def test_resources_are_for_more_than_100_elements_by_default() -> None:
    def constant(count: int) -> str:
        return f"%0 = relax.constant dense<{[*range(count)]}> : tensor<{count}xi8>"

    option = "--large-elements-as-resources"
    assert "dense_resource" not in run(option, stdin=constant(100)).stdout
    text = run(option, stdin=constant(101)).stdout
    assert "dense_resource<constant_" in text and '"0x01000000000102030405' in text
    assert run(stdin=text).stdout == run(stdin=constant(101)).stdout


def test_parts_of_a_file_with_the_same_constant() -> None:
    text = f"{RELAX}// -----\n{RELAX}"
    shown = run("--split-input-file", "--large-elements-as-resources=2", stdin=text).stdout
    assert shown.count("dialect_resources") == 2
    again = run("--split-input-file", "--verify-roundtrip", stdin=shown).stdout
    assert again == run("--split-input-file", stdin=text).stdout


def test_resources_can_be_elided() -> None:
    options = ("--large-elements-as-resources=2", "--elide-resource-strings-if-larger=10")
    shown = run(*options, stdin=RELAX).stdout
    assert "dense_resource<constant_" in shown and "{-#" not in shown
    error = run(stdin=shown, status=1).stderr
    assert "<stdin>:3:40: error: resource 'constant_39e3cdda80f11d27' is not defined" in error


def test_elided_file_says_that_its_elements_were_left_out() -> None:
    shown = run("--elide-elementsattrs-if-larger=2", stdin=RELAX).stdout
    assert run(stdin=shown, status=1).stderr.startswith(
        "<stdin>:3:40: error: the elements of this constant were left out when the file was "
        "written (--elide-elementsattrs-if-larger)\n"
    )


@table_test("text", ["-1", "many", "1.5", ""])
@table_test("option", ["--elide-elementsattrs-if-larger", "--large-elements-as-resources"])
def test_limit_is_a_whole_number(option: str, text: str) -> None:
    shown = run(f"{option}={text}", stdin=RELAX, status=2).stderr
    assert f"argument {option}: expected a whole number, got '{text}'" in shown


def test_numbers_of_passes() -> None:
    pipeline = ("-p", "cse,dce,cse", "--opt-bisect=1,3")
    options = ("--print-ir-before-pass-number=3", "--print-ir-after-pass-number=1-2")
    shown = run(*pipeline, "--print-pass-numbers", *options, stdin=RELAX).stderr
    titles = [line for line in shown.splitlines() if line.startswith(("//", " Running", "BISECT"))]
    assert titles == [
        "BISECT: running pass (1) cse on builtin.module",
        " Running pass 1 cse on builtin.module",
        "// -----// IR Dump After cse //----- //",
        "BISECT: NOT running pass (2) dce on builtin.module",
        "BISECT: running pass (3) cse on builtin.module",
        " Running pass 3 cse on builtin.module",
        "// -----// IR Dump Before cse //----- //",
    ]


def test_number_that_no_pass_has_is_warned_about() -> None:
    option = "--print-ir-after-pass-number=1,3"
    shown = run("--cse", option, stdin=RELAX).stderr
    assert shown.count("IR Dump After cse") == 1
    assert "warning: --print-ir-after-pass-number: the last pass had number 1\n" in shown
    assert "warning" not in run("--cse", option, "--quiet", stdin=RELAX).stderr


# MLIR


def through_mlir(text: str, *options: str) -> str:
    tool = mlir_opt()
    assert tool is not None
    done = subprocess.run([tool, *options], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


needs_mlir = pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")


@needs_mlir
def test_mlir_opt_reads_resources_and_gives_them_back() -> None:
    text = run("--large-elements-as-resources=1", stdin=ARITH).stdout
    assert text.count("dense_resource<constant_") == 3
    again = through_mlir(text)
    for line in text.partition("{-#")[2].splitlines():
        assert line in again
    assert again.count("dense_resource<constant_") == 3
    assert "dense_resource<constant_" in run(stdin=again).stdout


@needs_mlir
def test_relax_constant_goes_through_mlir_opt_as_a_resource() -> None:
    text = run("--large-elements-as-resources=1", "--print-op-generic", stdin=RELAX).stdout
    again = through_mlir(text, "--allow-unregistered-dialect")
    assert "dense_resource<constant_" in again
    assert run("-p", "cse", stdin=again).stdout == run("-p", "cse", stdin=RELAX).stdout


@needs_mlir
def test_mlir_opt_as_a_pass_gets_and_gives_the_resources() -> None:
    text = run("--large-elements-as-resources=1", stdin=ARITH).stdout
    args = ("-p", "mlir-opt[cse]", "--config", f"mlir-opt.executable={mlir_opt()}")
    assert "0x040000000000803F0000004000000080" in run(*args, stdin=text).stdout


@needs_mlir
@table_test(
    ("option", "signs"),
    [
        ("elide-elementsattrs-if-larger=2", ["dense_resource<__elided__> : tensor<3xf32>"]),
        ("elide-elementsattrs-if-larger=1", ["dense_resource<__elided__> : vector<2xi64>"]),
        ("elide-elementsattrs-if-larger=1", ["dense<5> : tensor<90xi8>"]),
        ("print-skip-regions", ["module {...}"]),
        ("print-value-users", ["// %arg0 is used by %", ", %arg0 : i32 // unused"]),
    ],
)
def test_options_do_what_those_of_mlir_opt_do(option: str, signs: Sequence[str]) -> None:
    ours, theirs = run(f"--{option}", stdin=ARITH).stdout, through_mlir(ARITH, f"--mlir-{option}")
    for sign in signs:
        assert ours.count(sign) == theirs.count(sign) == 1


@needs_mlir
@table_test("limit", [35, 36])
def test_resources_are_elided_at_the_same_length(limit: int) -> None:
    text = run("--large-elements-as-resources=2", stdin=ARITH).stdout
    option = f"elide-resource-strings-if-larger={limit}"
    ours, theirs = run(f"--{option}", stdin=text).stdout, through_mlir(text, f"--mlir-{option}")
    assert ours.count('"0x') == theirs.count('"0x') == limit - 35


class Terminal(StringIO):
    """An output that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("options", "is_whole"),
    [
        ((), False),
        (("--large-elements-as-resources",), True),
        (("--elide-elementsattrs-if-larger=1000",), True),
        (("-o", "-"), False),
    ],
)
def test_large_constants_are_elided_on_a_terminal(
    options: tuple[str, ...],
    is_whole: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    numbers = ", ".join(map(str, range(100)))
    module = parse_module(
        make_ir_context(),
        f'"test.op"() {{a = dense<[{numbers}]> : tensor<100xi32>}} : () -> ()',
        "x.mlir",
    )
    tool = PasslineOptMain(args=[*options])
    assert "97" in tool.output_resulting_program(module) or is_whole  # into a pipe
    monkeypatch.setattr(sys, "stdout", Terminal())
    text = tool.output_resulting_program(module)
    assert ("97" in text or "61000000" in text) == is_whole
    assert ("are elided on a terminal" in capsys.readouterr().err) == (not is_whole)


LARGE = f"""\
func.func @main() -> tensor<100xf32> {{
  %c = relax.constant dense<[{", ".join(f"{number}.0" for number in range(100))}]> : tensor<100xf32>
  %y = relax.exp %c : (tensor<100xf32>) -> tensor<100xf32>
  func.return %y : tensor<100xf32>
}}
"""


@pytest.mark.parametrize(("stream", "is_whole"), [(Terminal, False), (StringIO, True)])
def test_large_constants_in_the_ir_of_passes_are_elided_on_a_terminal(
    stream: type[StringIO], is_whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "x.mlir").write_text(LARGE)
    monkeypatch.setattr(sys, "stderr", shown := stream())
    options = ["-p=infer-type", "--quiet", "--print-ir-after-all", f"-o={tmp_path / 'y.mlir'}"]
    PasslineOptMain(args=[str(file), *options]).run()
    assert ("9.700000e+01" in shown.getvalue()) == is_whole


@needs_numpy
def test_a_diff_names_large_constants_by_their_elements() -> None:
    printed = passline_opt("-p=fold-constant", "--print-diff", stdin=LARGE).stderr
    before, after = re.findall(r"^[-+] .*dense_resource<(\w+)> : tensor<100xf32>", printed, re.M)
    assert before != after
    whole = ("--print-diff", "--elide-elementsattrs-if-larger=1000")
    assert "9.700000e+01" in passline_opt("-p=fold-constant", *whole, stdin=LARGE).stderr
