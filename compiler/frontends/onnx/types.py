"""Conversions between types of ONNX and tensor types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from onnx import TensorProto, TensorShapeProto, TypeProto
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute

from ....dialects.relax.shapes import Shape
from ....dialects.relax.types import Element, Tensor, is_element, make_tensor_type, shape_of
from ....dialects.sizes import Size
from ....passmanager.releases.floats import (
    NARROW_FLOATS,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
)
from ...interpreters.shape_bindings import Dimension, bound_dimension
from .errors import Unsupported

_UNSIGNED = Signedness.UNSIGNED

ELEMENTS: dict[int, Element] = {
    TensorProto.FLOAT16: Float16Type(),
    TensorProto.BFLOAT16: BFloat16Type(),
    TensorProto.FLOAT: Float32Type(),
    TensorProto.DOUBLE: Float64Type(),
    TensorProto.BOOL: IntegerType(1),
    TensorProto.INT2: IntegerType(2),
    TensorProto.INT4: IntegerType(4),
    TensorProto.INT8: IntegerType(8),
    TensorProto.INT16: IntegerType(16),
    TensorProto.INT32: IntegerType(32),
    TensorProto.INT64: IntegerType(64),
    TensorProto.UINT2: IntegerType(2, _UNSIGNED),
    TensorProto.UINT4: IntegerType(4, _UNSIGNED),
    TensorProto.UINT8: IntegerType(8, _UNSIGNED),
    TensorProto.UINT16: IntegerType(16, _UNSIGNED),
    TensorProto.UINT32: IntegerType(32, _UNSIGNED),
    TensorProto.UINT64: IntegerType(64, _UNSIGNED),
}
if NARROW_FLOATS:
    ELEMENTS.update(
        {
            TensorProto.FLOAT8E4M3FN: Float8E4M3FNType(),
            TensorProto.FLOAT8E4M3FNUZ: Float8E4M3FNUZType(),
            TensorProto.FLOAT8E5M2: Float8E5M2Type(),
            TensorProto.FLOAT8E5M2FNUZ: Float8E5M2FNUZType(),
            TensorProto.FLOAT8E8M0: Float8E8M0FNUType(),
            TensorProto.FLOAT4E2M1: Float4E2M1FNType(),
        }
    )
"""The data types of ONNX that relax has; signed integers are signless, and floats of 4 and 8 bits
can only be converted."""

DATA_TYPES = {element: data_type for data_type, element in ELEMENTS.items()}


def element_type(data_type: int) -> Element:
    """Return the element type for a data type of ONNX; Unsupported if relax has none."""
    if (element := ELEMENTS.get(data_type)) is None:
        names = {value: name for name, value in TensorProto.DataType.items()}
        raise Unsupported(f"element type {names.get(data_type, data_type)} is not supported")
    return element


def tensor_of(element: Element, shape: Shape) -> TensorType[Attribute]:
    """Return a tensor type; the same object as inference gives. Unsupported for a negative
    dimension."""
    if any(size < 0 and size != DYNAMIC_INDEX for size in shape):
        raise Unsupported(f"the shape {[*shape]} has a negative dimension")
    return cast(TensorType[Attribute], make_tensor_type(element, shape))


def type_of(proto: TypeProto, sizes: Mapping[str, int | Size] | None = None) -> Tensor:
    """Return the tensor type for a type of ONNX; Unsupported for sequences, optionals and maps.

    Symbolic dimensions have the sizes that `sizes` gives to their names, others are unknown.
    """
    dimensions = dimensions_of(proto)
    if dimensions is not None and sizes:
        dimensions = tuple(bound_dimension(d, sizes) for d in dimensions)
    return type_with(proto, dimensions)


def type_with(proto: TypeProto, dimensions: Sequence[Dimension] | None) -> Tensor:
    """Return the tensor type of these dimensions with the elements of a type of ONNX, unranked for
    None; Unsupported for sequences, optionals and maps."""
    kind = proto.WhichOneof("value")
    if kind != "tensor_type":
        raise Unsupported(f"{(kind or 'no_type').replace('_type', '')} values are not supported")
    element = element_type(proto.tensor_type.elem_type)
    if dimensions is None:
        return UnrankedTensorType(element)
    return tensor_of(element, tuple(d if isinstance(d, int) else DYNAMIC_INDEX for d in dimensions))


def dimensions_of(proto: TypeProto) -> tuple[Dimension, ...] | None:
    """Return the dimensions of a type of ONNX, symbolic ones by name; None without a shape."""
    if not proto.tensor_type.HasField("shape"):
        return None
    return tuple(map(_dimension, proto.tensor_type.shape.dim))


def _dimension(dim: TensorShapeProto.Dimension) -> Dimension:
    """Return the size or the name of a dimension; a negative one is unknown, as in onnxruntime.

    A name without a letter or digit is none: exporters write "?" for every unknown dimension.
    """
    if dim.HasField("dim_value"):
        return dim.dim_value if dim.dim_value >= 0 else None
    return dim.dim_param if any(map(str.isalnum, dim.dim_param)) else None


def negative_dimensions(proto: TypeProto) -> list[int]:
    """Return the negative ones among the dimensions that a type of ONNX gives."""
    sizes = (dim.dim_value for dim in proto.tensor_type.shape.dim)
    return [size for size in sizes if size < 0]


def type_proto(type: Tensor) -> TypeProto:
    """Return the type of ONNX for a tensor type."""
    proto = TypeProto()
    element = type.element_type
    assert is_element(element)
    proto.tensor_type.elem_type = DATA_TYPES[element]
    if (shape := shape_of(type)) is not None:
        proto.tensor_type.shape.dim.extend(map(_dimension_proto, shape))
    return proto


def _dimension_proto(size: int) -> TensorShapeProto.Dimension:
    if size == DYNAMIC_INDEX:
        return TensorShapeProto.Dimension()
    return TensorShapeProto.Dimension(dim_value=size)
