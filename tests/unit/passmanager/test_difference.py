"""`passline.diff`: names that do not depend on numbers, and what it compares."""

from __future__ import annotations

import pytest
from support.notebooks import html_of
from support.passes.toy import Nothing
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

import passline

CHAIN = """
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relax.negative %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = relax.negative %x : (tensor<3xf32>) -> tensor<3xf32>
  %2 = relax.add %0, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = relax.abs %2 : (tensor<3xf32>) -> tensor<3xf32>
  func.return %3 : tensor<3xf32>
}
"""


def test_later_values_keep_their_names() -> None:
    module = passline.load(CHAIN)
    found = passline.diff(module, passline.passes.EliminateCommonSubexpr()(module))
    changed = [line for line in found.lines if line[0] in "+-"]
    types = "(tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>"
    assert changed == [
        "-    %1 = relax.negative %x : (tensor<3xf32>) -> tensor<3xf32>",
        f"-    %2 = relax.add %0, %1 : {types}",
        f"+    %2 = relax.add %0, %0 : {types}",
    ]
    assert (found.removed, found.added) == (2, 1)


@table_test("copied", [True, False])
def test_names_without_a_change_are_the_same(copied: bool) -> None:
    module = passline.load(CHAIN)
    cse = passline.passes.EliminateCommonSubexpr()
    found = passline.diff(module, cse(module) if copied else cse)
    assert "     %3 = relax.abs %2 : (tensor<3xf32>) -> tensor<3xf32>" in found.lines


def test_a_pass_in_place_of_a_module_runs_on_a_copy() -> None:
    module = passline.load(CHAIN)
    before = str(module)
    found = passline.diff(module, passline.passes.EliminateCommonSubexpr())
    assert [line[0] for line in found.lines if line[0] in "+-"] == ["-", "-", "+"]
    assert found.title == "eliminate-common-subexpr" and str(module) == before


def test_a_pass_of_xdsl() -> None:
    constants = "%a = arith.constant 1 : i32\n%b = arith.constant 1 : i32\n"
    module = passline.load(f'{constants}"test.op"(%a, %b) : (i32, i32) -> ()')
    found = passline.diff(module, CommonSubexpressionElimination())
    assert found.title == "cse" and found.removed == 2


def test_a_change_of_a_large_constant_is_a_difference() -> None:
    zeros, ones = (f"dense<[{', '.join([n] * 19)}, 2.0]> : tensor<20xf32>" for n in ("0.0", "1.0"))
    before, after = (passline.load(f"%c = arith.constant {value}") for value in (zeros, ones))
    found = passline.diff(before, after)
    assert (found.removed, found.added) == (1, 1) and "0.0" not in str(found)
    assert not passline.diff(before, before)


def test_what_takes_the_place_of_a_value_takes_over_its_name() -> None:
    text = """
func.func @main(%x: i32) -> i32 {
  %two = arith.constant 2 : i32
  %c = arith.muli %two, %two : i32
  %y = arith.muli %c, %c : i32
  %z = arith.addi %x, %y : i32
  func.return %z : i32
}
"""
    found = passline.diff(passline.load(text), passline.passes.Canonicalize())
    added = [line.split()[1] for line in found.lines if line[0] == "+"]
    assert added == ["%y"]
    assert "%z = arith.addi %x, %y :" in str(found)


def test_changes_in_a_long_function_do_not_rename_the_rest() -> None:
    def chain(length: int, changed: int) -> ModuleOp:
        names = ["abs" if i == changed else "negative" for i in range(length)]
        types = "(tensor<3xf32>) -> tensor<3xf32>"
        lines = [f"%{i + 1} = relax.{name} %{i} : {types}" for i, name in enumerate(names)]
        body = "\n".join([*lines, f"func.return %{length} : tensor<3xf32>"])
        return passline.load(f"func.func @main(%0: tensor<3xf32>) -> tensor<3xf32> {{{body}}}")

    found = passline.diff(chain(3000, 1000), chain(3000, 2000))
    assert 2 <= found.removed == found.added <= 4
    assert passline.diff(chain(3000, 3000), chain(3000, 3000)).lines == ()


def test_no_change_is_false_and_said_so() -> None:
    found = passline.diff(passline.load(CHAIN), Nothing())
    assert not found and found.lines == () and str(found) == ""
    assert repr(found) == "toy-nothing: no change"
    assert "toy-nothing: no change" in html_of(found)


def test_repr_has_the_counts_and_the_diff() -> None:
    module = passline.load(CHAIN)
    found = passline.diff(module, passline.passes.EliminateCommonSubexpr())
    first, second, *_ = repr(found).splitlines()
    assert first == "eliminate-common-subexpr: 2 lines removed, 1 added"
    assert second.startswith("@@ ")


def test_html_is_highlighted_and_escaped() -> None:
    module = passline.load(CHAIN)
    html = html_of(passline.diff(module, passline.passes.EliminateCommonSubexpr()))
    assert '<span class="gd">-    %1 = relax.negative' in html
    assert "tensor&lt;3xf32&gt;" in html and "tensor<" not in html


def test_functions_are_compared_by_name() -> None:
    one = passline.load("func.func @f() { func.return }\nfunc.func @g() { func.return }")
    other = passline.load("func.func @g() { func.return }")
    assert passline.diff(one, other).removed == 3


@table_test("given", ["x.mlir", 3])
def test_other_arguments_are_a_type_error(given: object) -> None:
    with pytest.raises(TypeError, match="diff takes modules, and a pass in place of one, not"):
        passline.diff(passline.load(CHAIN), given)  # pyright: ignore[reportArgumentType]


# assert_equal


def function(body: str, argument: str = "%x") -> str:
    return f"func.func @f({argument}: i32) -> i32 {{\n{body}\n}}"


SUM = function("%a = arith.addi %x, %x : i32\nfunc.return %a : i32")


@table_test(
    "text",
    [
        SUM,
        function("%0 = arith.addi %y, %y : i32\nfunc.return %0 : i32", "%y"),
        f"builtin.module {{ {SUM} }}",
    ],
)
def test_names_are_no_part_of_the_ir(text: str) -> None:
    passline.assert_equal(passline.load(SUM), text)
    passline.assert_equal(text, SUM)


def test_attributes_have_no_order() -> None:
    a, b = (f'"test.op"() {{{text}}} : () -> ()' for text in ("a, b = 1 : i32", "b = 1 : i32, a"))
    passline.assert_equal(a, b)


def test_names_of_blocks_are_no_part_of_the_ir() -> None:
    text = function("cf.br ^{0}\n^{0}:\nfunc.return %x : i32")
    passline.assert_equal(text.replace("{0}", "a"), text.replace("{0}", "bb7"))


def test_the_message_is_the_diff() -> None:
    other = function("%a = arith.muli %y, %y : i32\nfunc.return %a : i32", "%y")
    with pytest.raises(AssertionError) as info:
        passline.assert_equal(SUM, other)
    assert [line for line in str(info.value).splitlines() if line[0] in "+-"] == [
        "-    %a = arith.muli %x, %x : i32",
        "+    %a = arith.addi %x, %x : i32",
    ]


@table_test(
    "other",
    [
        function("func.return %x : i32"),
        SUM.replace("@f", "@g"),
        SUM.replace("i32", "i64"),
        SUM + "func.func private @g()",
        SUM.replace("arith.addi", "arith.subi"),
    ],
)
def test_different_ir_is_not_equal(other: str) -> None:
    with pytest.raises(AssertionError, match="the IR differs: - expected, [+] actual\n"):
        passline.assert_equal(SUM, other)


def test_large_constants_are_compared() -> None:
    text = "%0 = arith.constant dense<[{}]> : tensor<20xi32>".format
    one, other = (text(", ".join([str(i), *["7"] * 19])) for i in (1, 2))
    passline.assert_equal(one, one)
    with pytest.raises(AssertionError):
        passline.assert_equal(one, other)


def test_regions_may_be_nested_deeply() -> None:
    text = '"test.op"() ({\n' * 3000 + "}) : () -> ()\n" * 3000
    one, other = (passline.load(text, verify_ir=False) for _ in range(2))
    passline.assert_equal(one, other)


def test_only_modules_and_texts_are_compared() -> None:
    with pytest.raises(TypeError, match="expected is a module or the text of one, not 3"):
        passline.assert_equal(SUM, 3)  # pyright: ignore[reportArgumentType]
