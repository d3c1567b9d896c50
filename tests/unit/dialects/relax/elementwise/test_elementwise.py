"""Inferred types, fusion kinds and algebraic traits of element-wise operations."""

from __future__ import annotations

import pytest
from support.operations.evaluation import infer
from xdsl.dialects.builtin import TensorType, f32, i1, i32
from xdsl.dialects.test import TestOp
from xdsl.traits import Commutative
from xdsl.utils.exceptions import VerifyException

from passline.dialects.relax.elementwise.activation import PReluOp
from passline.dialects.relax.elementwise.binary import (
    AddOp,
    BitwiseAndOp,
    EqualOp,
    LeftShiftOp,
    LessOp,
    LogicalXorOp,
    SubtractOp,
)
from passline.dialects.relax.elementwise.elementwise import AstypeOp, ReinterpretOp, WhereOp
from passline.dialects.relax.elementwise.unary import IsNanOp
from passline.dialects.relax.interfaces import FusionKind


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ("tensor<2x3xf32>", "tensor<3xf32>", "tensor<2x3xi1>"),
        ("tensor<?x3xi8>", "tensor<2x1xi8>", "tensor<2x3xi1>"),
        ("tensor<?xi1>", "tensor<1xi1>", "tensor<?xi1>"),
        ("tensor<*xf32>", "tensor<3xf32>", "tensor<*xi1>"),
    ],
)
def test_comparison(lhs: str, rhs: str, result: str):
    assert infer(LessOp, lhs, rhs) == result


def test_predicates_and_conversions():
    assert infer(IsNanOp, "tensor<2x?xbf16>") == "tensor<2x?xi1>"
    assert infer(IsNanOp, "tensor<*xf64>") == "tensor<*xi1>"
    assert infer(AstypeOp, "tensor<2x?xf32>", dtype=i32) == "tensor<2x?xi32>"
    assert infer(AstypeOp, "tensor<*xi1>", dtype=f32) == "tensor<*xf32>"
    assert infer(ReinterpretOp, "tensor<2xf32>", dtype=i32) == "tensor<2xi32>"


@pytest.mark.parametrize(
    ("condition", "x1", "x2", "result"),
    [
        ("tensor<2x1xi1>", "tensor<3xf32>", "tensor<f32>", "tensor<2x3xf32>"),
        ("tensor<?xi1>", "tensor<3xf32>", "tensor<1xf32>", "tensor<3xf32>"),
        ("tensor<?xi1>", "tensor<1xi8>", "tensor<?x1xi8>", "tensor<?x?xi8>"),
        ("tensor<*xi1>", "tensor<3xf32>", "tensor<3xf32>", "tensor<*xf32>"),
        ("tensor<3xi1>", "tensor<*xf32>", "tensor<3xf32>", "tensor<*xf32>"),
    ],
)
def test_where(condition: str, x1: str, x2: str, result: str):
    assert infer(WhereOp, condition, x1, x2) == result


@pytest.mark.parametrize(
    ("data", "alpha", "axis", "result"),
    [
        ("tensor<2x3x4xf32>", "tensor<3xf32>", 1, "tensor<2x3x4xf32>"),
        ("tensor<2x?x4xf32>", "tensor<3xf32>", -2, "tensor<2x3x4xf32>"),
        ("tensor<2x3xf16>", "tensor<?xf16>", 0, "tensor<2x3xf16>"),
        ("tensor<2x3xf16>", "tensor<*xf16>", 0, "tensor<2x3xf16>"),
        ("tensor<*xf64>", "tensor<3xf64>", 1, "tensor<*xf64>"),
    ],
)
def test_prelu(data: str, alpha: str, axis: int, result: str):
    assert infer(PReluOp, data, alpha, axis=axis) == result


def test_an_alpha_of_one_element_does_not_broadcast():
    with pytest.raises(VerifyException, match="alpha has size 1, axis 1 of 2x3 has size 3"):
        infer(PReluOp, "tensor<2x3xf32>", "tensor<1xf32>")


def test_fusion_kind():
    condition, x, y = TestOp(
        result_types=[TensorType(i1, [2, 3]), TensorType(f32, [2, 3]), TensorType(f32, [3])]
    ).results
    assert WhereOp(condition, x, x).fusion_kind() is FusionKind.ELEMENTWISE
    assert WhereOp(condition, x, y).fusion_kind() is FusionKind.BROADCAST
    assert PReluOp(x, y).fusion_kind() is FusionKind.BROADCAST


def test_what_commutes():
    for op in (AddOp, EqualOp, BitwiseAndOp, LogicalXorOp):
        assert op.has_trait(Commutative)
    for op in (SubtractOp, LessOp, LeftShiftOp):
        assert not op.has_trait(Commutative)
