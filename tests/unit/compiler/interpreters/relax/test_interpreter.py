"""The interpreter as a whole: constants, functions, errors."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations.evaluation import constant, i4, run, ui8
from support.pairs import pairs
from support.tables import table_test
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.folder import Folder
from xdsl.ir import Operation
from xdsl.parser import Parser

from passline.compiler.interpreters.arrays import dense_of, round_bf16, widen_bf16
from passline.dialects.relax import Relax
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.contraction.linear_algebra import MatmulOp
from passline.dialects.relax.data.manipulation import LayoutTransformOp
from passline.dialects.relax.elementwise.binary import AddOp, MaximumOp
from passline.dialects.relax.types import Element


def test_results_are_arrays_also_at_rank_0():
    x = constant(2.0, f16)
    result = run(AddOp(x, x))
    assert isinstance(result, np.ndarray) and result.dtype == np.float16 and result == 4


def test_i1_is_bool():
    x = constant([True, False], i1)
    assert run(x).dtype == np.bool_
    assert run(AddOp(x, x)).tolist() == [False, False]
    assert run(MaximumOp(x, constant([False, False], i1))).tolist() == [True, False]
    assert dense_of(run(x), TensorType(i1, [2])).data.data == x.value.data.data == b"\xff\x00"


# bf16


@given(st.floats(width=32))
def test_bf16_rounds_as_xdsl_does(value: float):
    ours = round_bf16(np.array([value], np.float32)).tobytes()
    if math.isnan(value):
        assert math.isnan(bf16.unpack(ours, 1)[0])
    else:
        assert ours == bf16.pack([value])


def test_what_is_bf16_keeps_its_bits():
    bits = np.arange(1 << 16, dtype=np.uint16)
    np.testing.assert_array_equal(round_bf16(widen_bf16(bits)), bits)


def test_bf16_rounds_after_each_operation():
    one, small = constant([1.0], bf16), constant([2.0**-8], bf16)
    assert run(AddOp(one, small))[0] == 1.0
    assert run(AddOp(AddOp(one, small), small))[0] == 1.0
    assert run(AddOp(one, AddOp(small, small)))[0] == 1.0 + 2.0**-7


# Constants


def test_a_constant_is_a_view_of_its_bytes():
    op = constant([1.0, 2.0], f32)
    view = run(op)
    assert np.shares_memory(view, np.frombuffer(op.value.data.data, np.uint8))
    assert not view.flags.writeable


@pytest.mark.parametrize("element", [f16, bf16, f32, f64], ids=str)
@given(data=st.binary(min_size=8, max_size=400))
def test_floats_print_exactly(data: bytes, element: Element):
    check_text(data, element)


@pytest.mark.parametrize("element", [i4, i8, ui8, i32, i64], ids=str)
@given(data=st.binary(min_size=8, max_size=400))
def test_integers_print_exactly(data: bytes, element: Element):
    values = [v % 8 for v in data] if element == i4 else None
    check_text(bytes(values) if values else data, element)


@pairs(
    repeat=[1, 100],
    values=[[0.0, -0.0], [math.nan] * 3, [math.inf, 1.0], [5e-324, 1.0]],
    element=[f16, bf16, f32, f64],
)
def test_special_values_print_exactly(values: list[float], element: Element, repeat: int):
    assert not isinstance(element, IntegerType)
    check_text(element.pack(values * repeat), element)


def check_text(data: bytes, element: Element):
    """Printed constants are parsed to the same bytes."""
    size = element.compile_time_size
    count = len(data) // size
    value = DenseIntOrFPElementsAttr(TensorType(element, [count]), BytesAttr(data[: count * size]))
    op = reparse(ConstantOp(value))
    assert isinstance(op, ConstantOp)
    assert op.value == value


@given(st.binary(min_size=8, max_size=8), st.sampled_from([f16, bf16, f32, f64]))
def test_fills_print_exactly(data: bytes, element: Element):
    assert not isinstance(element, IntegerType)
    (number,) = element.unpack(data[: element.compile_time_size], 1)
    value = FloatAttr(number, element)
    op = reparse(FullOp(value, TensorType(element, [3])))
    assert isinstance(op, FullOp)
    if not math.isnan(number):
        assert op.value == value


def reparse(op: Operation) -> Operation:
    context = Context()
    context.load_dialect(Relax)
    return Parser(context, str(op)).parse_operation()


def test_a_fill_is_not_expanded():
    result = run(FullOp(FloatAttr(0.5, f32), TensorType(f32, [1 << 20, 1 << 20])))
    assert result.shape == (1 << 20, 1 << 20) and result.strides == (0, 0)
    assert result[7, 9] == np.float32(0.5)


def test_xdsl_folders_can_make_constants():
    context = Context()
    context.load_dialect(Relax)
    full = FullOp(IntegerAttr(3, i32), TensorType(i32, [4]))
    for op in (constant([1.0], f32), full):
        folded = Folder(context).try_fold(op)
        assert folded is not None
        assert folded[1][0].is_structurally_equivalent(op)


# The others


@table_test(
    "lhs, rhs", [((2, 3), (3, 4)), ((3,), (3,)), ((3,), (5, 3, 2)), ((2, 1, 2, 3), (4, 3, 2))]
)
def test_matmul(lhs: tuple[int, ...], rhs: tuple[int, ...]):
    for element in [f16, f32, f64, i8, ui8, i64]:
        x = constant(np.arange(math.prod(lhs)).reshape(lhs), element)
        y = constant(np.arange(math.prod(rhs)).reshape(rhs), element)
        result = run(MatmulOp(x, y))
        np.testing.assert_array_equal(result, np.matmul(run(x), run(y)), strict=True)


def test_layout_transform():
    x = constant(np.arange(2 * 8 * 3 * 5).reshape(2, 8, 3, 5), i32)
    split = LayoutTransformOp(x, src_layout="NCHW", dst_layout="NCHW4c")
    expected = run(x).reshape(2, 2, 4, 3, 5).transpose(0, 1, 3, 4, 2)
    np.testing.assert_array_equal(run(split), expected, strict=True)
    resplit = LayoutTransformOp(split, src_layout="NCHW4c", dst_layout="NHWC2c")
    expected = run(x).reshape(2, 4, 2, 3, 5).transpose(0, 3, 4, 1, 2)
    np.testing.assert_array_equal(run(resplit), expected, strict=True)
    back = LayoutTransformOp(resplit, src_layout="NHWC2c", dst_layout="NCHW")
    np.testing.assert_array_equal(run(back), run(x), strict=True)


def test_the_dialect_and_its_passes_do_not_import_numpy():
    code = """
import sys
import passline.dialects
assert "xdsl.dialects.builtin" not in sys.modules
import passline.passes.relax.fold_constant
from passline.dialects.relax import Relax
from xdsl.context import Context
from xdsl.parser import Parser
ctx = Context()
ctx.load_dialect(Relax)
Parser(ctx, '%0 = "relax.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>')
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
