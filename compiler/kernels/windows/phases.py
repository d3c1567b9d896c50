"""The data of convolutions: padded, and with strided dimensions split into their phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby, product

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relax.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.functions import Extent, Shape, is_at_most, volume
from ..builder import Buffer, KernelBuilder, Tensor

# The numbers of windows over dimensions. Some extents are known at run time only.


def count_of(b: KernelBuilder, window: Window, extent: Extent) -> Extent:
    """Return the number of windows over a dimension; see `Window.count`."""
    if isinstance(extent, int):
        return window.count(extent)
    room = extent + window.before + window.after - window.span
    if not window.ceil:
        return room // window.stride + 1
    # The rule of ONNX and PyTorch: a window that begins in the padding after the data does not
    # count. 2 taps, stride 3, padding 1 and 4 elements: windows begin at -1, 2 and 5, and the third
    # is none.
    count = (room + window.stride - 1) // window.stride + 1
    first_beyond = (extent + window.before + window.stride - 1) // window.stride
    return b.smaller(count, first_beyond)


def covered(window: Window, count: Extent) -> Extent:
    """Return the number of positions that `count` windows cover."""
    return (count - 1) * window.stride + window.span


def taps_before(b: KernelBuilder, window: Window, distance: Index) -> Index:
    """Return how many taps of a window come before the position that is `distance` elements after
    the first tap."""
    # For taps at 0 2 4 (dilation 2), two come before 3, none before -1, and all before 9.
    room = b.max(distance, 0)
    return b.min((room + (window.dilation - 1)) // window.dilation, window.size)


def fits(b: KernelBuilder, window: Window, extent: Extent) -> bool:
    """Return whether no window reaches into the padding; for an unknown extent, whether this holds
    for all of its values."""
    if isinstance(extent, int):
        return window.before == 0 and window.covered(window.count(extent)) <= extent
    # With padding after the data only, windows may still fit for some extents (stride 2, 3 taps and
    # an odd extent), but not for all.
    return window.before == window.after == 0 and not window.ceil


def inner_places(window: Window, low: int, high: int, count: int) -> range:
    """Return which of `count` windows are inside of the positions from `low` up to, and without,
    `high`. If none is, return an empty range between the windows before and after."""
    first = min(max(-(-(low + window.before) // window.stride), 0), count)
    end = (high + window.before - window.span) // window.stride + 1
    return range(first, max(min(end, count), first))


def require_windows(op: Operation, b: KernelBuilder, window: Window, extent: Extent) -> None:
    """Assert that one window fits into a padded dimension of unknown extent."""
    padded = extent + window.before + window.after
    if isinstance(extent, int) or is_at_most(window.span, padded):
        return
    condition = b.less(window.span - 1, padded)
    b.require(condition, f"{op.name}: the data is smaller than a window", op)


@dataclass(eq=False)
class WithMargin(Tensor):
    """A tensor in row-major order in a buffer that has some more elements after it."""

    buffer: SSAValue
    """The buffer, of one dimension."""
    margin: int

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.load(self.buffer, [b.flat(index, self.shape)])


def split_phases(
    b: KernelBuilder, data: Tensor, windows: Sequence[Window], margin: int = 0
) -> Tensor:
    """Return the data (NC...) padded, each spatial dimension of stride s split into s phases; if it
    is copied, in a buffer with `margin` elements after it.

    The result has the dimensions batch, channels, phases, quotients: position p is in phase p % s
    at p // s. The elements that adjacent windows read at one tap are then contiguous:

        stride 2, padding 1, data a b c d:    phase 0: 0 b d    phase 1: a c
    """
    images, channels, *extents = data.shape
    counts = [count_of(b, window, n) for window, n in zip(windows, extents, strict=True)]
    inner = shape_of_phases(windows, counts)
    sizes = inner[len(windows) :]
    shape = (images, channels, *inner)
    # With stride 1 and no padding, the data stays as it is, with one phase each. `sizes` is
    # compared to find padding after the data: it then exceeds the extents.
    if all(window.before == 0 and window.stride == 1 for window in windows) and sizes == (
        *extents,
    ):
        return b.reshaped(data, shape)
    result, tensor = with_margin(b, shape, data.element, margin)
    groups = [
        phase_groups(b, window, n, size)
        for window, n, size in zip(windows, extents, sizes, strict=True)
    ]
    fill_borders(b, result, shape, data.element, groups)
    with b.loops((images, channels)) as outer:
        for group in product(*groups):
            copy_phases(b, data, result, windows, outer, group)
    return tensor


def with_margin(
    b: KernelBuilder, shape: Shape, element: Attribute, margin: int
) -> tuple[SSAValue, Tensor]:
    """Return a buffer to write a tensor to, and the tensor; `margin` zeros follow it in the
    buffer."""
    if not margin:
        result = b.alloc(shape, element)
        return result, Buffer(shape, element, result)
    whole = b.alloc((volume(shape) + margin,), element)
    # Arithmetic on what happens to be there might be slow: on denormal numbers.
    with b.elements([margin], b.lanes) as (i,):
        b.store(b.number(0, element), whole, [volume(shape) + i])
    return b.view(whole, shape), WithMargin(shape, element, whole, margin)


def shape_of_phases(windows: Sequence[Window], counts: Sequence[Extent]) -> Shape:
    """Return the numbers of phases, then those of quotients, that `counts` windows read."""
    phases = [min(window.stride, window.span) for window in windows]
    sizes = [
        count + (window.span - 1) // window.stride
        for window, count in zip(windows, counts, strict=True)
    ]
    return (*phases, *sizes)


@dataclass(frozen=True)
class PhaseGroup:
    """Consecutive phases of a dimension that have elements, not padding, at the same quotients."""

    first: int
    count: int
    low: Index
    high: Index
    """The quotients: from `low` up to, and without, `high`."""


def phase_groups(
    b: KernelBuilder, window: Window, extent: Extent, size: Extent
) -> list[PhaseGroup]:
    """Return the phases of a dimension in groups; there are few, whatever the stride is."""
    phases = range(min(window.stride, window.span))
    # There are at most three groups: from the first phase to the last, each bound falls once, by
    # one. With stride 16, a group is a loop over its phases, not 16 copies of the code.
    ranges = groupby(phases, lambda phase: element_range(b, window, phase, extent, size))
    groups: list[PhaseGroup] = []
    for (low, high), members in ranges:
        first, *others = members
        groups.append(PhaseGroup(first, 1 + len(others), low, high))
    return groups


def fill_borders(
    b: KernelBuilder,
    result: SSAValue,
    shape: Shape,
    element: Attribute,
    groups: Sequence[Sequence[PhaseGroup]],
    value: float = 0,
) -> None:
    """Write loops that set all quotients at which some phase has padding to `value`."""
    # Stride 2, padding 1, 3 taps, data a b c d: positions are 0 a b c d 0. Quotients 0 and 2 have
    # padding in one phase, and are filled in both; the copy then writes a and d there.
    #
    #     phase 0: 0 b d    phase 1: a c 0
    #
    # So the fill has to come before the copy.
    first = len(shape) - len(groups)
    for axis, members in enumerate(groups, first):
        low = reduce(b.max, (g.low for g in members))
        high = reduce(b.min, (g.high for g in members))
        for start, end in ((0, b.min(low, shape[axis])), (high, shape[axis])):
            count = b.max(end - start, 0)
            if count == 0:
                continue
            *outer, last = (*shape[:axis], count, *shape[axis + 1 :])
            with b.loops(outer) as index, b.covering(last, b.lanes) as column:
                place = [*index, column]
                place[axis] = place[axis] + start
                b.store(b.number(value, element), result, place)


def element_range(
    b: KernelBuilder, window: Window, phase: int, extent: Extent, size: Extent
) -> tuple[Extent, Extent]:
    """Return the range of quotients below `size` at which a phase has elements, not padding."""
    # Position p of phase f at quotient q is q * stride + f - before in the data: at least 0 from
    # q = ceil((before - f) / stride) on, and below the extent up to the second bound.
    low = -((phase - window.before) // window.stride)
    high = (extent + window.before - phase + window.stride - 1) // window.stride
    return max(0, low), b.larger(0, b.smaller(size, high))


def copy_phases(
    b: KernelBuilder,
    data: Tensor,
    result: SSAValue,
    windows: Sequence[Window],
    outer: Sequence[Index],
    groups: Sequence[PhaseGroup],
) -> None:
    """Write loops that copy the elements of a group of phases of each dimension."""
    counts = [b.max(group.high - group.low, 0) for group in groups]
    if 0 in counts:
        return
    with (
        b.loops([group.count for group in groups]) as members,
        b.loops(counts[:-1]) as index,
        b.covering(counts[-1], b.lanes) as column,
    ):
        phases = [i + group.first for i, group in zip(members, groups, strict=True)]
        places = [i + group.low for i, group in zip([*index, column], groups, strict=True)]
        source = [
            place * window.stride + phase - window.before
            for place, window, phase in zip(places, windows, phases, strict=True)
        ]
        b.store(b.read(data, [*outer, *source]), result, [*outer, *phases, *places])


# Data with as much padding in memory as windows reach, so that they need no conditions.


@dataclass(eq=False)
class Bordered(Tensor):
    """A tensor with padding around it that is not in memory: lanes of tiles read under a mask."""

    source: Tensor
    before: Sequence[int]
    """The padding before the elements of each dimension."""
    value: float

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        place, inside = [*index], list[SSAValue]()
        for axis, (size, first) in enumerate(zip(self.source.shape, self.before, strict=True)):
            if first or size != self.shape[axis]:
                place[axis] = index[axis] - first
                inside += b.inside_bounds(place[axis], 0, size)
        return b.choose(
            inside,
            lambda: b.read(self.source, place),
            lambda: b.number(self.value, self.element),
        )


def padded(
    b: KernelBuilder,
    data: Tensor,
    windows: Mapping[int, Window],
    value: float = 0,
    margin: int = 0,
) -> Tensor:
    """Return the data with padding of `value` as far as windows reach, or the data itself if they
    do not reach beyond it. `windows` are by axis. A copy has `margin` elements after it."""
    shape, before, kept = [*data.shape], [0] * len(data.shape), [*data.shape]
    for axis, window in windows.items():
        extent = data.shape[axis]
        if fits(b, window, extent):
            continue
        reach = covered(window, count_of(b, window, extent))
        shape[axis], before[axis] = reach, window.before
        kept[axis] = b.larger(0, b.smaller(extent, reach - window.before))
    if (*shape,) == data.shape and not any(before):
        return data
    if b.target.is_cuda:
        return Bordered((*shape,), data.element, data, before, value)
    result, tensor = with_margin(b, (*shape,), data.element, margin)
    ends = [n + first for n, first in zip(kept, before, strict=True)]
    # The borders of `split_phases` with one phase: filled first, and the data copied between them.
    # Elements that no window reaches are not copied: the last of 5 for one tap, stride 2 and
    # padding 1 before the data.
    inner = [[PhaseGroup(0, 1, *ends)] for ends in zip(before, ends, strict=True)]
    fill_borders(b, result, (*shape,), data.element, inner, value)
    with b.elements(kept, b.lanes) as index:
        place = [i + first for i, first in zip(index, before, strict=True)]
        b.store(b.read(data, index), result, place)
    return tensor
