"""Inferred types of reductions, scans and sorting."""

from __future__ import annotations

import pytest
from support.operations.evaluation import infer

from passline.dialects.relax.data.sorting import ArgsortOp, SortOp, TopkOp
from passline.dialects.relax.reduction.reduction import AnyOp, ArgmaxOp, MeanOp, ReductionOp, SumOp
from passline.dialects.relax.reduction.scan import CumsumOp


@pytest.mark.parametrize("op", [SumOp, MeanOp])
@pytest.mark.parametrize(
    ("input", "axis", "keepdims", "result"),
    [
        ("tensor<2x3x4xf32>", None, False, "tensor<f32>"),
        ("tensor<2x3x4xf32>", None, True, "tensor<1x1x1xf32>"),
        ("tensor<2x3x4xi8>", [-1, 0], False, "tensor<3xi8>"),
        ("tensor<2x?x4xi8>", [2], False, "tensor<2x?xi8>"),
        ("tensor<2x?x4xi8>", [1], True, "tensor<2x1x4xi8>"),
        ("tensor<2x?xf32>", [], False, "tensor<2x?xf32>"),
        ("tensor<f32>", None, False, "tensor<f32>"),
        ("tensor<*xf32>", None, False, "tensor<f32>"),
        ("tensor<*xf32>", None, True, "tensor<*xf32>"),
        ("tensor<*xf32>", [0], False, "tensor<*xf32>"),
    ],
)
def test_reduction(
    op: type[ReductionOp], input: str, axis: list[int] | None, keepdims: bool, result: str
):
    assert infer(op, input, axis=axis, keepdims=keepdims) == result


def test_any_and_arg():
    assert infer(AnyOp, "tensor<2x?xi1>", axis=[0]) == "tensor<?xi1>"
    assert infer(ArgmaxOp, "tensor<2x?xf32>") == "tensor<i64>"
    assert infer(ArgmaxOp, "tensor<2x?xi1>", axis=-2) == "tensor<?xi64>"
    assert infer(ArgmaxOp, "tensor<2x3xf16>", axis=1, keepdims=True) == "tensor<2x1xi64>"
    assert infer(ArgmaxOp, "tensor<*xf16>", axis=1) == "tensor<*xi64>"


@pytest.mark.parametrize(
    ("input", "axis", "result"),
    [
        ("tensor<2x3xf32>", None, "tensor<6xf32>"),
        ("tensor<2x?xf32>", None, "tensor<?xf32>"),
        ("tensor<*xf32>", None, "tensor<?xf32>"),
        ("tensor<f32>", None, "tensor<1xf32>"),
        ("tensor<2x?xi8>", -1, "tensor<2x?xi8>"),
        ("tensor<*xi8>", 0, "tensor<*xi8>"),
    ],
)
def test_scan(input: str, axis: int | None, result: str):
    assert infer(CumsumOp, input, axis=axis) == result


def test_sorting():
    assert infer(SortOp, "tensor<2x?xf16>") == "tensor<2x?xf16>"
    assert infer(ArgsortOp, "tensor<2x?xf16>", axis=0) == "tensor<2x?xi64>"
    assert infer(ArgsortOp, "tensor<*xf16>") == "tensor<*xi64>"


@pytest.mark.parametrize(
    ("data", "k", "axis", "values"),
    [
        ("tensor<2x5xf32>", 3, -1, "2x3"),
        ("tensor<2x?xf32>", 3, -1, "2x3"),
        ("tensor<2x?xf32>", 2, 0, "2x?"),
        ("tensor<2x?xf32>", 0, 1, "2x?"),
        ("tensor<2x5xf32>", -1, 1, "2x5"),
        ("tensor<*xf32>", 3, 1, "*"),
    ],
)
def test_topk(data: str, k: int, axis: int, values: str):
    assert infer(TopkOp, data, k=k, axis=axis) == f"tensor<{values}xf32>, tensor<{values}xi64>"
