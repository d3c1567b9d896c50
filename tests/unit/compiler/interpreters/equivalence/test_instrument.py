"""SemanticsInstrument: the pass that changes a result, what is not checked, and how often functions
run."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.parsing import parsed
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter

from passline.compiler.interpreters.equivalence import (
    NotCheckedError,
    SemanticsError,
    find_difference,
)
from passline.instruments import SemanticsInstrument
from passline.passes import AdjustMatmulOrder
from passline.passmanager import (
    Fixpoint,
    ModulePass,
    Pass,
    PassContext,
    PassInfo,
    PassInstrument,
    Rounding,
    Sequential,
    module_pass,
)
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.runner import replace_contents

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


def edit(
    name: str,
    change: Callable[[ModuleOp], None],
    rounds: bool | Rounding = False,
    changes_interface: bool = False,
) -> ModulePass:
    """Return a pass that edits the module."""

    class Edit(ModulePass):
        def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
            change(module)

    Edit.name, Edit.rounds, Edit.changes_interface = name, rounds, changes_interface
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


def run(*passes: Pass, instrument: SemanticsInstrument, text: str = ADD) -> None:
    with PassContext(instruments=[instrument]):
        Sequential(passes)(parsed(text))


def instrument(tmp_path: Path, seeds: int = 1) -> SemanticsInstrument:
    return SemanticsInstrument(seeds, directory=str(tmp_path))


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
    from passline.compiler.interpreters.equivalence import evaluation

    ran: list[str] = []
    interpret = evaluation.interpret

    def counted(module: ModuleOp, func: FuncOp, *rest: Any, **options: Any) -> object:
        ran.append(func.sym_name.data)
        return interpret(module, func, *rest, **options)

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


def hide(module: ModuleOp) -> None:
    """Make @f private."""
    function(module, "f").sym_visibility = StringAttr("private")


def rename(module: ModuleOp) -> None:
    """Give @f another name."""
    function(module, "f").sym_name = StringAttr("h")


def extend(module: ModuleOp) -> None:
    """Give @opaque, which cannot be evaluated, another parameter."""
    func = function(module, "opaque")
    func.body.block.insert_arg(i32, 1)
    func.update_function_type()


def function(module: ModuleOp, name: str) -> FuncOp:
    found = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    return next(found)


def test_private_functions_may_change(tmp_path: Path):
    checked = instrument(tmp_path)
    passes = edit("hide", hide, changes_interface=True), edit("increment", increment)
    run(*passes, instrument=checked)
    assert checked.unchecked["f"] == "since pass 'hide': it is removed, or private now"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (hide, "@f: it is removed, renamed, or private now"),
        (rename, "@f: it is removed, renamed, or private now"),
        (extend, "@opaque: it has 2 parameters, before 1"),
    ],
)
def test_another_interface_is_a_difference(
    change: Callable[[ModuleOp], None], reason: str, tmp_path: Path
):
    with pytest.raises(SemanticsError, match=f"pass 'edit' changes {reason}"):
        run(edit("edit", change), instrument=instrument(tmp_path))
    run(edit("edit", change, changes_interface=True), instrument=instrument(tmp_path))
    assert [*tmp_path.iterdir()] == []


def test_other_parameters_are_a_difference(tmp_path: Path):
    text = "func.func @f(%x: tensor<?xi32>) -> i1 { %0 = arith.constant true return %0 : i1 }"

    def narrow(module: ModuleOp) -> None:
        replace_contents(module, parsed(text.replace("?", "3")))

    with pytest.raises(SemanticsError, match="changes @f: its parameters change: parameter 'x'"):
        run(edit("narrow", narrow), instrument=instrument(tmp_path), text=text)


def test_the_first_function_that_is_not_checked_is_an_error_if_strict(tmp_path: Path):
    strict = SemanticsInstrument(directory=str(tmp_path), strict=True)
    with pytest.raises(NotCheckedError, match="not checked: @opaque: no semantics for 'x.y'"):
        run(edit("swap", swap), instrument=strict)


def test_inputs_that_are_left_out_are_counted(tmp_path: Path):
    text = """
    func.func @f(%a: i8, %b: i8) -> i8 {
      %r = arith.addi %a, %b overflow<nsw> : i8
      return %r : i8
    }"""
    checked = instrument(tmp_path)
    run(edit("swap", swap), instrument=checked, text=text)
    (line, end) = checked.report().split("\n")
    assert re.match(r"left out: @f: \d+ of \d+ inputs; seed 0: .*'arith.addi' .* overflows", line)
    assert end == ""
    assert checked.summary() == (
        "checked the results of 1 passes; functions: 0 checked, 1 but for inputs that were left "
        "out, 0 not checked\n"
    )


NSW = arith.IntegerOverflowFlag.NSW


COMPARES = """
func.func @f(%x: {type}) -> i1 {{
  %c = arith.constant {number} : {type}
  %r = {compare} %x, %c : {type}
  return %r : i1
}}
"""


@pytest.mark.parametrize(
    ("type", "number", "compare", "wrong"),
    [
        ("i32", "123456789", "arith.cmpi eq,", "arith.cmpi ne,"),
        ("i64", "-123456789012", "arith.cmpi slt,", "arith.cmpi sle,"),
        ("index", "123456", "arith.cmpi ule,", "arith.cmpi ult,"),
        ("f32", "1234.5", "arith.cmpf oeq,", "arith.cmpf one,"),
        ("bf16", "640.0", "arith.cmpf olt,", "arith.cmpf ole,"),
    ],
)
def test_constants_of_functions_are_inputs(type: str, number: str, compare: str, wrong: str):
    before = parsed(COMPARES.format(type=type, number=number, compare=compare))
    after = parsed(COMPARES.format(type=type, number=number, compare=wrong))
    assert find_difference(before, after) is not None


def test_constants_of_tensors_are_inputs():
    """Those of few elements; indices and others have no numbers that arguments may be."""
    text = """
    func.func @f(%x: tensor<2xi32>) -> (tensor<2xi1>, vector<2xindex>) {
      %i = arith.constant dense<[70, 80]> : vector<2xindex>
      %c = relax.constant dense<[1234567, 7654321]> : tensor<2xi32>
      %r = relax.less_equal %x, %c : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
      return %r, %i : tensor<2xi1>, vector<2xindex>
    }"""
    assert find_difference(parsed(text), parsed(text.replace("less_equal", "less"))) is not None


def test_constants_that_a_pass_brings_in_are_inputs():
    text = "func.func @f(%x: i32) -> i1 { %r = arith.constant false return %r : i1 }"
    compares = COMPARES.format(type="i32", number="123456789", compare="arith.cmpi eq,")
    assert find_difference(parsed(text), parsed(compares)) is not None


def test_a_pass_that_gives_another_result_when_it_runs_again_is_an_error(tmp_path: Path):
    turns: list[None] = []

    def every_other(module: ModuleOp) -> None:
        turns.append(None)
        if len(turns) % 2 == 0:
            increment(module)

    with pytest.raises(SemanticsError, match="pass 'odd' changes @f: two runs of the pass"):
        run(edit("odd", every_other), instrument=instrument(tmp_path))


@pytest.mark.parametrize(
    ("text", "property", "flags", "rounds"),
    [
        (ADD, "overflowFlags", arith.IntegerOverflowAttr([NSW]), False),
        (FLOATS, "fastmath", arith.FastMathFlagsAttr([FastMathFlag.REASSOC]), False),
        (FLOATS, "fastmath", arith.FastMathFlagsAttr([FastMathFlag.NO_NANS]), True),
        (FLOATS, "fastmath", arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT]), None),
    ],
)
@pytest.mark.parametrize("replaces", [True, False])
def test_a_flag_that_is_added_is_a_difference(
    text: str, property: str, flags: Attribute, rounds: bool | None, replaces: bool, tmp_path: Path
):
    """Also on a new operation with the location of the old one; None stands for a right pass."""

    def add(module: ModuleOp) -> None:
        op = next(op for op in walk(module) if isinstance(op, arith.AddiOp | arith.AddfOp))
        if replaces:
            Rewriter.replace_op(op, new := op.clone())
            new.location, op = op.location, new
        op.properties[property] = flags

    checked = instrument(tmp_path)
    if rounds is None:
        run(edit("add", add, rounds=True), instrument=checked, text=text)
    else:
        with pytest.raises(SemanticsError, match=r"changes @f: 'arith.add.' at .* has the flag"):
            run(edit("add", add, rounds), instrument=checked, text=text)


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


def test_a_pass_may_change_special_values_as_its_rounding_says(tmp_path: Path):
    text = """
    func.func @main(%x: tensor<2x3xf32>, %a: tensor<3x1xf32>, %b: tensor<1x3xf32>)
        -> tensor<2x3xf32> {
      %0 = relax.matmul %a, %b : (tensor<3x1xf32>, tensor<1x3xf32>) -> tensor<3x3xf32>
      %1 = relax.matmul %x, %0 : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      return %1 : tensor<2x3xf32>
    }"""
    reorder = AdjustMatmulOrder()
    run(reorder, instrument=instrument(tmp_path, seeds=4), text=text)

    def change(module: ModuleOp) -> None:
        replace_contents(module, reorder(module))

    for rounds in (True, Rounding(changes=())):
        with pytest.raises(SemanticsError, match="is -?(inf|nan), before -?(inf|nan)"):
            checked = instrument(tmp_path, seeds=4)
            run(edit("reorder", change, rounds), instrument=checked, text=text)


@pytest.mark.parametrize(("flag", "is_free"), [("reassoc", True), ("contract", False)])
def test_flags_that_leave_results_open(flag: str, is_free: bool, tmp_path: Path):
    """`(x + c) - c` with `reassoc` may be `x`, as the author of the flag says."""
    text = f"""
    func.func @f(%x: f32) -> f32 {{
      %c = arith.constant 1.0e7 : f32
      %0 = arith.addf %x, %c fastmath<{flag}> : f32
      %1 = arith.subf %0, %c fastmath<{flag}> : f32
      return %1 : f32
    }}"""

    def cancel(module: ModuleOp) -> None:
        end = function(module, "f").body.block.last_op
        assert end is not None
        end.operands = [function(module, "f").body.block.args[0]]

    if is_free:
        run(edit("cancel", cancel), instrument=instrument(tmp_path), text=text)
    else:
        with pytest.raises(SemanticsError, match="pass 'cancel' changes what @f computes"):
            run(edit("cancel", cancel), instrument=instrument(tmp_path), text=text)
