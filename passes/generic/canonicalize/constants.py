"""Constants of `arith` as numbers: reading and making them, also those of vectors and tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    CompileTimeFixedBitwidthType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from ....passmanager.ir.text.printer import is_dense
from ....passmanager.releases.floats import byte_size, pack, unpack
from .scalar_values import (
    Float,
    Number,
    element_of,
    is_computed,
    is_shaped,
    round_to,
    width_of,
    wrap,
)

__all__ = [
    "Constant",
    "Scalar",
    "constant_float",
    "constant_integer",
    "constant_of",
    "dense_of_bytes",
    "dense_of_numbers",
    "is_integer",
    "is_uniform_constant",
    "numbers_of",
    "scalar_constant",
    "signed_integer",
    "truncated_integer",
    "uniform_attribute",
    "uniform_number",
]

Scalar: TypeAlias = IntegerAttr | FloatAttr
Constant: TypeAlias = IntegerAttr | FloatAttr | DenseIntOrFPElementsAttr


def constant_of(value: SSAValue) -> Attribute | None:
    """Return the attribute of an `arith.constant` that defines `value`, or None."""
    owner = value.owner
    # Not `owner.value`, which takes ten times as long; this is asked of each operand.
    return owner.properties["value"] if type(owner) is arith.ConstantOp else None


def scalar_constant(value: SSAValue) -> Scalar | None:
    """Return the number that an `arith.constant` defines as `value`, or None."""
    number = constant_of(value)
    return cast(Scalar, number) if isinstance(number, IntegerAttr | FloatAttr) else None


def uniform_number(constant: Attribute | None) -> Number | None:
    """Return the number that a constant is, or that all elements of a dense one are; else None.

    An integer is signed. A float of more than 64 bits is no number.
    """
    match constant:
        case IntegerAttr():
            return wrap(int(constant.value.data), width_of(constant.type))
        case FloatAttr():
            # Older releases of xDSL do not round.
            kind = constant.type
            return round_to(constant.value.data, kind) if isinstance(kind, Float) else None
        case _ if constant is not None and is_dense(constant):
            return _splat(constant)
        case _:
            return None


def _splat(dense: DenseIntOrFPElementsAttr) -> Number | None:
    """Return the number that all elements of a constant are, or None."""
    element, data = dense.type.element_type, dense.data.data
    if not data or not is_computed(element):
        return None
    size = _size(element)
    first = data[:size]
    # Most constants differ in their first elements, or in the last one.
    if data[-size:] != first or (len(data) > size and data[size : 2 * size] != first):
        return None
    if first * (len(data) // size) != data:
        return None
    return _unpacked(element, first)[0]


def numbers_of(constant: Attribute) -> Sequence[Number] | None:
    """Return the elements of a dense constant, in order; None for any other attribute."""
    if not is_dense(constant) or not is_computed(constant.type.element_type):
        return None
    return _unpacked(constant.type.element_type, constant.data.data)


def _size(element: Attribute) -> int:
    return byte_size(cast(CompileTimeFixedBitwidthType, element))


def _unpacked(element: Attribute, data: bytes) -> Sequence[Number]:
    count = len(data) // _size(element)
    if isinstance(element, Float):
        return unpack(element, data, count)
    assert is_integer(element)
    width = width_of(element)
    return [wrap(number, width) for number in element.unpack(data, count)]


def constant_integer(value: SSAValue) -> int | None:
    """Return the integer that a constant, or each element of it, is, as an unsigned number; None
    for any other value."""
    constant = constant_of(value)
    if isinstance(constant, IntegerAttr):
        return constant.value.data & ones(value)
    if constant is None or isinstance(constant, FloatAttr):
        return None
    number = uniform_number(constant)
    return number & ones(value) if isinstance(number, int) else None


def signed_integer(value: SSAValue) -> int | None:
    """Return the integer that a constant, or each element of it, is, signed; else None."""
    number = constant_integer(value)
    return None if number is None else wrap(number, width_of(value.type))


def constant_float(value: SSAValue) -> float | None:
    """Return the float that a constant, or each element of it, is; None for any other value."""
    constant = constant_of(value)
    if isinstance(constant, FloatAttr):
        return constant.value.data
    number = uniform_number(constant)
    return number if isinstance(number, float) else None


def is_uniform_constant(value: SSAValue) -> bool:
    """Return whether a value is a constant number, or one all of whose elements are equal."""
    constant = constant_of(value)
    return isinstance(constant, IntegerAttr | FloatAttr) or uniform_number(constant) is not None


def is_integer(type: Attribute) -> TypeGuard[IntegerType | IndexType]:
    """Return whether a type is that of an integer or an index."""
    return isinstance(type, IntegerType | IndexType)


def ones(value: SSAValue) -> int:
    """Return the unsigned number of the type of `value`, or of its elements, whose bits are all
    ones."""
    return (1 << width_of(value.type)) - 1


# Making constants


def truncated_integer(number: int, type: IntegerType | IndexType) -> IntegerAttr:
    """Return the number with the low bits of `number` that a type has; an index is signed."""
    if isinstance(type, IndexType):  # xDSL takes any number for one
        number = (number + (1 << 63)) % (1 << 64) - (1 << 63)
    return IntegerAttr(number, type, truncate_bits=True)


def uniform_attribute(number: Number, type: Attribute) -> Constant | None:
    """Return the constant of a type that is `number`, wrapped, or all of whose elements are it;
    None if there is none, as for a tensor of unknown size."""
    if is_integer(type):
        return truncated_integer(int(number), type)
    if isinstance(type, AnyFloat):
        return FloatAttr(float(number), type)
    return dense_of_numbers((number,), type)


def dense_of_numbers(numbers: Sequence[Number], type: Attribute) -> Constant | None:
    """Return the constant vector or tensor of these elements, or of one repeated; None if `type`
    is no such type of static shape."""
    if not is_shaped(type) or not type.has_static_shape():
        return None
    element = element_of(type)
    if not is_computed(element):
        return None
    if isinstance(element, Float):
        data = pack(element, [float(number) for number in numbers])
    else:
        assert is_integer(element)
        width = width_of(element)
        data = element.pack([wrap(int(number), width) for number in numbers])
    count = math.prod(type.get_shape())
    if len(numbers) != count:
        data *= count
    return dense_of_bytes(data, type)


def dense_of_bytes(data: bytes, type: VectorType[Attribute] | TensorType[Attribute]) -> Constant:
    """Return the constant of a type with elements in these bytes."""
    return cast(Constant, DenseIntOrFPElementsAttr(cast(Any, type), BytesAttr(data)))
