"""Remarks: their text and YAML, and their selection."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support.passes.toy import Append, Nothing, collect, module, named, toy_context
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp, StringAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from passline.passmanager import (
    Actions,
    Diagnostic,
    FunctionPass,
    PassContext,
    PatternPass,
    Remark,
    RemarkKind,
    Sequential,
    Severity,
)
from passline.passmanager.actions import Argument, RemarkFilter
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.remark_yaml import yaml_text


def say(actions: Actions, op: Operation) -> None:
    """Make a remark of each kind."""
    actions.passed(op, "Done", "did it")
    actions.missed(op, "TooBig", "left it", Size=7, Ratio=1.5)
    actions.failed(op, "Broken", "tried it", Why='a "quoted" word')
    actions.analysis(None, "Fact", "found it")


class Say(FunctionPass):
    name = "say"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        say(ctx.actions, func)


def run(remark_filter: str | Mapping[str, str] | None, *passes: FunctionPass) -> list[Remark]:
    """Return the remarks of passes on a module with one function."""
    found: list[Diagnostic] = []
    text = "func.func @f() {\n  func.return\n}\n"
    with PassContext(remark_filter=remark_filter, renderer=found.extend):
        context = toy_context()
        Sequential(passes or [Say()]).apply(context, parse_module(context, text, "a.mlir"))
    assert all(isinstance(d, Remark) for d in found)
    return [d for d in found if isinstance(d, Remark)]


def names(remarks: list[Remark]) -> list[str]:
    return [remark.name for remark in remarks]


# Format


def test_text() -> None:
    assert [str(remark) for remark in run(".*")] == [
        "a.mlir:1:1: remark: [Passed] Done | Category:say | Function=f | "
        'Remark="did it", Op="func.func"',
        "a.mlir:1:1: remark: [Missed] TooBig | Category:say | Function=f | "
        'Remark="left it", Op="func.func", Size=7, Ratio=1.5',
        "a.mlir:1:1: remark: [Failure] Broken | Category:say | Function=f | "
        'Remark="tried it", Op="func.func", Why="a "quoted" word"',
        'remark: [Analysis] Fact | Category:say | Function=f | Remark="found it"',
    ]


def test_yaml() -> None:
    assert (
        yaml_text(run(".*"))
        == """\
--- !Passed
Pass:            say
Name:            Done
DebugLoc:        { File: a.mlir, Line: 1, Column: 1 }
Function:        f
Args:
  - Remark:          did it
  - Op:              func.func
...
--- !Missed
Pass:            say
Name:            TooBig
DebugLoc:        { File: a.mlir, Line: 1, Column: 1 }
Function:        f
Args:
  - Remark:          left it
  - Op:              func.func
  - Size:            '7'
  - Ratio:           '1.5'
...
--- !Failure
Pass:            say
Name:            Broken
DebugLoc:        { File: a.mlir, Line: 1, Column: 1 }
Function:        f
Args:
  - Remark:          tried it
  - Op:              func.func
  - Why:             'a "quoted" word'
...
--- !Analysis
Pass:            say
Name:            Fact
Function:        f
Args:
  - Remark:          found it
...
"""
    )


@table_test(
    ("text", "scalar"),
    [
        ("a b-c/d.e", "a b-c/d.e"),
        ("/a/b.mlir", "/a/b.mlir"),
        ("<stdin>", "'<stdin>'"),
        ("it's", "'it''s'"),
        ("a: b", "'a: b'"),
        ("a #b", "'a #b'"),
        ("a - b", "a - b"),
        ("- a", "'- a'"),
        (" a", "' a'"),
        ("a ", "'a '"),
        ("", "''"),
        ("No", "'No'"),
        ("1e5", "'1e5'"),
        ("grün", "'grün'"),
        ('a\n"b"\\\t', '"a\\x0A\\"b\\"\\\\\\x09"'),
        ("\u2028", '"\\u2028"'),
        ("\U000e0001", '"\\U000E0001"'),
    ],
)
def test_text_in_yaml_cannot_be_misread(text: str, scalar: str) -> None:
    remark = run({"passed": ""})[0]
    remark.arguments = {"Text": text}
    assert f"\n  - Text:            {scalar}\n" in yaml_text([remark])


def test_key_that_yaml_knows_is_quoted() -> None:
    remark = run({"passed": ""})[0]
    remark.arguments = {"n": 1}
    assert "\n  - 'n':             '1'\n" in yaml_text([remark])


def test_remark_about_nothing_in_no_function() -> None:
    found: list[Diagnostic] = []

    def body(module: ModuleOp, ctx: PassContext) -> None:
        ctx.actions.analysis(None, "Fact", "found")

    fact = named("fact", body=body)
    with PassContext(remark_filter="fact", renderer=found.extend):
        fact(module())
    assert str(found[0]) == 'remark: [Analysis] Fact | Category:fact | Remark="found"'
    assert isinstance(found[0], Remark)
    assert "Function:        '<unknown function>'\n" in yaml_text([found[0]])


def test_value_is_where_it_is_defined() -> None:
    class OfValue(FunctionPass):
        name = "of-value"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            op = TestOp(result_types=[i32])
            func.body.block.insert_op_before(op, func.body.block.ops.first or op)
            ctx.actions.passed(op.results[0], "Made", "new", Op="mine")

    (remark,) = run(".*", OfValue())
    assert str(remark).startswith("a.mlir:1:1: ") and remark.function == "f"
    assert remark.arguments == {"Remark": "new", "Op": "mine"}


# Filters


@table_test(
    ("remark_filter", "shown"),
    [
        (None, []),
        ({}, []),
        ("other", []),
        ("^s", ["Done", "TooBig", "Broken", "Fact"]),
        ({"missed": "say"}, ["TooBig"]),
        ({"failed": "a", "analysis": "y$"}, ["Broken", "Fact"]),
        ({"all": "other", "passed": ""}, ["Done"]),
        ({"all": "", "passed": "other"}, ["Done", "TooBig", "Broken", "Fact"]),
    ],
)
def test_filter(remark_filter: str | dict[str, str] | None, shown: list[str]) -> None:
    assert names(run(remark_filter)) == shown


def test_pass_can_ask_whether_anybody_wants_to_know() -> None:
    wanted: list[bool] = []
    ask = named("ask", body=lambda m, ctx: wanted.append(ctx.actions.wants_remarks))
    for remark_filter in (None, "other", {"missed": "ask"}):
        with PassContext(remark_filter=remark_filter):
            ask(module())
    assert wanted == [False, False, True]


def test_unknown_kind_and_bad_pattern() -> None:
    with pytest.raises(ValueError, match="unknown kind of remarks 'mised', did you mean 'missed'"):
        PassContext(remark_filter={"mised": ""})
    with pytest.raises(ValueError, match="choose from passed, missed, failed, analysis, all"):
        RemarkFilter({"zzzzzz": ""})
    with pytest.raises(ValueError, match=r"remark_filter: '\(' for all: missing \)"):
        PassContext(remark_filter="(")


def test_remark_of_no_kind_needs_no_filter() -> None:
    shown: list[str] = []
    plain = named(
        "plain", body=lambda m, ctx: void(ctx.diagnostics.emit(Severity.REMARK, None, "seen"))
    )
    with PassContext(renderer=collect(shown)):
        plain(module())
    assert shown == ["remark: seen"]


def void(_: object) -> None: ...


def test_remarks_of_a_pass_that_fails_are_shown() -> None:
    shown: list[str] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        ctx.actions.passed(None, "Done", "did it")
        raise KeyError

    with PassContext(renderer=collect(shown), remark_filter=""), pytest.raises(KeyError):
        named("fails", body=body)(module())
    assert shown == ['remark: [Passed] Done | Category:fails | Remark="did it"']


def test_actions_need_a_pass_that_runs() -> None:
    with pytest.raises(RuntimeError, match="no pass is running"):
        PassContext(remark_filter="").actions


# Patterns


class Drop(RewritePattern):
    """A pattern that erases tagged ops."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if "tag" in op.attributes:
            rewriter.erase(op)


class DropAll(PatternPass):
    name = "drop-all"

    def patterns(self) -> list[RewritePattern]:
        return [Drop()]


class Mark(FunctionPass):
    """A pattern that inserts a tagged op before each function."""

    name = "mark"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        block = func.body.block
        assert block.first_op is not None
        block.insert_op_before(TestOp(attributes={"tag": StringAttr("")}), block.first_op)


def test_rewrite_is_a_passed_remark_of_the_name_of_the_pattern() -> None:
    (remark,) = run(".*", Mark(), DropAll())
    arguments: dict[str, Argument] = {"Remark": "rewritten", "Op": "test.op"}
    assert (remark.kind, remark.name, remark.pass_name) == (RemarkKind.PASSED, "Drop", "drop-all")
    assert (remark.function, remark.arguments) == ("f", arguments)
    assert run({"missed": ""}, Mark(), DropAll()) == []


def test_passes_that_make_no_remarks_are_not_affected() -> None:
    with PassContext(remark_filter=".*"):
        Sequential([Nothing(), Append()])(module())


# Categories and relations


class Explain(FunctionPass):
    """Make two remarks in categories, the second related to the first, and one in neither."""

    name = "explain"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        why = ctx.actions.analysis(func, "Fact", "is small", category="size")
        ctx.actions.passed(func, "Done", "inlined it", category="inlining", related=why)
        ctx.actions.missed(func, "Kept", "kept it")


@table_test(
    ("pattern", "expected"),
    [
        ("^size$", ["Fact"]),
        ("inlin", ["Done"]),
        ("size|inlining", ["Fact", "Done"]),
        ("explain", ["Fact", "Done", "Kept"]),
        ("fold", []),
    ],
)
def test_remarks_are_selected_by_category_or_pass(pattern: str, expected: list[str]) -> None:
    assert names(run(pattern, Explain())) == expected


def test_pass_declares_the_categories_that_it_is_asked_about() -> None:
    class Declares(FunctionPass):
        name = "declares"
        remark_categories = ("size",)

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            asked.append(ctx.actions.wants_remarks)

    asked: list[bool] = []
    for pattern in ("size", "declares", "inlining"):
        run(pattern, Declares())
    assert asked == [True, True, False]


def test_related_remark_has_an_id() -> None:
    fact, done, kept = run(".*", Explain())
    assert (fact.category, done.category, kept.category) == ("size", "inlining", "explain")
    assert done.related is fact
    assert fact.message == (
        '[Analysis] Fact | Category:size | Function=f | Remark="is small", Op="func.func", '
        "RemarkId=1"
    )
    assert done.message.endswith('Remark="inlined it", Op="func.func", RelatedTo=1')
    assert "Pass:            inlining\n" in yaml_text([done])
    assert "RemarkId" not in kept.message


def test_remark_related_to_one_that_is_not_wanted() -> None:
    (done,) = run("inlining", Explain())
    assert done.related is None and "RelatedTo" not in done.message
