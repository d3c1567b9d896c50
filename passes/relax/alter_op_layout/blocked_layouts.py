"""The layouts in which a processor computes convolutions fastest."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, Signedness, f16, f32, i8, i32
from xdsl.ir import Operation

from ....dialects.relax.contraction.convolution import Conv2dOp
from ....dialects.relax.data.concatenation import ConcatenateOp
from ....dialects.relax.interfaces import Conversion, Elementwise
from ....dialects.relax.reduction.nn import PadOp
from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import shape_of, static_shape, tensor_type
from ....dialects.relax.windows.pooling import PoolOp
from ....dialects.target import Target
from ...layouts.propagation import Hook

__all__ = ["blocked_layouts"]

MIN_LANES = 8
"""Blocks for shorter vectors were not measured."""
NEAR = 16
"""The operations that are followed to the neighbours of a convolution."""


def blocked_layouts(target: Target, winograd: bool = False) -> dict[str, Hook]:
    """Return the layout hooks for `target`, by operation name: the channels of convolutions are in
    blocks as long as a vector, NCHW16c with AVX-512.

    Then the elements that are read for one result are next to each other, and so are the results in
    a vector; in NCHW they are an image apart. With `winograd`, convolutions that Winograd's
    algorithm may compute stay in NCHW, in which it does. Source: Liu et al., Optimizing CNN Model
    Inference on CPUs, 2019.
    """
    lanes = target.lanes(f32.bitwidth)
    if lanes < MIN_LANES:
        return {}
    multiplies_bytes = target.byte_dot_product(lanes, exact_pairs=False) is not None

    def hook(op: Operation) -> Conversion | None:
        assert isinstance(op, Conv2dOp)
        # Winograd's transforms read tiles of an image, which in NCHW are rows of it.
        if winograd and is_3x3(op) and not is_of_bytes(op):
            return None
        return in_blocks(op, lanes) if multiplies_bytes or not is_of_bytes(op) else None

    return {Conv2dOp.name: hook}


def is_3x3(op: Conv2dOp) -> bool:
    """Return whether the windows of a convolution are 3x3 adjacent elements, one beside another."""
    weight = static_shape(op.weight.type)
    steps = (*op.strides, *op.dilation)
    return weight is not None and weight[2:] == (3, 3) and {*steps} == {1}


def is_of_bytes(op: Conv2dOp) -> bool:
    """Return whether `op` sums up products of unsigned bytes and signed ones in i32."""
    elements = [tensor_type(value).element_type for value in (op.data, op.weight, op.result)]
    return elements == [IntegerType(8, Signedness.UNSIGNED), i8, i32]


def weight_of_known_channels(op: Conv2dOp) -> Shape | None:
    """Return the shape of the weight, if it and the channels of the data are known; the batch and
    the image may be unknown."""
    shape = shape_of(tensor_type(op.data))
    known = shape is not None and shape[op.layouts()[0].axes.index("C")] != DYNAMIC_INDEX
    return static_shape(op.weight.type) if known else None


def blocks_for(inputs: int, outputs: int, lanes: int) -> tuple[str, str] | None:
    """Return the layouts of data and result with blocks of `lanes` channels, as far as these fill
    blocks; None if neither does."""
    # The first convolution of a network has 3 channels: its data stay in NCHW, its result is
    # blocked.
    before, after = (
        "NCHW" if channels % lanes else f"NCHW{lanes}c" for channels in (inputs, outputs)
    )
    return None if before == after == "NCHW" else (before, after)


def in_blocks(op: Conv2dOp, lanes: int) -> Conversion | None:
    """Return the conversion of a convolution to blocks of `lanes` channels, of data and result as
    far as their channels fill blocks.

    None if neither does, if it has no neighbour that has blocks too, or if one is in groups without
    blocks: the data would have to be transformed on both sides.
    """
    layouts = blocks_of(op, lanes)
    near = [*neighbours(op)] if layouts else []
    if not layouts or any(conv.groups > 1 and not blocks_of(conv, lanes) for conv in near):
        return None
    # Alone it would need two transformations of the data, for one operation that gains.
    if not any(blocks_of(conv, lanes) for conv in near):
        return None
    before, after = layouts
    return op.to_layouts(before, "OIHW", after)


def blocks_of(op: Conv2dOp, lanes: int) -> tuple[str, str] | None:
    """Return the layouts of data and result with blocks of `lanes` channels; None if neither has
    whole blocks, and for other elements than f32, f16 and bytes, with an unknown number of
    channels, or in other layouts than NCHW and OIHW.

    Words of four bytes are then in memory as they are multiplied. The channels of a depthwise
    convolution are the lanes of vectors, so that rows of 7 or 14 elements fill these. Other groups
    of channels have to consist of whole blocks.
    """
    weight = weight_of_known_channels(op)
    is_float = tensor_type(op.data).element_type in (f16, f32)
    if weight is None or not (is_float or is_of_bytes(op)):
        return None
    if [layout.text for layout in op.layouts()] != ["NCHW", "OIHW", "NCHW"]:
        return None
    outputs, inputs, *_ = weight
    is_depthwise = inputs == 1 and outputs == op.groups
    if op.groups > 1 and not is_depthwise:
        whole = inputs % lanes == outputs // op.groups % lanes == 0
        return blocks_for(inputs, outputs, lanes) if whole else None
    return blocks_for(inputs * op.groups, outputs, lanes)


FOLLOWED = (Elementwise, PoolOp, ConcatenateOp, PadOp)
"""The operations that are computed in any layout of the channels."""


def neighbours(op: Conv2dOp) -> Iterator[Conv2dOp]:
    """Yield the convolutions between which and `op` there are only operations that are computed in
    any layout of the channels; of a long chain of these, the nearest."""
    # Breadth first: the nearest are found, also of a long chain.
    seen: set[Operation] = {op}
    pending: list[Operation] = [op]
    for current in pending:
        # Not along the weight, whose layout is another.
        data = current.operands[:1] if current is op else current.operands
        owners = [value.owner for value in data]
        users = [use.operation for result in current.results for use in result.uses]
        for near in (*owners, *users):
            if not isinstance(near, Operation) or near in seen:
                continue
            seen.add(near)
            if isinstance(near, Conv2dOp):
                yield near
            elif isinstance(near, FOLLOWED) and len(pending) < NEAR:
                pending.append(near)
