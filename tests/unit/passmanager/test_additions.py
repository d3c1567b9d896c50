"""Additions: further passes in staged pipelines, from the context and from other projects."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from typing import NoReturn, cast

import pytest
from support.passes.toy import (
    Append,
    Nothing,
    Recorder,
    collect,
    module,
    named,
    register_in_test,
    tags,
)
from support.tables import table_test
from xdsl.passes import ModulePass as XDSLModulePass

from passline.passmanager import (
    Fixpoint,
    ModulePass,
    Pass,
    PassContext,
    PassNotFoundError,
    PassPlacementError,
    Sequential,
    StagedPipeline,
    find_pass,
    register_pass,
)
from passline.passmanager.registry import installed

Register = Callable[..., None]


@pytest.fixture
def from_project(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Register passes as those that an installed project brought, and no others that are placed."""
    register_in_test(monkeypatch)
    installed().sources.clear()

    def register(*passes: ModulePass, source: str = "project 1.0") -> None:
        for pass_ in passes:
            installed().add_pass(pass_.name, partial(type, pass_), source)

    return register


@pytest.fixture(autouse=True)
def nothing_installed(from_project: Register) -> None:
    """Let no installed project take part."""


def pipeline() -> StagedPipeline:
    """Return a pipeline `a b c` of two stages."""
    return StagedPipeline({"first": [named("a"), named("b")], "second": [named("c")]}, name="mine")


def ran(pass_: Pass, ctx: PassContext | None = None) -> str:
    with ctx or PassContext():
        return " ".join(tags(pass_(module())))


def said(pass_: Pass, ctx: PassContext | None = None) -> list[str]:
    """Return the diagnostics of a run."""
    found: list[str] = []
    ctx = ctx or PassContext()
    ctx.renderer = collect(found)
    with ctx:
        pass_(module())
    return found


# What projects bring


@table_test(
    ("pass_", "expected"),
    [
        (named("x", behind=["a"]), "a x b c"),
        (named("x", within="first"), "a b x c"),
        (named("x", ahead=["second"]), "a b x c"),
        (named("x", behind=["a", "canonicalize"]), "a x b c"),
        # It has no place here, or says none.
        (named("x", behind=["canonicalize"]), "a b c"),
        (named("x", within="lowering"), "a b c"),
        (named("x", within="lowering", behind=["a"]), "a b c"),
        (named("x"), "a b c"),
        (named("x", behind=["a"], level=3), "a b c"),
    ],
)
def test_a_placed_pass_takes_part_where_it_has_a_place(pass_: ModulePass, expected: str) -> None:
    installed().add_pass("x", lambda: type(pass_), "project 1.0")
    assert ran(pipeline()) == expected
    assert said(pipeline()) == []


def test_passes_may_be_placed_by_each_other(from_project: Register) -> None:
    from_project(named("y", behind=["x"]), named("z", behind=["y"]), named("x", behind=["a"]))
    assert ran(pipeline()) == "a x y z b c"


def test_ties_are_broken_by_name(from_project: Register) -> None:
    from_project(named("z", behind=["a"]), named("x", behind=["a"]), named("y", behind=["a"]))
    assert ran(pipeline()) == "a x y z b c"


def test_they_take_part_in_staged_pipelines_alone(from_project: Register) -> None:
    from_project(named("x", behind=["a"]))
    assert ran(Sequential([named("a"), named("b")])) == "a b"
    assert ran(Sequential([named("a"), pipeline()])) == "a a x b c"
    assert ran(Fixpoint(StagedPipeline({"s": [Nothing()]}))) == ""


def test_a_pass_that_the_pipeline_names_is_not_added(from_project: Register) -> None:
    from_project(named("x", behind=["a"]))
    assert ran(StagedPipeline({"s": [named("x"), named("a")]})) == "x a"
    assert ran(pipeline().extended(named("x", ahead=["a"]))) == "x a b c"


def test_a_pass_registered_here_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    register_pass(type(named("x", behind=["a"])))
    assert ran(pipeline()) == "a x b c"
    (step,) = [step for step in pipeline().plan() if step.info.name == "x"]
    assert step.reason == "from register_pass: after a"


def test_the_plan_says_who_brought_it_and_why_it_stands_there(from_project: Register) -> None:
    from_project(named("x", behind=["a"], ahead=["c"]), named("high", within="second", level=3))
    assert str(pipeline().plan()).splitlines() == [
        "run  a",
        "run  x  # from project 1.0: after a, before c",
        "run  b",
        "run  c",
        "skip high  # opt_level 3 > 2; from project 1.0: in stage second",
    ]


@table_test(
    ("extensions", "expected"),
    [
        (True, "a p q b c"),
        (False, "a b c"),
        ((), "a b c"),
        (("project",), "a p b c"),
        (["Other"], "a q b c"),
    ],
)
def test_the_context_chooses_among_projects(
    extensions: bool | tuple[str, ...], expected: str
) -> None:
    installed().add_pass("p", lambda: type(named("p", behind=["a"])), "project 1.0")
    installed().add_pass("q", lambda: type(named("q", behind=["a"])), "other 2.0")
    assert ran(pipeline(), PassContext(extensions=extensions)) == expected


def test_one_pipeline_runs_under_several_contexts(from_project: Register) -> None:
    from_project(named("x", behind=["a"]))
    staged = pipeline()
    for _ in range(2):
        assert ran(staged) == "a x b c"
        assert ran(staged, PassContext(extensions=False)) == "a b c"
        assert ran(staged, PassContext(extra_passes=[named("y", ahead=["a"])])) == "y a x b c"


def test_a_project_that_does_not_exist_is_a_warning(from_project: Register) -> None:
    from_project(named("x", behind=["a"]))
    (warning,) = said(pipeline(), PassContext(extensions=["projct"]))
    assert "extensions names 'projct', which has no installed pass" in warning
    assert "did you mean 'project'?" in warning


def test_a_place_that_exists_nowhere_is_a_warning(from_project: Register) -> None:
    from_project(named("x", behind=["canonicalise-ops-twice"]), named("y", within="fist"))
    names, stages = sorted(said(pipeline()))
    assert "'x' is placed after 'canonicalise-ops-twice', which is neither a pass nor" in names
    assert "'y' is placed in stage 'fist'" in stages and "did you mean 'first'?" in stages


def test_a_class_that_cannot_be_imported_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> NoReturn:
        raise ImportError("no module called gone")

    installed().add_pass("broken", broken, "project 1.0")
    with caplog.at_level(logging.WARNING):
        assert ran(pipeline()) == "a b c"
        assert ran(pipeline()) == "a b c"
    assert caplog.text.count("pass 'broken' from project 1.0 cannot be loaded") == 1


def test_a_class_that_needs_arguments_is_a_warning() -> None:
    class Needs(Append):
        name = "needs"
        after = ("a",)

        def __init__(self, tag: str) -> None:
            pass

    installed().add_pass("needs", lambda: Needs, "project 1.0")
    (warning,) = said(pipeline())
    assert "pass 'needs' from project 1.0 takes no part in pipelines" in warning


def test_a_contradiction_is_an_error_before_anything_runs(from_project: Register) -> None:
    from_project(named("x", behind=["c"], ahead=["a"]))
    recorder = Recorder()
    for pass_ in (pipeline(), Sequential([named("start"), Sequential([pipeline()])])):
        with PassContext(instruments=[recorder]), pytest.raises(PassPlacementError) as caught:
            pass_(module())
        assert "passes from project 1.0 take part by themselves" in str(caught.value)
        with pytest.raises(PassPlacementError):
            pass_.plan()
    assert not [event for event in recorder.events if "after" in event or "before start" in event]


@dataclass(frozen=True)
class Distribution:
    """A distribution, and an entry point of it."""

    name: str = "other"
    version: str = "2.0"
    requires: tuple[str, ...] = ("xdsl>=0.59",)

    @property
    def dist(self) -> Distribution:
        return self


@table_test(
    ("requires", "expected"),
    [
        (("xdsl", "passline[compiler]>=0.1"), "a x b c"),
        (('passline; extra == "optimizer"',), "a x b c"),
        (("xdsl",), "a b c"),
    ],
)
def test_only_projects_that_know_passline_are_asked(
    requires: tuple[str, ...], expected: str
) -> None:
    point = cast(EntryPoint, Distribution(requires=requires))
    installed().add_pass("x", lambda: type(named("x", behind=["a"])), point)
    assert ran(pipeline()) == expected
    reasons = [step.reason for step in pipeline().plan() if step.reason]
    assert reasons == ["from other 2.0: after a"][: len(expected.split()) - 3]


def test_threads_with_their_own_contexts_do_not_disturb_each_other() -> None:
    staged = pipeline()

    def run(i: int) -> bool:
        ctx = PassContext(extra_passes=[Append(f"x{i}")])
        return all(ran(staged, ctx) == f"a b c x{i}" for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(8)))


def test_no_class_is_loaded_where_nothing_is_to_be_added() -> None:
    def forbidden() -> type[XDSLModulePass]:
        pytest.fail("the factory must not be called")

    installed().add_pass("x", forbidden, "project 1.0")
    assert ran(Sequential([named("a")])) == "a"
    assert ran(pipeline(), PassContext(extensions=False)) == "a b c"


# The context


def test_extra_passes_take_part() -> None:
    x, y = named("x", within="first"), named("y", behind=["a"])
    ctx = PassContext(extra_passes=[x, y, Append("end")])
    assert ran(pipeline(), ctx) == "a y b x c end"
    assert ran(Sequential([named("a")]), ctx) == "a"


def test_extra_passes_may_be_required() -> None:
    ctx = PassContext(extra_passes=[named("x", behind=["c"])])
    staged = StagedPipeline({"s": [named("a", requires=["x"]), named("c")]})
    assert ran(staged, ctx) == "x a c x"


def test_extra_passes_are_checked() -> None:
    with pytest.raises(TypeError, match="extra_passes is made of a list of passes, not of 'x'"):
        PassContext(extra_passes="x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="the class of one: write Append()"):
        PassContext(extra_passes=[Append])  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"extensions is a list of names: write \['x'\]"):
        PassContext(extensions="x")
    shown = repr(PassContext(extensions=["x"], extra_passes=[Append()]))
    assert "extensions=('x',), extra_passes=['toy-append']" in shown


def test_a_copy_of_the_context_has_them() -> None:
    with PassContext(extra_passes=[Append("x")]) as ctx, ctx.at_level(3):
        assert " ".join(tags(pipeline()(module()))) == "a b c x"


# extended and replaced


def test_extended_leaves_the_pipeline_as_it_was() -> None:
    staged = pipeline()
    extended = staged.extended(named("x", behind=["a"]))
    assert (ran(extended), ran(staged)) == ("a x b c", "a b c")
    assert extended.info.name == "mine" and type(extended) is StagedPipeline


def test_extended_keeps_options_and_what_a_subclass_does() -> None:
    class Twice(Sequential):
        def transform(self, module, ctx):  # pyright: ignore
            super().transform(module, ctx)
            super().transform(module, ctx)

    twice = Twice([named("a")], 2, "twice", ["base"]).extended(named("base", changes=False))
    assert (twice.info.opt_level, twice.info.name, twice.info.required) == (2, "twice", ("base",))
    assert tags(twice(module())) == ["a", "a"]


def test_extended_adds_to_the_staged_pipeline_that_has_the_place() -> None:
    outer = Sequential([named("start"), pipeline(), named("end")])
    assert ran(outer.extended(named("x", behind=["a"]))) == "start a x b c end"
    assert ran(outer.extended(named("x", within="first"))) == "start a b x c end"
    assert ran(outer.extended(named("x", behind=["start"]))) == "start x a b c end"
    assert ran(outer.extended(named("x", behind=["mine"]))) == "start a b c x end"
    assert ran(outer.extended(named("x"))) == "start a b c end x"


def test_what_is_added_together_may_be_placed_by_each_other() -> None:
    outer = Sequential([named("start"), pipeline()])
    y, x, z = named("y", behind=["x"]), named("x", behind=["a"]), named("z", ahead=["y"])
    assert ran(outer.extended(y, x, z)) == "start a x z y b c"


def test_a_pass_may_be_replaced_by_an_equal_one() -> None:
    assert ran(Sequential([Append("a")]).replaced("toy-append", Append("a"))) == "a"


def test_the_plan_has_reasons_of_what_was_added() -> None:
    plan = pipeline().extended(named("x"), named("y"), before=["b"]).plan()
    assert [step.reason for step in plan] == [
        "",
        "added: before b",
        "added: before b",
        "",
        "",
    ]
    plan = pipeline().extended(named("x", behind=["a"])).extended(named("y")).plan()
    assert [s.reason for s in plan] == ["", "added: after a", "", "", "added: at the end"]


def test_replaced_takes_the_place_at_any_depth() -> None:
    inner = Sequential([named("b"), named("c")], name="inner")
    outer = Sequential([named("a"), Fixpoint([named("b"), Nothing()]), inner])
    found = outer.replaced("B", named("x", changes=False), named("y", changes=False))
    assert [p.name for p in outer.passes] == ["a", "fixpoint", "sequential"]
    assert str(found.passes[1]) == "fixpoint(sequential(x,y,toy-nothing))"
    assert str(found.passes[2]).endswith("(x,y,c)")
    (x,) = (step for step in pipeline().replaced("b", named("x")).plan() if step.info.name == "x")
    assert (x.reason, x.stage) == ("in the place of b", "first")


def test_replaced_may_remove() -> None:
    assert ran(pipeline().replaced("b")) == "a c"
    assert str(Fixpoint([named("a"), named("b")])).count("b") == 1


def test_stages_keep_their_passes() -> None:
    found = pipeline().replaced("a", named("x"), named("y"))
    assert found.stages == {"first": range(3), "second": range(3, 4)}
    assert ran(found.extended(named("z", within="first"))) == "x y b z c"


def test_what_is_not_there_cannot_be_replaced() -> None:
    with pytest.raises(PassNotFoundError, match="no pass 'bb' in the pipeline to replace, did you"):
        Sequential([named("bbb")]).replaced("bb", Nothing())


def test_find_pass_gives_the_pipelines() -> None:
    assert issubclass(find_pass("optimize"), StagedPipeline)
