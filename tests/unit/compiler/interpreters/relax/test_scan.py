"""The semantics of scans, with Python numbers as the oracle."""

from __future__ import annotations

import operator
from itertools import accumulate

import numpy as np
import pytest
from support.operations.evaluation import ELEMENTS, constant, i4, run
from support.pairs import pairs
from xdsl.dialects.builtin import bf16, f16, f32, i1, i8

from passline.dialects.relax.reduction.scan import CumprodOp, CumsumOp, CumulativeOp
from passline.dialects.relax.types import Element


@pairs(
    op=[CumsumOp, CumprodOp],
    element=[*ELEMENTS, i4, bf16],
    axis=[None, 0, 1, -1],
    exclusive=[False, True],
    reverse=[False, True],
)
def test_scan(
    op: type[CumulativeOp], element: Element, axis: int | None, exclusive: bool, reverse: bool
):
    x = constant([[1, 2, 3], [4, -1, 2]], element)
    function, identity = (operator.add, 0) if op is CumsumOp else (operator.mul, 1)

    def scan(line: list[float]) -> list[float]:
        line = line[::-1] if reverse else line
        total = [*accumulate(line, function, initial=identity)]
        total = total[:-1] if exclusive else total[1:]
        return total[::-1] if reverse else total

    values = run(x).tolist()
    if axis is None:
        expected: object = scan([v for row in values for v in row])
    elif axis == 0:
        expected = np.transpose([scan([*column]) for column in zip(*values, strict=True)])
    else:
        expected = [scan(row) for row in values]
    result = run(op(x, axis=axis, exclusive=exclusive, reverse=reverse))
    np.testing.assert_array_equal(result, run(constant(expected, element)), strict=True)


@pytest.mark.parametrize("exclusive", [False, True])
def test_no_elements_and_rank_0(exclusive: bool):
    x = constant(np.zeros((2, 0)), f32)
    assert run(CumsumOp(x, axis=1, exclusive=exclusive)).shape == (2, 0)
    assert run(CumsumOp(x, exclusive=exclusive)).shape == (0,)
    expected = [0.0] if exclusive else [5.0]
    assert run(CumsumOp(constant(5.0, f32), exclusive=exclusive)).tolist() == expected


def test_numbers():
    assert run(CumsumOp(constant([100, 100], i8))).tolist() == [100, -56]
    assert run(CumsumOp(constant([True, True, True], i1))).tolist() == [True, False, True]
    assert run(CumsumOp(constant([2048.0, 1.0, 1.0], f16))).tolist() == [2048, 2048, 2050]
