"""Converters of casts between element types."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, f32, i1, i32
from xdsl.ir import SSAValue

from ......dialects.relax.types import Element, Float, SmallFloat
from ......passmanager.releases.floats import Float8E8M0FNUType
from .....interpreters.arrays import float_limits
from .....interpreters.small_floats import largest_of
from ...node import Converters, Node
from ...types import element_type

__all__ = ["CASTS", "to_small"]


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
