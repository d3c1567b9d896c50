"""Requirements: transitive, ordered, not repeated while valid, checked before the run."""

from __future__ import annotations

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
    toy_context,
)
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation
from xdsl.passes import PassPipeline

from passline.passmanager import (
    Fixpoint,
    ModulePass,
    Pass,
    PassContext,
    PassContractError,
    PassDependencyError,
    Repeat,
    Sequential,
    register_pass,
)


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the registry after each test."""
    register_in_test(monkeypatch)


def ran(pipeline: Pass, ctx: PassContext | None = None, silent: bool = True) -> list[str]:
    """Return the leaf passes that ran, in order."""
    recorder = Recorder()
    ctx = ctx or PassContext()
    ctx.instruments = (*ctx.instruments, recorder)
    if silent:
        ctx.renderer = collect([])
    with ctx:
        pipeline(module("f"))
    return [e.split()[2] for e in recorder.events if "after" in e and "sequential" not in e]


def registered(pass_: Pass) -> Pass:
    register_pass(type(pass_))
    return pass_


# What runs


def test_requirement_runs_before_its_dependent() -> None:
    registered(named("base"))
    assert ran(Sequential([named("a", requires=["base"])])) == ["base", "a"]


def test_requirements_are_transitive_and_in_order() -> None:
    registered(named("c"))
    registered(named("b", requires=["c"], keeps=["c"]))
    registered(named("d", keeps=["b", "c"]))
    assert ran(Sequential([named("a", requires=["b", "d"])])) == ["c", "b", "d", "a"]


def test_requirement_is_not_repeated_while_nothing_changes() -> None:
    base = named("base", changes=False)
    needs = [named(n, requires=["base"], changes=False) for n in ("a", "b", "c")]
    assert ran(Sequential([base, *needs])) == ["base", "a", "b", "c"]


def test_requirement_is_repeated_after_a_pass_that_changes_the_module() -> None:
    registered(named("base"))
    needs = [named(n, requires=["base"]) for n in ("a", "b")]
    assert ran(Sequential(needs)) == ["base", "a", "base", "b"]


def test_requirement_is_not_repeated_after_a_pass_that_preserves_it() -> None:
    registered(named("base"))
    needs = [named(n, requires=["base"], keeps=["base"]) for n in ("a", "b")]
    assert ran(Sequential(needs)) == ["base", "a", "b"]


def test_what_holds_does_not_depend_on_verification() -> None:
    registered(named("base"))
    needs = [named(n, requires=["base"]) for n in ("a", "b")]
    assert ran(Sequential(needs), PassContext(verify_each=False)) == ["base", "a", "base", "b"]


def test_pass_that_changed_nothing_breaks_nothing_whatever_it_preserves() -> None:
    registered(named("base"))
    passes = [
        named("a", requires=["base"], changes=False),
        Nothing(),
        named("b", requires=["base"]),
    ]
    assert ran(Sequential(passes)) == ["base", "a", "toy-nothing", "b"]


def test_what_holds_is_shared_with_nested_pipelines() -> None:
    registered(named("base"))
    inner = Sequential([named("a", requires=["base"], changes=False)])
    assert ran(Sequential([named("base"), inner, Sequential([inner])])) == ["base", "a", "a"]


def test_what_ran_in_a_nested_pipeline_holds_outside() -> None:
    inner = Sequential([named("base")], name="inner")
    needs = named("a", requires=["base"])
    names = ran(Sequential([inner, needs]))
    assert names == ["base", "inner", "a"]


def test_what_holds_ends_with_the_call() -> None:
    pipeline = Sequential([registered(named("base", changes=False)), named("a", requires=["base"])])
    assert ran(pipeline) == ran(pipeline) == ["base", "a"]


def test_pass_of_the_pipeline_is_used_with_its_options() -> None:
    needs = named("a", requires=["toy-append"])
    result = Sequential([needs, Append("mine")])(module())
    assert tags(result) == ["mine", "a", "mine"]


def test_pass_of_an_outer_pipeline_is_used_in_a_nested_one() -> None:
    inner = Sequential([named("a", requires=["toy-append"])])
    assert tags(Sequential([Append("mine"), Append("b"), inner])(module()))[-1] == "a"


def test_installed_pass_is_used_where_the_pipeline_has_none() -> None:
    assert ran(Sequential([named("a", requires=["Canonicalize"])])) == ["canonicalize", "a"]


def test_requirement_of_a_nested_sequential() -> None:
    registered(named("base"))
    inner = Sequential([Nothing()], name="inner", required=["base"])
    assert ran(Sequential([inner])) == ["base", "toy-nothing", "inner"]


def test_requirement_of_the_outermost_sequential_is_not_run() -> None:
    registered(named("base"))
    assert ran(Sequential([Nothing()], required=["base"])) == ["toy-nothing"]


def test_composite_can_be_required() -> None:
    inner = Sequential([Nothing()], name="inner")
    needs = [named(n, requires=["inner"], changes=False) for n in ("a", "b")]
    assert ran(Sequential([*needs, inner])) == [
        "toy-nothing",
        "inner",
        "a",
        "b",
        "toy-nothing",
        "inner",
    ]


def test_requirement_inside_a_fixpoint() -> None:
    registered(named("base", changes=False))
    body = Sequential([named("a", requires=["base"], changes=False)])
    assert ran(Fixpoint(body)) == ["base", "a", "fixpoint"]


def changes_at_first(name: str, times: int) -> Pass:
    """Return a pass that requires `base` and changes the module the first `times` times."""

    def body(m: ModuleOp, ctx: PassContext) -> None:
        if tags(m).count(name) < times:
            Append(name).transform_module(m, ctx)

    return named(name, requires=["base"], body=body)


@table_test("alone", [True, False])
def test_requirement_runs_again_before_the_next_iteration(alone: bool) -> None:
    registered(named("base", changes=False))
    for pass_ in (Fixpoint(changes_at_first("a", 2)), Repeat(changes_at_first("a", 2), 3)):
        iterations = ["base", "a", "base", "a", "base", "a"]
        assert ran(pass_ if alone else Sequential([pass_])) == [*iterations, pass_.name]


def test_requirement_that_is_valid_does_not_run_again_before_the_next_iteration() -> None:
    registered(named("base", changes=False))
    needs = named("a", requires=["base"], keeps=["base"])
    assert ran(Repeat(needs, 3)) == ["base", "a", "a", "a", "repeat"]
    assert ran(Repeat(Repeat(needs, 2), 1)) == ["base", "a", "a", "repeat", "repeat"]


def test_requirement_in_a_fixpoint_that_does_not_exist_is_an_error_before_anything_runs() -> None:
    recorder = Recorder()
    with PassContext(instruments=[recorder]), pytest.raises(PassDependencyError, match="'nope'"):
        Fixpoint(named("a", requires=["nope"]))(module())
    assert not any("before a" in event for event in recorder.events)


def test_disabled_requirement_of_a_fixpoint_runs_with_a_warning() -> None:
    registered(named("base", changes=False))
    found: list[str] = []
    with PassContext(disabled_pass=["base"], renderer=collect(found)):
        Fixpoint(changes_at_first("a", 2))(module())
    assert len(found) == 1 and "pass 'base' runs although the context skips it" in found[0]


# Filtering


def test_skipped_child_brings_no_requirements() -> None:
    registered(named("base"))
    needs = named("a", level=3, requires=["base"])
    assert ran(Sequential([needs, Nothing()]), PassContext(opt_level=2)) == ["toy-nothing"]


@table_test(
    ("ctx", "reason"),
    [
        (PassContext(disabled_pass=["base"]), "disabled"),
        (PassContext(opt_level=0), "opt_level 2 > 0"),
    ],
)
def test_requirement_that_the_context_leaves_out_runs_with_one_warning(
    ctx: PassContext, reason: str
) -> None:
    base = registered(named("base", level=2))
    needs = [named(n, requires=["base"]) for n in ("a", "b")]
    found: list[str] = []
    ctx.renderer = collect(found)
    assert ran(Sequential([*needs, base]), ctx, silent=False) == ["base", "a", "base", "b"]
    assert found == [
        f"warning: pass 'base' runs although the context skips it ({reason}): required by a"
    ]


def test_requirement_that_an_instrument_blocks_does_not_keep_the_dependent_from_running() -> None:
    registered(named("base"))
    ctx = PassContext(instruments=[Recorder("%0", blocks=frozenset(["base"]))])
    assert ran(Sequential([named("a", requires=["base"])]), ctx) == ["a"]


def test_should_run_is_asked_of_requirements() -> None:
    registered(named("base"))
    recorder = Recorder()
    with PassContext(instruments=[recorder]):
        Sequential([named("a", requires=["base"])])(module())
    assert "%1 should_run base" in recorder.events


# Before anything runs


def fails(*passes: Pass) -> str:
    """Return the message of the PassDependencyError, before which nothing ran."""
    begun: list[object] = []
    probe = named("probe", body=lambda m, ctx: begun.append(m))
    with pytest.raises(PassDependencyError) as caught:
        Sequential([probe, *passes])(module())
    assert begun == []
    return str(caught.value)


def test_unknown_requirement_is_an_error_with_the_chain_and_the_nearest_name() -> None:
    registered(named("middle", requires=["canonicalise"]))
    message = fails(named("a", requires=["middle"]))
    assert "pass 'middle' requires 'canonicalise', which is not a pass" in message
    assert "did you mean 'canonicalize'?" in message and "a -> middle -> canonicalise" in message


def test_cycle_is_an_error_with_the_chain() -> None:
    message = fails(
        named("a", requires=["b"]), named("b", requires=["c"]), named("c", requires=["a"])
    )
    assert message == "requirements form a cycle: a -> b -> c -> a"


def test_pass_that_requires_itself_is_an_error() -> None:
    assert "a -> a" in fails(named("a", requires=["a"]))


def test_requirement_in_another_spelling_is_seen_in_a_cycle() -> None:
    assert "cycle" in fails(named("fold-it", requires=["FoldIt"]))


def test_error_in_a_nested_pipeline_is_found_before_anything_runs() -> None:
    assert "'zzz', which is not a pass" in fails(Sequential([named("a", requires=["zzz"])]))


def test_requirement_that_needs_arguments_is_an_error() -> None:
    class NeedsArgument(Nothing):
        name = "needs-argument"

        def __init__(self, value: int) -> None:
            self.value = value

    register_pass(NeedsArgument)
    message = fails(named("a", requires=["needs-argument"]))
    assert "cannot be built without arguments (a -> needs-argument)" in message


def test_requirements_of_filtered_children_are_not_checked() -> None:
    with PassContext(opt_level=0):
        assert tags(Sequential([named("a", level=1, requires=["zzz"]), Append()])(module())) == [
            "x"
        ]


def test_plan_finds_the_same_errors() -> None:
    with pytest.raises(PassDependencyError, match="zzz"):
        Sequential([named("a", requires=["zzz"])]).plan()


# Requirements that undo each other


def test_two_requirements_that_undo_each_other_are_named() -> None:
    registered(named("x1"))
    registered(named("x2"))
    with pytest.raises(PassDependencyError) as caught:
        Sequential([named("a", requires=["x1", "x2"])])(module())
    message = str(caught.value)
    assert "pass 'a' requires 'x1' and 'x2', but 'x2' invalidates 'x1'" in message
    assert "`preserves`" in message


def test_second_requirement_that_undoes_the_first_only_once_is_run_around() -> None:
    registered(named("x1"))
    state: list[int] = []

    def settles(m: ModuleOp, ctx: PassContext) -> None:
        if not state:
            Append("x2").transform_module(m, ctx)
        state.append(1)

    registered(named("x1", keeps=["x2"]))
    register_pass(type(x2 := named("x2", body=settles)))
    assert ran(Sequential([named("a", requires=["x1", "x2"])])) == ["x1", "x2", "x1", "a"]
    assert x2.info.name == "x2"


# --verify-preserves


def idempotent(name: str) -> Pass:
    """Return a pass that appends an op tagged with its name, unless it is the last one already."""

    def body(m: ModuleOp, ctx: PassContext) -> None:
        if tags(m)[-1:] != [name]:
            Append(name).transform_module(m, ctx)

    return named(name, body=body)


def test_pass_that_does_not_preserve_what_it_says_is_found_out() -> None:
    registered(idempotent("base"))
    liar = named("liar", requires=["base"], keeps=["base"])
    with PassContext(verify_preserves=True):
        with pytest.raises(PassContractError) as caught:
            Sequential([liar])(module())
    assert str(caught.value) == (
        "pass 'liar' claims to preserve 'base', but running it again changes the module"
    )
    assert caught.value.__notes__[0].startswith("in pass 'liar' (1 of 1)")


def test_pass_that_preserves_what_it_says_is_not_found_out() -> None:
    register_pass(type(named("base", changes=False)))
    honest = named("honest", requires=["base"], keeps=["base"])
    with PassContext(verify_preserves=True):
        assert tags(Sequential([honest])(module())) == ["honest"]


def test_check_of_what_is_preserved_raises_no_events() -> None:
    registered(named("base", changes=False))
    recorder = Recorder()
    with PassContext(verify_preserves=True, instruments=[recorder]):
        Sequential([named("a", requires=["base"], keeps=["base"])])(module())
    assert [e for e in recorder.events if "before base" in e] == ["%1 before base"]


class Size:
    """An analysis: the number of ops."""

    def __init__(self, op: Operation) -> None:
        self.size = sum(1 for _ in op.walk())


@table_test(("changes", "fails"), [(True, True), (False, False)])
def test_analysis_that_is_said_to_be_preserved_is_computed_again(
    changes: bool, fails: bool
) -> None:
    def ask(m: ModuleOp, ctx: PassContext) -> None:
        ctx.analyses.get(Size, m)

    def change(m: ModuleOp, ctx: PassContext) -> None:
        m.attributes["touched"] = UnitAttr()
        if changes:
            Append().transform_module(m, ctx)

    pipeline = Sequential([named("asks", body=ask), named("keeps", keeps=[Size], body=change)])
    with PassContext(verify_preserves=True):
        if fails:
            with pytest.raises(PassContractError, match="'keeps' claims to preserve Size"):
                pipeline(module())
        else:
            pipeline(module())


# In a pipeline of xDSL's


def applied(*passes: ModulePass, ctx: PassContext | None = None) -> list[str]:
    """Return what the passes append to a module in a pipeline of xDSL's, under a context."""
    with ctx or PassContext():
        PassPipeline(passes).apply(toy_context(), m := module())
    return tags(m)


def test_pass_in_a_pipeline_of_xdsl_runs_after_its_requirements() -> None:
    registered(named("base"))
    registered(named("b", requires=["base"], keeps=["base"]))
    assert applied(named("a", requires=["b"]), Append("c")) == ["base", "b", "a", "c"]


def test_pass_that_is_called_with_a_module_runs_alone() -> None:
    registered(named("base"))
    assert tags(named("a", requires=["base"])(module())) == ["a"]


def test_pass_that_another_pass_applies_runs_alone() -> None:
    registered(named("base"))
    inner = named("inner", requires=["base"])
    outer = named("outer", body=lambda m, ctx: inner.apply(ctx.ir_context, m))
    assert applied(outer) == ["inner"]


def test_requirement_runs_at_any_level_and_not_if_an_instrument_blocks_it() -> None:
    registered(named("base", level=3))
    a = named("a", requires=["base"])
    assert applied(a, ctx=PassContext(opt_level=0)) == ["base", "a"]
    blocking = Recorder(blocks=frozenset(["base"]))
    assert applied(a, ctx=PassContext(instruments=[blocking])) == ["a"]


def test_unknown_requirement_in_a_pipeline_of_xdsl() -> None:
    with pytest.raises(PassDependencyError, match="pass 'a' requires 'nowhere', which is not a"):
        applied(named("a", requires=["nowhere"]))
