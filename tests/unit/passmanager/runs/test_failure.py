"""Exceptions of passes: the notes with the pass, its position, the function and the line."""

from __future__ import annotations

import pytest
from support.passes.toy import Append, Fail, Nothing, module, named
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.utils.exceptions import VerifyException

from passline.passmanager import Fixpoint, FunctionPass, PassContext, Sequential


def notes(run: Sequential | FunctionPass | Fixpoint, m: ModuleOp) -> list[str]:
    """Return the notes on the ValueError that a pass raises."""
    with pytest.raises(ValueError) as caught:
        run(m)
    return caught.value.__notes__


def located_module() -> ModuleOp:
    m = module("f", "g")
    for line, func in enumerate(m.ops, 7):
        func.location = FileLineColLoc(StringAttr("x.mlir"), IntAttr(line), IntAttr(3))
    return m


class FailOnG(FunctionPass):
    """A pass that raises at the function @g."""

    name = "fail-on-g"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        if func.sym_name.data == "g":
            raise ValueError


def test_note_has_the_pass_its_options_and_its_position() -> None:
    pipeline = Sequential([Nothing(), Fail("why"), Append()])
    assert notes(pipeline, module())[0] == "in pass 'toy-fail{message=\"why\"}' (2 of 3)"


def test_note_has_the_function_and_its_place() -> None:
    assert notes(FailOnG(), located_module()) == [
        "in pass 'fail-on-g' on function @g at x.mlir:8:3"
    ]


def test_one_note_a_level_innermost_first() -> None:
    inner = Sequential([Fail()], name="inner")
    assert notes(Sequential([Fixpoint(inner)]), module()) == [
        "in pass 'toy-fail' (1 of 1)",
        "in pass 'sequential{name=\"inner\"}(toy-fail)' (iteration 1)",
        "in pass 'fixpoint(sequential{name=\"inner\"}(toy-fail))' (1 of 1)",
        "in pass 'sequential(fixpoint(sequential{name=\"inner\"}(toy-fail)))'",
    ]


def test_note_says_who_required_the_pass() -> None:
    pipeline = Sequential([named("needs", requires=["toy-fail"]), Fail()])
    assert notes(pipeline, module())[0] == "in pass 'toy-fail' (required by needs)"


def test_exception_keeps_its_type_and_traceback() -> None:
    with pytest.raises(ValueError, match="^boom") as caught:
        Sequential([Fail()])(module())
    assert str(caught.value) == "boom"
    assert caught.traceback[-1].name == "transform_module"


def test_note_with_the_whole_module_that_xdsl_adds_is_taken_off() -> None:
    def emit(m: ModuleOp, ctx: PassContext) -> None:
        m.emit_error("here", VerifyException("broken"))

    with pytest.raises(VerifyException) as caught:
        named("emits", body=emit)(module("f"))
    assert caught.value.__notes__ == ["in pass 'emits'"]


def test_invalid_op_is_named_with_its_own_place() -> None:
    def insert(m: ModuleOp, ctx: PassContext) -> None:
        func = list(m.ops)[1]
        assert isinstance(func, FuncOp)
        end = next(iter(func.body.block.ops))
        place = FileLineColLoc(StringAttr("x.mlir"), IntAttr(99), IntAttr(1))
        func.body.block.insert_op_after(op := TestOp(), end)
        op.location = place

    with pytest.raises(VerifyException) as caught:
        Sequential([named("inserts", body=insert)])(located_module())
    innermost, outer = caught.value.__notes__
    assert innermost.startswith("in pass 'inserts' (1 of 1) on function @g at x.mlir:")
    assert outer == "in pass 'sequential(inserts)'"


def test_keyboard_interrupt_is_noted_too() -> None:
    def interrupt(m: ModuleOp, ctx: PassContext) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        named("slow", body=interrupt)(module())
    assert caught.value.__notes__ == ["in pass 'slow'"]
