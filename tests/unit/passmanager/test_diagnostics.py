"""Diagnostics: their text, their rendering, and the failure of passes."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from support.passes.toy import Append, Nothing, Recorder, collect, module, named
from support.tables import table_test
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Block

from passline.passmanager import (
    Diagnostic,
    DiagnosticContext,
    DiagnosticError,
    Fixpoint,
    FunctionPass,
    ModulePass,
    PassContext,
    PasslineError,
    Sequential,
    Severity,
)
from passline.passmanager.diagnostics import print_diagnostics, render
from passline.passmanager.ir.location import remember_source


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], str]:
    """Write a source file and return its name."""

    def write(text: str) -> str:
        path = tmp_path / "source.mlir"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def make_location(file: str, line: int, column: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def place(line: int = 2, column: int = 3) -> FileLineColLoc:
    """Return a location in a file that does not exist."""
    return make_location("nofile.mlir", line, column)


def located(location: FileLineColLoc) -> TestOp:
    """Return an op with a location and a result."""
    op = TestOp(result_types=[i32])
    op.location = location
    return op


def report(*severities: Severity) -> DiagnosticContext:
    """Return diagnostics of these severities."""
    diagnostics = DiagnosticContext()
    for severity in severities:
        diagnostics.emit(severity, None, f"a {severity.value}")
    return diagnostics


# Collecting


def test_each_severity_has_a_method() -> None:
    found = DiagnosticContext()
    found.error(None, "a")
    found.warning(None, "b")
    found.emit(Severity.REMARK, None, "c")
    found.note(None, "d")
    found.help(None, "e")
    assert [str(d) for d in found] == ["error: a", "warning: b", "remark: c", "note: d", "help: e"]


def test_diagnostics_are_collected_and_counted() -> None:
    found = report(Severity.NOTE, Severity.ERROR)
    assert len(found) == 2
    assert [d.severity for d in found] == [Severity.NOTE, Severity.ERROR]


def test_diagnostics_may_be_added_while_they_are_walked() -> None:
    found = report(Severity.NOTE)
    for diagnostic in found:
        found.error(None, f"again: {diagnostic.message}")
    assert len(found) == 2


def test_flush_renders_all_at_once_and_empties() -> None:
    shown: list[Sequence[Diagnostic]] = []
    found = report(Severity.NOTE, Severity.WARNING)
    found.flush(shown.append)
    assert [[d.message for d in batch] for batch in shown] == [["a note", "a warning"]]
    assert len(found) == 0


def test_flush_of_nothing_renders_nothing() -> None:
    shown: list[Sequence[Diagnostic]] = []
    DiagnosticContext().flush(shown.append)
    assert shown == []


@table_test("severity", [s for s in Severity if s is not Severity.ERROR])
def test_only_errors_raise(severity: Severity) -> None:
    shown: list[str] = []
    report(severity).flush(collect(shown))
    assert shown == [f"{severity.value}: a {severity.value}"]


def test_error_raises_after_all_are_rendered() -> None:
    shown: list[str] = []
    with pytest.raises(DiagnosticError) as caught:
        report(Severity.ERROR, Severity.NOTE).flush(collect(shown))
    assert shown == ["error: a error", "note: a note"]
    assert [str(d) for d in caught.value.diagnostics] == shown
    assert isinstance(caught.value, PasslineError)


def test_error_says_the_first_and_how_many_more() -> None:
    with pytest.raises(DiagnosticError) as caught:
        report(Severity.NOTE, *[Severity.ERROR] * 3).flush(collect([]))
    assert str(caught.value) == "error: a error (and 2 more)"


def test_error_has_the_place_of_the_first() -> None:
    found = DiagnosticContext()
    found.error(place(7, 5), "wrong").note(None, "why")
    with pytest.raises(DiagnosticError, match=r"^nofile\.mlir:7:5: error: wrong$"):
        found.flush(collect([]))


# Places


def test_op_is_named_in_front_of_the_message() -> None:
    found = DiagnosticContext().error(located(place()), "is wrong")
    assert str(found) == "nofile.mlir:2:3: error: 'test.op' op is wrong"


def test_result_stands_for_the_place_of_its_op() -> None:
    found = DiagnosticContext().error(located(place()).results[0], "is wrong")
    assert str(found) == "nofile.mlir:2:3: error: is wrong"


def test_block_argument_stands_for_the_op_around_it() -> None:
    func = FuncOp("f", ([i32], []))
    func.location = place()
    found = DiagnosticContext().error(func.args[0], "is wrong")
    assert str(found) == "nofile.mlir:2:3: error: is wrong"


def test_argument_of_a_block_on_its_own_has_no_place() -> None:
    found = DiagnosticContext().error(Block(arg_types=[i32]).args[0], "is wrong")
    assert str(found) == "error: is wrong"


def test_location_stands_for_itself() -> None:
    assert str(DiagnosticContext().error(place(), "x")) == "nofile.mlir:2:3: error: x"


def test_unknown_location_is_no_place() -> None:
    assert str(DiagnosticContext().error(UnknownLoc(), "x")) == "error: x"


def test_op_without_a_location_has_that_of_the_op_around_it() -> None:
    m = module("f")
    (func,) = m.ops
    func.location = place()
    inner = next(op for op in func.walk() if op.name == "func.return")
    inner.location = UnknownLoc()
    found = DiagnosticContext().error(inner, "x")
    assert str(found) == "nofile.mlir:2:3: error: 'func.return' op x"


# Notes


def test_notes_follow_with_places_of_their_own() -> None:
    found = DiagnosticContext().error(place(), "a")
    found.note(place(9, 1), "defined here").note(TestOp(), "used").help("do this")
    assert str(found).split("\n") == [
        "nofile.mlir:2:3: error: a",
        "nofile.mlir:9:1: note: defined here",
        "note: 'test.op' op used",
        "help: do this",
    ]


def test_notes_are_not_counted_as_diagnostics() -> None:
    found = DiagnosticContext()
    found.error(None, "a").note(None, "b")
    assert len(found) == 1


# Rendering


def test_source_line_and_caret(source: Callable[[str], str]) -> None:
    name = source("first\n  second line\n")
    diagnostic = Diagnostic(Severity.WARNING, "odd", make_location(name, 2, 3))
    assert render(diagnostic).split("\n") == [f"{name}:2:3: warning: odd", "  second line", "  ^"]


def test_notes_have_source_lines_too(source: Callable[[str], str]) -> None:
    name = source("one\ntwo\n")
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location(name, 1, 1))
    diagnostic.note(make_location(name, 2, 2), "b")
    assert render(diagnostic).split("\n") == [
        *(f"{name}:1:1: error: a", "one", "^"),
        *(f"{name}:2:2: note: b", "two", " ^"),
    ]


def test_caret_stands_under_its_column_where_tabs_are(source: Callable[[str], str]) -> None:
    name = source("\tx\ty\n")
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location(name, 1, 4))
    assert render(diagnostic).split("\n")[1:] == ["\tx\ty", "\t \t^"]


def test_caret_of_an_unknown_column_stands_at_the_first(source: Callable[[str], str]) -> None:
    name = source("abc\n")
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location(name, 1, 0))
    assert render(diagnostic).split("\n")[1:] == ["abc", "^"]


def test_caret_of_a_column_behind_the_line_stands_at_its_end(source: Callable[[str], str]) -> None:
    name = source("abc\n")
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location(name, 1, 99))
    assert render(diagnostic).split("\n")[1:] == ["abc", "   ^"]


@pytest.mark.parametrize("line", [2, 3])
def test_line_that_is_empty_or_not_there_is_left_out(
    line: int, source: Callable[[str], str]
) -> None:
    name = source("abc\n  \n")
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location(name, line, 1))
    assert render(diagnostic) == f"{name}:{line}:1: error: a"


def test_place_that_is_the_whole_file_has_no_line() -> None:
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location("x.mlir", 0, 0))
    assert render(diagnostic) == "x.mlir: error: a"


def test_file_that_is_not_there_is_left_out() -> None:
    assert render(Diagnostic(Severity.ERROR, "a", place())) == "nofile.mlir:2:3: error: a"


def test_file_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    (path := tmp_path / "model.onnx").write_bytes(b"\xff\xfe\x00\x81\n" * 3)
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location(str(path), 2, 1))
    assert render(diagnostic) == f"{path}:2:1: error: a"


def test_file_that_was_written_anew_is_read_anew(source: Callable[[str], str]) -> None:
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location(source("old\n"), 1, 1))
    assert render(diagnostic).split("\n")[1] == "old"
    source("new line\n")
    assert render(diagnostic).split("\n")[1] == "new line"


def test_text_that_is_no_file_is_shown_where_it_is_remembered() -> None:
    remember_source("<toy input>", "first\nsecönd\n".encode())
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location("<toy input>", 2, 4))
    assert render(diagnostic).split("\n")[1:] == ["secönd", "   ^"]


def test_a_name_is_not_looked_for_where_modules_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy.mlir").write_text("other\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    diagnostic = Diagnostic(Severity.ERROR, "a", make_location("toy.mlir", 1, 1))
    assert render(diagnostic) == "toy.mlir:1:1: error: a"


# Colour


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def printed(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, no_color: str | None) -> str:
    """Return the text printed to `stream`, in an environment with this NO_COLOR."""
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    print_diagnostics([Diagnostic(Severity.ERROR, "a", place()).note(None, "b")])
    return stream.getvalue()


@pytest.mark.parametrize("no_color", [None, ""])
def test_colour_on_a_terminal(no_color: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(Terminal(), monkeypatch, no_color) == (
        "nofile.mlir:2:3: \x1b[1;31merror:\x1b[0m a\n\x1b[1;36mnote:\x1b[0m b\n"
    )


def test_no_colour_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(Terminal(), monkeypatch, "1") == "nofile.mlir:2:3: error: a\nnote: b\n"


def test_no_colour_where_no_terminal_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(io.StringIO(), monkeypatch, None) == "nofile.mlir:2:3: error: a\nnote: b\n"


@table_test("severity", Severity)
def test_each_severity_has_a_colour(severity: Severity) -> None:
    assert render(Diagnostic(severity, "a"), colour=True).startswith("\x1b[1;3")


# In a pass


def noting(message: str) -> ModulePass:
    """Return a pass that reports a note on the module."""

    def body(m: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.note(m, message)

    return named("noting", body=body)


def test_diagnostics_go_to_stderr_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    noting("is odd")(ModuleOp([]))
    out, err = capsys.readouterr()
    assert (out, err) == ("", "note: 'builtin.module' op is odd\n")


def test_context_has_a_renderer_of_its_own() -> None:
    outer: list[str] = []
    inner: list[str] = []
    with PassContext(renderer=collect(outer)):
        with PassContext(renderer=collect(inner)):
            noting("a")(ModuleOp([]))
        assert (len(outer), len(inner)) == (0, 1)
        noting("a")(ModuleOp([]))
    assert outer == inner == ["note: 'builtin.module' op a"]


def test_diagnostics_are_rendered_once_a_pass() -> None:
    shown: list[list[str]] = []

    def report_twice(m: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.note(None, "a")
        ctx.diagnostics.warning(None, "b")

    with PassContext(renderer=lambda found: shown.append([d.message for d in found])):
        Sequential([named("one", body=report_twice), named("two", body=report_twice)])(module())
    assert shown == [["a", "b"], ["a", "b"]]


def test_function_pass_reports_on_all_functions_before_it_fails() -> None:
    class Complain(FunctionPass):
        name = "complain"

        def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
            ctx.diagnostics.error(None, f"bad {func.sym_name.data}")

    shown: list[str] = []
    with PassContext(renderer=collect(shown)):
        with pytest.raises(DiagnosticError, match=r"bad f \(and 1 more\)"):
            Complain()(module("f", "g"))
    assert shown == ["error: bad f", "error: bad g"]


def report_error(m: ModuleOp, ctx: PassContext) -> None:
    ctx.diagnostics.error(None, "bad")


def test_pass_runs_on_after_an_error_and_fails_at_its_end() -> None:
    reached: list[str] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        report_error(m, ctx)
        reached.append("end")

    with PassContext(renderer=collect([])), pytest.raises(DiagnosticError):
        named("p", body=body)(module())
    assert reached == ["end"]


def test_error_says_which_pass_it_came_out_of() -> None:
    with PassContext(renderer=collect([])), pytest.raises(DiagnosticError) as caught:
        Sequential([Nothing(), named("p", body=report_error)])(module())
    assert caught.value.__notes__[0] == "in pass 'p' (2 of 2)"


def test_passes_after_an_error_do_not_run() -> None:
    recorder = Recorder()
    pipeline = Sequential([named("p", body=report_error), Append()])
    with PassContext(renderer=collect([]), instruments=[recorder]):
        with pytest.raises(DiagnosticError):
            pipeline(module())
    assert "%1 failed p DiagnosticError" in recorder.events
    assert "%1 after p" not in recorder.events
    assert "%1 before toy-append" not in recorder.events


def test_error_leaves_the_callers_module_alone() -> None:
    def body(m: ModuleOp, ctx: PassContext) -> None:
        m.attributes["seen"] = StringAttr("yes")
        report_error(m, ctx)

    m = module("f")
    with PassContext(renderer=collect([])), pytest.raises(DiagnosticError):
        named("p", body=body)(m)
    assert m.attributes == {}


def test_diagnostics_of_a_pass_that_raises_are_rendered_and_its_exception_is_kept() -> None:
    shown: list[str] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        report_error(m, ctx)
        raise KeyError("x")

    with PassContext(renderer=collect(shown)), pytest.raises(KeyError):
        named("p", body=body)(module())
    assert shown == ["error: bad"]


def test_pass_after_one_that_raised_starts_clean() -> None:
    counts: list[int] = []
    shown: list[str] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.note(None, "left over")
        raise KeyError("x")

    with PassContext(renderer=collect(shown)):
        with pytest.raises(KeyError):
            named("p", body=body)(module())
        named("q", body=lambda m, ctx: counts.append(len(ctx.diagnostics)))(module())
    assert counts == [0] and shown == ["note: left over"]


def test_diagnostics_of_a_pass_called_from_a_pass_are_its_own() -> None:
    shown: list[str] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        ctx.diagnostics.note(None, "before")
        noting("of inner").apply(ctx.ir_context, m)
        ctx.diagnostics.note(None, "after")

    with PassContext(renderer=collect(shown)):
        named("outer", body=body)(ModuleOp([]))
    assert shown == [
        "note: 'builtin.module' op of inner",
        "note: before",
        "note: after",
    ]


def test_pass_may_catch_the_errors_of_a_pass_that_it_calls() -> None:
    shown: list[str] = []

    def body(m: ModuleOp, ctx: PassContext) -> None:
        with pytest.raises(DiagnosticError):
            named("inner", body=report_error).apply(ctx.ir_context, m)
        ctx.diagnostics.note(None, "went on")

    with PassContext(renderer=collect(shown)):
        named("outer", body=body)(module())
    assert shown == ["error: bad", "note: went on"]


def test_composite_reports_after_its_passes() -> None:
    shown: list[str] = []
    with PassContext(renderer=collect(shown)):
        Fixpoint(Sequential([noting("of the pass"), Append()]), 1)(ModuleOp([]))
    assert shown[0] == "note: 'builtin.module' op of the pass"
    assert "still changed the module" in shown[1]


def test_renderer_that_raises_fails_the_pass() -> None:
    def broken(diagnostics: Sequence[Diagnostic]) -> None:
        raise OSError("no terminal")

    with PassContext(renderer=broken), pytest.raises(OSError, match="no terminal"):
        noting("a")(module())


def test_what_has_a_name_and_no_file_is_shown_by_its_name():
    op = TestOp()
    op.location = NameLoc(StringAttr("conv1"), NoneAttr())
    shown = render(DiagnosticContext().error(op, "is wrong"))
    assert shown == """loc("conv1"): error: 'test.op' op is wrong"""
    op.location = NameLoc(StringAttr("conv1"), place())
    assert render(DiagnosticContext().error(op, "is wrong")).startswith("nofile.mlir:2:3: error:")
