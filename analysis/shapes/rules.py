"""Shape rules on symbolic sizes: the dimensions of results from those of operands.

A rule returns None for a dimension that is not sure. An operation without a rule has the sizes that
its result types give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import pairwise, zip_longest
from math import frexp, isfinite
from typing import Any, Protocol, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.relax.annotation import StopFusionOp
from ...dialects.relax.contraction.convolution import (
    ConvolutionOp,
    ForwardConvolutionOp,
    TransposedConvolutionOp,
)
from ...dialects.relax.contraction.linear_algebra import BatchMatmulOp, DenseOp, MatmulOp
from ...dialects.relax.data.concatenation import ConcatenateOp, StackOp
from ...dialects.relax.data.creation import ArangeOp, OneHotOp, ShapeOfOp, TriluOp
from ...dialects.relax.data.gather import GatherOp, TakeOp
from ...dialects.relax.data.image import ResizeOp
from ...dialects.relax.data.permutation import FlipOp, ReverseSequenceOp, TransposeOp
from ...dialects.relax.data.reshape import ExpandDimsOp, FlattenOp, ReshapeOp, SqueezeOp
from ...dialects.relax.data.scatter import ScatterOp
from ...dialects.relax.data.sorting import SortingOp, TopkOp
from ...dialects.relax.data.split import SplitOp
from ...dialects.relax.data.strided_slice import StridedSliceOp
from ...dialects.relax.device import PlacedOp
from ...dialects.relax.dynamic.computation import (
    DynamicFullOp,
    DynamicOneHotOp,
    DynamicScanOp,
    DynamicTopkOp,
)
from ...dialects.relax.dynamic.manipulation import (
    DynamicBroadcastToOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicSplitOp,
    DynamicStridedSliceOp,
)
from ...dialects.relax.elementwise.activation import PReluOp
from ...dialects.relax.elementwise.broadcast import BroadcastToOp, RepeatOp, TileOp
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
from ...dialects.relax.reduction.reduction import ArgReductionOp, ReductionOp
from ...dialects.relax.reduction.scan import ScanOp
from ...dialects.relax.shapes import MAX_SIZE, normalize_axes, normalize_axis
from ...dialects.relax.tuples import MatchCastOp
from ...dialects.relax.windows.pooling import AdaptivePoolOp, PoolOp
from ...dialects.relax.windows.windows import Window
from ...dialects.sizes import Size
from ...passmanager.ir.per_class import PerClass

__all__ = ["Facts", "broadcast_dimensions", "inferred_dimensions", "product", "slice_length"]

Dimensions: TypeAlias = "Sequence[Size | None] | None"
Rule: TypeAlias = "Callable[[Any, Facts], Sequence[Dimensions] | None]"
Shape: TypeAlias = tuple[Size, ...]
ONE = Size.of(1)


class Facts(Protocol):
    """The shapes and elements that are known of the values before an operation."""

    def of(self, value: SSAValue) -> Shape | None:
        """Return the shape of a tensor; None for an unknown rank."""
        ...

    def elements_of(self, value: SSAValue) -> Sequence[Size | None] | None:
        """Return the elements of a small integer vector or scalar."""
        ...


def inferred_dimensions(op: Operation, facts: Facts) -> Sequence[Dimensions] | None:
    """Return the dimensions of each result of `op`, which has no regions; None without a rule."""
    if (rule := _rule_of[type(op)]) is None:
        return None
    try:
        return rule(op, facts)
    except VerifyException:  # invalid properties, which the verifier reports
        return None


def product(sizes: Iterable[Size]) -> Size:
    """Return the product of sizes."""
    return reduce(Size.__mul__, sizes, ONE)


def _of_shape(rule: Callable[[Any, Shape], Dimensions]) -> Rule:
    """Return the rule that all results have the dimensions that `rule` gives for the shape of the
    first operand."""

    def of_results(op: Operation, facts: Facts) -> Sequence[Dimensions] | None:
        shape = facts.of(op.operands[0])
        dimensions = None if shape is None else rule(op, shape)
        return None if dimensions is None else [dimensions] * len(op.results)

    return of_results


# Element-wise


def broadcast_dimensions(*shapes: Dimensions) -> Dimensions:
    """Return the dimensions to which shapes broadcast by numpy's rule."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    columns = zip_longest(*(reversed(shape) for shape in known), fillvalue=ONE)
    return [_broadcast(column) for column in columns][::-1]


def _broadcast(sizes: Sequence[Size | None]) -> Size | None:
    """Return the size to which sizes broadcast: one that is not 1, if there is one for sure."""
    # Equal symbolic sizes are one: `n` with `n` and 1 is `n`.
    left = dict.fromkeys(size for size in sizes if size != ONE)
    if not left:
        return ONE
    if len(left) == 1:
        return next(iter(left))
    # Different sizes: a valid program broadcasts to the one that is not 1 in any run. Of `n` and
    # `4` that is 4, whether n is 1 or 4; of `n` and `m` nobody knows.
    for size in left:
        if size is not None and (size.known == 0 or (size.low or 0) > 1):
            return size
    return None


def _elementwise(op: Operation, facts: Facts) -> Sequence[Dimensions]:
    return [broadcast_dimensions(*map(facts.of, op.operands))] * len(op.results)


def _first(op: Operation, facts: Facts) -> Sequence[Dimensions]:
    """The shape of the first operand."""
    return [facts.of(op.operands[0])] * len(op.results)


# Views


def _reshape(op: ReshapeOp, facts: Facts) -> Sequence[Dimensions]:
    target = [Size.of(n) for n in op.newshape]
    return [reshaped(facts.of(op.data), target, op.allowzero)]


def _dynamic_reshape(op: DynamicReshapeOp, facts: Facts) -> Sequence[Dimensions] | None:
    target = facts.elements_of(op.newshape)
    return None if target is None else [reshaped(facts.of(op.data), target, op.allowzero)]


def reshaped(
    shape: Sequence[Size] | None, target: Sequence[Size | None], allowzero: bool
) -> Dimensions:
    """Return the dimensions of a reshape.

    A size of the target that is 0 in some run is the copied dimension then, unless `allowzero`; a
    size is sure if that dimension is 0 too. The -1 is known if the sizes beside it are either
    positive, or equal to the dimensions that they would copy.
    """
    # Of `(n, 4, 6)` to `[0, -1]`: the 0 copies `n`, and the -1 is `4 * 6`; the copied size need not
    # be divided out, which a symbolic one that may be 0 could not be.
    copied: set[int] = set()
    result: list[Size | None] = []
    sure = True
    for i, size in enumerate(target):
        old = shape[i] if shape is not None and i < len(shape) else None
        positive = size is not None and size.is_positive()
        # An unknown element may be 0 or -1 itself: nothing is sure beside it.
        if size is None or size.known == -1:
            result.append(None)
            sure = sure and size is not None
        elif size.known == 0 and not allowzero:
            result.append(old)
            copied.add(i)
            sure = sure and old is not None
        elif not positive and not allowzero and old is not None:
            # `size` may be 0 in a run, and means `old` then: the same only if `old` is 0 in that
            # run too.
            never_negative = old == size or _at_least(size, Size.of(0))
            result.append(size if never_negative and old.vanishes_with(size) else None)
            sure = sure and old == size
            copied.add(i)
        elif positive or (allowzero and _at_least(size, Size.of(0))):
            result.append(size)
        else:
            result.append(None)
            sure = False
    minus = [i for i, size in enumerate(target) if size is not None and size.known == -1]
    if len(minus) == 1 and sure and shape is not None:
        total = product(d for i, d in enumerate(shape) if i not in copied)
        given = [d for i, d in enumerate(result) if i not in copied and i not in minus]
        beside = product(d for d in given if d is not None)
        # Without terms it is 0, by which nothing is divided.
        if beside.terms:
            result[minus[0]] = total.divided_exactly(beside)
    return result


def _flatten(op: FlattenOp, shape: Shape) -> Dimensions:
    return [product(shape)]


def _batch_flatten(op: BatchFlattenOp, shape: Shape) -> Dimensions:
    return [shape[0], product(shape[1:])] if shape else None


def _squeeze(op: SqueezeOp, shape: Shape) -> Dimensions:
    if op.axis is None:
        return None
    axes = normalize_axes(op.axis, len(shape))
    return [d for i, d in enumerate(shape) if i not in axes]


def _expand_dims(op: ExpandDimsOp, shape: Shape) -> Dimensions:
    rank = len(shape) + len(op.axis)
    axes, sizes = normalize_axes(op.axis, rank), iter(shape)
    return [ONE if i in axes else next(sizes) for i in range(rank)]


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
    result: list[Size | None] = [*_same(known)]
    complete = len(known) == len(shapes)
    along = [shape[axis] for shape in known]
    result[axis] = reduce(Size.__add__, along) if complete else None
    return [result]


def _stack(op: StackOp, facts: Facts) -> Sequence[Dimensions] | None:
    known = [shape for tensor in op.tensors if (shape := facts.of(tensor)) is not None]
    if not known:
        return None
    axis = normalize_axis(op.axis, len(known[0]) + 1)
    shape = _same(known)
    return [[*shape[:axis], Size.of(len(op.tensors)), *shape[axis:]]]


def _same(shapes: Sequence[Sequence[Size]]) -> list[Size]:
    """Return a shape that the tensors of all `shapes` have, except along a joined axis: known sizes
    first."""
    return [min(column, key=lambda size: size.known is None) for column in zip(*shapes)]


def _split(op: SplitOp, facts: Facts) -> Sequence[Dimensions] | None:
    if (shape := facts.of(op.data)) is None:
        return None
    axis = normalize_axis(op.axis, len(shape))
    if op.indices is None:
        number = Size.of(len(op.results))
        # `2*n` in 2 parts gives `n` each; that 2 divides `n` is not sure.
        part = shape[axis] // len(op.results)
        size = part if part * number == shape[axis] else None
        return [[*shape[:axis], size, *shape[axis + 1 :]]] * len(op.results)
    bounds = [Size.of(0), *map(Size.of, op.indices), shape[axis]]
    # An index beyond the end is clamped at run time, and its part is shorter than `b - a`.
    inside = not op.indices or _at_least(shape[axis], Size.of(max(op.indices)))
    ordered = [0, *op.indices] == sorted([0, *op.indices])
    sizes = [b - a if inside and ordered else None for a, b in pairwise(bounds)]
    return [[*shape[:axis], size, *shape[axis + 1 :]] for size in sizes]


def _strided_slice(op: StridedSliceOp, shape: Shape) -> Dimensions:
    result: list[Size | None] = [*shape]
    for axis, part in op.slices(len(shape)).items():
        result[axis] = slice_length(shape[axis], Size.of(part.start), Size.of(part.stop), part.step)
    return result


def _dynamic_slice(op: DynamicStridedSliceOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape = facts.of(op.data)
    axes, strides = facts.elements_of(op.axes), facts.elements_of(op.strides)
    if shape is None or axes is None or any(a is None or a.known is None for a in axes):
        return None
    known = [a.known for a in axes if a is not None and a.known is not None]
    unknown = [None] * len(known)
    begin, end = (facts.elements_of(value) or unknown for value in (op.begin, op.end))
    result: list[Size | None] = [*shape]
    rows = zip(normalize_axes(known, len(shape)), begin, end, strides or unknown, strict=False)
    for axis, first, last, stride in rows:
        step = None if stride is None else stride.known
        result[axis] = None
        if first is not None and last is not None and step is not None:
            result[axis] = slice_length(shape[axis], first, last, step)
    return [result]


def slice_length(size: Size, begin: Size, end: Size, step: int) -> Size | None:
    """Return the number of elements of a Python slice of a dimension; None if it is not sure."""
    if step < 0:
        # All in reverse.
        backwards = begin.known == -1 and (end.known or 0) <= -MAX_SIZE
        return size if step == -1 and backwards else None
    first, last = _bound(size, begin), _bound(size, end)
    # A slice that ends before it starts is empty, not of negative length.
    if first is None or last is None or not _at_least(last, first):
        return None
    return (last - first + Size.of(step - 1)) // step


def _bound(size: Size, bound: Size) -> Size | None:
    """Return a bound of a slice, counted from the first element and clamped; None if not sure."""
    if bound.known == 0:
        return bound
    if bound.known is not None and bound.known >= MAX_SIZE:
        return size
    if bound.known is not None and bound.known < 0:
        # Counted from the end: -1 of `n` is `n - 1`, if n is known to be at least 1.
        bound = size + bound
        return bound if _at_least(bound, Size.of(0)) else None
    if bound.low is None or bound.low < 0:
        return None
    if _at_least(size, bound):
        return bound
    return size if _at_least(bound, size) else None


def _at_least(a: Size, b: Size) -> bool:
    """Return whether a >= b for sure."""
    return ((a - b).low or 0) >= 0 and (a - b).low is not None


# Indices


def _take(op: TakeOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, places = facts.of(op.x), facts.of(op.indices)
    if places is None or (shape is None and op.axis is not None):
        return None
    if op.axis is None or shape is None:
        return [places]
    axis = normalize_axis(op.axis, len(shape))
    return [[*shape[:axis], *places, *shape[axis + 1 :]]]


def _gather(op: GatherOp, facts: Facts) -> Sequence[Dimensions]:
    return [facts.of(op.indices)]


def _topk(op: TopkOp, shape: Shape) -> Dimensions:
    axis = normalize_axis(op.axis, len(shape))
    size = shape[axis] if op.k < 1 else Size.of(op.k)
    return [*shape[:axis], size, *shape[axis + 1 :]]


def _unknown_along_axis(op: DynamicTopkOp | DynamicSplitOp, shape: Shape) -> Dimensions:
    axis = normalize_axis(op.axis, len(shape))
    return [*shape[:axis], None, *shape[axis + 1 :]]


def _one_hot(op: OneHotOp | DynamicOneHotOp, shape: Shape) -> Dimensions:
    axis = normalize_axis(op.axis, len(shape) + 1)
    depth = Size.of(op.depth) if isinstance(op, OneHotOp) else None
    return [*shape[:axis], depth, *shape[axis:]]


# Creation and repetition


def _shape_of(op: ShapeOfOp, shape: Shape) -> Dimensions:
    return [Size.of(len(shape))]


def _arange(op: ArangeOp, facts: Facts) -> Sequence[Dimensions] | None:
    known = [facts.elements_of(value) for value in op.operands]
    numbers = [row[0] for row in known if row is not None and len(row) == 1]
    bounds = [number for number in numbers if number is not None]
    if len(bounds) < 3:
        return None
    start, stop, step = bounds
    # Float bounds have no known elements, so the rounding of these does not matter here.
    if step.known is None or step.known < 1 or not _at_least(stop, start):
        return None
    return [[(stop - start + Size.of(step.known - 1)) // step.known]]


def _filled(op: DynamicFullOp | DynamicBroadcastToOp, facts: Facts) -> Sequence[Dimensions]:
    return [facts.elements_of(op.shape)]


def _broadcast_to(op: BroadcastToOp, facts: Facts) -> Sequence[Dimensions]:
    return [[None if n == DYNAMIC_INDEX else Size.of(n) for n in op.shape]]


def _expand(op: DynamicExpandOp, facts: Facts) -> Sequence[Dimensions]:
    return [broadcast_dimensions(facts.of(op.data), facts.elements_of(op.shape))]


def _tile(op: TileOp, shape: Shape) -> Dimensions:
    rank = max(len(shape), len(op.reps))
    sizes = (ONE,) * (rank - len(shape)) + shape
    reps = (1,) * (rank - len(op.reps)) + (*op.reps,)
    return [size * Size.of(n) for size, n in zip(sizes, reps, strict=True)]


def _repeat(op: RepeatOp, shape: Shape) -> Dimensions:
    repeats = Size.of(op.repeats)
    if op.axis is None:
        return [product(shape) * repeats]
    axis = normalize_axis(op.axis, len(shape))
    return [*shape[:axis], shape[axis] * repeats, *shape[axis + 1 :]]


def _pad(op: PadOp, shape: Shape) -> Dimensions:
    widths = [*op.pad_width]
    if min(widths, default=0) < 0:
        return None
    pairs = zip(widths[::2], widths[1::2], strict=True)
    return [size + Size.of(a + b) for size, (a, b) in zip(shape, pairs, strict=True)]


# Reductions and products


def _reduction(op: ReductionOp | ArgReductionOp, shape: Shape) -> Dimensions:
    axes = [op.axis] if isinstance(op.axis, int) else op.axis
    gone = range(len(shape)) if axes is None else normalize_axes(axes, len(shape))
    if op.keepdims:
        return [ONE if i in gone else d for i, d in enumerate(shape)]
    return [d for i, d in enumerate(shape) if i not in gone]


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
    lhs: Sequence[Size] | None, rhs: Sequence[Size] | None
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


# Windows


def _convolution(op: ConvolutionOp, facts: Facts) -> Sequence[Dimensions] | None:
    data_layout, kernel_layout, out_layout = op.layouts()
    data = _extents(data_layout, facts.of(op.data))
    weight = _extents(kernel_layout, facts.of(op.weight))
    if data is None or weight is None or out_layout.factors:
        return None
    out: dict[str, Size | None] = {"N": data["N"], "C": None}
    groups = Size.of(op.groups)
    out["C"] = weight["O"] if isinstance(op, ForwardConvolutionOp) else weight["O"] * groups
    for window in op.windows([_known(weight[axis]) for axis in op.SPATIAL]):
        out[window.axis] = _window_extent(op, window, data[window.axis])
    return [[out[axis] for axis in out_layout.axes]]


def _window_extent(op: ConvolutionOp, window: Window, extent: Size) -> Size | None:
    if isinstance(op, TransposedConvolutionOp):
        if window.size == DYNAMIC_INDEX:
            return None
        extra = dict(zip(op.SPATIAL, op.output_padding, strict=True))[window.axis]
        # `(n - 1) * stride + span - before - after + extra`: a convolution's formula solved for the
        # input.
        rest = window.span - window.stride - window.before - window.after + extra
        return extent * Size.of(window.stride) + Size.of(rest)
    return _count(window, extent)


def _count(window: Window, extent: Size) -> Size | None:
    """Return the number of windows over a dimension, as `Window.count` for a known one."""
    if window.size == DYNAMIC_INDEX:
        return None
    # Floor division of a symbolic size: `(n + 2 - 3) // 1 + 1` is `n`.
    room = extent + Size.of(window.before + window.after - window.span)
    if window.ceil:  # the last window may have to start before the padding at the end
        if window.stride > 1 or window.after >= window.span:
            return None
    return room // window.stride + ONE


def _pool(op: PoolOp, facts: Facts) -> Sequence[Dimensions] | None:
    layout, out_layout = op.layouts()
    extents = _extents(layout, facts.of(op.data))
    if extents is None or out_layout.factors:
        return None
    out: dict[str, Size | None] = {**extents}
    for window in op.pool_windows():
        out[window.axis] = _count(window, extents[window.axis])
    return [[out[axis] for axis in out_layout.axes]]


def _adaptive_pool(op: AdaptivePoolOp, facts: Facts) -> Sequence[Dimensions] | None:
    layout = op.data_layout()
    if (extents := _extents(layout, facts.of(op.data))) is None:
        return None
    sizes = {a: Size.of(n) for a, n in zip(op.SPATIAL, op.output_sizes(), strict=True)}
    return [[{**extents, **sizes}[axis] for axis in layout.axes]]


def _extents(layout: Layout, shape: Sequence[Size] | None) -> dict[str, Size] | None:
    """Return axis -> size; None for an unknown rank, or a layout with blocks."""
    if shape is None or layout.factors or len(shape) != len(layout.axes):
        return None
    return dict(zip(layout.axes, shape, strict=True))


def _known(size: Size) -> int:
    return DYNAMIC_INDEX if size.known is None else size.known


def _resize(op: ResizeOp, facts: Facts) -> Sequence[Dimensions] | None:
    layout = op.data_layout()
    if (extents := _extents(layout, facts.of(op.data))) is None:
        return None
    out: dict[str, Size | None] = {**extents}
    scales = op.scales or (None,) * len(op.SPATIAL)
    for axis, size, scale in zip(op.SPATIAL, op.size, scales, strict=False):
        out[axis] = Size.of(size) if size != -1 else _scaled(extents[axis], scale)
    return [[out[axis] for axis in layout.axes]]


def _scaled(extent: Size, scale: float | None) -> Size | None:
    """Return the product with a scale that is an integer or a power of 2."""
    if scale is None or not isfinite(scale) or scale <= 0:
        return None
    if scale == int(scale):
        return extent * Size.of(int(scale))
    # `floor(n * scale)` is computed in floats: 161 * (1 / 161) is below 1. Powers of 2 are exact.
    fraction, _ = frexp(scale)
    return extent // int(1 / scale) if fraction == 0.5 else None


_RULES: Sequence[tuple[type[Operation] | tuple[type[Operation], ...], Rule]] = (
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
    (ArangeOp, _arange),
    (BatchFlattenOp, _of_shape(_batch_flatten)),
    (BatchMatmulOp, _batch_matmul),
    (BroadcastToOp, _broadcast_to),
    (ConcatenateOp, _concatenate),
    (ConvolutionOp, _convolution),
    (DenseOp, _dense),
    (DynamicExpandOp, _expand),
    ((DynamicFullOp, DynamicBroadcastToOp), _filled),
    (DynamicReshapeOp, _dynamic_reshape),
    ((DynamicSplitOp, DynamicTopkOp), _of_shape(_unknown_along_axis)),
    (DynamicStridedSliceOp, _dynamic_slice),
    (ExpandDimsOp, _of_shape(_expand_dims)),
    (FlattenOp, _of_shape(_flatten)),
    (GatherOp, _gather),
    (MatmulOp, _matmul),
    ((OneHotOp, DynamicOneHotOp), _of_shape(_one_hot)),
    (PadOp, _of_shape(_pad)),
    (PoolOp, _pool),
    ((ReductionOp, ArgReductionOp), _of_shape(_reduction)),
    (RepeatOp, _of_shape(_repeat)),
    (ReshapeOp, _reshape),
    (ResizeOp, _resize),
    (ScanOp, _of_shape(_scan)),
    (ShapeOfOp, _of_shape(_shape_of)),
    (SplitOp, _split),
    (SqueezeOp, _of_shape(_squeeze)),
    (StackOp, _stack),
    (StridedSliceOp, _of_shape(_strided_slice)),
    (TakeOp, _take),
    (TileOp, _of_shape(_tile)),
    (TopkOp, _of_shape(_topk)),
    (TransposeOp, _of_shape(_transpose)),
)


def _find_rule(cls: type[Operation]) -> Rule | None:
    # Searched once for each class (`PerClass`). The first match counts: a class would have to stand
    # before its base.
    return next((rule for classes, rule in _RULES if issubclass(cls, classes)), None)


_rule_of = PerClass[Operation, "Rule | None"](_find_rule)
