"""The laws of passes on random networks, converted to one layout and another."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from support.budget import some
from support.passes.results import compare
from xdsl.dialects.builtin import ModuleOp, TensorType, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from passline.compiler.interpreters.arrays import dense_of
from passline.dialects.relax.constant import ConstantOp
from passline.dialects.relax.contraction.convolution import Conv2dOp
from passline.dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp
from passline.dialects.relax.data.indexing import StridedSliceOp
from passline.dialects.relax.data.manipulation import (
    BroadcastToOp,
    ExpandDimsOp,
    FlipOp,
    LayoutTransformOp,
    RepeatOp,
    ReshapeOp,
    SqueezeOp,
    TileOp,
    TransposeOp,
)
from passline.dialects.relax.elementwise.binary import AddOp, DivideOp, LessOp, MaximumOp
from passline.dialects.relax.elementwise.elementwise import WhereOp
from passline.dialects.relax.elementwise.unary import NegativeOp, SigmoidOp
from passline.dialects.relax.graph import TupleGetItemOp, TupleOp
from passline.dialects.relax.images import Resize2dOp, UpsamplingOp
from passline.dialects.relax.layout import Layout
from passline.dialects.relax.reduction.nn import BiasAddOp, PadOp, SoftmaxOp
from passline.dialects.relax.reduction.normalization import L2NormalizeOp, LayerNormOp
from passline.dialects.relax.reduction.reduction import MaxOp, MeanOp, SumOp
from passline.dialects.relax.reduction.scan import CumsumOp
from passline.dialects.relax.shapes import Shape
from passline.dialects.relax.types import shape_of, tensor_type
from passline.dialects.relax.windows import AvgPool2dOp, GlobalAvgPool2dOp, MaxPool2dOp
from passline.passes.relax.convert_layout import ConvertLayout
from passline.passmanager import PassContext
from passline.passmanager.ir.changes import Snapshot
from passline.passmanager.ir.verifier import verify
from passline.passmanager.registry import make_ir_context

LAYOUTS = ("NHWC", "NCHW", "CHWN:IHWO", "NCHW4c", "NHWC2c:HWIO2i2o", "HWNC1c:OHWI")


class Network:
    """A function of one image, made an operation at a time."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.arrays = np.random.default_rng(seed)
        self.block = Block(arg_types=[TensorType(f64, self.random.choice(SHAPES))])
        self.values: list[SSAValue] = [*self.block.args]
        while len(self.values) < 14:
            self.add(self.random.choice(KINDS))

    def add(self, kind: Callable[[Network, SSAValue], Operation]) -> None:
        """Add an operation on a value of the last ones; nothing if there is none of that kind."""
        try:
            op = kind(self, self.random.choice(self.values[-4:]))
        except (VerifyException, IndexError, ValueError):
            return  # nothing of that kind can be done to a value of this shape
        if all(0 < np.prod(shape(result)) < 4000 for result in op.results if is_tensor(result)):
            self.block.add_op(op)
            self.values += [result for result in op.results if is_tensor(result)]

    def module(self) -> ModuleOp:
        results = self.values[-3:]
        types = ([arg.type for arg in self.block.args], [value.type for value in results])
        self.block.add_op(ReturnOp(*results))
        return ModuleOp([FuncOp("main", types, Region(self.block))])

    # Choices

    def constant(self, *sizes: int) -> SSAValue:
        array = self.arrays.uniform(0.5, 1.5, sizes)
        op = ConstantOp(dense_of(array, TensorType(f64, sizes)))
        self.block.add_op(op)
        return op.result

    def axis(self, value: SSAValue) -> int:
        return self.random.randrange(-len(shape(value)), len(shape(value)))

    def axes(self, value: SSAValue) -> list[int]:
        rank = len(shape(value))
        return self.random.sample(range(rank), self.random.randint(1, rank))

    def layout(self, axes: str = "NCHW") -> str:
        return "".join(self.random.sample(axes, len(axes)))

    def image_layout(self, value: SSAValue) -> str:
        """A layout in which the value, of rank 4 or 5, is an image, the latter in blocks."""
        sizes = shape(value)
        if len(sizes) == 4:
            return self.layout()
        axes = zip(self.layout("NCHWc"), sizes, strict=True)
        return "".join(f"{size}{axis}" if axis == "c" else axis for axis, size in axes)

    def like(self, value: SSAValue) -> SSAValue:
        """A value that goes with another: of a suffix of its shape, with some sizes 1."""
        for other in self.random.sample(self.values, len(self.values)):
            if shape(other) == shape(value) and self.random.random() < 0.7:
                return other
        sizes = [self.random.choice((1, size, size)) for size in shape(value)]
        return self.constant(*sizes[self.random.randrange(len(sizes) + 1) :])


def is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def shape(value: SSAValue) -> Shape:
    return shape_of(tensor_type(value)) or ()


def convolution(net: Network, x: SSAValue) -> Operation:
    data, kernel = net.image_layout(x), net.layout("OIHW")
    extents = Layout.parse(data).extents(shape(x))
    groups = net.random.choice([1, 1, extents["C"]])
    sizes = {"O": net.random.choice([4, 8]), "I": extents["C"] // groups, "H": 1, "W": 2}
    weight = net.constant(*(sizes[c] for c in kernel))
    conv = Conv2dOp(
        x,
        weight,
        padding=[0, 1],
        groups=groups,
        data_layout=data,
        kernel_layout=kernel,
        out_layout=net.random.choice(["", "", "", net.layout()]),
    )
    # So that values neither grow nor vanish.
    net.block.add_op(conv)
    return SigmoidOp(conv.result)


def slice_(net: Network, x: SSAValue) -> Operation:
    axes = net.axes(x)
    begin = [net.random.choice([0, 0, 1, 2, 4, -4]) for _ in axes]
    end = [net.random.choice([2**63 - 1, 4, -1, 8]) for _ in axes]
    strides = [net.random.choice([1, 1, 2]) for _ in axes]
    axes = axes if net.random.random() < 0.7 else None
    return StridedSliceOp(x, begin=begin, end=end, strides=strides, axes=axes)


def split(net: Network, x: SSAValue) -> Operation:
    if net.random.random() < 0.5:
        return SplitOp(x, sections=2, axis=net.axis(x))
    return SplitOp(x, indices=[net.random.choice([1, 2, 4])], axis=net.axis(x))


def pad(net: Network, x: SSAValue) -> Operation:
    widths = [net.random.choice([0, 0, 1]) for _ in range(2 * len(shape(x)))]
    if not widths:
        raise ValueError("numpy does not pad a scalar")
    return PadOp(x, pad_width=widths)


def layout_transform(net: Network, x: SSAValue) -> Operation:
    axes = "ABCDEFG"[: len(shape(x))]
    return LayoutTransformOp(x, src_layout=axes, dst_layout=net.layout(axes))


def tuple_element(net: Network, x: SSAValue) -> Operation:
    net.block.add_op(pair := TupleOp(x, net.random.choice(net.values)))
    return TupleGetItemOp(pair, index=0)


def layer_norm(net: Network, x: SSAValue) -> Operation:
    axes = net.axes(x)
    parameter = net.constant(*(shape(x)[axis] for axis in axes))
    return LayerNormOp(x, parameter, parameter, axes=axes)


def bias_add(net: Network, x: SSAValue) -> Operation:
    axis = net.axis(x)
    return BiasAddOp(x, net.constant(shape(x)[axis]), axis=axis)


def where(net: Network, x: SSAValue) -> Operation:
    net.block.add_op(less := LessOp(x, net.like(x)))
    return WhereOp(less, x, net.like(x))


SHAPES = ((2, 8, 5, 4), (1, 5, 4, 8), (8, 4, 3, 2), (1, 4, 5, 3, 2))
KINDS: list[Callable[[Network, SSAValue], Operation]] = [
    *[convolution] * 6,
    slice_,
    split,
    pad,
    layout_transform,
    tuple_element,
    layer_norm,
    bias_add,
    where,
    lambda net, x: NegativeOp(x),
    lambda net, x: AddOp(x, net.like(x)),
    lambda net, x: MaximumOp(net.like(x), x),
    lambda net, x: DivideOp(x, net.constant()),
    lambda net, x: ConcatenateOp(x, net.like(x), x, axis=net.axis(x)),
    lambda net, x: StackOp(x, x, axis=net.axis(x)),
    lambda net, x: MaxPool2dOp(x, pool_size=[2, 1], layout=net.image_layout(x)),
    lambda net, x: AvgPool2dOp(
        x, pool_size=[1, 2], padding=[0, 1], layout=net.image_layout(x), out_layout=net.layout()
    ),
    lambda net, x: GlobalAvgPool2dOp(x, layout=net.image_layout(x)),
    lambda net, x: UpsamplingOp(x, scale_w=2.0, layout=net.image_layout(x)),
    lambda net, x: Resize2dOp(x, size=[3, 4], layout=net.image_layout(x)),
    lambda net, x: SumOp(x, axis=net.axes(x), keepdims=net.random.random() < 0.5),
    lambda net, x: MeanOp(x, keepdims=True),
    lambda net, x: MaxOp(x, axis=[net.axis(x)]),
    lambda net, x: TransposeOp(x, axes=net.random.sample(range(len(shape(x))), len(shape(x)))),
    lambda net, x: TransposeOp(x),
    lambda net, x: SqueezeOp(x),
    lambda net, x: ExpandDimsOp(x, axis=[net.axis(x)]),
    lambda net, x: FlipOp(x, axis=net.axes(x)),
    lambda net, x: RepeatOp(x, repeats=2, axis=net.axis(x)),
    lambda net, x: TileOp(x, reps=[net.random.choice([1, 2]) for _ in net.axes(x)]),
    lambda net, x: BroadcastToOp(x, shape=[3 if size == 1 else size for size in shape(x)]),
    lambda net, x: ReshapeOp(x, newshape=[-1]),
    lambda net, x: SoftmaxOp(x, axis=net.axis(x)),
    lambda net, x: L2NormalizeOp(x, axis=net.axes(x), eps=0.1),
    lambda net, x: CumsumOp(x, axis=net.axis(x)),
]


@pytest.mark.parametrize("seed", some(range(25), 2))
def test_networks_stay_valid_and_compute_what_they_did(seed: int):
    ctx = make_ir_context()
    before = Network(seed).module()
    verify(before)
    for layout in LAYOUTS:
        with PassContext(opt_level=4):
            pass_ = ConvertLayout((f"relax.nn.conv2d:{layout}",))
            pass_.apply(ctx, module := before.clone())
            verify(module)
            snapshot = Snapshot(module)
            pass_.apply(ctx, module)
            assert not snapshot.update(), f"{layout} of\n{before}"
        assert compare(before, module) == 1
