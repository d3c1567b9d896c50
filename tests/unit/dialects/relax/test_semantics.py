"""What the operations compute, with numpy and Python's integers as oracles."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
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
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation
from xdsl.parser import Parser

from passline.dialects import DIALECTS
from passline.dialects.relax.constant import ConstantOp, FullOp
from passline.dialects.relax.elementwise import (
    AbsOp,
    AddOp,
    BinaryOp,
    DivideOp,
    ExpOp,
    LogOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    NegativeOp,
    PowerOp,
    ReluOp,
    SigmoidOp,
    SqrtOp,
    SubtractOp,
    TanhOp,
    UnaryOp,
)
from passline.dialects.relax.linear_algebra import MatmulOp
from passline.dialects.relax.manipulation import LayoutTransformOp
from passline.dialects.relax.semantics import RelaxFunctions
from passline.dialects.relax.semantics.arrays import array_of, dense_of, round_bf16
from passline.dialects.relax.types import Element

i4 = IntegerType(4)
ui8 = IntegerType(8, Signedness.UNSIGNED)
Array = NDArray[Any]

ELEMENTS: list[Element] = [f16, f32, f64, i8, i32, i64, ui8]
FLOATS: list[Element] = [f16, f32, f64]


def constant(array: object, element: Element) -> ConstantOp:
    """A constant of the numbers in `array`, which is converted as the interpreter would hold it."""
    dtype = array_of(dense([0], element)).dtype
    values = np.asarray(array).astype(dtype)
    return ConstantOp(dense_of(values, TensorType(element, values.shape)))


def dense(values: list[int], element: Element) -> DenseIntOrFPElementsAttr:
    data = BytesAttr(element.pack(values))
    return DenseIntOrFPElementsAttr(TensorType(element, [len(values)]), data)


def run(op: Operation) -> Array:
    """The value of the only result, computed with warnings as errors."""
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(RelaxFunctions())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        owners = [operand.owner for operand in op.operands]
        args = tuple(run(owner) for owner in owners if isinstance(owner, Operation))
        (value,) = interpreter.run_op(op, args)
    return value


# Element-wise operations


UNARY: dict[type[UnaryOp], Callable[[Array], Array]] = {
    AbsOp: np.abs,
    NegativeOp: np.negative,
    ReluOp: lambda x: np.where(x > 0, x, 0),
}
FLOAT_UNARY: dict[type[UnaryOp], Callable[[Array], Array]] = {
    ExpOp: np.exp,
    LogOp: np.log,
    SqrtOp: np.sqrt,
    TanhOp: np.tanh,
    SigmoidOp: lambda x: 1 / (1 + np.exp(-x)),
}
BINARY: dict[type[BinaryOp], Callable[[Array, Array], Array]] = {
    AddOp: np.add,
    SubtractOp: np.subtract,
    MultiplyOp: np.multiply,
    MaximumOp: np.maximum,
    MinimumOp: np.minimum,
}


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@pytest.mark.parametrize("op", UNARY)
def test_unary(op: type[UnaryOp], element: Element):
    x = constant([[0, 1, 2], [5, -3, 100]], element)
    result = run(op(x))
    np.testing.assert_array_equal(result, UNARY[op](run(x)), strict=True)


@pytest.mark.parametrize("element", FLOATS, ids=str)
@pytest.mark.parametrize("op", FLOAT_UNARY)
def test_float_unary(op: type[UnaryOp], element: Element):
    x = constant([0.25, 1, 2.5, 7], element)
    result = run(op(x))
    exact = FLOAT_UNARY[op](run(x).astype(np.float64))
    assert result.dtype == run(x).dtype
    np.testing.assert_allclose(result, exact, rtol=2 * np.finfo(result.dtype).eps)


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
@pytest.mark.parametrize("op", BINARY)
def test_binary_broadcasts(op: type[BinaryOp], element: Element):
    x, y = constant([[0, 1, 2], [5, -3, 100]], element), constant([7, 1, 90], element)
    result = run(op(x, y))
    np.testing.assert_array_equal(result, BINARY[op](run(x), run(y)), strict=True)


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_nothing_warns(element: Element):
    x, zero = constant([-1, 0, 1, 1000], element), constant(0, element)
    assert [str(v) for v in run(DivideOp(x, zero))] == ["-inf", "nan", "inf", "inf"]
    assert math.isnan(run(LogOp(x))[0]) and math.isnan(run(SqrtOp(x))[0])
    assert run(ExpOp(ExpOp(x)))[3] == math.inf
    assert run(PowerOp(zero, x))[0] == math.inf


def test_nan_passes_through_maximum_minimum_and_relu():
    x, y = constant([math.nan, 1.0], f32), constant([1.0, math.nan], f32)
    for op in (MaximumOp(x, y), MinimumOp(x, y)):
        assert np.isnan(run(op)).all()
    assert math.isnan(run(ReluOp(x))[0])


def test_results_are_arrays_also_at_rank_0():
    x = constant(2.0, f16)
    result = run(AddOp(x, x))
    assert isinstance(result, np.ndarray) and result.dtype == np.float16 and result == 4


def test_sigmoid_of_f16_does_not_overflow_on_the_way():
    assert run(SigmoidOp(constant([-12.0], f16)))[0] == np.float16(6.144e-06)


# Integers


WIDTHS = [IntegerType(w, s) for w in (1, 3, 4, 8, 13, 32, 64) for s in Signedness]


def wrap(value: int, type: IntegerType) -> int:
    """The value in that many bits, of which that of i1 is no sign."""
    width = type.bitwidth
    value %= 1 << width
    signed = type.signedness.data is not Signedness.UNSIGNED and type != i1
    return value - (1 << width) if signed and value >= 1 << width - 1 else value


def c_divide(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def c_power(a: int, b: int) -> int:
    if b >= 0:
        return pow(a, b, 1 << 64)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


INTEGER: dict[type[BinaryOp], Callable[[int, int], int]] = {
    AddOp: lambda a, b: a + b,
    SubtractOp: lambda a, b: a - b,
    MultiplyOp: lambda a, b: a * b,
    DivideOp: c_divide,
    MaximumOp: max,
    MinimumOp: min,
    PowerOp: c_power,
}


@pytest.mark.parametrize("op", INTEGER)
@given(st.sampled_from(WIDTHS), st.integers(), st.integers(-(2**6), 2**6))
def test_integers_wrap_around(op: type[BinaryOp], type: IntegerType, a: int, b: int):
    a, b = wrap(a, type), wrap(b, type)
    result = run(op(integers([a], type), integers([b], type)))
    assert int(result[0]) == wrap(INTEGER[op](a, b), type)


def integers(values: list[int], type: IntegerType) -> ConstantOp:
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(type, [len(values)]), values))


def test_integer_division_truncates():
    x, y = integers([7, -7, 7, -7, 5, -128], i8), integers([2, 2, -2, -2, 0, -1], i8)
    assert run(DivideOp(x, y)).tolist() == [3, -3, -3, 3, 0, -128]


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


@pytest.mark.parametrize("element", [f16, bf16, f32, f64], ids=str)
@pytest.mark.parametrize("values", [[0.0, -0.0], [math.nan] * 3, [math.inf, 1.0], [5e-324, 1.0]])
@pytest.mark.parametrize("repeat", [1, 100])
def test_special_values_print_exactly(values: list[float], element: Element, repeat: int):
    assert not isinstance(element, IntegerType)
    check_text(element.pack(values * repeat), element)


def check_text(data: bytes, element: Element):
    """What is printed reads back as the same bytes."""
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
    context.load_dialect(DIALECTS["relax"]())
    return Parser(context, str(op)).parse_operation()


def test_a_fill_is_not_expanded():
    result = run(FullOp(FloatAttr(0.5, f32), TensorType(f32, [1 << 20, 1 << 20])))
    assert result.shape == (1 << 20, 1 << 20) and result.strides == (0, 0)
    assert result[7, 9] == np.float32(0.5)


def test_xdsl_folders_can_make_constants():
    context = Context()
    context.load_dialect(DIALECTS["relax"]())
    full = FullOp(IntegerAttr(3, i32), TensorType(i32, [4]))
    for op in (constant([1.0], f32), full):
        folded = Folder(context).try_fold(op)
        assert folded is not None
        assert folded[1][0].is_structurally_equivalent(op)


# The others


@pytest.mark.parametrize("element", [f16, f32, f64, i8, ui8, i64], ids=str)
@pytest.mark.parametrize(
    ("lhs", "rhs"), [((2, 3), (3, 4)), ((3,), (3,)), ((3,), (5, 3, 2)), ((2, 1, 2, 3), (4, 3, 2))]
)
def test_matmul(lhs: tuple[int, ...], rhs: tuple[int, ...], element: Element):
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
from xdsl.context import Context
from xdsl.parser import Parser
ctx = Context()
ctx.load_dialect(passline.dialects.DIALECTS["relax"]())
Parser(ctx, '%0 = "relax.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>')
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
