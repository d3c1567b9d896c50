"""Converters of element-wise operators, activation functions and casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from math import inf
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerType, f32, f64, i1, i32
from xdsl.ir import SSAValue

from .....dialects.relax.types import Element, Float, SmallFloat, shape_of
from .....passmanager.releases.floats import Float8E8M0FNUType
from ....interpreters.arrays import float_limits, largest_of
from ..errors import Unsupported
from ..node import Converter, Converters, Node, direct
from ..types import element_type
from .expression import Expression, formula, inputs, total

# Converters of element-wise operators.


def identity(node: Node) -> SSAValue:
    return node.input(0)


# Binary


def operands(node: Node) -> tuple[SSAValue, SSAValue]:
    """Return the two inputs; before opset 7 the second is broadcast from `axis` on, not from the
    end."""
    lhs, rhs = node.input(0), node.input(1)
    if node.opset < 7 and node.int("broadcast") and (axis := node.opt_int("axis")) is not None:
        missing = node.rank(lhs) - node.axis(axis, lhs) - node.rank(rhs)
        if missing > 0:
            rank = node.rank(rhs)
            rhs = node.op("expand_dims", rhs, axis=[*range(rank, rank + missing)])
    return lhs, rhs


def binary(name: str) -> Converter:
    """Return a converter of a binary operator to the relax operation `name`."""
    return lambda node: node.op(name, *operands(node))


def variadic(name: str) -> Converter:
    """Return a converter of a variadic operator to a chain of the binary relax operation `name`."""

    return lambda node: reduce(partial(node.op, name), node.all_inputs())


def power(node: Node) -> SSAValue:
    """Convert Pow: the result has the type of the base."""
    base, exponent = operands(node)
    element, other = node.element(base), node.element(exponent)
    if element == other or isinstance(element, Float):
        return node.op("power", base, node.cast(exponent, element))
    if isinstance(other, Float):
        wide = node.op("power", node.cast(base, f64), node.cast(exponent, f64))
        return node.cast(wide, element)
    return node.op("power", base, node.cast(exponent, element))


# Unary


def is_inf(node: Node) -> SSAValue:
    x = node.input(0)
    negative, positive = node.int("detect_negative", 1), node.int("detect_positive", 1)
    if negative and positive:
        return node.op("isinf", x)
    if not negative and not positive:
        return node.op("logical_and", node.op("isinf", x), node.full(0, i1))
    return node.op("equal", x, node.like(inf if positive else -inf, x))


def clip(node: Node) -> SSAValue:
    """Convert Clip: bounds are attributes before opset 11, then inputs; integers are not
    converted to f64."""
    x = node.input(0)
    if node.opset < 11:
        low, high = node.opt_float("min"), node.opt_float("max")
        bounds = [None if b is None else node.like(b, x) for b in (low, high)]
    else:
        bounds = [node.input(i) if node.has(i) else None for i in (1, 2)]
        low, high = (node.number_of(i) for i in (1, 2))
    if isinstance(node.element(x), Float) and low is not None and high is not None and low <= high:
        return node.op("clip", x, min=low, max=high)
    for name, bound in zip(("maximum", "minimum"), bounds, strict=True):
        if bound is not None:
            x = node.op(name, x, bound)
    return x


_UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor IsNaN Log Round Sigmoid Sign "
    "Sin Sinh Sqrt Tan Tanh"
).split()
"""The unary operators that relax has under their names."""

ELEMENTWISE: Converters = {
    **{name: direct(name.lower()) for name in _UNARY},
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
    "BitShift": lambda node: binary(f"{node.string('direction').lower()}_shift")(node),
    "BitwiseNot": direct("bitwise_not"),
    "Clip": clip,
    "Identity": identity,
    "IsInf": is_inf,
    "Max": variadic("maximum"),
    "Mean": lambda node: total(inputs(node)) / len(node.inputs),
    "Min": variadic("minimum"),
    "Mod": lambda node: binary("mod" if node.bool("fmod") else "floor_mod")(node),
    "Neg": direct("negative"),
    "Not": direct("logical_not"),
    "Pow": power,
    "Reciprocal": formula(lambda x: 1 / x),
    "Relu": direct("nn.relu"),
    "Sum": variadic("add"),
    "Where": direct("where"),
}


# Converters of activation functions.


def gelu(x: Expression) -> Expression:
    tanh = x.node.string("approximate", "none") == "tanh"
    return x.op("nn.gelu_tanh" if tanh else "nn.gelu")


def p_relu(node: Node) -> SSAValue:
    """Convert PRelu: relax takes one slope per channel, any other shape is broadcast."""
    x, slope = node.input(0), node.input(1)
    if node.opset < 7 and node.rank(slope) == 1 and node.shape(slope) != (1,):
        return node.op("nn.prelu", x, slope, axis=1)
    shape, slopes = shape_of(node.type(x)), shape_of(node.type(slope))
    if shape is not None and slopes is not None and len(shape) > 1:
        channels, *others = slopes if len(slopes) == len(shape) - 1 else (DYNAMIC_INDEX, 0)
        if channels == shape[1] != DYNAMIC_INDEX and all(size == 1 for size in others):
            slope = node.op("reshape", slope, newshape=[channels])
            return node.op("nn.prelu", x, slope, axis=1)
    data = Expression(node, x)
    scaled = data * slope
    return (data < 0).where(scaled, data).value


def soft_plus(x: Expression) -> Expression:
    """Compute log(1 + exp(x)) as log_add_exp(x, 0), which does not overflow."""
    return x.op("log_add_exp", 0)


def soft_sign(x: Expression) -> Expression:
    return x / (x.op("abs") + 1)


def swish(x: Expression) -> Expression:
    alpha = x.node.float("alpha", 1.0)
    return x.op("nn.silu") if alpha == 1 else x * (x * alpha).op("sigmoid")


def exp_minus_1(x: Expression, alpha: float) -> Expression:
    """Compute alpha * (exp(min(x, 0)) - 1)."""
    low = x.op("minimum", 0).op("expm1")
    return low if alpha == 1 else low * alpha


def elu(x: Expression, alpha: float) -> Expression:
    return (x < 0).where(exp_minus_1(x, alpha), x)


def celu(x: Expression) -> Expression:
    alpha = x.node.float("alpha")
    low = exp_minus_1(x if alpha == 1 else x / alpha, alpha)
    return x.op("maximum", 0) + low


def linear_gate(x: Expression, slope: float, offset: float) -> Expression:
    """Compute slope * x + offset, clipped to the range from 0 to 1."""
    return (x * slope + offset).op("clip", min=0.0, max=1.0)


def shrink(x: Expression) -> Expression:
    limit, bias = x.node.float("lambd"), x.node.float("bias")
    low, high = x + bias, x - bias
    high = (x > limit).where(high, 0)
    return (x < -limit).where(low, high)


ACTIVATION: Converters = {
    "Celu": formula(celu),
    "Elu": formula(lambda x: elu(x, x.node.float("alpha"))),
    "Gelu": formula(gelu),
    "HardSigmoid": formula(lambda x: linear_gate(x, x.node.float("alpha"), x.node.float("beta"))),
    "HardSwish": formula(lambda x: x * linear_gate(x, 1 / 6, 0.5)),
    "LeakyRelu": direct("nn.leaky_relu", "alpha"),
    "Mish": formula(lambda x: x * soft_plus(x).op("tanh")),
    "PRelu": p_relu,
    "Selu": formula(lambda x: elu(x, x.node.float("alpha")) * x.node.float("gamma")),
    "Shrink": formula(shrink),
    "Softplus": formula(soft_plus),
    "Softsign": formula(soft_sign),
    "Swish": formula(swish),
    "ThresholdedRelu": formula(lambda x: (x > x.node.float("alpha")).where(x, 0)),
}


# Activations that are attributes of other operators

Activation: TypeAlias = Callable[[Expression, float, float], Expression]

_PLAIN = {
    "relu": "nn.relu",
    "gelu": "nn.gelu",
    "neg": "negative",
    **{name: name for name in "abs ceil erf exp floor round sigmoid sqrt tanh".split()},
}
"""The operations that are activations without parameters."""

_PARAMETRIC: Mapping[str, tuple[Activation, Sequence[float]]] = {
    "affine": (lambda x, alpha, beta: x * alpha + beta, (1.0, 0.0)),
    "clip": (lambda x, alpha, beta: x.op("clip", min=alpha, max=beta), (0.0, 0.0)),
    "elu": (lambda x, alpha, _: elu(x, alpha), (1.0,)),
    "hardsigmoid": (linear_gate, (0.2, 0.5)),
    "leakyrelu": (lambda x, alpha, _: x.op("nn.leaky_relu", alpha=alpha), (0.01,)),
    "scaledtanh": (lambda x, alpha, beta: (x * beta).op("tanh") * alpha, (1.0, 1.0)),
    "softplus": (lambda x, _, __: soft_plus(x), ()),
    "softsign": (lambda x, _, __: soft_sign(x), ()),
    "thresholdedrelu": (lambda x, alpha, _: (x > alpha).where(x, 0), (1.0,)),
}
"""The other activations, with the defaults of their parameters."""


def activation_named(name: str) -> tuple[Activation, Sequence[float]]:
    """Return the activation of a name, and the defaults of its parameters."""
    if (plain := _PLAIN.get(name.lower())) is not None:
        return lambda x, _, __: x.op(plain), ()
    if (found := _PARAMETRIC.get(name.lower())) is None:
        raise Unsupported(f"activation = '{name}'")
    return found


# Converters of casts between element types.


def converted(node: Node, element: Element) -> SSAValue:
    """Convert the elements of the input. Casts from float to integers of less than 8 bits wrap
    around in ONNX, where relax saturates."""
    x = node.input(0)
    if isinstance(element, SmallFloat):
        return to_small(node, x, element)
    narrow = isinstance(element, IntegerType) and 1 < element.bitwidth < 8
    if narrow and isinstance(node.element(x), Float | SmallFloat):
        x = node.cast(x, i32)
    return node.cast(x, element)


def to_small(node: Node, x: SSAValue, element: SmallFloat) -> SSAValue:
    """Convert to a float of 4 or 8 bits: saturating, unless `saturate` is 0. Numbers are rounded
    to powers of two as `round_mode` says, by default up."""
    if not isinstance(node.element(x), Float):
        x = node.cast(x, f32)
    if isinstance(element, Float8E8M0FNUType):
        x = to_power(node, node.cast(x, f32))
    if node.int("saturate", 1):
        low = -largest_of(element) if not isinstance(element, Float8E8M0FNUType) else 2.0**-127
        high = min(largest_of(element), float_limits(node.element(x)).maximum)
        x = node.op("clip", x, min=max(low, -high), max=high)
    return node.cast(x, element)


def to_power(node: Node, x: SSAValue) -> SSAValue:
    """Round positive f32 to powers of two, by their bits: down, or up, or to the nearest."""
    added = {"up": (1 << 23) - 1, "down": 0, "nearest": 1 << 22}
    bits = node.op("reinterpret", x, dtype=i32)
    bits = node.op("add", bits, node.full(node.choice("round_mode", added, "up"), i32))
    bits = node.op("bitwise_and", bits, node.full(-1 << 23, i32))
    special = node.op("logical_not", node.op("isfinite", x))
    return node.op("where", special, x, node.op("reinterpret", bits, dtype=f32))


def bit_cast(node: Node) -> SSAValue:
    """Convert BitCast: a bool is a byte, 0 or 1."""
    x, element = node.input(0), element_type(node.int("to"))
    if node.element(x) == i1 != element:
        x = node.cast(x, IntegerType(8))
    if element == i1 != node.element(x):
        x = node.op("reinterpret", x, dtype=IntegerType(8))
    return node.cast(x, i1) if element == i1 else node.op("reinterpret", x, dtype=element)


CASTS: Converters = {
    "BitCast": bit_cast,
    "Cast": lambda node: converted(node, element_type(node.int("to"))),
    "CastLike": lambda node: converted(node, node.element(1)),
}
