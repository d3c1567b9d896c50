"""The sums of depthwise convolutions: products of the taps of each window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, SSAValue

from ....dialects.relax.windows.windows import Window
from ....dialects.tir.builder import Index
from ....dialects.tir.extents import Shape
from ..builder import KernelBuilder, Scheduled, Tensor
from ..contraction.contraction import of_total
from ..layouts import known
from ..scalars import convert, multiply_add
from .counts import count_of, fits

__all__ = ["DepthwiseSums"]


@dataclass(eq=False)
class DepthwiseSums(Scheduled):
    """A convolution of data (NC...) whose output channels have one input channel each."""

    total: Attribute
    """The type of products and sums."""
    data: Tensor
    kernel: Tensor
    """The taps of each output channel, in row-major order."""
    windows: Sequence[Window]
    """The windows of the rows and columns, at least two."""
    index_of: Callable[[KernelBuilder, Index, Index, Sequence[Index]], list[Index]]
    """Return the index of the element at an image, an output channel and a position, which is the
    row-major one if the kernel merges the spatial dimensions."""
    place_of: Callable[[KernelBuilder, Sequence[Index]], tuple[Index, Index, list[Index]]]
    """The inverse of `index_of`; the position has all dimensions."""
    merged: bool
    """True if the kernel merges the spatial dimensions."""

    @property
    def bits(self) -> int:
        """The bits of a sum in memory."""
        assert isinstance(self.total, FixedBitwidthType)
        return max(8, self.total.bitwidth)

    def lanes(self, b: KernelBuilder) -> int:
        """Return the sums that a vector has."""
        return b.target.lanes(self.bits)

    def out(self, b: KernelBuilder) -> Shape:
        """Return the spatial extents of the result."""
        pairs = zip(self.windows, self.data.shape[2:], strict=True)
        return tuple(count_of(b, v, n) for v, n in pairs)

    @property
    def per_channel(self) -> int:
        """The output channels of an input channel."""
        return known(self.kernel.shape[0]) // known(self.data.shape[1])

    def read(self, b: KernelBuilder, index: Sequence[Index]) -> SSAValue:
        image, output, place = self.place_of(b, index)
        channel = output // self.per_channel
        zero = b.number(0, self.total)

        def step(acc: SSAValue, taps: Sequence[Index]) -> SSAValue:
            source = [
                i * v.stride + tap * v.dilation - v.before
                for i, tap, v in zip(place, taps, self.windows, strict=True)
            ]
            inside = self.inside(b, source, self.windows)

            def value() -> SSAValue:
                return convert(b, b.read(self.data, [image, channel, *source]), self.total)

            element = b.choose(inside, value, lambda: zero)
            return multiply_add(b, acc, self.weight(b, output, taps), element)

        sizes = [v.size for v in self.windows]
        return of_total(b, b.accumulate(sizes, zero, step), self.element)

    def inside(
        self, b: KernelBuilder, source: Sequence[Index], windows: Sequence[Window]
    ) -> list[SSAValue]:
        """Return the conditions for the first indices of an element, along `windows`, to be in the
        data. They may be in the padding, or with strides in a phase that ends before others."""
        # `zip` may end early: `copy_rows` gives the indices of all dimensions but the last.
        extents = zip(source, self.data.shape[2:], windows)
        return [
            condition
            for i, extent, window in extents
            if window.stride > 1 or not fits(b, window, extent)
            for condition in b.inside_bounds(i, 0, extent)
        ]

    def weight(self, b: KernelBuilder, output: Index, taps: Sequence[Index]) -> SSAValue:
        """Return the weight of an output channel at a tap."""
        position = b.flat(taps, [v.size for v in self.windows])
        return convert(b, b.read(self.kernel, [output, position]), self.total)
