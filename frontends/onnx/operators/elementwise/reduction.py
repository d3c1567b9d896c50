"""Converters of reductions, sorting and scans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from .....dialects.relax.types import Float, static_shape
from ...errors import Unsupported
from ...node import Converter, Converters, Node

__all__ = ["REDUCTION", "norm_axes"]


def reduce(
    reduction: str,
    before: Callable[[Node, SSAValue], SSAValue] | None = None,
    after: Callable[[Node, SSAValue], SSAValue] | None = None,
) -> Converter:
    """Return a converter: a function of the elements, a reduction, and a function of its result."""

    def convert(node: Node) -> Sequence[SSAValue]:
        x = node.input(0)
        x = x if before is None else before(node, x)
        x = reduced(node, reduction, x)
        return [x if after is None else after(node, x)]

    return convert


def reduced(node: Node, reduction: str, x: SSAValue) -> SSAValue:
    """Reduce along the axes, an attribute in old opsets and an input since opset 13 (ReduceSum)
    or 18."""
    keepdims, noop = bool(node.int("keepdims", 1)), node.bool("noop_with_empty_axes")
    given = node.has(1)
    axes = node.ints_of(1) if given else node.ints("axes") or []
    if axes is None:
        return node.op(
            "dyn.reduce",
            x,
            node.cast(node.input(1), i64),
            reduction=reduction,
            keepdims=keepdims,
            noop_with_empty_axes=noop,
        )
    if not axes and noop:
        return x
    return reduced_along(node, reduction, x, axes or None, keepdims)


def reduced_along(
    node: Node, reduction: str, x: SSAValue, axes: Sequence[int] | None, keepdims: bool
) -> SSAValue:
    """Reduce along these axes, along all if None."""
    if reduction in ("max", "min") and node.element(x) == i1:
        reduction = {"max": "any", "min": "all"}[reduction]
    elif reduction in ("max", "min") and 0 in (static_shape(node.type(x)) or ()):
        return of_nothing(node, reduction, x, axes, keepdims)
    return node.op(reduction, x, axis=axes, keepdims=keepdims)


def of_nothing(
    node: Node, reduction: str, x: SSAValue, axes: Sequence[int] | None, keepdims: bool
) -> SSAValue:
    """Return the identity of max or min, for the reduction of an empty range."""
    element, shape = node.element(x), node.static_shape(x)
    reduced_axes = {node.axis(axis, x) for axis in (range(len(shape)) if axes is None else axes)}
    sizes = [1 if i in reduced_axes else size for i, size in enumerate(shape)]
    if not keepdims:
        sizes = [size for i, size in enumerate(shape) if i not in reduced_axes]
    if not isinstance(element, Float):
        raise Unsupported(f"{reduction} of integers over an empty range")
    return node.full(-inf if reduction == "max" else inf, element, tuple(sizes))


def absolute(node: Node, x: SSAValue) -> SSAValue:
    return node.op("abs", x)


def square(node: Node, x: SSAValue) -> SSAValue:
    return node.op("square", x)


def log_sum_exp(node: Node) -> Sequence[SSAValue]:
    """Compute max(x) + log(sum(exp(x - max(x)))), as exp(x) may overflow."""
    x = node.input(0)
    if not isinstance(node.element(x), Float):
        return reduce("sum", exponential, logarithm)(node)  # pyright: ignore[reportReturnType]
    axes = node.ints_of(1) if node.has(1) else node.ints("axes") or []
    if axes is None or 0 in (static_shape(node.type(x)) or (0,)):
        total = reduced(node, "sum", exponential(node, x))
        return [logarithm(node, total)]
    if not axes and node.bool("noop_with_empty_axes"):
        return [logarithm(node, exponential(node, x))]
    high = node.op("max", x, axis=axes or None, keepdims=True)
    finite = node.op("isfinite", high)
    high = node.op("where", finite, high, node.like(0, x))
    total = node.op("exp", node.op("subtract", x, high))
    keepdims = bool(node.int("keepdims", 1))
    logs = node.op("log", node.op("sum", total, axis=axes or None, keepdims=True))
    result = node.op("add", logs, high)
    return [result if keepdims else without_dims(node, result, axes)]


def without_dims(node: Node, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    return node.op("squeeze", x, axis=axes or [*range(node.rank(x))])


def exponential(node: Node, x: SSAValue) -> SSAValue:
    return node.op("exp", x)


def logarithm(node: Node, x: SSAValue) -> SSAValue:
    return node.op("log", x)


def root(node: Node, x: SSAValue) -> SSAValue:
    """Return the square root, also of integers."""
    element = node.element(x)
    return node.op("sqrt", x) if isinstance(element, Float) else integer_root(node, x)


def integer_root(node: Node, x: SSAValue) -> SSAValue:
    from xdsl.dialects.builtin import f64

    return node.cast(node.op("sqrt", node.cast(x, f64)), node.element(x))


def arg(name: str) -> Converter:
    """Return a converter of the index of an extremum along an axis."""

    def convert(node: Node) -> Sequence[SSAValue]:
        return [
            node.op(
                name,
                node.input(0),
                axis=node.int("axis"),
                keepdims=bool(node.int("keepdims", 1)),
                select_last_index=node.bool("select_last_index"),
            )
        ]

    return convert


def cumulative(name: str) -> Converter:
    """Return a converter of a running sum or product along an axis, which is an input."""

    def convert(node: Node) -> Sequence[SSAValue]:
        x, exclusive, reverse = node.input(0), node.bool("exclusive"), node.bool("reverse")
        if (axis := node.int_of(1)) is not None:
            return [node.op(name, x, axis=axis, exclusive=exclusive, reverse=reverse)]
        axis_value = node.cast(node.input(1), i64)
        return [node.op(f"dyn.{name}", x, axis_value, exclusive=exclusive, reverse=reverse)]

    return convert


def top_k(node: Node) -> Sequence[SSAValue]:
    """Convert TopK: k is an attribute before opset 10."""
    x = node.input(0)
    axis, largest = node.int("axis", -1), bool(node.int("largest", 1))
    ordered = bool(node.int("sorted", 1))
    k = node.int("k") if node.opset < 10 else node.int_of(1)
    if k is None:
        k_value = node.input(1)
        return node.ops("dyn.topk", x, k_value, axis=axis, largest=largest, sorted=ordered)
    return node.ops("topk", x, k=k, axis=axis, largest=largest, sorted=ordered)


# Softmax


def norm_axes(node: Node, x: SSAValue) -> list[int]:
    """Return the axes of softmax and the like: one axis since opset 13; before, `axis` and all
    after it, as if flattened. Axes of size 1 are left out."""
    if node.opset >= 13:
        return [node.int("axis", -1)]
    axis, shape = node.axis(node.int("axis", 1), x), node.shape(x)
    return [i for i in range(axis, len(shape)) if shape[i] != 1] or [axis]


def softmax(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    axes = norm_axes(node, x)
    if len(axes) == 1:
        return [node.op("nn.softmax", x, axis=axes[0])]
    exp = node.op("exp", shifted(node, x, axes))
    return [node.op("divide", exp, node.op("sum", exp, axis=axes, keepdims=True))]


def log_softmax(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    axes = norm_axes(node, x)
    if len(axes) == 1:
        return [node.op("nn.log_softmax", x, axis=axes[0])]
    low = shifted(node, x, axes)
    total = node.op("sum", node.op("exp", low), axis=axes, keepdims=True)
    return [node.op("subtract", low, node.op("log", total))]


def shifted(node: Node, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Return x minus its maximum, so that exp does not overflow."""
    return node.op("subtract", x, node.op("max", x, axis=axes, keepdims=True))


def hardmax(node: Node) -> Sequence[SSAValue]:
    """Convert Hardmax: 1 at the first maximum, 0 elsewhere."""
    x = node.input(0)
    axes = norm_axes(node, x)
    if len(axes) == 1:
        return [hardmax_along(node, x, axes[0])]
    shape = node.static_shape(x)
    flat = node.op("reshape", x, newshape=[*shape[: axes[0]], -1])
    return [node.op("reshape", hardmax_along(node, flat, -1), newshape=shape)]


def hardmax_along(node: Node, x: SSAValue, axis: int) -> SSAValue:
    size = node.static_shape(x)[node.axis(axis, x)]
    place = node.op("argmax", x, axis=axis)
    return node.op("one_hot", place, node.like(1, x), node.like(0, x), depth=size, axis=axis)


REDUCTION: Converters = {
    "ArgMax": arg("argmax"),
    "ArgMin": arg("argmin"),
    "CumProd": cumulative("cumprod"),
    "CumSum": cumulative("cumsum"),
    "Hardmax": hardmax,
    "LogSoftmax": log_softmax,
    "ReduceL1": reduce("sum", absolute),
    "ReduceL2": reduce("sum", square, root),
    "ReduceLogSum": reduce("sum", None, logarithm),
    "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": reduce("max"),
    "ReduceMean": reduce("mean"),
    "ReduceMin": reduce("min"),
    "ReduceProd": reduce("prod"),
    "ReduceSum": reduce("sum"),
    "ReduceSumSquare": reduce("sum", square),
    "Softmax": softmax,
    "TopK": top_k,
}
