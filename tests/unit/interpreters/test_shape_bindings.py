"""Sizes that a user chooses for unknown dimensions."""

from __future__ import annotations

import pytest

from passline.interpreters.shape_bindings import (
    Bindings,
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


@pytest.mark.parametrize(
    ("shapes", "dims", "message"),
    [
        ({"a": (1,)}, {}, "there is no parameter 'a': there is x"),
        ({}, {"k": 1}, "no parameter has a dimension 'k': there is n"),
        ({"x": (1,)}, {}, "parameter 'x' has 3 dimensions, nx3xn, not the 1 of 1"),
        ({"x": (1, 4, 1)}, {}, "dimension 1 of parameter 'x' is 3, not 4"),
        ({"x": (1, 3, 2)}, {}, "dimension 2 of parameter 'x' is 'n', which is 1, not 2"),
        ({"x": (1, 3, 1)}, {"n": 2}, "dimension 0 of parameter 'x' is 'n', which is 2, not 1"),
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


def test_bindings_are_read_from_text():
    found = read_bindings(["x=1x3x?", "a=b=", "/in/y:0=7"], ["batch=4", "a + 1=2"])
    assert found.shapes == {"x": (1, 3, None), "a=b": (), "/in/y:0": (7,)}
    assert found.dims == {"batch": 4, "a + 1": 2}


@pytest.mark.parametrize("text", ["x", "=3", "x=1x", "x=-1", "x=1,2", "x=1.5", "x=" + "9" * 30])
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
