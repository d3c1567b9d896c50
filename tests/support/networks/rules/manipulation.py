"""Operations that move or copy elements."""

from __future__ import annotations

from xdsl.dialects.builtin import i1, i32

from passline.dialects.relax import images as image
from passline.dialects.relax.base import TensorOp
from passline.dialects.relax.data import creation
from passline.dialects.relax.data.concatenation import ConcatenateOp, SplitOp, StackOp
from passline.dialects.relax.data.indexing import StridedSliceOp, TakeOp
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
from passline.dialects.relax.reduction import nn
from passline.dialects.relax.types import shape_of, tensor_type

from ..builder import NetworkBuilder
from ..choices import SIZES
from ..values import NotApplicable

__all__ = [
    "concatenate_rule",
    "copy_rule",
    "image_rule",
    "layout_rule",
    "pad_rule",
    "shape_rule",
    "slice_rule",
    "split_rule",
    "stack_rule",
    "take_rule",
]


def concatenate_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0)
    axis = b.axis(known)
    parts = [x]
    for _ in range(b.random.randint(1, 3)):
        if b.random.random() < 0.2:
            parts.append(x)
            continue
        shape = [*known.shape]
        shape[axis] = b.random.choice([shape[axis], shape[axis], 1, 2, 5])
        parts.append(b.operand(shape, known.element))
    b.random.shuffle(parts)
    return ConcatenateOp(*parts, axis=axis)


def stack_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) < 5)
    parts = [x, b.operand(known.shape, known.element)]
    return StackOp(*parts, axis=b.random.randint(0, len(known.shape)))


def split_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0)
    axis = b.axis(known)
    size = known.shape[axis]
    if b.random.random() < 0.5:
        return SplitOp(x, sections=b.random.choice(b.random.factors(size)), axis=axis)
    indices = sorted(b.random.sample(range(size + 1), min(2, size)))
    return SplitOp(x, indices=indices, axis=axis)


def shape_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value()
    shape = [*known.shape]
    match b.random.randrange(6):
        case 0:
            axes = [*range(len(shape))]
            b.random.shuffle(axes)
            return TransposeOp(x, axes=axes)
        case 1:
            new = b.random.factors(known.array.size)
            if b.random.random() < 0.6:
                new[-1:] = b.random.factors(new[-1])
            return ReshapeOp(x, newshape=new, allowzero=1)
        case 2:
            return FlattenOp(x)
        case 3:
            return SqueezeOp(x)
        case 4 if len(shape) < 5:
            return ExpandDimsOp(x, axis=[b.random.randint(0, len(shape))])
        case _ if len(shape) > 1:
            return TransposeOp(x, axes=[*range(2, len(shape)), 1, 0])
        case _:
            raise NotApplicable


def copy_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0)
    axis, rank = b.axis(known), len(known.shape)
    match b.random.randrange(6):
        case 0:
            return FlipOp(x, axis=b.axes(known))
        case 1:
            return TileOp(x, reps=[b.random.choice([1, 1, 2, 3]) for _ in range(rank)])
        case 2:
            return RepeatOp(x, repeats=b.random.randint(1, 3), axis=axis)
        case 3:
            lead = [b.random.randint(1, 3) for _ in range(b.random.randint(0, 1))]
            shape = [b.random.choice(SIZES) if n == 1 else n for n in known.shape]
            return BroadcastToOp(x, shape=[*lead, *shape])
        case 4:
            lengths = b.constant(known.shape[:1], i32)
            if lengths.array.min(initial=0) < 0 or rank < 2:
                raise NotApplicable
            if lengths.array.max(initial=0) > known.shape[1]:
                raise NotApplicable
            return ReverseSequenceOp(x, b.placeholder(lengths))
        case _:
            return creation.TriluOp(x, b.placeholder(b.constant((), i32)), upper=b.random.coin())


def pad_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0)
    widths = [b.random.choice([0, 0, 0, 1, 2, -1]) for _ in range(2 * len(known.shape))]
    mode = b.random.choice(["constant", "constant", *nn.PAD_MODES])
    value = float(b.random.randint(-1, 1)) if known.element != i1 else 0.0
    return nn.PadOp(x, pad_width=widths, pad_mode=mode, pad_value=value)


def slice_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0)
    axes = b.axes(known)
    begin = [b.random.randint(-known.shape[a], known.shape[a]) for a in axes]
    end = [b.random.randint(-known.shape[a], known.shape[a] + 2) for a in axes]
    strides = [b.random.choice([1, 1, 1, 2, 3, -1, -2]) for _ in axes]
    op = StridedSliceOp(x, begin=begin, end=end, strides=strides, axes=axes)
    if 0 in (shape_of(tensor_type(op.result)) or ()) and b.random.random() < 0.9:
        raise NotApplicable
    return op


def take_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) > 0)
    axis = b.axis(known)
    indices = b.operand(b.random.shape(b.random.randint(0, 2)), i32)
    mode = b.random.choice(["clip", "wrap"])
    return TakeOp(x, indices, axis=axis, mode=mode)


def image_rule(b: NetworkBuilder) -> TensorOp:
    x, _ = b.pick_value(lambda k: len(k.shape) == 4)
    match b.random.randrange(3):
        case 0:
            mode = b.random.choice(["DCR", "CRD"])
            return image.DepthToSpaceOp(x, block_size=2, mode=mode)
        case 1:
            return image.SpaceToDepthOp(x, block_size=b.random.choice([1, 2, 3]))
        case _:
            return image.UpsamplingOp(x, scale_h=float(b.random.randint(1, 3)), scale_w=2.0)


def layout_rule(b: NetworkBuilder) -> TensorOp:
    x, known = b.pick_value(lambda k: len(k.shape) == 4)
    block = b.random.choice([n for n in (1, 2, 3, 4, 8) if known.shape[1] % n == 0])
    target = b.random.choice(["NHWC", "CHWN", f"NCHW{block}c", f"NHCW{block}c"])
    return LayoutTransformOp(x, src_layout="NCHW", dst_layout=target)
