"""The traps of other tools, a test each that shows what passline-opt does: ten facts, 28 rows."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.passes.toy import Append, Fail, Nothing, register_in_test
from support.suites.inprocess import interruptible, passline_opt
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import PassFailedException

from passline.passmanager import ModulePass, PassContext, register_pass

OPT = Path(sys.executable).with_name("passline-opt")
FUNCTION = "func.func @f() {\n  func.return\n}\n"


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy passes are installed, and gone after the test."""
    register_in_test(monkeypatch, Append, Fail, Nothing)


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


# The ten facts


@table_test(
    ("anchor", "message"),
    [
        ("func.fun", "there is no op 'func.fun', did you mean 'func.func'?"),
        ("scf.for", "'scf.for' is not isolated from above, and so no pass can run on one alone"),
    ],
)
def test_wrong_nesting_is_an_error(anchor: str, message: str) -> None:
    result = passline_opt("-p", f"{anchor}(cse)", stdin=FUNCTION)
    assert result.status == 1 and result.stdout == "" and message in result.stderr
    assert "'inline' needs the whole module" in usage("-p", "func.func(inline)")


def test_modifier_alone_works_or_says_that_it_has_no_effect() -> None:
    changes = passline_opt("--print-ir-after-change", "-p", "toy-append", stdin=FUNCTION)
    assert "IR Dump After toy-append" in changes.stderr
    scope = passline_opt("--print-ir-module-scope", "-p", "toy-append", stdin=FUNCTION)
    assert "warning: --print-ir-module-scope has no effect" in scope.stderr


@table_test("flag", ["-time-pass", "-print-pipeline-passes", "--opt-bisec"])
def test_flags_of_others_are_refused(flag: str) -> None:
    assert "error: " in usage(flag)


def test_expected_diagnostics_are_checked_with_the_flag_only() -> None:
    text = "// expected-error@+1 {{nonsense}}\n" + FUNCTION
    assert passline_opt(stdin=text).stderr == ""
    result = passline_opt("--verify-diagnostics", stdin=text)
    assert result.status == 1 and 'expected error "nonsense" was not produced' in result.stderr


# The 28 rows


def test_failing_pass_is_no_success_with_verify_diagnostics() -> None:
    doing(raises(PassFailedException("cannot")))
    result = passline_opt("-p", "toy-do", "--verify-diagnostics", stdin=FUNCTION)
    assert result.status == 1 and "cannot" in result.stderr and "cannot" not in result.stdout


def test_interrupt_is_one_message() -> None:
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


def test_thousand_levels_of_nesting() -> None:
    depth = 1000
    text = f"func.func @f(%c: i1) {{\n{'scf.if %c {' * depth}\n{'}' * depth}\nfunc.return\n}}\n"
    for form in ([], ["--print-op-generic"], ["-p", "canonicalize,infer-type"], ["-O3"]):
        done = process(*form, stdin=text)
        assert done.returncode == 0, done.stderr[:200]


def test_stderr_of_mlir_opt_is_shown(tmp_path: Path) -> None:
    fake = tmp_path / "fake-mlir-opt"
    fake.write_text("#!/bin/sh\necho 'no pass csee here' >&2\nexit 1\n")
    fake.chmod(0o755)
    result = passline_opt("-p", f'mlir-opt{{executable="{fake}"}}', stdin=FUNCTION)
    assert result.status == 1 and "no pass csee here" in result.stderr


def test_op_that_is_no_module_without_implicit_module() -> None:
    result = passline_opt("--no-implicit-module", stdin=FUNCTION)
    assert result.status == 1 and "builtin.module operation expected" in result.stderr


def test_disable_verify_leaves_the_process_as_it_is() -> None:
    before = Attribute.__post_init__
    assert passline_opt("--disable-verify", stdin=FUNCTION).status == 0
    assert Attribute.__post_init__ is before
