"""Types of vectors and lanes, and the type of the option `relax.fastmath`."""

from __future__ import annotations

from enum import Enum

from typing_extensions import TypeIs
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute

__all__ = ["FastMath", "element_of", "is_vector", "with_element"]


# Types of vectors, and of their lanes.


def is_vector(type: Attribute) -> TypeIs[VectorType[Attribute]]:
    """Return whether `type` is a vector type."""
    return isinstance(type, VectorType)


def element_of(type: Attribute) -> Attribute:
    """Return the type of one lane of a vector, or `type` itself if it is not a vector."""
    return type.element_type if is_vector(type) else type


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """Return `element`, or if `type` is a vector, a vector of `element` with the same shape."""
    return VectorType(element, type.shape, type.scalable_dims) if is_vector(type) else element


# The type of the config option `relax.fastmath`.


class FastMath(Enum):
    """The freedom of passes to rearrange computations on floats; a flag of MLIR's fast-math."""

    none = "none"
    """A finite result stays finite."""
    reassoc = "reassoc"
    """Sums and products may be rearranged without regard to the range of floats."""
