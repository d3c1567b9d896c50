"""Lists of numbers in dense constants are read as xDSL reads them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.passes.same_ir import parsed_alike
from support.tables import table_test

from passline.passmanager.fast.reading.literal_parser import read_number_list
from passline.passmanager.registry import make_ir_context

CONTEXT = make_ir_context()


def assert_alike(literal: str, type: str = "tensor<2x2xf32>") -> None:
    text = f'"test.op"() {{value = dense<{literal}> : {type}}} : () -> ()\n'
    assert parsed_alike(CONTEXT, text) is not None


def test_values_and_shape():
    assert read_number_list("x[[1, -2.5], [3.0e1, 4]]>", 1) == ([1, -2.5, 30.0, 4], [2, 2], 24)


@table_test(
    "literal",
    "[]|[[], []]|[1, [2]]|[[1], 2]|[[1], [2, 3]]|[1e5]|[01]|[true]|[1|1|[0x7F]|[(1, 2)]|[+1]|[1,]"
    "|[1 2]".split("|"),
)
def test_any_other_list_is_left_to_xdsl(literal: str):
    assert read_number_list(literal, 0) is None
    assert_alike(literal)


@table_test(
    ("literal", "type"),
    [
        ("[[1, 2], [3, 4]]", "tensor<2x2xf32>"),
        ("[[1, -2], [3, 4]]", "tensor<2x2xi8>"),
        ("[1, -2]", "tensor<2xui8>"),
        ("[1, 300]", "tensor<2xi8>"),
        ("[1, 2.5]", "tensor<2xi32>"),
        ("[1, 2]", "tensor<3xi32>"),
        ("[-0.0, 0.0, 1.5e300]", "vector<3xf64>"),
        ("[1, 0]", "tensor<2xi1>"),
        ("[1, 0]", "tensor<2xcomplex<f32>>"),
        ("[1, 0]", "i32"),
        ("[-1, 1]", "tensor<2xindex>"),
    ],
)
def test_values_of_each_type(literal: str, type: str):
    assert_alike(literal, type)


NUMBERS = st.one_of(st.integers(-300, 300).map(str), st.floats(width=32).map(str))
LISTS = st.recursive(
    NUMBERS, lambda inner: st.lists(inner, max_size=3).map(", ".join).map("[{}]".format)
)


@given(LISTS, st.sampled_from(["tensor<2xf32>", "tensor<2x2xf64>", "tensor<1x1xi16>"]))
def test_random_lists(literal: str, type: str):
    assert_alike(literal, type)
