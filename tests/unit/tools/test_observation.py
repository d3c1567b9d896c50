"""The options that add instruments, and those that answer questions or steer the run."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.passes.toy import Append, Fail, Nothing, register_in_test
from support.suites.inprocess import Result, mlir_opt, passline_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passes.generic.mlir_opt import find_mlir_opt
from passline.passmanager import ModulePass, PassContext, Severity, register_pass

TEXT = "func.func @f() {\n  func.return\n}\nfunc.func @g() {\n  func.return\n}\n"
BANNER = re.compile(r"^// -----// (IR .+) //----- //$", re.MULTILINE)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The toy passes are installed, and gone after the test."""
    register_in_test(monkeypatch, Append, Fail, Nothing, Invalid)
    yield


class Invalid(ModulePass):
    """Leaves IR that does not verify."""

    name = "toy-invalid"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        end = next(iter(module.ops)).regions[0].block.last_op
        assert end is not None
        end.detach()


def run(*args: str, stdin: str = TEXT, status: int = 0) -> Result:
    result = passline_opt(*args, stdin=stdin)
    assert result.status == status, result
    return result


def banners(*args: str, status: int = 0) -> list[str]:
    return BANNER.findall(run(*args, status=status).stderr)


PIPELINE = ("-p", "toy-nothing,toy-append{tag=a},toy-nothing")


# Seeing the IR


def test_print_ir_before_and_after_named_passes() -> None:
    args = *PIPELINE, "--print-ir-before=ToyAppend", "--print-ir-after", "toy-append"
    title = 'toy-append: toy-append{tag="a"}'
    assert banners(*args) == [f"IR Dump Before {title}", f"IR Dump After {title}"]


@table_test("when", ["before", "after"])
def test_print_ir_of_all(when: str) -> None:
    names = [b.split()[3] for b in banners(*PIPELINE, f"--print-ir-{when}-all")]
    assert names == ["toy-nothing", "toy-append:", "toy-nothing"]


def test_print_ir_after_change_works_alone_and_shows_the_start() -> None:
    assert banners(*PIPELINE, "--print-ir-after-change") == [
        "IR Dump At Start",
        'IR Dump After toy-append: toy-append{tag="a"}',
    ]


def test_print_ir_after_failure() -> None:
    args = "-p", "toy-append,toy-fail", "--print-ir-after-failure"
    assert banners(*args, status=3) == ["IR Dump After toy-fail Failed"]


def test_filter_function_and_module_scope() -> None:
    shown = run(*PIPELINE, "--print-ir-before=toy-append", "--filter-function=g").stderr
    assert "@g" in shown and "@f" not in shown
    args = "--print-ir-before=toy-append", "--filter-function=g", "--print-ir-module-scope"
    assert "@f" in run(*PIPELINE, *args).stderr


def test_print_diff() -> None:
    shown = run(*PIPELINE, "--print-diff").stderr
    assert '\n+  "test.op"() {tag = "a"} : () -> ()\n' in shown and "\x1b" not in shown
    assert "\x1b" in run(*PIPELINE, "--print-diff=color").stderr


def test_dump_ir(tmp_path: Path) -> None:
    run(*PIPELINE, "--dump-ir", str(tmp_path / "dump"))
    files = sorted(path.name for path in (tmp_path / "dump").rglob("*.mlir"))
    assert len(files) == 2 and files[1].endswith("_toy-append.mlir")


def test_dump_ir_of_two_chunks_overwrites_nothing(tmp_path: Path) -> None:
    text = f"{TEXT}// -----\n{TEXT}"
    run(*PIPELINE, "--dump-ir", str(tmp_path), "--split-input-file", stdin=text)
    assert len(list(tmp_path.rglob("*_toy-append.mlir"))) == 2


# Measuring


def test_timing_has_reading_verifying_passes_and_writing() -> None:
    shown = run(*PIPELINE, "--timing").stderr
    names = [line.split()[-1] for line in shown.splitlines() if re.match(r"\s+[\d.]+ \(", line)]
    assert names == [
        "Parser",
        "Verifier",
        "sequential",
        *("toy-nothing", "verify", "toy-append", "verify", "toy-nothing", "verify"),
        "Output",
        "Rest",
        "Total",
    ]


def test_timing_as_json() -> None:
    shown = json.loads(run(*PIPELINE, "--timing=json").stderr)
    assert "toy-append" in json.dumps(shown)


def test_timing_of_a_failed_run() -> None:
    assert "toy-fail (1 failed)" in run("-p", "toy-fail", "--timing=list", status=3).stderr


def test_memory_and_profile_and_statistics() -> None:
    args = "--memory", "--profile=toy-append", "--pass-statistics"
    shown = run(*PIPELINE, *args).stderr
    assert "KiB" in shown or "MiB" in shown
    assert "cumulative" in shown or "cumtime" in shown
    assert "(S) 1 test.op created" in shown


def test_statistics_as_json() -> None:
    assert json.loads(run(*PIPELINE, "--pass-statistics=json").stderr)


def test_trace_is_a_chrome_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    run(*PIPELINE, f"--trace={path}")
    events = json.loads(path.read_text())["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert {"Parser", "sequential", "toy-append", "Output"} <= set(names)


def test_print_op_stats_counts_the_ops() -> None:
    shown = run("-p", "print-op-stats").stderr
    assert re.search(r"func\.func\s*, 2", shown) and re.search(r"func\.return\s*, 2", shown)


# Control


def tags(*args: str) -> list[str]:
    return re.findall(r'tag = "(\w+)"', run(*args).stdout)


THREE = ("-p", "toy-append{tag=a},toy-append{tag=b},toy-nothing,toy-append{tag=c}")


def test_disable_and_require_pass() -> None:
    assert tags(*THREE, "--disable-pass=ToyAppend") == []
    assert tags(*THREE, "--disable-pass", "toy-nothing,cse", "--require-pass", "toy-append") == [
        "a",
        "b",
        "c",
    ]


def test_opt_bisect_limit() -> None:
    result = run(*THREE, "--opt-bisect-limit=2")
    assert re.findall(r'tag = "(\w+)"', result.stdout) == ["a", "b"]
    assert result.stderr.splitlines() == [
        "BISECT: running pass (1) toy-append on builtin.module",
        "BISECT: running pass (2) toy-append on builtin.module",
        "BISECT: NOT running pass (3) toy-nothing on builtin.module",
        "BISECT: NOT running pass (4) toy-append on builtin.module",
    ]


def test_opt_bisect() -> None:
    assert tags(*THREE, "--opt-bisect=2-3,4") == ["b", "c"]
    assert tags(*THREE, "--opt-bisect=1") == ["a"]


@table_test("numbers", ["", "x", "1-", "-1", "1,,2", "1-2-3"])
def test_numbers_that_are_none_are_an_error(numbers: str) -> None:
    shown = run(*PIPELINE, f"--opt-bisect={numbers}", status=2).stderr
    assert f"argument --opt-bisect: expected numbers as 1-3,7, got '{numbers}'" in shown


def test_opt_bisect_takes_a_limit_or_numbers() -> None:
    shown = run(*PIPELINE, "--opt-bisect=1", "--opt-bisect-limit=1", status=2).stderr
    assert "--opt-bisect-limit: not allowed with argument --opt-bisect" in shown


STEPS = """\
func.func @f() {
  %a = relax.constant dense<1.0> : tensor<4xf32>
  %b = relax.constant dense<1.0> : tensor<4xf32>
  %c = relax.constant dense<1.0> : tensor<4xf32>
  func.return
}
"""


def constants_left(*args: str) -> int:
    return run("-p", "dead-code-elimination", *args, stdin=STEPS).stdout.count("relax.constant")


def test_debug_counter() -> None:
    assert constants_left() == 0
    assert constants_left("--debug-counter=dead-code-elimination=1-2") == 1
    assert constants_left("--debug-counter", "DeadCodeElimination=1:3") == 1
    assert constants_left("--debug-counter=dead-code-elimination=2,4-9") == 2


def test_debug_counter_goes_on_over_the_parts_of_the_input() -> None:
    args = "-p", "dead-code-elimination", "--split-input-file"
    text = f"{STEPS}// -----\n{STEPS}"
    result = run(*args, "--debug-counter=dead-code-elimination=1-4", stdin=text)
    first, second = result.stdout.split("// -----")
    assert first.count("relax.constant") == 0 and second.count("relax.constant") == 2


def test_print_debug_counter_also_after_a_failure() -> None:
    args = "-p", "dead-code-elimination,toy-fail", "--print-debug-counter"
    counter = "--debug-counter=dead-code-elimination=1"
    shown = run(*args, counter, stdin=STEPS, status=3).stderr
    assert shown.endswith("  3 queried, 1 executed: dead-code-elimination\n")


def test_debug_counter_that_nothing_asked_for_is_warned_about() -> None:
    args = "-p", "dead-code-elimination", "--debug-counter=dead-code-eliminaton=1"
    assert run(*args, stdin=STEPS).stderr == (
        "warning: debug counter 'dead-code-eliminaton' was never queried, "
        "did you mean 'dead-code-elimination'?\n"
    )
    assert run(*args, "--quiet", stdin=STEPS).stderr == ""


@table_test(
    ("given", "message"),
    [
        (["rewrite"], "expected TAG=NUMBERS, got 'rewrite'"),
        (["=1"], "expected TAG=NUMBERS, got '=1'"),
        (["rewrite="], "rewrite: expected numbers as 1-3,7, got ''"),
        (["rewrite=1,b=2"], "rewrite: expected numbers as 1-3,7, got '1,b=2'"),
        (["rewrite=1", "Rewrite=2"], "'Rewrite' is given twice"),
    ],
)
def test_debug_counter_that_cannot_be_meant(given: list[str], message: str) -> None:
    shown = run(*(f"--debug-counter={text}" for text in given), status=2).stderr
    assert f"argument --debug-counter: {message}\n" in shown


def test_debug_pass_manager() -> None:
    shown = run(*THREE, "--debug-pass-manager", "--disable-pass=toy-nothing").stderr
    assert "  Running pass: toy-append{" in shown
    assert "  Skipping pass: toy-nothing on builtin.module (disabled)\n" in shown


def test_stop_after_and_start_after() -> None:
    assert tags(*THREE, "--stop-after=toy-nothing") == ["a", "b"]
    assert tags(*THREE, "--start-after=toy-nothing") == ["c"]


def test_stop_before() -> None:
    assert tags(*THREE, "--stop-before=toy-nothing") == ["a", "b"]


def test_start_before() -> None:
    assert tags(*THREE, "--start-before=toy-nothing") == ["c"]


@table_test("end", ["stop", "start"])
def test_before_and_after_exclude_each_other(end: str) -> None:
    shown = run(*THREE, f"--{end}-before=cse", f"--{end}-after=cse", status=2).stderr
    assert f"--{end}-after and --{end}-before exclude each other" in shown


NAMING = [
    *("--disable-pass", "--require-pass", "--print-ir-before", "--print-ir-after", "--profile"),
    *("--stop-after", "--start-before"),
]


@table_test("option", NAMING)
def test_unknown_name_is_an_error(option: str) -> None:
    shown = run(*THREE, f"{option}=toy-apend", status=2).stderr
    assert f"error: {option}: there is no pass 'toy-apend', did you mean 'toy-append'?" in shown


@table_test("option", NAMING)
def test_name_that_is_not_in_the_pipeline_is_warned_about(option: str) -> None:
    shown = run(*THREE, f"{option}=cse").stderr
    assert f"warning: {option} names 'cse', which is not in the pipeline" in shown


def test_name_of_a_requirement_or_of_a_pipeline_is_in_the_pipeline() -> None:
    nested = 'sequential{name="mine"}(fold-constant)'
    options = ("--print-ir-after=infer-type", "--stop-after=mine")
    assert "which is not" not in run("-p", nested, *options).stderr


def test_no_verify_each() -> None:
    assert "in pass 'toy-invalid'" in run("-p", "toy-invalid", status=1).stderr
    assert run("-p", "toy-invalid", "--no-verify-each").status == 0


def test_verify_roundtrip() -> None:
    assert run(*THREE, "--verify-roundtrip").stderr == ""


def test_quiet_leaves_out_warnings() -> None:
    assert run(*THREE, "--disable-pass=cse", "--stop-after=cse", "--quiet").stderr == ""


class Remark(ModulePass):
    """Reports a remark of no kind, and one of each kind."""

    name = "toy-remark"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.emit(Severity.REMARK, None, "seen")
        first = next(iter(module.ops))
        ctx.actions.passed(first, "Done", "did it")
        ctx.actions.missed(None, "TooBig", "left it")
        ctx.actions.failed(None, "Broken", "tried it")
        ctx.actions.analysis(None, "Fact", "found it", Size=3)


@table_test(
    ("option", "shown"),
    [
        ([], ""),
        (["--remarks"], "seen Done TooBig Broken Fact"),
        (["--remarks=rem.*k"], "seen Done TooBig Broken Fact"),
        (["--remarks=other"], ""),
        (["--remarks-passed"], "Done"),
        (["--remarks-missed=rem", "--remarks-failed=toy"], "TooBig Broken"),
        (["--remarks-analysis=^toy-remark$", "--remarks=other"], "Fact"),
        (["--remarks-analysis=other"], ""),
        (["--remarks", "--remarks-passed", "--quiet"], ""),
    ],
)
def test_remarks_are_shown_when_asked_for(option: list[str], shown: str) -> None:
    register_pass(Remark)
    found = re.findall(r"remark: (?:\[\w+\] )?(\w+)", run("-p", "toy-remark", *option).stderr)
    assert found == shown.split()


def test_remark_is_expected_without_the_option() -> None:
    register_pass(Remark)
    text = "// expected-remark@unknown {{seen}}\n" + TEXT
    assert run("-p", "toy-remark", "--verify-diagnostics", stdin=text).stderr == ""


def test_remark_of_a_kind_is_expected_with_the_option() -> None:
    register_pass(Remark)
    text = "// expected-remark@unknown {{seen}}\n// expected-remark@+1 {{[Passed] Done}}\n" + TEXT
    args = "-p", "toy-remark", "--verify-diagnostics", "--remarks-passed"
    assert run(*args, stdin=text).stderr == ""
    shown = run(*args, "--remarks-missed", stdin=text, status=1).stderr
    assert "error: unexpected remark: [Missed] TooBig | " in shown


@table_test("option", ["--remarks", "--remarks-missed", "--remarks-analysis"])
def test_pattern_that_is_none_is_an_error(option: str) -> None:
    assert f"argument {option}: missing )" in run(f"{option}=(", status=2).stderr


DONE = """\
--- !Passed
Pass:            toy-remark
Name:            Done
DebugLoc:        { File: '<stdin>', Line: 1, Column: 1 }
Function:        f
Args:
  - Remark:          did it
  - Op:              func.func
...
"""


def test_remarks_output_has_those_that_are_selected_in_place_of_stderr(tmp_path: Path) -> None:
    register_pass(Remark)
    args = "-p", "toy-remark", f"--remarks-output={tmp_path / 'r.yaml'}"
    assert run(*args, "--remarks-passed").stderr == ""
    assert (tmp_path / "r.yaml").read_text() == DONE
    assert "seen" in run(*args, "--remarks=toy").stderr, "of no kind, it is not written"
    assert run(*args, "--quiet").stderr == ""
    names = re.findall(r"^Name: +(\w+)$", (tmp_path / "r.yaml").read_text(), re.MULTILINE)
    assert names == ["Done", "TooBig", "Broken", "Fact"]


def test_remarks_output_is_written_when_a_pass_fails_and_when_a_chunk_does(tmp_path: Path) -> None:
    register_pass(Remark)
    path = tmp_path / "r.yaml"
    args = f"--remarks-output={path}", "--remarks-passed=toy"
    run("-p", "toy-remark,toy-fail", *args, status=3)
    assert path.read_text() == DONE
    text = f"{TEXT}// -----\nnonsense\n// -----\n{TEXT}"
    run("-p", "toy-remark", *args, "--split-input-file", stdin=text, status=1)
    assert path.read_text().count("Name:            Done\n") == 2


def test_remarks_output_without_remarks_is_empty(tmp_path: Path) -> None:
    (path := tmp_path / "r.yaml").write_text("old")
    run(*PIPELINE, f"--remarks-output={path}")
    assert path.read_text() == ""


def test_remarks_output_on_stdout_comes_after_the_result(tmp_path: Path) -> None:
    register_pass(Remark)
    args = "-p", "toy-remark", "--remarks-output=-", "--remarks-passed"
    assert run(*args).stdout.endswith(f"}}\n\n{DONE}")
    assert run(*args, f"-o{tmp_path / 'x'}").stdout == DONE


def test_remarks_output_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "r.yaml"
    result = run(*PIPELINE, f"--remarks-output={path}", status=1)
    assert result.stderr == (
        f"error: '{path}': No such file or directory: there is no directory '{path.parent}'\n"
        "note: given by --remarks-output\n"
    )


def test_crash_reproducer_runs_again(tmp_path: Path) -> None:
    path = tmp_path / "r.mlir"
    first = run("-p", "toy-append,toy-fail{message=why}", f"--crash-reproducer={path}", status=3)
    assert first.stderr.startswith("error: ValueError: why\n")
    assert first.stderr.endswith(f"note: reproducer written to '{path}'\n")
    again = run(str(path), "--run-reproducer", status=3)
    assert "ValueError: why" in again.stderr and "toy-fail" in again.stderr
    assert run(str(path)).stdout.count("func.func") == 2, "without the option the IR is read"


def test_generated_reproducer_runs_again(tmp_path: Path) -> None:
    path = tmp_path / "g.mlir"
    first = run("-p", "toy-append,toy-nothing,toy-fail", "--disable-pass=toy-fail", "-O3")
    args = "-p", "toy-append,toy-nothing,toy-fail", f"--generate-reproducer={path}"
    again = run(*args, "--disable-pass=toy-fail", "-O3", "--quiet")
    assert again.stderr == f"note: reproducer written to '{path}'\n"
    assert again.stdout == first.stdout == run(str(path), "--run-reproducer").stdout
    assert "verify_each: true" in path.read_text()


def test_generated_reproducer_of_each_chunk(tmp_path: Path) -> None:
    text = f"{TEXT}// -----\n{TEXT.replace('@f', '@second')}"
    path = tmp_path / "g.mlir"
    run(*PIPELINE, "--split-input-file", f"--generate-reproducer={path}", stdin=text)
    assert "@f" in path.read_text() and "@second" in (tmp_path / "g.1.mlir").read_text()


def test_reproducer_verifies_as_the_run_did(tmp_path: Path) -> None:
    path = tmp_path / "g.mlir"
    args = "-p", "toy-invalid,toy-nothing", f"--generate-reproducer={path}"
    run(*args, "--no-verify-each")
    assert "verify_each: false" in path.read_text()
    run(str(path), "--run-reproducer")
    path.write_text(path.read_text().replace("verify_each: false", "verify_each: true"))
    run(str(path), "--run-reproducer", status=1)
    run(str(path), "--run-reproducer", "--no-verify-each")


def test_local_reproducer_has_only_the_failing_pass(tmp_path: Path) -> None:
    path = tmp_path / "r.mlir"
    run("-p", "toy-append{tag=a},toy-fail", f"--local-reproducer={path}", status=3)
    text = path.read_text()
    assert 'tag = "a"' in text and "toy-append" not in text.split("pipeline:")[1]


def test_reproducer_of_mlir_opt_is_read(tmp_path: Path) -> None:
    text = TEXT + (
        '{-# external_resources: { mlir_reproducer: { pipeline: "builtin.module(cse)", '
        "disable_threading: true, verify_each: true } } #-}\n"
    )
    result = run("--run-reproducer", "--dump-pass-pipeline", "--timing", stdin=text)
    assert " cse\n" in result.stderr
    assert result.stderr.startswith("builtin.module(\n  cse\n)\n")


MLIR_REPRODUCER = """
{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(func.func(cse,canonicalize{  enable-patterns=a max-iterations=10 \
max-num-rewrites=-1 region-simplify=normal test-convergence=true top-down=true}), any(cse))",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
"""


def test_crash_reproducer_of_mlir_opt_runs() -> None:
    text = FOLDS + MLIR_REPRODUCER.replace("\\\n", "")
    result = run("--run-reproducer", stdin=text)
    assert "arith.constant" not in result.stdout and "arith.muli %x, %x" in result.stdout
    assert result.stderr.partition(": ")[2] == (
        "warning: 'canonicalize' here has no option enable-patterns: ignored, unlike in mlir-opt\n"
    )
    assert run("--run-reproducer", "--quiet", stdin=text).stderr == ""


FOLDS = """
func.func @f(%x: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.addi %x, %0 : i32
  %2 = arith.muli %1, %1 : i32
  func.return %2 : i32
}
"""


@pytest.mark.skipif(find_mlir_opt() is None, reason="needs mlir-opt")
@pytest.mark.parametrize("local", [False, True])
def test_reproducer_that_mlir_opt_just_wrote_fails_here_too(tmp_path: Path, local: bool) -> None:
    path = tmp_path / "r.mlir"
    passes = "func.func(cse,canonicalize{max-iterations=1 test-convergence=true}),any(cse)"
    command = [
        str(find_mlir_opt()),
        f"--pass-pipeline=builtin.module({passes})",
        f"--mlir-pass-pipeline-crash-reproducer={path}",
    ]
    if local:
        command += ["--mlir-pass-pipeline-local-reproducer", "--mlir-disable-threading"]
    failed = subprocess.run(command, input=FOLDS, capture_output=True, text=True)
    assert failed.returncode != 0 and path.exists(), failed.stderr
    shown = run(str(path), "--run-reproducer", status=1).stderr
    assert "a limit ended canonicalize before nothing changed" in shown


# Verifying diagnostics

DIVIDES = """
// expected-error@+1 {{shapes 2 and 3}}
func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) { // not here
  %r = relax.add %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return
}
"""


def test_verifier_error_is_expected_on_its_line() -> None:
    text = DIVIDES.replace("@+1", "@+2")
    assert run("--verify-diagnostics", stdin=text) == Result(0, "", "")


def test_verifier_error_on_another_line_is_unexpected() -> None:
    shown = run("--verify-diagnostics", stdin=DIVIDES, status=1).stderr
    assert "unexpected error: 'relax.add' op" in shown
    assert 'expected error "shapes 2 and 3" was not produced' in shown


def test_parse_error_is_expected() -> None:
    text = "// expected-error@below {{'no.such' is not registered}}\nno.such\n"
    assert run("--verify-diagnostics", stdin=text) == Result(0, "", "")


def test_each_chunk_has_its_own_expectations() -> None:
    part = "// expected-error@below {{is not registered}}\nno.such\n"
    text = f"{part}// -----\n{TEXT}// -----\n{part}"
    args = "--verify-diagnostics", "--split-input-file"
    assert run(*args, stdin=text).stdout.count("func.func") == 2


# Questions


HELPED = """
from dataclasses import dataclass
from typing import ClassVar
from passline.passmanager import ModulePass

@dataclass(frozen=True)
class Tile:
    size: int = 4

@dataclass(frozen=True)
class Helped(ModulePass):
    name = "toy-helped"
    statistics: ClassVar[dict[str, str]] = {"tiles": "Tiles that were made"}
    tiles: tuple[Tile, ...] = ()

    def transform_module(self, module, ctx):
        pass
"""


def test_help_pass_has_counters_and_options_of_options(tmp_path: Path) -> None:
    (tmp_path / "helped.py").write_text(HELPED)
    lines = run(f"--load={tmp_path / 'helped.py'}", "--help-pass=toy-helped").stdout.splitlines()
    assert "  counts tiles: Tiles that were made" in lines
    assert (
        lines[lines.index("    tiles: tuple[helped.Tile, ...] = ()") + 1] == "        size: int = 4"
    )


def test_help_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = run("--help-pass=FoldConstant").stdout.splitlines()
    assert lines[0] == "fold-constant"
    assert "  level: 2" in lines and "  required: infer-type" in lines
    assert "    max-elements: int = 16777216" in lines
    assert (
        "        The maximum number of elements of a folded operation's operands and results."
        in lines
    )
    assert any("--config fold-constant.max-elements=" in line for line in lines)


def test_help_of_an_unknown_pass() -> None:
    assert "did you mean 'fold-constant'?" in run("--help-pass=fold-constnt", status=2).stderr


def test_list_dialects_and_instruments() -> None:
    dialects = run("--list-dialects").stdout.split()
    assert {"relax", "func", "scf"} <= set(dialects) and dialects == sorted(dialects)
    instruments = run("--list-instruments").stdout
    assert re.search(r"^PassTimingInstrument +An instrument that times ", instruments, re.MULTILINE)
    assert all(line.split(" ", 1)[1].strip() for line in instruments.splitlines())


# Spelling options as mlir-opt


def test_pass_may_stand_as_an_option() -> None:
    assert tags("--toy-append=tag=a", "-p", "toy-append{tag=b}", "--toy-append") == ["a", "b", "x"]


def test_optional_value_does_not_take_the_next_word(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(TEXT)
    assert passline_opt("--timing", str(path)).stdout.count("func.func") == 2


def test_own_split_markers() -> None:
    text = f"{TEXT}// next\n{TEXT}"
    args = "--split-input-file=// next", "--output-split-marker=// part"
    assert run(*args, stdin=text).stdout.count("// part\n") == 1


# Options without effect


def test_function_of_the_filter_that_is_not_there_is_warned_about() -> None:
    args = "--print-ir-after-all", "--filter-function=f,nope"
    assert "--filter-function: there is no function @nope\n" in run(*PIPELINE, *args).stderr


def test_function_of_the_filter_that_is_misspelt_gets_the_nearest_name() -> None:
    text = "func.func @main_block() {\n  func.return\n}"
    args = "-p", "cse", "--print-ir-after-all", "--filter-function=main_blok"
    said = "--filter-function: there is no function @main_blok, did you mean 'main_block'?\n"
    assert said in run(*args, stdin=text).stderr


@table_test("option", ["--stop-after=", "--start-after=", "--profile="])
def test_empty_name_is_an_error(option: str) -> None:
    assert "at least one letter" in run(*PIPELINE, option, status=2).stderr


@table_test("limit", ["-5", "x", ""])
def test_limit_that_is_none_is_an_error(limit: str) -> None:
    shown = run(*PIPELINE, f"--opt-bisect-limit={limit}", status=2).stderr
    assert "expected a whole number, or -1 for no limit" in shown


def test_input_without_a_reproducer_is_an_error() -> None:
    assert "'<stdin>' holds no pipeline to reproduce" in run("--run-reproducer", status=1).stderr


def test_level_that_leaves_out_all_is_said_once() -> None:
    shown = run("-p", "eliminate-common-subexpr", "-O2").stderr
    assert shown.count("warning") == 1 and "ran none of its passes" in shown


def test_help_spells_optional_values() -> None:
    shown = run("--help").stdout
    assert "--timing[=tree|list|json]" in shown and "--remarks[=REGEX]" in shown


@table_test(
    "option",
    [
        "--dump-ir=",
        "--trace=",
        "--crash-reproducer=",
        "--print-ir-before=",
        "--config-file=",
    ],
)
def test_empty_value_is_an_error(option: str) -> None:
    assert f"argument {option[:-1]}: " in run(*PIPELINE, option, status=2).stderr


def test_reproducer_takes_no_pipeline_beside_it() -> None:
    shown = run("--run-reproducer", "-p", "cse", status=2).stderr
    assert "takes the pipeline from the input, not -p or -O" in shown


def test_two_options_do_not_write_one_file(tmp_path: Path) -> None:
    file = tmp_path / "x"
    args = f"-o{file}", f"--trace={tmp_path}/../{tmp_path.name}/x"
    assert "--output-file and --trace would both write" in run(*args, status=2).stderr
    args = f"--remarks-output={file}", f"--generate-reproducer={file}"
    assert "--remarks-output and --generate-reproducer would" in run(*args, status=2).stderr
    args = f"--crash-reproducer={file}", f"--local-reproducer={file}"
    assert "-reproducer would both write the file" in run(*args, status=2).stderr
    run("--output-file=/dev/null", "--trace=/dev/null")


def test_plan_of_nothing_says_so() -> None:
    assert run("--explain-pipeline").stdout == "nothing runs\n"


def test_option_that_is_a_misspelt_pass_gets_the_nearest() -> None:
    assert "did you mean '--fold-constant'?" in run("--fold-constnat", status=2).stderr


def test_interrupt_ends_all_chunks() -> None:
    begun: list[object] = []

    class Interrupt(ModulePass):
        name = "toy-interrupt"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            begun.append(module)
            raise KeyboardInterrupt

    register_pass(Interrupt)
    text = f"{TEXT}// -----\n{TEXT}"
    run("-p", "toy-interrupt", "--split-input-file", stdin=text, status=130)
    assert len(begun) == 1


def test_result_is_written_although_the_trace_cannot_be(tmp_path: Path) -> None:
    out = tmp_path / "x.mlir"
    run(*PIPELINE, "--trace=/dev/full", "-o", str(out), status=1)
    assert 'tag = "a"' in out.read_text()


# Targets and tools of others


def test_option_of_a_target_that_it_has_not() -> None:
    assert "target 'mlir': " in run("-t", "mlir{x=1}", status=2).stderr


def test_mlir_opt_that_is_not_installed() -> None:
    shown = run("-p", "mlir-opt{executable=no-such-tool}", status=1).stderr
    assert "'no-such-tool' is not installed; choose another with the option executable" in shown


@pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")
def test_mlir_opt_gets_and_gives_every_bit() -> None:
    text = """
    %0 = arith.constant dense<[0.0, -0.0, 0x7F800000]> : tensor<3xf32>
    "test.op"(%0) : (tensor<3xf32>) -> ()
    """
    args = "-p", "mlir-opt[canonicalize]", "--config", f"mlir-opt.executable={mlir_opt()}"
    shown = run(*args, "--allow-unregistered-dialect", stdin=text).stdout
    assert 'dense<"0x00000000000000800000807F">' in shown
