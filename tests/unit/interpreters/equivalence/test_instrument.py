"""SemanticsInstrument: the pass that changes a result, what is not checked, and how often functions
run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from support.passes.equivalence import parsed
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from passline.instruments import SemanticsInstrument
from passline.interpreters.equivalence import SemanticsError
from passline.passmanager import (
    Fixpoint,
    ModulePass,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
    module_pass,
)
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline

ADD = """
func.func @f(%a: i32, %b: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %s = arith.addi %a, %b : i32
  %r = arith.addi %s, %c1 : i32
  return %r : i32
}
func.func @g(%a: i32) -> i32 {
  %r = func.call @helper(%a) : (i32) -> i32
  return %r : i32
}
func.func private @helper(%a: i32) -> i32 {
  return %a : i32
}
func.func @opaque(%a: i32) -> i32 {
  %r = "x.y"(%a) : (i32) -> i32
  return %r : i32
}
"""


def edit(name: str, change: Callable[[ModuleOp], None], rounds: bool = False) -> ModulePass:
    """Return a pass that edits the module."""

    class Edit(ModulePass):
        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            change(module)

    Edit.name, Edit.rounds = name, rounds
    return Edit()


def increment(module: ModuleOp) -> None:
    """Add 1 to each constant, which changes the result of @f."""
    for op in [op for op in walk(module) if isinstance(op, arith.ConstantOp)]:
        assert isinstance(op.value, IntegerAttr)
        Rewriter.replace_op(op, arith.ConstantOp(IntegerAttr(op.value.value.data + 1, 32)))


def swap(module: ModuleOp) -> None:
    """Swap the operands of all additions, which changes no result."""
    for op in walk(module):
        if isinstance(op, arith.AddiOp):
            op.operands = (op.rhs, op.lhs)


def nothing(module: ModuleOp) -> None:
    """Leave the module alone."""


def run(*passes: ModulePass, instrument: SemanticsInstrument, text: str = ADD) -> None:
    with PassContext(instruments=[instrument]):
        Sequential(passes)(parsed(text))


def instrument(tmp_path: Path, **options: int) -> SemanticsInstrument:
    return SemanticsInstrument(**options, directory=str(tmp_path))


def test_it_stops_at_the_first_pass_that_changes_a_result(tmp_path: Path):
    after: list[str] = []
    last = edit("last", lambda _: after.append("last"))
    with pytest.raises(SemanticsError) as caught:
        passes = (edit("swap", swap), edit("increment", increment), last)
        run(*passes, instrument=instrument(tmp_path))
    error = caught.value
    assert (error.pass_text, error.difference.function, after) == ("increment", "f", [])
    assert str(error).startswith(
        "pass 'increment' changes what @f computes: the value is 9, before 8\n"
        "input (seed 0: ordinary floats, integers below 10, unknown sizes 3):\n"
    )
    assert "the first operation whose value differs is 'arith.constant'" in str(error)
    assert "in pass 'sequential(swap,increment,last)'" in str(error.__notes__)


def test_the_input_is_saved_by_name(tmp_path: Path):
    with pytest.raises(SemanticsError) as caught:
        run(edit("increment", increment), instrument=instrument(tmp_path))
    error = caught.value
    assert error.file is not None
    assert [str(path) for path in tmp_path.iterdir()] == [error.file]
    with np.load(error.file) as saved:
        assert saved.files == ["a", "b"]
        for name, value in zip(saved.files, error.difference.inputs, strict=True):
            np.testing.assert_array_equal(saved[name], np.asarray(value))


def test_functions_that_are_not_checked_are_named_once(tmp_path: Path):
    checked = instrument(tmp_path)
    for _ in range(2):
        run(edit("swap", swap), edit("swap", swap), instrument=checked)
    assert checked.report() == "not checked: @opaque: no semantics for 'x.y'\n"


def test_functions_that_did_not_change_are_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ran = functions_run(monkeypatch)
    run(edit("nothing", nothing), edit("swap", swap), instrument=instrument(tmp_path))
    start, end = ran.index("f"), len(ran) - 1 - ran[::-1].index("opaque")
    assert set(ran[start : end + 1]) == {"f", "g", "opaque"}
    assert set(ran[end + 1 :]) == {"f"}  # after swap; nothing ran after the pass that did nothing
    assert len(ran[end + 1 :]) == ran[: end + 1].count("f")


def functions_run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each function that is evaluated."""
    from passline.interpreters.equivalence import evaluation

    ran: list[str] = []
    interpret = evaluation.interpret

    def counted(module: ModuleOp, func: FuncOp, *rest: object) -> object:
        ran.append(func.sym_name.data)
        return interpret(module, func, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(evaluation, "interpret", counted)
    return ran


def test_a_function_runs_again_when_one_that_it_calls_changes(tmp_path: Path):
    def negate(module: ModuleOp) -> None:
        (helper,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_visibility)
        end = helper.body.block.last_op
        assert end is not None
        zero = arith.ConstantOp(IntegerAttr(0, 32))
        negative = arith.SubiOp(zero, end.operands[0])
        helper.body.block.insert_ops_before([zero, negative], end)
        end.operands = (negative.result,)

    with pytest.raises(SemanticsError, match="pass 'negate' changes what @g computes"):
        run(edit("negate", negate), instrument=instrument(tmp_path))


FLOATS = """
func.func @f(%a: f32, %b: f32) -> f32 {
  %s = arith.addf %a, %b : f32
  %r = arith.addf %s, %a : f32
  return %r : f32
}
"""


def reassociate(module: ModuleOp) -> None:
    """Turn (a + b) + a into (a + a) + b."""
    first, second = (op for op in walk(module) if isinstance(op, arith.AddfOp))
    a, b = first.operands
    first.operands, second.operands = (a, a), (first.result, b)


def test_only_a_pass_that_rounds_may_round(tmp_path: Path):
    for rounds in (True, False):
        passes = (edit("reassociate", reassociate, rounds), edit("nothing", nothing))
        checked = instrument(tmp_path, seeds=3)
        if rounds:
            run(*passes, instrument=checked, text=FLOATS)
            assert checked.checks == 2
        else:
            with pytest.raises(SemanticsError, match="pass 'reassociate' changes what @f computes"):
                run(*passes, instrument=checked, text=FLOATS)


def test_passes_in_composites_are_checked_one_by_one(tmp_path: Path):
    checked = instrument(tmp_path)
    inner = Sequential([edit("swap", swap), edit("increment", increment)], name="inner")
    with pytest.raises(SemanticsError) as caught:
        run(Sequential([Fixpoint(inner)], name="outer"), instrument=checked)  # pyright: ignore[reportArgumentType]
    assert (caught.value.pass_text, checked.checks) == ("increment", 1)


def test_a_pass_that_calls_passes_is_checked_when_it_is_done(tmp_path: Path):
    def decrement(module: ModuleOp) -> None:
        for op in [op for op in walk(module) if isinstance(op, arith.ConstantOp)]:
            assert isinstance(op.value, IntegerAttr)
            Rewriter.replace_op(op, arith.ConstantOp(IntegerAttr(op.value.value.data - 1, 32)))

    @module_pass(name="outer")
    def outer(module: ModuleOp, ctx: PassContext) -> None:
        from xdsl.context import Context

        edit("increment", increment).apply(Context(), module)
        edit("decrement", decrement).apply(Context(), module)

    checked = instrument(tmp_path)
    run(outer, instrument=checked)  # pyright: ignore[reportArgumentType]
    assert checked.checks == 1


def test_a_pass_that_fails_is_not_checked(tmp_path: Path):
    def fail(module: ModuleOp) -> None:
        increment(module)
        raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        run(edit("fail", fail), instrument=instrument(tmp_path))


def test_private_functions_may_change(tmp_path: Path):
    def rename(module: ModuleOp) -> None:
        for op in module.ops:
            if isinstance(op, FuncOp) and op.sym_name.data == "f":
                op.sym_visibility = StringAttr("private")

    checked = instrument(tmp_path)
    run(edit("hide", rename), edit("increment", increment), instrument=checked)
    assert checked.unchecked["f"] == "since pass 'hide': it is removed, or private now"


def test_runs_in_threads_are_apart(tmp_path: Path):
    checked = instrument(tmp_path)

    def work(wrong: bool) -> str | None:
        try:
            run(edit("edit", increment if wrong else swap), instrument=checked)
        except SemanticsError as error:
            return error.difference.function
        return None

    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(work, [True, False] * 4)]
    assert found == ["f", None] * 4


def test_two_instruments_and_others_work_together(tmp_path: Path):
    class Count(PassInstrument):
        seen = 0

        def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
            self.seen += 1

    one, two, count = instrument(tmp_path), instrument(tmp_path), Count()
    with PassContext(instruments=[one, count, two]):
        Sequential([edit("swap", swap)])(parsed(ADD))
    assert (one.checks, two.checks, count.seen) == (1, 1, 2)


def test_the_whole_way_down_is_compared(tmp_path: Path):
    text = """
    func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
      %0 = relax.matmul %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      %1 = relax.nn.softmax %0 {axis = 1} : (tensor<2x4xf32>) -> tensor<2x4xf32>
      return %1 : tensor<2x4xf32>
    }"""
    checked = instrument(tmp_path)
    with PassContext(opt_level=3, instruments=[checked]):
        parse_pipeline("optimize,lower-to-tir,lower-to-mlir")(parsed(text))
    assert checked.unchecked == {}
    assert checked.checks > 10


def test_the_inputs_of_tests_are_not_left_behind(tmp_path_factory: pytest.TempPathFactory):
    """By default they are saved where Python keeps temporary files, which is pytest's folder."""
    assert Path(tempfile.gettempdir()).is_relative_to(tmp_path_factory.getbasetemp())
