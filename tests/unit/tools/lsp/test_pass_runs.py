"""Runs of passes on an open file: what the tool reads, and the edits that its result makes."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest
from support.marked import open_text
from support.tables import table_test

from passline.passmanager.errors import PasslineError
from passline.tools.lsp.pass_runs import (
    Finished,
    RunTarget,
    diff,
    edited,
    edits_of,
    run_process,
    target_at,
)

TEXT = """// RUN: kept
!t = i32

// CHECK: @f
func.func @f(%a : !t) -> i32 {
  %b = func.call @g(%a) : (i32) -> i32  // a comment
  return %b : i32
}
// CHECK: @g
func.func @g(%a : i32) -> i32 {
  return %a : i32
}
"""


def target(text: str, line: int = 0, symbol: str = "") -> RunTarget:
    return target_at(open_text(text), line, symbol)


def after(text: str, result: str, symbol: str = "") -> str:
    """Return a text after the edits for the result of passes."""
    asked = target(text, 0, symbol)
    return edited(asked.file.source, edits_of(asked, result))


# What the tool reads


def test_a_part_is_read_with_its_lines() -> None:
    text = f"{TEXT}// -----\nfunc.func private @h()\n"
    assert target(text, 99).text() == "\n" * 13 + "func.func private @h()\n"
    assert target(text).text() == TEXT


def test_a_function_is_read_with_its_aliases_and_declarations_of_what_it_calls() -> None:
    read = target(TEXT, symbol="f").text().split("\n")
    assert read[2:4] == ["!t = i32", "func.func private @g(i32) -> (i32)"]
    assert read[4].startswith("func.func @f")  # on its own line
    assert "func.func @g" not in target(TEXT, symbol="f").text()


@table_test("symbol", ["nope", "a"])
def test_a_function_that_is_not_there_is_refused(symbol: str) -> None:
    with pytest.raises(PasslineError, match="there is no function @"):
        target(TEXT, symbol=symbol).text()


# The edits


def test_only_functions_that_changed_are_replaced() -> None:
    result = """builtin.module {
  func.func @f(%a : i32) -> i32 {
    func.return %a : i32
  }
  func.func @g(%x: i32) -> i32 {
    func.return %x : i32
  }
}
"""
    text = TEXT.replace("!t = i32\n", "").replace("!t", "i32")
    new = after(text, result)
    assert new.count("// RUN: kept") == new.count("// CHECK: @f") == new.count("// CHECK: @g") == 1
    assert "func.func @f(%a : i32) -> i32 {\n  func.return %a : i32\n}" in new
    assert "func.func @g(%a : i32)" in new  # with its own names, as it is the same


def test_the_indentation_of_a_function_stays() -> None:
    text = "module {\n    func.func @f() {\n      return\n    }\n}\n"
    result = (
        'builtin.module {\n  func.func @f() {\n    "test.op"() : () -> ()\n    return\n  }\n}\n'
    )
    expected = (
        'module {\n    func.func @f() {\n      "test.op"() : () -> ()\n      return\n    }\n}\n'
    )
    assert after(text, result) == expected


def test_functions_go_and_come() -> None:
    text = "func.func private @f()\nfunc.func private @g()\n"
    result = "builtin.module {\n  func.func private @g()\n  func.func private @h()\n}\n"
    assert after(text, result) == "func.func private @g()\nfunc.func private @h()\n"


def test_a_run_on_a_function_changes_no_other() -> None:
    text = "func.func private @f()\nfunc.func private @g()\n"
    result = (
        "builtin.module {\n  func.func private @f() -> i32\n  func.func private @g() -> i8\n}\n"
    )
    assert after(text, result, "f") == "func.func private @f() -> i32\nfunc.func private @g()\n"


@table_test(
    "result",
    [
        "builtin.module attributes {a = 1 : i32} {\n  func.func private @f()\n}\n",
        'builtin.module {\n  %0 = "test.op"() : () -> i32\n  func.func private @f()\n}\n',
        "builtin.module {\n}\n// -----\n",
    ],
)
def test_all_code_is_replaced_if_more_than_functions_changed(result: str) -> None:
    text = "// RUN: kept\n\nmodule attributes {b} {\n  func.func private @f()\n}\n"
    assert after(text, result) == f"// RUN: kept\n\n{result}"


def test_only_the_part_around_the_line_is_replaced() -> None:
    text = "func.func private @f()\n// -----\nfunc.func private @f()\n"
    asked = target(text, 2)
    new = edited(asked.file.source, edits_of(asked, "func.func private @f() -> i32\n"))
    assert new == "func.func private @f()\n// -----\nfunc.func private @f() -> i32\n"


def test_what_did_not_change_makes_no_edit() -> None:
    asked = target(TEXT.replace("!t = i32\n", "").replace("!t", "i32"))
    assert edits_of(asked, asked.text()) == []


def test_a_difference_is_a_unified_diff() -> None:
    assert diff("x", "a\nb\n", "a\nc\n", "cse").splitlines()[:2] == ["--- x", "+++ x after cse"]
    assert diff("x", "a\n", "a\n", "cse") == ""


# Processes


def python(code: str, seconds: float = 60) -> Finished:
    return asyncio.run(run_process([sys.executable, "-c", code], "input", None, seconds))


def test_a_process_reads_the_text_and_its_output_is_kept() -> None:
    done = python("import sys; print(sys.stdin.read()); sys.exit(3)")
    assert (done.status, done.output) == (3, "input\n")


def test_a_process_that_does_not_end_is_ended() -> None:
    began = time.monotonic()
    with pytest.raises(PasslineError, match=r"was ended after 0\.5 s"):
        python("import time; time.sleep(600)", 0.5)
    assert time.monotonic() - began < 300


def test_a_command_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PasslineError, match="cannot be run: No such file"):
        asyncio.run(run_process(["/no/such/tool"], ""))


@table_test(
    "errors, says",
    [
        ("opt: warning: w\n<stdin>:3:1: error: bad\n  line\n", "bad"),
        ("Traceback\n", "Traceback"),
        ("", "exit status 1"),
    ],
)
def test_a_failure_says_its_first_error(errors: str, says: str) -> None:
    assert Finished(1, "", errors).says == says
