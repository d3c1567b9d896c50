"""The parameters of sliding windows: steps, sizes and padding, of known and of unknown sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import SSAValue

from ......dialects.relax.shapes import Shape
from ......dialects.relax.types import with_shape
from ...errors import Unsupported
from ...node import Node
from ..expression import Expression, constant, size_along

__all__ = [
    "OnnxWindow",
    "kernel_shape",
    "known",
    "output_shape",
    "padded",
    "resized",
    "steps",
    "symmetric",
    "transposed_padding",
    "window_begins",
    "window_padding",
    "windowed_axes",
    "with_whole_windows",
]

AUTO_PAD = {mode: mode for mode in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")}


@dataclass(frozen=True)
class OnnxWindow:
    """A sliding window: along each axis its size, its steps, and the steps within it."""

    size: Sequence[int]
    strides: Sequence[int]
    dilation: Sequence[int]

    @classmethod
    def of(cls, node: Node, size: Sequence[int]) -> Self:
        """Return the window of this size with the steps of a node."""
        return cls(size, *(steps(node, name, len(size)) for name in ("strides", "dilations")))

    @classmethod
    def of_pooling(cls, node: Node, x: SSAValue) -> Self:
        """Return the window of a node that pools `x`."""
        return cls.of(node, node.per_axis("kernel_shape", node.rank(x) - 2, 1))

    def axes(self, begins: Sequence[int], ends: Sequence[int]) -> list[int]:
        """Return the axes along which windows with this padding are not single elements."""
        alone = 1, 1, 0, 0
        axes = zip(self.size, self.strides, begins, ends, strict=True)
        return [i for i, axis in enumerate(axes) if axis != alone]


def steps(node: Node, name: str, rank: int) -> list[int]:
    """Return the steps of a window, or within it, along each axis: positive numbers, by default
    1."""
    numbers = node.per_axis(name, rank, 1)
    if min(numbers) < 1:
        raise Unsupported(f"{name} = {numbers}, expected positive numbers")
    return numbers


def kernel_shape(node: Node, weight: SSAValue, rank: int) -> Shape:
    """Return the size of the window of `rank` dimensions, by default that of the weight."""
    sizes = node.shape(weight)[2:]
    if len(sizes) != rank:
        raise Unsupported(f"the weight has {node.rank(weight)} dimensions, expected {rank + 2}")
    if node.given("kernel_shape"):
        sizes = tuple(node.per_axis("kernel_shape", len(sizes), 1))
    if DYNAMIC_INDEX in sizes and node.string("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise Unsupported("the size of the window is not known")
    return sizes


def windowed_axes(window: OnnxWindow, padding: Sequence[int]) -> list[int]:
    """Return up to three spatial axes along which a window slides: all, or of more than three those
    along which it is no single element; Unsupported if these are more."""
    rank = len(window.size)
    axes = [*range(rank)] if rank <= 3 else window.axes(padding[:rank], padding[rank:]) or [0]
    if not 0 < len(axes) <= 3:
        raise Unsupported(f"windows along {len(axes)} axes, expected 1, 2 or 3")
    return axes


# Padding that is known


def window_padding(node: Node, x: SSAValue, window: OnnxWindow) -> list[int | None]:
    """Return the padding of a sliding window over the spatial dimensions: all begins, then all
    ends; None where it depends on a size that is not known."""
    rank, mode = len(window.size), node.choice("auto_pad", AUTO_PAD, "NOTSET")
    if mode == "NOTSET":
        return [*node.per_axis("pads", 2 * rank, 0)]
    if mode == "VALID":
        return [0] * (2 * rank)
    totals = map(same_total, node.shape(x)[2:], window.size, window.strides, window.dilation)
    return split_padding([*totals], mode)


def same_total(size: int, extent: int, stride: int, dilation: int) -> int | None:
    """Return the total padding by which a window has size / stride places, rounded up; None if it
    depends on a size that is not known."""
    reach = (extent - 1) * dilation
    if size == DYNAMIC_INDEX and stride > 1 and reach > 0:
        return None
    over = 0 if size == DYNAMIC_INDEX else (size - 1) % stride
    return max(reach - over, 0)


def split_padding(totals: Sequence[int | None], mode: str) -> list[int | None]:
    """Split the total padding into both sides; SAME_UPPER puts the odd element at the end."""
    smaller = [None if t is None else t // 2 for t in totals]
    greater = [None if t is None else t - t // 2 for t in totals]
    return [*smaller, *greater] if mode == "SAME_UPPER" else [*greater, *smaller]


def symmetric(padding: list[int]) -> list[int]:
    """Return the padding in relax's form: given once if it is the same on both sides."""
    half = len(padding) // 2
    return padding[:half] if padding[:half] == padding[half:] else padding


# Padding that is computed


def padded(
    node: Node, x: SSAValue, window: OnnxWindow, value: float = 0
) -> tuple[SSAValue, list[int]]:
    """Return the data of a sliding window and its padding.

    Along axes where the padding depends on a size that is not known, the data is padded with
    `value`: SAME_UPPER and SAME_LOWER of unknown size.
    """
    padding = window_padding(node, x, window)
    computed = [i for i in range(len(window.size)) if padding[i] is None]
    if computed:
        widths = same_widths(node, x, computed, window)
        axes = node.array([i + 2 for i in computed], i64)
        x = node.op("dyn.pad", x, widths, node.like(value, x), axes)
    return x, [width or 0 for width in padding]


def window_begins(node: Node, x: SSAValue, window: OnnxWindow) -> list[int | Expression]:
    """Return the padding before each spatial dimension; a scalar i64 where it depends on a size
    that is not known."""
    begins = window_padding(node, x, window)[: len(window.size)]
    computed = [i for i, width in enumerate(begins) if width is None]
    widths = iter(
        [
            Expression(node, same_widths(node, x, computed, window)).at(0, i)
            for i in range(len(computed))
        ]
    )
    return [next(widths) if width is None else width for width in begins]


def same_widths(node: Node, x: SSAValue, axes: Sequence[int], window: OnnxWindow) -> SSAValue:
    """Return the widths of SAME padding of some spatial axes: the begins, then the ends."""
    reaches = constant(node, [(window.size[i] - 1) * window.dilation[i] for i in axes])
    strides = constant(node, [window.strides[i] for i in axes])
    sizes = Expression(node, node.op("shape_of", x)).take(constant(node, [a + 2 for a in axes]), 0)
    total = (reaches - (sizes - 1) % strides).op("maximum", 0)
    smaller = total // 2
    sides = [smaller, total - smaller]
    if node.choice("auto_pad", AUTO_PAD, "NOTSET") == "SAME_LOWER":
        sides.reverse()
    return sides[0].concat(sides[1], axis=0).value


def with_whole_windows(node: Node, x: SSAValue, window: OnnxWindow) -> SSAValue:
    """Return the data of a pooling with zeros at its end, so that with `ceil_mode` no window
    reaches beyond the padding. With SAME padding none does."""
    padding = window_padding(node, x, window)
    if not node.bool("ceil_mode") or None in padding:
        return x
    rank, sides = len(window.size), known(padding)
    missing = [beyond_padding(Expression(node, x), window, sides, i) for i in range(rank)]
    first, *others = (width.reshape(1) for width in missing)
    ends = first.concat(*others, axis=0).value
    if (widths := node.importer.array(ends)) is None:
        axes, zeros = node.array(range(2, rank + 2), i64), node.array([0] * rank, i64)
        both = node.op("concatenate", zeros, ends, axis=0)
        return node.op("dyn.pad", x, both, node.like(0, x), axes)
    pairs = [width for end in (0, 0, *widths.tolist()) for width in (0, end)]
    return node.op("nn.pad", x, pad_width=pairs) if any(pairs) else x


def beyond_padding(x: Expression, window: OnnxWindow, padding: list[int], i: int) -> Expression:
    """Return the number of positions by which the last window along spatial axis `i` reaches beyond
    the padding. With `ceil_mode` it starts before the padding at the end."""
    stride, span = window.strides[i], (window.size[i] - 1) * window.dilation[i] + 1
    end = size_along(x, i + 2) + padding[i]
    padded = end + padding[i + len(window.size)]
    steps = ((padded - span + stride - 1) // stride).op("minimum", (end - 1) // stride)
    return (steps * stride + span - padded).op("maximum", 0)


# Transposed convolutions


def transposed_padding(
    node: Node, x: SSAValue, window: OnnxWindow, extra: list[int]
) -> tuple[list[int], list[int]] | None:
    """Return the padding and the output padding of a transposed convolution; an output shape or
    auto_pad determines the padding. None if it depends on sizes that are not known."""
    size, strides, rank = window.size, window.strides, len(window.size)
    wanted = output_shape(node, rank)
    mode = node.choice("auto_pad", AUTO_PAD, "NOTSET")
    if wanted is None and mode in ("NOTSET", "VALID"):
        return known(window_padding(node, x, window)), extra
    sizes = node.shape(x)[2:]
    if DYNAMIC_INDEX in size:
        raise Unsupported("the padding depends on the size of the window, which is not known")
    # The size without padding, less the wanted one: with auto_pad the input's size cancels out.
    reaches = [(size[i] - 1) * window.dilation[i] for i in range(rank)]
    beyond = [extra[i] + reaches[i] + 1 - strides[i] for i in range(rank)]
    if wanted is None:
        totals = beyond
    elif DYNAMIC_INDEX in sizes:
        return None
    else:
        totals = [beyond[i] + strides[i] * sizes[i] - wanted[i] for i in range(rank)]
    # A greater output is padded at its end.
    extra = [e + max(-total, 0) for e, total in zip(extra, totals, strict=True)]
    totals = [max(total, 0) for total in totals]
    return known(split_padding(totals, transposed_mode(mode))), extra


def known(padding: Sequence[int | None]) -> list[int]:
    return [width for width in padding if width is not None]


def output_shape(node: Node, rank: int) -> list[int] | None:
    """Return the spatial sizes that a transposed convolution is to have, if they are given."""
    return node.per_axis("output_shape", rank, 0) if node.given("output_shape") else None


def transposed_mode(mode: str) -> str:
    """Return the side of a transposed convolution that loses the odd element."""
    return "SAME_UPPER" if mode == "SAME_UPPER" else "SAME_LOWER"


def resized(node: Node, y: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """Cut a transposed convolution without padding to the spatial `sizes`, or pad its end."""
    rank = len(sizes)
    axes, wanted = node.array(range(2, rank + 2), i64), constant(node, sizes)
    zero = constant(node, [0] * rank)
    extents = Expression(node, node.op("shape_of", y)).slice(0, 2, rank + 2)
    missing = (wanted - extents).op("maximum", zero)
    y = node.op("dyn.pad", y, zero.concat(missing, axis=0).value, node.like(0, y), axes)
    total = (extents - wanted).op("maximum", zero)
    begin = total // 2
    if transposed_mode(node.choice("auto_pad", AUTO_PAD, "NOTSET")) == "SAME_LOWER":
        begin = total - begin
    ones = node.array([1] * rank, i64)
    y = node.op("dyn.strided_slice", y, begin.value, (begin + wanted).value, axes, ones)
    return node.retyped(y, with_shape(node.type(y), (*node.shape(y)[:2], *sizes)))
