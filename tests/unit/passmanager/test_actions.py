"""Actions: what algorithms ask and report, in a pass, in a test and outside of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import pytest
from support.passes.toy import collect, named
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Region

from passline.passmanager import (
    SILENT,
    Actions,
    CollectingActions,
    DiagnosticError,
    PassContext,
    PassInfo,
    PassInstrument,
    Remark,
    RemarkKind,
    Severity,
)
from passline.passmanager.actions import PassActions, RemarkFilter
from passline.passmanager.instruments import StatisticsInstrument
from passline.passmanager.run import PassFrame

ALL = frozenset(RemarkKind)


def report_everything(actions: Actions, op: TestOp) -> None:
    """Report one action of each kind, and two counters."""
    actions.passed(op, "Folded", "replaced by its value", Bytes=4)
    actions.missed(op, "TooLarge", "too large", Limit=64)
    actions.failed(op, "NoValue", "its value cannot be computed")
    actions.analysis(op, "Constant", "all operands are constants")
    actions.count("folded")
    actions.count("bytes", 4)


class Decider(PassInstrument):
    """Allow only the steps whose tag is in `tags`; note the tags that are asked about."""

    def __init__(self, *tags: str) -> None:
        self.tags = tags
        self.asked: list[str] = []

    def should_execute(self, tag: str) -> bool:
        self.asked.append(tag)
        return tag in self.tags


def pass_actions(
    kinds: Collection[RemarkKind] = (), *deciders: PassInstrument
) -> tuple[PassActions, PassFrame, Counter[str]]:
    frame, counters = PassFrame(PassInfo("toy-fold")), Counter[str]()
    wanted = RemarkFilter({kind.name.lower(): "fold" for kind in kinds})
    return PassActions(frame, counters, wanted, deciders), frame, counters


def test_the_frame_has_the_op_of_the_step_that_is_asked_about() -> None:
    one, other = TestOp(), TestOp()
    actions, frame, _ = pass_actions((), Decider("toy-fold"))
    actions.allowed(one)
    assert frame.step is one
    actions.allowed(other, "another-tag")  # also if it is not allowed
    assert frame.step is other
    actions.allowed()
    assert frame.step is None


def remarks_of(frame: PassFrame) -> list[Remark]:
    return [remark for remark in frame.diagnostics if isinstance(remark, Remark)]


# Outside of a pass


def test_silent_allows_everything_and_records_nothing() -> None:
    assert SILENT.allowed() and SILENT.allowed(TestOp(), "some-tag")
    assert not SILENT.decides and not SILENT.wants_remarks
    report_everything(SILENT, TestOp())


def test_silent_raises_an_error_at_once() -> None:
    with pytest.raises(DiagnosticError, match="'test.op' op is not supported") as info:
        SILENT.error(TestOp(), "is not supported")
    (diagnostic,) = info.value.diagnostics
    assert diagnostic.severity is Severity.ERROR


def test_a_recorder_keeps_what_is_reported() -> None:
    recorder = CollectingActions()
    assert recorder.allowed(TestOp()) and recorder.wants_remarks
    report_everything(recorder, op := TestOp())
    assert recorder.counts == {"folded": 1, "bytes": 4}
    assert recorder.remarks == [
        (RemarkKind.PASSED, "Folded"),
        (RemarkKind.MISSED, "TooLarge"),
        (RemarkKind.FAILED, "NoValue"),
        (RemarkKind.ANALYSIS, "Constant"),
    ]
    assert recorder.errors == []
    diagnostic = recorder.error(op, "is not supported").note(None, "see there")
    assert recorder.errors == [diagnostic]


# Deciders


def test_without_deciders_every_step_is_allowed() -> None:
    actions, _, _ = pass_actions()
    assert not actions.decides and actions.allowed(TestOp()) and actions.allowed(tag="other")


def test_a_step_has_the_name_of_the_pass_unless_it_has_a_tag() -> None:
    decider = Decider("toy-fold")
    actions, _, _ = pass_actions((), decider)
    assert actions.decides
    assert actions.allowed(TestOp()) and not actions.allowed(TestOp(), "rewrite")
    assert decider.asked == ["toy-fold", "rewrite"]


def test_one_decider_is_enough_to_refuse_and_all_are_asked() -> None:
    first, second = Decider(), Decider("toy-fold")
    actions, _, _ = pass_actions((), first, second)
    assert not actions.allowed()
    assert first.asked == second.asked == ["toy-fold"]


# Reports of a pass


@table_test("kinds", [(), *([kind] for kind in RemarkKind), ALL])
def test_only_remarks_of_the_wanted_kinds_are_made(kinds: Collection[RemarkKind]) -> None:
    actions, frame, counters = pass_actions(kinds)
    report_everything(actions, TestOp())
    assert actions.wants_remarks == bool(kinds)
    assert [r.kind for r in remarks_of(frame)] == [kind for kind in RemarkKind if kind in kinds]
    assert counters == {"folded": 1, "bytes": 4}


def test_a_remark_has_the_pass_and_the_arguments() -> None:
    actions, frame, _ = pass_actions(ALL)
    actions.missed(TestOp(), "TooLarge", "too large", Limit=64)
    (remark,) = remarks_of(frame)
    assert (remark.pass_name, remark.name) == ("toy-fold", "TooLarge")
    assert remark.arguments == {"Remark": "too large", "Op": "test.op", "Limit": 64}


def test_the_scope_of_an_erased_op_gives_its_function() -> None:
    actions, frame, _ = pass_actions(ALL)
    function = FuncOp("f", ((), ()), Region(Block([op := TestOp(), ReturnOp()])))
    op.detach()
    actions.passed(op, "Folded", "replaced by its value")
    actions.passed(op, "Folded", "replaced by its value", scope=function)
    assert [remark.function for remark in remarks_of(frame)] == ["", "f"]
    assert "scope" not in remarks_of(frame)[1].arguments


def test_an_error_is_a_diagnostic_of_the_pass() -> None:
    shown: list[str] = []

    def body(module: ModuleOp, ctx: PassContext) -> None:
        ctx.actions.error(module, "is not supported")
        ctx.actions.error(module, "is not supported either")

    with PassContext(renderer=collect(shown)), pytest.raises(DiagnosticError) as info:
        named("toy-fold", body=body)(ModuleOp([]))
    assert len(info.value.diagnostics) == len(shown) == 2


# The actions of a context


def test_the_actions_of_a_context_are_those_of_the_pass_that_is_running() -> None:
    shown: list[str] = []
    decider, statistics = Decider("toy-fold"), StatisticsInstrument()

    def body(module: ModuleOp, ctx: PassContext) -> None:
        actions = ctx.actions
        assert actions.allowed(module) and not actions.allowed(module, "rewrite")
        actions.passed(module, "Folded", "replaced by its value")
        actions.missed(module, "TooLarge", "too large")
        actions.count("folded")
        actions.count("folded")

    with PassContext(
        instruments=[decider, statistics],
        renderer=collect(shown),
        remark_filter={"missed": "fold"},
    ):
        named("toy-fold", body=body)(ModuleOp([]))
    assert decider.asked == ["toy-fold", "rewrite"]
    assert statistics.passes["toy-fold"].counters == {"folded": 2}
    assert len(shown) == 1 and "[Missed] TooLarge" in shown[0]


def test_there_are_no_actions_outside_of_a_pass() -> None:
    with pytest.raises(RuntimeError, match="no pass is running"):
        _ = PassContext().actions
