"""Converters of casts between element types."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, i1, i32
from xdsl.ir import SSAValue

from ...dialects.relax.types import Element, Float
from .node import Converters, Node
from .types import element_type

__all__ = ["CASTS"]


def astype(node: Node) -> Sequence[SSAValue]:
    return [converted(node, element_type(node.int("to")))]


def cast_like(node: Node) -> Sequence[SSAValue]:
    return [converted(node, node.element(1))]


def converted(node: Node, element: Element) -> SSAValue:
    """Convert the elements of the input. Casts from float to integers of less than 8 bits wrap
    around in ONNX, where relax saturates."""
    x = node.input(0)
    narrow = isinstance(element, IntegerType) and 1 < element.bitwidth < 8
    if narrow and isinstance(node.element(x), Float):
        x = node.cast(x, i32)
    return node.cast(x, element)


def bit_cast(node: Node) -> Sequence[SSAValue]:
    """Convert BitCast: a bool is a byte, 0 or 1."""
    x, element = node.input(0), element_type(node.int("to"))
    if node.element(x) == i1 != element:
        x = node.cast(x, IntegerType(8))
    if element == i1 != node.element(x):
        x = node.op("reinterpret", x, dtype=IntegerType(8))
    return [node.cast(x, i1) if element == i1 else node.op("reinterpret", x, dtype=element)]


CASTS: Converters = {
    "BitCast": bit_cast,
    "Cast": astype,
    "CastLike": cast_like,
}
