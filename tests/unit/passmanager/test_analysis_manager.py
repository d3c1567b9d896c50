"""Analyses: computed once in a run, kept while valid, dropped with those they depend on."""

from __future__ import annotations

import pytest
from support.passes.toy import Append, Fail, Nothing, Recorder, Tag, module, named
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from passline.passmanager import (
    AnalysisManager,
    FunctionPass,
    Pass,
    PassContext,
    PassDependencyError,
    Sequential,
)


class Size:
    """An analysis: the number of ops."""

    computed = 0

    def __init__(self, op: Operation) -> None:
        type(self).computed += 1
        self.size = sum(1 for _ in op.walk())


class Double:
    """An analysis that uses another: twice the size."""

    computed = 0

    def __init__(self, op: Operation, analyses: AnalysisManager) -> None:
        type(self).computed += 1
        self.size = 2 * analyses.get(Size, op).size


@pytest.fixture(autouse=True)
def counts() -> None:
    Size.computed = Double.computed = 0


def asks(analysis: type[Size | Double] = Size) -> Pass:
    """Return a pass that asks for an analysis of the module and changes nothing."""

    def body(m: ModuleOp, ctx: PassContext) -> None:
        sizes.append(ctx.analyses.get(analysis, m).size)

    return named("asks", body=body)


sizes: list[int] = []


def run(*passes: Pass, verify_each: bool = True) -> list[int]:
    """The sizes that the passes got."""
    sizes.clear()
    with PassContext(verify_each=verify_each):
        Sequential(passes)(module("f"))
    return list(sizes)


def test_computed_once_in_a_run() -> None:
    assert run(asks(), Nothing(), asks()) == [3, 3]
    assert Size.computed == 1


def test_not_kept_over_the_end_of_the_run() -> None:
    run(asks())
    run(asks())
    assert Size.computed == 2


@pytest.mark.parametrize("verify_each", [True, False])
def test_computed_again_after_a_change(verify_each: bool) -> None:
    assert run(asks(), Append(), asks(), verify_each=verify_each) == [3, 4]
    assert Size.computed == 2


def test_kept_by_a_pass_that_preserves_it() -> None:
    assert run(asks(), named("keeps", keeps=[Size]), asks()) == [3, 3]
    assert Size.computed == 1


def test_kept_by_a_pass_that_changed_nothing_whatever_it_preserves() -> None:
    run(asks(), named("lazy", changes=False), asks())
    assert Size.computed == 1


def test_change_inside_a_function_drops_the_analysis_of_the_module() -> None:
    run(asks(), Tag(), asks())
    assert Size.computed == 2


def test_analysis_may_use_another() -> None:
    assert run(asks(Double), asks()) == [6, 3]
    assert (Double.computed, Size.computed) == (1, 1)


def test_analysis_goes_with_the_one_it_was_made_from() -> None:
    assert run(asks(Double), named("keeps", keeps=[Double]), asks(Double)) == [6, 8]
    assert Double.computed == 2


def test_both_are_kept_by_a_pass_that_preserves_both() -> None:
    assert run(asks(Double), named("keeps", keeps=[Size, Double]), asks(Double)) == [6, 6]
    assert (Double.computed, Size.computed) == (1, 1)


def test_analysis_of_a_function_that_did_not_change_is_kept() -> None:
    class SizeOfEach(FunctionPass):
        name = "size-of-each"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            ctx.analyses.get(Size, func)

    class ChangeG(FunctionPass):
        name = "change-g"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            if func.sym_name.data == "g":
                func.attributes["changed"] = StringAttr("")

    Sequential([SizeOfEach(), ChangeG(), SizeOfEach()])(module("f", "g", "h"))
    assert Size.computed == 4


@table_test("verify_each", [True, False])
def test_change_after_asking_in_one_pass_counts_as_that_pass(verify_each: bool) -> None:
    def ask_and_change(m: ModuleOp, ctx: PassContext) -> None:
        ctx.analyses.get(Size, m)
        Append().transform_module(m, ctx)

    first = named("first", body=ask_and_change)
    assert run(first, named("keeps", keeps=[Size]), asks(), verify_each=verify_each) == [5]


def test_cached_asks_without_computing() -> None:
    found: list[object] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        found.append(ctx.analyses.cached(Size, m))
        found.append(ctx.analyses.get(Size, m))
        found.append(ctx.analyses.cached(Size, m))
        assert list(ctx.analyses) == [(Size, m)]

    named("probe", body=body)(module())
    assert found[0] is None and found[1] is found[2]


class Chicken:
    """An analysis that needs the egg."""

    def __init__(self, op: Operation, analyses: AnalysisManager) -> None:
        analyses.get(Egg, op)


class Egg:
    """An analysis that needs the chicken."""

    def __init__(self, op: Operation, analyses: AnalysisManager) -> None:
        analyses.get(Chicken, op)


def test_analyses_that_need_each_other_are_an_error() -> None:
    def body(m: ModuleOp, ctx: PassContext) -> None:
        ctx.analyses.get(Chicken, m)

    with pytest.raises(PassDependencyError, match="Chicken -> Egg -> Chicken"):
        named("probe", body=body)(module())


def test_analysis_that_raised_is_not_kept() -> None:
    class Broken:
        def __init__(self, op: Operation) -> None:
            raise ValueError

    def body(m: ModuleOp, ctx: PassContext) -> None:
        for _ in range(2):
            with pytest.raises(ValueError):
                ctx.analyses.get(Broken, m)
        assert ctx.analyses.cached(Broken, m) is None

    named("probe", body=body)(module())


# What instruments are told


class Broken:
    """An analysis whose constructor raises."""

    def __init__(self, op: Operation) -> None:
        raise ValueError("broken")


def ask(analysis: type, *more: type) -> Pass:
    """Return a pass that asks for analyses of the module."""

    def body(m: ModuleOp, ctx: PassContext) -> None:
        for cls in (analysis, *more):
            ctx.analyses.get(cls, m)

    return named("ask", body=body)


def events(*passes: Pass, rollback: bool = False, fails: type[BaseException] | None = None) -> str:
    """Return the events about analyses, and of the end of passes."""
    recorder = Recorder("")
    with PassContext(instruments=[recorder], rollback=rollback):
        if fails is None:
            Sequential(passes, name="all")(module("f"))
        else:
            with pytest.raises(fails):
                Sequential(passes, name="all")(module("f"))
    told = [e for e in recorder.events if not e.startswith(("should", "before ", "en", "ex"))]
    return ", ".join(told)


def test_computing_is_told_and_nesting_is_kept() -> None:
    assert events(ask(Double, Size), ask(Size)) == (
        "before_analysis Double, before_analysis Size, after_analysis Size, "
        "after_analysis Double, after ask, after ask, after all"
    )


def test_invalidation_is_told_inside_of_the_pass_that_changed() -> None:
    changes = named("changes", keeps=[Double])
    assert events(ask(Double), changes, Append()) == (
        "before_analysis Double, before_analysis Size, after_analysis Size, "
        "after_analysis Double, after ask, invalidated Size, invalidated Double, "
        "after changes, after toy-append, after all"
    )


def test_failure_of_an_analysis_is_told_and_is_the_failure_of_the_pass() -> None:
    class Outer:
        def __init__(self, op: Operation, analyses: AnalysisManager) -> None:
            analyses.get(Broken, op)

    assert events(ask(Outer), fails=ValueError) == (
        "before_analysis Outer, before_analysis Broken, analysis_failed Broken ValueError, "
        "analysis_failed Outer ValueError, failed ask ValueError, failed all ValueError"
    )


def test_rollback_invalidates_all() -> None:
    assert events(ask(Size), Fail(), rollback=True, fails=ValueError) == (
        "before_analysis Size, after_analysis Size, after ask, "
        "invalidated Size, failed toy-fail ValueError, failed all ValueError"
    )


@table_test("hook", ["before_analysis", "after_analysis", "invalidated"])
def test_hook_that_raises_fails_the_pass_and_is_named(hook: str) -> None:
    names = {
        "before_analysis": "run_before_analysis",
        "after_analysis": "run_after_analysis",
        "invalidated": "analysis_invalidated",
    }
    first, second = Recorder("%1", fail_in=frozenset([hook])), Recorder("%2")
    with PassContext(instruments=[first, second]):
        with pytest.raises(RuntimeError, match=f"%1 {hook}") as caught:
            Sequential([ask(Size), Append()])(module())
        assert f"in Recorder.{names[hook]}, for analysis Size" in caught.value.__notes__
        assert not any(event.startswith(f"%2 {hook}") for event in second.events)
        assert "%1 failed sequential RuntimeError" in first.events, "brackets are closed"
        first.fail_in = frozenset()
        Sequential([ask(Size), Append()])(module())


@table_test("rollback", [False, True])
def test_hook_that_raises_does_not_hide_a_failure(rollback: bool) -> None:
    bad = Recorder(fail_in=frozenset(["analysis_failed", "invalidated"]))
    with PassContext(instruments=[bad], rollback=rollback):
        with pytest.raises(ValueError, match="broken") as caught:
            Sequential([ask(Size, Broken)])(module())
    notes = caught.value.__notes__
    assert "and Recorder.analysis_failed raised RuntimeError('%1 analysis_failed')" in notes
    hidden = "and Recorder.analysis_invalidated raised RuntimeError('%1 invalidated')"
    assert (hidden in notes) == rollback


def test_those_of_the_context_that_is_present_are_told() -> None:
    outer, inner = Recorder("outer"), Recorder("inner")

    def body(m: ModuleOp, ctx: PassContext) -> None:
        with PassContext(instruments=[inner]) as present:
            present.analyses.get(Size, m)

    with PassContext(instruments=[outer]):
        named("nests", body=body)(module())
    assert "inner before_analysis Size" in inner.events
    assert not any("analysis" in event for event in outer.events)
