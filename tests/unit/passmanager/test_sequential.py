"""Sequential and Fixpoint: order, filtering, nesting, plans."""

from __future__ import annotations

import pytest
from support.passes.toy import (
    Append,
    Fail,
    Nothing,
    Recorder,
    Tag,
    collect,
    module,
    named,
    tags,
    toy_context,
)
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass as XDSLModulePass
from xdsl.passes import PassPipeline
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from passline.passmanager import (
    Fixpoint,
    ModulePass,
    Pass,
    PassContext,
    PassInfo,
    Repeat,
    Sequential,
    base,
    runner,
)
from passline.passmanager.fast.clone import clone


def reported(ctx: PassContext, pass_: Pass, m: ModuleOp | None = None) -> list[str]:
    """Return the diagnostics of a run."""
    found: list[str] = []
    ctx.renderer = collect(found)
    with ctx:
        pass_(m or module())
    return found


# Construction


def test_passes_run_in_order() -> None:
    assert tags(Sequential([Append("a"), Append("b"), Append("c")])(module())) == ["a", "b", "c"]


def test_no_passes_change_nothing() -> None:
    m = module("f")
    assert str(Sequential([])(m)) == str(Sequential()(m)) == str(m)


def test_passes_name_level_and_required_read_back() -> None:
    nothing = Nothing()
    sequential = Sequential([nothing], 1, "mine", ["other"])
    info = sequential.info
    assert sequential.passes == (nothing,) and sequential.children == (nothing,)
    assert (info.name, info.opt_level, info.required, info.composite) == (
        "mine",
        1,
        ("other",),
        True,
    )


def test_pass_info_in_the_place_of_the_level() -> None:
    info = Sequential([], PassInfo("mine", 1, ("other",))).info
    assert (info.name, info.opt_level, info.required) == ("mine", 1, ("other",))


def test_level_is_0_by_default() -> None:
    assert Sequential([]).info.opt_level == 0


@table_test(
    ("given", "instead"),
    [
        ([Nothing], r"the class of one: write Nothing\(\)"),
        (["cse"], r"a string: write passline.parse_pipeline\('cse'\)"),
        ([PassPipeline(())], r"write Sequential\(pipeline.passes\) for a PassPipeline"),
        ([3], "3 is not a pass"),
        ("cse", "made of a list of passes, not of 'cse'"),
        (Nothing(), "made of a list of passes"),
        (3, "made of a list of passes, not of 3"),
    ],
)
def test_what_is_no_pass_is_an_error_that_says_what_to_write(given: object, instead: str) -> None:
    with pytest.raises(TypeError, match=instead):
        Sequential(given)  # pyright: ignore[reportArgumentType]


def test_required_string_is_an_error() -> None:
    with pytest.raises(TypeError, match="required is a list of names"):
        Sequential([], required="abc")


def test_foreign_passes_may_stand_in_it() -> None:
    passes: list[XDSLModulePass] = [
        CommonSubexpressionElimination(),
        DeadCodeElimination(),
        Append(),
    ]
    recorder = Recorder()
    with PassContext(instruments=[recorder]):
        assert tags(Sequential(passes)(module("f"))) == ["x"]
    assert [e for e in recorder.events if "after" in e] == [
        "%1 after cse",
        "%1 after dce",
        "%1 after toy-append",
        "%1 after sequential",
    ]


def test_the_module_is_copied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clones: list[object] = []

    def counted(op: ModuleOp) -> ModuleOp:
        clones.append(op)
        return clone(op)

    for caller in (base, runner):
        monkeypatch.setattr(caller, "clone", counted)
    Sequential([Append(), Sequential([Append(), Nothing()]), Tag()])(module("f"))
    assert len(clones) == 1


# Filtering: what is run is a child of a Sequential, called directly, or required


def test_child_above_the_level_is_left_out() -> None:
    with PassContext(opt_level=2):
        assert tags(Sequential([named("low", level=2), named("high", level=3)])(module())) == [
            "low"
        ]


def test_disabled_child_is_left_out() -> None:
    with PassContext(disabled_pass=["toy-append"]):
        assert tags(Sequential([Append(), named("b")])(module())) == ["b"]


def test_required_list_forces_a_child() -> None:
    with PassContext(opt_level=1, required_pass=["high"]):
        assert tags(Sequential([named("high", level=3)])(module())) == ["high"]


def test_level_of_a_nested_sequential_counts() -> None:
    nested = Sequential([Append()], opt_level=3)
    with PassContext(opt_level=2):
        assert tags(Sequential([nested, named("b")])(module())) == ["b"]


def test_nested_sequential_of_default_level_runs_at_level_1() -> None:
    with PassContext(opt_level=1):
        assert tags(Sequential([Sequential([named("a", level=1)])])(module())) == ["a"]


def test_level_of_a_nested_sequential_does_not_cap_its_children() -> None:
    with PassContext(opt_level=1):
        assert tags(Sequential([Sequential([named("a", level=2)], opt_level=0)])(module())) == []


def test_level_of_the_outermost_sequential_does_not_count() -> None:
    with PassContext(opt_level=0):
        assert tags(Sequential([Append()], opt_level=3)(module())) == ["x"]


def test_composite_whose_children_are_all_above_the_level_says_so() -> None:
    fold = Sequential([named("a", level=3), named("b", level=4)], name="fold-scale-axis")
    (warning,) = reported(PassContext(opt_level=2), Sequential([fold, Nothing()]))
    assert "pipeline 'fold-scale-axis' ran none of its passes" in warning
    assert "opt_level 2 is below a (3), b (4)" in warning


def test_composite_whose_children_are_disabled_by_name_says_nothing() -> None:
    fold = Sequential([Append()], name="inner")
    assert reported(PassContext(disabled_pass=["toy-append"]), Sequential([fold])) == []


# Fixpoint


def counting(limit: int) -> tuple[ModulePass, list[int]]:
    """Return a pass that changes the module in its first `limit` runs, and the list of its runs."""
    runs: list[int] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        runs.append(len(runs))
        if len(runs) <= limit:
            Append(str(len(runs))).transform_module(m, ctx)

    return named("counting", body=body), runs


def test_fixpoint_runs_until_nothing_changes() -> None:
    pass_, runs = counting(3)
    assert tags(Fixpoint(pass_)(module())) == ["1", "2", "3"] and len(runs) == 4


def test_fixpoint_needs_no_verification_to_see_changes() -> None:
    pass_, runs = counting(3)
    with PassContext(verify_each=False):
        Fixpoint(pass_)(module())
    assert len(runs) == 4


def test_fixpoint_that_does_not_converge_warns() -> None:
    pass_, runs = counting(100)
    (warning,) = reported(PassContext(), Fixpoint(pass_, max_iterations=5))
    assert len(runs) == 5
    assert warning.startswith("warning: pass 'fixpoint{max-iterations=5}(counting)' still changed")


def test_fixpoint_that_converges_says_nothing() -> None:
    assert reported(PassContext(), Fixpoint(counting(2)[0])) == []


@table_test("repetition", [Fixpoint(Append("a")), Repeat(Append("a"), 2)])
def test_disabled_pass_is_not_repeated(repetition: Pass) -> None:
    recorder = Recorder()
    with PassContext(disabled_pass=["ToyAppend"], instruments=[recorder]):
        assert tags(repetition(module())) == []
    assert "%1 skipped toy-append (disabled)" in recorder.events
    plan = Sequential([repetition]).plan(PassContext(disabled_pass=["ToyAppend"]))
    assert [(step.info.name, step.action) for step in plan][1:] == [("toy-append", "skip")]


def test_fixpoint_of_a_sequential() -> None:
    pass_, runs = counting(2)
    assert tags(Fixpoint(Sequential([pass_, Nothing()]))(module())) == ["1", "2"]
    assert len(runs) == 3


def test_fixpoint_takes_a_list_as_sequential_does() -> None:
    pass_, _ = counting(2)
    fixpoint = Fixpoint([pass_, Nothing()])
    assert str(fixpoint) == f"fixpoint(sequential({pass_},toy-nothing))"
    assert tags(fixpoint(module())) == ["1", "2"]


def test_fixpoint_of_a_list_of_one_pass_is_one_of_the_pass() -> None:
    assert str(Fixpoint([Nothing()])) == "fixpoint(toy-nothing)"


def test_fixpoint_of_a_string_is_an_error_that_says_what_to_write() -> None:
    with pytest.raises(TypeError, match=r"write passline.parse_pipeline\('cse'\)"):
        Fixpoint("cse")  # pyright: ignore[reportArgumentType]


@table_test("limit", [0, -1])
def test_fixpoint_without_iterations_is_an_error(limit: int) -> None:
    with pytest.raises(ValueError, match=f"1 or more, not {limit}"):
        Fixpoint(Nothing(), limit)


# Plans


def test_plan_says_what_runs_and_what_not_and_why() -> None:
    pipeline = Sequential([Append("a"), named("low"), named("high", level=3), Nothing()])
    plan = pipeline.plan(PassContext(opt_level=2, disabled_pass=["low"]))
    assert str(plan).splitlines() == [
        'run  toy-append{tag="a"}',
        "skip low  # disabled",
        "skip high  # opt_level 3 > 2",
        "run  toy-nothing",
    ]


def test_plan_of_nested_pipelines_is_indented() -> None:
    pipeline = Sequential([Sequential([Nothing(), Sequential([Append()])], name="inner")])
    assert str(pipeline.plan()).splitlines() == [
        "run  inner",
        "run    toy-nothing",
        "run    sequential",
        "run      toy-append",
    ]


def test_plan_shows_what_is_repeated() -> None:
    inner = Sequential([Append(), named("high", level=3)])
    pipeline = Sequential([Fixpoint(inner), Repeat(Fixpoint(Nothing()), 2)])
    assert str(pipeline.plan(PassContext(opt_level=2))).splitlines() == [
        "run  fixpoint",
        "run    sequential  # until nothing changes",
        "run      toy-append",
        "skip     high  # opt_level 3 > 2",
        "run  repeat",
        "run    fixpoint  # 2 times",
        "run      toy-nothing  # until nothing changes",
    ]


def test_plan_has_requirements_and_says_when_they_may_still_hold() -> None:
    needs = [named(name, requires=["base"]) for name in ("a", "b")]
    plan = Sequential([*needs, named("base")]).plan()
    assert [(step.info.name, step.action, step.reason) for step in plan] == [
        ("base", "ensure", "required by a"),
        ("a", "run", ""),
        ("base", "ensure", "required by b, unless it is still valid"),
        ("b", "run", ""),
        ("base", "run", ""),
    ]


def test_plan_as_text_says_of_a_requirement_once_that_it_may_still_hold() -> None:
    needs = [named(name, requires=["base"]) for name in ("a", "b", "c")]
    assert str(Sequential([*needs, *needs, named("base")]).plan()).splitlines() == [
        "run  base  # required by a",
        "run  a",
        "run  b",
        "run  c",
        "run  a",
        "run  b",
        "run  c",
        "run  base",
        "run  base  # again before b, c, a, unless it is still valid",
    ]


def test_plan_as_text_counts_many_passes_that_need_one_again() -> None:
    needs = [named(name, requires=["base"]) for name in "abcde"]
    lines = str(Sequential([*needs, named("base")]).plan()).splitlines()
    assert lines[-1] == "run  base  # again before 4 passes, unless it is still valid"


def test_plan_uses_the_present_context_and_runs_nothing() -> None:
    ran: list[object] = []
    pipeline = Sequential([named("a", level=1, body=lambda m, ctx: ran.append(m))])
    with PassContext(opt_level=0):
        assert [step.action for step in pipeline.plan()] == ["skip"]
    with PassContext(opt_level=1):
        assert [step.action for step in pipeline.plan()] == ["run"]
    assert ran == []


@table_test("level", range(4))
def test_plan_is_what_runs(level: int) -> None:
    pipeline = Sequential(
        [
            named("a", level=1),
            Sequential([named("b", level=2, requires=["c"]), named("d", level=3)], opt_level=1),
            named("c", level=3),
            Nothing(),
        ]
    )
    recorder = Recorder()
    with PassContext(opt_level=level, instruments=[recorder], renderer=collect([])) as ctx:
        planned = [step.info.name for step in pipeline.plan(ctx) if step.action != "skip"]
        pipeline(module())
    ran = [e.split()[2] for e in recorder.events if "before" in e]
    assert ran == ["sequential", *planned]


# In place and nested in a pass


def test_nested_call_in_a_pass_belongs_to_the_same_run() -> None:
    versions: list[int] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        from passline.passmanager.run import Run

        run = Run.current()
        Sequential([Append("inner")]).apply(ctx.ir_context, m)
        versions.append(Run.current() is run)

    named("outer", body=body).apply(toy_context(), m := module())
    assert tags(m) == ["inner"] and versions == [True]


# Repeat


def test_repeat_runs_n_times_even_if_nothing_changes() -> None:
    recorder = Recorder()
    with PassContext(instruments=[recorder]):
        assert tags(Repeat(Sequential([Append("a"), Nothing()]), 3)(module())) == ["a"] * 3
    assert recorder.events.count("%1 before toy-nothing") == 3


def test_info_of_a_repeat_is_that_of_the_pass() -> None:
    pass_ = Repeat(named("high", level=3, requires=["base"]), 2)
    assert (pass_.info.opt_level, pass_.info.required) == (3, ("base",))
    assert pass_.info.text == "repeat{n=2}(high)" and pass_.info.composite


def test_failure_in_a_repeat_names_the_time() -> None:
    with pytest.raises(Exception) as caught:
        Repeat(Fail(), 2)(module())
    assert caught.value.__notes__[0] == "in pass 'toy-fail' (time 1 of 2)"


@table_test("n", [0, -1])
def test_repeat_of_less_than_once_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="n is 1 or more"):
        Repeat(Nothing(), n)
