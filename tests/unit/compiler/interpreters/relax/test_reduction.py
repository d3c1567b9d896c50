"""The semantics of reductions, with numpy in f64 and Python integers as oracles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np
import pytest
from support.operations.evaluation import ELEMENTS, Array, constant, i4, run, ui8
from support.pairs import pairs
from xdsl.dialects.builtin import IntegerType, bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.utils.exceptions import InterpretationError

from passline.dialects.relax.reduction import reduction as ops
from passline.dialects.relax.types import Element

ORACLE: dict[type[ops.ReductionOp], Callable[[list[float]], float]] = {
    ops.SumOp: sum,
    ops.ProdOp: math.prod,
    ops.MaxOp: max,
    ops.MinOp: min,
    ops.MeanOp: lambda values: sum(values) / len(values),
}


def lines(x: Array, axes: Sequence[int] | None) -> Iterable[list[float]]:
    """The elements that each element of the result is made of."""
    over = [i % x.ndim for i in (range(x.ndim) if axes is None else axes)]
    kept = [range(1) if i in over else range(n) for i, n in enumerate(x.shape)]
    gone = [range(n) if i in over else range(1) for i, n in enumerate(x.shape)]
    for place in product(*kept):
        yield [x[tuple(np.add(place, offset))].item() for offset in product(*gone)]


@pairs(op=ORACLE, element=[*ELEMENTS, i4, bf16], axes=[None, [], [0], [-1], [0, 2], [2, -2, 0]])
def test_reduction(op: type[ops.ReductionOp], element: Element, axes: list[int] | None):
    x = constant(np.arange(-4, 8).reshape(2, 3, 2) % 7 - 2, element)
    values = [ORACLE[op](line) for line in lines(run(x), axes)]
    if isinstance(element, IntegerType):
        values = [math.trunc(v) for v in values]
    expected = run(constant(np.array(values, np.float64 if op is ops.MeanOp else None), element))
    over = range(3) if axes is None else [a % 3 for a in axes]
    kept = [n for i, n in enumerate((2, 3, 2)) if i not in over]
    ones = [1 if i in over else n for i, n in enumerate((2, 3, 2))]
    close = 2.0**-7 if element == bf16 else 4 * epsilon(element)
    result = run(op(x, axis=axes))
    np.testing.assert_allclose(result, expected.reshape(kept), rtol=close, strict=True)
    result = run(op(x, axis=axes, keepdims=True))
    np.testing.assert_allclose(result, expected.reshape(ones), rtol=close, strict=True)


def epsilon(element: Element) -> float:
    return 0 if isinstance(element, IntegerType) else float(np.finfo(f"f{element.size}").eps)


def test_any_and_all():
    x = constant([[True, False], [True, True], [False, False]], i1)
    assert run(ops.AnyOp(x, axis=[1])).tolist() == [True, True, False]
    assert run(ops.AllOp(x, axis=[1])).tolist() == [False, True, False]
    assert run(ops.AllOp(x)).dtype == run(ops.AnyOp(x)).dtype == np.bool_
    none = constant(np.zeros((2, 0), np.bool_), i1)
    assert run(ops.AnyOp(none, axis=[1])).tolist() == [False, False]
    assert run(ops.AllOp(none, axis=[1])).tolist() == [True, True]


@pytest.mark.parametrize(
    ("op", "floats", "integers"),
    [
        (ops.SumOp, 0, 0),
        (ops.ProdOp, 1, 1),
        (ops.MaxOp, -math.inf, -8),
        (ops.MinOp, math.inf, 7),
        (ops.MeanOp, math.nan, 0),
    ],
)
def test_of_no_elements(op: type[ops.ReductionOp], floats: float, integers: int):
    empty = np.zeros((2, 0))
    for element in (f16, bf16, f32, f64):
        result = run(op(constant(empty, element), axis=[1]))
        np.testing.assert_array_equal(result, [floats, floats])
    assert run(op(constant(empty, i4), axis=[1])).tolist() == [integers] * 2
    assert run(op(constant(empty, i4), axis=[0])).shape == (0,)


def test_integers_wrap_but_not_on_the_way_to_a_mean():
    x = constant([100, 100, -50], i8)
    assert run(ops.SumOp(x)) == -106
    assert run(ops.ProdOp(x)) == -500000 % 256 - 256
    assert run(ops.MeanOp(x)) == 50
    assert run(ops.MeanOp(constant([-3, 0], i8))) == -1
    assert run(ops.MeanOp(constant([255, 254], ui8))) == 254
    assert run(ops.SumOp(constant([True, True, True], i1)))
    assert not run(ops.SumOp(constant([True] * 256, i1)))
    assert not run(ops.MeanOp(constant([True, False], i1)))


@pytest.mark.parametrize("op", [ops.MaxOp, ops.MinOp, ops.SumOp, ops.MeanOp, ops.ProdOp])
def test_nan(op: type[ops.ReductionOp]):
    x = constant([[1.0, math.nan, 3.0], [1.0, 2.0, math.inf]], f32)
    result = run(op(x, axis=[1]))
    assert math.isnan(result[0]) and not math.isnan(result[1])


@pytest.mark.parametrize("element", [f16, bf16], ids=str)
def test_short_floats_accumulate_in_f32(element: Element):
    ones = constant(np.ones(4097), element)
    assert run(ops.SumOp(ones)) == 4096
    assert run(ops.MeanOp(ones)) == 1
    large = constant([60000.0, 60000.0, -60000.0, -60000.0], f16)
    assert run(ops.SumOp(large)) == 0 and run(ops.MeanOp(constant([60000.0] * 2, f16))) == 59999.0


# Indices


@pairs(element=[*ELEMENTS, bf16, i4], axis=[None, 0, 1, -1], last=[False, True])
def test_arg(element: Element, axis: int | None, last: bool):
    for op, extremum in [(ops.ArgmaxOp, max), (ops.ArgminOp, min)]:
        x = constant([[3, 1, 3, 1], [2, 2, 2, 2], [0, 3, 1, 0]], element)
        expected: list[int] = []
        for line in lines(run(x), None if axis is None else [axis]):
            places = [i for i, value in enumerate(line) if value == extremum(line)]
            expected.append(places[-1 if last else 0])
        result = run(op(x, axis=axis, select_last_index=last))
        assert result.dtype == np.int64 and result.ravel().tolist() == expected
        kept = run(op(x, axis=axis, select_last_index=last, keepdims=True))
        shape = [1 if axis is None or i == axis % 2 else n for i, n in enumerate((3, 4))]
        np.testing.assert_array_equal(kept, result.reshape(shape), strict=True)


def test_arg_of_nan_and_i1():
    x = constant([1.0, math.nan, 5.0, math.nan], f32)
    for op in (ops.ArgmaxOp, ops.ArgminOp):
        assert run(op(x)) == 1 and run(op(x, select_last_index=True)) == 3
    assert run(ops.ArgmaxOp(constant([False, True, True], i1))) == 1
    assert run(ops.ArgminOp(constant([2**63 - 1, -(2**63)], i64))) == 1


def test_arg_of_no_elements_has_no_value():
    x = constant(np.zeros((0, 2)), i32)
    assert run(ops.ArgmaxOp(constant(np.zeros((0, 2)), i32), axis=1)).shape == (0,)
    op = ops.ArgmaxOp(constant([[1, 2]], i32), axis=0)
    op.operands[0] = x.result
    with pytest.raises(InterpretationError, match="relax.argmax needs at least one element"):
        run(op)
