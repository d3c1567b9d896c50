"""The generation of inputs: seeded, with special values, for all types and sizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.parsing import parsed

from passline.compiler.interpreters.arguments import check_arguments
from passline.compiler.interpreters.arrays import Array
from passline.compiler.interpreters.equivalence.comparison import is_tuple
from passline.compiler.interpreters.equivalence.inputs import (
    POWERS,
    Recipe,
    generate,
    probes,
    variations,
)
from passline.compiler.interpreters.signature import Function, entry_function
from passline.passmanager import PasslineError


def function(*types: str) -> Function:
    params = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    return entry_function(parsed(f"func.func @f({params}) {{ return }}"), "f")


def all_inputs(func: Function, seed: int = 0) -> Iterator[list[Array]]:
    base = next(probes(func, seed))
    for recipe in (base, *variations(func, base)):
        yield [np.asarray(value) for value in generate(func, recipe)]


ELEMENTS = ["f16", "bf16", "f32", "f64", "i1", "i4", "i8", "i32", "i64", "ui8", "ui64", "si16"]


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("shape", ["", "3x", "0x", "?x2x"])
def test_all_inputs_are_values_of_the_types(element: str, shape: str):
    func = function(f"tensor<{shape}{element}>", f"memref<{shape}{element}>")
    for arguments in all_inputs(func):
        check_arguments(func, arguments)  # PasslineError if one does not fit


@pytest.mark.parametrize("element", ["f16", "f32", "f64"])
@pytest.mark.parametrize("shape", ["", "2x"])
def test_special_floats_occur_in_each_parameter_however_small(element: str, shape: str):
    type = f"tensor<{shape}{element}>"
    inputs = [*all_inputs(function(type, type))]
    for i in range(2):
        values = np.concatenate([arguments[i].ravel() for arguments in inputs])
        info = np.finfo(values.dtype)
        assert np.isnan(values).any()
        assert {np.inf, -np.inf} <= set(values.tolist())
        assert np.signbit(values[values == 0]).any()
        assert ((values != 0) & (np.abs(values) < float(info.tiny))).any()


@pytest.mark.parametrize("element", ["i8", "i32", "i64", "ui8"])
def test_extreme_integers_occur(element: str):
    inputs = [*all_inputs(function(f"tensor<8x{element}>"))]
    values = np.concatenate([arguments[0] for arguments in inputs])
    info = np.iinfo(values.dtype)
    assert {info.min, info.max} <= set(values.tolist())


def test_unknown_dimensions_are_empty_one_and_several_and_differ():
    shapes = {arguments[0].shape for arguments in all_inputs(function("tensor<?x?xf32>"))}
    assert {(0, 0), (1, 1), (3, 3), (3, 4)} <= shapes


def test_integers_are_tried_in_smaller_and_smaller_ranges():
    limits = [recipe.limit for recipe in probes(function("tensor<4xi64>"), 0)]
    assert limits == [10, 4, 2, 1]
    (zeros,) = generate(function("tensor<9xi64>"), Recipe(limit=1))
    assert not np.any(np.asarray(zeros))


def test_an_index_does_not_overflow():
    for (value,) in all_inputs(function("index")):
        assert 0 <= int(value) <= max(POWERS)


def test_the_same_seed_gives_the_same_input_and_another_seed_another():
    func = function("tensor<8xf32>", "tensor<8xi32>")
    one, same, other = (generate(func, Recipe(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(np.asarray(one), np.asarray(same))
    assert not np.array_equal(np.asarray(one), np.asarray(other))


def test_tuples_are_made_of_their_elements():
    (value,) = generate(function("tuple<tensor<2xf32>, tuple<i32>>"), Recipe())
    assert is_tuple(value) and is_tuple(inner := value[1])
    assert [np.asarray(value[0]).shape, np.asarray(inner[0]).shape] == [(2,), ()]


@pytest.mark.parametrize(
    "type",
    ["(i32) -> i32", "tensor<*xf32>", "memref<4xf32, strided<[2]>>", '!test.type<"a">'],
)
def test_a_type_without_values_is_named(type: str):
    with pytest.raises(PasslineError, match="there are no values for parameter 'a0' of type"):
        generate(function(type), Recipe())
