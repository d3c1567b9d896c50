"""Converters of neural network operators: convolutions, pooling, matrix products, dropout."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1
from xdsl.ir import SSAValue

from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import Element, shape_of
from .errors import Unsupported
from .node import Converter, Converters, Node
from .window_places import places_of_maxima

__all__ = ["NN", "steps", "window_padding"]

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_KERNELS = {1: "OIW", 2: "OIHW", 3: "OIDHW"}
_TRANSPOSED_KERNELS = {1: "IOW", 2: "IOHW", 3: "IODHW"}


AUTO_PAD = {mode: mode for mode in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")}


def spatial_rank(node: Node, x: SSAValue) -> int:
    """Return the number of spatial dimensions: 1, 2 or 3."""
    rank = node.rank(x) - 2
    if rank not in _LAYOUTS:
        raise Unsupported(f"the input has {rank + 2} dimensions; supported are 3, 4 and 5")
    return rank


def steps(node: Node, name: str, rank: int) -> list[int]:
    """Return the steps of a window, or within it, along each axis: positive numbers, by default
    1."""
    numbers = node.per_axis(name, rank, 1)
    if min(numbers) < 1:
        raise Unsupported(f"{name} = {numbers}, expected positive numbers")
    return numbers


def window_padding(
    node: Node, x: SSAValue, window: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> list[int]:
    """Return the padding of a sliding window over the spatial dimensions: all begins, then all
    ends."""
    rank, mode = len(window), node.choice("auto_pad", AUTO_PAD, "NOTSET")
    if mode == "NOTSET":
        return node.per_axis("pads", 2 * rank, 0)
    if mode == "VALID":
        return [0] * (2 * rank)
    sizes = node.shape(x)[2:]
    if DYNAMIC_INDEX in sizes:
        raise Unsupported(f"auto_pad = {mode} of an input whose size is not known")
    totals = [
        max((-(-size // stride) - 1) * stride + (extent - 1) * d + 1 - size, 0)
        for size, extent, stride, d in zip(sizes, window, strides, dilation, strict=True)
    ]
    return split_padding(totals, mode)


def split_padding(totals: Sequence[int], mode: str) -> list[int]:
    """Split the total padding into both sides; SAME_UPPER puts the odd element at the end."""
    smaller, greater = [t // 2 for t in totals], [t - t // 2 for t in totals]
    return [*smaller, *greater] if mode == "SAME_UPPER" else [*greater, *smaller]


def symmetric(padding: list[int]) -> list[int]:
    """Return the padding in relax's form: given once if it is the same on both sides."""
    half = len(padding) // 2
    return padding[:half] if padding[:half] == padding[half:] else padding


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


def with_bias(node: Node, y: SSAValue, index: int) -> SSAValue:
    """Add the bias, one element per channel, if the node has one."""
    if not node.has(index):
        return y
    bias = node.input(index)
    return node.op("add", y, node.along_channels(bias, node.rank(y)))


# Convolutions


def conv(node: Node) -> Sequence[SSAValue]:
    return [with_bias(node, convolved(node, node.input(0), node.input(1)), 2)]


def convolved(
    node: Node, x: SSAValue, weight: SSAValue, out_dtype: Element | None = None
) -> SSAValue:
    """Return the convolution without bias, with sums of the type `out_dtype` if it is given."""
    rank = spatial_rank(node, x)
    strides = steps(node, "strides", rank)
    dilation = steps(node, "dilations", rank)
    window = kernel_shape(node, weight, rank)
    padding = window_padding(node, x, window, strides, dilation)
    return node.op(
        f"nn.conv{rank}d",
        x,
        weight,
        strides=strides,
        padding=symmetric(padding),
        dilation=dilation,
        groups=node.int("group", 1),
        data_layout=_LAYOUTS[rank],
        kernel_layout=_KERNELS[rank],
        out_dtype=out_dtype,
    )


def conv_transpose(node: Node) -> Sequence[SSAValue]:
    x, weight = node.input(0), node.input(1)
    rank = spatial_rank(node, x)
    strides = steps(node, "strides", rank)
    dilation = steps(node, "dilations", rank)
    extra = node.per_axis("output_padding", rank, 0)
    window = kernel_shape(node, weight, rank)
    padding, extra = transposed_padding(node, x, window, strides, dilation, extra)
    y = node.op(
        f"nn.conv{rank}d_transpose",
        x,
        weight,
        strides=strides,
        padding=symmetric(padding),
        output_padding=extra,
        dilation=dilation,
        groups=node.int("group", 1),
        data_layout=_LAYOUTS[rank],
        kernel_layout=_TRANSPOSED_KERNELS[rank],
    )
    return [with_bias(node, y, 2)]


def transposed_padding(
    node: Node,
    x: SSAValue,
    window: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    extra: list[int],
) -> tuple[list[int], list[int]]:
    """Return the padding and the output padding of a transposed convolution; an output shape or
    auto_pad determines the padding."""
    rank = len(window)
    wanted = node.per_axis("output_shape", rank, 0) if node.given("output_shape") else None
    mode = node.choice("auto_pad", AUTO_PAD, "NOTSET")
    if wanted is None and mode in ("NOTSET", "VALID"):
        return window_padding(node, x, window, strides, dilation), extra
    sizes = node.shape(x)[2:]
    if DYNAMIC_INDEX in (*sizes, *window):
        raise Unsupported("the padding depends on sizes that are not known")
    if wanted is None:
        wanted = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    totals = [
        strides[i] * (sizes[i] - 1) + extra[i] + (window[i] - 1) * dilation[i] + 1 - wanted[i]
        for i in range(rank)
    ]
    # A greater output is padded at its end.
    extra = [e + max(-total, 0) for e, total in zip(extra, totals, strict=True)]
    totals = [max(total, 0) for total in totals]
    return split_padding(totals, "SAME_UPPER" if mode == "SAME_UPPER" else "SAME_LOWER"), extra


# Pooling


def pool(kind: str) -> Converter:
    """Return a converter of pooling: `kind` is `max` or `avg`."""

    def convert(node: Node) -> Sequence[SSAValue]:
        if kind == "max":
            return max_pool(node)
        counts = node.bool("count_include_pad")
        return [pooled(node, node.input(0), kind, count_include_pad=counts)]

    return convert


def max_pool(node: Node) -> Sequence[SSAValue]:
    """Convert MaxPool; its second output is the place of each maximum."""
    x = node.input(0)
    y = pooled(node, x, "max")
    if not node.wants(1):
        return [y]
    rank, out = spatial_rank(node, x), node.static_shape(y)[2:]
    window = node.per_axis("kernel_shape", rank, 1)
    strides, dilation = steps(node, "strides", rank), steps(node, "dilations", rank)
    padding = window_padding(node, x, window, strides, dilation)
    return [y, places_of_maxima(node, x, out, window, strides, dilation, padding[:rank])]


def pooled(node: Node, x: SSAValue, kind: str, **properties: bool) -> SSAValue:
    """Return the maximum or mean of each window."""
    rank = spatial_rank(node, x)
    window = node.per_axis("kernel_shape", rank, 1)
    strides = steps(node, "strides", rank)
    dilation = steps(node, "dilations", rank)
    padding = window_padding(node, x, window, strides, dilation)
    return node.op(
        f"nn.{kind}_pool{rank}d",
        x,
        pool_size=window,
        strides=strides,
        dilation=dilation,
        padding=symmetric(padding),
        ceil_mode=node.bool("ceil_mode"),
        layout=_LAYOUTS[rank],
        **properties,
    )


def exponent(node: Node) -> int:
    """Return the p of a p-norm."""
    if (p := node.int("p", 2)) < 1:
        raise Unsupported(f"p = {p}")
    return p


def lp_pool(node: Node) -> Sequence[SSAValue]:
    """Convert LpPool: the p-norm of each window, (sum of |x| ** p) ** 1/p."""
    x, p = node.input(0), exponent(node)
    powers = node.op("power", node.op("abs", x), node.like(p, x))
    mean = pooled(node, powers, "avg", count_include_pad=True)
    count = prod(node.ints("kernel_shape") or [])
    total = node.op("multiply", mean, node.like(count, x))
    return [node.op("power", total, node.like(1 / p, x))]


def global_pool(kind: str) -> Converter:
    """Return a converter of pooling over each channel: `kind` is `max` or `avg`."""

    def convert(node: Node) -> Sequence[SSAValue]:
        x = node.input(0)
        shape = shape_of(node.type(x))
        if shape is not None and len(shape) == 4:
            return [node.op(f"nn.global_{kind}_pool2d", x)]
        axes = [*range(2, node.rank(x))]
        return [node.op("max" if kind == "max" else "mean", x, axis=axes, keepdims=True)]

    return convert


def global_lp_pool(node: Node) -> Sequence[SSAValue]:
    x, p = node.input(0), exponent(node)
    powers = node.op("power", node.op("abs", x), node.like(p, x))
    total = node.op("sum", powers, axis=[*range(2, node.rank(x))], keepdims=True)
    return [node.op("power", total, node.like(1 / p, x))]


# Matrix products


def gemm(node: Node) -> Sequence[SSAValue]:
    """Convert Gemm, alpha * A * B + beta * C; with B transposed it is a dense layer."""
    a, b = node.input(0), node.input(1)
    alpha, beta = node.float("alpha"), node.float("beta")
    if node.bool("transA"):
        a = node.op("transpose", a)
    y = node.op("nn.dense", a, b) if node.bool("transB") else node.op("matmul", a, b)
    if alpha != 1:
        y = node.op("multiply", y, node.like(alpha, y))
    if not node.has(2):
        return [y]
    c = node.input(2)
    if beta != 1:
        c = node.op("multiply", c, node.like(beta, y))
    return [node.op("add", y, c)]


def matmul(node: Node) -> Sequence[SSAValue]:
    return [node.op("matmul", node.input(0), node.input(1))]


def einsum(node: Node) -> Sequence[SSAValue]:
    subscripts = node.string("equation").replace(" ", "")
    return [node.op("einsum", *node.all_inputs(), subscripts=subscripts)]


# Blocks of space and depth


def depth_to_space(node: Node) -> Sequence[SSAValue]:
    mode = node.string("mode", "DCR")
    block = node.int("blocksize")
    return [node.op("nn.depth_to_space", node.input(0), block_size=block, mode=mode)]


def space_to_depth(node: Node) -> Sequence[SSAValue]:
    if node.string("mode", "DCR") != "DCR":
        raise Unsupported(f"mode {node.string('mode')}")
    return [node.op("nn.space_to_depth", node.input(0), block_size=node.int("blocksize"))]


def dropout(node: Node) -> Sequence[SSAValue | None]:
    """Convert Dropout at inference: the identity; the mask is all true."""
    x = node.input(0)
    if node.opset < 7 and not node.bool("is_test"):
        raise Unsupported("attribute is_test = 0: dropout in training is random")
    rate: float | None = node.float("ratio", 0.5) if node.opset < 12 else 0.5
    if node.opset >= 12:
        if node.has(1):
            rate = node.number_of(1)
        if node.has(2) and rate != 0:
            training = node.number_of(2)
            if training is None or training:
                raise Unsupported("training_mode is not false: dropout in training is random")
    y = x if rate == 0 or rate is None else node.op("nn.dropout", x, rate=rate)
    if not node.wants(1):
        return [y]
    mask_element: Element = i1 if node.opset >= 10 else node.element(x)
    return [y, node.full(1, mask_element, node.static_shape(x))]


NN: Converters = {
    "Dropout": dropout,
    "AveragePool": pool("avg"),
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "DepthToSpace": depth_to_space,
    "Einsum": einsum,
    "Gemm": gemm,
    "GlobalAveragePool": global_pool("avg"),
    "GlobalLpPool": global_lp_pool,
    "GlobalMaxPool": global_pool("max"),
    "LpPool": lp_pool,
    "MatMul": matmul,
    "MaxPool": pool("max"),
    "SpaceToDepth": space_to_depth,
}
