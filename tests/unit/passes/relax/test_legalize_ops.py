"""LegalizeOps: kernels of fused operations compute the same as these, in tiles of all shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from support.operations.evaluation import Array
from support.pairs import pairs
from support.parsing import parsed
from support.passes.results import run
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, ModuleOp, TensorType, UnitAttr, f32
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.constant import FullOp
from passline.dialects.relax.contraction.convolution import Conv1dOp, Conv2dOp, Conv3dOp
from passline.dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from passline.dialects.relax.data.concatenation import ConcatenateOp, SplitOp
from passline.dialects.relax.data.indexing import StridedSliceOp
from passline.dialects.relax.data.manipulation import BroadcastToOp, ReshapeOp, TransposeOp
from passline.dialects.relax.elementwise.activation import ReluOp
from passline.dialects.relax.elementwise.binary import AddOp, MaximumOp, MultiplyOp, SubtractOp
from passline.dialects.relax.windows import AvgPool2dOp, GlobalAvgPool2dOp, MaxPool2dOp
from passline.dialects.target import Target
from passline.dialects.tir.ops import PrimFuncOp
from passline.passes.relax.legalize_ops import LegalizeOps, legalize_operations
from passline.passmanager import CollectingActions, PassContext
from passline.passmanager.actions import RemarkKind
from passline.passmanager.instruments import DebugCounter
from passline.passmanager.ir.verifier import verify
from passline.passmanager.ir.walk import walk
from passline.passmanager.registry import make_ir_context

Shape = tuple[int, ...]
Build = Callable[..., Sequence[Operation]]
"""A function of the parameters: operations, the last of which gives the results."""


def group(shapes: Sequence[Shape], build: Build) -> ModuleOp:
    """A module whose main function calls a primitive one of these operations."""
    types = [TensorType(f32, shape) for shape in shapes]
    primitive = FuncOp("fused", (types, []), visibility="private")
    ops = [*build(*primitive.args)]
    primitive.body.block.add_ops([*ops, ReturnOp(*ops[-1].results)])
    primitive.update_function_type()
    primitive.attributes["relax.primitive"] = UnitAttr()
    main = FuncOp("main", (types, results := [v.type for v in ops[-1].results]))
    call = CallOp("fused", main.args, results)
    main.body.block.add_ops([call, ReturnOp(*call.results)])
    return ModuleOp([main, primitive])


def one(op: type[TensorOp], **properties: Any) -> Build:
    """A group of one operation."""
    return lambda *operands: [op(*operands, **properties)]


TARGETS = ["x86-64-v2", "x86-64-v3"]
"""Short vectors, so that tiny tensors have several tiles."""


def check_group(shapes: Sequence[Shape], build: Build, target: str = "x86-64-v2") -> PrimFuncOp:
    """Check that the kernel computes what the operations do; gives it."""
    rng = np.random.default_rng(0)
    arguments: tuple[Array, ...] = tuple(rng.standard_normal(s, np.float32) for s in shapes)
    module = group(shapes, build)
    expected = run(module, "main", arguments)
    with PassContext():
        LegalizeOps(target=target).apply(make_ir_context(), module)
    verify(module)
    (kernel,) = (op for op in module.ops if isinstance(op, PrimFuncOp))
    for actual, other in zip(run(module, "main", arguments), expected, strict=True):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(other), rtol=1e-5, atol=1e-5)
    return kernel


def buffers(kernel: PrimFuncOp) -> int:
    """Return the number of buffers of `kernel` that are not local."""
    return sum(isinstance(op, memref.AllocOp) for op in walk(kernel))


# Groups


def test_convolution_with_all_that_follows():
    def build(x: SSAValue, w: SSAValue, bias: SSAValue, other: SSAValue):
        conv = Conv2dOp(x, w, padding=(1, 1))
        biased = AddOp(conv, bias)
        total = AddOp(biased, other)
        return conv, biased, total, ReluOp(total)

    for outputs in (2, 5):
        out = (1, outputs, 3, 5)
        shapes = [(1, 2, 3, 5), (outputs, 2, 3, 3), (outputs, 1, 1), out]
        assert buffers(check_group(shapes, build)) <= 2  # of padded data and copied columns


def test_convolution_of_one_element_is_over_merged_dimensions():
    def build(x: SSAValue, w: SSAValue, bias: SSAValue, other: SSAValue):
        conv = Conv2dOp(x, w)
        biased = AddOp(conv, bias)
        total = MultiplyOp(other, biased)
        return conv, biased, total

    shapes = [(2, 3, 3, 3), (4, 3, 1, 1), (4, 1, 1), (2, 4, 3, 3)]
    assert buffers(check_group(shapes, build)) == 0
    # What has some of the dimensions that would be merged
    check_group([*shapes[:3], (3, 1)], build)
    check_group([*shapes[:3], (2, 1, 1, 3)], build)


@pytest.mark.parametrize(
    ("images", "groups", "outputs"), [(1, 1, 6), (3, 1, 6), (2, 2, 6), (2, 2, 8), (1, 5, 20)]
)
def test_convolution_of_images_of_one_element(images: int, groups: int, outputs: int):
    def build(x: SSAValue, w: SSAValue, bias: SSAValue):
        conv = Conv2dOp(x, w, groups=groups)
        return conv, AddOp(conv, bias)

    shapes = [(images, 10, 1, 1), (outputs, 10 // groups, 1, 1), (outputs, 1, 1)]
    # A group of more than 3 outputs too: its columns are read in place.
    assert buffers(check_group(shapes, build)) == 0


def test_weights_that_are_computed():
    """Also in merged dimensions, and in other layouts."""

    def build(x: SSAValue, w: SSAValue, scale: SSAValue):
        scaled, positive = MultiplyOp(w, scale), ReluOp(x)
        return scaled, positive, Conv2dOp(positive, scaled)

    check_group([(1, 3, 2, 3), (4, 3, 1, 1), (4, 1, 1, 1)], build)
    check_group([(1, 3, 3, 4), (4, 3, 2, 2), (4, 1, 1, 1)], build)

    def other_layout(x: SSAValue, w: SSAValue, bias: SSAValue):
        conv = Conv2dOp(x, w, data_layout="NHWC", kernel_layout="HWIO")
        biased = AddOp(conv, bias)
        return conv, biased, ReluOp(biased)

    check_group([(1, 2, 3, 2), (1, 1, 2, 5), (5,)], other_layout)
    check_group([(1, 3, 4, 2), (2, 3, 2, 5), (5,)], other_layout)


def test_dense_with_all_that_follows():
    def build(x: SSAValue, w: SSAValue, bias: SSAValue):
        product = DenseOp(x, w)
        biased = AddOp(product, bias)
        return product, biased, ReluOp(biased)

    for rows in (1, 3, 5, 13):
        check_group([(rows, 7), (6, 7), (6,)], build)


def test_a_product_of_what_is_computed_and_used_twice():
    def build(x: SSAValue, w: SSAValue):
        half = FullOp(FloatAttr(0.5, f32), TensorType(f32, ()))
        scaled = MultiplyOp(x, half)
        product = MatmulOp(scaled, w)
        return half, scaled, product, MultiplyOp(product, product)

    check_group([(5, 3), (3, 6)], build)


def test_concatenated_and_computed():
    def build(x: SSAValue, y: SSAValue, z: SSAValue):
        joined = ConcatenateOp(x, y, axis=1)
        total = AddOp(joined, z)
        return joined, total, ReluOp(total)

    for z in ((1, 5, 2, 3), (5, 1, 1), (3,), ()):
        kernel = check_group([(1, 2, 2, 3), (1, 3, 2, 3), z], build)
        assert buffers(kernel) == 0


def test_concatenated_along_the_last_dimension():
    def build(x: SSAValue, y: SSAValue, z: SSAValue):
        total = AddOp(x, y)
        return total, ConcatenateOp(z, total, x, axis=-1)

    check_group([(2, 3), (3,), (2, 2)], build)


@pytest.mark.parametrize(
    "shapes",
    [
        [(2, 3, 5), (3, 5), (2, 1, 1)],
        [(2, 3, 5), (2, 3, 5), (2, 3, 5)],
        [(2, 3, 5), (5,), (1,)],
        [(2, 1, 5), (3, 1), (2, 3, 1)],
        [(1, 1, 1), (1,), ()],
        [(3,), (2, 1), (4, 1, 1)],
    ],
    ids=str,
)
def test_chains_with_broadcasting(shapes: Sequence[Shape]):
    def build(x: SSAValue, y: SSAValue, z: SSAValue):
        first = AddOp(x, y)
        second = MaximumOp(first, z)
        return first, second, SubtractOp(second, first)

    for target in TARGETS:
        assert buffers(check_group(shapes, build, target)) == 0


def test_moved_between():
    def build(x: SSAValue):
        first = ReluOp(x)
        moved = TransposeOp(first, axes=(0, 2, 1))
        flat = ReshapeOp(moved, newshape=(2, 12))
        part = StridedSliceOp(flat, begin=(11,), end=(0,), strides=(-2,), axes=(1,))
        return first, moved, flat, part, AddOp(part, part)

    assert buffers(check_group([(2, 3, 4)], build)) == 0


def test_parts_of_what_is_computed():
    def build(x: SSAValue, y: SSAValue):
        total = AddOp(x, y)
        return total, SplitOp(total, indices=(1, 4), axis=-1)

    check_group([(2, 5), (5,)], build)


@pytest.mark.parametrize(
    ("pool", "properties"),
    [
        (MaxPool2dOp, {"pool_size": (3, 3), "padding": (1, 1), "strides": (2, 1)}),
        (AvgPool2dOp, {"pool_size": (2, 2), "padding": (1, 1)}),
        (GlobalAvgPool2dOp, {}),
    ],
    ids=str,
)
def test_pooling_between(pool: type[TensorOp], properties: dict[str, Any]):
    def build(x: SSAValue, bias: SSAValue):
        first = AddOp(x, bias)
        pooled = pool(first, **properties)
        return first, pooled, ReluOp(pooled)

    check_group([(1, 2, 4, 6), (2, 1, 1)], build)


def test_a_broadcast_result():
    def build(x: SSAValue, y: SSAValue):
        product = MatmulOp(x, y)
        return product, BroadcastToOp(product, shape=(2, 3, 5))

    check_group([(3, 2), (2, 5)], build)


# Tiles


@pairs(target=TARGETS, columns=[1, 3, 4, 9, 33], m=[1, 2, 3, 5, 13])
def test_tiles_of_products(m: int, columns: int, target: str):
    check_group([(m, 2), (2, columns)], one(MatmulOp), target)


@pairs(target=TARGETS, terms=[1, 4, 11], m=[1, 2, 3, 5])
def test_tiles_of_dot_products(m: int, terms: int, target: str):
    for columns in (1, 2, 4):
        check_group([(m, terms), (columns, terms)], one(DenseOp), target)


def test_tiles_of_batches():
    for a, b in (((2, 3, 4), (2, 5, 4)), ((1, 5, 2), (3, 9, 2))):
        check_group([a, b], one(BatchMatmulOp))


@pytest.mark.parametrize("m", [1, 2, 3, 5, 13])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (3, 4), (5, 5), (2, 9)], ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_tiles_of_convolutions(m: int, rows: int, columns: int, target: str):
    shapes = [(1, 1, rows, columns), (m, 1, 1, 3)]
    check_group(shapes, one(Conv2dOp, padding=(0, 1)), target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("strides", "padding", "dilation"),
    [
        ((2, 2), (1, 1), (1, 1)),
        ((1, 2), (0, 1), (2, 1)),
        ((2, 1), (2, 0), (1, 3)),
        ((3, 2), (0, 0), (1, 1)),
        ((2, 3), (1, 2), (3, 2)),
    ],
    ids=str,
)
def test_windows(strides: Shape, padding: Shape, dilation: Shape, target: str):
    def build(x: SSAValue, w: SSAValue):
        return [Conv2dOp(x, w, strides=strides, padding=padding, dilation=dilation)]

    check_group([(1, 1, 7, 8), (2, 1, 2, 2)], build, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("groups", "inputs", "outputs"), [(2, 4, 2), (2, 2, 10), (3, 3, 3), (2, 2, 4)], ids=str
)
def test_groups(groups: int, inputs: int, outputs: int, target: str):
    def build(x: SSAValue, w: SSAValue):
        return [Conv2dOp(x, w, groups=groups, padding=(1, 1))]

    check_group([(1, inputs, 3, 3), (outputs, inputs // groups, 2, 2)], build, target)


def test_more_dimensions():
    check_group([(1, 1, 2, 3, 3), (5, 1, 2, 2, 2)], one(Conv3dOp))


def test_a_module_carries_the_entered_target_for_which_its_kernels_are_made():
    types = "(tensor<64xf32>) -> tensor<64xf32>"
    module = parsed(f"""func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {{
      %y = relax.exp %x : {types}
      func.return %y : tensor<64xf32>
    }}""")
    with Target("x86-64-v4"):
        entered = LegalizeOps()(module)
        named = LegalizeOps(target="x86-64-v2")(module)
    assert str(entered) == str(LegalizeOps(target="x86-64-v4")(module))
    assert str(named) == str(LegalizeOps(target="x86-64-v2")(module))
    assert "tir.target" not in str(LegalizeOps()(module))


def test_a_target_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="there is no target 'x86-64-v9', did you mean"):
        LegalizeOps(target="x86-64-v9")


@pytest.mark.parametrize(("window", "kernels"), [(3, 1), (DYNAMIC_INDEX, 0)])
def test_a_function_without_a_kernel_stays_and_is_reported(window: int, kernels: int):
    """Kernels of convolutions know the size of the windows."""
    types = TensorType(f32, [1, 2, 8]), TensorType(f32, [2, 2, window])
    func = FuncOp("main", (types, [TensorType(f32, [1, 2, 6 if kernels else DYNAMIC_INDEX])]))
    func.body.block.add_ops([conv := Conv1dOp(*func.args), ReturnOp(conv)])
    module = ModuleOp([func])
    legalize_operations(module, actions=(recorder := CollectingActions()))
    assert recorder.counts["kernels"] == kernels
    missed = [name for kind, name in recorder.remarks if kind is RemarkKind.MISSED]
    assert missed == ["NoKernel"] * (1 - kernels)
    assert any(isinstance(op, Conv1dOp) for op in walk(module)) == (not kernels)


def test_a_debug_counter_leaves_functions_without_kernels() -> None:
    exp = "relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>"
    text = f"""func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {{
  %0 = {exp}
  %1 = {exp.replace("exp", "tanh")}
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}}"""
    module = parsed(text)
    with PassContext(instruments=[counter := DebugCounter({"legalize-ops": range(2, 3)})]):
        result = LegalizeOps()(module)
    verify(result)
    assert counter.queried["legalize-ops"] == 2
    kernels = [op.sym_name.data for op in result.ops if isinstance(op, PrimFuncOp)]
    assert kernels == ["fused_tanh"]
    assert [op.name for op in walk(result) if op.name.startswith("relax.")] == [
        "relax.call_tir",
        "relax.exp",
    ]
