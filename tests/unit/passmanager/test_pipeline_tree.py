"""The text of a pipeline as a tree of the ops that passes visit."""

from __future__ import annotations

from support.passes.toy import Append, Nothing
from support.tables import table_test

from passline.passmanager import Fixpoint, FunctionPass, PassContext, Sequential
from passline.passmanager.anchors import OpAnchor, nest
from passline.passmanager.pipeline import parse_pipeline, pipeline_text
from passline.passmanager.pipeline_tree import pipeline_tree


def tree(text: str) -> list[str]:
    return pipeline_tree(parse_pipeline(text)).split("\n")


def test_passes_with_one_anchor_are_in_it_together() -> None:
    assert tree("func.func(canonicalize,cse),cse,func.func(cse)") == [
        "builtin.module(",
        "  func.func(",
        "    canonicalize,",
        "    cse",
        "  ),",
        "  cse,",
        "  func.func(",
        "    cse",
        "  )",
        ")",
    ]


def test_nested_modules_and_composites() -> None:
    text = 'builtin.module(builtin.module(cse,func.func(cse)),sequential{name="x"}(cse))'
    assert tree(text) == [
        "builtin.module(",
        "  builtin.module(",
        "    cse,",
        "    func.func(",
        "      cse",
        "    )",
        "  ),",
        '  sequential{name="x"}(',
        "    cse",
        "  )",
        ")",
    ]


class Visit(FunctionPass):
    name = "toy-visit"

    def transform_function(self, func: object, module: object, ctx: PassContext) -> None:
        pass


def test_function_pass_within_another_anchor() -> None:
    within = [nest(Visit(), "builtin.module"), nest(Visit(), OpAnchor("func.func", True))]
    assert pipeline_tree(Sequential(within)).split("\n")[1:-1] == [
        "  builtin.module(",
        "    func.func(",
        "      toy-visit",
        "    )",
        "  ),",
        "  **func.func(",
        "    toy-visit",
        "  )",
    ]


def test_anchor_of_a_function_pass() -> None:
    lines = pipeline_tree(Fixpoint([Visit(), Nothing()])).split("\n")
    assert lines[1:6] == [
        "  fixpoint{max-iterations=10}(",
        "    sequential(",
        "      func.func(",
        "        toy-visit",
        "      ),",
    ]


def test_empty_pipeline_and_a_pass_alone() -> None:
    assert pipeline_tree(Sequential()) == "builtin.module(\n)"
    assert pipeline_tree(Append()).startswith("builtin.module(\n  toy-append{")


@table_test(
    "text",
    [
        "cse,func.func(canonicalize,cse)",
        "builtin.module(builtin.module(func.func(cse)),builtin.module(cse))",
        'fixpoint(**func.func(cse)),func.func{name="a|b"}(cse),repeat{n=2}(cse)',
    ],
)
def test_it_is_read_as_the_same_pipeline(text: str) -> None:
    pipeline = parse_pipeline(text)
    assert pipeline_text(parse_pipeline(pipeline_tree(pipeline))) == pipeline_text(pipeline)
