"""Shape rules of operations whose parameters are operands.

Sizes that would be negative are 0: the kernels
assert that the parameters are valid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f64, i64
from xdsl.ir import Operation, SSAValue

from ...dialects.numbers import (
    Computed,
    Condition,
    Insert,
    Number,
    Scalar,
    ceildiv,
    either,
    equal,
    less,
    maximum,
    minimum,
    minus,
    plus,
    positive,
    select,
    times,
)
from ...dialects.relax.data.creation import ArangeOp
from ...dialects.relax.dynamic.computation import (
    DynamicFullOp,
    DynamicOneHotOp,
    DynamicPadOp,
    DynamicReduceOp,
    DynamicResizeOp,
    DynamicTopkOp,
)
from ...dialects.relax.dynamic.manipulation import (
    DynamicBroadcastToOp,
    DynamicExpandDimsOp,
    DynamicExpandOp,
    DynamicReshapeOp,
    DynamicSplitOp,
    DynamicSqueezeOp,
    DynamicStridedSliceOp,
    DynamicTileOp,
)
from ...dialects.relax.shapes import broadcast_numbers, normalize_axis, scaled, slice_length
from ...dialects.relax.types import is_integer, is_ranked, tensor_type
from ...dialects.sizes import Size
from .dimensions import (
    Dimensions,
    Facts,
    Rules,
    dimensions_of,
    is_axis,
    number_of,
    numbers_of,
    replaced,
    reshaped,
)

__all__ = ["PARAMETER_RULES"]


def _slice(op: DynamicStridedSliceOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, axes = dimensions_of(facts, op.data), numbers_of(facts, op.axes)
    if shape is None or axes is None:
        return None
    bounds = [numbers_of(facts, value, len(axes)) for value in (op.begin, op.end, op.strides)]
    rows = [*zip(axes, *(column or () for column in bounds), strict=False)]

    def along(axis: int, size: Number) -> Number:
        result = size
        for place, *bounds in rows:
            if (here := is_axis(place, axis, len(shape))) is not False:
                result = select(here, slice_length(size, *bounds), result)
        return result

    return [[along(axis, size) for axis, size in enumerate(shape)]]


def _filled(op: DynamicBroadcastToOp | DynamicFullOp, facts: Facts) -> Sequence[Dimensions]:
    given = numbers_of(facts, op.shape)
    return [None if given is None else [*map(positive, given)]]


def _expand(op: DynamicExpandOp, facts: Facts) -> Sequence[Dimensions]:
    shape, given = dimensions_of(facts, op.data), numbers_of(facts, op.shape)
    if shape is None or given is None:
        return [None]
    pairs = zip_longest(reversed(shape), reversed([*map(positive, given)]), fillvalue=1)
    return [[broadcast_numbers(*pair) for pair in pairs][::-1]]


def _reshape(op: DynamicReshapeOp, facts: Facts) -> Sequence[Dimensions] | None:
    target = numbers_of(facts, op.newshape)
    return (
        None if target is None else [reshaped(dimensions_of(facts, op.data), target, op.allowzero)]
    )


def _tile(op: DynamicTileOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, reps = dimensions_of(facts, op.data), numbers_of(facts, op.reps)
    if shape is None or reps is None:
        return None
    rank = max(len(shape), len(reps))
    sizes, numbers = ((*(1,) * (rank - len(row)), *row) for row in (shape, reps))
    return [[positive(times(*pair)) for pair in zip(sizes, numbers, strict=True)]]


def _one_hot(op: DynamicOneHotOp, facts: Facts) -> Sequence[Dimensions] | None:
    if (shape := dimensions_of(facts, op.indices)) is None:
        return None
    axis = normalize_axis(op.axis, len(shape) + 1)
    return [[*shape[:axis], positive(number_of(facts, op.depth)), *shape[axis:]]]


def _pad(op: DynamicPadOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, widths, axes = (
        dimensions_of(facts, op.data),
        numbers_of(facts, op.pad_width),
        numbers_of(facts, op.axes),
    )
    if shape is None or widths is None or axes is None:
        return None
    pairs = [plus(*pair) for pair in zip(widths, widths[len(axes) :], strict=False)]

    def padded(axis: int, size: Number) -> Number:
        for place, width in zip(axes, pairs, strict=True):
            size = plus(size, select(is_axis(place, axis, len(shape)), width, 0))
        return positive(size)

    return [[padded(axis, size) for axis, size in enumerate(shape)]]


def _resize(op: DynamicResizeOp, facts: Facts) -> Sequence[Dimensions] | None:
    """The sizes that are given, or for -1 the products of scales and sizes."""
    shape, given = dimensions_of(facts, op.data), numbers_of(facts, op.size)
    spatial = op.spatial()
    if (
        shape is None
        or given is None
        or any(a.lower() in op.data_layout().factors for a in spatial)
    ):
        return None
    out: list[Number] = [*shape]
    scales = op.scales or (None,) * len(spatial)
    # Of operations that are not valid, which the verifier reports, the lists may differ in length.
    for letter, size, scale in zip(spatial, given, scales, strict=False):
        axis = op.data_layout().axes.index(letter)
        if scale is not None:
            size = select(equal(size, -1), scaled(shape[axis], scale), size)
        out[axis] = positive(size)
    return [out]


def _topk(op: DynamicTopkOp, facts: Facts) -> Sequence[Dimensions] | None:
    """The number of elements that are selected: all if that is less than 1."""
    if (shape := dimensions_of(facts, op.data)) is None:
        return None
    axis, number = normalize_axis(op.axis, len(shape)), number_of(facts, op.k)
    # The kernel asserts that there are as many.
    selected = number if isinstance(number, int | Size) else minimum(number, shape[axis])
    return [replaced(shape, axis, select(less(number, 1), shape[axis], selected))] * 2


def _split(op: DynamicSplitOp, facts: Facts) -> Sequence[Dimensions] | None:
    if (shape := dimensions_of(facts, op.data)) is None:
        return None
    axis, sizes = normalize_axis(op.axis, len(shape)), numbers_of(facts, op.sizes)
    parts = [None] * len(op.results) if sizes is None else [*map(positive, sizes)]
    return [replaced(shape, axis, size) for size in parts]


# Axes that are operands


def _along_axes(axes: Sequence[Number], rank: int) -> list[Condition]:
    """Return for each of `rank` dimensions whether it is one of `axes`."""
    rows: list[Condition] = []
    for axis in range(rank):
        found: Condition = False
        for number in axes:
            found = either(found, is_axis(number, axis, rank))
        rows.append(found)
    return rows


def _kept(
    result: SSAValue, shape: Sequence[Number], gone: Sequence[Condition]
) -> Sequence[Dimensions] | None:
    """Return the dimensions of a result with the sizes that are not `gone`."""
    if all(isinstance(is_gone, bool) for is_gone in gone):
        return [[size for size, is_gone in zip(shape, gone, strict=True) if is_gone is False]]
    if not is_ranked(type := result.type):
        return None
    sizes: list[Number] = [1] * type.get_num_dims()
    place: Number = 0
    for size, is_gone in zip(shape, gone, strict=True):
        here = select(is_gone, -1, place)
        for axis in range(len(sizes)):
            sizes[axis] = select(equal(here, axis), size, sizes[axis])
        place = plus(place, select(is_gone, 0, 1))
    return [sizes]


def _reduction(op: DynamicReduceOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, axes = dimensions_of(facts, op.data), numbers_of(facts, op.axes)
    if shape is None or axes is None:
        return None
    gone: list[Condition] = [True] * len(shape)
    if axes or op.noop_with_empty_axes:
        gone = _along_axes(axes, len(shape))
    if op.keepdims:
        return [[select(is_gone, 1, size) for size, is_gone in zip(shape, gone, strict=True)]]
    return _kept(op.result, shape, gone)


def _squeeze(op: DynamicSqueezeOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, axes = dimensions_of(facts, op.data), numbers_of(facts, op.axis)
    if shape is None or axes is None:
        return None
    return _kept(op.result, shape, _along_axes(axes, len(shape)))


def _expand_dims(op: DynamicExpandDimsOp, facts: Facts) -> Sequence[Dimensions] | None:
    shape, axes = dimensions_of(facts, op.data), numbers_of(facts, op.axis)
    if shape is None or axes is None:
        return None
    result: list[Number] = []
    place: Number = 0
    for is_new in _along_axes(axes, len(shape) + len(axes)):
        old: Number = 1
        for number, size in enumerate(shape):
            old = select(equal(place, number), size, old)
        result.append(select(is_new, 1, old))
        place = plus(place, select(is_new, 0, 1))
    return [result]


# Ranges


def _arange(op: ArangeOp, facts: Facts) -> Sequence[Dimensions]:
    """The number of steps from `start` to `stop`: 0 if that is not finite, which the kernel asserts
    that it is."""
    element_type = tensor_type(op.start).element_type
    # Float bounds have no known elements, so that a run alone knows how they are rounded.
    if not is_integer(element_type):
        return [[Computed(_float_steps, tuple(map(Scalar, op.operands)))]]
    start, stop, step = (number_of(facts, value) for value in op.operands)
    if isinstance(step, int) and step > 0:
        return [[ceildiv(maximum(minus(stop, start), 0), step)]]
    return [[_integer_steps(start, stop, step)]]


def _integer_steps(start: Number, stop: Number, step: Number) -> Number:
    """Return the number of integers start + i * step before `stop`; 0 for a step of 0."""
    is_zero = equal(step, 0)
    rounding = select(less(step, 0), 1, -1)
    distance = plus(plus(minus(stop, start), step), rounding)
    # The least integer divided by -1 is a trap of the processor.
    distance = maximum(distance, -(2**63) + 1)
    count = Computed("divsi", (distance, select(is_zero, 1, step)))
    return select(is_zero, 0, maximum(count, 0))


def _float_steps(insert: Insert, *numbers: SSAValue) -> SSAValue:
    """Return the number of floats start + i * step before `stop`; 0 if it is not finite.

    The quotient may be rounded to an integer, so the count is corrected by products, which are
    exact if the numbers are those of f32."""

    def of(cls: Callable[..., Operation], *operands: SSAValue) -> SSAValue:
        return insert(cls(*operands))

    def number(value: float) -> SSAValue:
        return insert(arith.ConstantOp(FloatAttr(value, f64)))

    def compare(lhs: SSAValue, predicate: str, rhs: SSAValue) -> SSAValue:
        return insert(arith.CmpfOp(lhs, rhs, predicate))

    start, stop, step = (x if x.type == f64 else insert(arith.ExtFOp(x, f64)) for x in numbers)
    distance, is_down = of(arith.SubfOp, stop, start), compare(step, "olt", number(0))
    distance = of(arith.SelectOp, is_down, of(arith.NegfOp, distance), distance)
    step = of(arith.SelectOp, is_down, of(arith.NegfOp, step), step)
    quotient = of(arith.DivfOp, distance, step)
    is_some = of(
        arith.AndIOp,
        *(
            compare(quotient, predicate, number(bound))
            for predicate, bound in (("ogt", 0.0), ("olt", 2.0**62))
        ),
    )
    quotient = of(arith.SelectOp, is_some, quotient, number(0))
    steps = insert(arith.FPToSIOp(quotient, i64))
    one, none = (insert(arith.ConstantOp(IntegerAttr(n, i64))) for n in (1, 0))

    def reaches(steps: SSAValue) -> SSAValue:
        """Return whether `start` plus this many steps is at or beyond `stop`."""
        product = of(arith.MulfOp, insert(arith.SIToFPOp(steps, f64)), step)
        return compare(product, "oge", distance)

    more, fewer = of(arith.AddiOp, steps, one), of(arith.SubiOp, steps, one)
    steps = of(
        arith.SelectOp,
        reaches(steps),
        of(arith.SelectOp, reaches(fewer), fewer, steps),
        more,
    )
    steps = of(arith.SelectOp, is_some, steps, none)
    return insert(arith.IndexCastOp(steps, IndexType()))


PARAMETER_RULES: Rules = (
    (ArangeOp, _arange),
    ((DynamicBroadcastToOp, DynamicFullOp), _filled),
    (DynamicExpandDimsOp, _expand_dims),
    (DynamicExpandOp, _expand),
    (DynamicOneHotOp, _one_hot),
    (DynamicPadOp, _pad),
    (DynamicReduceOp, _reduction),
    (DynamicReshapeOp, _reshape),
    (DynamicResizeOp, _resize),
    (DynamicSplitOp, _split),
    (DynamicSqueezeOp, _squeeze),
    (DynamicStridedSliceOp, _slice),
    (DynamicTileOp, _tile),
    (DynamicTopkOp, _topk),
)
