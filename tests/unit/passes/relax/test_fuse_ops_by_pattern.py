"""FuseOpsByPattern: patterns built in Python, their text, overlapping matches."""

from __future__ import annotations

import pytest
from support.parsing import parsed
from support.tables import table_test
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.utils.exceptions import PassFailedException

from passline.compiler.analysis.dataflow_pattern import (
    Match,
    Pattern,
    is_const,
    is_op,
    parse_pattern,
    wildcard,
)
from passline.passes.relax.fuse_ops_by_pattern import FuseOpsByPattern

PROGRAM = """
func.func @main(%x : tensor<2x2xf32>, %y : tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = relax.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = relax.matmul %x, %c : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = relax.add %0, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = relax.sum %1 {axis = [1], keepdims = true} : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %3 = relax.subtract %1, %2 : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %4 = relax.nn.relu %3 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}
"""


def program() -> ModuleOp:
    return parsed(PROGRAM)


def calls(*patterns: str) -> list[str]:
    """Return the names of the functions that @main calls after the fusion of `patterns`."""
    module = FuseOpsByPattern(patterns=patterns)(program())
    main = module.body.block.first_op
    assert isinstance(main, FuncOp)
    return [op.callee.string_value() for op in main.body.block.ops if isinstance(op, CallOp)]


matmul = is_op("relax.matmul")(wildcard(), is_const())
biased = is_op("relax.add")(wildcard("bias"), matmul)


@table_test(
    "pattern, expected",
    [
        (matmul, ["fused_matmul"]),
        (is_op("relax.matmul")(is_const(), wildcard()), []),
        (is_op("relax.matmul")(wildcard()), []),
        (is_op("relax.matmul"), ["fused_matmul"]),
        (biased, ["fused_matmul_add"]),
        (is_op("relax.subtract")(is_op("relax.sum"), wildcard()), []),
        (is_op("relax.subtract")(wildcard(), is_op("relax.sum")), ["fused_sum_subtract"]),
        (is_op("relax.sum", axis=[1], keepdims=True)(wildcard()), ["fused_sum"]),
        (is_op("relax.sum", axis=[0], keepdims=True)(wildcard()), []),
        (is_op("relax.sum", axes=[0])(wildcard()), []),
        (is_op("relax.exp") | is_op("relax.nn.relu"), ["fused_relu"]),
        (matmul.optional(lambda p: is_op("relax.add")(p, wildcard())), ["fused_matmul_add"]),
        (matmul.optional(lambda p: is_op("relax.exp")(p)), ["fused_matmul"]),
        (
            is_op("relax.subtract")(biased, is_op("relax.sum")(biased)),
            ["fused_matmul_add_sum_subtract"],
        ),
    ],
)
def test_patterns(pattern: Pattern, expected: list[str]):
    assert calls(f"p={pattern}") == expected
    assert str(parse_pattern(str(pattern))) == str(pattern)


def test_spaces_do_not_matter():
    spaced = " relax.sum { axis = [ 1 ] , keepdims = true } ( * | const ) "
    assert str(parse_pattern(spaced)) == "relax.sum{axis=[1], keepdims=true}((* | const))"


def test_earlier_patterns_come_first_and_matches_do_not_overlap():
    assert calls(f"a={matmul}", f"b={biased}") == ["fused_matmul"]
    assert calls(f"b={biased}", f"a={matmul}") == ["fused_matmul_add"]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (str(matmul), "matmul"),
        (str(biased), "matmul_add"),
        ("relax.subtract(*, relax.sum{axis=[1]})", "sum_subtract"),
        (str(matmul.optional(lambda p: is_op("relax.add")(p, wildcard()))), "matmul_add"),
    ],
)
def test_pattern_without_a_name_gets_that_of_its_operations(pattern: str, name: str):
    module = FuseOpsByPattern(patterns=(pattern,))(program())
    assert f'relax.composite = "{name}"' in str(module)


def test_the_value_of_a_named_wildcard():
    module = program()
    main = module.body.block.first_op
    assert isinstance(main, FuncOp)
    add = next(op for op in main.body.block.ops if op.name == "relax.add")
    (match,) = biased.matches(add.results[0], Match())
    assert match.values == {"bias": main.args[1]}
    assert [op.name for op in match.ops] == ["relax.add", "relax.matmul"]


@table_test(
    "text, message",
    [
        ("p=", "expected an operation, *, %name, const, arg or (, got 'the end'"),
        ("p=relax.add(*, *) relax", "expected the end, got 'relax'"),
        ("p=relax.sum{axis}(*)", "expected '=', got '}(*)'"),
        ("p=relax.sum{axis=x}(*)", "expected a number, a string, true, false or a list of numbers"),
        ("p=relax.sum{axis=[[1]]}(*)", "or a list of numbers, got '[[1]]}(*)'"),
        ("p=relax.sum{axis=null}(*)", "or a list of numbers, got 'null}(*)'"),
        ("p=relax.sum{axis=[1](*)", "expected ',' or '}', got '(*)'"),
        ("p=relax.add(*,)", "got ')'"),
        ("p=(relax.exp", "expected ')', got 'the end'"),
        ("p=*", "a pattern ends with an operation"),
    ],
)
def test_what_is_no_pattern(text: str, message: str):
    with pytest.raises(PassFailedException) as error:
        calls(text)
    assert message in str(error.value)


def of_rows(match: Match) -> bool:
    """Return whether a match is one of matrices of two rows, whose bias is a parameter."""
    op = match.ops[0]
    return str(op.results[0].type) == "tensor<2x2xf32>" and "bias" in match.values


def never(_: Match) -> bool:
    return False


@pytest.mark.parametrize(("predicate", "names"), [("of_rows", ["fused_matmul_add"]), ("never", [])])
def test_predicates(predicate: str, names: list[str]):
    pattern = f"biased={biased}"
    module = FuseOpsByPattern(patterns=(pattern,), predicates=(f"biased={__name__}:{predicate}",))(
        program()
    )
    main = module.body.block.first_op
    assert isinstance(main, FuncOp)
    found = [op.callee.string_value() for op in main.body.block.ops if isinstance(op, CallOp)]
    assert found == names


@table_test(
    ("options", "message"),
    [
        ({"predicates": ("relu=x",)}, "expected a pattern and a function, as 'conv_relu=package"),
        ({"predicates": ("relux=math:sin",)}, "unknown pattern 'relux', did you mean 'relu'?"),
        ({"predicates": ("relu=math:sine",)}, "module 'math' has no attribute 'sine'"),
        ({"predicates": ("relu=no.such:f",)}, "No module named 'no'"),
        ({"entry_functions": ("mian",)}, "unknown function 'mian', did you mean 'main'?"),
    ],
)
def test_wrong_names(options: dict[str, tuple[str, ...]], message: str):
    with pytest.raises(PassFailedException) as caught:
        FuseOpsByPattern(patterns=("relu=relax.nn.relu(*)",), **options)(program())  # pyright: ignore[reportArgumentType]
    assert message in str(caught.value)
