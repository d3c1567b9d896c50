"""Operations with parameters as operands, with their static operations as the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.operations.evaluation import Array, constant, run, run_all
from support.tables import table_test
from xdsl.dialects.builtin import (
    FloatAttr,
    ModuleOp,
    TensorType,
    UnrankedTensorType,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import InterpretationError

from passline.compiler.interpreters.relax import RelaxFunctions
from passline.dialects.relax.constant import FullOp, is_number
from passline.dialects.relax.data.concatenation import SplitOp
from passline.dialects.relax.data.creation import OneHotOp
from passline.dialects.relax.data.indexing import StridedSliceOp
from passline.dialects.relax.data.manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    ReshapeOp,
    SqueezeOp,
    TileOp,
)
from passline.dialects.relax.data.sorting import TopkOp
from passline.dialects.relax.dynamic.computation import (
    DynamicCumprodOp,
    DynamicCumsumOp,
    DynamicFullOp,
    DynamicOneHotOp,
    DynamicOp,
    DynamicPadOp,
    DynamicReduceOp,
    DynamicResizeOp,
    DynamicTopkOp,
)
from passline.dialects.relax.dynamic.data_movement import (
    DynamicBroadcastToOp,
    DynamicCompressOp,
    DynamicExpandDimsOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicSplitOp,
    DynamicSqueezeOp,
    DynamicStridedSliceOp,
    DynamicTileOp,
)
from passline.dialects.relax.images import Resize2dOp
from passline.dialects.relax.reduction.nn import PadOp
from passline.dialects.relax.reduction.reduction import MaxOp, SumOp
from passline.dialects.relax.reduction.scan import CumprodOp, CumsumOp
from passline.dialects.relax.types import tensor_type

X = constant(np.arange(24).reshape(2, 1, 3, 4), f32)
ONE, ZERO = constant(1, f32), constant(0, f32)
PLACES = constant([0, 2, 1], i8)


def ints(*values: int) -> Operation:
    return constant([*values], i64)


CASES: dict[str, tuple[DynamicOp, Operation]] = {
    "reshape": (DynamicReshapeOp(X, ints(0, -1, 4)), ReshapeOp(X, newshape=[0, -1, 4])),
    "broadcast_to": (
        DynamicBroadcastToOp(X, ints(2, 5, 3, 4)),
        BroadcastToOp(X, shape=[2, 5, 3, 4]),
    ),
    "expand": (
        DynamicExpandOp(X, ints(7, 1, 5, 1, 4)),
        BroadcastToOp(X, shape=[7, 2, 5, 3, 4]),
    ),
    "tile": (DynamicTileOp(X, ints(2, 3)), TileOp(X, reps=[2, 3])),
    "full": (DynamicFullOp(ONE, ints(2, 3)), BroadcastToOp(ONE, shape=[2, 3])),
    "strided_slice": (
        DynamicStridedSliceOp(X, ints(-1, 0), ints(-(2**63), 2), ints(3, 0), ints(-2, 1)),
        StridedSliceOp(X, begin=[-1, 0], end=[-(2**63), 2], axes=[3, 0], strides=[-2, 1]),
    ),
    "squeeze": (DynamicSqueezeOp(X, ints(1)), SqueezeOp(X, axis=[1])),
    "expand_dims": (DynamicExpandDimsOp(X, ints(0, -1)), ExpandDimsOp(X, axis=[0, -1])),
    "one_hot": (
        DynamicOneHotOp(PLACES, ONE, ZERO, constant(4, i64), axis=0),
        OneHotOp(PLACES, ONE, ZERO, depth=4, axis=0),
    ),
    "reduce": (
        DynamicReduceOp(X, ints(0, -1), reduction="max", keepdims=False),
        MaxOp(X, axis=[0, -1]),
    ),
    "reduce_all": (DynamicReduceOp(X, ints()), SumOp(X, keepdims=True)),
    "reduce_none": (DynamicReduceOp(X, ints(), noop_with_empty_axes=True), SumOp(X, axis=[])),
    "cumsum": (
        DynamicCumsumOp(X, constant(-1, i64), exclusive=True),
        CumsumOp(X, axis=-1, exclusive=True),
    ),
    "cumprod": (DynamicCumprodOp(X, ints(2), reverse=True), CumprodOp(X, axis=2, reverse=True)),
    "topk": (
        DynamicTopkOp(X, ints(2), axis=2, largest=False),
        TopkOp(X, k=2, axis=2, largest=False),
    ),
    "pad": (
        DynamicPadOp(X, ints(1, 2, 0, -1), constant(7, f32), ints(-1, 0)),
        PadOp(X, pad_width=[2, -1, 0, 0, 0, 0, 1, 0], pad_value=7.0),
    ),
    "pad_edge": (
        DynamicPadOp(X, ints(2, 2), ONE, ints(2), pad_mode="edge"),
        PadOp(X, pad_width=[0, 0, 0, 0, 2, 2, 0, 0], pad_mode="edge"),
    ),
    "resize": (
        DynamicResizeOp(X, ints(5, 6), method="cubic"),
        Resize2dOp(X, size=[5, 6], method="cubic"),
    ),
    "resize_layout": (
        DynamicResizeOp(X, ints(5, 6), layout="NHWC"),
        Resize2dOp(X, size=[5, 6], layout="NHWC"),
    ),
    "split": (DynamicSplitOp(X, ints(1, 0, 3), axis=3), SplitOp(X, indices=[1, 1], axis=3)),
}


@table_test("case", CASES)
def test_is_the_static_one(case: str):
    dynamic, static = CASES[case]
    assert dynamic.result_types == static.result_types
    for actual, expected in zip(run_all(dynamic), run_all(static), strict=True):
        np.testing.assert_array_equal(actual, expected, strict=True)


@table_test("case", CASES)
def test_nothing_is_known_before_it_runs(case: str):
    dynamic, static = CASES[case]
    unknown = unranked(dynamic)
    owners = [operand.owner for operand in dynamic.operands]
    arrays = [run(owner) for owner in owners if isinstance(owner, Operation)]
    for actual, expected in zip(interpret(unknown, arrays), run_all(static), strict=True):
        np.testing.assert_array_equal(actual, expected, strict=True)


def unranked(op: Operation) -> Operation:
    """The operation on values of which nothing but the element types is known."""
    elements = [tensor_type(operand).element_type for operand in op.operands]
    block = Block(arg_types=[UnrankedTensorType(element) for element in elements])
    types = [UnrankedTensorType(element) for element in elements[:1]] * len(op.results)
    if isinstance(op, DynamicOneHotOp):
        types = [UnrankedTensorType(f32)]
    if isinstance(op, DynamicTopkOp):
        types = [UnrankedTensorType(f32), UnrankedTensorType(i64)]
    unknown = op.create(operands=block.args, result_types=types, properties=op.properties)
    unknown.verify()
    return unknown


def interpret(op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(RelaxFunctions())
    return interpreter.run_op(op, tuple(arrays))


def test_parameters_are_checked_when_it_runs():
    op = unranked(DynamicReshapeOp(X, ints(24)))
    with pytest.raises(InterpretationError, match=r"dyn.reshape: shape 2x1x3x4 of 24 elements"):
        interpret(op, [run(X), np.array([5, 5])])


def test_no_value_gains_a_user():
    x = constant([1, 2], i32)
    op = DynamicReshapeOp(x, ints(2, 1))
    op.infer_types()
    op.verify()
    assert [*(use.operation for use in x.result.uses)] == [op]


def test_compress():
    x = constant(np.arange(12).reshape(3, 4), i32)
    condition = constant([True, False, True], i1)
    rows = DynamicCompressOp(x, condition, axis=0)
    np.testing.assert_array_equal(run(rows), run(x)[[0, 2]], strict=True)
    assert rows.result.type == TensorType(i32, [2, 4])
    flat = DynamicCompressOp(x, condition)
    assert run(flat).tolist() == [0, 2] and flat.result.type == TensorType(i32, [2])


def test_a_fill_of_a_constant_folds_to_its_number():
    fill = FullOp(FloatAttr(1.0, f32), TensorType(f32, []))
    for scalar in (ONE, fill):
        assert DynamicFullOp(scalar, ints(2, 3)).fold() == (fill.value,)
    (true,) = DynamicFullOp(constant(True, i1), ints(2)).fold() or [None]
    assert isinstance(true, Attribute) and is_number(true)
    assert run(FullOp(true, TensorType(i1, [2]))).tolist() == [True, True]
    block = Block(arg_types=[TensorType(f32, []), TensorType(i64, [1])])
    assert DynamicFullOp(block.args[0], ints(2)).fold() is None
    assert DynamicFullOp(ONE, block.args[1]).fold() is None
