"""The comparison of values: bit for bit, within a bound, NaN and infinities, shapes and types."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import table_test

from passline.compiler.interpreters.arrays import Array
from passline.compiler.interpreters.equivalence.comparison import Compared, Comparison, tolerance
from passline.compiler.interpreters.signature import Value

INF, NAN = np.inf, np.nan
BOUND = tolerance(2.0**-23)


def f32(*numbers: float) -> Array:
    return np.array(numbers, np.float32)


def nan_with(payload: int) -> Array:
    return np.array([0x7FC00000 | payload], np.uint32).view(np.float32)


@table_test(
    "before, after, exact, rounded",
    [
        (f32(1, 2), f32(1, 2), True, True),
        (nan_with(1), nan_with(2), True, True),
        (f32(0.0), f32(-0.0), False, True),
        (f32(1.0), f32(1.0000001), False, True),
        (f32(1.0), f32(1.001), False, False),
        (f32(1000.0, 1e-6), f32(1000.0, 2e-6), False, True),  # beside the greatest, nothing
        (f32(1.0, NAN), f32(1.0, 1.0), False, False),
        (f32(1.0), f32(NAN), False, False),
        (f32(1.0), f32(INF), False, False),
        (f32(INF), f32(INF), True, True),
        (f32(INF), f32(-INF), False, False),
        (f32(INF), f32(3e38), False, False),
        (f32(INF), f32(NAN), False, True),
        (f32(NAN), f32(INF), False, False),
        (np.array([3]), np.array([4]), False, False),
        (np.array([2**62]), np.array([2**62 + 1]), False, False),
        (f32(1.0), np.array([1.0]), False, False),
        (np.zeros((2, 3)), np.zeros((3, 2)), False, False),
        (np.zeros((0, 3)), np.zeros((3, 0)), False, False),
        (np.zeros(()), np.zeros(1), False, False),
    ],
)
def test_arrays(before: Array, after: Array, exact: bool, rounded: bool):
    assert (Comparison().mismatch(before, after) is None) == exact
    assert (Comparison(BOUND).mismatch(before, after) is None) == rounded


@pytest.mark.parametrize("compared", ["finite", "shapes"])
def test_near_the_limits_values_are_free_in_passes_that_round(compared: Compared):
    assert Comparison(BOUND, compared).mismatch(f32(1e38), f32(2e38)) is None
    assert Comparison(BOUND, compared).mismatch(f32(INF), f32(2e38)) is None
    assert Comparison(compared=compared).mismatch(f32(1e38), f32(INF)) is not None
    assert Comparison(BOUND, compared).mismatch(np.array([1]), np.array([2])) is not None
    assert Comparison(BOUND, compared).mismatch(f32(1.0), f32(1.0, 2.0)) is not None


@pytest.mark.parametrize("number", [INF, -INF, NAN])
def test_near_the_limits_finite_numbers_stay_finite_unless_only_shapes_count(number: float):
    before, after = f32(1.0, 1e38), f32(1.0, number)
    text = Comparison(BOUND, "finite").mismatch(before, after)
    assert text is not None and text.startswith("element [1] is ")
    assert Comparison(BOUND, "shapes").mismatch(before, after) is None


def test_the_greatest_number_may_be_rounded_to_infinity():
    greatest = float(np.finfo(np.float32).max)
    assert Comparison(BOUND, "finite").mismatch(f32(greatest), f32(INF)) is None
    assert Comparison(BOUND, "finite").mismatch(f32(greatest * 0.999), f32(INF)) is not None


def test_tuples_are_lists_of_their_elements():
    one, two = f32(1), f32(2)
    nested: Value = (one, (two,))
    assert Comparison().mismatch(nested, (one, two)) is None
    assert Comparison().mismatch(nested, (one, one)) == "of value 1, element [0] is 1.0, before 2.0"
    assert Comparison().mismatch(nested, one) == "there are 1 values, before 2"


def test_functions_are_not_compared():
    assert Comparison().mismatch(lambda: None, lambda: None) is None
    assert (
        Comparison().mismatch(lambda: None, f32(1)) == "one value is a function, the other is not"
    )


def test_the_first_difference_is_told():
    before, after = np.zeros((2, 3), np.int64), np.zeros((2, 3), np.int64)
    after[1, 1:] = 7
    reason = "element [1, 1] is 7, before 0 (2 of 6 differ)"
    assert Comparison().mismatch(before, after) == reason
    assert Comparison().mismatch_in([before, before], [before, after]) == f"of value 1, {reason}"
