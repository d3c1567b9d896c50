"""PrintDiff: format, the names of values, and robustness."""

from __future__ import annotations

import re
import sys
from collections import ChainMap
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from io import StringIO
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.passes.toy import Append, Fail, Nothing, Recorder, Tag, module, named, toy_context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from passline.passmanager import Fixpoint, PassContext, Sequential
from passline.passmanager.instruments import PrintDiff, diff
from passline.passmanager.instruments.diff import NamelessText, renamed, scopes, text_to_name
from passline.passmanager.instruments.printing import ir_text
from passline.passmanager.ir.text.printer import PrintStyle

Capture = pytest.CaptureFixture[str]


def titles(capsys: Capture) -> list[str]:
    """Return the titles of the diffs on stderr, in order; stdout must be empty."""
    printed = capsys.readouterr()
    assert printed.out == ""
    return re.findall(r"^// -----// IR Diff (.+) //----- //$", printed.err, re.MULTILINE)


def parsed(text: str) -> ModuleOp:
    return Parser(toy_context(), text).parse_module()


def ops_of(m: ModuleOp) -> list[Operation]:
    """Return the ops in the first function."""
    func = next(iter(m.ops))
    assert isinstance(func, FuncOp)
    return [*func.body.block.ops]


def changed_lines(capsys: Capture) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    return [re.sub(r"\s+", " ", line) for line in lines if line[:1] in ("-", "+")]


# Format


def test_diff_is_banner_unified_diff_and_an_empty_line(capsys: Capture) -> None:
    with PassContext(instruments=[PrintDiff()]):
        Sequential([Append("y"), Nothing(), Tag()])(module("f"))
    assert capsys.readouterr() == (
        "",
        """\
// -----// IR Diff After toy-append: toy-append{tag="y"} //----- //
@@ -2,4 +2,5 @@
   func.func @f() {
     func.return
   }
+  "test.op"() {tag = "y"} : () -> ()
 }

// -----// IR Diff After toy-tag //----- //
@@ -1,5 +1,5 @@
 builtin.module {
-  func.func @f() {
+  func.func @f() attributes {seen = "yes"} {
     func.return
   }
   "test.op"() {tag = "y"} : () -> ()

""",
    )


def test_in_colour_if_asked_for(capsys: Capture) -> None:
    with PassContext(instruments=[PrintDiff(color=True)]):
        Tag()(module("f"))
    assert (
        capsys.readouterr().err
        == """\
// -----// IR Diff After toy-tag //----- //
\x1b[36m@@ -1,5 +1,5 @@\x1b[0m
 builtin.module {
\x1b[31m-  func.func @f() {\x1b[0m
\x1b[32m+  func.func @f() attributes {seen = "yes"} {\x1b[0m
     func.return
   }
 }

"""
    )


@pytest.mark.parametrize(
    ("color", "no_color", "coloured"),
    [(None, "", True), (None, "1", False), (False, "", False), (True, "1", True)],
)
def test_colour_on_a_terminal(
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    color: bool | None,
    no_color: str,
    coloured: bool,
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with PassContext(instruments=[PrintDiff(color)]):
        Tag()(module("f"))
    assert ("\x1b[" in capsys.readouterr().err) is coloured


def test_failing_pass_shows_what_it_did_before(capsys: Capture) -> None:
    def half(m: ModuleOp, ctx: PassContext) -> None:
        Append().transform_module(m, ctx)
        raise ValueError

    with PassContext(instruments=[PrintDiff()]), pytest.raises(ValueError):
        named("half", body=half)(module())
    assert (
        capsys.readouterr().err
        == """\
// -----// IR Diff After half Failed //----- //
@@ -1,2 +1,3 @@
 builtin.module {
+  "test.op"() {tag = "x"} : () -> ()
 }

"""
    )


def test_failing_pass_that_did_nothing_or_was_rolled_back_shows_nothing(capsys: Capture) -> None:
    def half(m: ModuleOp, ctx: PassContext) -> None:
        Append().transform_module(m, ctx)
        raise ValueError

    with PassContext(instruments=[PrintDiff()], rollback=True):
        for failing in (Fail(), named("half", body=half)):
            with pytest.raises(ValueError):
                failing(parsed(CHAIN))
    assert titles(capsys) == []


def test_module_is_printed_once_a_change(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    printed: list[ModuleOp] = []

    def counting(m: ModuleOp, *_: object) -> NamelessText:
        printed.append(m)
        return text_to_name(m)

    monkeypatch.setattr(diff, "text_to_name", counting)
    with PassContext(instruments=[PrintDiff()], verify_each=False):
        Sequential([Nothing(), Append(), Nothing(), Nothing(), Append(), Nothing()])(module())
    assert len(printed) == 3 and len(titles(capsys)) == 2


def test_broken_ir_is_compared_in_generic_form(capsys: Capture) -> None:
    def break_it(m: ModuleOp, ctx: PassContext) -> None:
        del next(iter(m.ops)).properties["function_type"]

    with PassContext(instruments=[PrintDiff()]), pytest.raises(Exception):
        named("breaks", body=break_it)(module("f"))
    assert '+  "func.func"() <{sym_name = "f"}> ({' in capsys.readouterr().err


# The names of the result

CHAIN = """\
func.func @f(%x : i32) {
  %0 = "test.op"() {a} : () -> i32
  %1 = "test.op"() {b} : () -> i32
  %2 = "test.op"(%1) {c} : (i32) -> i32
  %3:2 = "test.op"(%2, %x) ({
  ^bb0(%y : i32):
    %4 = "test.op"(%y) : (i32) -> i32
    "test.termop"() : () -> ()
  }) : (i32, i32) -> (i32, i32)
  func.return
}
func.func @g(%x : i32) {
  %0 = "test.op"(%x) : (i32) -> i32
  func.return
}
"""


def test_names_are_the_printers_at_first() -> None:
    for m in (parsed(CHAIN), parsed('%0 = "test.op"() : () -> i32\n%a = "test.op"() : () -> i32')):
        names = ChainMap(*(renamed({}, values) for values in scopes(m).values()))
        assert text_to_name(m).lines(names) == ir_text(m).split("\n")


def test_deleting_an_op_is_a_change_of_one_line(capsys: Capture) -> None:
    def delete(m: ModuleOp, ctx: PassContext) -> None:
        ops_of(m)[0].detach()

    with PassContext(instruments=[PrintDiff()]):
        named("deletes", body=delete)(parsed(CHAIN))
    assert changed_lines(capsys) == ['- %5 = "test.op"() {a} : () -> i32']


def test_replacing_an_op_is_a_change_of_one_line(capsys: Capture) -> None:
    def replace(m: ModuleOp, ctx: PassContext) -> None:
        old = ops_of(m)[1]
        new = TestOp(result_types=[old.results[0].type])
        assert (block := old.parent) is not None
        block.insert_op_before(new, old)
        old.results[0].replace_all_uses_with(new.results[0])
        old.detach()

    with PassContext(instruments=[PrintDiff()]):
        named("replaces", body=replace)(parsed(CHAIN))
    old, new = '%1 = "test.op"() {b} : () -> i32', '%1 = "test.op"() : () -> i32'
    assert changed_lines(capsys) == [f"- {old}", f"+ {new}"]


def test_another_operand_is_seen(capsys: Capture) -> None:
    def use_the_first(m: ModuleOp, ctx: PassContext) -> None:
        first, second, *_ = ops_of(m)
        second.results[0].replace_all_uses_with(first.results[0])
        second.detach()

    with PassContext(instruments=[PrintDiff()]):
        named("cse", body=use_the_first)(parsed(CHAIN))
    assert changed_lines(capsys) == [
        '- %5 = "test.op"() {b} : () -> i32',
        '- %1 = "test.op"(%5) {c} : (i32) -> i32',
        '+ %1 = "test.op"(%0) {c} : (i32) -> i32',
    ]


def test_inserting_an_op_is_a_change_of_one_line(capsys: Capture) -> None:
    def insert(m: ModuleOp, ctx: PassContext) -> None:
        first = ops_of(m)[0]
        assert (block := first.parent) is not None
        new = TestOp(result_types=[first.results[0].type] * 2)
        new.results[1].name_hint = "x"
        block.insert_op_before(new, first)

    with PassContext(instruments=[PrintDiff()]):
        Sequential([named("inserts", body=insert)])(parsed(CHAIN))
    assert changed_lines(capsys) == ['+ %0, %x_1 = "test.op"() : () -> (i32, i32)']


@given(st.permutations(range(4)), st.sets(st.integers(0, 3)))
def test_lines_after_a_pass_are_those_of_the_printed_ir(order: list[int], gone: set[int]) -> None:
    """Check it for a pass that moves and deletes operations."""

    def edit(m: ModuleOp, ctx: PassContext) -> None:
        ops = ops_of(m)
        block = m.body.block.ops.first.regions[0].block  # pyright: ignore[reportOptionalMemberAccess]
        for index in order:
            ops[index].detach()
            if index not in gone:
                block.insert_op_before(ops[index], ops[-1])

    with redirect_stderr(shown := StringIO()):
        with PassContext(instruments=[PrintDiff(color=False)], verify_each=False):
            result = named("edits", body=edit)(parsed(CHAIN))
    lines = ir_text(result).splitlines()
    for line in shown.getvalue().splitlines():
        assert line[:1] not in ("+", " ") or line[1:] in lines


def test_only_the_functions_of_these_names(capsys: Capture) -> None:
    def delete(m: ModuleOp, ctx: PassContext) -> None:
        for func in m.ops:
            assert isinstance(func, FuncOp)
            assert (first := func.body.block.first_op) is not None
            first.detach()

    with PassContext(instruments=[PrintDiff(functions=["@g", "none"])]):
        Sequential([named("deletes", body=delete), Tag()])(parsed(CHAIN))
    printed = capsys.readouterr().err
    assert "@f" not in printed and printed.count("@g") == 3
    assert '-  %0 = "test.op"(%x) : (i32) -> i32' in printed


def test_function_that_is_made_anew_is_no_change(capsys: Capture) -> None:
    def delete(m: ModuleOp, ctx: PassContext) -> None:
        ops_of(m)[0].detach()

    def rebuild(m: ModuleOp, ctx: PassContext) -> None:
        for func in [*m.ops]:
            m.body.block.insert_op_before(func.clone(), func)
            func.detach()

    with PassContext(instruments=[PrintDiff()]):
        Sequential([named("deletes", body=delete), named("rebuilds", body=rebuild)])(parsed(CHAIN))
    assert titles(capsys) == ["After deletes"]


@given(st.permutations(range(9)), st.lists(st.sampled_from([None, "a", "b", "a_1"]), min_size=9))
def test_no_two_values_have_one_name(order: list[int], hints: list[str | None]) -> None:
    values = list(TestOp(result_types=[i32] * 9).results)
    for value, hint in zip(values, hints):
        value.name_hint = hint
    old = renamed({}, values[:6])
    new = renamed(old, [values[i] for i in order if i not in (1, 2)])
    assert len(set(new.values())) == len(new) == 7
    assert all(new[value] == old[value] for value in old.keys() & new.keys())


# What it survives


def test_failing_pass_inside_nested_pipelines(capsys: Capture) -> None:
    inner = Sequential([Append(), Nothing(), Fail()])
    with PassContext(instruments=[PrintDiff()]):
        with pytest.raises(ValueError):
            Sequential([Sequential([Fixpoint(inner)])])(module())
        Append("b")(module())
    assert titles(capsys) == ["After toy-append", 'After toy-append: toy-append{tag="b"}']


def test_skipped_passes(capsys: Capture) -> None:
    blocker = Recorder(blocks=frozenset(["toy-append"]))
    with PassContext(disabled_pass=["toy-nothing"], instruments=[PrintDiff(), blocker]):
        Sequential([Nothing(), Append(), Tag()])(module("f"))
    assert titles(capsys) == ["After toy-tag"]


def test_hook_of_another_instrument_that_raises(capsys: Capture) -> None:
    with PassContext(instruments=[PrintDiff(), Recorder(fail_in=frozenset(["after"]))]) as ctx:
        with pytest.raises(RuntimeError):
            Sequential([Append()])(module())
        ctx.instruments = ctx.instruments[:1]
        Sequential([Append()])(module())
    assert titles(capsys) == ["After toy-append"] * 2


def test_two_threads(capsys: Capture) -> None:
    barrier = Barrier(2, timeout=10)
    printer = PrintDiff()

    def run(name: str) -> None:
        def meet(m: ModuleOp, ctx: PassContext) -> None:
            barrier.wait()

        wait = named("waits", body=meet)
        with PassContext(instruments=[printer]):
            Sequential([wait, Append(name), wait, Append(name), wait])(module(name))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, ("left", "right")))
    diffs = capsys.readouterr().err.split("// -----// ")[1:]
    assert len(diffs) == 4
    for text in diffs:
        assert ("left" in text) is not ("right" in text)
        assert len(re.findall(r"^[-+]", text, re.MULTILINE)) == 1


def test_entered_twice(capsys: Capture) -> None:
    printer = PrintDiff()
    with PassContext(instruments=[printer]):
        with PassContext(instruments=[printer]):
            Append()(module())
        Append()(module())
    assert titles(capsys) == ["After toy-append"] * 2


def test_run_within_a_run(capsys: Capture) -> None:
    def run_another(m: ModuleOp, ctx: PassContext) -> None:
        Append("inner")(module("g"))
        Append("outer").apply(ctx.ir_context, m)

    with PassContext(instruments=[PrintDiff()]):
        Sequential([named("calls", body=run_another)])(module("f"))
    expected = [f'After toy-append: toy-append{{tag="{tag}"}}' for tag in ("inner", "outer")]
    assert titles(capsys) == expected


def test_ops_in_comments_have_no_name_of_a_value(capsys: Capture) -> None:
    text = '%0 = "test.op"() : () -> i32\n"test.op"(%0) : (i32) -> ()'
    with PassContext(instruments=[PrintDiff(color=False, style=PrintStyle(value_users=True))]):
        Append("a")(parsed(text))
    shown = capsys.readouterr().err
    assert "%0 = " in shown and "// user: %1" in shown and "// id: %1" in shown
