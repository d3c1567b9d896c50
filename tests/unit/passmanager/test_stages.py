"""Staged pipelines: of passes, and of text with a name."""

from __future__ import annotations

import pytest
from support.passes.toy import Append, module, named, register_in_test, tags
from support.tables import table_test

from passline.passmanager import (
    NamedPipeline,
    PipelineSyntaxError,
    Sequential,
    StagedPipeline,
    Stages,
    named_pipeline,
    parse_pipeline,
    register_pass,
)
from passline.passmanager.additions import resolve
from passline.passmanager.context import PassContext

STAGES = Stages({"first": ("toy-append{tag=a}", "toy-append{tag=b}"), "none": (), "last": ["cse"]})


def test_stages_are_a_tuple_of_all_passes() -> None:
    assert STAGES == ("toy-append{tag=a}", "toy-append{tag=b}", "cse")
    assert [*STAGES.by_name] == ["first", "none", "last"]
    assert STAGES.by_name["last"] == ("cse",) and STAGES[:1] == ("toy-append{tag=a}",)


def test_a_named_pipeline_is_a_pass_to_register(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch, Append)
    mine = named_pipeline("my-opt", STAGES, __name__)
    register_pass(mine)
    assert mine.__doc__ == "Run toy-append{tag=a}, toy-append{tag=b}, cse."
    assert (mine.__module__, mine.name) == (__name__, "my-opt")
    (pass_,) = parse_pipeline("MyOpt").passes
    assert isinstance(pass_, NamedPipeline)
    assert pass_.stages == {"first": range(2), "none": range(2, 2), "last": range(2, 3)}
    assert pass_.info.text.endswith('(toy-append{tag="a"},toy-append{tag="b"},cse)')
    assert tags(pass_(module())) == ["a", "b"]
    assert tags(pass_.extended(Append("x"), stage="first")(module())) == ["a", "b", "x"]


def test_its_text_is_read_when_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    register_in_test(monkeypatch)
    with pytest.raises(PipelineSyntaxError, match="there is no pass 'csee', did you mean 'cse'"):
        named_pipeline("my-opt", Stages({"s": ("csee",)}))()


def test_a_staged_pipeline_is_a_sequential() -> None:
    pipeline = StagedPipeline({"s": [Append("a")], "t": [Append("b")]}, 2, "mine", ["cse"])
    info = pipeline.info
    assert (info.name, info.opt_level, info.required, info.composite) == ("mine", 2, ("cse",), True)
    assert [step.stage for step in pipeline.plan() if step.info.name == "toy-append"] == ["s", "t"]
    assert isinstance(pipeline, Sequential)


def test_a_stage_must_not_have_the_name_of_a_pass_in_it() -> None:
    with pytest.raises(ValueError, match="stage 'ToyAppend' of pipeline 'mine' has the name of"):
        StagedPipeline({"ToyAppend": [Append("a")]}, name="mine")


def test_stages_have_different_names() -> None:
    with pytest.raises(ValueError, match="stage 'Fold' of pipeline 'mine' has the name of stage"):
        StagedPipeline({"fold": [], "Fold": []}, name="mine")


@table_test("given", ["cse", [Append]])
def test_a_stage_is_a_list_of_passes(given: object) -> None:
    with pytest.raises(TypeError, match=r"stage 's' is made of a list|is not a pass"):
        StagedPipeline({"s": given})  # pyright: ignore


def test_a_resolved_pipeline_does_not_depend_on_the_context() -> None:
    outer = Sequential([StagedPipeline({"s": [named("a")]}, name="inner"), named("b")])
    ctx = PassContext(extensions=False, extra_passes=[named("x", behind=["a"])])
    resolved = resolve(outer, ctx)
    assert str(resolved).endswith("(a,x),b)") and str(outer).endswith("(a),b)")
    with PassContext(extra_passes=[named("y", behind=["a"])]):
        assert tags(resolved(module())) == ["a", "x", "b"]
        assert tags(outer(module())) == ["a", "y", "b"]


def test_a_pipeline_in_which_nothing_takes_part_is_itself() -> None:
    outer = Sequential([StagedPipeline({"s": [named("a")]})])
    assert resolve(outer, PassContext(extensions=False)) is outer
