"""Shape rules: the dimensions of results from those of operands, as expressions of sizes, or as
what is to be computed at run time.

A rule returns None for a dimension of which nothing is known. An operation without a rule has the
sizes that its result types give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.annotation import StopFusionOp
from ...dialects.relax.contraction.attention import AttentionOp
from ...dialects.relax.contraction.convolution import (
    ConvolutionOp,
    ForwardConvolutionOp,
    TransposedConvolutionOp,
)
from ...dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from ...dialects.relax.data.concatenation import ConcatenateOp, StackOp
from ...dialects.relax.data.creation import ShapeOfOp, TriluOp
from ...dialects.relax.data.gather import GatherNDOp, GatherOp, TakeOp
from ...dialects.relax.data.permutation import (
    FlipOp,
    LayoutTransformOp,
    ReverseSequenceOp,
    TransposeOp,
)
from ...dialects.relax.data.reshape import FlattenOp
from ...dialects.relax.data.scatter import ScatterOp
from ...dialects.relax.data.sorting import SortingOp
from ...dialects.relax.data.split import SplitOp
from ...dialects.relax.data.strided_slice import StridedSliceOp
from ...dialects.relax.data.trees import TreeLeavesOp
from ...dialects.relax.device import PlacedOp
from ...dialects.relax.dynamic.computation import DynamicScanOp
from ...dialects.relax.elementwise.activation import PReluOp
from ...dialects.relax.elementwise.broadcast import RepeatOp
from ...dialects.relax.interfaces import Elementwise
from ...dialects.relax.layout import Layout
from ...dialects.relax.reduction.nn import (
    BatchFlattenOp,
    BiasAddOp,
    DropoutOp,
    PadOp,
    SoftmaxBaseOp,
)
from ...dialects.relax.reduction.normalization import (
    AffineNormOp,
    BatchNormOp,
    L2NormalizeOp,
    LRNOp,
    RMSNormOp,
)
from ...dialects.relax.reduction.scan import ScanOp
from ...dialects.relax.shapes import normalize_axes, normalize_axis
from ...dialects.relax.tuples import MatchCastOp
from ...dialects.relax.windows.pooling import AdaptivePoolOp, PoolOp
from ...dialects.relax.windows.windows import Window
from ...dialects.sizes import Size
from ...passmanager.ir.per_class import PerClass
from .dimensions import (
    Dimensions,
    Facts,
    Rule,
    Rules,
    broadcast_dimensions,
    replaced,
    slice_length,
)
from .numbers import (
    ONE,
    ZERO,
    Number,
    ceildiv,
    maximum,
    minimum,
    minus,
    plus,
    positive,
    product,
    quotient,
    times,
)
from .parameter_rules import PARAMETER_RULES

__all__ = ["computed_dimensions", "inferred_dimensions"]

Shape: TypeAlias = Sequence[Number]


def computed_dimensions(op: Operation, facts: Facts) -> Sequence[Dimensions] | None:
    """Return the dimensions of each result of `op`, which has no regions; None without a rule."""
    if (rule := _rule_of[type(op)]) is None:
        return None
    try:
        return rule(op, facts)
    except VerifyException:  # invalid properties, which the verifier reports
        return None


def inferred_dimensions(
    op: Operation, facts: Facts
) -> Sequence[Sequence[Size | None] | None] | None:
    """Return the dimensions of each result of `op` that are expressions of sizes, as
    `computed_dimensions` does."""
    if (rows := computed_dimensions(op, facts)) is None:
        return None
    return [None if row is None else [_size(number) for number in row] for row in rows]


def _size(number: Number | None) -> Size | None:
    return number if isinstance(number, Size) else None


def _of_shape(rule: Callable[[Any, Shape], Dimensions]) -> Rule:
    """Return the rule that all results have the dimensions that `rule` gives for the shape of the
    first operand."""

    def of_results(op: Operation, facts: Facts) -> Sequence[Dimensions] | None:
        shape = facts.of(op.operands[0])
        dimensions = None if shape is None else rule(op, shape)
        return None if dimensions is None else [dimensions] * len(op.results)

    return of_results


# Element-wise


def _elementwise(op: Operation, facts: Facts) -> Sequence[Dimensions]:
    return [broadcast_dimensions(*map(facts.of, op.operands))] * len(op.results)


def _first(op: Operation, facts: Facts) -> Sequence[Dimensions]:
    """The shape of the first operand."""
    return [facts.of(op.operands[0])] * len(op.results)


# Views


def _flatten(op: FlattenOp, shape: Shape) -> Dimensions:
    return [product(shape)]


def _batch_flatten(op: BatchFlattenOp, shape: Shape) -> Dimensions:
    return [shape[0], product(shape[1:])] if shape else None


def _transpose(op: TransposeOp, shape: Shape) -> Dimensions:
    axes = range(len(shape))[::-1] if op.axes is None else normalize_axes(op.axes, len(shape))
    return [shape[axis] for axis in axes]


# Joining and cutting


def _concatenate(op: ConcatenateOp, facts: Facts) -> Sequence[Dimensions] | None:
    shapes = [facts.of(tensor) for tensor in op.tensors]
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    # One operand of known rank gives the rank, and all dimensions but that of the axis.
    axis = normalize_axis(op.axis, len(known[0]))
    along = [shape[axis] for shape in known]
    size = reduce(plus, along) if len(known) == len(shapes) else None
    return [replaced(_same(known), axis, size)]


def _stack(op: StackOp, facts: Facts) -> Sequence[Dimensions] | None:
    known = [shape for tensor in op.tensors if (shape := facts.of(tensor)) is not None]
    if not known:
        return None
    axis = normalize_axis(op.axis, len(known[0]) + 1)
    shape = _same(known)
    return [[*shape[:axis], Size.of(len(op.tensors)), *shape[axis:]]]


def _same(shapes: Sequence[Sequence[Number]]) -> list[Number]:
    """Return a shape that the tensors of all `shapes` have, except along a joined axis: known sizes
    first."""
    return [min(column, key=lambda size: size.known is None) for column in zip(*shapes)]


def _split(op: SplitOp, facts: Facts) -> Sequence[Dimensions] | None:
    if (shape := facts.of(op.data)) is None:
        return None
    axis, number = normalize_axis(op.axis, len(shape)), len(op.results)
    size = shape[axis]
    if op.indices is None:
        # `2*n` in 2 parts gives `n` each. That 2 divides `n` is not sure: the last part is what the
        # others leave.
        part = ceildiv(size, number)
        rest = maximum(minus(size, times(part, Size.of(number - 1))), ZERO)
        return [replaced(shape, axis, each) for each in [part] * (number - 1) + [rest]]
    bounds = [ZERO, *map(Size.of, op.indices), size]
    # An index beyond the end is clamped, and its part is shorter than `b - a`.
    return [replaced(shape, axis, slice_length(size, a, b, ONE)) for a, b in pairwise(bounds)]


def _strided_slice(op: StridedSliceOp, shape: Shape) -> Dimensions:
    result: list[Number] = [*shape]
    for axis, part in op.slices(len(shape)).items():
        bounds = map(Size.of, (part.start, part.stop, part.step))
        result[axis] = slice_length(shape[axis], *bounds)
    return result


# Indices


def _take(op: TakeOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, places = facts.of(op.x), facts.of(op.indices)
    if places is None or (shape is None and op.axis is not None):
        return None
    if op.axis is None or shape is None:
        return [places]
    axis = normalize_axis(op.axis, len(shape))
    return [replaced(shape, axis, *places)]


def _gather(op: GatherOp, facts: Facts) -> Sequence[Dimensions]:
    return [facts.of(op.indices)]


def _gather_nd(op: GatherNDOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, places = facts.of(op.data), facts.of(op.indices)
    if not places or shape is None or (length := places[-1].known) is None:
        return None
    # The batch dimensions, the places, and the slice at each: x of [b, 5, 6] at indices of
    # [b, n, 1] with `batch_dims` of 1 is [b, n, 6].
    batch = op.batch_dims
    return [[*shape[:batch], *places[batch:-1], *shape[batch + length :]]]


# Creation and repetition


def _tree_leaves(op: TreeLeavesOp, facts: Facts) -> Sequence[Dimensions] | None:
    data, roots = facts.of(op.data), facts.of(op.roots)
    return None if data is None or roots is None else [[data[0], roots[0]]]


def _shape_of(op: ShapeOfOp, shape: Shape) -> Dimensions:
    return [Size.of(len(shape))]


def _repeat(op: RepeatOp, shape: Shape) -> Dimensions:
    repeats = Size.of(op.repeats)
    if op.axis is None:
        return [times(product(shape), repeats)]
    axis = normalize_axis(op.axis, len(shape))
    return replaced(shape, axis, times(shape[axis], repeats))


def _pad(op: PadOp, shape: Shape) -> Dimensions:
    widths = [*op.pad_width]
    if min(widths, default=0) < 0:
        return None
    pairs = zip(widths[::2], widths[1::2], strict=True)
    return [plus(size, Size.of(a + b)) for size, (a, b) in zip(shape, pairs, strict=True)]


# Reductions and products


def _scan(op: ScanOp, shape: Shape) -> Dimensions:
    return [product(shape)] if op.axis is None else shape


def _matmul(op: MatmulOp, facts: Facts) -> Sequence[Dimensions] | None:
    return _product_of_matrices(facts.of(op.lhs), facts.of(op.rhs))


def _batch_matmul(op: BatchMatmulOp, facts: Facts) -> Sequence[Dimensions] | None:
    lhs, rhs = facts.of(op.lhs), facts.of(op.rhs)
    if lhs is None or rhs is None or len(lhs) != 3 or len(rhs) != 3:
        return None
    n, *a = lhs
    m, *b = rhs
    return _product_of_matrices(
        (n, *(a[::-1] if op.transpose_a else a)), (m, *(b[::-1] if op.transpose_b else b))
    )


def _product_of_matrices(
    lhs: Sequence[Number] | None, rhs: Sequence[Number] | None
) -> Sequence[Dimensions] | None:
    if not lhs or not rhs:
        return None
    # A vector has no row or column in the result: slices that are empty for rank 1 say so.
    batch = broadcast_dimensions(lhs[:-2], rhs[:-2]) or []
    return [[*batch, *lhs[-2:-1], *(rhs[-1:] if len(rhs) > 1 else ())]]


def _dense(op: DenseOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, weight = facts.of(op.data), facts.of(op.weight)
    if not shape or weight is None:
        return None
    return [[*shape[:-1], weight[0]]]


def _attention(op: AttentionOp, facts: Facts) -> Sequence[Dimensions] | None:
    query, value = facts.of(op.query), facts.of(op.value)
    if not query or not value:
        return None
    return [[*query[:-1], value[-1]]]


# Windows


def _convolution(op: ConvolutionOp, facts: Facts) -> Sequence[Dimensions] | None:
    data_layout, kernel_layout, out_layout = op.layouts()
    data = _extents(data_layout, facts.of(op.data))
    weight = _extents(kernel_layout, facts.of(op.weight))
    if data is None or weight is None:
        return None
    groups = 1 if isinstance(op, ForwardConvolutionOp) else op.groups
    out: dict[str, Number | None] = {"N": data["N"], "C": times(weight["O"], Size.of(groups))}
    for window in op.windows([_known(weight[axis]) for axis in op.SPATIAL]):
        out[window.axis] = _window_extent(op, window, data[window.axis])
    return [_in_layout(out_layout, out)]


def _window_extent(op: ConvolutionOp, window: Window, extent: Number) -> Number | None:
    if isinstance(op, TransposedConvolutionOp):
        if window.size == DYNAMIC_INDEX:
            return None
        extra = dict(zip(op.SPATIAL, op.output_padding, strict=True))[window.axis]
        # `(n - 1) * stride + span - before - after + extra`: a convolution's formula solved for the
        # input.
        rest = window.span - window.stride - window.before - window.after + extra
        return plus(times(extent, Size.of(window.stride)), Size.of(rest))
    return _count(window, extent)


def _count(window: Window, extent: Number) -> Number | None:
    """Return the number of windows over a dimension, as `Window.count` for a known one."""
    if window.size == DYNAMIC_INDEX:
        return None
    stride = Size.of(window.stride)
    # Floor division of a symbolic size: `(n + 2 - 3) // 1 + 1` is `n`.
    room = plus(extent, Size.of(window.before + window.after - window.span))
    if not window.ceil:
        return positive(plus(quotient(room, stride), ONE))
    # The last window may have to start before the padding at the end.
    count = plus(quotient(plus(room, Size.of(window.stride - 1)), stride), ONE)
    return positive(minimum(count, ceildiv(plus(extent, Size.of(window.before)), window.stride)))


def _pool(op: PoolOp, facts: Facts) -> Sequence[Dimensions] | None:
    layout, out_layout = op.layouts()
    if (extents := _extents(layout, facts.of(op.data))) is None:
        return None
    out: dict[str, Number | None] = {**extents}
    for window in op.pool_windows():
        out[window.axis] = _count(window, extents[window.axis])
    return [_in_layout(out_layout, out)]


def _adaptive_pool(op: AdaptivePoolOp, facts: Facts) -> Sequence[Dimensions] | None:
    layout = op.data_layout()
    if (extents := _extents(layout, facts.of(op.data))) is None:
        return None
    sizes = {a: Size.of(n) for a, n in zip(op.SPATIAL, op.output_sizes(), strict=True)}
    return [_in_layout(layout, {**extents, **sizes})]


def _layout_transform(op: LayoutTransformOp, shape: Shape) -> Dimensions:
    extents = _extents(Layout.parse(op.src_layout), shape)
    return None if extents is None else _in_layout(Layout.parse(op.dst_layout), extents)


def _extents(layout: Layout, shape: Sequence[Number] | None) -> dict[str, Number] | None:
    """Return axis -> size; None for an unknown rank."""
    if shape is None or len(shape) != len(layout.axes):
        return None
    outer = zip(layout.axes, shape, strict=True)
    return {
        axis: times(size, Size.of(layout.factors.get(axis.lower(), 1)))
        for axis, size in outer
        if axis.isupper()
    }


def _in_layout(layout: Layout, extents: Mapping[str, Number | None]) -> list[Number | None]:
    """Return the dimensions in `layout` of a tensor whose axes have these sizes, which split into
    whole blocks."""
    return [
        Size.of(layout.factors[axis])
        if axis.islower()
        else _blocks(extents[axis], layout.factors.get(axis.lower(), 1))
        for axis in layout.axes
    ]


def _blocks(extent: Number | None, factor: int) -> Number | None:
    return None if extent is None else quotient(extent, Size.of(factor))


def _known(size: Number) -> int:
    return DYNAMIC_INDEX if size.known is None else size.known


_RULES: Rules = (
    (Elementwise, _elementwise),
    (
        (
            AffineNormOp,
            BatchNormOp,
            BiasAddOp,
            CastOp,
            DropoutOp,
            DynamicScanOp,
            FlipOp,
            L2NormalizeOp,
            LRNOp,
            MatchCastOp,
            PlacedOp,
            PReluOp,
            RMSNormOp,
            ReverseSequenceOp,
            ScatterOp,
            SoftmaxBaseOp,
            SortingOp,
            StopFusionOp,
            TriluOp,
        ),
        _first,
    ),
    (AdaptivePoolOp, _adaptive_pool),
    (AttentionOp, _attention),
    (BatchFlattenOp, _of_shape(_batch_flatten)),
    (BatchMatmulOp, _batch_matmul),
    (ConcatenateOp, _concatenate),
    (ConvolutionOp, _convolution),
    (DenseOp, _dense),
    (FlattenOp, _of_shape(_flatten)),
    (GatherNDOp, _gather_nd),
    (GatherOp, _gather),
    (LayoutTransformOp, _of_shape(_layout_transform)),
    (MatmulOp, _matmul),
    (PadOp, _of_shape(_pad)),
    (PoolOp, _pool),
    (RepeatOp, _of_shape(_repeat)),
    (ScanOp, _of_shape(_scan)),
    (ShapeOfOp, _of_shape(_shape_of)),
    (SplitOp, _split),
    (StackOp, _stack),
    (StridedSliceOp, _of_shape(_strided_slice)),
    (TakeOp, _take),
    (TransposeOp, _of_shape(_transpose)),
    (TreeLeavesOp, _tree_leaves),
    *PARAMETER_RULES,
)


def _find_rule(cls: type[Operation]) -> Rule | None:
    # Searched once for each class (`PerClass`). The first match counts: a class would have to stand
    # before its base.
    return next((rule for classes, rule in _RULES if issubclass(cls, classes)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)
