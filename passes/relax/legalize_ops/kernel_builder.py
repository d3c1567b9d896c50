"""The builder of kernels, and the tensors that legalizations combine.

A legalization returns the results of an operation as lazy tensors: nothing is computed before an
element is read, and the element is computed again at each read. Chains of operations thus fuse
without further work; a tensor that is read several times has to be put into a buffer first
(`KernelBuilder.buffered`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.shapes import Shape
from ....dialects.tir.builder import Index, TirBuilder
from ....dialects.tir.ops import ForKind, PrimFuncOp
from ....dialects.tir.target import DEFAULT, Target
from .scalars import signless

__all__ = [
    "Buffer",
    "Element",
    "Elements",
    "Finish",
    "KernelBuilder",
    "Legalization",
    "Scheduled",
    "Tensor",
    "broadcast_index",
]


CHANNELS = 16
"""Up to this many channels are computed one after the other, and share buffers."""


class KernelBuilder(TirBuilder):
    """A builder that also knows which tensors have been computed already."""

    def __init__(
        self,
        func: PrimFuncOp,
        target: Target = DEFAULT,
        *,
        bits: int = 32,
        groups: Sequence[Sequence[int]] | None = None,
    ):
        super().__init__(func)
        self.target = target
        self.lanes = target.lanes(bits)
        """The number of elements of a vector: as many as a register has of `bits` bits each."""
        self.groups = groups
        """The groups of dimensions that the kernel merges into one, counted from the last, -1; None
        if it merges none. Operands of element-wise operations and of concatenations are merged; a
        convolution with windows of one element has to return its result merged."""
        self.bound: dict[Tensor, Tensor] = {}
        """Tensor -> a tensor with the same elements that is cheaper to read, such as a buffer."""

    def number(self, value: float | int | bool, type: Attribute) -> SSAValue:
        """Return a constant of `type`; NoKernel if kernels do not compute with that type."""
        return super().number(value, signless(type))

    def read(self, tensor: Tensor, index: Sequence[Index]) -> SSAValue:
        """Return the element of `tensor` at `index`."""
        return self.bound.get(tensor, tensor).read(self, index)

    def fold(
        self,
        extents: Sequence[int],
        start: SSAValue,
        function: Callable[[TirBuilder, SSAValue, SSAValue], SSAValue],
        element: Callable[[Sequence[Index]], SSAValue],
        *,
        contiguous: bool,
    ) -> SSAValue:
        """Write loops over `extents` that combine all elements by `function`, which is associative
        and has the identity `start`; return the result.

        With `contiguous`, elements along the last dimension are next to each other in memory: each
        lane of a vector then combines every `lanes`-th of them, and the lanes are combined at the
        end. That changes the order of floating-point sums.
        """
        if not contiguous or not extents or extents[-1] < 2 * self.lanes:
            return self.accumulate(extents, start, lambda x, i: function(self, x, element(i)))
        *outer, last = extents
        rest = last % self.lanes
        numbers = self.alloc((self.lanes,), start.type, "local")

        def step(lane: Index, index: Sequence[Index]) -> None:
            number = function(self, self.load(numbers, [lane]), element(index))
            self.store(number, numbers, [lane])

        with self.loop(self.lanes, ForKind.VECTORIZED) as lane:
            self.store(start, numbers, [lane])
        with self.loops(outer) as index:
            with (
                self.loop(last // self.lanes) as chunk,
                self.loop(self.lanes, ForKind.VECTORIZED) as lane,
            ):
                step(lane, [*index, self.add(self.mul(chunk, self.lanes), lane)])
            if rest:
                with self.loop(rest, ForKind.VECTORIZED) as lane:
                    step(lane, [*index, self.add(last - rest, lane)])
        return self.accumulate(
            (self.lanes,), start, lambda x, lane: function(self, x, self.load(numbers, lane))
        )

    @contextmanager
    def covering(self, extent: int, lanes: int) -> Generator[Index]:
        """Build the body of a vectorized loop over 0, ..., `extent - 1` without a mask.

        The last vector overlaps the one before it, and vectors are shorter than `lanes` if `extent`
        is: the body must not depend on how often it runs for an index.
        """
        lanes = min(lanes, 1 << extent.bit_length() - 1) if extent > 0 else 1
        with self.loop(-(-extent // lanes)) as chunk:
            start = self.mul(chunk, lanes)
            if extent % lanes:
                start = self.min(start, extent - lanes)
            with self.loop(lanes, ForKind.VECTORIZED) as lane:
                yield self.add(start, lane)

    @contextmanager
    def channels(
        self, images: int, channels: int
    ) -> Generator[tuple[Index, AbstractContextManager[Index]]]:
        """Build a parallel loop over images and groups of channels; yield the image, and the loop
        over the channels of a group, which may share buffers."""
        together = max(n for n in range(1, CHANNELS + 1) if channels % n == 0)
        with self.loops((images, channels // together), ForKind.PARALLEL) as (image, group):
            yield image, self.loop(together, min=self.mul(group, together))

    def store_all(self, tensor: Tensor, buffer: SSAValue) -> None:
        """Write loops that store all elements of `tensor` into `buffer`, of the same shape."""
        with self.loops(tensor.shape) as index:
            self.store(self.read(tensor, index), buffer, index)

    def fill(
        self, buffer: SSAValue, shape: Sequence[int], element: Attribute, value: float = 0
    ) -> None:
        """Write a loop that sets all elements of `buffer`, of `shape`, to `value`."""
        flat = self.view(buffer, (prod(shape),))
        with self.elements([prod(shape)], self.lanes) as index:
            self.store(self.number(value, element), flat, index)

    def reshaped(self, tensor: Tensor, shape: Shape) -> Buffer:
        """Return the elements of `tensor` in a buffer of `shape`."""
        buffer = self.view(self.buffered(tensor).buffer, shape)
        return Buffer(shape, tensor.element, buffer)

    def buffered(self, tensor: Tensor) -> Buffer:
        """Return `tensor` in a buffer; loops that compute it are written unless it is in one."""
        tensor = self.bound.get(tensor, tensor)
        if isinstance(tensor, Buffer):
            return tensor
        buffer = self.alloc(tensor.shape, tensor.element)
        self.store_all(tensor, buffer)
        self.bound[tensor] = result = Buffer(tensor.shape, tensor.element, buffer)
        return result


@dataclass(eq=False)
class Tensor(ABC):
    """A tensor of static shape."""

    shape: Shape
    element: Attribute
    """The type of the elements."""

    @abstractmethod
    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        """Return the element at `index`, computed by operations that `b` writes."""


@dataclass(eq=False)
class Buffer(Tensor):
    """A tensor in memory, in row-major order."""

    buffer: SSAValue

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return b.load(self.buffer, index)


Finish: TypeAlias = Callable[[Sequence[Index], SSAValue], None]
"""A function that writes the use of the element at an index."""


@dataclass(eq=False)
class Scheduled(Tensor):
    """A tensor that has loops of its own, which compute all elements faster than single ones."""

    @abstractmethod
    def write(self, b: KernelBuilder, finish: Finish) -> None:
        """Write loops that compute all elements, and call `finish` for each."""


Element: TypeAlias = Callable[[KernelBuilder, Sequence[Index]], SSAValue]
"""A function that returns the element at an index."""


@dataclass(eq=False)
class Elements(Tensor):
    """A tensor whose elements are computed independently, each time they are read."""

    compute: Element

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        return self.compute(b, index)


Legalization: TypeAlias = Callable[..., Tensor | tuple[Tensor, ...]]
"""A function of an operation, the builder and the operands that returns the result, or a tuple of
results; NoKernel if kernels do not support the operation."""


def broadcast_index(b: KernelBuilder, index: Sequence[Index], shape: Shape) -> list[Index]:
    """Return the index in a tensor of `shape` of the element at `index` of its broadcast form."""
    last = index[len(index) - len(shape) :]
    return [0 if size == 1 else i for i, size in zip(last, shape, strict=True)]
