"""Sizes that a user chooses for unknown dimensions."""

from __future__ import annotations

import pytest
from support.tables import table_test

from passline.compiler.interpreters.shape_bindings import (
    Bindings,
    Dimension,
    ShapeBindingError,
    bind_shapes,
    dimensions_text,
    read_bindings,
)


def test_a_size_holds_for_all_dimensions_of_the_name():
    declared = {"x": ("n", 3, None), "y": ("n", "m"), "z": None}
    bound = bind_shapes(declared, Bindings({"x": (2, None, 5)}, {"m": 0}))
    assert bound.dimensions == {"x": (2, 3, 5), "y": (2, 0), "z": None}
    assert bound.sizes == {"n": 2, "m": 0}


def test_a_dimension_may_stay_unknown_and_a_rank_become_known():
    bound = bind_shapes({"x": ("n", None), "z": None}, Bindings({"x": (None, 4), "z": ()}, {}))
    assert bound.dimensions == {"x": ("n", 4), "z": ()}


@table_test(
    "shapes, dims, message",
    [
        ({"a": (1,)}, {}, "there is no parameter 'a': there is x"),
        ({}, {"k": 1}, "no parameter has a dimension 'k': there is n"),
        ({"x": (1,)}, {}, "parameter 'x' has 3 dimensions, nx3xn, not the 1 of 1"),
        ({"x": (1, 4, 1)}, {}, "dimension 1 of parameter 'x' is 3, not 4"),
        (
            {"x": (1, 3, 2)},
            {},
            "dimension 2 of parameter 'x' is 'n', which is 1 "
            "by dimension 0 of parameter 'x', not 2",
        ),
        (
            {"x": (1, 3, 1)},
            {"n": 2},
            "dimension 0 of parameter 'x' is 'n', which is 2 by the size given for 'n', not 1",
        ),
        ({"x": (-1, 3, 1)}, {}, "dimension 0 of parameter 'x' has size -1"),
        ({}, {"n": -2}, "dimension 'n' has size -2"),
    ],
)
def test_what_does_not_fit_is_an_error(
    shapes: dict[str, tuple[int, ...]], dims: dict[str, int], message: str
):
    with pytest.raises(ShapeBindingError) as info:
        bind_shapes({"x": ("n", 3, "n")}, Bindings(shapes, dims))
    assert str(info.value) == message


EXPRESSIONS = {"x": ("h", "2 * h", "h//2"), "y": ("b * h", "batch size", None)}


@table_test(
    "shapes, dims, x, y",
    [
        ({}, {"h": 8}, (8, 16, 4), ("8 * b", "batch size", None)),
        ({"x": (None, 16, None)}, {}, (8, 16, 4), ("8 * b", "batch size", None)),
        ({}, {"2 * h": 16, "batch size": 3}, (8, 16, 4), ("8 * b", 3, None)),
        ({"x": (3, None, None), "y": (12, 2, 7)}, {}, (3, 6, 1), (12, 2, 7)),
        ({"y": (6, None, None)}, {}, ("h", "2 * h", "h//2"), (6, "batch size", None)),
        ({"y": (6, None, None)}, {"b": 2}, (3, 6, 1), (6, "batch size", None)),
    ],
)
def test_expressions_follow_from_their_names(
    shapes: dict[str, tuple[int | None, ...]],
    dims: dict[str, int],
    x: tuple[Dimension, ...],
    y: tuple[Dimension, ...],
):
    assert bind_shapes(EXPRESSIONS, Bindings(shapes, dims)).dimensions == {"x": x, "y": y}


@pytest.mark.parametrize(
    ("shapes", "dims", "message"),
    [
        (
            {"x": (9, 16, None)},
            {},
            "dimension 1 of parameter 'x' is '2 * h', which is 18 by dimension 0 of parameter 'x', "
            "not 16",
        ),
        (
            {"x": (None, 15, None)},
            {},
            "dimension 1 of parameter 'x' is '2 * h', which is 15 for no size of 'h'",
        ),
        (
            {"x": (None, None, 5)},
            {"h": 8},
            "dimension 2 of parameter 'x' is 'h//2', which is 4 by the size given for 'h', not 5",
        ),
        (
            {"y": (5, None, None)},
            {"h": 2},
            "which is 5 for no size of 'b' by the size given for 'h'",
        ),
        ({}, {"k": 1}, "no parameter has a dimension 'k': there are h, b, batch size"),
    ],
)
def test_a_conflict_names_both_places(
    shapes: dict[str, tuple[int | None, ...]], dims: dict[str, int], message: str
):
    with pytest.raises(ShapeBindingError) as info:
        bind_shapes(EXPRESSIONS, Bindings(shapes, dims))
    assert message in str(info.value)


def test_a_size_that_would_be_negative_is_an_error():
    with pytest.raises(ShapeBindingError) as info:
        bind_shapes({"x": ("h - 3",)}, Bindings({}, {"h": 2}))
    assert str(info.value) == (
        "dimension 0 of parameter 'x' is 'h - 3', which is -1 by the size given for 'h'"
    )


def test_bindings_are_read_from_text():
    found = read_bindings(["x=1x3x?", "a=b=", "/in/y:0=7"], ["batch=4", "a + 1=2"])
    assert found.shapes == {"x": (1, 3, None), "a=b": (), "/in/y:0": (7,)}
    assert found.dims == {"batch": 4, "a + 1": 2}


@table_test("text", ["x", "=3", "x=1x", "x=-1", "x=1,2", "x=1.5", "x=" + "9" * 30])
def test_text_of_another_form_is_an_error(text: str):
    with pytest.raises(ShapeBindingError, match="expected"):
        read_bindings([text], [])


def test_a_name_is_given_once():
    with pytest.raises(ShapeBindingError, match="'x' is given twice"):
        read_bindings(["x=1", "x=1"], [])
    with pytest.raises(ShapeBindingError, match="'n' is given twice"):
        read_bindings([], ["n=1", "n=2"])


def test_dimensions_are_written_as_in_types():
    assert dimensions_text(("n", None, 3)) == "nx?x3"
    assert dimensions_text(()) == "scalar"


def test_a_known_size_agrees_with_its_name():
    declared = {"x": ("m", "n"), "y": (6,)}
    bound = bind_shapes(declared, Bindings({}, {"m": 3}), {"y": ["m * n"]})
    assert bound.dimensions == {"x": (3, 2), "y": (6,)}
    with pytest.raises(ShapeBindingError, match=r"'y' is 'm \* n', which is 12 by .* not 6"):
        bind_shapes(declared, Bindings({}, {"m": 3, "n": 4}), {"y": ["m * n"]})


@table_test(
    "dims, dimensions",
    [
        ({"h": "2 * k"}, {"x": ("2 * k", "4 * k", "k"), "y": ("2 * b * k", "batch size", None)}),
        ({"h": "b", "b": 3}, {"x": (3, 6, 1), "y": (9, "batch size", None)}),
        (
            {"h": "b", "b": "h"},
            {"x": ("b", "2 * b", "b // 2"), "y": ("b * h", "batch size", None)},
        ),
    ],
)
def test_a_name_may_get_an_expression(
    dims: dict[str, int | str], dimensions: dict[str, tuple[Dimension, ...]]
):
    assert bind_shapes(EXPRESSIONS, Bindings({}, dims)).dimensions == dimensions


def test_an_expression_gets_only_a_size():
    with pytest.raises(ShapeBindingError, match="a name can get an expression, an expression only"):
        bind_shapes(EXPRESSIONS, Bindings({}, {"2 * h": "k"}))


def test_new_names_follow_from_a_dimension():
    with pytest.raises(ShapeBindingError, match="'h=i \\* j': the size of 'i' follows from no"):
        bind_shapes(EXPRESSIONS, Bindings({}, {"h": "i * j"}))


def test_expressions_are_read_from_text():
    assert read_bindings([], ["m=2 * k"]).dims == {"m": "2 * k"}
    with pytest.raises(ShapeBindingError, match="or an expression of names"):
        read_bindings([], ["m=1O"])
