"""RUN lines, the code actions and lenses about them and about functions, and hints."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lsprotocol.types import Diagnostic, Position, Range
from support.marked import URI, open_text
from support.suites.inprocess import passline_opt
from support.tables import table_test

from passline.passmanager.report.record_reader import read_record
from passline.tools.lsp.code_actions import code_actions, lenses
from passline.tools.lsp.inlays import origin_hints, remark_hints, result_of, shown_remarks
from passline.tools.lsp.run_lines import run_lines, shell_command


@table_test(
    "command, pipeline, filtered",
    [
        ("opt %s -p cse | filecheck %s", "cse", "opt %s -p cse"),
        ("opt %s -p 'a{x=1},b' | FileCheck %s --strict", "a{x=1},b", "opt %s -p 'a{x=1},b'"),
        ("opt --passes=a %s | opt -p b", "a,b", "opt --passes=a %s | opt -p b"),
        ("opt %s -pcse", "cse", "opt %s -pcse"),
        ("opt %s --print-diff", "", "opt %s --print-diff"),
        ("opt %s -p 'cse", "", "opt %s -p 'cse"),
        ("filecheck %s --input-file x", "", "filecheck %s --input-file x"),
    ],
)
def test_a_run_line_has_a_pipeline_and_an_output(
    command: str, pipeline: str, filtered: str
) -> None:
    (run,) = run_lines(f"// RUN: {command}\n")
    assert (run.pipeline, run.filtered) == (pipeline, filtered)


def test_a_backslash_continues_a_run_line() -> None:
    (first, second) = run_lines("// RUN: a \\\n// RUN:   | b\n\n# RUN: c\n// NOT-RUN: d\n")
    assert first == ("a | b", 0, 1) and second == ("c", 3, 3)


def test_a_command_runs_in_a_shell_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "a b.mlir"
    file.write_text("text")
    words = shell_command("cat %s; echo %% %S %t %such", str(file), "/tmp/t")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.stdout == f"text% {tmp_path} /tmp/t %such\n"


def test_the_status_of_a_pipe_is_that_of_its_first_failure() -> None:
    assert subprocess.run(shell_command("false | true", "x", "y"), check=False).returncode == 1


TEXT = """// RUN: passline-opt %s -p inline,cse
func.func @f() {
  return
}
"""


def titles(line: int, *, previews: bool = False) -> list[str]:
    place = Range(Position(line, 0), Position(line, 0))
    return [action.title for action in code_actions(open_text(TEXT), place, (), previews)]


def test_passes_are_offered_for_the_function_and_for_the_file() -> None:
    found = titles(1)
    assert found[0] == "Run canonicalize on @f" and "Run inline on the file" in found
    assert "Run inline on @f" not in found


def test_the_pipeline_of_a_run_line_is_offered_on_it() -> None:
    assert titles(0)[0] == "Run the pipeline of this RUN line on the file"
    assert "Run canonicalize on @f" not in titles(0)


def test_previews_are_offered_to_editors_that_show_none() -> None:
    assert titles(1, previews=True)[:2] == [
        "Run canonicalize on @f",
        "Show what canonicalize changes in @f",
    ]


def test_a_misspelt_name_is_corrected() -> None:
    file = open_text('"arith.ad"() : () -> ()\n')
    place = Range(Position(0, 0), Position(0, 10))
    diagnostic = Diagnostic(place, "not registered, did you mean 'arith.addi'?")
    (action, *_) = code_actions(file, place, [diagnostic], False)
    assert action.edit is not None and action.edit.changes is not None
    assert [edit.new_text for edit in action.edit.changes[URI]] == ['"arith.addi"']


def test_a_run_line_has_lenses() -> None:
    found = [lens.command for lens in lenses(open_text(TEXT)) if lens.command is not None]
    commands = [command.command for command in found]
    assert {"passline.runTest", "passline.showOutput", "passline.showResult"} <= {*commands}
    assert {lens.range.start.line for lens in lenses(open_text(TEXT))} == {0}


# Hints

FOLDS = """func.func @f(%a : i32) -> i32 {
  %c = arith.constant 2 : i32
  %b = arith.addi %c, %c : i32
  return %b : i32
}
func.func @g() {
  return
}
"""


def test_remarks_and_origins_come_from_the_record_of_a_run(tmp_path: Path) -> None:
    source, path = tmp_path / "x.mlir", tmp_path / "record.jsonl"
    source.write_text(FOLDS)
    passline_opt(str(source), "-p", "canonicalize", f"--record={path}")
    with path.open() as lines:
        record = read_record(lines)
    file = open_text(FOLDS)
    hints = [*shown_remarks(file, remark_hints(file, record))]
    assert {hint.position.line for hint in hints} == {1, 2}
    assert {hint.label for hint in hints} >= {"canonicalize: Passed FoldScalar"}
    result = result_of(record)
    origins = [*origin_hints(result, result.text)]
    assert [hint.position.line for hint in origins] == [1]
    assert "canonicalize" in str(origins[0].label)
    assert [*origin_hints(result, f"{result.text}\n")] == []
