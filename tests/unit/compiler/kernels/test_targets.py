"""Kernels that are scheduled for vectors of any length compute what the operations do: elements at
the ends of rows, which vectors do not divide, included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.native.compiled_operations import module_of
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array, constant, run_all
from support.passes.results import check_equal, run
from xdsl.dialects.builtin import ModuleOp, f16, f32, f64, i1, i8, i64
from xdsl.ir import Operation
from xdsl.parser import Parser

from passline.compiler.native import compile_module
from passline.dialects.relax import windows as pooling
from passline.dialects.relax.data.concatenation import ConcatenateOp
from passline.dialects.relax.data.manipulation import (
    LayoutTransformOp,
    RepeatOp,
    TileOp,
    TransposeOp,
)
from passline.dialects.relax.elementwise.binary import GreaterOp, LogicalAndOp
from passline.dialects.relax.elementwise.elementwise import AstypeOp, WhereOp
from passline.dialects.relax.images import Resize2dOp
from passline.dialects.relax.reduction.nn import PadOp
from passline.dialects.relax.types import Element
from passline.passmanager import PassContext
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context

TARGETS = ["x86-64-v3", "x86-64-v4"]
RNG = np.random.default_rng(0)


def tensor(*shape: int, element: Element = f32):
    return constant(RNG.integers(-9, 9, shape), element)


def bools(*shape: int):
    return constant(RNG.random(shape) < 0.5, i1)


def pools() -> Iterator[Operation]:
    """Windows with and without overlap and padding, over rows of any length."""
    for height, width in ((1, 1), (5, 7), (4, 21)):
        data = tensor(1, 2, height, width)
        for size, stride, before, after in ((2, 2, 0, 1), (3, 2, 1, 1), (3, 1, 1, 1), (5, 3, 2, 4)):
            if min(height, width) + before + after < size:
                continue
            windows: dict[str, Any] = {
                "pool_size": (size, size),
                "strides": (stride, stride),
                "padding": (before, before, after, after),
            }
            yield pooling.MaxPool2dOp(data, **windows)
            yield pooling.AvgPool2dOp(data, **windows)
            yield pooling.AvgPool2dOp(data, **windows, count_include_pad=True)
        yield pooling.GlobalMaxPool2dOp(data)
        yield pooling.AdaptiveAvgPool2dOp(data, output_size=(1, 1))
    yield pooling.MaxPool2dOp(tensor(1, 1, 12, 20), pool_size=(6, 7), padding=(3, 3))
    yield pooling.MaxPool2dOp(
        tensor(1, 6, 7, 19), pool_size=(3, 3), strides=(2, 2), layout="NHWC", padding=(1, 1)
    )
    yield pooling.MaxPool2dOp(tensor(1, 9, 9, 5), pool_size=(6, 7), layout="NHWC")
    yield pooling.AdaptiveMaxPool2dOp(tensor(1, 9, 9, 5), output_size=(3, 1), layout="NHWC")
    yield pooling.MaxPool1dOp(tensor(2, 2, 41), pool_size=(3,), strides=(4,), dilation=(2,))
    yield pooling.MaxPool3dOp(
        tensor(1, 2, 5, 4, 18), pool_size=(3, 2, 2), strides=(2, 1, 2), padding=(1, 0, 1)
    )


def transpositions() -> Iterator[Operation]:
    for element in (f16, f32, f64, i8, i64):
        yield TransposeOp(tensor(19, 35, element=element))
    yield TransposeOp(tensor(1, 2, 5, 17), axes=(0, 2, 3, 1))
    yield TransposeOp(tensor(1, 17, 3, 20), axes=(0, 3, 1, 2))
    yield TransposeOp(tensor(1, 4, 5, 3, 3), axes=(0, 2, 1, 3, 4))
    yield TransposeOp(tensor(5, 6, 7), axes=(2, 0, 1))
    yield TransposeOp(bools(9, 16))
    yield LayoutTransformOp(tensor(1, 9, 5, 8), src_layout="NCHW", dst_layout="NHWC")


def repetitions() -> Iterator[Operation]:
    """Elements that occur several times in rows of any length."""
    for width in (3, 21):
        data = tensor(3, width)
        yield TileOp(data, reps=(2, 3))
        yield RepeatOp(data, repeats=3, axis=1)
        yield RepeatOp(data, repeats=2, axis=0)
        for mode in ("edge", "reflect", "circular"):
            yield PadOp(data, pad_width=(1, 2, 2, 1), pad_mode=mode)
        yield PadOp(data, pad_width=(0, 1, -1, 2), pad_mode="edge")
        image = tensor(1, 2, 3, width)
        yield Resize2dOp(image, size=(6, 2 * width), method="nearest_neighbor", layout="NCHW")
        yield Resize2dOp(image, size=(5, width + 4), method="linear", layout="NCHW")
        yield ConcatenateOp(data, tensor(3, 9), data, axis=1)


def booleans() -> Iterator[Operation]:
    for width in (1, 20):
        x, condition = tensor(2, width), bools(2, width)
        yield GreaterOp(x, tensor(2, width))
        yield WhereOp(condition, x, tensor(width))
        yield LogicalAndOp(condition, bools(2, 1))
        yield AstypeOp(condition, dtype=f32)
        yield AstypeOp(x, dtype=i1)
        yield ConcatenateOp(condition, bools(2, 3), axis=1)
        yield PadOp(condition, pad_width=(0, 0, 1, 2))


FAMILIES = {
    "pools": pools,
    "transpositions": transpositions,
    "repetitions": repetitions,
    "booleans": booleans,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_schedules(family: str):
    module, arguments, expected = scheduled([*FAMILIES[family]()], TARGETS[0])
    for mine, other in zip(run(module, "main", arguments), expected, strict=True):
        np.testing.assert_allclose(np.asarray(mine), other, rtol=1e-6, strict=True)


@needs_native
@pytest.mark.parametrize("target", TARGETS)
def test_machine_code(target: str):
    ops = [op for family in FAMILIES.values() for op in family()]
    module, arguments, expected = scheduled(ops, target)
    with PassContext(verify_each=False):
        parse_pipeline("plan-memory,lower-to-mlir").apply(make_ir_context(), module)
    for mine, other in zip(compile_module(module)(*arguments), expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, strict=True)


def scheduled(ops: list[Operation], target: str) -> tuple[ModuleOp, tuple[Array, ...], list[Array]]:
    """Return a module whose `@main` computes `ops` by kernels for `target`, its arguments and
    results."""
    module = module_of(ops)
    owners = [operand.owner for op in ops for operand in op.operands]
    arguments = tuple(run_all(owner)[0] for owner in owners if isinstance(owner, Operation))
    with PassContext():
        parse_pipeline(f"legalize-ops{{target={target}}}").apply(make_ir_context(), module)
    return module, arguments, [value for op in ops for value in run_all(op)]


FUSED = """
!columns = tensor<2x23x19xf32>
!pooled = tensor<2x23x10xf32>
func.func @main(%x: tensor<2x19x23xf32>, %y: !columns, %z: tensor<23x1xf32>) -> !pooled {
  %0 = relax.nn.relu %x : (tensor<2x19x23xf32>) -> tensor<2x19x23xf32>
  %1 = relax.transpose %0 {axes = [0, 2, 1]} : (tensor<2x19x23xf32>) -> !columns
  %2 = relax.add %1, %y : (!columns, !columns) -> !columns
  %3 = relax.nn.max_pool1d %2 {pool_size = [3], strides = [2], padding = [1]}
      : (!columns) -> !pooled
  %4 = relax.add %3, %z : (!pooled, tensor<23x1xf32>) -> !pooled
  func.return %4 : !pooled
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_fusion(target: str):
    """Operations before and after a transposition and pooling are computed in their loops."""
    arguments = tuple(
        RNG.standard_normal(s, np.float32) for s in ((2, 19, 23), (2, 23, 19), (23, 1))
    )
    module = Parser(make_ir_context(), FUSED).parse_module()
    expected = run(module, "main", arguments)
    with PassContext():
        parse_pipeline(f"fuse-ops,legalize-ops{{target={target}}}").apply(make_ir_context(), module)
    check_equal(run(module, "main", arguments), expected)
