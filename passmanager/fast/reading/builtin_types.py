"""The builtin types that MLIR refuses, and xDSL does not."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    FunctionType,
    MemRefType,
    NoneType,
    StridedLayoutAttr,
    TensorType,
    TupleType,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute

__all__ = ["defect_of_type"]

_NO_ELEMENTS = (FunctionType, NoneType, TensorType, TupleType, UnrankedTensorType)
"""The builtin types of which neither tensors nor buffers nor vectors are made."""
_BUFFERS = (MemRefType, UnrankedMemRefType)


def defect_of_type(type: Attribute) -> str | None:
    """Return why a type is not valid, or None."""
    match type:
        case TensorType() | UnrankedTensorType():
            element = cast("TensorType[Attribute]", type).element_type
            if isinstance(element, (*_NO_ELEMENTS, *_BUFFERS)):
                return "invalid tensor element type"
        case MemRefType() | UnrankedMemRefType():
            element = cast("MemRefType[Attribute]", type).element_type
            if isinstance(element, _NO_ELEMENTS):
                return "invalid memref element type"
        case VectorType():
            element = type.element_type
            is_builtin = isinstance(element, (*_NO_ELEMENTS, *_BUFFERS, VectorType))
            return "invalid vector element type" if is_builtin else None
        case _:
            return None
    if isinstance(type, TensorType | MemRefType):
        shape = cast("TensorType[Attribute]", type).get_shape()
        if any(size >= 1 << 63 for size in shape):
            return "a dimension has at most 63 bits"
    return _defect_of_layout(type) if isinstance(type, MemRefType) else None


def _defect_of_layout(type: MemRefType) -> str | None:
    """Return why the layout of a buffer does not fit its shape, or None."""
    rank = len(type.get_shape())
    match type.layout:
        case AffineMapAttr(data=map) if map.num_dims != rank:
            return f"memref layout mismatch between rank and affine map: {rank} != {map.num_dims}"
        case StridedLayoutAttr(strides=strides) if len(strides.data) != rank:
            return f"expected as many strides as dimensions, {rank}, but found {len(strides.data)}"
        case _:
            return None
