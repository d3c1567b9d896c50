"""Converters of normalizations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, f32
from xdsl.ir import SSAValue

from .....dialects.relax.types import shape_of
from ..errors import Unsupported
from ..node import Converters, Node, direct
from .expression import Expression, inputs


def batch_normalization(node: Node) -> Sequence[SSAValue | None]:
    """Convert BatchNormalization at inference; in training mode it also updates mean and
    variance."""
    x = node.input(0)
    if node.opset < 9 and node.int("spatial", 1) == 0:
        raise Unsupported("attribute spatial = 0")
    if (node.opset < 7 and not node.bool("is_test")) or node.bool("training_mode"):
        return batch_normalization_in_training(node)
    parameters = [node.cast(node.input(i), node.element(x)) for i in range(1, 5)]
    epsilon, momentum = node.float("epsilon"), node.float("momentum")
    momentum = 1 - momentum if momentum != 0.9 else 0.1
    return [node.op("nn.batch_norm", x, *parameters, epsilon=epsilon, momentum=momentum)]


def batch_normalization_in_training(node: Node) -> Sequence[SSAValue]:
    """Normalize by the mean and variance of the batch, and update the running ones."""
    if node.opset < 14:
        raise Unsupported("training before opset 14")
    x, scale, bias, mean, variance = inputs(node, *range(5))
    axes = [i for i in range(x.rank) if i != 1]
    now = x.mean(*axes, keepdims=True)
    spread = (x - now).op("square").mean(*axes)
    now = now.squeeze(*axes)
    y = x.op("nn.batch_norm", scale, bias, now, spread, epsilon=node.float("epsilon"))
    momentum = node.float("momentum")
    moved = (
        old * momentum + new * (1 - momentum) for old, new in ((mean, now), (variance, spread))
    )
    return [value.value for value in (y, *moved)]


def normalized_axes(node: Node, x: SSAValue) -> list[int]:
    """Return the axes of a layer normalization: `axis` and all after it."""
    rank = node.rank(x)
    return [*range(node.axis(node.int("axis", -1), x), rank)]


def is_whole(node: Node, x: SSAValue, scale: SSAValue, axes: Sequence[int]) -> bool:
    """Return whether a scale has the shape of the normalized axes, as relax requires."""
    shape, scales = shape_of(node.type(x)), shape_of(node.type(scale))
    if shape is None or scales is None:
        return False
    sizes = tuple(shape[i] for i in axes)
    return scales == sizes and DYNAMIC_INDEX not in sizes


def layer_normalization(node: Node) -> SSAValue:
    """Convert LayerNormalization; if mean or deviation are used, by inlining ONNX's definition."""
    x, scale = node.input(0), node.input(1)
    axes = normalized_axes(node, x)
    if (
        node.wants(1)
        or node.wants(2)
        or (node.element(x) != f32 and node.int("stash_type", 1) == 1)
    ):
        raise Unsupported(
            "its outputs mean and deviation, and f32 computation of other types, are unsupported"
        )
    if not is_whole(node, x, scale, axes):
        raise Unsupported("the scale does not have the shape of the normalized axes")
    shape = node.static_shape(scale)
    bias = node.input(2) if node.has(2) else node.full(0, node.element(x), shape)
    if not is_whole(node, x, bias, axes):
        raise Unsupported("the bias does not have the shape of the normalized axes")
    epsilon = node.float("epsilon")
    return node.op("nn.layer_norm", x, scale, bias, axes=axes, epsilon=epsilon)


def rms_normalization(node: Node) -> SSAValue:
    x, scale = node.input(0), node.input(1)
    axes = normalized_axes(node, x)
    if node.element(x) != f32 and node.int("stash_type", 1) == 1:
        raise Unsupported(f"f32 computation of {node.element(x)} elements")
    if not is_whole(node, x, scale, axes):
        raise Unsupported("the scale does not have the shape of the normalized axes")
    return node.op("nn.rms_norm", x, scale, axes=axes, epsilon=node.float("epsilon"))


def group_normalization(node: Node) -> SSAValue:
    """Convert GroupNormalization: scale and bias have one element per group before opset 21,
    then one per channel."""
    x, scale, bias = (node.input(i) for i in range(3))
    groups, channels = node.int("num_groups"), node.shape(x)[node.axis(1, x)]
    if groups < 1:
        raise Unsupported(f"num_groups = {groups}")
    if node.opset < 21:
        if channels == DYNAMIC_INDEX:
            raise Unsupported("the number of channels is not known")
        each = channels // groups
        scale, bias = (node.op("repeat", v, repeats=each, axis=0) for v in (scale, bias))
    axes = [*range(2, node.rank(x))]
    epsilon = node.float("epsilon")
    return node.op("nn.group_norm", x, scale, bias, num_groups=groups, axes=axes, epsilon=epsilon)


def lp_normalization(node: Node) -> Expression:
    """Divide x by its 1- or 2-norm along an axis; the result is 0 where the norm is 0."""
    x, axis, p = Expression(node, node.input(0)), node.int("axis", -1), node.int("p", 2)
    if p not in (1, 2):
        raise Unsupported(f"p = {p}; supported are 1 and 2")
    norm = x.op("abs" if p == 1 else "square").sum(axis, keepdims=True)
    norm = norm.op("sqrt") if p == 2 else norm
    return x / norm.equals(0).where(1, norm)


def mean_variance_normalization(node: Node) -> Expression:
    x, axes = Expression(node, node.input(0)), node.ints("axes") or [0, 2, 3]
    centred = x - x.mean(*axes, keepdims=True)
    variance = centred.op("square").mean(*axes, keepdims=True)
    return centred / (variance.op("sqrt") + 1e-9)


NORMALIZATION: Converters = {
    "BatchNormalization": batch_normalization,
    "GroupNormalization": group_normalization,
    "InstanceNormalization": direct("nn.instance_norm", "epsilon"),
    "LRN": direct("nn.lrn", "size", "bias", "alpha", "beta"),
    "LayerNormalization": layer_normalization,
    "LpNormalization": lp_normalization,
    "MeanVarianceNormalization": mean_variance_normalization,
    "RMSNormalization": rms_normalization,
}
