"""Converters of convolutions and matrix products that onnxruntime fuses with what follows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converters, Node
from ..operators.expression import Expression, given, inputs, total
from ..operators.nn.nn import conv, conv_transpose, gemm
from .activation import activated, tanh_gelu

__all__ = ["FUSED"]

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
