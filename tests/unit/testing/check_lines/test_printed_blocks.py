"""CHECK lines for the output of a tool."""

from __future__ import annotations

from support.tables import table_test

from passline.testing.check_lines.printed_blocks import check_blocks, depth_change, symbol_in


def checks(text: str, *folders: str) -> list[str]:
    return [f"{kind}: {t}" for block in check_blocks(text, folders) for kind, t in block.lines]


def keys(text: str) -> list[tuple[int, str | None, int]]:
    return [block.key for block in check_blocks(text)]


@table_test(
    "line, symbol",
    [
        ("  func.func @f(%x: i32) {", "f"),
        ("  func.func private @f()", "f"),
        ('memref.global "private" constant @g : memref<2xi32>', "g"),
        ("llvm.mlir.global internal constant @s(1)", "s"),
        ('func.func @"a b"()', "a b"),
        ('"func.func"() <{sym_name = "f", function_type = () -> ()}> ({', "f"),
        ("define internal i32 @f(i32 %0) {", "f"),
        ("%0 = func.call @f()", None),
        ("x {callee = @f}", None),
        ('"test.op"(%a) {sym_name = "f"}', None),
        ("x = @f", None),
    ],
)
def test_symbols(line: str, symbol: str | None) -> None:
    assert symbol_in(line) == symbol


def test_braces_in_strings_and_comments_open_nothing() -> None:
    assert depth_change('x {a = "{"} ({ // {') == 1


def test_a_function_has_a_label_and_its_lines_follow() -> None:
    text = "builtin.module {\n  func.func @f(%x: i32) {\n    func.return\n  }\n}\n"
    assert checks(text) == [
        "-LABEL: func.func @f(",
        "-SAME: %[[X:.*]]: i32) {",
        "-NEXT:   func.return",
        "-NEXT: }",
    ]


def test_a_function_without_arguments_is_a_label_alone() -> None:
    assert checks("func.func private @f()") == ["-LABEL: func.func private @f()"]


def test_values_of_another_function_have_the_same_variables() -> None:
    text = "func @f(%x: i32) {\n}\nfunc @g(%x: i32) {\n}"
    assert checks(text)[1::3] == ["-SAME: %[[X:.*]]: i32) {", "-SAME: %[[X:.*]]: i32) {"]


@table_test("header", ["builtin.module {", "module {", '"builtin.module"() ({'])
def test_a_module_without_a_name_is_not_checked(header: str) -> None:
    assert checks(f"{header}\n  x\n}}") == [": x"]


def test_a_module_with_attributes_is_checked() -> None:
    text = "builtin.module attributes {a} {\n  func.func @f() {\n  }\n}"
    assert checks(text) == [
        ": builtin.module attributes {a} {",
        "-LABEL:   func.func @f() {",
        "-NEXT:   }",
        "-NEXT: }",
    ]


def test_an_empty_module_is_checked() -> None:
    assert checks("builtin.module {\n}") == [": builtin.module {", "-NEXT: }"]


def test_calls_and_nested_functions_are_no_labels() -> None:
    text = "module @m {\n}\ngpu.module @k {\n  gpu.func @f() {\n    call @f() : () -> ()\n  }\n}"
    assert keys(text) == [(0, "m", 0), (0, "k", 0)]


def test_empty_lines_are_checked_between_others_alone() -> None:
    assert checks("\n\na\n\nb\n\n") == [": a", "-EMPTY: ", "-NEXT: b"]


def test_lines_of_blanks_are_no_empty_lines() -> None:
    assert checks(" \na\n \nb\n \n") == [": a", "-NEXT: {{^[[:blank:]]+$}}", "-NEXT: b"]


def test_chunks_are_apart() -> None:
    text = "func @f()\n// -----\nx\n// -----\nfunc @f()\nfunc @f()"
    assert keys(text) == [(0, "f", 0), (1, None, 0), (2, "f", 0), (2, "f", 1)]


def test_predecessors_are_left_out() -> None:
    assert checks("^bb1:  // 2 preds: ^bb0, ^bb2") == [": ^[[BB1:[^:]+]]:"]


def test_paths_of_this_machine_are_left_out() -> None:
    assert checks("/tmp/a/x.mlir:1:2: error", "/tmp/a", "/tmp") == [": {{.*}}/x.mlir:1:2: error"]


def test_aliases_stand_before_the_functions() -> None:
    text = "#m = a<>\nmodule {\n  func @f() {\n    x {m = #m}\n  }\n}"
    assert checks(text) == [
        ": #[[$M:.*]] = a<>",
        "-LABEL: func @f() {",
        "-NEXT:   x {m = #[[$M]]}",
        "-NEXT: }",
    ]


def test_text_that_is_no_ir_is_checked_line_by_line() -> None:
    assert checks("li a0, 1\nret") == [": li a0, 1", "-NEXT: ret"]


def test_no_output_has_no_blocks() -> None:
    assert checks("\n// -----\n") == []


def test_lines_around_a_module_do_not_follow_those_in_it() -> None:
    assert checks("#a = 1\nmodule {\n  x\n}\n#b = 2") == [
        ": #[[$A:.*]] = 1",
        ": x",
        ": #[[$B:.*]] = 2",
    ]
