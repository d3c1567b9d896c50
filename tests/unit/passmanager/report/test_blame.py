"""Blame: the origin of each op of a result, and the reason why others are gone."""

from __future__ import annotations

import pytest
from support.recorded import recording_of
from support.toy import Append, Fail, Nothing, Tag, module, named
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from passline.passmanager import PassContext, PatternPass
from passline.passmanager.report.blame import blame_text, erased_text


class Renew(RewritePattern):
    """Replace a `test.op` in a function by one with an attribute."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TestOp, rewriter: PatternRewriter) -> None:
        if not op.attributes:
            rewriter.replace(op, TestOp(attributes={"new": op.location}))


class RenewAll(PatternPass):
    name = "renew"

    def patterns(self) -> list[RewritePattern]:
        return [Renew()]


def with_op() -> ModuleOp:
    """Return a module with one function, with an op that Renew matches."""
    ir = module("f")
    func = ir.body.block.first_op
    assert isinstance(func, FuncOp)
    func.body.block.insert_op_before(TestOp(), func.body.block.ops.first)  # pyright: ignore
    return ir


def origins(*passes: ModulePass, ir: ModuleOp | None = None) -> list[str]:
    """Return the lines of blame without sources."""
    lines = blame_text(recording_of(*passes, ir=ir)).splitlines()
    assert lines[0] == "// -----// IR Blame //----- //" and lines[-1] == ""
    return [
        f"{line.split()[0]}: {line.partition('| ')[2]}" for line in lines[1:-1] if line[0] != " "
    ]


def erase_last(ir: ModuleOp, ctx: PassContext) -> None:
    assert (last := ir.body.block.last_op) is not None
    last.detach()


def test_op_is_from_the_input_or_from_a_pass() -> None:
    assert origins(Append(), Nothing(), Append("y"), ir=module("f")) == [
        "input: func.func @f() {",
        "input:   func.return",
        'toy-append: "test.op"() {tag = "x"} : () -> ()',
        'toy-append: "test.op"() {tag = "y"} : () -> ()',
    ]


def test_op_that_is_changed_in_place_is_still_from_the_input() -> None:
    assert origins(Tag(), ir=module("f"))[0] == 'input: func.func @f() attributes {seen = "yes"} {'


def test_pattern_is_named() -> None:
    lines = blame_text(recording_of(RenewAll(), ir=with_op())).splitlines()
    (made,) = [line for line in lines if "test.op" in line]
    assert made.startswith("renew Renew  ")


def test_pattern_that_erased_is_named() -> None:
    erased = erased_text(recording_of(Nothing(), RenewAll(), ir=with_op()), "test.op")
    assert erased.endswith('erased by renew Renew (2 of 2): "test.op"() : () -> ()\n')
    assert erased.count("\n") == 1


def test_source_is_shown_and_searched() -> None:
    recording = recording_of(named("erases", body=erase_last), ir=module("f"))
    assert "toy.mlir" not in erased_text(recording, "@g")
    whole = erased_text(recording, "func.")
    assert erased_text(recording, "@f") == whole.splitlines(keepends=True)[0]
    assert "erased by erases (1 of 1): func.func @f() {" in whole


def test_nothing_matches() -> None:
    assert (
        erased_text(recording_of(Append()), "nowhere") == "no erased operation contains 'nowhere'\n"
    )


def test_equal_ops_are_told_apart() -> None:
    recording = recording_of(Append(), named("erases", body=erase_last), Append("x"))
    (line,) = [line for line in blame_text(recording).splitlines() if "test.op" in line]
    assert line.startswith("toy-append")
    assert erased_text(recording, "test.op").startswith("erased by erases (2 of 3)")


@pytest.mark.parametrize("passes", [[Append(), Fail()], [Fail()]])
def test_blame_after_a_failure(passes: list[ModulePass]) -> None:
    assert [line.split(":")[0] for line in origins(*passes, ir=module("f"))] == [
        *("input", "input", *["toy-append"] * (len(passes) - 1)),
    ]
