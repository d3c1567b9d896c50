"""Shape and type inference rules, with numpy as the oracle for known shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    StringAttr,
    TensorType,
    UnrankedTensorType,
    f16,
    f32,
    i32,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from passline.dialects.numbers import Number, as_number, as_size
from passline.dialects.relax.layout import Layout, Relayout
from passline.dialects.relax.shapes import (
    Shape,
    SymbolicSize,
    broadcast,
    computed_size,
    matmul,
    merge,
    num_elements,
    scaled,
    shape_text,
    slice_length,
    widen,
)
from passline.dialects.relax.types import make_tensor_type, refine, shape_of, unify, with_shape
from passline.dialects.sizes import Size

D = DYNAMIC_INDEX

dimensions = st.sampled_from([0, 1, 2, 3])
shapes = st.lists(dimensions, max_size=4).map(tuple)


def numpy_shape(function: np.ufunc, lhs: Shape, rhs: Shape) -> Shape | None:
    try:
        return function(np.zeros(lhs), np.zeros(rhs)).shape
    except ValueError:
        return None


def our_shape(function: Callable[[Shape, Shape], Shape], lhs: Shape, rhs: Shape) -> Shape | None:
    try:
        return function(lhs, rhs)
    except VerifyException:
        return None


@given(shapes, shapes)
def test_broadcast_is_numpys(lhs: Shape, rhs: Shape):
    assert our_shape(broadcast, lhs, rhs) == numpy_shape(np.add, lhs, rhs)


@given(shapes, shapes)
def test_matmul_is_numpys(lhs: Shape, rhs: Shape):
    assert our_shape(matmul, lhs, rhs) == numpy_shape(np.matmul, lhs, rhs)


def bound(size: int, sizes: dict[str, int]) -> int | None:
    """Return a size for the sizes of symbols; None if a run alone knows it."""
    number: Number = size.number if isinstance(size, SymbolicSize) else size
    expression = as_size(number)
    return None if expression is None else expression.bind(sizes).known


@pytest.mark.parametrize("rule", [broadcast, matmul])
@given(shapes, shapes, st.sets(st.integers(0, 7)))
def test_symbolic_dimensions_have_the_size_of_each_run(
    rule: Callable[[Shape, Shape], Shape], lhs: Shape, rhs: Shape, hidden: set[int]
):
    if (known := our_shape(rule, lhs, rhs)) is None:
        return
    sizes = {f"d{i}": size for i, size in enumerate((*lhs, *rhs)) if i in hidden}
    symbols = [
        SymbolicSize(as_number(Size.symbol(f"d{i}"))) if i in hidden else size
        for i, size in enumerate((*lhs, *rhs))
    ]
    found = rule(tuple(symbols[: len(lhs)]), tuple(symbols[len(lhs) :]))
    for actual, expected in zip(found, known, strict=True):
        assert bound(actual, sizes) in (expected, None)


@given(st.integers(0, 9), *[st.integers(-12, 12)] * 2, st.sampled_from([-3, -2, -1, 1, 2, 3]))
def test_a_symbolic_slice_has_the_length_of_each_run(size: int, begin: int, end: int, step: int):
    def length(number: Number) -> Number:
        return slice_length(number, begin, end, step)

    assert computed_size(length, size) == len(range(size)[begin:end:step])
    symbolic = computed_size(length, SymbolicSize(as_number(Size.symbol("n"))))
    assert bound(symbolic, {"n": size}) in (len(range(size)[begin:end:step]), None)


@given(st.integers(0, 99), st.sampled_from([0.25, 0.3, 0.5, 1.0, 1.5, 2.0]))
def test_a_symbolic_size_is_scaled_as_in_each_run(size: int, scale: float):
    symbolic = computed_size(lambda n: scaled(n, scale), SymbolicSize(as_number(Size.symbol("n"))))
    assert bound(symbolic, {"n": size}) in (int(size * scale), None)


def test_a_cache_does_not_return_the_expression_of_another_shape():
    relayout = Relayout.parse("NCHW", "NHWC")
    for size in (
        SymbolicSize(as_number(Size.symbol("n"))),
        D,
        SymbolicSize(as_number(Size.symbol("m"))),
    ):
        (found, *_) = relayout.transform((size, 3, 4, 5))
        assert isinstance(found, SymbolicSize) == isinstance(size, SymbolicSize) and found == size


def test_symbolic_sizes_of_types():
    """Types differ in their expressions; a size without one is in no type with one."""
    n, m = (SymbolicSize(as_number(Size.symbol(name))) for name in "nm")
    plain, first, second = (make_tensor_type(f32, (size, 2)) for size in (D, n, m))
    assert first != second and first == make_tensor_type(f32, (n, 2))
    assert shape_of(with_shape(first, (D, 2))) is not shape_of(first)
    for type in (plain, with_shape(first, (D, 2)), with_shape(plain, (D, 2))):
        assert (shape := shape_of(type)) == (D, 2) and shape is not None
        assert not isinstance(shape[0], SymbolicSize)
    assert num_elements((n, 2)) == SymbolicSize(as_number(Size.symbol("n") * Size.of(2)))
    assert num_elements((n, 0)) == 0


@given(shapes, shapes, st.sets(st.integers(0, 7)))
def test_unknown_dimensions_hide_nothing_wrong(lhs: Shape, rhs: Shape, hidden: set[int]):
    """Rules with unknown dimensions accept what rules with known ones accept."""
    known = our_shape(broadcast, lhs, rhs)
    if known is None:
        return
    both = [D if i in hidden else d for i, d in enumerate(lhs + rhs)]
    result = broadcast(tuple(both[: len(lhs)]), tuple(both[len(lhs) :]))
    assert merge(result, known) == known


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ((D,), (1,), (D,)),
        ((1,), (D,), (D,)),
        ((D,), (4,), (4,)),
        ((D,), (0,), (0,)),
        ((D,), (D,), (D,)),
        ((10, 4), (5, 10, 1), (5, 10, 4)),
        ((), (D, 3), (D, 3)),
    ],
)
def test_broadcast(lhs: Shape, rhs: Shape, result: Shape):
    assert broadcast(lhs, rhs) == result


def test_matmul_of_unknown_dimensions():
    assert matmul((D, 3, D), (4, 5)) == (D, 3, 5)
    assert matmul((D,), (D,)) == ()


def test_shape_text():
    assert shape_text((4, D, 8)) == "4x?x8"
    assert shape_text(()) == "scalar"


def test_merge_and_widen():
    assert merge((D, 4), (3, D)) == (3, 4)
    assert merge((2,), (3,)) is None
    assert merge((2,), (2, 3)) is None
    assert widen((D, 4, 5), (3, 4, 6)) == (D, 4, D)
    assert widen((2,), (2, 3)) is None


def tensor(*shape: int, element: Attribute = f32) -> TensorType[Attribute]:
    return TensorType(element, shape)


def test_refine():
    unranked = UnrankedTensorType[Attribute](f32)
    assert refine(tensor(D, 8), tensor(4, D)) == tensor(4, 8)
    assert refine(unranked, tensor(4)) == tensor(4)
    assert refine(tensor(4), unranked) == tensor(4)
    assert refine(tensor(4), tensor(5)) is None
    assert refine(tensor(4), tensor(4, element=f16)) is None
    assert refine(i32, f32) is None
    assert refine(i32, i32) == i32


def test_refine_keeps_the_declared_type_and_its_encoding():
    declared = TensorType(f32, [4, D], StringAttr("sparse"))
    assert refine(declared, tensor(4, D)) is declared
    assert refine(declared, tensor(4, 8)) == TensorType(f32, [4, 8], StringAttr("sparse"))


def test_unify():
    unranked = UnrankedTensorType[Attribute](f32)
    assert unify(tensor(4, 8), tensor(5, 8)) == tensor(D, 8)
    assert unify(tensor(4, 8), tensor(8)) == unranked
    assert unify(unranked, tensor(8)) == unranked
    assert unify(tensor(8), tensor(8, element=f16)) is None
    assert unify(i32, f32) is None


def test_layout():
    assert Layout.parse("NCHW4c").axes == "NCHWc"
    assert Layout.parse("NCHW").transform((1, 8, 5, 6), Layout.parse("NHWC")) == (1, 5, 6, 8)
    assert Layout.parse("OIHW16i4o").extents((2, 3, 1, 1, 16, 4)) == {
        "O": 8,
        "I": 48,
        "H": 1,
        "W": 1,
    }


@pytest.mark.parametrize(
    "text", ["NC4", "nchw", "N C", "NCHW0c", "NCHWc", "4c4cC", "NCN", "N4c", "NCHW-4c"]
)
def test_no_layout(text: str):
    with pytest.raises(VerifyException):
        Layout.parse(text)
