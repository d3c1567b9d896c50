"""Converters of reductions, sorting and scans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.dialects.builtin import DYNAMIC_INDEX, f64, i1, i64
from xdsl.ir import SSAValue

from .....dialects.relax.types import Float, static_shape
from ..errors import Unsupported
from ..node import Converter, Converters, Node, Output, direct
from .expression import Expression, indices, size_along
from .manipulation import flattened


def reduce(
    reduction: str,
    before: str | None = None,
    after: Callable[[Expression], Expression] | None = None,
) -> Converter:
    """Return a converter: an operation on the elements, a reduction, and a function of its
    result."""

    def convert(node: Node) -> SSAValue:
        x = Expression(node, node.input(0))
        x = x if before is None else x.op(before)
        x = Expression(node, reduced(node, reduction, x.value))
        return x.value if after is None else after(x).value

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


def log_sum_exp(node: Node) -> Output | Sequence[Output]:
    """Compute max(x) + log(sum(exp(x - max(x)))), as exp(x) may overflow."""
    x = Expression(node, node.input(0))
    axes = node.ints_of(1) if node.has(1) else node.ints("axes") or []
    if (
        not isinstance(x.element, Float)
        or axes is None
        or 0 in (static_shape(x.value.type) or (0,))
    ):
        return reduce("sum", "exp", logarithm)(node)
    if not axes and node.bool("noop_with_empty_axes"):
        return logarithm(x.op("exp"))
    high = x.op("max", axis=axes or None, keepdims=True)
    high = high.op("isfinite").where(high, 0)
    powers = (x - high).op("exp")
    result = logarithm(powers.op("sum", axis=axes or None, keepdims=True)) + high
    keepdims = bool(node.int("keepdims", 1))
    return result if keepdims else result.squeeze(*(axes or range(x.rank)))


def logarithm(x: Expression) -> Expression:
    return x.op("log")


def root(x: Expression) -> Expression:
    """Return the square root, also of integers."""
    if isinstance(x.element, Float):
        return x.op("sqrt")
    return x.cast(f64).op("sqrt").cast(x.element)


def cumulative(name: str) -> Converter:
    """Return a converter of a running sum or product along an axis, which is an input."""

    def convert(node: Node) -> SSAValue:
        x, exclusive, reverse = node.input(0), node.bool("exclusive"), node.bool("reverse")
        if (axis := node.int_of(1)) is not None:
            return node.op(name, x, axis=axis, exclusive=exclusive, reverse=reverse)
        axis_value = node.cast(node.input(1), i64)
        return node.op(f"dyn.{name}", x, axis_value, exclusive=exclusive, reverse=reverse)

    return convert


def top_k(node: Node) -> Sequence[SSAValue]:
    """Convert TopK: k is an attribute before opset 10. Of `relax.topk` 0 selects all elements."""
    x = node.input(0)
    axis, largest = node.int("axis", -1), bool(node.int("largest", 1))
    ordered = bool(node.int("sorted", 1))
    k = node.int("k") if node.opset < 10 else node.int_of(1)
    if k is None:
        k_value = node.cast(node.input(1), i64)
        found = node.ops("dyn.topk", x, k_value, axis=axis, largest=largest, sorted=ordered)
        begin, along, step = (node.array([number], i64) for number in (0, axis, 1))
        return [node.op("dyn.strided_slice", y, begin, k_value, along, step) for y in found]
    if k < 0:
        raise Unsupported(f"k = {k}")
    found = node.ops("topk", x, k=k, axis=axis, largest=largest, sorted=ordered)
    return (
        found
        if k
        else [node.op("strided_slice", y, begin=[0], end=[0], axes=[axis]) for y in found]
    )


# Softmax


def norm_axes(node: Node, x: SSAValue) -> list[int]:
    """Return the axes of softmax and the like: one axis since opset 13; before, `axis` and all
    after it, as if flattened. Axes of size 1 are left out."""
    if node.opset >= 13:
        return [node.int("axis", -1)]
    axis, shape = node.axis(node.int("axis", 1), x), node.shape(x)
    return [i for i in range(axis, len(shape)) if shape[i] != 1] or [axis]


def softmax(node: Node) -> Expression:
    x = Expression(node, node.input(0))
    axes = norm_axes(node, x.value)
    if len(axes) == 1:
        return x.op("nn.softmax", axis=axes[0])
    powers = shifted(x, axes).op("exp")
    return powers / powers.sum(*axes, keepdims=True)


def log_softmax(node: Node) -> Expression:
    x = Expression(node, node.input(0))
    axes = norm_axes(node, x.value)
    if len(axes) == 1:
        return x.op("nn.log_softmax", axis=axes[0])
    low = shifted(x, axes)
    return low - low.op("exp").sum(*axes, keepdims=True).op("log")


def shifted(x: Expression, axes: Sequence[int]) -> Expression:
    """Return x minus its maximum, so that exp does not overflow."""
    return x - x.max(*axes, keepdims=True)


def hardmax(node: Node) -> Expression:
    """Convert Hardmax: 1 at the first maximum, 0 elsewhere."""
    x = Expression(node, node.input(0))
    axes = norm_axes(node, x.value)
    if len(axes) == 1:
        return hardmax_along(x, node.axis(axes[0], x.value))
    flat = Expression(node, flattened(node, x.value, axes[0]))
    return hardmax_along(flat, 1).op("dyn.reshape", x.op("shape_of"))


def hardmax_along(x: Expression, axis: int) -> Expression:
    size = x.shape[axis]
    numbers = indices(size_along(x, axis) if size == DYNAMIC_INDEX else size, x.node)
    place = x.op("argmax", axis=axis, keepdims=True)
    return numbers.expand(*range(1, x.rank - axis)).equals(place).cast(x.element)


_ARG = ("axis", "keepdims", "select_last_index")

REDUCTION: Converters = {
    "ArgMax": direct("argmax", *_ARG),
    "ArgMin": direct("argmin", *_ARG),
    "CumProd": cumulative("cumprod"),
    "CumSum": cumulative("cumsum"),
    "Hardmax": hardmax,
    "LogSoftmax": log_softmax,
    "ReduceL1": reduce("sum", "abs"),
    "ReduceL2": reduce("sum", "square", root),
    "ReduceLogSum": reduce("sum", None, logarithm),
    "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": reduce("max"),
    "ReduceMean": reduce("mean"),
    "ReduceMin": reduce("min"),
    "ReduceProd": reduce("prod"),
    "ReduceSum": reduce("sum"),
    "ReduceSumSquare": reduce("sum", "square"),
    "Softmax": softmax,
    "TopK": top_k,
}
