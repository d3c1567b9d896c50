"""Dataflow patterns that are built in Python, and rewriting by them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import passline
from passline.dialects.relax.elementwise.binary import AddOp, MultiplyOp
from passline.dialects.relax.elementwise.unary import ExpOp, NegativeOp
from passline.dpl import (
    Match,
    Pattern,
    is_arg,
    is_const,
    is_op,
    parse_pattern,
    rewrite_call,
    wildcard,
)

TEXT = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %c = relax.full 2.0 : tensor<2x3xf32>
  %a = relax.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = relax.negative %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %aa = relax.multiply %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %ab = relax.multiply %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %sum = relax.sum %y {axis = [1], keepdims = true} : (tensor<?x3xf32>) -> tensor<?x1xf32>
  %n = relax.add %aa, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %ab, %n : tensor<2x3xf32>, tensor<2x3xf32>
}
"""


def load() -> ModuleOp:
    return passline.load(TEXT)


def op_called(hint: str, module: ModuleOp) -> Operation:
    return next(op for op in module.walk() if op.results and op.results[0].name_hint == hint)


x, y = wildcard(), wildcard()
exp = is_op("relax.exp")
product = is_op("relax.multiply")


@table_test(
    "pattern, hint, matches",
    [
        (product(x, x), "aa", True),
        (product(x, x), "ab", False),
        (product(x, y), "ab", True),
        (product(exp(x), is_op("relax.negative")(x)), "ab", True),
        (product(exp(x), is_op("relax.negative")(y)), "ab", True),
        (product(is_op("relax.negative")(x), exp(x)), "ab", True),  # in the other order
        (exp(is_arg()), "a", True),
        (product(is_arg(), x), "aa", False),
        (exp.has_shape((2, 3)), "a", True),
        (exp.has_shape((2, None)).has_dtype("f32"), "a", True),
        (exp.has_shape((3, 2)), "a", False),
        (exp.has_shape((2,)), "a", False),
        (exp.has_rank(2), "a", True),
        (exp.has_dtype("f16"), "a", False),
        (exp.has_shape(()), "a", False),
        (is_op("relax.sum")(wildcard().has_shape((2, 3))), "sum", False),
        (is_op("relax.sum")(wildcard().has_shape((None, 3))), "sum", True),
        (is_op("relax.sum").has_attr({"keepdims": True}), "sum", True),
        (is_op("relax.sum", axis=[1]).has_attr({"keepdims": False}), "sum", False),
        (is_op("relax.add")(is_const(), product | exp), "n", True),
    ],
)
def test_a_pattern_matches(pattern: Pattern, hint: str, matches: bool) -> None:
    op = op_called(hint, load())
    assert (pattern.match(op) is not None) is matches
    read = parse_pattern(str(pattern))
    assert str(read) == str(pattern)
    if pattern not in (product(x, x), product(exp(x), is_op("relax.negative")(x))):
        assert (read.match(op.results[0]) is not None) is matches


def test_a_match_has_the_value_of_each_part() -> None:
    module = load()
    inner, named = exp(x), wildcard("w")
    match = product(inner, named).match(op_called("ab", module))
    assert match is not None
    a, b = op_called("a", module), op_called("b", module)
    assert match[inner] is a.results[0] and match[x] is a.operands[0]
    assert match[named] is match["w"] is b.results[0]
    assert x in match and y not in match and "w" in match and "v" not in match
    with pytest.raises(KeyError, match="is not part of the match"):
        match[y]
    assert {*match.ops} == {op_called("ab", module), a}


@table_test("text", ["*:", "*:2xx3", "*:2x%", "relax.exp:3xf32x2"])
def test_types_in_text(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_pattern(text)


@table_test("make", [is_op, parse_pattern])
def test_the_name_of_an_operation_is_that_of_one(make: Callable[[str], Pattern]) -> None:
    with pytest.raises(ValueError, match=r"'relax.ad': there is none, did you mean 'relax.add'"):
        make("relax.ad")
    assert str(make("other_project.add")) == "other_project.add"  # a dialect that is not known


# rewrite_call


def test_operations_are_rewritten() -> None:
    module = load()
    func = next(iter(module.ops))
    done = rewrite_call(product(x, x), lambda op, match: ExpOp(NegativeOp(match[x])), func)
    assert done is func
    module.verify()
    assert [op.name.removeprefix("relax.") for op in func.regions[0].block.ops] == (
        "full exp negative negative exp multiply sum add func.return".split()
    )
    assert op_called("aa", module).name == "relax.exp"  # the new value has the name of the old one


def test_operations_of_the_match_without_users_go() -> None:
    module = load()
    b = op_called("b", module)
    pattern = product(exp, is_op("relax.negative"))
    rewrite_call(pattern, lambda op, match: op_called("c", module).results[0], module)
    module.verify()
    assert b.parent is None and op_called("a", module).parent is not None


def test_a_rewrite_may_leave_an_operation_alone() -> None:
    module = load()
    rewrite_call(product, lambda op, match: None, module)
    rewrite_call(product, lambda op, match: op, module)
    passline.assert_equal(module, load())


def test_new_operations_are_not_matched_again() -> None:
    module = load()
    seen: list[Match] = []

    def rewrite(op: Operation, match: Match) -> Operation:
        seen.append(match)
        return MultiplyOp(*op.operands)

    rewrite_call(product, rewrite, module)
    assert len(seen) == 2
    passline.assert_equal(module, load())


def test_the_type_stays() -> None:
    module = load()
    with pytest.raises(TypeError, match=r"'relax.sum' of tensor<\?x1xf32> is replaced by tensor"):
        rewrite_call(is_op("relax.sum"), lambda op, _: ExpOp(op.operands[0]), module)


def test_nested_operations_are_rewritten() -> None:
    module = passline.load(
        "%c = arith.constant true\n"
        "%r = scf.if %c -> (tensor<3xf32>) {\n"
        "  %x = relax.full 1.0 : tensor<3xf32>\n"
        "  %e = relax.exp %x : (tensor<3xf32>) -> tensor<3xf32>\n"
        "  scf.yield %e : tensor<3xf32>\n"
        "} else {\n"
        "  %x = relax.full 2.0 : tensor<3xf32>\n"
        "  scf.yield %x : tensor<3xf32>\n"
        "}"
    )
    rewrite_call(exp(x), lambda op, match: AddOp(match[x], match[x]), module)
    module.verify()
    assert [op.name for op in module.walk() if "relax." in op.name].count("relax.add") == 1
