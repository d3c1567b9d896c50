"""Rules on tensor types: checks of element types, refinement and unification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf, prod
from typing import TypeAlias, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyTensorTypeConstr,
    ArrayAttr,
    BFloat16Type,
    CompileTimeFixedBitwidthType,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    TensorType,
    TupleType,
    UnrankedTensorType,
    i1,
)
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import AnyOf, AttrConstraint, BaseAttr
from xdsl.utils.exceptions import VerifyException

from ...passmanager.fast.creation import make_attribute
from ...passmanager.releases.floats import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    byte_size,
)
from .shapes import MAX_SIZE, Shape, SymbolicSize, is_static, merge, shape_text, widen

__all__ = [
    "TENSOR",
    "Element",
    "Float",
    "Number",
    "SmallFloat",
    "Tensor",
    "bounds",
    "check_bool",
    "check_element",
    "check_float",
    "check_indices",
    "check_integer",
    "check_number",
    "check_parameter",
    "check_same_element",
    "combine",
    "is_element",
    "is_integer",
    "is_number",
    "is_ranked",
    "is_tensor",
    "is_unsigned",
    "make_tensor_type",
    "number_type",
    "product_element",
    "refine",
    "shape_of",
    "shape_of_rank",
    "static_shape",
    "tensor_type",
    "too_large",
    "tuple_type",
    "unify",
    "with_element",
    "with_shape",
]

MAX_BYTES = 1 << 56
"""More bytes than an address of a process can tell apart."""

Tensor: TypeAlias = TensorType[Attribute] | UnrankedTensorType[Attribute]
# The usual type first: `isinstance` of abstract classes is only fast for the class itself.
Float: TypeAlias = Float32Type | Float64Type | Float16Type | BFloat16Type
Number: TypeAlias = Float | IntegerType
SmallFloat: TypeAlias = (
    Float8E4M3FNType
    | Float8E5M2Type
    | Float4E2M1FNType
    | Float8E4M3FNUZType
    | Float8E5M2FNUZType
    | Float8E8M0FNUType
)
"""Floats that are stored, and converted to others before anything is computed."""
Element: TypeAlias = Number | SmallFloat

TENSOR: AttrConstraint[Tensor] = AnyOf(
    (AnyTensorTypeConstr, BaseAttr[UnrankedTensorType[Attribute]](UnrankedTensorType))
)
"""The constraint on operands and results: a tensor, ranked or not."""


def is_ranked(type: Attribute) -> TypeIs[TensorType[Attribute]]:
    """Return whether `type` is a ranked tensor type."""
    return isinstance(type, TensorType)


_TENSORS = (TensorType, UnrankedTensorType)  # a union would be made in each call


def is_tensor(type: Attribute) -> TypeIs[Tensor]:
    """Return whether `type` is a tensor type, ranked or not."""
    return isinstance(type, _TENSORS)


def tensor_type(value: SSAValue) -> Tensor:
    """Return the type of a tensor; VerifyException if `value` is not a tensor."""
    type = value.type
    if not is_tensor(type):
        raise VerifyException(f"expected a tensor, got {type}")
    return type


def number_type(value: SSAValue) -> Tensor:
    """Return the type of a tensor of numbers; VerifyException if `value` is not one."""
    check_number(type := tensor_type(value))
    return type


def shape_of(type: Tensor) -> Shape | None:
    """Return the shape of a tensor type; None if it is unranked."""
    return _sizes(type) if is_ranked(type) else None


def _sizes(type: TensorType[Attribute]) -> Shape:
    """Return the shape; `get_shape` takes twice as long."""
    return tuple([size.data for size in type.shape.data])


def shape_of_rank(what: str, type: Tensor, rank: int, dimensions: str = "") -> Shape:
    """Return the shape of a tensor that has `rank` dimensions; unknown ones if it is unranked.

    VerifyException for another rank: that `what`, such as "data has", another shape than the
    `dimensions`, in words."""
    if (shape := shape_of(type)) is None:
        return (DYNAMIC_INDEX,) * rank
    if len(shape) != rank:
        expected = dimensions or f"{rank} dimensions"
        raise VerifyException(f"{what} shape {shape_text(shape)}, expected {expected}")
    return shape


def static_shape(type: Attribute) -> Shape | None:
    """Return the shape of a tensor type with only known dimensions; None for any other type."""
    if not is_ranked(type):
        return None
    shape = _sizes(type)
    return shape if is_static(shape) else None


def too_large(type: TensorType[Attribute]) -> str | None:
    """Return why no memory can hold a tensor of `type`, or None if its known dimensions may fit;
    those of a tensor without elements have to fit without the 0."""
    element = type.element_type
    size = byte_size(element) if isinstance(element, CompileTimeFixedBitwidthType) else 1
    bytes_ = prod(n for n in _sizes(type) if n > 0) * size
    return f"{bytes_} bytes are more than any memory has" if bytes_ > MAX_BYTES else None


def with_shape(type: Tensor, shape: Shape | None) -> Tensor:
    """Return the tensor type with the element type of `type`, unranked if `shape` is None."""
    if shape is None:
        return UnrankedTensorType(type.element_type)
    # An unknown size has an expression in one of them, perhaps.
    if is_ranked(type) and _sizes(type) == shape and is_static(shape):
        return type
    return make_tensor_type(type.element_type, shape)


def with_element(type: Tensor, element: Attribute) -> Tensor:
    """Return the tensor type with the shape of `type` and another element type."""
    if type.element_type == element:
        return type
    if not is_ranked(type):
        return UnrankedTensorType(element)
    return make_tensor_type(element, type.get_shape())


def make_tensor_type(element: Attribute, shape: Shape | None) -> Tensor:
    """Return the tensor type of `element` and `shape`, unranked if `shape` is None."""
    if shape is None:
        return UnrankedTensorType(element)
    if not is_static(shape) and any(isinstance(size, SymbolicSize) for size in shape):
        # Not cached, as expressions refer to values.
        sizes = ArrayAttr([make_attribute(IntAttr, data=size) for size in shape])
        return make_attribute(TensorType, shape=sizes, element_type=element, encoding=_NONE)
    return _tensor(element, shape)


_NONE = NoneAttr()


# Cached, as types are immutable: xDSL verifies each new one, which takes 7 us.
@lru_cache(1 << 12)
def _tensor(element: Attribute, shape: Shape) -> TensorType[Attribute]:
    if shape and (size := max(shape)) > MAX_SIZE:
        raise VerifyException(f"a tensor with a dimension of {size}, which exceeds an i64")
    return TensorType(element, shape)


def is_element(element: Attribute) -> TypeIs[Element]:
    """Return whether tensors may have elements of this type."""
    return is_number(element) or isinstance(element, SmallFloat)


def is_number(element: Attribute) -> TypeIs[Number]:
    """Return whether the operations are defined for this element type."""
    return isinstance(element, Float) or (is_integer(element) and 1 <= element.bitwidth <= 64)


def is_integer(element: Attribute) -> TypeIs[IntegerType]:
    """Return whether `element` is an integer type of any width and signedness."""
    return isinstance(element, IntegerType)


def is_unsigned(element: Attribute) -> bool:
    """Return whether `element` is an unsigned integer type (`ui8`)."""
    return is_integer(element) and element.signedness.data is Signedness.UNSIGNED


def bounds(element: Attribute) -> tuple[float, float] | tuple[int, int]:
    """Return the minimum and the maximum of an element type."""
    if not is_integer(element):
        return -inf, inf
    width = element.bitwidth
    if element == i1 or is_unsigned(element):
        return 0, (1 << width) - 1
    return -1 << width - 1, (1 << width - 1) - 1


def check_same_element(lhs: Attribute, rhs: Attribute) -> None:
    """Raise VerifyException unless two element types are equal."""
    if lhs != rhs:
        raise VerifyException(f"element types {lhs} and {rhs} differ")


def check_number(type: Tensor) -> None:
    """Raise VerifyException unless the operations are defined for the element type."""
    if not is_number(type.element_type):
        raise VerifyException(
            f"element type {type.element_type} is not one of f16, bf16, f32, f64 "
            "and integers of 1 to 64 bits"
        )


def check_element(type: Tensor) -> None:
    """Raise VerifyException unless the elements can be constants and be converted."""
    if not isinstance(type.element_type, SmallFloat):
        check_number(type)


def check_float(type: Tensor) -> None:
    """Raise VerifyException unless the elements are floating-point numbers."""
    if not isinstance(type.element_type, Float):
        raise VerifyException(f"element type {type.element_type} is not one of f16, bf16, f32, f64")


def check_integer(type: Tensor) -> None:
    """Raise VerifyException unless the elements are integers, i1 included."""
    if not is_number(type.element_type) or isinstance(type.element_type, Float):
        raise VerifyException(
            f"element type {type.element_type} is not an integer type of 1 to 64 bits"
        )


def check_bool(type: Tensor) -> None:
    """Raise VerifyException unless the elements are i1."""
    if type.element_type != i1:
        raise VerifyException(f"element type {type.element_type} is not i1")


def check_indices(what: str, type: Tensor) -> None:
    """Raise VerifyException unless the elements can be indices: integers other than i1.

    `what` is the name of the operand in the message.
    """
    check_number(type)
    element = type.element_type
    if not is_integer(element) or element.bitwidth == 1:
        raise VerifyException(f"{what} has element type {element}, expected an integer type")


def check_parameter(name: str, value: SSAValue, data: Tensor, axes: Sequence[int]) -> None:
    """Raise VerifyException unless the parameter `name` matches `data` along `axes`.

    It has the element type of `data`, and one dimension for each of `axes`, of the same size.
    """
    type = tensor_type(value)
    if type.element_type != data.element_type:
        raise VerifyException(
            f"{name} has element type {type.element_type}, but data has {data.element_type}"
        )
    shape, sizes = shape_of(type), shape_of(data)
    expected: Shape = (DYNAMIC_INDEX,) * len(axes)
    if sizes is not None:
        expected = tuple(sizes[axis] for axis in axes)
    if shape is not None and merge(shape, expected) is None:
        raise VerifyException(
            f"{name} has shape {shape_text(shape)}, expected {shape_text(expected)}, the shape of "
            f"data along {'axis' if len(axes) == 1 else 'axes'} {', '.join(map(str, axes))}"
        )


def combine(rule: Callable[[Shape, Shape], Shape], lhs: Tensor, rhs: Tensor) -> Tensor:
    """Return the result type of a function of two tensors with the same element type.

    `rule` computes its shape from the two shapes; the result is unranked if one operand is.
    """
    check_number(lhs)
    check_same_element(lhs.element_type, rhs.element_type)
    if not is_ranked(lhs) or not is_ranked(rhs):
        return UnrankedTensorType(lhs.element_type)
    sizes = _sizes(rhs)
    shape = rule(_sizes(lhs), sizes)
    return rhs if shape == sizes else with_shape(lhs, shape)


def product_element(lhs: Tensor, rhs: Tensor, out_dtype: Attribute | None) -> Attribute:
    """Return the element type of sums of products: `out_dtype`, or that of the operands.

    With `out_dtype` the operands may have different integer types.
    """
    for type in (lhs, rhs):
        check_number(type)
    elements = lhs.element_type, rhs.element_type
    integers = all(is_integer(element) for element in elements)
    if out_dtype is None or not integers:
        check_same_element(*elements)
    if out_dtype is None:
        return elements[0]
    if not is_number(out_dtype):
        raise VerifyException(f"out_dtype {out_dtype} is not a type of numbers")
    return out_dtype


def refine(declared: Attribute, inferred: Attribute) -> Attribute | None:
    """Return the type of a value that has both types; None if they conflict.

    The result is `declared` itself where `inferred` adds nothing. Tuples are refined element by
    element, functions in their result types; other types must be equal.
    """
    if declared is inferred or declared == inferred:
        return declared
    if not is_tensor(declared) or not is_tensor(inferred):
        return _by_parts(refine, declared, inferred)
    if declared.element_type != inferred.element_type:
        return None
    if not is_ranked(declared) or not is_ranked(inferred):
        return declared if is_ranked(declared) else inferred
    if (shape := merge(declared.get_shape(), inferred.get_shape())) is None:
        return None
    if shape == declared.get_shape():
        return declared
    return TensorType(declared.element_type, shape, declared.encoding)


def unify(lhs: Attribute, rhs: Attribute) -> Attribute | None:
    """Return the join of two types in the lattice of types, as for the results of two branches;
    None if there is no common type.

    Dimensions that differ become unknown.
    """
    if lhs is rhs or lhs == rhs:
        return lhs
    if not is_tensor(lhs) or not is_tensor(rhs):
        return _by_parts(unify, lhs, rhs)
    if lhs.element_type != rhs.element_type:
        return None
    if not is_ranked(lhs) or not is_ranked(rhs):
        return with_shape(lhs, None)
    return with_shape(lhs, widen(lhs.get_shape(), rhs.get_shape()))


def tuple_type(types: Sequence[Attribute]) -> TupleType:
    """Return the type of a tuple whose elements have these types."""
    return TupleType(ArrayAttr(cast(Sequence[TypeAttribute], types)))


Rule: TypeAlias = Callable[[Attribute, Attribute], Attribute | None]


def _by_parts(rule: Rule, lhs: Attribute, rhs: Attribute) -> Attribute | None:
    """Combine two tuple types, or two function types, part by part with `rule`.

    Return `lhs` itself if nothing changes, None if the types or one of their parts do not match.
    """
    if isinstance(lhs, TupleType) and isinstance(rhs, TupleType):
        types = _each(rule, lhs.types.data, rhs.types.data)
        return _same(lhs, None if types is None else tuple_type(types))
    if isinstance(lhs, FunctionType) and isinstance(rhs, FunctionType) and lhs.inputs == rhs.inputs:
        types = _each(rule, lhs.outputs.data, rhs.outputs.data)
        return _same(
            lhs, None if types is None else FunctionType.from_lists(lhs.inputs.data, types)
        )
    return None


def _each(rule: Rule, lhs: Sequence[Attribute], rhs: Sequence[Attribute]) -> list[Attribute] | None:
    if len(lhs) != len(rhs):
        return None
    types = [rule(*pair) for pair in zip(lhs, rhs, strict=True)]
    known = [type for type in types if type is not None]
    return known if len(known) == len(types) else None


def _same(old: Attribute, new: Attribute | None) -> Attribute | None:
    return old if new == old else new
