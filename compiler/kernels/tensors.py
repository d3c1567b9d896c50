"""The tensors of a kernel: parameters, results, layouts, and values computed element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relax.elementwise.activation import PReluOp
from ...dialects.relax.layout import Layout
from ...dialects.relax.reduction.nn import BiasAddOp
from ...dialects.relax.reduction.normalization import (
    BatchNormOp,
    GroupNormOp,
    InstanceNormOp,
    LayerNormOp,
    RMSNormOp,
)
from ...dialects.relax.shapes import normalize_axes
from ...dialects.tir.builder import Index
from ...dialects.tir.functions import Extent, Shape, UnknownExtent, volume
from .builder import Buffer, Elements, KernelBuilder, Scheduled, Store, Tensor
from .choices import NoKernel
from .data.bounds import require_size
from .scalars import as_index

# Tensors that are composed of others: concatenated, shifted, with an element that is computed.


@dataclass(eq=False)
class Concatenated(Scheduled):
    """Tensors concatenated along an axis."""

    axis: int
    parts: Sequence[Tensor]

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return self.read_from(b, index, self.starts())

    def write(self, b: KernelBuilder, store: Store) -> None:
        with b.loops(self.shape[: self.axis]) as outer:
            # A loop for each part, in which no element asks which part it is in. `read_from` needs
            # a branch for each part but the last one, from first to last.
            for start, part in self.starts():
                with b.elements(part.shape[self.axis :], b.element_lanes) as (i, *inner):
                    value = b.read(part, [*outer, i, *inner])
                    store([*outer, i + start, *inner], value)

    def starts(self) -> list[tuple[Extent, Tensor]]:
        """Return each part with the position along the axis at which it starts."""
        starts: list[tuple[Extent, Tensor]] = []
        start: Extent = 0
        for part in self.parts:
            starts.append((start, part))
            start += part.shape[self.axis]
        return starts

    def read_from(
        self, b: KernelBuilder, index: Sequence[Index], parts: Sequence[tuple[Extent, Tensor]]
    ) -> SSAValue:
        """Read an element that is in one of `parts`, consecutive parts with their starts."""
        (start, part), *rest = parts
        at = index[self.axis]

        def read_part() -> SSAValue:
            return b.read(Shifted(self.shape, self.element, part, self.axis, start), index)

        if not rest:
            return read_part()
        if isinstance(at, int) and isinstance(rest[0][0], int):
            return read_part() if at < rest[0][0] else self.read_from(b, index, rest)
        return b.choose([b.less(at, rest[0][0])], read_part, lambda: self.read_from(b, index, rest))


@dataclass(eq=False)
class Shifted(Tensor):
    """A tensor that has the elements of `source` from `start` on along an axis. It may be read in
    that range only."""

    source: Tensor
    axis: int
    start: Extent

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        index = [*index]
        index[self.axis] = index[self.axis] - self.start
        return b.read(self.source, index)


@dataclass(eq=False)
class At(Tensor):
    """A tensor whose element at `index` is `value`; any other is read from `source`.

    In a dimension of size 1, all indices count as equal.
    """

    index: Sequence[Index]
    value: SSAValue
    source: Tensor

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        pairs = zip(self.shape, index, self.index, strict=True)
        # Indices are compared as values of the IR. Two values that are equal at run time count as
        # different: the element is then computed again, which is right, and slower.
        same = all(size == 1 or i == own for size, i, own in pairs)
        return self.value if same else self.source.read(b, index)


@dataclass(eq=False)
class ResultTensor(Scheduled):
    """A result of the kernel, or a tensor from which the result is computed element by element.
    `loops` compute its elements."""

    is_readable: ClassVar = False
    loops: Callable[[Store], None]

    def write(self, b: KernelBuilder, store: Store) -> None:
        self.loops(store)

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        raise AssertionError("its elements are read where its loops compute them")


def scheduled(
    op: Operation,
    b: KernelBuilder,
    shape: Shape,
    element: Attribute,
    loops: Callable[[Store], None],
) -> Tensor:
    """Return the result of `op`, which `loops` compute. If each element of the result of the kernel
    depends on one element of it, the loops store into the result of the kernel; otherwise they
    store into a buffer. `shape` may have merged dimensions."""
    # The loops of a ResultTensor call `store` themselves. Other users in the kernel would have to
    # find an element in a loop nest at each read, so the tensor is in a buffer for them.
    value = op.results[0]
    if b.in_place.get(value) == shape or all(
        isinstance(use.operation, ReturnOp) for use in value.uses
    ):
        return ResultTensor(shape, element, loops)
    buffer = b.alloc(shape, element)
    loops(lambda index, value: b.store(value, buffer, index))
    whole = b.shape_of(op.results[0])
    return Buffer(whole, element, b.view(buffer, whole))


# Tensors read in another layout.


def relayout(tensor: Tensor, src: Layout, dst: Layout) -> Tensor:
    """Return a tensor of layout `src` in layout `dst`."""
    if src.text == dst.text:
        return tensor
    return Elements(
        shape_in(dst, sizes_in(src, tensor.shape)),
        tensor.element,
        lambda b, index: b.read(tensor, moved_index(b, index, dst, src)),
    )


def known(extent: Index) -> int:
    """Return an extent that has to be known."""
    if not isinstance(extent, int):
        raise UnknownExtent("a dimension that has to be known")
    return extent


def known_shape(shape: Shape) -> tuple[int, ...]:
    """Return a shape that has to be known."""
    return tuple(map(known, shape))


def sizes_in(layout: Layout, shape: Shape) -> dict[str, Extent]:
    """Return axis -> size for a tensor of that shape in a layout. An axis that is split has to be
    known."""
    return {
        axis: known(extent) * factor if (factor := _block(layout, axis)) > 1 else extent
        for axis, extent in zip(layout.axes, shape, strict=True)
        if axis.isupper()
    }


def shape_in(layout: Layout, sizes: Mapping[str, Extent]) -> Shape:
    """Return the shape in a layout of a tensor whose axes have these sizes. An axis that is split
    has to be known, and to split into whole blocks."""
    shape: list[Extent] = []
    for axis in layout.axes:
        if axis.islower():
            shape.append(layout.factors[axis])
        elif (factor := _block(layout, axis)) > 1:
            shape.append(known(sizes[axis]) // factor)
        else:
            shape.append(sizes[axis])
    return (*shape,)


def _block(layout: Layout, axis: str) -> int:
    return layout.factors.get(axis.lower(), 1)


def moved_index(b: KernelBuilder, index: Sequence[Index], src: Layout, dst: Layout) -> list[Index]:
    """Return the index in layout `dst` of the element at `index` in layout `src`.

    With NCHW -> NCHW4c, channel C becomes C / 4 and C % 4.
    """
    given = dict(zip(src.axes, index, strict=True))
    result: list[Index] = []
    for c in dst.axes:
        axis, inner = c.upper(), c.lower()
        factor, other = dst.factors.get(inner, 1), src.factors.get(inner, 1)
        if factor == other and c in given:  # not so from NCHW to NCHW1c
            result.append(given[c])
            continue
        # Via the index of the whole axis: from NCHW8c to NCHW16c, channel 3 * 8 + 5 = 29 is 1 and
        # 13.
        at = given[axis] * other + given.get(inner, 0)
        result.append(at % factor if c.islower() else at // factor)
    return result


# The sizes of parameters that run along dimensions of the data, where types do not tell them.


def require_parameters(op: Operation, b: KernelBuilder) -> None:
    """Assert that the parameters of `op` have the sizes of the dimensions of the data that they run
    along, unless that is known."""
    if (axes := parameter_axes(op)) is None:
        return
    data, *parameters = (b.sizes[operand] for operand in op.operands)
    for parameter in parameters:
        # Static sizes are compared when types are inferred. Left are comparisons with an unknown
        # size, and comparisons of two symbols.
        for axis, extent in zip(normalize_axes(axes, len(data)), parameter, strict=True):
            b.require_equal(data[axis], extent, "a parameter and the data differ in size", op)


def parameter_axes(op: Operation) -> Sequence[int] | None:
    """Return the dimensions of the first operand that all other operands run along; None if there
    are none."""
    match op:
        case LayerNormOp() | RMSNormOp():
            return op.axes
        case GroupNormOp():
            return [op.channel_axis]
        case BatchNormOp() | InstanceNormOp() | PReluOp() | BiasAddOp():
            return [op.axis]
        case _:
            return None


# Parameters that kernels read at run time: elements of operands as indices, and checks of them.


def parameters(b: KernelBuilder, values: Tensor) -> list[Index]:
    """Return the elements of a parameter, an integer vector or a scalar, as indices; NoKernel if
    their number is not known."""
    if not isinstance(count := volume(values.shape), int):
        raise NoKernel("the number of its parameters is not known")
    rank = len(values.shape)
    return [as_index(b, b.read(values, [i] * rank)) for i in range(count)]


def constant_parameter(op: Operation, b: KernelBuilder, value: SSAValue) -> list[int] | None:
    """Return the integers of a parameter of `op`; None if it is not the same constant in each
    call."""
    rows = {tuple(array.ravel().tolist()) for array in b.elements_of(value)}
    return [*rows.pop()] if len(rows) == 1 else None


def any_of(b: KernelBuilder, conditions: Sequence[SSAValue]) -> SSAValue:
    """Return the disjunction of one or more `conditions`."""
    value, *rest = conditions
    for condition in rest:
        value = b.pure(arith.OrIOp, value, condition)
    return value


def is_axis(b: KernelBuilder, element: Index, axis: int, rank: int) -> SSAValue:
    """Return whether an element of a list of axes, which may be negative, is `axis`."""
    return any_of(b, [b.equal(element, axis), b.equal(element, axis - rank)])


def require_axes(op: Operation, b: KernelBuilder, axes: Sequence[Index], rank: int) -> None:
    """Assert that `axes` are dimensions of a tensor of that rank, each at most once."""
    for i, axis in enumerate(axes):
        inside = b.all(b.inside_bounds(axis, -rank, rank))
        b.require(inside, f"{op.name}: an axis is out of bounds for rank {rank}", op)
        for other in axes[:i]:
            # For rank 3, -1 and 2 are the same axis: their distance is the rank.
            distance = axis - other
            same = any_of(b, [b.equal(distance, n) for n in (-rank, 0, rank)])
            b.require(b.negation(same), f"{op.name}: an axis is given twice", op)


def require_sizes(
    op: Operation, b: KernelBuilder, sizes: Sequence[Extent], given: Sequence[Index]
) -> None:
    """Assert that the result has the sizes that its parameters give."""
    for axis, pair in enumerate(zip(sizes, given, strict=True)):
        require_size(op, b, *pair, axis)
