"""CombineParallelConv2D: convolutions of one tensor become one convolution."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation

from ....dialects.relax.contraction.convolution import Conv2dOp
from ....dialects.relax.shapes import replace_dimension
from ....dialects.relax.types import shape_of, static_shape, tensor_type
from .parallel_branches import CombineParallel, Parallel

__all__ = ["CombineParallelConv2D", "parallel_conv2d"]


def parallel_conv2d(op: Operation) -> Parallel | None:
    """Describe a convolution of one group whose output channels are one dimension of weight and
    result."""
    if not isinstance(op, Conv2dOp) or op.groups != 1:
        return None
    weight, result = static_shape(op.weight.type), shape_of(tensor_type(op.result))
    data_layout, weight_layout, out_layout = op.layouts()
    outputs, channels = weight_layout.dimensions("O"), out_layout.dimensions("C")
    if weight is None or result is None or len(outputs) != 1 or len(channels) != 1:
        return None
    weight_axis, axis = outputs[0] % len(weight), channels[0] % len(result)
    if result[axis] != weight[weight_axis] or op.result.type not in op.inferred_types():
        return None
    padding, rank = op.padding, len(op.SPATIAL)
    key = (
        (data_layout.text, weight_layout.text, out_layout.text),
        (op.strides, op.dilation, padding[:rank], padding[-rank:]),
        (tensor_type(op.weight).element_type, tensor_type(op.result).element_type),
        replace_dimension(weight, weight_axis),
        tuple(op.attributes.items()),
    )
    return Parallel(key, weight_axis, axis)


@dataclass(frozen=True)
class CombineParallelConv2D(CombineParallel):
    """Combine convolutions of one tensor, with the element-wise operations after them, into one.

    The convolutions have one group and differ in their weights and numbers of output channels only,
    as in the blocks of Inception. A bias, or another operand of the following operations with an
    element for each channel, is concatenated as the weights are. A subclass may refuse a group by
    overriding `check`. Source: `relay.CombineParallelConv2D`.

    Before:

        func.func @f(%x: tensor<1x8x5x5xf32>, %v: tensor<2x8x1x1xf32>, %w: tensor<4x8x1x1xf32>)
            -> (tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>) {
          %0 = relax.nn.conv2d %x, %v
            : (tensor<1x8x5x5xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x5x5xf32>
          %1 = relax.nn.relu %0 : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
          %2 = relax.nn.conv2d %x, %w
            : (tensor<1x8x5x5xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x5x5xf32>
          %3 = relax.nn.relu %2 : (tensor<1x4x5x5xf32>) -> tensor<1x4x5x5xf32>
          func.return %1, %3 : tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>
        }

    After {min-num-branches=2}:

        func.func @f(%x: tensor<1x8x5x5xf32>, %v: tensor<2x8x1x1xf32>, %w: tensor<4x8x1x1xf32>)
            -> (tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>) {
          %0 = relax.concatenate %v, %w
            : (tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>) -> tensor<6x8x1x1xf32>
          %1 = relax.nn.conv2d %x, %0
            : (tensor<1x8x5x5xf32>, tensor<6x8x1x1xf32>) -> tensor<1x6x5x5xf32>
          %2 = relax.nn.relu %1 : (tensor<1x6x5x5xf32>) -> tensor<1x6x5x5xf32>
          %3, %4 = relax.split %2 {indices = [2], axis = 1}
            : (tensor<1x6x5x5xf32>) -> (tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>)
          func.return %3, %4 : tensor<1x2x5x5xf32>, tensor<1x4x5x5xf32>
        }
    """

    name = "combine-parallel-conv2d"
    opt_level = 3
    acts_on = (Conv2dOp,)

    min_num_branches: int = field(default=3, metadata={"minimum": 2})
    """Combine at least this number of convolutions."""

    def describe(self, op: Operation) -> Parallel | None:
        return parallel_conv2d(op)
