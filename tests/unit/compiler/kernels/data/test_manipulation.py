"""Kernels of operations that move elements."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from support.native.compiled_operations import check_machine_code
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import ALL_ELEMENTS, Array, constant
from support.operations.legalized import check_kernel
from support.passes.results import check_equal, run
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i1, i8, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation

from passline.compiler.interpreters.relax.data import MANIPULATION
from passline.compiler.kernels.legalizations import RELAX
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp
from passline.dialects.relax.data.manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    FlattenOp,
    FlipOp,
    LayoutTransformOp,
    RepeatOp,
    ReshapeOp,
    ReverseSequenceOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
)
from passline.dialects.relax.elementwise.activation import ReluOp
from passline.dialects.relax.kernels import CallTIROp
from passline.dialects.relax.reduction.nn import BatchFlattenOp
from passline.dialects.relax.types import Element, static_shape
from passline.passmanager import PassContext
from passline.passmanager.ir.walk import walk
from passline.passmanager.pipeline import parse_pipeline
from passline.passmanager.registry import make_ir_context


def numbers(*shape: int) -> Array:
    return np.arange(prod(shape)).reshape(shape) % 13


def tensor(*shape: int):
    return constant(numbers(*shape), f32)


CASES: dict[str, Operation] = {
    "broadcast_to": BroadcastToOp(tensor(3, 1), shape=(2, 3, 4)),
    "broadcast_to, the same": BroadcastToOp(tensor(3, 1), shape=(3, 1)),
    "broadcast_to, scalar": BroadcastToOp(tensor(), shape=(2, 2)),
    "concatenate": ConcatenateOp(tensor(2, 1), tensor(2, 3), tensor(2, 2), axis=-1),
    "concatenate, one": ConcatenateOp(tensor(2, 3), axis=0),
    "concatenate, none": ConcatenateOp(tensor(2, 0), tensor(2, 3), axis=1),
    "flip": FlipOp(tensor(2, 3, 4), axis=(0, -1)),
    "flip, one": FlipOp(tensor(1, 1), axis=(0, 1)),
    "blocked": LayoutTransformOp(tensor(1, 4, 2, 3), src_layout="NCHW", dst_layout="NCHW2c"),
    "blocks of one": LayoutTransformOp(tensor(1, 4, 2, 3), src_layout="NCHW", dst_layout="NCHW1c"),
    "plain": LayoutTransformOp(tensor(1, 2, 2, 3, 2), src_layout="NCHW2c", dst_layout="NHWC"),
    "blocks": LayoutTransformOp(tensor(1, 3, 2, 4), src_layout="NCH4c", dst_layout="NCH6c"),
    "weights": LayoutTransformOp(tensor(4, 6, 1, 1), src_layout="OIHW", dst_layout="OIHW3i2o"),
    "repeat": RepeatOp(tensor(2, 3), repeats=2, axis=1),
    "repeat, flat": RepeatOp(tensor(2, 3), repeats=3),
    "repeat, never": RepeatOp(tensor(2, 3), repeats=0, axis=-1),
    "reverse_sequence": ReverseSequenceOp(
        tensor(4, 3), constant([1, 3, 4], i64), seq_axis=0, batch_axis=1
    ),
    "reverse_sequence of none": ReverseSequenceOp(tensor(2, 3, 2), constant([0, 2], i8)),
    "stack": StackOp(tensor(2, 3), tensor(2, 3), axis=-1),
    "stack of scalars": StackOp(tensor(), tensor(), axis=0),
    "tile": TileOp(tensor(2, 3), reps=(2, 1, 2)),
    "tile of more": TileOp(tensor(1, 2, 3), reps=(2,)),
    "tile, never": TileOp(tensor(2, 3), reps=(0, 2)),
    "transpose": TransposeOp(tensor(2, 3, 4), axes=(1, -1, 0)),
    "transpose, reversed": TransposeOp(tensor(2, 3, 4)),
    "split": SplitOp(tensor(2, 7, 2), sections=3, axis=1),
    "split at": SplitOp(tensor(2, 7), indices=(1, 1, -2, 9), axis=-1),
}


@pytest.mark.parametrize("op", CASES.values(), ids=CASES)
def test_values(op: Operation):
    check_kernel(op)


@pytest.mark.parametrize("element", [*ALL_ELEMENTS, i1], ids=str)
def test_elements(element: Element):
    data = constant(numbers(2, 3), element)
    check_kernel(TransposeOp(data))
    check_kernel(StackOp(data, data))


RELUS: list[tuple[type[TensorOp], tuple[int, ...], dict[str, Any]]] = [
    (ReshapeOp, (2, 3, 4), {"newshape": (4, 6)}),
    (ReshapeOp, (2, 3, 4), {"newshape": (6, -1, 1)}),
    (ReshapeOp, (1, 1), {"newshape": ()}),
    (ReshapeOp, (2, 0), {"newshape": (3, 0, 2)}),
    (ExpandDimsOp, (2, 3), {"axis": (0, 2, -1)}),
    (SqueezeOp, (1, 2, 1, 3), {"axis": (2,)}),
    (SqueezeOp, (1, 2, 1, 3), {}),
    (FlattenOp, (2, 3), {}),
    (BatchFlattenOp, (2, 3, 2), {}),
]


@pytest.mark.parametrize(("op", "shape", "properties"), RELUS, ids=str)
def test_views(op: type[TensorOp], shape: tuple[int, ...], properties: dict[str, Any]):
    """Computed together with what comes before and after, once at another index."""
    func = FuncOp("main", ([TensorType(f32, shape)], [TensorType(f32, shape)]))
    before = ReluOp(func.args[0])
    view = op(before, **properties)
    after = ReluOp(view)
    func.body.block.add_ops([before, view, after, ReturnOp(after)])
    func.update_function_type()
    module = ModuleOp([func])
    data = np.random.default_rng(0).standard_normal(shape, np.float32)
    expected = run(module, "main", (data,))
    with PassContext():
        parse_pipeline("fuse-ops,legalize-ops").apply(make_ir_context(), module)
    kinds = [type(op) for op in walk(module)]
    assert kinds.count(CallTIROp) == 1 and op not in kinds
    check_equal(run(module, "main", (data,)), expected)


def test_some_parts_are_used():
    """Only these are results of the kernel."""
    func = FuncOp("main", ([TensorType(f32, (5, 2))], [TensorType(f32, (2, 2))]))
    split = SplitOp(func.args[0], sections=3)
    func.body.block.add_ops([split, ReturnOp(split.parts[1])])
    module = ModuleOp([func])
    data = np.random.default_rng(0).standard_normal((5, 2), np.float32)
    expected = run(module, "main", (data,))
    with PassContext():
        parse_pipeline("legalize-ops").apply(make_ir_context(), module)
    (call,) = (op for op in walk(module) if isinstance(op, CallTIROp))
    assert len(call.results) == 1
    check_equal(run(module, "main", (data,)), expected)


@needs_native
def test_machine_code():
    """Check all operations, except on empty tensors."""
    check_machine_code({name: op for name, op in CASES.items() if not has_empty(op)})


def has_empty(op: Operation) -> bool:
    """Return whether a tensor has zero elements."""
    return any(0 in (static_shape(v.type) or ()) for v in (*op.operands, *op.results))


def test_all_are_defined():
    assert {*MANIPULATION} <= {*RELAX}
