"""ExpectedDiagnostics: comments and diagnostics, as mlir-opt holds them against each other."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from support.passes.toy import module
from support.suites.inprocess import mlir_opt, passline_opt
from support.tables import table_test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr

from passline.passmanager import Diagnostic, DiagnosticError, ModulePass, PassContext, Severity
from passline.tools.expected_diagnostics import ExpectedDiagnostics


def at(line: int, column: int = 1, file: str = "x.mlir") -> FileLineColLoc:
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def error(message: str, line: int | None = None) -> Diagnostic:
    return Diagnostic(Severity.ERROR, message, None if line is None else at(line))


def check(text: str, *diagnostics: Diagnostic, **options: bool) -> list[str]:
    """The problems with these diagnostics about a text, as text."""
    expected = ExpectedDiagnostics("x.mlir", text, **options)
    for diagnostic in diagnostics:
        expected.renderer([diagnostic])
    return list(map(str, expected.finish()))


# Messages


def test_expected_but_not_produced() -> None:
    text = "  // expected-error {{bad thing}}\nop // expected-remark@unknown {{odd}}"
    assert check(text) == [
        'x.mlir:1:6: error: expected error "bad thing" was not produced',
        'error: expected remark "odd" was not produced',
    ]


def test_produced_but_not_expected() -> None:
    assert check("op", error("bad", 1), error("worse")) == [
        "x.mlir:1:1: error: unexpected error: bad",
        "error: unexpected error: worse",
    ]


def test_right_text_of_another_kind() -> None:
    assert check("op // expected-warning {{bad}}", error("bad", 1)) == [
        "x.mlir:1:7: error: 'error' diagnostic emitted when expecting a 'warning'",
        'x.mlir:1:7: error: expected warning "bad" was not produced',
    ]


def test_what_was_wrong_on_the_way_comes_first_and_the_unknown_last() -> None:
    text = (
        "// expected-error@unknown {{a}}\n// expected-error-re {{{{(}}}}\nop // expected-note {{b}}"
    )
    assert check(text, error("c", 3)) == [
        "x.mlir:2:4: error: invalid regex: missing ), unterminated subpattern",
        "x.mlir:3:1: error: unexpected error: c",
        'x.mlir:3:7: error: expected note "b" was not produced',
        'error: expected error "a" was not produced',
    ]


def test_nothing_expected_nothing_produced() -> None:
    assert check("op\n") == []


# Text


@table_test("kind", ["error", "warning", "remark", "note"])
def test_kinds(kind: str) -> None:
    diagnostic = Diagnostic(Severity(kind), "'a.b' op is bad", at(1))
    assert check(f"op // expected-{kind} {{{{is bad}}}}", diagnostic) == []


@table_test("text", ["is bad", "'a.b' op", "", "'a.b' op is bad"])
def test_part_of_the_message_is_enough(text: str) -> None:
    assert check(f"op // expected-error {{{{{text}}}}}", error("'a.b' op is bad", 1)) == []


@table_test("text", ["Is bad", "is  bad", "is bad!", "i.*d"])
def test_text_is_exact(text: str) -> None:
    assert len(check(f"op // expected-error {{{{{text}}}}}", error("is bad", 1))) == 2


@table_test(
    "comment",
    [
        "// expected-error{{bad}}",
        "//expected-error  {{bad}}  \t\r",
        "// expected-error @+0 {{bad}}",
        "// expected-error@-0{{bad}}",
        "# see unexpected-error {{bad}}",
    ],
)
def test_spellings(comment: str) -> None:
    assert check(comment, error("bad", 1)) == []


@table_test(
    "comment",
    [
        "// expected-error 2 {{bad}}",
        "// expected-error {{bad}} twice",
        "// expected-error\t{{bad}}",
        "// expected-error@ +1 {{bad}}",
        "// expected-error@down {{bad}}",
        "// expected-help {{bad}}",
        "// expected-error {bad}",
    ],
)
def test_what_is_no_such_comment_is_ignored(comment: str) -> None:
    assert check(comment) == []


def test_all_up_to_the_last_braces_is_one_text() -> None:
    text = "// expected-error {{a}} expected-error {{b}}"
    assert check(text, error("a}} expected-error {{b", 1)) == []


# Regular expressions


@table_test(
    ("text", "message"),
    [
        ("has {{[0-9]+}} ops", "it has 12 ops."),
        ("{{a|b}}c{{d?}}", "xbcx"),
        ("(f) {{.*}} [1]", "(f) one\ntwo [1]"),
        ("plain.", "plain."),
        ("{{}}x", "x"),
    ],
)
def test_regex(text: str, message: str) -> None:
    assert check(f"op // expected-error-re {{{{{text}}}}}", error(message, 1)) == []


@table_test(("text", "message"), [("plain.", "plains"), ("{{a|b}}c", "ab"), ("a{{b}}c", "a{{b}}c")])
def test_regex_that_does_not_match(text: str, message: str) -> None:
    assert len(check(f"op // expected-error-re {{{{{text}}}}}", error(message, 1))) == 2


@table_test(
    ("text", "problem"),
    [
        ("a {{b", "found start of regex with no end '}}'"),
        ("a {{b}} {{c", "found start of regex with no end '}}'"),
        ("a {{[b}}", "invalid regex: unterminated character set"),
        ("{{(}} and {{)}}", "invalid regex: missing ), unterminated subpattern"),
    ],
)
def test_regex_that_is_none(text: str, problem: str) -> None:
    for only_expected in (False, True):
        problems = check(f"op // expected-error-re {{{{{text}}}}}", only_expected=only_expected)
        assert problems == [f"x.mlir:1:7: error: {problem}"]


# Lines

LINES = """\
one
// expected-error@{} {{{{bad}}}}
// expected-remark@{} {{{{odd}}}}

five
"""


@table_test(
    ("where", "line"),
    [("+3", 5), ("-1", 1), ("above", 1), ("below", 4), ("+0", 2), ("-99", -97), ("+99", 101)],
)
def test_other_lines(where: str, line: int) -> None:
    text = LINES.format(where, "-2")
    odd = Diagnostic(Severity.REMARK, "odd", at(1))
    assert check(text, odd, *([error("bad", line)] if line > 0 else [])) == (
        [] if line > 0 else ['x.mlir:2:4: error: expected error "bad" was not produced']
    )
    assert len(check(text, odd, error("bad", 3))) == 2


def test_several_comments_above_and_below_one_line() -> None:
    text = """\
// expected-error@below {{a}}
// expected-error@below {{b}}
op
// expected-error@above {{c}}
// expected-error@above {{d}}
"""
    assert check(text, *(error(message, 3) for message in "abcd")) == []


def test_above_and_below_pass_over_lines_with_comments() -> None:
    text = "op\nother // expected-error {{a}}\n// expected-error@above {{b}}"
    assert check(text, error("a", 2), error("b", 1)) == []
    text = "// expected-error@below {{b}}\nother // expected-error {{a}}\nop"
    assert check(text, error("a", 2), error("b", 3)) == []


def test_below_at_the_end_means_the_last_line() -> None:
    assert check("op\n// expected-error@below {{a}}", error("a", 2)) == []


def test_above_at_the_start_means_the_first_line() -> None:
    assert check("// expected-error@above {{a}}\nop", error("a", 1)) == []


def test_unknown_is_for_diagnostics_without_a_place() -> None:
    text = "op // expected-error@unknown {{bad}}"
    assert check(text, error("bad")) == []
    assert len(check(text, error("bad", 1))) == 2


def test_other_file() -> None:
    diagnostic = Diagnostic(Severity.ERROR, "bad", at(1, file="y.mlir"))
    assert check("op // expected-error {{bad}}", diagnostic) == [
        "y.mlir:1:1: error: unexpected error: bad",
        'x.mlir:1:7: error: expected error "bad" was not produced',
    ]


def test_lines_of_a_chunk_are_those_of_the_file() -> None:
    text = "\nop\n// expected-error@-1 {{a}}\n// expected-error@above {{b}}\n"
    text += "// expected-error@below {{c}}"
    expected = ExpectedDiagnostics("x.mlir", text, 10)
    expected.renderer([error("a", 12), error("b", 12)])
    assert list(map(str, expected.finish())) == [
        'x.mlir:15:4: error: expected error "c" was not produced'
    ]
    expected.renderer([error("c", 15)])
    assert expected.finish() == []


# Counts and notes


def test_one_comment_is_met_by_any_number_of_diagnostics() -> None:
    assert check("op // expected-error {{}}", error("a", 1), error("b", 1)) == []


def test_the_first_of_two_equal_comments_takes_all() -> None:
    text = "// expected-error@+2 {{a}}\n// expected-error@+1 {{a}}\nop"
    assert check(text, error("a", 3), error("a", 3)) == [
        'x.mlir:2:4: error: expected error "a" was not produced'
    ]


def test_notes_are_expected_where_they_point() -> None:
    text = "op // expected-error {{bad}}\nother // expected-note {{see}}"
    diagnostic = error("bad", 1).note(at(2), "see here")
    assert check(text, diagnostic) == []
    assert check(text.splitlines()[0], diagnostic) == [
        "x.mlir:2:1: error: unexpected note: see here"
    ]


def test_note_without_a_place_has_its_diagnostics_and_help_is_a_note() -> None:
    text = "// expected-error@+1 {{bad}}\nop // expected-note {{do}}\n// expected-note@-1 {{see}}"
    assert check(text, error("bad", 2).note(None, "see").help("do")) == []


def test_only_expected() -> None:
    text = "op // expected-error {{bad}}\n// expected-note@above {{see}}"
    diagnostics = error("bad", 1).note(None, "other"), error("worse", 1), error("bad")
    assert check(text, *diagnostics, only_expected=True) == [
        'x.mlir:2:4: error: expected note "see" was not produced'
    ]
    wrong_kind = Diagnostic(Severity.WARNING, "bad", at(1))
    assert check("op // expected-error {{bad}}", wrong_kind, only_expected=True) == [
        'x.mlir:1:7: error: expected error "bad" was not produced'
    ]


# As a renderer


class Complain(ModulePass):
    """Report an error with a note, and a remark."""

    name = "complain"

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.error(at(1), "bad").note(at(2), "because of this")
        ctx.diagnostics.emit(Severity.REMARK, None, "done")


def test_renderer_of_a_context() -> None:
    text = "op // expected-error {{bad}}\nop // expected-note {{this}}\n"
    expected = ExpectedDiagnostics("x.mlir", text)
    with PassContext(renderer=expected.renderer), pytest.raises(DiagnosticError):
        Complain()(module("f"))
    assert list(map(str, expected.finish())) == ["error: unexpected remark: done"]


# The model

HERE = """\
func.func @f() -> i32 {{
  return
  {}
}}
"""

ERROR = "'func.return' op has 0 operands, but enclosing function (@f) returns 1"


@pytest.mark.skipif(mlir_opt() is None, reason="mlir-opt is not installed")
@pytest.mark.parametrize(
    "comment",
    [
        "",
        "// expected-error@above {{has 0}}",
        "// expected-error@-1 {{has 1}}",
        "// expected-warning@-1 {{has 0}}",
        "// expected-error@+1 {{has 0}}",
        "// expected-error@below {{has 0}}",
        "// expected-error@unknown {{}}",
        "// expected-error-re@above {{has {{[0-9]}} operands{{.*}} returns {{1|2}}}}",
        "// expected-error-re@above {{has {{[a-z]}}}}",
        "// expected-error-re@above {{has {{0}}",
        "// expected-error@above {{has 0}} {{has 1}}",
        "// expected-error 2@above {{has 0}}",
        "// expected-error @above{{has 0}}  ",
        "// expected-note@above {{}}",
    ],
)
@pytest.mark.parametrize("only_expected", [False, True])
def test_same_as_mlir_opt(tmp_path: Path, comment: str, only_expected: bool) -> None:
    path, text = tmp_path / "x.mlir", HERE.format(comment)
    path.write_text(text)
    level = "only-expected" if only_expected else "all"
    command = [str(mlir_opt()), str(path), f"--verify-diagnostics={level}"]
    done = subprocess.run(command, capture_output=True, text=True)
    theirs = re.findall(r"^(?:\S*x\.mlir:|<unknown>:0: ).*", done.stderr, re.MULTILINE)
    theirs = [line.replace(f"{path}:", "x.mlir:").replace("<unknown>:0: ", "") for line in theirs]
    found = Diagnostic(Severity.ERROR, ERROR, at(2, 3))
    ours = check(text, found, only_expected=only_expected)
    assert ours == list(dict.fromkeys(theirs))  # mlir-opt says twice what is not at any line
    assert done.returncode == bool(ours)


# Remarks at the end: --remark-policy=final

REPEATING = """
from passline.passmanager import ModulePass
from xdsl.utils.exceptions import PassFailedException

class Repeat(ModulePass):
    name = "toy-repeat"
    def transform_module(self, module, ctx):
        for op in reversed([*module.ops]):
            why = ctx.actions.analysis(op, "Why", "for a reason")
            for text in ("first", "last"):
                ctx.actions.passed(op, "Done", text, related=why)

class GiveUp(ModulePass):
    name = "toy-give-up"
    def transform_module(self, module, ctx):
        raise PassFailedException
"""
TWO = "func.func @f() {\n  func.return\n}\nfunc.func @g() {\n  func.return\n}\n"


@pytest.fixture
def repeating(tmp_path: Path) -> str:
    (tmp_path / "repeating.py").write_text(REPEATING)
    return f"--load={tmp_path / 'repeating.py'}"


def shown(text: str) -> list[str]:
    """Return the lines of remarks: the line in the input, the name, and what they say."""
    found = re.findall(r":(\d+):\d+: remark: \[\w+\] (\w+) .*Remark=\"([\w ]+)\"", text)
    return [" ".join(parts) for parts in found]


def test_final_remarks_are_the_last_of_each_place_in_order(repeating: str) -> None:
    args = (repeating, "-p", "toy-repeat", "--remarks=repeat", "--remark-policy=final")
    result = passline_opt(*args, stdin=TWO)
    assert shown(result.stderr) == [
        "1 Done last",
        "1 Why for a reason",
        "4 Done last",
        "4 Why for a reason",
    ]
    assert len(shown(passline_opt(*args[:-1], stdin=TWO).stderr)) == 6


def test_final_remarks_of_a_pipeline_that_fails(repeating: str) -> None:
    args = (repeating, "-p", "toy-repeat,toy-give-up", "--remarks-passed", "--remark-policy=final")
    assert shown(passline_opt(*args, stdin=TWO).stderr) == ["1 Done last", "4 Done last"]
    expected = TWO.replace("{\n", "{ // expected-remark {{last}}\n")
    result = passline_opt(*args, "--verify-diagnostics", stdin=expected)
    assert (result.status, result.stderr) == (0, "")


def test_final_remarks_in_a_file(repeating: str, tmp_path: Path) -> None:
    path = tmp_path / "remarks.yaml"
    args = (repeating, "-p", "toy-repeat", f"--remarks-output={path}", "--remark-policy=final")
    assert passline_opt(*args, stdin=TWO).status == 0
    assert re.findall(r"Remark: +(\w+)", path.read_text()) == ["last", "for", "last", "for"]
