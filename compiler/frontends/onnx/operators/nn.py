"""Converters of neural network operators: convolutions, pooling, matrix products and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, i1, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import shape_text
from .....dialects.relax.types import Element, shape_of
from ....interpreters.arrays import bounds
from ..errors import Unsupported
from ..node import Converter, Converters, Node, direct
from .expression import Expression, inputs
from .linear_algebra import einsum
from .windows import (
    OnnxWindow,
    kernel_shape,
    output_shape,
    padded,
    places_of_maxima,
    resized,
    symmetric,
    transposed_padding,
    window_begins,
    windowed_axes,
    with_whole_windows,
)

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_KERNELS = {1: "OIW", 2: "OIHW", 3: "OIDHW"}
_TRANSPOSED_KERNELS = {1: "IOW", 2: "IOHW", 3: "IODHW"}


def spatial_rank(rank: int) -> int:
    """Return the number of spatial dimensions of a tensor: 1, 2 or 3."""
    if rank - 2 not in _LAYOUTS:
        raise Unsupported(f"the input has {rank} dimensions; supported are 3, 4 and 5")
    return rank - 2


def convolution_data(
    node: Node, x: SSAValue, weight: SSAValue, *, transposed: bool = False
) -> tuple[SSAValue, int]:
    """Return the data of a convolution and its number of spatial dimensions; an unknown rank and
    unknown channels are those of the weight."""
    if shape_of(node.type(x)) is None:
        x = node.with_rank(x, node.rank(weight))
    rank, kernel = node.rank(x) - 2, shape_of(node.type(weight))
    if transposed or rank < 1:  # other convolutions may have more axes, and slide along three
        spatial_rank(rank + 2)
    if node.shape(x)[1] == DYNAMIC_INDEX and kernel is not None and len(kernel) > 2:
        groups = 1 if transposed else node.int("group", 1)
        if (inputs := kernel[0 if transposed else 1]) != DYNAMIC_INDEX:
            space = [DYNAMIC_INDEX] * rank
            x = node.narrowed(x, (DYNAMIC_INDEX, inputs * groups, *space))
    return x, rank


def with_bias(node: Node, y: SSAValue, index: int) -> SSAValue:
    """Add the bias, one element per channel, if the node has one."""
    if not node.has(index):
        return y
    bias = node.input(index)
    return node.op("add", y, node.along_channels(bias, node.rank(y)))


# Convolutions


def conv(node: Node) -> SSAValue:
    return with_bias(node, convolved(node, node.input(0), node.input(1)), 2)


def convolved(
    node: Node, x: SSAValue, weight: SSAValue, out_dtype: Element | None = None
) -> SSAValue:
    """Return the convolution without bias, with sums of the type `out_dtype` if it is given."""
    x, rank = convolution_data(node, x, weight)
    window = OnnxWindow.of(node, kernel_shape(node, weight, rank))
    x, padding = padded(node, x, window)
    axes = windowed_axes(window, padding)
    others = [axis + 2 for axis in range(rank) if axis not in axes]
    kernel = Expression(node, weight).squeeze(*others).value if others else weight

    def convolve(x: SSAValue) -> SSAValue:
        return node.op(
            f"nn.conv{len(axes)}d",
            x,
            kernel,
            strides=[window.strides[i] for i in axes],
            padding=symmetric([padding[i + side] for side in (0, rank) for i in axes]),
            dilation=[window.dilation[i] for i in axes],
            groups=node.int("group", 1),
            data_layout=_LAYOUTS[len(axes)],
            kernel_layout=_KERNELS[len(axes)],
            out_dtype=out_dtype,
        )

    return of_planes(Expression(node, x), axes, convolve, channels=True) if others else convolve(x)


def conv_transpose(node: Node) -> SSAValue:
    x, weight = node.input(0), node.input(1)
    x, rank = convolution_data(node, x, weight, transposed=True)
    window = OnnxWindow.of(node, kernel_shape(node, weight, rank))
    extra = node.per_axis("output_padding", rank, 0)
    given = transposed_padding(node, x, window, extra)
    padding, extra = ([0] * 2 * rank, extra) if given is None else given
    y = node.op(
        f"nn.conv{rank}d_transpose",
        x,
        weight,
        strides=window.strides,
        padding=symmetric(padding),
        output_padding=extra,
        dilation=window.dilation,
        groups=node.int("group", 1),
        data_layout=_LAYOUTS[rank],
        kernel_layout=_TRANSPOSED_KERNELS[rank],
    )
    if given is None:
        y = resized(node, y, output_shape(node, rank) or [])
    return with_bias(node, y, 2)


# Pooling


def average_pool(node: Node) -> SSAValue:
    counts = node.bool("count_include_pad")
    return pooled(node, node.input(0), "avg", count_include_pad=counts)


def max_pool(node: Node) -> Sequence[SSAValue]:
    """Convert MaxPool; its second output is the place of each maximum."""
    x = node.input(0)
    y = pooled(node, x, "max")
    if not node.wants(1):
        return [y]
    spatial_rank(node.rank(x))
    window = OnnxWindow.of_pooling(node, x)
    return [y, places_of_maxima(node, x, y, window, window_begins(node, x, window))]


def pooled(
    node: Node, x: SSAValue, kind: str, *, count_include_pad: bool | None = None
) -> SSAValue:
    """Return the maximum or mean of each window."""
    x = with_spatial_rank(node, x)
    rank = node.rank(x) - 2
    window = OnnxWindow.of_pooling(node, x)
    minimum = bounds(node.element(x))[0] if kind == "max" else 0

    def of_windows(x: SSAValue, padding: list[int], count_include_pad: bool | None) -> SSAValue:
        axes = windowed_axes(window, padding)

        def along(numbers: Sequence[int]) -> list[int]:
            return [numbers[axis] for axis in axes]

        def pool(x: SSAValue) -> SSAValue:
            return node.op(
                f"nn.{kind}_pool{len(axes)}d",
                x,
                pool_size=along(window.size),
                strides=along(window.strides),
                dilation=along(window.dilation),
                padding=symmetric([*along(padding[:rank]), *along(padding[rank:])]),
                ceil_mode=node.bool("ceil_mode"),
                layout=_LAYOUTS[len(axes)],
                **({} if count_include_pad is None else {"count_include_pad": count_include_pad}),
            )

        return pool(x) if rank <= 3 else of_planes(Expression(node, x), axes, pool)

    data, padding = padded(node, x, window, minimum)
    if data is x or count_include_pad is not False:
        return of_windows(data, padding, count_include_pad)
    # The mean with the padding as zeros, divided by the share of elements that are no padding.
    first = node.op("strided_slice", x, begin=[0, 0], end=[1, 1], axes=[0, 1])
    ones = node.op("dyn.full", node.like(1, x), node.op("shape_of", first))
    ones, _ = padded(node, ones, window)
    share = of_windows(ones, padding, True)
    return node.op("divide", of_windows(data, padding, True), share)


def with_spatial_rank(node: Node, x: SSAValue) -> SSAValue:
    """Return the data of a pooling; an unknown rank is that of the windows."""
    if shape_of(node.type(x)) is not None:
        return x
    return node.with_rank(x, len(node.ints("kernel_shape") or []) + 2)


def of_planes(
    x: Expression,
    axes: Sequence[int],
    apply: Callable[[SSAValue], SSAValue],
    *,
    channels: bool = False,
) -> SSAValue:
    """Apply a function on [N, C, sizes...] along some spatial axes; all others become N, and C is
    1 or with `channels` that of `x`."""
    if x.shape.count(DYNAMIC_INDEX) > 1:
        raise Unsupported(f"input of shape {shape_text(x.shape)}: two unknown dimensions")
    last = [*([1] if channels else []), *(axis + 2 for axis in axes)]
    order = [*(axis for axis in range(x.rank) if axis not in last), *last]
    moved = x.transpose(*order)
    outer, inner = moved.shape[: -len(last)], moved.shape[-len(last) :]
    count = DYNAMIC_INDEX if DYNAMIC_INDEX in outer else prod(outer)
    planes = moved.reshape(*map(open_size, (count, *([] if channels else [1]), *inner)))
    y = Expression(x.node, apply(planes.value))
    y = y.reshape(*map(open_size, (*outer, *y.shape[-len(last) :])))
    return y.transpose(*map(order.index, range(x.rank))).value


def open_size(size: int) -> int:
    """Return a size as `relax.reshape` takes it: -1 for one that is not known."""
    return -1 if size == DYNAMIC_INDEX else size


def lp_pool(node: Node) -> Expression:
    """Convert LpPool: the p-norm of each window, (sum of |x| ** p) ** 1/p.

    The sum is the mean times the size of a window, so that all windows must be whole.
    """

    def sums(powers: Expression) -> Expression:
        x = with_spatial_rank(node, powers.value)
        data = with_whole_windows(node, x, OnnxWindow.of_pooling(node, x))
        mean = pooled(node, data, "avg", count_include_pad=True)
        return Expression(node, mean) * prod(node.ints("kernel_shape") or [])

    return p_norm(node, sums)


def p_norm(node: Node, sums: Callable[[Expression], Expression]) -> Expression:
    """Return the p-norm, whose sums of powers are those of `sums`."""
    x = Expression(node, node.input(0))
    if (p := node.int("p", 2)) < 1:
        raise Unsupported(f"p = {p}")
    return sums(x.op("abs").op("power", p)).op("power", 1 / p)


def global_pool(kind: str) -> Converter:
    """Return a converter of pooling over each channel: `kind` is `max` or `avg`."""

    def convert(node: Node) -> SSAValue:
        x = node.input(0)
        shape = shape_of(node.type(x))
        if shape is not None and len(shape) == 4:
            return node.op(f"nn.global_{kind}_pool2d", x)
        axes = [*range(2, node.rank(x))]
        return node.op("max" if kind == "max" else "mean", x, axis=axes, keepdims=True)

    return convert


# Matrix products


def gemm(node: Node) -> SSAValue:
    """Convert Gemm, alpha * A * B + beta * C; with B transposed it is a dense layer."""
    a, b = node.input(0), node.input(1)
    alpha, beta = node.float("alpha"), node.float("beta")
    if node.bool("transA"):
        a = node.op("transpose", a)
    y = node.op("nn.dense", a, b) if node.bool("transB") else node.op("matmul", a, b)
    if alpha != 1:
        y = node.op("multiply", y, node.like(alpha, y))
    if not node.has(2):
        return y
    c = node.input(2)
    if beta != 1:
        c = node.op("multiply", c, node.like(beta, y))
    return node.op("add", y, c)


# Blocks of space and depth


def space_to_depth(node: Node) -> SSAValue:
    if node.string("mode", "DCR") != "DCR":
        raise Unsupported(f"mode {node.string('mode')}")
    return node.op("nn.space_to_depth", node.input(0), block_size=node.int("blocksize"))


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


def non_max_suppression(node: Node) -> SSAValue:
    """Convert NonMaxSuppression; by default no box of a class is selected, and the threshold of the
    intersection over union is 0."""
    boxes, scores = node.with_rank(node.input(0), 3), node.with_rank(node.input(1), 3)
    limit = node.scalar(node.cast(node.input(2), i64)) if node.has(2) else node.full(0, i64)
    threshold = node.scalar(node.input(3)) if node.has(3) else node.like(0, boxes)
    lowest = [node.scalar(node.input(4))] if node.has(4) else []
    centered = node.bool("center_point_box")
    operands = boxes, scores, limit, threshold, *lowest
    return node.op("vision.non_max_suppression", *operands, center_point_box=centered)


NN: Converters = {
    "Dropout": dropout,
    "AveragePool": average_pool,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "DepthToSpace": direct("nn.depth_to_space", "mode", block_size="blocksize"),
    "Einsum": einsum,
    "Gemm": gemm,
    "GlobalAveragePool": global_pool("avg"),
    "GlobalLpPool": lambda node: p_norm(
        node, lambda powers: powers.sum(*range(2, powers.rank), keepdims=True)
    ),
    "GlobalMaxPool": global_pool("max"),
    "LpPool": lp_pool,
    "MatMul": direct("matmul"),
    "MaxPool": max_pool,
    "NonMaxSuppression": non_max_suppression,
    "SpaceToDepth": space_to_depth,
}


# Converters of ai.onnx.preview.training: the update rules of optimizers.


Rule = Callable[[Node, Expression, Expression, list[Expression]], list[Expression]]
"""Returns the new value of one tensor and of its states, from the node, the learning rate, the
step, and the tensor, its gradient and its states."""


def optimizer(rule: Rule, states: int) -> Converter:
    """Return a converter that applies a rule to each tensor; `states` is the number of states of
    each. The inputs are the rate, the step, all tensors, all gradients, all of each state."""

    def convert(node: Node) -> Sequence[SSAValue]:
        rate, step, *others = inputs(node)
        count, rest = divmod(len(others), states + 2)
        if rest:
            raise Unsupported(f"{len(others)} tensors, expected a multiple of {states + 2}")
        updated = [rule(node, rate, step, others[i::count]) for i in range(count)]
        return [tensor.value for kind in zip(*updated, strict=True) for tensor in kind]

    return convert


def regularized(node: Node, x: Expression, gradient: Expression) -> Expression:
    """Add the gradient of the regularization, norm_coefficient / 2 * |x|^2."""
    return gradient + x * node.float("norm_coefficient")


def adagrad(
    node: Node, rate: Expression, step: Expression, tensors: list[Expression]
) -> list[Expression]:
    x, gradient, squares = tensors
    rate = rate / (1.0 + step.cast(x.element) * node.float("decay_factor"))
    gradient = regularized(node, x, gradient)
    squares = squares + gradient * gradient
    return [x - rate * gradient / (squares.op("sqrt") + node.float("epsilon")), squares]


def adam(
    node: Node, rate: Expression, step: Expression, tensors: list[Expression]
) -> list[Expression]:
    x, gradient, mean, squares = tensors
    alpha, beta = node.float("alpha", 0.9), node.float("beta", 0.999)
    gradient = regularized(node, x, gradient)
    mean = mean * alpha + gradient * (1 - alpha)
    squares = squares * beta + gradient * gradient * (1 - beta)
    turn = step.cast(x.element)
    corrected = ((1.0 - x.scalar(beta).op("power", turn)).op("sqrt")) * rate
    corrected = corrected / (1.0 - x.scalar(alpha).op("power", turn))
    rate = (step > 0).where(corrected, rate)
    updated = x - rate * mean / (squares.op("sqrt") + node.float("epsilon"))
    return [updated * (1 - node.float("norm_coefficient_post")), mean, squares]


def momentum(
    node: Node, rate: Expression, step: Expression, tensors: list[Expression]
) -> list[Expression]:
    x, gradient, velocity = tensors
    nesterov = node.choice("mode", {"standard": False, "nesterov": True}, "standard")
    alpha, beta = node.float("alpha"), node.float("beta")
    gradient = regularized(node, x, gradient)
    factor = (step > 0).where(beta, x.scalar(1))
    velocity = velocity * alpha + gradient * factor
    return [x - rate * (gradient + velocity * alpha if nesterov else velocity), velocity]


TRAINING: Converters = {
    "Adagrad": optimizer(adagrad, 1),
    "Adam": optimizer(adam, 2),
    "Momentum": optimizer(momentum, 1),
}
