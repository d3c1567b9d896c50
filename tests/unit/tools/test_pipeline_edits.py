"""--add-pass, --replace-pass, --no-plugins-in-pipelines, and the plan as a graph."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.passes.toy import Append, Nothing, named, register_in_test
from support.suites.inprocess import passline_opt
from support.tables import table_test

from passline.passmanager import Stages, named_pipeline, register_pass
from passline.passmanager.registry import installed


@pytest.fixture(autouse=True)
def passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register `a b c`, the pipeline `mine` of them, and a placed pass `x` of a project."""
    register_in_test(monkeypatch, Append, Nothing, *(type(named(name)) for name in "abc"))
    register_pass(type(named("placed", behind=["a"])))
    register_pass(named_pipeline("mine", Stages({"first": ("a", "b"), "second": ("c",)})))
    installed().sources.clear()
    installed().add_pass("x", lambda: type(named("x", within="first")), "project 1.0")


def plan(*args: str) -> list[str]:
    """Return the lines of --explain-pipeline without `run`."""
    result = passline_opt(*args, "--explain-pipeline")
    assert (result.status, result.stderr) == (0, ""), result.stderr
    return [line.removeprefix("run").strip() for line in result.stdout.splitlines()]


def refused(*args: str) -> str:
    result = passline_opt(*args, "--explain-pipeline")
    assert result.status == 2 and "Traceback" not in result.stderr and result.stdout == ""
    return result.stderr


# --add-pass


@table_test(
    ("options", "expected"),
    [
        (["toy-nothing"], ["a", "b", "toy-nothing  # --add-pass: at the end"]),
        (["toy-nothing@after:a"], ["a", "toy-nothing  # --add-pass: after a", "b"]),
        (["toy-nothing@before:a"], ["toy-nothing  # --add-pass: before a", "a", "b"]),
        (["ToyNothing @ before : B"], ["a", "toy-nothing  # --add-pass: before B", "b"]),
        (["placed"], ["a", "placed  # --add-pass: after a", "b"]),
        (["placed@before:a"], ["placed  # --add-pass: before a", "a", "b"]),
        (
            ['toy-append{tag="a@before:b"}@after:a'],
            ["a", 'toy-append{tag="a@before:b"}  # --add-pass: after a', "b"],
        ),
        (
            ["toy-nothing@after:a@before:b"],
            ["a", "toy-nothing  # --add-pass: after a, before b", "b"],
        ),
        (
            ["c,toy-nothing@after:a"],
            ["a", "c  # --add-pass: after a", "toy-nothing  # --add-pass: after a", "b"],
        ),
        (
            ["c@after:a", "toy-nothing@after:c"],
            ["a", "c  # --add-pass: after a", "toy-nothing  # --add-pass: after c", "b"],
        ),
    ],
)
def test_a_pass_is_added_to_p(options: list[str], expected: list[str]) -> None:
    assert plan("-p", "a,b", *(f"--add-pass={option}" for option in options)) == expected


def test_a_pass_is_added_to_the_pipeline_that_p_names() -> None:
    found = plan("-p", "toy-nothing,mine", "--add-pass=c@stage:first", "--no-plugins-in-pipelines")
    assert found == ["toy-nothing", "mine", "a", "b", "c  # --add-pass: in stage first", "c"]


def test_added_passes_run(tmp_path: Path) -> None:
    result = passline_opt(
        "-p", "a", "--add-pass=toy-append{tag=z}@before:a", stdin="builtin.module {}"
    )
    assert result.status == 0
    assert result.stdout.index('"z"') < result.stdout.index('"a"')


@table_test(
    ("option", "message"),
    [
        ("toy-nothin", "there is no pass 'toy-nothin', did you mean 'toy-nothing'?"),
        ("toy-nothing@befor:a", "there is no place '@befor:', did you mean 'before'?"),
        ("toy-nothing@zzz:a", "there is no place '@zzz:'; expected one of after, before, stage"),
        ("toy-nothing@after:b@before:a", "placements contradict each other: "),
        ("@after:b", "expected the name of a pass"),
        ("toy-nothing@stage:x@stage:y", "a pass is in one stage"),
        ("toy-append{tagg=1}", "'toy-append' has no option 'tagg', did you mean 'tag'?"),
    ],
)
def test_a_mistake_in_add_pass_is_named(option: str, message: str) -> None:
    assert message in refused("-p", "a,b", f"--add-pass={option}")


def test_a_place_that_does_not_exist_is_a_warning() -> None:
    result = passline_opt("-p", "a,b", "--add-pass=c@after:aa", "--explain-pipeline")
    assert result.status == 0 and "run  c  # --add-pass: after aa" in result.stdout
    assert "warning: --add-pass: 'c' is placed after 'aa', which is neither a pass" in result.stderr
    assert "did you mean 'a'?" in result.stderr


def test_an_added_pass_above_the_level_is_a_warning() -> None:
    register_pass(type(named("high", level=3)))
    result = passline_opt("-O1", "--add-pass=high", "--explain-pipeline")
    assert "warning: not run: high (opt_level 3 > 1; --add-pass: at the end)" in result.stderr


# --replace-pass


def test_a_pass_is_replaced() -> None:
    assert plan("-p", "a,b", "--replace-pass=A=toy-append{tag=q},c") == [
        'toy-append{tag="q"}  # in the place of A',
        "c  # in the place of A",
        "b",
    ]
    found = plan("-p", "fixpoint(a)", "--replace-pass=a=c")
    assert found == ["fixpoint", "c  # until nothing changes"]


def test_what_replaces_a_pass_is_a_place() -> None:
    found = plan("-p", "a,b", "--replace-pass=a=c", "--add-pass=toy-nothing@after:c")
    assert found[0].startswith("c") and found[1].startswith("toy-nothing")


@table_test(
    ("option", "message"),
    [
        ("d=a", "there is no pass 'd' in the pipeline to replace"),
        ("a-a=b", "to replace, did you mean 'a'?"),
        ("a", "--replace-pass a: expected NAME=PASS"),
        ("a=", "--replace-pass a=: expected NAME=PASS"),
        ("a=toy-nothin", "there is no pass 'toy-nothin', did you mean 'toy-nothing'?"),
    ],
)
def test_a_mistake_in_replace_pass_is_named(option: str, message: str) -> None:
    assert message in refused("-p", "a,b", f"--replace-pass={option}")


@table_test("option", ["--add-pass=a", "--replace-pass=a=b"])
def test_a_reproducer_is_run_as_it_is(option: str) -> None:
    assert "--run-reproducer takes the pipeline from the input, not" in refused(
        "--run-reproducer", option
    )


# What takes part by itself


def test_passes_of_projects_take_part_in_named_pipelines() -> None:
    x = "x  # from project 1.0: in stage first"
    assert plan("-p", "mine") == ["mine", "a", "b", x, "c"]
    assert plan("-p", "mine", "--no-plugins-in-pipelines") == ["mine", "a", "b", "c"]
    assert plan("-p", "a,b,c") == ["a", "b", "c"]
    assert plan("-p", "mine", "--add-pass=x@after:c")[1:] == [
        "a",
        "b",
        "c",
        "x  # --add-pass: after c",
    ]


def test_they_are_in_the_text_of_the_pipeline(tmp_path: Path) -> None:
    result = passline_opt("-p", "mine", "--dump-pass-pipeline", stdin="builtin.module {}")
    lines = [line.strip(" ,") for line in result.stderr.splitlines()]
    assert lines[-6:-2] == ["a", "b", "x", "c"]


def test_a_pass_of_a_loaded_file_takes_part(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from passline.passmanager import ModulePass\n"
        "class Own(ModulePass):\n"
        "    name = 'own'\n"
        "    after = ('a',)\n"
        "    def transform_module(self, module, ctx): pass\n"
    )
    found = plan("-p", "mine", f"--load={tmp_path / 'own.py'}")
    assert found[:3] == ["mine", "a", "own  # from own.py: after a"]


# The graph


def test_the_plan_as_a_graph() -> None:
    read = json.loads(passline_opt("-p", "mine", "--explain-pipeline=json").stdout)
    assert [step["stage"] for step in read["steps"]] == ["", "first", "first", "first", "second"]
    text = passline_opt("-p", "mine", "--explain-pipeline=dot").stdout
    assert text.startswith("digraph pipeline {")
    assert passline_opt("-p", "a", "--explain-pipeline=text").stdout == "run  a\n"
