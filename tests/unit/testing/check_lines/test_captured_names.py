"""FileCheck variables for names in printed IR."""

from __future__ import annotations

from support.tables import table_test

from passline.testing.check_lines.captured_names import CapturedNames


def patterns(text: str, aliases: tuple[str, ...] = ()) -> list[str]:
    names = CapturedNames(aliases)
    return [names.pattern(line) for line in text.strip().splitlines()]


@table_test(
    "line, pattern",
    [
        ("%x = a %x_1", "%[[X:.*]] = a %[[X_1:.*]]"),
        ("%0 = a %12", "%[[V0:.*]] = a %[[V12:.*]]"),
        ("%a.b-c$d = x", "%[[A_B_C_D:.*]] = x"),
        ("%0:2, %1 = x", "%[[V0:.*]]:2, %[[V1:.*]] = x"),
        ("%a = x %b, %b", "%[[A:.*]] = x %[[B:.*]], %[[B]]"),
        ("%a, %A = x", "%[[A:.*]], %[[A_1:.*]] = x"),
        ('x "%a ^bb0" // %b', 'x "%a ^bb0" // %b'),
        ("br ^bb1(%a : i32)", "br ^[[BB1:.*]](%[[A:.*]] : i32)"),
        ("dense<[[1, 2]]> {{a}}", r"dense<{{\[\[}}1, 2]]> {{\{\{}}a}}"),
        ("x [%a]", "x [%[[A:.*]]]"),
        ("#other !llvm.ptr", "#other !llvm.ptr"),
    ],
)
def test_names_are_captured_where_they_first_appear(line: str, pattern: str) -> None:
    assert patterns(line) == [pattern]


def test_a_name_matches_its_capture_below() -> None:
    assert patterns("%a = x\ny %a") == ["%[[A:.*]] = x", "y %[[A]]"]


def test_one_result_of_several_is_matched() -> None:
    assert patterns("%0:2 = x\ny %0#1") == ["%[[V0:.*]]:2 = x", "y %[[V0]]#1"]


def test_names_of_a_region_end_with_it() -> None:
    text = "for %i = %n {\n  x %i\n}\nfor %i = %n {\n}"
    assert patterns(text) == [
        "for %[[I:.*]] = %[[N:.*]] {",
        "  x %[[I]]",
        "}",
        "for %[[I_1:.*]] = %[[N_1:.*]] {",
        "}",
    ]


def test_a_name_from_outside_of_a_region_stays_known() -> None:
    shown = patterns("%n = c\nfor %i = %n {\n  %i2 = x\n}\ny %n")
    assert shown[-1] == "y %[[N]]"


def test_a_result_in_a_region_hides_the_one_outside() -> None:
    text = "%0 = a\nr {\n  %0 = b\n  x %0\n}\ny %0"
    assert patterns(text) == [
        "%[[V0:.*]] = a",
        "r {",
        "  %[[V0_1:.*]] = b",
        "  x %[[V0_1]]",
        "}",
        "y %[[V0]]",
    ]


def test_a_value_used_before_its_definition_is_captured_once() -> None:
    assert patterns("x %b\n%b = y") == ["x %[[B:.*]]", "%[[B]] = y"]


def test_a_block_is_captured_at_the_branch_above_it() -> None:
    text = "br ^bb1\n^bb1(%x: i32):\n%y = z %x"
    assert patterns(text) == [
        "br ^[[BB1:.*]]",
        "^[[BB1]](%[[X:.*]]: i32):",
        "%[[Y:.*]] = z %[[X]]",
    ]


def test_aliases_are_global_variables() -> None:
    text = "#map = a<>\nx {m = #map, n = #map1}"
    assert patterns(text, ("#map",)) == ["#[[$MAP:.*]] = a<>", "x {m = #[[$MAP]], n = #map1}"]


def test_a_brace_too_many_is_text() -> None:
    assert patterns("}\n}\n%a = x") == ["}", "}", "%[[A:.*]] = x"]


def test_deep_nesting_takes_no_recursion() -> None:
    depth = 20_000
    text = "\n".join([*(f"r %a{i} {{" for i in range(depth)), *("}" for _ in range(depth))])
    assert len(patterns(text)) == 2 * depth
