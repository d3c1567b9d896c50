"""Kernels of convolutions and matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, i4, run, ui8
from support.operations.legalized import kernel_on_constant, module_of
from support.passes.results import run as run_on_kernels
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Operation

from passline.compiler.interpreters.relax.contraction import CONVOLUTION
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.contraction import convolution as convs
from passline.dialects.relax.contraction import linear_algebra as products
from passline.dialects.relax.types import Element, tensor_type
from passline.passes.relax.legalize_ops import LegalizeOps
from passline.passmanager import PassContext
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 1e-2, f32: 1e-5, f64: 1e-12}
ELEMENTS: list[Element] = [*CLOSE, i1, i4, i8, i32, i64]


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0, 3, shape)


def tensor(*shape: int, element: Element = f32, seed: int = 0):
    array = numbers(*shape, seed=seed)
    return constant(array if element in CLOSE else np.rint(10 * array).astype(int), element)


def check_kernel(op: Operation, rtol: float = 0, atol: float = 0, target: str = "x86-64-v2"):
    """Vectors are short here, so that tiny tensors have several tiles."""
    arguments = tuple(run(v.owner) for v in op.operands if isinstance(v.owner, Operation))
    module = module_of([op])
    with PassContext():
        LegalizeOps(target=target).apply(make_ir_context(), module)
    verify(module)
    (actual,) = run_on_kernels(module, "f0", arguments)
    np.testing.assert_allclose(np.asarray(actual), run(op), rtol=rtol, atol=atol, strict=True)


# Convolutions: data, weight, properties

CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "1x1": ((2, 3, 4, 5), (4, 3, 1, 1), {}),
    "1x1, strides": ((1, 3, 4, 5), (2, 3, 1, 1), {"strides": (2, 3)}),
    "1x1, padding": ((1, 2, 2, 3), (2, 2, 1, 1), {"padding": (1, 0)}),
    "3x3": ((1, 2, 5, 6), (3, 2, 3, 3), {}),
    "3x3, padding": ((1, 2, 4, 5), (5, 2, 3, 3), {"padding": (1, 1)}),
    "padding before": ((1, 1, 4, 5), (2, 1, 2, 3), {"padding": (1, 2, 0, 0)}),
    "padding after": ((1, 1, 4, 5), (2, 1, 2, 3), {"padding": (0, 0, 3, 1)}),
    "strides": ((1, 2, 7, 6), (4, 2, 3, 3), {"strides": (2, 2), "padding": (1, 1)}),
    "large strides": ((1, 1, 8, 9), (2, 1, 2, 2), {"strides": (3, 4)}),
    "dilation": ((1, 2, 7, 8), (2, 2, 3, 2), {"dilation": (2, 3), "padding": (2, 1)}),
    "dilation, strides": ((1, 1, 9, 8), (2, 1, 2, 2), {"dilation": (2, 3), "strides": (3, 2)}),
    "groups": ((1, 6, 3, 4), (4, 3, 2, 2), {"groups": 2}),
    "depthwise": ((1, 4, 4, 5), (4, 1, 3, 3), {"groups": 4, "padding": (1, 1)}),
    "depthwise, twice": ((1, 2, 4, 4), (4, 1, 2, 2), {"groups": 2}),
    "13 outputs": ((1, 1, 2, 3), (13, 1, 1, 2), {}),
    "wide": ((1, 1, 2, 37), (2, 1, 1, 3), {"padding": (0, 1)}),
    "large": ((1, 1, 2, 2), (1, 1, 5, 4), {"padding": (3, 2)}),
}


@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolutions(case: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]):
    data, weight, properties = case
    conv = convs.Conv2dOp(tensor(*data), tensor(*weight, seed=1), **properties)
    check_kernel(conv, 1e-5, 1e-4)


def test_ranks():
    conv1d = convs.Conv1dOp(tensor(2, 2, 9), tensor(3, 2, 3), padding=(1,), strides=(2,))
    check_kernel(conv1d, 1e-5, 1e-4)
    check_kernel(convs.Conv1dOp(tensor(1, 4, 5), tensor(4, 1, 1), groups=4), 1e-5, 1e-4)
    conv3d = convs.Conv3dOp(
        tensor(1, 2, 3, 4, 3), tensor(2, 2, 2, 3, 2), padding=(1, 0, 1), strides=(1, 2, 1)
    )
    check_kernel(conv3d, 1e-5, 1e-4)
    check_kernel(convs.Conv3dOp(tensor(1, 2, 2, 2, 3), tensor(2, 2, 1, 1, 1)), 1e-5, 1e-4)


LAYOUTS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 4, 5, 2), (3, 3, 2, 3), {"data_layout": "NHWC", "kernel_layout": "HWIO"}),
    ((2, 2, 3, 2), (1, 1, 2, 3), {"data_layout": "NHWC", "kernel_layout": "HWIO"}),
    (
        (1, 4, 5, 4),
        (3, 3, 4, 1),
        {"data_layout": "NHWC", "kernel_layout": "HWOI", "groups": 4, "out_layout": "NCHW"},
    ),
    (
        (1, 2, 4, 3, 2),
        (2, 2, 3, 1, 2, 2),
        {"data_layout": "NCHW2c", "kernel_layout": "OIHW2i2o"},
    ),
    (
        (1, 1, 3, 3, 4),
        (2, 1, 1, 1, 4, 4),
        {"data_layout": "NCHW4c", "kernel_layout": "OIHW4i4o", "out_layout": "NCHW2c"},
    ),
]


@pytest.mark.parametrize(("data", "weight", "properties"), LAYOUTS, ids=str)
def test_layouts(data: tuple[int, ...], weight: tuple[int, ...], properties: dict[str, Any]):
    conv = convs.Conv2dOp(tensor(*data), tensor(*weight, seed=1), **properties)
    check_kernel(conv, 1e-5, 1e-4)


TRANSPOSED: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "plain": ((1, 2, 3, 4), (2, 3, 2, 3), {}),
    "strides": ((1, 2, 3, 4), (2, 2, 3, 3), {"strides": (2, 3)}),
    "padding": ((1, 2, 3, 4), (2, 2, 3, 3), {"strides": (2, 2), "padding": (1, 1)}),
    "cut off": ((1, 1, 3, 4), (1, 2, 2, 2), {"padding": (1, 2, 0, 0)}),
    "more cut off": ((1, 1, 4, 4), (1, 1, 1, 2), {"padding": (1, 0, 1, 3), "strides": (2, 2)}),
    "output_padding": (
        (1, 1, 3, 3),
        (1, 2, 2, 2),
        {"strides": (3, 2), "output_padding": (2, 1), "padding": (1, 0)},
    ),
    "dilation": ((1, 1, 3, 3), (1, 2, 2, 3), {"dilation": (2, 2), "strides": (2, 1)}),
    "groups": ((2, 4, 2, 3), (4, 3, 2, 2), {"groups": 2}),
    "depthwise": ((1, 3, 2, 3), (3, 1, 2, 2), {"groups": 3, "strides": (2, 2)}),
    "layouts": (
        (1, 3, 2, 2),
        (2, 2, 2, 3),
        {"data_layout": "NHWC", "kernel_layout": "HWIO", "strides": (2, 2)},
    ),
}


@pytest.mark.parametrize("case", TRANSPOSED.values(), ids=TRANSPOSED)
def test_transposed(case: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]):
    data, weight, properties = case
    conv = convs.Conv2dTransposeOp(tensor(*data), tensor(*weight, seed=1), **properties)
    check_kernel(conv, 1e-5, 1e-4)


def test_ranks_of_transposed():
    conv1d = convs.Conv1dTransposeOp(tensor(1, 2, 4), tensor(2, 2, 3), strides=(2,))
    check_kernel(conv1d, 1e-5, 1e-4)
    conv3d = convs.Conv3dTransposeOp(
        tensor(1, 1, 2, 2, 3), tensor(1, 2, 2, 1, 2), strides=(1, 2, 2), padding=(0, 0, 1)
    )
    check_kernel(conv3d, 1e-5, 1e-4)


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_elements(element: Element):
    close = CLOSE.get(element, 0)
    data, weight = tensor(1, 2, 3, 4, element=element), tensor(5, 2, 2, 2, element=element, seed=1)
    check_kernel(convs.Conv2dOp(data, weight, padding=(1, 1)), close, 10 * close)
    check_kernel(convs.Conv2dTransposeOp(data, tensor(2, 1, 2, 2, element=element)), close, close)
    lhs, rhs = tensor(3, 4, element=element), tensor(4, 5, element=element, seed=1)
    check_kernel(products.MatmulOp(lhs, rhs), close, 10 * close)
    check_kernel(products.DenseOp(lhs, tensor(5, 4, element=element)), close, 10 * close)


@pytest.mark.parametrize("element", [f16, bf16], ids=str)
@pytest.mark.parametrize("rows", [3, 8])
def test_short_floats_are_converted_once(element: Element, rows: int):
    """A constant is converted when the module is compiled, unless few rows are multiplied by it."""
    weight = tensor(4, 5, element=element, seed=1)
    image = tensor(1, 4, 3, 3, element=element), tensor(5, 4, 2, 2, element=element, seed=1)
    cases = {
        products.MatmulOp(tensor(rows, 4, element=element), weight): rows > 3,
        convs.Conv2dOp(*image): True,
    }
    for op, converted in cases.items():
        module, data = kernel_on_constant(op)
        constants = [other for other in walk(module) if isinstance(other, ConstantOp)]
        found = {tensor_type(other.result).element_type for other in constants}
        assert found == {f32 if converted else element}
        (actual,) = run_on_kernels(module, "f0", (data,))
        close = CLOSE[element]
        np.testing.assert_allclose(np.asarray(actual), run(op), rtol=close, atol=10 * close)


@pytest.mark.parametrize(
    ("element", "out"),
    [(i8, i32), (i1, i16), (i32, i8), (i8, f32), (f16, f32), (f32, f16)],
    ids=str,
)
def test_out_dtype(element: Element, out: Element):
    """Sums of integers wrap around; those of f16 are rounded once, if at all."""
    close = CLOSE.get(out, 0)
    data, weight = tensor(1, 2, 3, 4, element=element), tensor(5, 2, 2, 2, element=element, seed=1)
    check_kernel(convs.Conv2dOp(data, weight, out_dtype=out), close, 10 * close)
    lhs, rhs = tensor(2, 3, 4, element=element), tensor(1, 5, 4, element=element, seed=1)
    check_kernel(products.BatchMatmulOp(lhs, rhs, out_dtype=out), close, 10 * close)
    weight = tensor(5, 4, element=element)
    check_kernel(products.DenseOp(lhs, weight, out_dtype=out), close, 10 * close)


def test_different_integers():
    lhs, rhs = tensor(3, 4, element=i8), tensor(2, 4, element=i16)
    check_kernel(products.DenseOp(lhs, rhs, out_dtype=i32))


def test_unsigned_integers_wrap_around():
    check_kernel(products.MatmulOp(tensor(2, 2, element=ui8), tensor(2, 2, element=ui8)))


SHAPES = [
    ((1, 4), (4, 1)),
    ((2, 3), (3, 9)),
    ((3, 2), (2, 17)),
    ((5, 4), (4, 33)),
    ((13, 3), (3, 2)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((3, 2, 1, 4), (4, 5)),
    ((3, 2, 4), (4, 1)),
    ((4,), (4, 5)),
    ((4,), (2, 4, 3)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4,)),
    ((5,), (5,)),
    ((1,), (1, 1)),
]


@pytest.mark.parametrize(("lhs", "rhs"), SHAPES, ids=str)
def test_matmul(lhs: tuple[int, ...], rhs: tuple[int, ...]):
    check_kernel(products.MatmulOp(tensor(*lhs), tensor(*rhs, seed=1)), 1e-5, 1e-4)


@pytest.mark.parametrize("batch", [(6, 1), (2, 3), (1, 2, 3)])
def test_a_matrix_is_multiplied_by_all_rows_of_a_batch(batch: tuple[int, ...]):
    """One tile has them all: the matrix is read once."""
    op = products.MatmulOp(tensor(*batch, 8), tensor(8, 5))
    module, data = kernel_on_constant(op, "x86-64-v3")
    shapes = [op.memref.type.get_shape() for op in walk(module) if isinstance(op, AllocaOp)]
    assert shapes and all(shape == (6, 1, 8) for shape in shapes)
    (actual,) = run_on_kernels(module, "f0", (data,))
    np.testing.assert_allclose(np.asarray(actual), run(op), 1e-5, 1e-4)


EMPTY = [
    ((0, 3), (3, 2)),
    ((5, 3), (3, 0)),
    ((5, 0), (0, 9)),
    ((1, 0), (0, 2)),
    ((0, 2, 3), (3, 4)),
]


@pytest.mark.parametrize(("lhs", "rhs"), EMPTY, ids=str)
def test_products_of_tensors_without_elements(lhs: tuple[int, ...], rhs: tuple[int, ...]):
    check_kernel(products.MatmulOp(tensor(*lhs), tensor(*rhs)))
    check_kernel(products.DenseOp(tensor(*lhs), tensor(*rhs[::-1])))


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 13])
@pytest.mark.parametrize("outputs", [1, 2, 7])
def test_dense(rows: int, outputs: int):
    weight = tensor(outputs, 19, seed=1)
    for target in ("x86-64-v2", "x86-64-v3"):
        check_kernel(products.DenseOp(tensor(rows, 19), weight), 1e-5, 1e-4, target)


def test_dense_of_other_ranks():
    for shape in ((3,), (2, 2, 3), (1, 1, 1, 3)):
        check_kernel(products.DenseOp(tensor(*shape), tensor(4, 3)), 1e-5, 1e-4)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_batch_matmul(transpose_a: bool, transpose_b: bool):
    a, b = (4, 3) if transpose_a else (3, 4), (5, 4) if transpose_b else (4, 5)
    for n, m in ((2, 2), (1, 2), (2, 1)):
        product = products.BatchMatmulOp(
            tensor(n, *a), tensor(m, *b, seed=1), transpose_a=transpose_a, transpose_b=transpose_b
        )
        check_kernel(product, 1e-5, 1e-4)
    for batch, other in (((), ()), ((2, 1), (3,)), ((), (2, 3)), ((2, 3), ())):
        product = products.BatchMatmulOp(
            tensor(*batch, *a),
            tensor(*other, *b, seed=1),
            transpose_a=transpose_a,
            transpose_b=transpose_b,
        )
        check_kernel(product, 1e-5, 1e-4)


@pytest.mark.parametrize("element", [f32, f16, i8])
@pytest.mark.parametrize("m", [1, 5])
def test_transposed_matrices_that_are_transposed_in_registers(element: Element, m: int):
    """Those on the left are if there are many columns."""
    rhs = tensor(300, 6, element=element, seed=1)
    close = CLOSE.get(element, 0)
    check_kernel(products.DenseOp(tensor(m, 6, element=element), rhs), close, 10 * close)
    lhs = tensor(2, 6, m, element=element)
    check_kernel(products.BatchMatmulOp(lhs, rhs, transpose_a=True), close, 10 * close)


@needs_native
def test_machine_code():
    cases: dict[str, Operation] = {}
    for name, (data, weight, properties) in CONVOLUTIONS.items():
        cases[name] = convs.Conv2dOp(tensor(*data), tensor(*weight, seed=1), **properties)
    for data, weight, properties in LAYOUTS:
        conv = convs.Conv2dOp(tensor(*data), tensor(*weight, seed=1), **properties)
        cases[f"in layouts {data}"] = conv
    for name, (data, weight, properties) in TRANSPOSED.items():
        conv = convs.Conv2dTransposeOp(tensor(*data), tensor(*weight, seed=1), **properties)
        cases[f"transposed, {name}"] = conv
    for lhs, rhs in SHAPES:
        cases[f"{lhs} {rhs}"] = products.MatmulOp(tensor(*lhs), tensor(*rhs, seed=1))
    lhs, rhs = tensor(9, 7), tensor(260, 9, seed=1)
    cases["transposed"] = products.BatchMatmulOp(lhs, rhs, transpose_a=True)
    for element in (f16, f64, i1, i8, i64):
        lhs, rhs = tensor(3, 4, element=element), tensor(5, 4, element=element, seed=1)
        cases[f"dense of {element}"] = products.DenseOp(lhs, rhs)
    check_machine_code(cases, 2e-3, 1e-3)


def test_all_are_defined():
    assert {*CONVOLUTION, products.MatmulOp, products.DenseOp, products.BatchMatmulOp} <= {*RELAX}
