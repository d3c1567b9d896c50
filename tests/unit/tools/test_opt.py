"""passline-opt: input, output, pipelines, listing; what a user's mistakes say and how they end."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from codecs import BOM_UTF8
from importlib.metadata import version
from pathlib import Path

import pytest
from support.needs_numpy import needs_numpy
from support.passes.toy import Append, Fail, Nothing, register_in_test
from support.suites.inprocess import Result, passline_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp

from passline.passmanager import ModulePass, PassContext, register_pass
from passline.passmanager.fast.acceleration import acceleration_text
from passline.passmanager.fast.parts import OFF
from passline.passmanager.releases import release
from passline.tools import commands

OPT = Path(sys.executable).with_name("passline-opt")

MODULE = """\
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relax.constant dense<2.0> : tensor<4xf32>
  %k = relax.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = relax.add %x, %k : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes that a test registers are gone after it."""
    register_in_test(monkeypatch)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "x.mlir"
    path.write_text(MODULE)
    return str(path)


def failing(status: int, *args: str, stdin: str = "") -> str:
    """Return the stderr of a run, which must end with `status`, no result and no traceback."""
    result = passline_opt(*args, stdin=stdin)
    assert result.status == status, result
    assert "Traceback" not in result.stderr and result.stdout == ""
    return result.stderr


# Input


def test_without_options_the_module_is_printed(file: str) -> None:
    result = passline_opt(file)
    assert result.status == 0 and result.stderr == ""
    assert result.stdout.count("relax.add") == 2


@table_test("args", [[], ["-"]])
def test_stdin(args: list[str]) -> None:
    assert "relax.add" in passline_opt(*args, stdin=MODULE).stdout


def test_empty_input_is_an_empty_module() -> None:
    assert passline_opt(stdin="").stdout == "builtin.module {\n}\n\n"


def test_file_of_an_unknown_kind_is_read_as_mlir(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text(MODULE)
    assert "relax.add" in passline_opt(str(path)).stdout


def test_missing_file() -> None:
    assert failing(1, "nofile.mlir") == "error: 'nofile.mlir': No such file or directory\n"


def test_missing_file_with_a_name_like_another(tmp_path: Path) -> None:
    (tmp_path / "sequential.mlir").write_text(MODULE)
    message = failing(1, str(tmp_path / "sequental.mlir"))
    assert message.endswith("No such file or directory, did you mean 'sequential.mlir'?\n")


def test_directory(tmp_path: Path) -> None:
    assert failing(1, str(tmp_path)) == f"error: '{tmp_path}': Is a directory\n"


def test_binary_input(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_bytes(BOM_UTF8 + b"module {\n  func.func \xff\xfe")
    message = failing(1, str(path))
    assert message == f"error: '{path}' is not UTF-8 text: byte 0xff at line 2, column 13\n"


def test_utf16_input(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text("module {}", encoding="utf-16")
    assert failing(1, str(path)).endswith("byte 0xff at line 1, column 1; it is UTF-16\n")


def test_text_that_does_not_parse_has_place_line_and_caret(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text("func.func @f() {\n  func.retur\n}\n")
    assert failing(1, str(path)).splitlines() == [
        f"{path}:2:3: error: operation 'func.retur' is not registered, did you mean 'func.return'?",
        "  func.retur",
        "  ^",
    ]


@table_test("blanks", [0, 10**6])
def test_line_of_a_megabyte_is_shown_in_part(blanks: int) -> None:
    shown = failing(1, stdin=f"func.func @f() {{{' ' * blanks}?{'!' * 10**6}\n}}\n")
    _, line, caret, *_ = shown.splitlines()
    assert len(shown) < 900 and line[caret.index("^") :].startswith("?!!!")


def test_error_in_stdin_shows_the_line() -> None:
    message = failing(1, stdin="func.func @f() {\n  func.retur\n}\n")
    assert message.startswith("<stdin>:2:3: error: ") and "  func.retur\n  ^" in message


def test_shape_mismatch_has_place_line_and_shapes() -> None:
    text = MODULE.replace("%x: tensor<4xf32>", "%x: tensor<3xf32>")
    message = failing(1, stdin=text.replace("%x, %k : (tensor<4xf32>,", "%x, %k : (tensor<3xf32>,"))
    assert message.startswith("<stdin>:4:8: error: 'relax.add' op ")
    assert "shapes 3 and 4" in message and "%y = relax.add" in message


def test_use_before_definition(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(
        'func.func @f() {\n  "test.op"(%a) : (i32) -> ()\n'
        '  %a = "test.op"() : () -> i32\n  func.return\n}\n'
    )
    assert failing(1, str(path)).startswith(f"{path}:2:3: error: 'test.op' op operand #0 does not")


def test_disable_verify_lets_invalid_ir_through() -> None:
    text = """func.func @f() {
      "test.op"(%a) : (i32) -> ()
      %a = "test.op"() : () -> i32
      func.return
    }"""
    assert passline_opt(stdin=text).status == 1
    assert passline_opt("--disable-verify", stdin=text).status == 0


# Output


def test_result_goes_to_a_file(file: str, tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    assert passline_opt(file, "-o", str(out)) == Result(0, "", "")
    assert "relax.add" in out.read_text()


def test_dash_is_stdout(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "relax.add" in passline_opt(file, "-o", "-").stdout
    assert os.listdir(tmp_path) == ["x.mlir"]


@needs_numpy
def test_output_over_the_input(file: str) -> None:
    assert passline_opt(file, "-p", "fold-constant", "-o", file).status == 0
    assert "relax.add %x" in Path(file).read_text()


def test_output_keeps_its_content_when_a_pass_fails(file: str) -> None:
    register_pass(Fail)
    assert passline_opt(file, "-p", "toy-fail", "-o", file).status == 3
    assert Path(file).read_text() == MODULE
    assert os.listdir(Path(file).parent) == ["x.mlir"]


def test_output_into_a_missing_directory(file: str, tmp_path: Path) -> None:
    assert "No such file or directory" in failing(1, file, "-o", str(tmp_path / "no" / "out.mlir"))


def test_output_through_a_link_replaces_what_it_points_to(file: str, tmp_path: Path) -> None:
    target = tmp_path / "target.mlir"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link.mlir"
    link.symlink_to(target)
    assert passline_opt(file, "-o", str(link)).status == 0
    assert link.is_symlink() and "relax.add" in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o640


def test_what_a_pass_prints_is_in_the_way_of_nobody(file: str) -> None:
    result = passline_opt(file, "-p", "print-ir{header=here}")
    assert result.stderr.startswith("PrintIR(here):\nbuiltin.module {")
    assert result.stdout.startswith("builtin.module {")


def test_generic_format(file: str) -> None:
    assert '"relax.add"(' in passline_opt(file, "--print-op-generic").stdout


# Pipelines


def run(*args: str) -> list[str]:
    """The tags that a pipeline leaves in an empty module."""
    return re.findall(r'tag = "(\w+)"', passline_opt(*args, stdin="").stdout)


@pytest.fixture
def passes() -> None:
    for pass_ in (Append, Fail, Nothing, High):
        register_pass(pass_)


class High(ModulePass):
    """A pass of level 3."""

    name = "toy-high"
    opt_level = 3

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        Append("high").transform_module(module, ctx)


@pytest.mark.usefixtures("passes")
def test_pipeline_runs_whatever_the_levels() -> None:
    assert run("-p", "toy-append{tag=a},toy-high") == ["a", "high"]


@pytest.mark.usefixtures("passes")
def test_repeated_pipelines_append() -> None:
    assert run("-p", "toy-append{tag=a}", "-p", "toy-append{tag=b}") == ["a", "b"]


@pytest.mark.usefixtures("passes")
def test_level_filters_the_pipeline_and_says_so_in_one_warning() -> None:
    result = passline_opt("-p", "toy-append,toy-high,toy-high", "-O2", stdin="")
    assert "high" not in result.stdout and result.status == 0
    assert result.stderr.count("warning") == 1
    assert "not run: toy-high (opt_level 3 > 2), toy-high" in result.stderr


@pytest.mark.usefixtures("passes")
def test_level_that_filters_nothing_says_nothing() -> None:
    assert passline_opt("-p", "toy-high", "-O3", stdin="").stderr == ""


@needs_numpy
@table_test(("level", "adds", "constants"), [(0, 2, 1), (1, 2, 1), (2, 1, 1), (3, 1, 1)])
def test_levels_of_the_default_pipeline(file: str, level: int, adds: int, constants: int) -> None:
    result = passline_opt(file, f"-O{level}", "--disable-pass=fuse-ops")
    assert result.stderr == ""
    assert result.stdout.count("relax.add") == adds
    assert result.stdout.count("relax.constant") + result.stdout.count("relax.full") == constants


@needs_numpy
@table_test(("level", "kernels"), [(0, 2), (1, 1), (2, 1), (3, 1)])
def test_kernels_of_the_default_pipeline(level: int, kernels: int) -> None:
    module = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
        %1 = relax.sqrt %0 : (tensor<4xf32>) -> tensor<4xf32>
        return %1 : tensor<4xf32> }"""
    result = passline_opt(f"-O{level}", stdin=module)
    assert result.stderr == "" and result.stdout.count("func.func private @fused") == kernels


def test_unknown_level() -> None:
    assert "argument -O: expected 0, 1, 2 or 3" in failing(2, "-O4", stdin="")


@table_test("pipeline", ["cse", "canonicalize,dce", "cse , canonicalize"])
def test_passes_of_xdsl_run(file: str, pipeline: str) -> None:
    assert passline_opt(file, "-p", pipeline).status == 0


def test_unknown_pass_gets_the_nearest_name_and_a_caret(file: str) -> None:
    first, *excerpt, _ = failing(2, file, "-p", "infer-type,fold-constnat").splitlines()
    assert first.endswith(
        ": error: there is no pass 'fold-constnat', did you mean 'fold-constant'?"
    )
    assert excerpt == ["  infer-type,fold-constnat", "             ^^^^^^^^^^^^^"]


def test_unknown_pass_option(file: str) -> None:
    message = failing(2, file, "-p", "fold-constant{max-element=3}")
    assert "'fold-constant' has no option 'max-element', did you mean 'max-elements'?" in message


def test_wrong_type_of_an_option(file: str) -> None:
    message = failing(2, file, "-p", "fold-constant{max-elements=many}")
    assert "'max-elements' of 'fold-constant': expected a whole number, got many" in message


def test_unknown_option_gets_the_nearest() -> None:
    assert "--list-passess (did you mean '--list-passes'?)" in failing(2, "--list-passess")


def test_unknown_target_gets_the_nearest() -> None:
    assert "there is no target 'mlri', did you mean 'mlir'?" in failing(2, "-t", "mlri", stdin="")


def test_explain_pipeline_says_what_would_run() -> None:
    result = passline_opt("-O1", "--explain-pipeline", "nofile.mlir")
    assert result.status == 0
    lines = result.stdout.splitlines()
    assert lines[:2] == ['run  inline{default-pipeline=""}', "run  infer-type"]
    assert "skip fold-scale-axis  # opt_level 3 > 1" in lines


@table_test(
    ("pipeline", "message"),
    [
        (
            'sequential{name="x" required=infer-typ}(cse)',
            "pass 'x' requires 'infer-typ', which is not a pass, did you mean 'infer-type'?",
        ),
        ("sequential{name=x required=nothing}(cse)", "pass 'x' requires 'nothing', which is not a"),
    ],
)
def test_explain_pipeline_with_a_requirement_that_does_not_exist(
    pipeline: str, message: str
) -> None:
    assert message in failing(2, "-p", pipeline, "--explain-pipeline", "nofile.mlir")


def test_dump_pass_pipeline_goes_to_stderr(file: str) -> None:
    result = passline_opt(file, "-p", "FoldConstant{max-elements=3}, cse", "--dump-pass-pipeline")
    assert result.stderr == (
        "builtin.module(\n"
        "  func.func(\n"
        "    fold-constant{max-elements=3 max-steps=65536}\n"
        "  ),\n"
        "  cse\n"
        ")\n"
    )
    assert "relax.add" in result.stdout


# Failing passes


@pytest.mark.usefixtures("passes")
def test_pass_with_a_bug_is_named_and_ends_with_3(file: str) -> None:
    message = failing(3, file, "-p", "toy-nothing,toy-fail")
    assert message.splitlines()[0] == "error: ValueError: boom"
    assert "note: in pass 'toy-fail' (2 of 2)" in message and "--debug" in message
    assert re.search(r"a bug in the pass, at \S*/toy\.py:[0-9]+; --debug", message)


@pytest.mark.usefixtures("passes")
def test_debug_shows_the_traceback(file: str) -> None:
    result = passline_opt(file, "-p", "toy-fail", "--debug")
    assert (
        result.status == 3
        and "Traceback" in result.stderr
        and "in pass 'toy-fail'" in result.stderr
    )


def raising(error: BaseException) -> None:
    """Register the pass `toy-raise`, which raises `error`."""

    class Raise(ModulePass):
        name = "toy-raise"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            raise error

    register_pass(Raise)


def test_pass_that_fails_on_purpose_ends_with_1(file: str) -> None:
    from xdsl.utils.exceptions import PassFailedException

    raising(PassFailedException("cannot do this"))
    assert failing(1, file, "-p", "toy-raise").splitlines() == [
        "error: cannot do this",
        "note: in pass 'toy-raise' (1 of 1)",
        "note: in pass 'sequential(toy-raise)'",
    ]


def test_sys_exit_in_a_pass_is_no_success(file: str) -> None:
    raising(SystemExit(0))
    message = failing(3, file, "-p", "toy-raise")
    assert "sys.exit(0)" in message and "in pass 'toy-raise'" in message


def test_interrupt_ends_with_130(file: str) -> None:
    raising(KeyboardInterrupt())
    message = failing(130, file, "-p", "toy-raise")
    assert message.startswith("error: interrupted\nnote: in pass 'toy-raise'")


def test_errors_that_a_pass_reports_end_with_1(file: str) -> None:
    class Report(ModulePass):
        name = "toy-report"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            ctx.diagnostics.error(next(iter(module.ops)), "is not wanted")

    register_pass(Report)
    message = failing(1, file, "-p", "toy-report")
    assert message.startswith(f"{file}:1:1: error: 'func.func' op is not wanted\nfunc.func @f(")
    assert message.count("is not wanted") == 1 and "in pass 'toy-report'" in message


def test_pass_that_leaves_invalid_ir_is_named(file: str) -> None:
    class Break(ModulePass):
        name = "toy-break"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            (func,) = module.ops
            end = func.regions[0].block.last_op
            assert end is not None
            end.detach()
            end.erase()

    register_pass(Break)
    message = failing(1, file, "-p", "toy-break")
    assert "terminator" in message.splitlines()[0]
    name, place = f"{file}:1:1", f"in 'relax.add' at {file}:4:8"
    assert f"in pass 'toy-break' (1 of 1) on function @f at {name}, {place}\n" in message
    assert message.endswith("help: the pass left invalid IR: the bug is in it, not in the input\n")


def test_invalid_input_is_not_blamed_on_a_pass() -> None:
    text = "func.func @f() {\n  %x = arith.constant 1 : i32\n}"
    assert "the pass left" not in failing(1, "-p", "cse", stdin=text)


# Split input

SPLIT = """\
func.func @a() { func.return }
// -----
func.func @b() {
// -----
// comment
func.func @c() { func.return }
"""


def test_failing_chunk_does_not_stop_the_others() -> None:
    result = passline_opt("--split-input-file", stdin=SPLIT)
    first, second, third = result.stdout.split("// -----\n")
    assert result.status == 1
    assert "@a" in first and second == "" and "@c" in third


def test_places_in_chunks_are_those_of_the_file() -> None:
    text = "func.func @a() { func.return }\n// -----\n\n  no.such\n"
    assert passline_opt("--split-input-file", stdin=text).stderr.startswith("<stdin>:4:3: error: ")


def test_marker_inside_other_text_does_not_split() -> None:
    text = "func.func @a() { func.return }\n// ----- hello\nfunc.func @b() { func.return }\n"
    assert passline_opt("--split-input-file", stdin=text).stdout.count("builtin.module") == 1


# What xdsl-opt has


def test_parsing_diagnostics_are_a_result() -> None:
    result = passline_opt("--parsing-diagnostics", stdin="no.such")
    assert result.status == 0 and "'no.such' is not registered" in result.stdout


def test_expected_diagnostic_of_a_pass_is_no_failure() -> None:
    from xdsl.utils.exceptions import PassFailedException

    raising(PassFailedException("cannot do this"))
    text = f"// expected-error@unknown {{{{cannot do this}}}}\n{MODULE}"
    result = passline_opt("-p", "toy-raise", "--verify-diagnostics", stdin=text)
    assert result == Result(0, "", "")


@pytest.mark.usefixtures("passes")
def test_times_and_dumps_go_to_stderr(file: str) -> None:
    result = passline_opt(file, "-p", "toy-nothing,cse", "--time-passes", "--print-between-passes")
    assert "Execution time report" in result.stderr and "IR Dump After cse" in result.stderr
    assert result.stdout.count("builtin.module") == 1


def test_shrink(file: str) -> None:
    from xdsl.utils.exceptions import ShrinkException

    raising(ShrinkException())
    assert passline_opt(file, "-p", "toy-raise", "--shrink") == Result(
        0, "Success, can shrink\n", ""
    )
    assert passline_opt(file, "--shrink").stdout.endswith("Failure, can't shrink\n")


def test_unregistered_dialects(file: str) -> None:
    assert passline_opt("--allow-unregistered-dialect", stdin='"a.b"() : () -> ()').status == 0
    assert "is not registered" in failing(1, stdin='"a.b"() : () -> ()')


def test_a_missing_value_is_answered_with_the_values_there_are() -> None:
    message = "argument --print-completion: expected one of bash, zsh, fish\n"
    assert message in failing(2, "--print-completion")
    assert "argument -p/--passes/--pass-pipeline: expected one argument\n" in failing(2, "-p")


# Listing


def test_list_passes_groups_by_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    register_pass(Nothing)
    shown = passline_opt("--list-passes").stdout
    titles = [line for line in shown.splitlines() if not line.startswith(" ") and line]
    places = [titles.index(title) for title in ("any dialect:", "relax:", "tir:", "support:")]
    assert places == sorted(places) and titles[-1].startswith("xDSL's, by the dialect")
    relax = shown.partition("\nrelax:\n")[2].partition("\n\n")[0]
    assert re.search(
        "^  fold-constant +Replace operations on constants by their value.$", relax, re.M
    )
    assert re.search("^  scf +convert-scf-to-cf, ", shown, re.M)
    assert re.search("^  other +.*, dce, ", shown, re.M | re.S)
    assert max(map(len, shown.splitlines())) <= 100


def test_list_passes_names_every_pass() -> None:
    shown = re.findall(r"[\w-]+", passline_opt("--list-passes").stdout)
    names = re.findall(r"^([a-z]\S+)", passline_opt("--list-passes=all").stdout, re.M)
    assert set(names) <= set(shown) and len(names) > 150


def test_list_passes_has_level_requirements_help_and_options() -> None:
    lines = passline_opt("--list-passes=all").stdout.splitlines()
    (at,) = [i for i, line in enumerate(lines) if line.startswith("fold-constant ")]
    assert re.fullmatch(r"fold-constant +level 2  requires infer-type", lines[at])
    assert lines[at + 1].startswith("    ") and lines[at + 1].strip()
    assert "    max-elements: int = 16777216" in "\n".join(lines[at + 2 : at + 4])
    assert any(line.startswith("canonicalize") for line in lines)


def test_version() -> None:
    ours, xdsl = version("passline"), version("xdsl")
    first, *parts = passline_opt("--version").stdout.splitlines()
    assert first.endswith(f": Passline {ours}, built on xDSL {xdsl}")
    assert parts == acceleration_text().splitlines()


NEWER = f"xDSL 9.0 is newer than {release.NEWEST}, the newest that Passline was tested with"


def test_a_release_of_xdsl_that_is_not_known_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "xdsl_version", lambda: "9.0")
    assert (
        passline_opt("--version").stdout.splitlines()[1] == f"{NEWER}: please report what differs"
    )
    assert "func.func" in passline_opt("-O1", stdin=MODULE).stdout
    register_pass(Fail)
    crash = passline_opt("-p", "toy-fail", stdin=MODULE)
    assert f"--debug shows the traceback; {NEWER}, which may be the cause\n" in crash.stderr


def test_a_tool_that_cannot_be_imported_beside_a_newer_xdsl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "xdsl_version", lambda: "9.0")
    monkeypatch.setitem(sys.modules, "passline.tools.opt", None)
    with pytest.raises(SystemExit, match="3"):
        commands.opt()
    assert capsys.readouterr().err.endswith(f"\nhelp: {NEWER}\n")


# As a process


def test_acceleration_is_turned_off_by_an_option() -> None:
    done = process("--no-acceleration", "--version")
    assert done.stdout.startswith("passline-opt: Passline")
    assert "accelerated: nothing (--no-acceleration" in done.stdout
    assert process("--no-acceleration", "-O3").stdout == process("-O3").stdout


def test_the_tool_of_another_project_is_started_anew(tmp_path: Path) -> None:
    tool = tmp_path / "other-opt"
    tool.write_text("from passline.tools.opt import PasslineOptMain\nPasslineOptMain.main()\n")
    command = [sys.executable, str(tool), "--no-acceleration", "--version"]
    environment = {k: v for k, v in os.environ.items() if k != OFF}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("other-opt: Passline")
    assert "accelerated: nothing" in done.stdout


def test_acceleration_cannot_be_turned_off_within_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(OFF, raising=False)
    result = passline_opt("--no-acceleration", stdin=MODULE)
    assert result.status == 2 and f"comes too late here: set {OFF}=1" in result.stderr


def test_an_old_release_of_xdsl_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "xdsl_version", lambda: "0.58.0")
    with pytest.raises(SystemExit, match="1"):
        commands.opt()
    expected = "error: xDSL 0.58.0 is too old: Passline works with xDSL 0.59 and newer\n"
    assert capsys.readouterr().err == expected


def process(*args: str, stdin: str = MODULE) -> subprocess.CompletedProcess[str]:
    return subprocess.run([OPT, *args], input=stdin, capture_output=True, text=True)


@needs_numpy
def test_installed_command_runs() -> None:
    done = process("-O3")
    assert done.returncode == 0 and done.stdout.count("relax.add") == 1 and done.stderr == ""


def test_the_tool_starts_without_the_dialects() -> None:
    code = (
        "import sys; from passline.tools.opt import PasslineOptMain; PasslineOptMain(args=[]);"
        "sys.exit(str([m for m in sys.modules if m.startswith('passline.dialects')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "[]\n"


RARE = ["asyncio", "difflib", "hashlib", "logging", "numpy", "rich", "shtab", "tomllib"]


def test_what_is_rarely_needed_is_not_imported() -> None:
    code = (
        "import sys; from passline.tools.opt import PasslineOptMain;"
        "PasslineOptMain(args=['-p', 'canonicalize,cse,dead-code-elimination']).run();"
        f"sys.exit(str([m for m in {RARE} if m in sys.modules]))"
    )
    text = "func.func @f(%x: i32) -> i32 { %y = arith.addi %x, %x : i32 func.return %y : i32 }"
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True)
    assert done.stderr == "[]\n"


def test_the_collector_does_not_visit_what_was_imported() -> None:
    code = (
        "import atexit, gc; from passline.tools.opt import main;"
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000)); main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "True"


def test_closed_stdout_is_an_error() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{OPT} >&-"], input=MODULE, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "error: stdout is closed\n")


@needs_numpy
def test_closed_stderr_is_no_failure_and_not_in_the_result() -> None:
    command = f"{OPT} -O3 --timing 2>&-"
    done = subprocess.run(["bash", "-c", command], input=MODULE, capture_output=True, text=True)
    assert done.returncode == 0 and "Execution" not in done.stdout


def test_two_input_files(file: str) -> None:
    assert f"there is one input file, and '{file}' is another" in failing(2, file, file)


def test_file_that_cannot_be_written_is_named(file: str) -> None:
    assert failing(1, file, "-o", "/nope/x") == (
        "error: '/nope/x': No such file or directory: there is no directory '/nope'\n"
        "note: given by -o/--output-file\n"
    )


@pytest.mark.parametrize("args", ["", "-", "-p cse -o y.mlir"])
def test_closed_stdin_is_an_error(args: str, tmp_path: Path) -> None:
    command = ["bash", "-c", f"{OPT} {args} <&-"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: stdin is closed\n")
    assert list(tmp_path.iterdir()) == []


def test_closed_stdin_does_not_matter_if_there_is_a_file(file: str) -> None:
    done = subprocess.run(["bash", "-c", f"{OPT} {file} <&-"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("relax.add") == 2


@table_test(("args", "said"), [([], True), (["--quiet"], False), (["-"], False)])
def test_waiting_for_a_terminal_is_said(args: list[str], said: bool) -> None:
    keyboard, terminal = pty.openpty()
    os.write(keyboard, b"func.func private @f()\n\x04")
    done = subprocess.run([OPT, *args], stdin=terminal, capture_output=True, text=True)
    assert done.returncode == 0 and "@f" in done.stdout
    assert ("note: reading stdin, to the end (Ctrl-D)" in done.stderr) == said


@pytest.mark.parametrize("stdin", [True, False])
def test_byte_order_mark(stdin: bool, tmp_path: Path) -> None:
    path = tmp_path / "bom.mlir"
    path.write_text(MODULE, encoding="utf-8-sig")
    assert passline_opt(str(path)) == passline_opt(stdin=MODULE)
    wrong = "\ufefffunc.fun @f()\n"
    path.write_text(wrong)
    shown = failing(1, stdin=wrong) if stdin else failing(1, str(path))
    assert ":1:1: error: " in shown and "\nfunc.fun @f()\n^\n" in shown


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
def test_full_device_is_named(file: str) -> None:
    shown = failing(1, file, "-o", "/dev/full")
    assert shown == "error: '/dev/full': No space left on device\n"


def test_constants_keep_every_bit_in_generic_form() -> None:
    text = MODULE.replace("dense<2.0>", "dense<[0.0, -0.0, 0x7F800000, 1.0]>")
    generic = passline_opt("--print-op-generic", stdin=text).stdout
    assert passline_opt(stdin=generic).stdout == passline_opt(stdin=text).stdout
    assert '"0x00000000000000800000807F0000803F"' in generic


# Numbers

HUGE = "1" * 6000


@table_test(
    ("args", "message"),
    [
        (["--opt-bisect=7-3"], "argument --opt-bisect: the range 7-3 is empty: write 3-7"),
        (["--opt-bisect=1,9-8"], "the range 9-8 is empty: write 8-9"),
        (["--opt-bisect="], "expected numbers as 1-3,7, got ''"),
        (["--opt-bisect=-1"], "expected numbers as 1-3,7, got '-1'"),
        (["--opt-bisect-limit=-2"], "expected a whole number, or -1 for no limit, got '-2'"),
        (["--debug-counter=x=7-3"], "argument --debug-counter: x: the range 7-3 is empty"),
        (["--print-ir-after-pass-number=9-2"], "the range 9-2 is empty: write 2-9"),
        (["--elide-elementsattrs-if-larger=-1"], "expected a whole number, got '-1'"),
        (["-O4"], "argument -O: expected 0, 1, 2 or 3, got '4'"),
        (["-O-1"], "argument -O: expected 0, 1, 2 or 3, got '-1'"),
        (["-p", "fold-constant{max-elements=-5}"], "expected 0 or more, got -5"),
        (["--config", "fold-constant.max_elements=-5"], "expected 0 or more, got -5"),
        *(
            ([f"{option}{HUGE}"], "(6000 characters)")
            for option in (
                "-O",
                "--jobs=",
                "--opt-bisect=",
                "--opt-bisect=1-",
                "--opt-bisect-limit=",
                "--debug-counter=x=",
                "--large-elements-as-resources=",
                "--config=fold-constant.max_elements=",
            )
        ),
    ],
)
def test_number_that_makes_no_sense(file: str, args: list[str], message: str) -> None:
    shown = failing(2, file, *args)
    assert message in shown and len(shown) < 700, shown


# Memory


class Hungry(ModulePass):
    """A pass that takes all memory."""

    name = "toy-hungry"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        raise MemoryError("Unable to allocate 8.00 TiB")


def test_memory_that_runs_out_in_a_pass(file: str) -> None:
    register_pass(Hungry)
    assert failing(1, file, "-p", "toy-hungry").startswith(
        "error: out of memory: Unable to allocate 8.00 TiB\nnote: in pass 'toy-hungry' (1 of 1)\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_memory_that_runs_out_while_parsing() -> None:
    text = "func.func @f() { %c = relax.constant dense<1.0> : tensor<1073741824xf32> func.return }"
    limited = f"ulimit -v 3000000; exec {OPT} -"
    done = subprocess.run(["bash", "-c", limited], input=text, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: out of memory") or "exceeds the limit" in done.stderr


# Values that are used by the op that defines them


@table_test(
    ("bounds", "column"), [("%c extent %i", 26), ("%i extent %c", 16), ("%i extent %i", 16)]
)
def test_bound_that_is_the_variable_of_its_own_loop(bounds: str, column: int) -> None:
    text = (
        "tir.prim_func @f() {\n  %c = arith.constant 0 : index\n"
        f"  tir.for %i = {bounds} {{\n  }}\n}}\n"
    )
    shown = failing(1, stdin=text)
    message = "value %i is used by the op that defines it"
    assert shown.startswith(f"<stdin>:3:{column}: error: {message}\n"), shown


# Overwriting


@table_test(
    "option",
    ["trace", "record", "report", "remarks-output", "crash-reproducer", "generate-reproducer"],
)
def test_no_option_but_the_result_overwrites_the_input(file: str, option: str) -> None:
    for args in ([], ["-o", file]):
        shown = failing(2, file, "-p", "cse", f"--{option}={file}", *args)
        assert f"--{option} would overwrite the input '{file}'" in shown
    assert Path(file).read_text() == MODULE


@table_test(
    ("args", "message"),
    [
        (["--verify-each=2"], "argument --verify-each: expected 0, 1, true or false, got '2'"),
        (["--print-op-generic=no"], "--print-op-generic: expected 0, 1, true or false, got 'no'"),
        (["--filter-function="], "--filter-function: expected a value that is not empty"),
        (["--disable-pass="], "--disable-pass: the name of a pass needs at least one letter"),
    ],
)
def test_value_that_an_option_does_not_take(file: str, args: list[str], message: str) -> None:
    assert message in failing(2, file, *args)


# Several cores


def test_threads_are_the_workers_of_the_context(file: str, monkeypatch: pytest.MonkeyPatch):
    found: list[int] = []

    class Noting(ModulePass):
        name = "noting-workers"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            found.append(ctx.workers)

    register_pass(Noting)
    for args in ((), ("--threads=3",), ("--threads", "1")):
        assert passline_opt(file, "-p", "noting-workers", *args).status == 0
    monkeypatch.setenv("PASSLINE_THREADS", "2")
    assert passline_opt(file, "-p", "noting-workers").status == 0
    assert found == [1, 3, 1, 2]


def test_a_number_of_threads_is_positive(file: str, monkeypatch: pytest.MonkeyPatch):
    error = "argument --threads: expected a number greater than 0, got '0'"
    assert error in failing(2, file, "--threads=0")
    monkeypatch.setenv("PASSLINE_THREADS", "many")
    assert "PASSLINE_THREADS is a whole number of 1 or more, not 'many'" in failing(2, file)
