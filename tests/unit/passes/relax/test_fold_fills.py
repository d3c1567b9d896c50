"""Element-wise operations on fills fold to fills, with the value that each element has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from support.operations.evaluation import constant, run
from support.tables import table_test
from xdsl.dialects.builtin import TensorType, f32, f64, i1, i8, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from passline.compiler.interpreters.arrays import dtype_of, number_of
from passline.dialects.relax import FAMILIES, operations
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.elementwise.activation import PReluOp
from passline.dialects.relax.elementwise.elementwise import AstypeOp, ClipOp, ReinterpretOp, WhereOp
from passline.dialects.relax.interfaces import Elementwise
from passline.dialects.relax.types import Element
from passline.passes.relax.fold_constant import fold_constants

OPERATIONS = [
    op
    for family in FAMILIES
    for op in operations(family)
    if issubclass(op, Elementwise) and issubclass(op, TensorOp)
]
BUILDERS: dict[type[TensorOp], Callable[..., TensorOp]] = {
    ClipOp: partial(ClipOp, min=-1.5, max=0.5),
    AstypeOp: partial(AstypeOp, dtype=i64),
    ReinterpretOp: partial(ReinterpretOp, dtype=f32),
}
ELEMENTS: list[list[Element]] = [
    [f32] * 3,
    [f64] * 3,
    [i32] * 3,
    [i1] * 3,
    [i1, f32, f32],
    [f32, f32, i8],
    [i8, f32, i8],
    [i32, f32, i8],
]


def fill(value: float, element: Element, shape: list[int]) -> FullOp:
    scalar = np.asarray(value, dtype_of(element))
    return FullOp(number_of(scalar, element), TensorType(element, shape))


def result_of_folding(*ops: Operation) -> Operation:
    """Fold `ops`, and return the operation that then defines the result of the last one."""
    end = ReturnOp(*ops[-1].results)
    fold_constants(FuncOp("main", ((), ops[-1].result_types), Region(Block([*ops, end]))))
    owner = end.operands[0].owner
    assert isinstance(owner, Operation)
    return owner


@table_test("op", OPERATIONS)
def test_fold_of_fills(op: type[TensorOp]):
    accepted = 0
    build = BUILDERS.get(op, op)
    places = [(0.75, [2, 3]), (2, [3]), (-3, [1, 3])][: len(op.get_irdl_definition().operands)]
    for elements in ELEMENTS:
        fills = [fill(v, e, s) for (v, s), e in zip(places, elements, strict=False)]
        arrays = [constant(run(f), e) for f, e in zip(fills, elements, strict=False)]
        try:
            expected = run(build(*arrays))
        except VerifyException:
            continue
        folded = result_of_folding(*fills, build(*fills))
        assert isinstance(folded, FullOp)
        np.testing.assert_array_equal(run(folded), expected, strict=True)
        accepted += 1
    assert accepted


def test_where_is_among_them():
    assert {WhereOp, ClipOp, AstypeOp, ReinterpretOp} <= {*OPERATIONS}


def test_prelu_of_fills_is_not_taken_for_element_wise():
    data, alpha = fill(-2.0, f32, [2, 3, 4]), fill(0.5, f32, [3])
    assert isinstance(result_of_folding(data, alpha, PReluOp(data, alpha)), PReluOp)


def test_prelu_of_a_fill_and_a_constant():
    data, alpha = fill(-2.0, f32, [1, 3, 2]), constant([0.5, 1.0, 2.0], f32)
    folded = result_of_folding(data, alpha, PReluOp(data, alpha))
    assert run(folded).tolist() == [[[-1, -1], [-2, -2], [-4, -4]]]
    data, alpha = constant([[-2.0, 4.0]], f32), fill(0.5, f32, [2])
    folded = result_of_folding(data, alpha, PReluOp(data, alpha))
    assert run(folded).tolist() == [[-1, 4]]
