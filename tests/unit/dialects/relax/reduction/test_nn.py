"""Inferred types of neural network operations on imprecise operand types."""

from __future__ import annotations

from itertools import product
from typing import Any, TypeAlias

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, UnrankedTensorType, f32, i8, i32
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute

from passline.dialects.relax import images as image
from passline.dialects.relax import operations
from passline.dialects.relax import windows as pooling
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.contraction import attention, convolution, linear_algebra
from passline.dialects.relax.interfaces import FusionKind, FusionPattern
from passline.dialects.relax.reduction import nn, normalization
from passline.dialects.relax.types import refine

Shape: TypeAlias = tuple[int, ...]
Case: TypeAlias = tuple[type[TensorOp], list[Shape], dict[str, Any], Shape]

C = convolution
P = pooling
CASES: list[Case] = [
    (C.Conv1dOp, [(2, 6, 9), (4, 3, 3)], {"groups": 2, "strides": (2,)}, (2, 4, 4)),
    (C.Conv2dOp, [(2, 3, 9, 8), (4, 3, 3, 1)], {"padding": (1, 0)}, (2, 4, 9, 8)),
    (
        C.Conv2dOp,
        [(2, 9, 8, 8), (8, 8, 3, 3)],
        {"data_layout": "NHWC", "kernel_layout": "OIHW", "out_layout": "NCHW4c"},
        (2, 2, 7, 6, 4),
    ),
    (C.Conv3dOp, [(1, 2, 5, 5, 5), (3, 2, 2, 2, 2)], {"dilation": (1, 2, 3)}, (1, 3, 4, 3, 2)),
    (C.Conv1dTransposeOp, [(2, 6, 9), (6, 2, 3)], {"groups": 2, "strides": (2,)}, (2, 4, 19)),
    (C.Conv2dTransposeOp, [(2, 3, 4, 5), (3, 2, 3, 1)], {"padding": (1, 0)}, (2, 2, 4, 5)),
    (
        C.Conv3dTransposeOp,
        [(1, 2, 3, 3, 3), (2, 1, 1, 1, 1)],
        {"strides": (2, 2, 2), "output_padding": (0, 1, 0)},
        (1, 1, 5, 6, 5),
    ),
    (P.MaxPool1dOp, [(2, 3, 8)], {"pool_size": (3,), "strides": (2,)}, (2, 3, 3)),
    (
        P.MaxPool1dOp,
        [(2, 3, 8)],
        {"pool_size": (3,), "strides": (2,), "ceil_mode": True},
        (2, 3, 4),
    ),
    (P.MaxPool2dOp, [(2, 9, 8, 4)], {"layout": "NHWC", "out_layout": "NCHW2c"}, (2, 2, 9, 8, 2)),
    (P.MaxPool3dOp, [(2, 3, 4, 4, 4)], {"dilation": (1, 1, 2)}, (2, 3, 4, 4, 4)),
    (P.AvgPool1dOp, [(2, 3, 8)], {"pool_size": (3,), "padding": (1, 2)}, (2, 3, 9)),
    (P.AvgPool2dOp, [(2, 3, 8, 8)], {"pool_size": (2, 3)}, (2, 3, 7, 6)),
    (P.AvgPool3dOp, [(2, 3, 4, 4, 4)], {"pool_size": (4, 4, 4)}, (2, 3, 1, 1, 1)),
    (P.AdaptiveMaxPool1dOp, [(2, 3, 8)], {"output_size": (3,)}, (2, 3, 3)),
    (P.AdaptiveMaxPool2dOp, [(2, 3, 8, 8)], {"output_size": (3, 1)}, (2, 3, 3, 1)),
    (P.AdaptiveMaxPool3dOp, [(2, 3, 4, 4, 4)], {"output_size": (3, 1, 9)}, (2, 3, 3, 1, 9)),
    (P.AdaptiveAvgPool1dOp, [(2, 8, 3)], {"output_size": (3,), "layout": "NWC"}, (2, 3, 3)),
    (P.AdaptiveAvgPool2dOp, [(2, 3, 8, 8)], {"output_size": (3, 1)}, (2, 3, 3, 1)),
    (P.AdaptiveAvgPool3dOp, [(2, 3, 4, 4, 4)], {"output_size": (3, 1, 9)}, (2, 3, 3, 1, 9)),
    (P.GlobalMaxPool2dOp, [(2, 3, 8, 8)], {}, (2, 3, 1, 1)),
    (P.GlobalAvgPool2dOp, [(2, 8, 8, 3)], {"layout": "NHWC"}, (2, 1, 1, 3)),
    (normalization.BatchNormOp, [(2, 3, 4), (3,), (3,), (3,), (3,)], {}, (2, 3, 4)),
    (normalization.LayerNormOp, [(2, 3, 4), (3, 4), (3, 4)], {"axes": (1, 2)}, (2, 3, 4)),
    (normalization.GroupNormOp, [(2, 6, 3, 3), (6,), (6,)], {"num_groups": 3}, (2, 6, 3, 3)),
    (normalization.InstanceNormOp, [(2, 3, 4), (4,), (4,)], {"axis": -1}, (2, 3, 4)),
    (normalization.RMSNormOp, [(2, 3, 4), (4,)], {}, (2, 3, 4)),
    (normalization.L2NormalizeOp, [(2, 3, 4)], {"eps": 1e-6, "axis": (1,)}, (2, 3, 4)),
    (normalization.LRNOp, [(2, 3, 4)], {}, (2, 3, 4)),
    (attention.AttentionOp, [(2, 3, 4, 8), (2, 5, 2, 8), (2, 5, 2, 6)], {}, (2, 3, 4, 6)),
    (nn.SoftmaxOp, [(2, 3)], {}, (2, 3)),
    (nn.LogSoftmaxOp, [(2, 3)], {"axis": 0}, (2, 3)),
    (nn.DropoutOp, [(2, 3)], {}, (2, 3)),
    (nn.BiasAddOp, [(2, 3), (3,)], {}, (2, 3)),
    (nn.PadOp, [(2, 3)], {"pad_width": (1, 2, -1, -2)}, (5, 0)),
    (nn.BatchFlattenOp, [(2, 3, 4)], {}, (2, 12)),
    (linear_algebra.MatmulOp, [(2, 3, 4), (4, 5)], {}, (2, 3, 5)),
    (linear_algebra.DenseOp, [(2, 3, 4), (5, 4)], {}, (2, 3, 5)),
    (linear_algebra.BatchMatmulOp, [(2, 3, 4), (1, 5, 4)], {}, (2, 3, 5)),
    (image.Resize1dOp, [(1, 2, 3)], {"size": (7,)}, (1, 2, 7)),
    (image.Resize2dOp, [(1, 2, 3, 4, 2)], {"size": (7, 2), "layout": "NCHW2c"}, (1, 2, 7, 2, 2)),
    (image.Resize3dOp, [(1, 2, 3, 4, 5)], {"size": (7, 2, 1)}, (1, 2, 7, 2, 1)),
    (image.UpsamplingOp, [(1, 2, 3, 4)], {"scale_h": 1.5, "scale_w": 0.5}, (1, 2, 4, 2)),
    (image.SpaceToDepthOp, [(1, 2, 4, 6)], {"block_size": 2}, (1, 8, 2, 3)),
    (image.DepthToSpaceOp, [(1, 8, 2, 3)], {"block_size": 2}, (1, 2, 4, 6)),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].name[6:])


def infer(cls: type[TensorOp], types: list[Attribute], properties: dict[str, Any]) -> Attribute:
    op = cls(*TestOp(result_types=types).results, **properties)
    op.verify()
    return op.results[0].type


def test_every_operation_has_a_case():
    families = attention, convolution, pooling, normalization, nn, image
    named = {cls for family in families for cls in operations(family)}
    assert named <= {case[0] for case in CASES}


@every_case
def test_types(case: Case):
    """Types inferred from less precise operands are compatible with the precise ones."""
    cls, shapes, properties, expected = case
    result = TensorType(f32, expected)
    assert infer(cls, [TensorType(f32, shape) for shape in shapes], properties) == result

    def descriptions(shape: Shape) -> list[Attribute]:
        unknown = (DYNAMIC_INDEX,) * len(shape)
        partly = [shape[:i] + unknown[:1] + shape[i + 1 :] for i in range(len(shape))]
        known = [TensorType(f32, s) for s in (shape, *partly, unknown)]
        return [*known, UnrankedTensorType(f32)]

    for types in product(*map(descriptions, shapes[:2])):
        rest = [TensorType(f32, shape) for shape in shapes[2:]]
        inferred = infer(cls, [*types, *rest], properties)
        assert refine(inferred, result) == result
    inferred = infer(cls, [UnrankedTensorType(f32) for _ in shapes], properties)
    assert refine(inferred, result) == result


@pytest.mark.parametrize(
    ("cls", "shapes"),
    [
        (C.Conv1dOp, [(2, 3, 9), (4, 3, 3)]),
        (C.Conv1dTransposeOp, [(2, 3, 9), (3, 4, 3)]),
        (linear_algebra.DenseOp, [(2, 3), (4, 3)]),
        (linear_algebra.BatchMatmulOp, [(2, 3, 4), (2, 5, 4)]),
    ],
)
def test_out_dtype(cls: type[TensorOp], shapes: list[Shape]):
    types: list[Attribute] = [TensorType(i8, shape) for shape in shapes]
    unranked: list[Attribute] = [UnrankedTensorType(i8) for _ in shapes]
    for operands in (types, unranked):
        inferred = infer(cls, operands, {"out_dtype": i32})
        assert refine(inferred, UnrankedTensorType(i32)) == inferred


KINDS = {
    attention.AttentionOp: FusionKind.ANCHOR,
    **dict.fromkeys(operations(convolution), FusionKind.ANCHOR),
    **dict.fromkeys(operations(pooling), FusionKind.ANCHOR),
    **dict.fromkeys(operations(normalization), FusionKind.ANCHOR),
    normalization.LRNOp: FusionKind.OPAQUE,
    **dict.fromkeys(operations(image), FusionKind.INJECTIVE),
    **dict.fromkeys(operations(linear_algebra), FusionKind.ANCHOR),
    nn.SoftmaxOp: FusionKind.ANCHOR,
    nn.LogSoftmaxOp: FusionKind.ANCHOR,
    nn.DropoutOp: FusionKind.OPAQUE,
    nn.BiasAddOp: FusionKind.BROADCAST,
    nn.PadOp: FusionKind.INJECTIVE,
    nn.BatchFlattenOp: FusionKind.INJECTIVE,
}


def test_fusion_kinds():
    for cls, shapes, properties, _ in CASES:
        types = [TensorType(f32, shape) for shape in shapes]
        op = cls(*TestOp(result_types=types).results, **properties)
        kind = op.fusion_kind() if isinstance(op, FusionPattern) else FusionKind.OPAQUE
        assert (cls, kind) == (cls, KINDS[cls])
