"""Tensors that are composed of others: concatenated, shifted, with an element that is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.tir.builder import Index
from ...dialects.tir.extents import Extent, Shape
from .builder import Buffer, KernelBuilder, Scheduled, Store, Tensor

__all__ = ["At", "Concatenated", "ResultTensor", "Shifted", "scheduled"]


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
        """Return each part with its start along the axis."""
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
    """A tensor that has `source` at `start` along an axis; may be read in that range only."""

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

    A dimension of size 1 has one index, however it is written.
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
    """A result of the kernel, or what it is computed from element by element, whose elements are
    computed by `loops`."""

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
    """Return the result of `op`, which `loops` compute: where the kernel stores its result, if that
    depends on one element of it at a time, else into a buffer. `shape` may have merged
    dimensions."""
    # Its loops call `store` themselves; other users in the kernel would have to find the element of
    # a loop nest at each read, so it is in a buffer.
    value = op.results[0]
    if b.in_place.get(value) == shape or all(
        isinstance(use.operation, ReturnOp) for use in value.uses
    ):
        return ResultTensor(shape, element, loops)
    buffer = b.alloc(shape, element)
    loops(lambda index, value: b.store(value, buffer, index))
    whole = b.shape_of(op.results[0])
    return Buffer(whole, element, b.view(buffer, whole))
