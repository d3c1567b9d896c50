"""Kernels of pooling compute what the operations do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, i4
from support.operations.legalized import check_kernel
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i32
from xdsl.ir import Operation

from passline.compiler.interpreters.relax.windows import POOLING
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax import windows as ops
from passline.dialects.relax.types import Element

ELEMENTS: list[Element] = [f16, bf16, f32, f64, i1, i4, i8, i32]
CLOSE: dict[Element, float] = {f16: 1e-3, bf16: 1e-2, f32: 1e-5, f64: 1e-12}

WINDOWS: dict[str, dict[str, Any]] = {
    "plain": {"pool_size": (2, 2), "strides": (2, 2)},
    "overlapping": {"pool_size": (3, 3)},
    "padded": {"pool_size": (3, 3), "strides": (2, 2), "padding": (1, 1)},
    "before": {"pool_size": (2, 3), "padding": (1, 2, 0, 0)},
    "after": {"pool_size": (2, 3), "padding": (0, 0, 1, 2), "strides": (1, 3)},
    "ceil": {"pool_size": (3, 3), "strides": (2, 2), "ceil_mode": True},
    "ceil, padded": {"pool_size": (2, 2), "strides": (3, 2), "padding": (1, 1), "ceil_mode": True},
    "dilated": {"pool_size": (2, 3), "dilation": (3, 2), "padding": (1, 2)},
    "padding alone": {"pool_size": (1, 2), "padding": (2, 3)},
    "large": {"pool_size": (5, 7), "padding": (2, 3), "strides": (2, 1)},
    "one element": {"pool_size": (1, 1), "strides": (2, 3)},
    "shifted": {"pool_size": (1, 1), "strides": (1, 3), "padding": (0, 1)},  # as many as there are
    "all": {"pool_size": (6, 7)},
}


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).normal(0, 3, shape)


@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS)
def test_windows(windows: dict[str, Any]):
    data = constant(numbers(1, 2, 6, 7), f32)
    check_kernel(ops.MaxPool2dOp(data, **windows))
    for include in (False, True):
        check_kernel(ops.AvgPool2dOp(data, **windows, count_include_pad=include), 1e-5, 1e-5)


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_elements(element: Element):
    array = numbers(1, 1, 5, 4)
    data = constant(array if element in CLOSE else np.rint(array).astype(int), element)
    windows, close = WINDOWS["padded"], CLOSE.get(element, 0)
    check_kernel(ops.MaxPool2dOp(data, **windows))
    for include in (False, True):
        pool = ops.AvgPool2dOp(data, **windows, count_include_pad=include)
        check_kernel(pool, close, close)
    for size in ((1, 1), (2, 3), (5, 4)):
        check_kernel(ops.AdaptiveMaxPool2dOp(data, output_size=size))
        check_kernel(ops.AdaptiveAvgPool2dOp(data, output_size=size), close, close)


@pytest.mark.parametrize(
    ("shape", "max_pool", "avg_pool", "adaptive_max", "adaptive_avg"),
    [
        (
            (2, 3, 8),
            ops.MaxPool1dOp,
            ops.AvgPool1dOp,
            ops.AdaptiveMaxPool1dOp,
            ops.AdaptiveAvgPool1dOp,
        ),
        (
            (1, 2, 4, 3, 5),
            ops.MaxPool3dOp,
            ops.AvgPool3dOp,
            ops.AdaptiveMaxPool3dOp,
            ops.AdaptiveAvgPool3dOp,
        ),
    ],
    ids=str,
)
def test_ranks(
    shape: tuple[int, ...],
    max_pool: type[ops.MaxPoolOp],
    avg_pool: type[ops.AvgPoolOp],
    adaptive_max: type[ops.SizedPoolOp],
    adaptive_avg: type[ops.SizedPoolOp],
):
    data, rank = constant(numbers(*shape), f32), len(shape) - 2
    windows: dict[str, Any] = {
        "pool_size": (3,) * rank,
        "padding": (1,) * rank,
        "strides": (2,) * rank,
    }
    check_kernel(max_pool(data, **windows))
    check_kernel(avg_pool(data, **windows), 1e-5, 1e-5)
    check_kernel(adaptive_max(data, output_size=(2,) * rank))
    check_kernel(adaptive_avg(data, output_size=(2,) * rank), 1e-5, 1e-5)


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        ("NHWC", (2, 5, 6, 3)),
        ("NCHW2c", (1, 2, 5, 6, 2)),
        ("HWNC", (5, 6, 1, 2)),
        ("NCHW2w", (1, 2, 5, 3, 2)),
    ],
)
def test_layouts(layout: str, shape: tuple[int, ...]):
    data = constant(numbers(*shape), f32)
    windows: dict[str, Any] = {"pool_size": (3, 3), "padding": (1, 1), "layout": layout}
    check_kernel(ops.MaxPool2dOp(data, **windows))
    check_kernel(ops.MaxPool2dOp(data, **windows, out_layout="NHWC"))
    check_kernel(ops.AvgPool2dOp(data, **windows), 1e-5, 1e-5)
    if layout != "NCHW2w":
        check_kernel(ops.GlobalMaxPool2dOp(data, layout=layout))
        check_kernel(ops.GlobalAvgPool2dOp(data, layout=layout), 1e-5, 1e-5)
    pool = ops.AdaptiveAvgPool2dOp(data, output_size=(3, 4), layout=layout)
    check_kernel(pool, 1e-5, 1e-5)


def test_vectors():
    data = constant(numbers(1, 1, 5, 19), f32)
    check_kernel(ops.MaxPool2dOp(data, pool_size=(3, 3), strides=(2, 1), padding=(1, 1)))


def test_nan_is_greater():
    data = constant([[[1, np.nan, 2, -np.inf, -np.inf]]], f32)
    check_kernel(ops.MaxPool1dOp(data, pool_size=(2,)))


@needs_native
def test_machine_code():
    cases: dict[str, Operation] = {}
    data = constant(numbers(1, 2, 6, 19), f32)
    for name, windows in WINDOWS.items():
        cases[f"max, {name}"] = ops.MaxPool2dOp(data, **windows)
        cases[f"avg, {name}"] = ops.AvgPool2dOp(data, **windows)
    for element in (f16, f32, f64, i1, i8, i32):
        array = numbers(1, 1, 5, 4)
        data = constant(array if element in CLOSE else np.rint(array).astype(int), element)
        cases[f"max of {element}"] = ops.MaxPool2dOp(data, **WINDOWS["padded"])
        cases[f"avg of {element}"] = ops.AvgPool2dOp(data, **WINDOWS["padded"])
        cases[f"adaptive max of {element}"] = ops.AdaptiveMaxPool2dOp(data, output_size=(2, 3))
        cases[f"adaptive avg of {element}"] = ops.AdaptiveAvgPool2dOp(data, output_size=(2, 3))
    check_machine_code(cases, 1e-3, 1e-3)


def test_all_are_defined():
    assert {*POOLING} <= {*RELAX}
