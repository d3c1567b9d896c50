"""Plans as text and as graphs: JSON and Graphviz."""

from __future__ import annotations

import json

from support.passes.toy import Nothing, named

from passline.passmanager import PassContext, Plan, StagedPipeline


def plan() -> Plan:
    base = named("base", keeps=["base"])
    user = named("user", requires=["base"], keeps=["base", str])
    placed = named("x", behind=["user"], ahead=["end"])
    pipeline = StagedPipeline({"first": [base, user], "second": [named("high", level=3)]})
    return pipeline.extended(placed, named("end")).plan(PassContext(opt_level=2, extensions=False))


def test_text_has_a_line_for_each_step_and_the_reason() -> None:
    assert str(plan()).splitlines() == [
        "run  base",
        "run  user",
        "run  x  # added: after user, before end",
        "skip high  # opt_level 3 > 2",
        "run  end  # added: at the end",
        "run  base  # again before user, unless it is still valid",
    ]


def test_summary_counts_what_runs_and_what_is_skipped() -> None:
    assert plan().summary == "5 run, 1 skipped"
    assert repr(plan()).startswith("5 run, 1 skipped\nrun  base\n")
    assert repr(StagedPipeline({"s": []}).plan()) == "0 run, 0 skipped"


def test_edges_are_the_order_requirements_and_places() -> None:
    names = [step.info.name for step in plan()]
    assert names == ["base", "base", "user", "x", "high", "end"]
    assert [*plan().edges()] == [
        (0, 1, "order"),
        (1, 2, "order"),
        (2, 3, "order"),
        (3, 5, "order"),
        (1, 2, "requires"),
        (2, 3, "after"),
        (3, 5, "before"),
    ]


def test_json_has_what_a_step_requires_preserves_and_where_it_is_placed() -> None:
    read = json.loads(plan().json())
    user, x = read["steps"][2], read["steps"][3]
    assert (user["pass"], user["stage"], user["action"]) == ("user", "first", "run")
    assert (user["required"], user["preserves"]) == (["base"], ["base", "str"])
    assert (user["requires"], user["ensures"]) == ([], [])
    assert x["placement"] == {"after": ["user"], "before": ["end"], "stage": ""}
    assert x["reason"] == "added: after user, before end"
    assert read["steps"][4]["action"] == "skip"
    assert {"first": 2, "second": 3, "kind": "after"} in read["edges"]


def test_dot_is_a_graph() -> None:
    text = plan().dot()
    assert text.startswith("digraph pipeline {") and text.endswith("}")
    assert r'2 [label="user\npreserves base, str"];' in text
    assert r'4 [label="high\nopt_level 3 > 2", style=dashed];' in text
    assert '2 -> 3 [style=dotted, label="after", constraint=false];' in text


def test_quotes_in_options_are_escaped() -> None:
    pipeline = StagedPipeline({"s": [Nothing()]}, name='a "b"')
    assert "toy-nothing" in pipeline.plan().dot()
