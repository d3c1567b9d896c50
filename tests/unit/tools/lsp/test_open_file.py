"""The errors of an open file, and what is read again after a change."""

from __future__ import annotations

from support.marked import open_text, spans
from support.tables import table_test

from passline.tools.lsp.document import SourceText
from passline.tools.lsp.open_file import OpenFile

VALID = """func.func @f(%a : i32) -> i32 {
  %b = arith.addi %a, %a : i32
  return %b : i32
}
func.func @g() {
  return
}
"""


def texts(file: OpenFile) -> list[str]:
    return [text for _, text in spans(file)]


def test_a_valid_file_has_no_problems() -> None:
    assert spans(open_text(VALID)) == []


def test_all_errors_of_a_function_are_found() -> None:
    file = open_text(
        """func.func @f(%a : i32) -> i32 {
  %b = arith.adi %a, %a : i32
  %c = arith.addi %b, %a : i32
  %d = arith.addi %a, %nope : i32
  %e = arith.addi %a, %a : i64
  return %a : i32
}
"""
    )
    assert texts(file) == ["arith.adi", "%nope", "%a"]  # and no consequence of the first


def test_errors_of_several_functions_are_found() -> None:
    assert len(spans(open_text("func.func @f() {\n  x.y\n}\nfunc.func @g() {\n  x.z\n}\n"))) == 2


def test_a_missing_end_is_reported_at_the_line_that_lacks_it() -> None:
    body = "  %b = arith.addi %a,\n  %c = arith.constant 1 : i32\n  return\n"
    file = open_text(f"func.func @f(%a : i32) {{\n{body}}}\n")
    (problem,) = file.problems()
    assert file.source.line_of(problem.start) == 1


def test_the_verifier_is_asked() -> None:
    (found,) = spans(open_text("func.func @f() -> i32 {\n  return\n}\n"))
    assert "to have the same types" in found[0] and found[1] == "return"


def test_each_use_that_is_not_dominated_has_the_definition_as_a_related_place() -> None:
    text = """func.func @f() {
  "test.op"(%a) : (i32) -> ()
  "test.op"(%a) : (i32) -> ()
  %a = arith.constant 1 : i32
  return
}
"""
    file = open_text(text)
    problems = file.problems()
    assert len(problems) == 2
    for problem in problems:
        ((start, end, said),) = problem.related
        assert (file.text[start:end], said) == ("arith.constant", "defined here")
        assert "piece" not in problem.message


def test_a_second_definition_of_a_value_refers_to_the_first() -> None:
    file = open_text("func.func @f(%a : i32) {\n  %a = arith.constant 1 : i32\n  return\n}\n")
    (problem,) = file.problems()
    assert [file.text[a:b] for a, b, _ in problem.related] == ["%a"]
    assert problem.related[0][0] < problem.start


def test_a_symbol_that_is_defined_twice_refers_to_the_first() -> None:
    file = open_text("func.func private @f()\nfunc.func private @f()\n")
    (problem,) = file.problems()
    assert problem.message == "redefinition of symbol 'f'"
    assert [file.text[a:b] for a, b, _ in problem.related] == ["@f"]


def test_parts_of_a_file_may_define_the_same_symbol() -> None:
    assert spans(open_text(f"{VALID}// -----\n{VALID}")) == []


def test_a_call_finds_the_functions_of_other_pieces() -> None:
    call = "func.func @h() {\n  func.call @%s() : () -> ()\n  return\n}\n"
    assert spans(open_text(VALID + call % "g")) == []
    assert len(spans(open_text(VALID + call % "nope"))) == 1


def test_a_dump_of_one_function_may_call_others() -> None:
    call = "func.func @h() {\n  func.call @k() : () -> ()\n  return\n}\n"
    assert spans(open_text(f"// -----// IR Dump After cse //----- //\n{call}")) == []


def test_a_call_of_a_function_that_is_broken_is_no_error() -> None:
    broken = "func.func @k( {\n  return\n}\n"
    call = "func.func @h() {\n  func.call @k() : () -> ()\n  return\n}\n"
    assert len(spans(open_text(broken + call))) == 1


def test_a_file_that_allows_unregistered_dialects_says_so_in_its_run_line() -> None:
    text = '"x.y"() : () -> ()\n'
    assert len(spans(open_text(text))) == 1
    assert spans(open_text(f"// RUN: opt --allow-unregistered-dialect %s\n{text}")) == []


def test_a_verifier_of_the_rest_is_asked() -> None:
    assert texts(open_text('module {\n  "arith.constant"() : () -> i32\n}\n')) == [
        '"arith.constant"'
    ]


@table_test("text", ["", "\n", "{", "}", "(((", "%", '"', "module {", "#a = ", "// -----\n" * 3])
def test_any_text_is_read(text: str) -> None:
    assert isinstance(spans(open_text(text)), list)


def test_deep_nesting_is_read() -> None:
    depth = 10_000
    text = (
        "func.func @f() {\n" + '"test.op"() ({\n' * depth + "}) : () -> ()\n" * depth + "return\n}"
    )
    assert isinstance(spans(open_text(text)), list)


# Changes


def facts(file: OpenFile) -> list[object]:
    return [placed.facts for placed in file.placed]


def test_a_change_in_a_function_leaves_the_others_as_they_are() -> None:
    file = open_text(VALID)
    before = facts(file)
    file.update(SourceText(VALID.replace("addi", "muli")))
    after = facts(file)
    assert after[1:] == before[1:] and after[0] is not before[0]
    assert spans(file) == []


def test_a_line_before_all_functions_reads_none_again_and_moves_errors() -> None:
    text = "func.func @f() {\n  x.y\n}\n"
    file = open_text(text)
    before = facts(file)
    file.update(SourceText(f"// a comment\n{text}"))
    assert facts(file)[0] is before[0]
    assert texts(file) == ["x.y"]


def test_a_function_that_changes_its_type_is_checked_where_it_is_called() -> None:
    call = "func.func @h() {\n  func.call @g() : () -> ()\n  return\n}\n"
    file = open_text(VALID + call)
    assert spans(file) == []
    file.update(SourceText((VALID + call).replace("@g() {\n  return", "@g(%x : i32) {\n  return")))
    assert [text for _, text in spans(file)] == ["func.call"]
    file.update(SourceText(VALID + call))
    assert spans(file) == []


def test_a_function_that_goes_is_missed_and_one_that_comes_back_is_found() -> None:
    call = "func.func @h() {\n  func.call @g() : () -> ()\n  return\n}\n"
    file = open_text(VALID + call)
    file.update(SourceText(call))
    assert len(spans(file)) == 1
    file.update(SourceText(call + VALID))
    assert spans(file) == []


def test_a_change_of_an_alias_is_seen_where_it_is_used() -> None:
    text = "!t = i32\nfunc.func @f(%a : !t) -> i32 {\n  return %a : i32\n}\n"
    file = open_text(text)
    assert spans(file) == []
    file.update(SourceText(text.replace("!t = i32", "!t = i64")))
    assert len(spans(file)) == 1
