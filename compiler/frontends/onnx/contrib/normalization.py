"""Converters of normalizations that onnxruntime fuses with sums, embeddings and activations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, i32, i64
from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converters, Node, Output
from ..operators.expression import Expression, indices, inputs, optional, size_along
from ..operators.normalization import layer_normalization as since_17


def normalized(
    x: Expression,
    gamma: Expression,
    beta: Expression | None,
    epsilon: float,
    *,
    axes: Sequence[int] = (-1,),
    subtracts_mean: bool = True,
) -> tuple[Expression, Expression, Expression]:
    """Return the layer normalization of x along axes, the mean, and the inverse of the standard
    deviation. Without `subtracts_mean`, return the RMS normalization and the inverse of the root
    mean square. Computed in f32 at least."""
    element = x.element
    wide = x if element.bitwidth > 32 else x.cast(f32)
    mean = wide.mean(*axes, keepdims=True)
    deviation = wide - mean if subtracts_mean else wide
    squares = (deviation * deviation).mean(*axes, keepdims=True)
    inverse = (squares + epsilon).op("rsqrt")
    y = deviation * inverse * gamma.cast(wide.element)
    if beta is not None:
        y = y + beta.cast(wide.element)
    return y.cast(element), mean, inverse


def normalized_along_last(
    x: Expression,
    gamma: Expression,
    beta: Expression | None,
    epsilon: float,
    *,
    subtracts_mean: bool,
) -> Expression:
    """Return the normalization along the last axis, as one operation if the elements are f32 and
    the size of the axis is known to be that of gamma."""
    sizes, scales = x.shape[-1:], gamma.shape
    if x.element != f32 or sizes != scales or sizes[0] < 1:
        return normalized(x, gamma, beta, epsilon, subtracts_mean=subtracts_mean)[0]
    if not subtracts_mean:
        return x.op("nn.rms_norm", gamma, axes=[-1], epsilon=epsilon)
    node = x.node
    shift = Expression(node, node.full(0, f32, scales)) if beta is None else beta
    return x.op("nn.layer_norm", gamma, shift, axes=[-1], epsilon=epsilon)


def skip_layer_normalization(node: Node) -> Sequence[SSAValue | None]:
    """Convert SkipLayerNormalization: the normalization of input + skip + bias, and the sum."""
    beta = optional(node, 3)
    return with_skip(node, beta, 4, subtracts_mean=True)


def skip_rms_normalization(node: Node) -> Sequence[SSAValue | None]:
    """Convert SkipSimplifiedLayerNormalization: the RMS normalization of that sum, and the sum."""
    return with_skip(node, None, 3, subtracts_mean=False)


def with_skip(
    node: Node, beta: Expression | None, bias: int, *, subtracts_mean: bool
) -> Sequence[SSAValue | None]:
    """Return the outputs: the normalized sum, mean, inverse deviation, and the sum; `bias` is the
    index of the input."""
    x, skip, gamma = inputs(node, 0, 1, 2)
    total = x + skip
    if node.has(bias):
        total = total + node.input(bias)
    epsilon = node.float("epsilon")
    y = normalized_along_last(total, gamma, beta, epsilon, subtracts_mean=subtracts_mean)
    mean, inverse = None, None
    if node.wants(1) or node.wants(2):
        _, mean, inverse = normalized(total, gamma, beta, epsilon, subtracts_mean=subtracts_mean)
    outputs = (y, mean if subtracts_mean else None, inverse, total)
    return [None if value is None else value.value for value in outputs]


def early_normalization(node: Node) -> Sequence[SSAValue | None]:
    """Convert LayerNormalization before opset 17, and SimplifiedLayerNormalization."""
    x, gamma = inputs(node, 0, 1)
    beta = optional(node, 2)
    subtracts_mean = node.proto.op_type == "LayerNormalization"
    axis, epsilon = node.axis(node.int("axis"), x.value), node.float("epsilon")
    axes = range(axis, x.rank)
    if len(axes) == 1 and not node.wants(1) and not node.wants(2):
        y = normalized_along_last(x, gamma, beta, epsilon, subtracts_mean=subtracts_mean)
        return [y.value]
    y, mean, inverse = normalized(x, gamma, beta, epsilon, axes=axes, subtracts_mean=subtracts_mean)
    others = (mean, inverse) if subtracts_mean else (inverse,)
    return [y.value, *(value.value for value in others)]


def embed_layer_normalization(node: Node) -> Sequence[SSAValue | None]:
    """Convert EmbedLayerNormalization: the normalized sum of the embeddings of the words, their
    positions and their segments; and the number of words that the mask leaves."""
    words, word_table, position_table, gamma, beta = inputs(node, 0, 2, 3, 5, 6)
    total = word_table.op("take", words.cast(i64), axis=0, mode="raise")
    if node.has(8):
        positions = Expression(node, node.input(8)).cast(i64)
    else:
        positions = indices(size_along(words, 1), node).expand(0)
    total = total + position_table.op("take", positions, axis=0, mode="raise")
    if node.has(1):
        segments, segment_table = inputs(node, 1, 4)
        total = total + segment_table.op("take", segments.cast(i64), axis=0, mode="raise")
    epsilon = node.float("epsilon")
    y = normalized_along_last(total, gamma, beta, epsilon, subtracts_mean=True)
    if node.has(7):
        length = Expression(node, node.input(7)).cast(i32).sum(1)
    else:  # onnxruntime gives 0 for each row
        length = words.at(1, 0).cast(i32) * 0
    return [y.value, length.value, total.value]


def group_norm(node: Node) -> Expression:
    """Convert GroupNorm: the normalization of each group of channels, then SiLU if `activation` is
    1."""
    x = Expression(node, node.input(0))
    return group_normalized(node, x)


def skip_group_norm(node: Node) -> Sequence[SSAValue | None]:
    """Convert SkipGroupNorm: the normalization of X + skip + bias, and the sum."""
    x, skip = inputs(node, 0, 3)
    if not node.int("channels_last"):
        raise Unsupported("channels_last = 0")
    if skip.rank == 2:  # (N, C), without spatial dimensions
        skip = skip.expand(*range(1, x.rank - 1))
    total = x + skip
    if node.has(4):
        total = total + node.input(4)
    return [group_normalized(node, total).value, total.value]


def group_normalized(node: Node, x: Expression) -> Expression:
    """Return x normalized and activated as inputs 1 and 2 and the attributes of the node say."""
    gamma, beta = (value.cast(x.element) for value in inputs(node, 1, 2))
    rank, last = x.rank, bool(node.int("channels_last"))
    if last:
        x = x.transpose(0, rank - 1, *range(1, rank - 1))
    y = x.op(
        "nn.group_norm",
        gamma,
        beta,
        num_groups=node.int("groups"),
        channel_axis=1,
        axes=[*range(2, rank)],
        epsilon=node.float("epsilon"),
    )
    if node.int("activation") not in (0, 1):
        raise Unsupported(f"activation = {node.int('activation')}")
    y = y.op("nn.silu") if node.int("activation") else y
    return y.transpose(0, *range(2, rank), 1) if last else y


NORMALIZATION: Converters = {
    "EmbedLayerNormalization": embed_layer_normalization,
    "GroupNorm": group_norm,
    "SkipGroupNorm": skip_group_norm,
    "SkipLayerNormalization": skip_layer_normalization,
    "SkipSimplifiedLayerNormalization": skip_rms_normalization,
}


def layer_normalization(node: Node) -> Output | Sequence[Output]:
    """Convert LayerNormalization: ONNX has it since opset 17, onnxruntime in every opset."""
    return early_normalization(node) if node.opset < 17 else since_17(node)


EARLY_NORMALIZATION: Converters = {
    "LayerNormalization": layer_normalization,
    "SimplifiedLayerNormalization": early_normalization,
}
"""Operators that onnxruntime defines in ONNX's own domain, in every opset."""
