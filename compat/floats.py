"""Types of floats of at most 8 bits, which xDSL has since 0.67, and the bytes of bf16, which it
packs since 0.64.

With an older xDSL no text and no model can have a value of a narrow type: its class here has no
instances. Constants of many elements of bf16, which xDSL itself would have to pack, do not exist.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import builtin
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, FloatData

__all__ = [
    "DISTINGUISHES_ZEROS",
    "NARROW_FLOATS",
    "PACKS_BF16",
    "Float4E2M1FNType",
    "Float8E4M3FNType",
    "Float8E4M3FNUZType",
    "Float8E5M2FNUZType",
    "Float8E5M2Type",
    "Float8E8M0FNUType",
    "byte_size",
    "pack",
    "rounded",
    "unpack",
]

NARROW_FLOATS = hasattr(builtin, "Float8E4M3FNType")
"""Whether this xDSL has the types."""

PACKS_BF16 = TYPE_CHECKING or "pack" in vars(BFloat16Type)
"""Whether this xDSL has dense constants of bf16."""

DISTINGUISHES_ZEROS = FloatData(0.0) != FloatData(-0.0)
"""Whether attributes of 0.0 and -0.0 are different: since xDSL 0.72."""


def byte_size(type: AnyFloat) -> int:
    """Return how many bytes a number of a type takes."""
    return 2 if isinstance(type, BFloat16Type) else type.compile_time_size


def pack(type: AnyFloat, values: Sequence[float]) -> bytes:
    """Return the bytes of numbers of a type."""
    if PACKS_BF16 or not isinstance(type, BFloat16Type):
        return type.pack(values)
    return b"".join(map(_bf16_bytes, values))


def unpack(type: AnyFloat, data: bytes, number: int) -> Sequence[float]:
    """Return the first `number` numbers of a type in their bytes."""
    if PACKS_BF16 or not isinstance(type, BFloat16Type):
        return type.unpack(data, number)
    halves = (data[2 * i : 2 * i + 2] for i in range(number))
    return struct.unpack(f"<{number}f", b"".join(b"\0\0" + half for half in halves))


def rounded(value: float, type: AnyFloat) -> float:
    """Return the number of a type that is nearest to `value`, where `FloatAttr` does not round to
    it: until xDSL 0.63 for bf16.
    """
    if PACKS_BF16 or not isinstance(type, BFloat16Type):
        return value
    return unpack(type, pack(type, (value,)), 1)[0]


def _bf16_bytes(value: float) -> bytes:
    """Return the upper half of an f32, rounded to nearest, ties to even; a NaN stays one."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if bits & 0x7FFFFFFF > 0x7F800000:
        return (bits >> 16 | 0x40).to_bytes(2, "little")
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16 & 0xFFFF).to_bytes(2, "little")


if TYPE_CHECKING or NARROW_FLOATS:
    from xdsl.dialects.builtin import (
        Float4E2M1FNType,
        Float8E4M3FNType,
        Float8E4M3FNUZType,
        Float8E5M2FNUZType,
        Float8E5M2Type,
        Float8E8M0FNUType,
    )
else:  # until xDSL 0.66

    class _AbsentType(builtin.ParametrizedAttribute, builtin.TypeAttribute):
        """A type that this xDSL does not have."""

    class Float4E2M1FNType(_AbsentType):
        name = "f4E2M1FN"

    class Float8E4M3FNType(_AbsentType):
        name = "f8E4M3FN"

    class Float8E4M3FNUZType(_AbsentType):
        name = "f8E4M3FNUZ"

    class Float8E5M2FNUZType(_AbsentType):
        name = "f8E5M2FNUZ"

    class Float8E5M2Type(_AbsentType):
        name = "f8E5M2"

    class Float8E8M0FNUType(_AbsentType):
        name = "f8E8M0FNU"
