"""Dimensions that a kernel merges into one: the longer the loops, the fuller the vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.contraction.convolution import ForwardConvolutionOp
from ...dialects.relax.data.concatenation import ConcatenateOp
from ...dialects.relax.data.manipulation import TransposeOp
from ...dialects.relax.interfaces import Elementwise
from ...dialects.relax.reduction.nn import SoftmaxBaseOp
from ...dialects.relax.reduction.normalization import LayerNormOp, RMSNormOp
from ...dialects.relax.reduction.reduction import ArgReductionOp, ReductionOp
from ...dialects.relax.shapes import normalize_axes
from ...dialects.relax.types import is_ranked
from ...dialects.relax.windows import AdaptivePoolOp
from ...dialects.tir.functions import Shape, volume
from .builder import Elements, KernelBuilder, Tensor
from .contraction.blocked_convolution import is_blocked
from .contraction.convolution import is_plain, is_trivial, windows_of

# The dimensions that a kernel merges into one: the longer the loops, the fuller the vectors.


RowNorm: TypeAlias = LayerNormOp | RMSNormOp
"""A normalization over some dimensions, with a parameter for each element of them."""


def merged_dimensions(
    ops: Sequence[Operation], end: ReturnOp, sizes: Mapping[SSAValue, Shape]
) -> list[list[int]] | None:
    """Return the groups of adjacent dimensions of the result that one loop of the kernel of `ops`
    may run over; None if there is nothing to merge. Dimensions are counted from the last, -1.

    Each operand of an element-wise operation has all dimensions of a group, or is broadcast along
    all of them. A convolution reads its data from memory, or has windows of one element. A
    transposition is the first operation, and the dimensions of a group are adjacent before it too.

        add(tensor<2x3x4x5>, tensor<3x1x1>)    groups [-4], [-3], [-2, -1]: loops over 2, 3, 20
    """
    shapes = {sizes[value] for value in end.operands}
    if len(shapes) != 1 or len(frame := shapes.pop()) < 2:
        return None
    mergeable = (
        Elementwise
        | FullOp
        | ConstantOp
        | ForwardConvolutionOp
        | ConcatenateOp
        | TransposeOp
        | RowNorm
    )
    if not all(isinstance(op, mergeable) for op in ops):
        return None
    together = [True] * (len(frame) - 1)
    """Whether dimensions i and i + 1 can be merged."""
    for op in ops:
        if (allowed := mergeable_pairs(op, len(frame))) is None:
            return None
        together = [old and new for old, new in zip(together, allowed, strict=True)]
    if not any(together):
        return None
    rows = [
        extents(sizes[value], frame)
        for op in ops
        if isinstance(op, Elementwise | FullOp | ConstantOp | RowNorm)
        for value in (*op.operands, *op.results)
    ]
    groups = [[0]]
    for i in range(1, len(frame)):
        if together[i - 1] and all(are_alike(row, [*groups[-1], i]) for row in rows):
            groups[-1].append(i)
        else:
            groups.append([i])
    convolutions = [op for op in ops if isinstance(op, ForwardConvolutionOp)]
    if len(groups) == len(frame):
        return None
    # Convolution kernels support the shapes (N, C, points) and (N, C / block, points, block) only:
    # the spatial dimensions are merged all or not at all.
    if any(len(groups) != 3 + has_blocks(op) for op in convolutions):
        return None
    return [[i - len(frame) for i in group] for group in groups]


def mergeable_pairs(op: Operation, rank: int) -> list[bool] | None:
    """Return for each dimension but the last whether the loops of `op` may merge it with the next
    one; None if they may merge none."""
    pairs = range(rank - 1)
    match op:
        case LayerNormOp() | RMSNormOp():
            first = first_of_row(op, rank)
            return None if first is None else [i + 1 != first for i in pairs]
        case ForwardConvolutionOp():
            trivial = all(map(is_trivial, windows_of(op)))
            plain = is_plain(op) and is_outside(op.data)
            spatial = plain or (trivial and (is_plain(op) or is_blocked(op)))
            last = len(pairs) - has_blocks(op)  # the channels of a block come last
            return [1 < i < last and spatial for i in pairs]
        case TransposeOp():
            if isinstance(op.data.owner, Operation):
                return None
            # (0, 2, 3, 1), NCHW to NHWC: dimensions 1 and 2 of the result are 2 and 3 of the data,
            # adjacent there, too. So H and W are one dimension, and the transposition is one of
            # matrices for each image.
            axes = order_of(op)
            return [axes[i] + 1 == axes[i + 1] for i in pairs]
        case ConcatenateOp():
            axis = op.axis % rank
            return [axis not in (i, i + 1) for i in pairs]
        case _:
            return [True for _ in pairs]


def first_of_row(op: RowNorm, rank: int) -> int | None:
    """Return the first of the dimensions that `op` normalizes, if these are the last ones in order;
    None otherwise."""
    axes = [*normalize_axes(op.axes, rank)]
    return axes[0] if axes and axes == [*range(rank - len(axes), rank)] else None


def has_blocks(op: ForwardConvolutionOp) -> bool:
    """Return whether the channels of the result are in blocks."""
    return bool(op.layouts()[2].factors)


def is_outside(value: SSAValue) -> bool:
    """Return whether `value` is a parameter or a constant, whose dimensions are not merged yet."""
    return not isinstance(value.owner, Operation) or isinstance(value.owner, FullOp | ConstantOp)


def extents(shape: Shape, frame: Shape) -> list[object]:
    """Return for each dimension of `frame` whether a value of `shape` has it: True if so, False if
    the value is broadcast along it. For size 1 both are the same, and the entry is None. If the
    answer is not known, the entry is a number that differs from all other entries."""
    padded = (*[1] * (len(frame) - len(shape)), *shape)
    return [
        # + 2, as True and False are equal to 1 and 0: an unknown dimension must not compare equal
        # to another one.
        None if n == 1 else size == n if size in (1, n) else axis + 2
        for axis, (size, n) in enumerate(zip(padded, frame, strict=True))
    ]


def are_alike(row: Sequence[object], dimensions: Sequence[int]) -> bool:
    """Return whether a value has all of `dimensions`, or is broadcast along all of them.

    `row` is the result of `extents` for it.
    """
    return len({row[i] for i in dimensions} - {None}) < 2


def order_of(op: TransposeOp) -> list[int]:
    """Return for each dimension of the result the dimension of the data that it comes from."""
    type = op.result.type
    rank = type.get_num_dims() if is_ranked(type) else 0
    return [*normalize_axes(range(rank)[::-1] if op.axes is None else op.axes, rank)]


def groups_before(order: Sequence[int], groups: Sequence[Sequence[int]]) -> list[list[int]]:
    """Map the `groups` of dimensions of the result of a transposition to groups of dimensions of
    its data, in the order of the data."""
    rank = len(order)
    return sorted([order[i] - rank for i in group] for group in groups)


def merged_order(order: Sequence[int], groups: Sequence[Sequence[int]]) -> list[int]:
    """Return the order of a transposition of merged dimensions: `order` with one dimension for each
    of the `groups`."""
    before = groups_before(order, groups)
    return [before.index([order[i] - len(order) for i in group]) for group in groups]


def merged_shape(shape: Shape, groups: Sequence[Sequence[int]]) -> Shape:
    """Return a shape with each group of dimensions merged into one; `shape` may lack leading
    dimensions."""
    rank = len(shape)
    sizes = [[shape[i] for i in group if i >= -rank] for group in groups if group[-1] >= -rank]
    return tuple(map(volume, sizes))


def merge(b: KernelBuilder, tensor: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """Return `tensor` with each group of dimensions merged into one."""
    shape = merged_shape(tensor.shape, groups)
    if isinstance(tensor, Elements):  # a fill: the elements do not depend on the index
        return Elements(shape, tensor.element, tensor.compute)
    return b.reshaped(tensor, shape)


# The dimensions of a reduction that a kernel merges into one: all reduced, or all kept.


AlongAxes: TypeAlias = ReductionOp | ArgReductionOp | SoftmaxBaseOp | AdaptivePoolOp
"""An operation along some axes of its operand."""


def is_global(op: AdaptivePoolOp) -> bool:
    """Return whether `op` reduces whole spatial dimensions to one element."""
    layout = op.data_layout()
    is_split = any(axis.lower() in layout.factors for axis in op.SPATIAL)
    return not is_split and all(size == 1 for size in op.output_sizes())


def reduced_axes(op: AlongAxes, rank: int) -> Sequence[int]:
    """Return the axes of `op`, whose operand has `rank` dimensions, ascending."""
    if isinstance(op, AdaptivePoolOp):
        layout = op.data_layout()
        return sorted(layout.axes.index(axis) for axis in op.SPATIAL)
    axes = [op.axis] if isinstance(op.axis, int) else op.axis
    return range(rank) if axes is None else sorted(normalize_axes(axes, rank))


def reduced_dimensions(
    ops: Sequence[Operation], end: ReturnOp, sizes: Mapping[SSAValue, Shape]
) -> list[list[int]] | None:
    """Return the groups of adjacent dimensions that one loop of the kernel of `ops` may run over;
    None if there is nothing to merge. Dimensions are counted from the last, -1.

    The last operation is a reduction or a softmax, the others are element-wise. A group is reduced
    or kept as a whole, and each value has it or is broadcast along it:

        sum(square(tensor<1x8x14x14>)) over 2 and 3    groups [-4, -3], [-2, -1]: 8 sums of 196
    """
    if not ops or not isinstance(op := ops[-1], AlongAxes):
        return None
    if isinstance(op, AdaptivePoolOp) and not is_global(op):
        return None
    *others, _ = ops
    frame = sizes[op.operands[0]]
    elementwise = Elementwise | FullOp | ConstantOp
    if not all(isinstance(other, elementwise) for other in others):
        return None
    if any(value is not op.results[0] for value in end.operands):
        return None
    values = [value for other in others for value in (*other.operands, *other.results)]
    rows = [extents(sizes[value], frame) for value in values]
    groups = reduced_groups(frame, reduced_axes(op, len(frame)), rows)
    return groups if len(groups) < len(frame) else None


def reduced_groups(
    shape: Shape, axes: Sequence[int], rows: Sequence[Sequence[object]] = ()
) -> list[list[int]]:
    """Return groups of adjacent dimensions, counted from the last, that are all in `axes` or all
    not, and alike in each of `rows` (see `extents`)."""
    # A dimension of size 1 joins any group: (1, 8, 1, 196) over the last one is (8, 196), as index
    # 0 of it adds nothing to a row-major position.
    reduced = [None if size == 1 else axis in axes for axis, size in enumerate(shape)]
    groups: list[list[int]] = []
    for axis in range(len(shape)):
        if groups and all(are_alike(row, [*groups[-1], axis]) for row in (reduced, *rows)):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return [[axis - len(shape) for axis in group] for group in groups]
