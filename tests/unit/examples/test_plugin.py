"""examples/plugin: another project's dialect, function op, passes, instrument and opt tool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stackvm.count import CountInstructions
from stackvm.dialect import ProgramOp
from stackvm.fold import FoldPushes
from stackvm.opt import StackVMOptMain
from stackvm.shorten import shortened
from support.passes.toy import Recorder
from support.suites.inprocess import capture, passline_opt, passline_reduce
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline

import passline
from passline.passmanager import PassContext, Sequential
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context
from passline.tools.run import PasslineRunMain

PROGRAM = Path(__file__).parents[3] / "examples" / "plugin" / "program.mlir"
FOLDED = """\
builtin.module {
  stackvm.program @seven {
    stackvm.push 7
    stackvm.print
  }
}

"""
COUNTED = FOLDED.replace("@seven {", "@seven attributes {instructions = 2 : i64} {")


def program() -> ModuleOp:
    return parse_module(make_ir_context(), PROGRAM.read_text(), str(PROGRAM))


@table_test("tool", ["passline-opt", "xdsl-opt", "stackvm-opt"])
def test_passes_run_in_every_tool(tool: str) -> None:
    command = [Path(sys.executable).with_name(tool), PROGRAM, "-p", "stackvm-fold,stackvm-count"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, COUNTED, "")


def test_own_option_adds_the_own_instrument() -> None:
    args = [str(PROGRAM), "-p", "stackvm-fold,stackvm-count", "--program-sizes"]
    result = capture(lambda: StackVMOptMain(args=args).run())
    assert result.stdout == COUNTED
    assert result.stderr == "stackvm-fold: 4 -> 2 instructions\n"


TWO = PROGRAM.read_text() + "stackvm.program @other {\n  stackvm.push 1\n  stackvm.print\n}\n"


def test_own_option_of_all_tools_chooses_a_program() -> None:
    args = ("-p", "stackvm-fold", "--stackvm-program=seven")
    assert passline_opt(*args, stdin=TWO).stdout == FOLDED
    reduced = passline_reduce("--stackvm-program=other", "--test", "grep stackvm.push", stdin=TWO)
    assert "@other" in reduced.stdout and "@seven" not in reduced.stdout


def test_mistake_in_the_own_option_is_one_line() -> None:
    result = passline_opt("--stackvm-program=eight", stdin=TWO)
    message = "error: there is no program 'eight'; the input has: seven, other\n"
    assert (result.status, result.stderr) == (1, message)


def test_own_function_op_is_an_anchor_in_pipelines() -> None:
    assert passline_opt(str(PROGRAM), "-p", "stackvm.program(stackvm-fold)").stdout == FOLDED


def test_anchor_that_the_pass_does_not_visit_is_an_error() -> None:
    result = passline_opt(str(PROGRAM), "-p", "func.func(stackvm-fold)")
    assert result.status == 2
    assert "'stackvm-fold' runs on 'stackvm.program', not on 'func.func'" in result.stderr


def test_their_xdsl_pass_runs_in_our_sequential_with_instruments() -> None:
    recorder = Recorder()
    with PassContext(instruments=[recorder]):
        result = Sequential([FoldPushes(), CountInstructions("n")])(program())
    (seven,) = result.ops
    assert isinstance(seven, ProgramOp) and str(seven.attributes["n"]) == "2 : i64"
    assert [e for e in recorder.events if "after" in e] == [
        "%1 after stackvm-fold",
        "%1 after stackvm-count",
        "%1 after sequential",
    ]


def test_their_pass_with_our_base_class_runs_in_xdsls_pass_pipeline() -> None:
    module = program()
    PassPipeline((FoldPushes(), CountInstructions())).apply(make_ir_context(), module)
    assert str(module) + "\n\n" == COUNTED


def test_config_fills_the_options_of_both_kinds_of_passes() -> None:
    config = {"stackvm-fold": {"limit": 3}, "stackvm-count": {"attribute": "n"}}
    with PassContext(config=config):
        (seven,) = Sequential([FoldPushes(), CountInstructions()])(program()).ops
    assert str(seven.attributes["n"]) == "4 : i64"


def test_level_leaves_out_their_pass() -> None:
    with PassContext(opt_level=0):
        (seven,) = Sequential([FoldPushes(), CountInstructions()])(program()).ops
    assert str(seven.attributes["instructions"]) == "4 : i64"


# A pass that takes its place by itself

LINE = "stackvm-shorten  # from stackvm-example 0.1.0: after fold-constant, before fuse-ops"
DOUBLED = """func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
    %y = stackvm.evaluate "dup swap swap +"(%x) : (tensor<3xf32>) -> tensor<3xf32>
    return %y : tensor<3xf32> }"""


def test_two_lines_put_their_pass_into_the_levels() -> None:
    lines = passline_opt("-O3", "--explain-pipeline").stdout.splitlines()
    names = [line.removeprefix("run").partition("#")[0].strip() for line in lines]
    assert f"run  {LINE}" in lines
    assert names.index("fold-constant") < names.index("stackvm-shorten") < names.index("fuse-ops")
    skipped = passline_opt("-O1", "--explain-pipeline").stdout
    assert LINE.replace("  # ", "  # opt_level 2 > 1; ") in skipped
    assert (
        "stackvm"
        not in passline_opt("-O3", "--no-plugins-in-pipelines", "--explain-pipeline").stdout
    )


def test_it_shortens_programs_at_level_2() -> None:
    assert 'stackvm.evaluate "dup +"' in passline_opt("-O2", stdin=DOUBLED).stdout
    assert "swap swap" in passline_opt("-O1", stdin=DOUBLED).stdout
    assert "swap swap" in passline_opt("-O2", "--no-plugins-in-pipelines", stdin=DOUBLED).stdout


def test_it_takes_part_in_python_too() -> None:
    assert '"dup +"' in str(passline.optimize(DOUBLED))
    with PassContext(extensions=False):
        assert "swap swap" in str(passline.optimize(DOUBLED))
    with PassContext(extensions=["stackvm-example"]):
        assert '"dup +"' in str(passline.optimize(DOUBLED))


@table_test(
    ("words", "short"),
    [("dup swap swap +", "dup +"), ("swap dup swap swap *", "swap dup *"), ("swap -", "swap -")],
)
def test_shorter_programs_do_the_same(words: str, short: str) -> None:
    assert " ".join(shortened(words.split())) == short


# An op on tensors

EVALUATE = PROGRAM.with_name("evaluate.mlir")


def test_their_op_is_inferred_and_folded() -> None:
    result = passline_opt(str(EVALUATE), "-p", "infer-type,fold-constant")
    assert result.stderr == ""
    assert "dense<[9.000000e+00, 1.600000e+01, 2.500000e+01]> : tensor<3xf32>" in result.stdout
    assert "relax.full" not in result.stdout and "?" not in result.stdout


def test_their_op_on_fills_gives_a_fill() -> None:
    module = """func.func @f() -> tensor<9xf32> {
        %a = relax.full 3.0 : tensor<9xf32>
        %b = stackvm.evaluate "dup *"(%a) : (tensor<9xf32>) -> tensor<9xf32>
        return %b : tensor<9xf32> }"""
    result = passline_opt("-p", "fold-constant", stdin=module)
    assert "relax.full 9.000000e+00 : tensor<9xf32>" in result.stdout


def test_their_op_runs() -> None:
    result = capture(lambda: PasslineRunMain(args=[str(EVALUATE)]).run())
    assert result.status == 0 and "float32 2x3" in result.stdout


def test_their_op_becomes_a_kernel() -> None:
    result = passline_opt(str(EVALUATE), "-p", "optimize,lower-to-tir")
    assert "tir.prim_func" in result.stdout and "stackvm" not in result.stdout
    pipeline = ["-p", "optimize,lower-to-tir"]
    runs = [capture(PasslineRunMain(args=[str(EVALUATE), *p]).run) for p in ([], pipeline)]
    assert [run.status for run in runs] == [0, 0]
    assert runs[0].stdout.splitlines()[1:] == runs[1].stdout.splitlines()[1:]


@table_test(
    ("program", "message"),
    [
        ("+ +", "'+' takes 2 numbers, the stack has 1"),
        ("", "the program leaves 2 numbers, not one"),
        ("add", "unknown word 'add'; choose from + - * dup swap"),
    ],
)
def test_their_verifier_is_heard(program: str, message: str) -> None:
    line = f'stackvm.evaluate "{program}"(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>'
    result = passline_opt(stdin=f"func.func @f(%x: tensor<f32>) {{ %y = {line} return }}")
    assert result.status == 1 and message in result.stderr and "<stdin>:1:38" in result.stderr
