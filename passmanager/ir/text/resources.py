"""Dense constants as resources: named blobs at the end of a file."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AnyDenseElement,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    RankedStructure,
    i1,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.utils.hints import isa

__all__ = ["ELIDED", "blob_name", "blob_of", "dense_of", "is_splat", "wants_dense"]

ELIDED = "__elided__"
"""The resource name that MLIR prints for elided elements."""


def blob_of(dense: DenseIntOrFPElementsAttr) -> tuple[str, str]:
    """Return a constant as a resource: its name, and the text of its blob.

    The blob is the alignment in four bytes followed by the elements, as in MLIR.
    """
    blob = _blob(dense)
    return _name_of(blob), f"0x{blob.hex().upper()}"


def blob_name(dense: DenseIntOrFPElementsAttr) -> str:
    """Return the name of a constant as a resource: a hash of the blob, so that it is the same in
    each dump, and equal constants share a blob.
    """
    return _name_of(_blob(dense))


def _name_of(blob: bytes) -> str:
    from hashlib import sha256  # loads OpenSSL

    return f"constant_{sha256(blob).hexdigest()[:16]}"


def _blob(dense: DenseIntOrFPElementsAttr) -> bytes:
    element, data = dense.get_element_type(), dense.data.data
    if element == i1:
        data = bytes(map(bool, data))  # true is 0xFF in xDSL, 1 in MLIR
    size = element.compile_time_size
    # The alignment is the largest power of two that divides the size of an element.
    return (size & -size).to_bytes(4, "little") + data


def dense_of(type: Attribute, text: str) -> DenseIntOrFPElementsAttr:
    """Return the constant of a type whose elements are in the text of a blob.

    Errors: ValueError with the defect of the blob.
    """
    if not isa(type, RankedStructure[AnyDenseElement]) or not type.has_static_shape():
        raise ValueError(f"cannot be the elements of {type}")
    element = type.get_element_type()
    try:
        # The alignment is not needed: the elements are copied.
        data = bytes.fromhex(text.removeprefix("0x"))[4:]
    except ValueError:
        raise ValueError("is not made of hexadecimal digits") from None
    if len(data) != (size := type.element_count() * element.compile_time_size):
        raise ValueError(f"has {len(data)} bytes, and {type} takes {size}")
    if element == i1:
        data = bytes(0xFF * bool(value) for value in data)
    return DenseIntOrFPElementsAttr(type, BytesAttr(data))


def is_splat(dense: DenseIntOrFPElementsAttr) -> bool:
    """Return whether all elements are bitwise equal."""
    data, count = dense.data.data, len(dense)
    return count > 0 and data[: len(data) // count] * count == data


def wants_dense(op: IRDLOperation, name: str) -> bool:
    """Return whether the property `name` of an op must be a dense constant, not a resource."""
    definition = op.get_irdl_definition().properties.get(name)
    bases = definition.constr.get_bases() if definition is not None else None
    return (
        bases is not None and DenseIntOrFPElementsAttr in bases and DenseResourceAttr not in bases
    )
