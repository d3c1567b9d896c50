"""The traps of other tools, a test each that shows what passline-opt does: ten facts, 28 rows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, module, tags, toy_context
from support.suites.inprocess import interruptible, passline_opt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import PassFailedException

from passline.passmanager import ModulePass, PassContext, Sequential, register_pass
from passline.passmanager.instruments import PassTimingInstrument
from passline.passmanager.pipeline import parse_pipeline, pipeline_text
from passline.passmanager.registry import installed

OPT = Path(sys.executable).with_name("passline-opt")
FUNCTION = "func.func @f() {\n  func.return\n}\n"


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy passes are installed, and gone after the test."""
    offer = installed()
    monkeypatch.setattr(offer, "passes", dict(offer.passes))
    monkeypatch.setattr(offer, "names", dict(offer.names))
    for pass_ in (Append, Fail, Nothing, Options):
        register_pass(pass_)


@dataclass(frozen=True)
class Options(ModulePass):
    """Prints its options as a warning."""

    name = "toy-options"

    f: float = 0.5
    s: str = ""
    b: bool = False
    i: int = 0
    t: tuple[int, ...] = ()

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.warning(None, str(self))


def doing(body: Callable[[ModuleOp], object]) -> None:
    """Register the pass `toy-do`, which does `body`."""

    class Do(ModulePass):
        name = "toy-do"

        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            body(module)

    register_pass(Do)


def raises(error: BaseException) -> Callable[[ModuleOp], object]:
    def body(module: ModuleOp) -> None:
        raise error

    return body


def process(*args: str, stdin: str = FUNCTION) -> subprocess.CompletedProcess[str]:
    return subprocess.run([OPT, *args], input=stdin, capture_output=True, text=True)


def usage(*args: str) -> str:
    """Return the message of a run that must end with status 2, without a traceback or a result."""
    result = passline_opt(*args, stdin=FUNCTION)
    assert result.status == 2 and result.stdout == "" and "Traceback" not in result.stderr
    return result.stderr


def options(text: str) -> str:
    """The options that the pass sees when the pipeline spells them so."""
    result = passline_opt("-p", f"toy-options{text}", stdin="")
    assert result.status == 0, result.stderr
    return result.stderr.removeprefix("warning: toy-options").strip()


# The ten facts


def test_fact_1_failing_pass_is_named() -> None:
    result = passline_opt("-p", "toy-nothing,toy-fail", stdin=FUNCTION)
    assert "in pass 'toy-fail' (2 of 2)" in result.stderr


def test_fact_2_output_over_the_input_is_safe(tmp_path: Path) -> None:
    path = tmp_path / "x.mlir"
    path.write_text(FUNCTION)
    assert passline_opt(str(path), "-p", "toy-fail", "-o", str(path)).status == 3
    assert path.read_text() == FUNCTION
    assert passline_opt(str(path), "-p", "toy-append", "-o", str(path)).status == 0
    assert 'tag = "x"' in path.read_text()


@pytest.mark.parametrize(
    ("anchor", "message"),
    [
        ("func.fun", "there is no op 'func.fun', did you mean 'func.func'?"),
        ("scf.for", "'scf.for' is not isolated from above, and so no pass can run on one alone"),
    ],
)
def test_fact_3_wrong_nesting_is_an_error(anchor: str, message: str) -> None:
    result = passline_opt("-p", f"{anchor}(cse)", stdin=FUNCTION)
    assert result.status == 1 and result.stdout == "" and message in result.stderr
    assert "'inline' needs the whole module" in usage("-p", "func.func(inline)")


def test_fact_4_modifier_alone_works_or_says_that_it_has_no_effect() -> None:
    changes = passline_opt("--print-ir-after-change", "-p", "toy-append", stdin=FUNCTION)
    assert "IR Dump After toy-append" in changes.stderr
    scope = passline_opt("--print-ir-module-scope", "-p", "toy-append", stdin=FUNCTION)
    assert "warning: --print-ir-module-scope has no effect" in scope.stderr


@pytest.mark.parametrize("flag", ["-time-pass", "-print-pipeline-passes", "--opt-bisec"])
def test_fact_4_flags_of_others_are_refused(flag: str) -> None:
    assert "error: " in usage(flag)


def test_fact_4_names_that_match_no_pass_are_errors() -> None:
    message = usage("-p", "toy-append", "--print-ir-after=toy-apend")
    assert "--print-ir-after: there is no pass 'toy-apend', did you mean 'toy-append'?" in message


def test_fact_4_names_that_are_not_in_the_pipeline_are_warned_about() -> None:
    result = passline_opt("-p", "toy-append", "--print-ir-after=cse", stdin=FUNCTION)
    assert "--print-ir-after names 'cse', which is not in the pipeline" in result.stderr


def test_fact_5_statistics_are_there() -> None:
    result = passline_opt("-p", "fold-constant,toy-append", "--pass-statistics", stdin=FUNCTION)
    assert "(S)" in result.stderr and "toy-append" in result.stderr


def test_fact_6_dumps_come_in_one_order() -> None:
    text = FUNCTION + FUNCTION.replace("@f", "@g")
    args = "-p", "infer-type,fold-constant,cse", "--print-ir-after-all"
    assert passline_opt(*args, stdin=text) == passline_opt(*args, stdin=text)


def test_fact_7_dumps_and_times_are_not_in_the_result() -> None:
    first = passline_opt("-p", "cse", "--print-ir-after-all", "--timing", stdin=FUNCTION)
    assert passline_opt(stdin=first.stdout).stdout == first.stdout


def test_fact_8_expected_diagnostics_are_checked_with_the_flag_only() -> None:
    text = "// expected-error@+1 {{nonsense}}\n" + FUNCTION
    assert passline_opt(stdin=text).stderr == ""
    result = passline_opt("--verify-diagnostics", stdin=text)
    assert result.status == 1 and 'expected error "nonsense" was not produced' in result.stderr


def test_fact_9_shrinking_says_whether_the_case_is_interesting() -> None:
    from xdsl.utils.exceptions import ShrinkException

    doing(raises(ShrinkException()))
    assert passline_opt("-p", "toy-do", "--shrink", stdin=FUNCTION).status == 0
    assert passline_opt("-p", "toy-nothing", "--shrink", stdin=FUNCTION).status == 1


def test_fact_10_times_stay_readable_when_the_context_is_left() -> None:
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        Nothing()(module())
    assert timing.render().startswith("toy-nothing: ")


def test_fact_10_python_pass_can_be_required() -> None:
    class Needs(Append):
        name = "toy-needs"
        required = ("toy-append",)

    assert tags(Sequential([Needs("needs")])(module())) == ["x", "needs"]


# The 28 rows


def test_row_1_unknown_pass() -> None:
    assert "there is no pass 'csee', did you mean 'cse'?" in usage("-p", "csee")


def test_row_2_unknown_option_names_the_pass() -> None:
    assert "'cse' has no option 'foo'; it has none" in usage("-p", "cse{foo=1}")
    shown = usage("-p", "canonicalize{foo=1}")
    assert "'canonicalize' has no option 'foo'; its options are max-num-rewrites" in shown


@pytest.mark.parametrize("pipeline", ["canonicalize{", "cse,,cse"])
def test_row_3_syntax_error_has_a_caret(pipeline: str) -> None:
    assert f"  {pipeline}\n  " in usage("-p", pipeline) and "^" in usage("-p", pipeline)


@pytest.mark.parametrize(
    "text", ["{ i=2}", "{i=2 }", "{ }", "{t=1, 2}", "{i = 2}", " {i=2}", "{\n  i=2\n}"]
)
def test_row_4_blanks(text: str) -> None:
    assert options(text) in ("{i=2}", "", "{t=1,2}")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("{f=1}", "{f=1.0}"),
        ("{f=1e5}", "{f=100000.0}"),
        ("{f=.25}", "{f=0.25}"),
        ("{s=5}", '{s="5"}'),
        ("{s=true}", '{s="true"}'),
        ("{s=a.b}", '{s="a.b"}'),
        ("{s=a/b}", '{s="a/b"}'),
        ("{b}", "{b=true}"),
        ("{i=1, f=2}", "{f=2.0 i=1}"),
    ],
)
def test_row_5_option_values(text: str, seen: str) -> None:
    assert options(text) == seen


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{i=true}", "option 'i' of 'toy-options': expected a whole number, got true"),
        ("{i=1 i=2}", "option 'i' of 'toy-options' is given twice"),
    ],
)
def test_row_5_wrong_values_say_which_option(text: str, message: str) -> None:
    assert message in usage("-p", f"toy-options{text}")


def test_row_6_quotes_in_strings_are_read_back() -> None:
    pipeline = Sequential([Options(s='a"b\\')])
    assert parse_pipeline(pipeline_text(pipeline)).passes == pipeline.passes


def test_row_7_repeated_pipelines_append() -> None:
    args = "-p", "toy-append{tag=a}", "-p", "toy-append{tag=b}"
    assert passline_opt(*args, stdin="").stdout.count("tag = ") == 2


def test_row_8_missing_file_directory_and_binary_input(tmp_path: Path) -> None:
    binary = tmp_path / "x.mlir"
    binary.write_bytes(b"\xff\x00")
    for name in ("nofile.mlir", str(tmp_path), str(binary)):
        result = passline_opt(name)
        assert result.status == 1 and result.stderr.count("\n") == 1
        assert result.stderr.startswith(f"error: '{name}'")


def test_row_8_unknown_extension_and_dashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.txt").write_text(FUNCTION)
    monkeypatch.chdir(tmp_path)
    assert "@f" in passline_opt("x.txt").stdout
    assert "@f" in passline_opt("-", "-o", "-", stdin=FUNCTION).stdout
    assert os.listdir(tmp_path) == ["x.txt"]


@pytest.mark.parametrize("text", ["", "\n", "// a comment\n"])
def test_row_9_empty_input_is_an_empty_module(text: str) -> None:
    assert passline_opt(stdin=text).stdout == "builtin.module {\n}\n\n"


def test_row_10_pass_that_raises() -> None:
    result = passline_opt("-p", "toy-fail", stdin=FUNCTION)
    assert result.status == 3 and "Traceback" not in result.stderr
    assert "error: ValueError: boom" in result.stderr and "'toy-fail'" in result.stderr


def test_row_11_failing_pass_is_no_success_with_verify_diagnostics() -> None:
    doing(raises(PassFailedException("cannot")))
    result = passline_opt("-p", "toy-do", "--verify-diagnostics", stdin=FUNCTION)
    assert result.status == 1 and "cannot" in result.stderr and "cannot" not in result.stdout


def test_row_12_invalid_ir_after_a_pass_names_pass_and_function() -> None:
    def body(m: ModuleOp) -> None:
        (func,) = m.ops
        end = func.regions[0].block.last_op
        assert end is not None
        end.detach()

    doing(body)
    result = passline_opt("-p", "toy-do", stdin=FUNCTION)
    assert result.status == 1 and "in pass 'toy-do' (1 of 1) on function @f" in result.stderr


def test_row_13_sys_exit_in_a_pass_is_no_success() -> None:
    doing(raises(SystemExit(0)))
    result = passline_opt("-p", "toy-do", stdin=FUNCTION)
    assert result.status == 3 and "sys.exit(0)" in result.stderr and result.stdout == ""


def test_row_14_what_a_pass_prints_is_not_in_the_result() -> None:
    doing(lambda m: print("hello"))
    result = passline_opt("-p", "toy-do", stdin=FUNCTION)
    assert "hello" in result.stderr and "hello" not in result.stdout


def test_row_15_interrupt_is_one_message() -> None:
    code = (
        "import time\nfrom passline.passmanager import module_pass, register_pass\n"
        "from passline.tools.opt import main\n"
        "@module_pass(name='toy-sleep')\ndef sleep(m, ctx):\n"
        "    print('ready', file=__import__('sys').stderr, flush=True)\n    time.sleep(60)\n"
        "register_pass(type(sleep))\nmain(['-p', 'toy-sleep'])\n"
    )
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, preexec_fn=interruptible
    ) as running:
        assert running.stdin is not None and running.stderr is not None
        running.stdin.write(FUNCTION)
        running.stdin.close()
        assert running.stderr.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        message = running.stderr.read()
        assert running.wait() == 130
    assert "error: interrupted" in message and "in pass 'toy-sleep'" in message
    assert "Traceback" not in message


def test_row_16_output_of_before_survives_a_failure(tmp_path: Path) -> None:
    out = tmp_path / "o.mlir"
    out.write_text("before")
    assert passline_opt("-p", "toy-fail", "-o", str(out), stdin=FUNCTION).status == 3
    assert out.read_text() == "before"


def test_row_17_in_place(tmp_path: Path) -> None:
    path = tmp_path / "b.mlir"
    path.write_text(FUNCTION)
    assert passline_opt(str(path), "-p", "cse", "-o", str(path)).status == 0
    assert "@f" in path.read_text()


def test_row_18_closed_pipe_and_full_disk() -> None:
    text = "\n".join(FUNCTION.replace("@f", f"@{'f' * 100}{i}") for i in range(1000))
    script = f"{OPT} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (141, "")
    script = f"{OPT} > /dev/full"
    done = subprocess.run(["bash", "-c", script], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "error: '<stdout>': No space left on device\n")


@pytest.mark.parametrize("flag", ["--print-between-passes", "--time-passes"])
def test_row_19_output_with_dumps_can_be_piped_on(flag: str, tmp_path: Path) -> None:
    result = passline_opt(flag, "-p", "cse,canonicalize", stdin=FUNCTION)
    assert result.stderr != "" and passline_opt(stdin=result.stdout).status == 0


def test_row_20_bad_chunk_stops_no_other() -> None:
    text = f"{FUNCTION}// -----\nno.such\n// -----\n{FUNCTION.replace('@f', '@g')}"
    result = passline_opt("--split-input-file", stdin=text)
    first, second, third = result.stdout.split("// -----\n")
    assert (result.status, second) == (1, "") and "@f" in first and "@g" in third


def test_row_21_marker_inside_other_text() -> None:
    text = f"{FUNCTION}// ----- hello\n"
    assert passline_opt("--split-input-file", stdin=text).stdout.count("module") == 1


def test_row_22_wrong_expectation_is_a_failure() -> None:
    text = FUNCTION + "// expected-error {{nonsense}}\n"
    assert passline_opt("--verify-diagnostics", stdin=text).status == 1


def test_row_23_thousand_levels_of_nesting() -> None:
    depth = 1000
    text = f"func.func @f(%c: i1) {{\n{'scf.if %c {' * depth}\n{'}' * depth}\nfunc.return\n}}\n"
    for form in ([], ["--print-op-generic"], ["-p", "canonicalize,infer-type"], ["-O3"]):
        done = process(*form, stdin=text)
        assert done.returncode == 0, done.stderr[:200]


def test_row_24_stderr_of_mlir_opt_is_shown(tmp_path: Path) -> None:
    fake = tmp_path / "fake-mlir-opt"
    fake.write_text("#!/bin/sh\necho 'no pass csee here' >&2\nexit 1\n")
    fake.chmod(0o755)
    result = passline_opt("-p", f'mlir-opt{{executable="{fake}"}}', stdin=FUNCTION)
    assert result.status == 1 and "no pass csee here" in result.stderr


def test_row_25_no_colour_in_a_pipe() -> None:
    assert "\x1b" not in process("--syntax-highlight").stdout


def test_row_26_instruments_see_the_failure_and_the_exception_names_the_pass() -> None:
    recorder = Recorder()
    with PassContext(instruments=[recorder]), pytest.raises(ValueError) as caught:
        Sequential([Append(), Fail(), Nothing()]).apply(toy_context(), module())
    assert "%1 failed toy-fail ValueError" in recorder.events
    assert caught.value.__notes__[0] == "in pass 'toy-fail' (2 of 3)"


def test_row_27_op_that_is_no_module_without_implicit_module() -> None:
    result = passline_opt("--no-implicit-module", stdin=FUNCTION)
    assert result.status == 1 and "builtin.module operation expected" in result.stderr


def test_row_28_disable_verify_leaves_the_process_as_it_is() -> None:
    before = Attribute.__post_init__
    assert passline_opt("--disable-verify", stdin=FUNCTION).status == 0
    assert Attribute.__post_init__ is before
