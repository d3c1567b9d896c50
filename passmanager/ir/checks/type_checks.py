"""A check of types that xDSL accepts, and prints as text that MLIR cannot read."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, ShapedType
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException

__all__ = ["check_types"]


def check_types(op: Operation) -> None:
    """Raise VerifyException if a shape has a dimension that is negative or no i64 in a type of
    `op`: of a result, an argument of an entry block, or a property that is a type.
    """
    # Operands are results or arguments elsewhere, and checked there.
    types = [*op.result_types]
    types += (value for value in op.properties.values() if isinstance(value, TypeAttribute))
    for region in op.regions:
        if (entry := region.first_block) is not None:
            types += entry.arg_types
    for type in types:
        if (invalid := _invalid_shape(type)) is not None:
            shape = ", ".join(map(str, invalid))
            kind = (
                "dimension larger than an i64" if max(invalid) > MAX_SIZE else "negative dimension"
            )
            raise VerifyException(f"has a type with a {kind}: shape [{shape}]")


MAX_SIZE = (1 << 63) - 1


def _invalid_shape(attribute: Attribute) -> tuple[int, ...] | None:
    """Return the first shape in an attribute that has an invalid dimension, or None."""
    if isinstance(attribute, ShapedType) and any(
        not 0 <= size <= MAX_SIZE and size != DYNAMIC_INDEX for size in attribute.get_shape()
    ):
        return (*attribute.get_shape(),)
    parts: tuple[Attribute, ...] = ()
    if isinstance(attribute, ParametrizedAttribute):
        parts = attribute.parameters
    elif isinstance(attribute, ArrayAttr):
        parts = cast(ArrayAttr[Attribute], attribute).data
    return next((found for part in parts if (found := _invalid_shape(part)) is not None), None)
