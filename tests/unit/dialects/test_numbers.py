"""Numbers of shape rules: what operators fold, and what they leave to the run."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.test import TestOp

from passline.dialects.numbers import (
    Computed,
    Element,
    Number,
    as_number,
    at_least,
    ceildiv,
    equal,
    less,
    maximum,
    minimum,
    product,
    select,
)
from passline.dialects.sizes import MAX_TERMS, Size

N, M = (as_number(Size.symbol(name)) for name in "nm")
X = Element(TestOp(result_types=[IndexType()]).results[0], 0)


@pytest.mark.parametrize(
    ("number", "folded"),
    [
        (3 * N - N, 2 * N),
        (N - N, 0),
        (N * 0, 0),
        (N * 4 // 4, N),
        (-N + N + 3, 3),
        (product([2, N, 3]), 6 * N),
        (X + 0, X),
        (0 + X, X),
        (X * 1, X),
        (X * 0, 0),
        (X // 1, X),
        (ceildiv(N * 4 + 1, 4), N + 1),
        (maximum(N, 0), N),
        (maximum(N + 1, N), N + 1),
        (minimum(N, N + 2), N),
        (select(less(N + 1, 1), 5, N), N),
        (select(equal(N, N), 5, N), 5),
    ],
)
def test_known_results_are_folded(number: Number, folded: Number):
    assert number == folded


@pytest.mark.parametrize(
    ("number", "function", "operands"),
    [
        (X + N, "addi", (X, N)),
        (3 - X, "subi", (3, X)),
        (N * X, "muli", (N, X)),
        (N // M, "divsi", (N, M)),
        (maximum(N, M), "maxsi", (N, M)),
        (less(N, M), "slt", (N, M)),
    ],
)
def test_other_results_are_computed(number: Number, function: str, operands: tuple[Number, ...]):
    assert isinstance(number, Computed)
    assert (number.function, number.operands) == (function, operands)


def test_an_expression_that_is_too_large_is_computed():
    total = sum(as_number(Size.symbol(f"n{i}")) for i in range(MAX_TERMS + 1))
    assert isinstance(total, Computed)


def test_a_bound_of_a_maximum():
    assert at_least(maximum(X, 2), 2) and not at_least(minimum(X, 2), 2) and not at_least(X, N)
