"""Axes along which scales run, and tests of values that are to be scaled along them."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.traits import ConstantLike

from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.interfaces import Axes
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import Float, is_ranked, static_shape


def scale_axes(factor: SSAValue, type: TensorType[Attribute]) -> Axes | None:
    """Return the axes along which `factor` scales a tensor of `type`: those of size other than 1.

    None if `factor` is not a scale: it has as many elements as the tensor, or unknown sizes.
    """
    shape = static_shape(factor.type)
    if shape is None or not is_ranked(factor.type):
        return None
    if isinstance(factor.owner, FullOp):
        return ()
    if shape == type.get_shape() and not is_constant(factor):
        return None
    axes = tuple(i - len(shape) for i, size in enumerate(shape) if size != 1)
    return axes if DYNAMIC_INDEX not in sizes_along(type, axes) else None


def is_constant(value: SSAValue) -> bool:
    """Return whether `value` is the result of a constant operation."""
    if isinstance(value.owner, ConstantOp | FullOp):
        return True
    return ConstantLike.get_constant_value(value) is not None


def is_scalable_parameter(value: SSAValue, axes: Axes, like: SSAValue, like_axes: Axes) -> bool:
    """Return whether `value` can be scaled along `axes` itself, by a scale of `like` along
    `like_axes`.

    It is a constant, or it is broadcast and has no dimensions of size other than 1 but `axes`.
    """
    shape, type, like_type = static_shape(value.type), value.type, like.type
    if shape is None or not is_ranked(type) or not is_ranked(like_type):
        return False
    if type.element_type != like_type.element_type:
        return False
    sizes, needed = sizes_along(type, axes), sizes_along(like_type, like_axes)
    if len(sizes) != len(needed) or any(
        a not in (1, b) for a, b in zip(sizes, needed, strict=True)
    ):
        return False
    if is_constant(value):
        return True
    small = all(size == 1 or i - len(shape) in axes for i, size in enumerate(shape))
    return small and shape != like_type.get_shape()


def can_scale(value: SSAValue, axes: Axes) -> bool:
    """Return whether `value` is a tensor of floats with known sizes along `axes`."""
    type = value.type
    return (
        is_ranked(type)
        and isinstance(type.element_type, Float)
        and DYNAMIC_INDEX not in sizes_along(type, axes)
    )


def same_sizes(value: SSAValue, axes: Axes, other: SSAValue, other_axes: Axes) -> bool:
    """Return whether two values have one element type, and as many elements along their axes."""
    type, other_type = value.type, other.type
    return (
        is_ranked(type)
        and is_ranked(other_type)
        and type.element_type == other_type.element_type
        and prod(sizes_along(type, axes)) == prod(sizes_along(other_type, other_axes))
    )


def sizes_along(type: Attribute, axes: Axes, view: Shape | None = None) -> Shape:
    """Return the sizes of a tensor of `type`, or of its view as shape `view`, along `axes`.

    A dimension beyond the rank of the tensor, which broadcasting adds, has size 1.
    """
    if not axes:
        return ()
    assert is_ranked(type)
    if view is not None:
        return tuple(view[axis] for axis in axes)
    dimensions = type.shape.data  # `get_shape` would convert all dimensions
    minimum = -len(dimensions)
    return tuple([dimensions[axis].data if axis >= minimum else 1 for axis in axes])


def joined_axes(axes: Axes, other: Axes) -> Axes | None:
    """Return the axes of the product of two scales, or None if the product is not a scale along
    the axes of one of them."""
    if not other or axes == other:
        return axes
    return None if axes else other
