"""Converters of element-wise operators."""

from __future__ import annotations

from functools import partial, reduce
from math import inf

from xdsl.dialects.builtin import f64, i1
from xdsl.ir import SSAValue

from ......dialects.relax.types import Float
from ...node import Converter, Converters, Node, direct
from ..expression import formula, inputs, total

__all__ = ["ELEMENTWISE", "identity"]


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
