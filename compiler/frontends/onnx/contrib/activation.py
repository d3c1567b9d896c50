"""Converters of activation functions of com.microsoft, and of products fused with them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converters, Node
from ..operators.elementwise import activation_named
from ..operators.expression import Expression, formula, given, inputs, total
from ..operators.nn import conv, conv_transpose, gemm

# Converters of activation functions of com.microsoft, with biases.


def gelu(x: Expression) -> Expression:
    return x.op("nn.gelu")


def tanh_gelu(x: Expression) -> Expression:
    """Return the approximation of GELU by tanh (FastGelu)."""
    return x.op("nn.gelu_tanh")


def bias_split_gelu(node: Node) -> Expression:
    """Add the bias, and multiply the first half of the columns by the GELU of the second."""
    x, bias = inputs(node, 0, 1)
    size = node.sizes(bias.value, 1)[0]
    y = x + bias
    return y.slice(-1, 0, size // 2) * gelu(y.slice(-1, size // 2, size))


def activated(x: Expression, name: str, parameters: Sequence[float]) -> Expression:
    """Apply the activation that is fused into an operator."""
    if not name:
        return x
    function, defaults = activation_named(name)
    return function(x, *[*(parameters or defaults), 0.0, 0.0][:2])


def bias_dropout(node: Node) -> Expression:
    """Convert BiasDropout at inference: the sum of its inputs."""
    if node.has(4) and node.number_of(4) != 0:
        raise Unsupported("training_mode is not false: dropout in training is random")
    return total([Expression(node, node.input(i)) for i in range(3) if node.has(i)])


def bias_softmax(node: Node) -> Expression:
    """Compute the softmax of the sum, over `axis` and all axes after it."""
    x, bias = inputs(node, 0, 1)
    y, axis = x + bias, node.axis(node.int("axis"), x.value)
    if axis == y.rank - 1:
        return y.op("nn.softmax", axis=-1)
    axes = range(axis, y.rank)
    powers = (y - y.max(*axes, keepdims=True)).op("exp")
    return powers / powers.sum(*axes, keepdims=True)


ACTIVATION: Converters = {
    "BiasAdd": formula(lambda x, bias, skip: x + bias + skip),
    "BiasDropout": bias_dropout,
    "BiasGelu": formula(lambda x, bias: gelu(x + bias)),
    "BiasSoftmax": bias_softmax,
    "BiasSplitGelu": bias_split_gelu,
    "FastGelu": lambda node: tanh_gelu(total(given(node))),
    "Gelu": formula(gelu),
    "QuickGelu": formula(lambda x: x * (x * x.node.float("alpha")).op("sigmoid")),
}


# Converters of convolutions and matrix products that onnxruntime fuses with what follows.


# Convolutions


def finished(node: Node, y: Expression) -> Expression:
    """Add the input Z, and apply the activation."""
    if node.has(3):
        y = y + node.input(3)
    return activated(y, node.string("activation"), node.floats("activation_params") or [])


def nhwc_conv(node: Node) -> Expression:
    """Convert NhwcConv and NhwcFusedConv: the channels of X are last, those of W second."""
    x, weight = inputs(node, 0, 1)
    rank = x.rank
    first, last = (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)
    given = [x.transpose(*first).value, weight.value]
    if node.has(2):
        given.append(node.input(2))
    y = Expression(node, conv(node.alike(given))).transpose(*last)
    if not node.given("activation") and not node.has(3):
        return y
    return finished(node, y)


def conv_transpose_with_pads(node: Node) -> SSAValue:
    """Convert ConvTransposeWithDynamicPads; the padding has to be constant."""
    given: list[SSAValue | None] = [node.input(0), node.input(1)]
    if node.has(3):
        given.append(node.input(3))
    pads: Sequence[int] | None = ()
    if node.has(2) and (pads := node.ints_of(2)) is None:
        raise Unsupported("the padding is not known")
    alike = node.alike(given, pads=pads) if pads else node.alike(given)
    return conv_transpose(alike)


# Matrix products


def fused_matmul(node: Node) -> Expression:
    """Convert FusedMatMul: alpha * A * B, with either transposed."""
    a, b = (transposed(node, Expression(node, node.input(i)), side) for i, side in enumerate("AB"))
    y = a @ b
    alpha = node.float("alpha", 1.0)
    return y if alpha == 1 else y * alpha


def transposed(node: Node, x: Expression, side: str) -> Expression:
    """Return an operand with its last dimensions exchanged if trans is 1; if transBatch is 1, its
    first dimension comes before the last."""
    if (rank := x.rank) < 2:
        return x
    order = [*range(rank)]
    if node.given(f"transBatch{side}") and node.bool(f"transBatch{side}"):
        order = [*range(1, rank - 1), 0, rank - 1]
    if node.bool(f"trans{side}"):
        order[-2:] = order[-1], order[-2]
    return x if order == [*range(rank)] else x.transpose(*order)


def gemm_fast_gelu(node: Node) -> Expression:
    a, b, *bias = given(node)
    return tanh_gelu(total([a @ b, *bias]))


def fused_matmul_activation(node: Node) -> Expression:
    y = fused_matmul(node)
    if node.string("activation") == "Softmax":
        return y.op("nn.softmax", axis=node.int("activation_axis", -1))
    return activated_by(node, y)


def activated_by(node: Node, y: Expression) -> Expression:
    """Apply the activation of a node, whose parameters are attributes of their own."""
    names = ("activation_alpha", "activation_beta")
    parameters = [node.float(name) for name in names if node.given(name)]
    return activated(y, node.string("activation"), parameters)


FUSED: Converters = {
    "ConvTransposeWithDynamicPads": conv_transpose_with_pads,
    "FusedConv": lambda node: finished(node, Expression(node, conv(node))),
    "FusedGemm": lambda node: activated_by(node, Expression(node, gemm(node))),
    "FusedMatMul": fused_matmul,
    "FusedMatMulActivation": fused_matmul_activation,
    "GemmFastGelu": gemm_fast_gelu,
    "NhwcConv": nhwc_conv,
    "NhwcFusedConv": nhwc_conv,
    "TransposeMatMul": fused_matmul,
}
