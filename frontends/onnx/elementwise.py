"""Operators that compute each element by itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, f64, i1, i32
from xdsl.ir import SSAValue

from ...dialects.relax.types import Element, Float, shape_of
from .errors import Unsupported
from .node import Converter, Converters, Node
from .types import element_type

__all__ = ["ELEMENTWISE"]


def same(name: str) -> Converter:
    """An operator of one input that relax has too."""
    return lambda node: [node.op(name, node.input(0))]


def identity(node: Node) -> Sequence[SSAValue]:
    return [node.input(0)]


# Binary


def operands(node: Node) -> tuple[SSAValue, SSAValue]:
    """The two inputs; before opset 7 the second is broadcast from `axis` on, not from the end."""
    lhs, rhs = node.input(0), node.input(1)
    if node.opset < 7 and node.int("broadcast") and (axis := node.opt_int("axis")) is not None:
        missing = node.rank(lhs) - node.axis(axis, lhs) - node.rank(rhs)
        if missing > 0:
            rank = node.rank(rhs)
            rhs = node.op("expand_dims", rhs, axis=[*range(rank, rank + missing)])
    return lhs, rhs


def binary(name: str) -> Converter:
    """An operator of two inputs that relax has too."""
    return lambda node: [node.op(name, *operands(node))]


def variadic(name: str) -> Converter:
    """An operator of any number of inputs that relax has for two."""

    def convert(node: Node) -> Sequence[SSAValue]:
        result, *others = node.all_inputs()
        for other in others:
            result = node.op(name, result, other)
        return [result]

    return convert


def mean(node: Node) -> Sequence[SSAValue]:
    (total,) = variadic("add")(node)
    assert total is not None
    return [node.op("divide", total, node.like(len(node.inputs), total))]


def power(node: Node) -> Sequence[SSAValue]:
    """The result has the type of the base, whatever that of the exponent."""
    base, exponent = operands(node)
    element, other = node.element(base), node.element(exponent)
    if element == other or isinstance(element, Float):
        return [node.op("power", base, node.cast(exponent, element))]
    if isinstance(other, Float):
        wide = node.op("power", node.cast(base, f64), node.cast(exponent, f64))
        return [node.cast(wide, element)]
    return [node.op("power", base, node.cast(exponent, element))]


def modulo(node: Node) -> Sequence[SSAValue]:
    return [node.op("mod" if node.bool("fmod") else "floor_mod", *operands(node))]


def bit_shift(node: Node) -> Sequence[SSAValue]:
    direction = node.string("direction")
    return [node.op("left_shift" if direction == "LEFT" else "right_shift", *operands(node))]


# Unary


def reciprocal(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    return [node.op("divide", node.like(1, x), x)]


def is_inf(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    negative, positive = node.int("detect_negative", 1), node.int("detect_positive", 1)
    if negative and positive:
        return [node.op("isinf", x)]
    if not negative and not positive:
        return [node.op("logical_and", node.op("isinf", x), node.full(0, i1))]
    return [node.op("equal", x, node.like(inf if positive else -inf, x))]


def gelu(node: Node) -> Sequence[SSAValue]:
    tanh = node.string("approximate", "none") == "tanh"
    return [node.op("nn.gelu_tanh" if tanh else "nn.gelu", node.input(0))]


def leaky_relu(node: Node) -> Sequence[SSAValue]:
    return [node.op("nn.leaky_relu", node.input(0), alpha=node.float("alpha"))]


def p_relu(node: Node) -> Sequence[SSAValue]:
    """A slope for each channel is relax's; any other shape is broadcast."""
    x, slope = node.input(0), node.input(1)
    if node.opset < 7 and node.rank(slope) == 1 and node.shape(slope) != (1,):
        return [node.op("nn.prelu", x, slope, axis=1)]
    shape, slopes = shape_of(node.type(x)), shape_of(node.type(slope))
    if shape is not None and slopes is not None and len(shape) > 1:
        channels, *others = slopes if len(slopes) == len(shape) - 1 else (DYNAMIC_INDEX, 0)
        if channels == shape[1] != DYNAMIC_INDEX and all(size == 1 for size in others):
            slope = node.op("reshape", slope, newshape=[channels])
            return [node.op("nn.prelu", x, slope, axis=1)]
    scaled = node.op("multiply", x, slope)
    return [node.op("where", node.op("less", x, node.like(0, x)), scaled, x)]


def soft_plus(node: Node) -> Sequence[SSAValue]:
    """log(1 + exp(x)) without a threshold, which relax's has: log_add_exp(x, 0)."""
    x = node.input(0)
    return [node.op("log_add_exp", x, node.like(0, x))]


def soft_sign(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    return [node.op("divide", x, node.op("add", node.op("abs", x), node.like(1, x)))]


def mish(node: Node) -> Sequence[SSAValue]:
    (plus,) = soft_plus(node)
    return [node.op("multiply", node.input(0), node.op("tanh", plus))]


def swish(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    if (alpha := node.float("alpha", 1.0)) == 1:
        return [node.op("nn.silu", x)]
    gate = node.op("sigmoid", node.op("multiply", x, node.like(alpha, x)))
    return [node.op("multiply", x, gate)]


def exp_minus_1(node: Node, x: SSAValue, alpha: float) -> SSAValue:
    """alpha * (exp(min(x, 0)) - 1)"""
    low = node.op("expm1", node.op("minimum", x, node.like(0, x)))
    return low if alpha == 1 else node.op("multiply", low, node.like(alpha, x))


def elu(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    low = exp_minus_1(node, x, node.float("alpha"))
    return [node.op("where", node.op("less", x, node.like(0, x)), low, x)]


def selu(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    low = exp_minus_1(node, x, node.float("alpha"))
    both = node.op("where", node.op("less", x, node.like(0, x)), low, x)
    return [node.op("multiply", both, node.like(node.float("gamma"), x))]


def celu(node: Node) -> Sequence[SSAValue]:
    x, alpha = node.input(0), node.float("alpha")
    scaled = x if alpha == 1 else node.op("divide", x, node.like(alpha, x))
    low = node.op("expm1", node.op("minimum", scaled, node.like(0, x)))
    low = low if alpha == 1 else node.op("multiply", low, node.like(alpha, x))
    return [node.op("add", node.op("maximum", x, node.like(0, x)), low)]


def hard_sigmoid(node: Node) -> Sequence[SSAValue]:
    return [linear_gate(node, node.float("alpha"), node.float("beta"))]


def hard_swish(node: Node) -> Sequence[SSAValue]:
    return [node.op("multiply", node.input(0), linear_gate(node, 1 / 6, 0.5))]


def linear_gate(node: Node, slope: float, offset: float) -> SSAValue:
    """slope * x + offset, between 0 and 1."""
    x = node.input(0)
    line = node.op("multiply", x, node.like(slope, x))
    line = node.op("add", line, node.like(offset, x))
    return node.op("clip", line, min=0.0, max=1.0)


def thresholded_relu(node: Node) -> Sequence[SSAValue]:
    x = node.input(0)
    above = node.op("greater", x, node.like(node.float("alpha"), x))
    return [node.op("where", above, x, node.like(0, x))]


def shrink(node: Node) -> Sequence[SSAValue]:
    x, limit, bias = node.input(0), node.float("lambd"), node.float("bias")
    low = node.op("add", x, node.like(bias, x))
    high = node.op("subtract", x, node.like(bias, x))
    high = node.op("where", node.op("greater", x, node.like(limit, x)), high, node.like(0, x))
    return [node.op("where", node.op("less", x, node.like(-limit, x)), low, high)]


def clip(node: Node) -> Sequence[SSAValue]:
    """Attributes before opset 11, then inputs; of integers without the detour over f64."""
    x = node.input(0)
    if node.opset < 11:
        low, high = node.opt_float("min"), node.opt_float("max")
        bounds = [None if b is None else node.like(b, x) for b in (low, high)]
    else:
        bounds = [node.input(i) if node.has(i) else None for i in (1, 2)]
        low, high = (node.number_of(i) for i in (1, 2))
    if isinstance(node.element(x), Float) and low is not None and high is not None and low <= high:
        return [node.op("clip", x, min=low, max=high)]
    for name, bound in zip(("maximum", "minimum"), bounds, strict=True):
        if bound is not None:
            x = node.op(name, x, bound)
    return [x]


# Types


def astype(node: Node) -> Sequence[SSAValue]:
    return [converted(node, element_type(node.int("to")))]


def cast_like(node: Node) -> Sequence[SSAValue]:
    return [converted(node, node.element(1))]


def converted(node: Node, element: Element) -> SSAValue:
    """The input with its elements converted; floats wrap around in integers of less than 8 bits,
    where relax stops at the bounds."""
    x = node.input(0)
    narrow = isinstance(element, IntegerType) and 1 < element.bitwidth < 8
    if narrow and isinstance(node.element(x), Float):
        x = node.cast(x, i32)
    return node.cast(x, element)


def bit_cast(node: Node) -> Sequence[SSAValue]:
    return [node.op("reinterpret", node.input(0), dtype=element_type(node.int("to")))]


def dropout(node: Node) -> Sequence[SSAValue | None]:
    """Does nothing at inference; the mask is then true."""
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
    if rate == 0 or rate is None:
        y = x
    else:
        y = node.op("nn.dropout", x, rate=rate)
    if not node.wants(1):
        return [y]
    mask_element: Element = i1 if node.opset >= 10 else node.element(x)
    return [y, node.full(1, mask_element, node.static_shape(x))]


ELEMENTWISE: Converters = {
    **{
        name: same(op)
        for name, op in {
            "Abs": "abs",
            "Acos": "acos",
            "Acosh": "acosh",
            "Asin": "asin",
            "Asinh": "asinh",
            "Atan": "atan",
            "Atanh": "atanh",
            "BitwiseNot": "bitwise_not",
            "Ceil": "ceil",
            "Cos": "cos",
            "Cosh": "cosh",
            "Erf": "erf",
            "Exp": "exp",
            "Floor": "floor",
            "IsNaN": "isnan",
            "Log": "log",
            "Neg": "negative",
            "Not": "logical_not",
            "Relu": "nn.relu",
            "Round": "round",
            "Sigmoid": "sigmoid",
            "Sign": "sign",
            "Sin": "sin",
            "Sinh": "sinh",
            "Sqrt": "sqrt",
            "Tan": "tan",
            "Tanh": "tanh",
        }.items()
    },
    **{
        name: binary(op)
        for name, op in {
            "Add": "add",
            "And": "logical_and",
            "BitwiseAnd": "bitwise_and",
            "BitwiseOr": "bitwise_or",
            "BitwiseXor": "bitwise_xor",
            "Div": "divide",
            "Equal": "equal",
            "Greater": "greater",
            "GreaterOrEqual": "greater_equal",
            "Less": "less",
            "LessOrEqual": "less_equal",
            "Mul": "multiply",
            "Or": "logical_or",
            "Sub": "subtract",
            "Xor": "logical_xor",
        }.items()
    },
    "BitCast": bit_cast,
    "BitShift": bit_shift,
    "Cast": astype,
    "CastLike": cast_like,
    "Celu": celu,
    "Clip": clip,
    "Dropout": dropout,
    "Elu": elu,
    "Gelu": gelu,
    "HardSigmoid": hard_sigmoid,
    "HardSwish": hard_swish,
    "Identity": identity,
    "IsInf": is_inf,
    "LeakyRelu": leaky_relu,
    "Max": variadic("maximum"),
    "Mean": mean,
    "Min": variadic("minimum"),
    "Mish": mish,
    "Mod": modulo,
    "PRelu": p_relu,
    "Pow": power,
    "Reciprocal": reciprocal,
    "Selu": selu,
    "Shrink": shrink,
    "Softplus": soft_plus,
    "Softsign": soft_sign,
    "Sum": variadic("add"),
    "Swish": swish,
    "ThresholdedRelu": thresholded_relu,
    "Where": lambda node: [node.op("where", *node.all_inputs())],
}
