"""Moves of elements between channels and pixels."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.relax.data import image as ops
from ....dialects.relax.layout import Layout
from ....dialects.tir.builder import Index
from ..builder import Elements, KernelBuilder, Legalization, Tensor
from ..layouts import relayout

__all__ = ["IMAGE"]


def space_to_depth(op: ops.SpaceToDepthOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, height, width = data.shape
    for size in (height, width):
        b.require_equal(size % block, 0, f"a size is no multiple of {block}", op)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, channel, y, x = index
        at = channel // c  # the position in the block
        row, column = at // block, at % block
        place = [image, channel % c, y * block + row]
        return b.read(data, [*place, x * block + column])

    shape = (n, c * block * block, height // block, width // block)
    return relayout(Elements(shape, data.element, read), plain, layout)


def depth_to_space(op: ops.DepthToSpaceOp, b: KernelBuilder, data: Tensor) -> Tensor:
    layout, plain = op.data_layout(), Layout.parse("NCHW")
    data, block = relayout(data, layout, plain), op.block_size
    n, c, height, width = data.shape
    channels = c // (block * block)
    b.require_equal(c, channels * block * block, f"a size is no multiple of {block * block}", op)

    def read(b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, channel, y, x = index
        at = y % block * block + x % block  # the position in the block
        # As in ONNX. With blocks of 2 and 2 channels a b, the 8 channels of the data are, by rows
        # of a block,
        #
        #     DCR: a b  a b  a b  a b        CRD: a a a a  b b b b
        #
        # CRD is the pixel shuffle of PyTorch. `space_to_depth` writes the order of DCR.
        source = at * channels + channel if op.mode == "DCR" else channel * (block * block) + at
        return b.read(data, [image, source, y // block, x // block])

    shape = (n, channels, height * block, width * block)
    return relayout(Elements(shape, data.element, read), plain, layout)


IMAGE: dict[type[Operation], Legalization] = {
    ops.DepthToSpaceOp: depth_to_space,
    ops.SpaceToDepthOp: space_to_depth,
}
