"""Types of floats of at most 8 bits, which xDSL has since 0.67, and the bytes of bf16, which it
packs since 0.64, and correctly since 0.74.

With an older xDSL no text and no model can have a value of a narrow type: its class here has no
instances. Constants of many elements of bf16, which xDSL itself would have to pack, do not exist.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import builtin
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    CompileTimeFixedBitwidthType,
    FloatAttr,
    FloatData,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.printer import Printer

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
    "FloatTF32Type",
    "byte_size",
    "key_of",
    "pack",
    "print_float",
    "rounded",
    "unpack",
]

NARROW_FLOATS = hasattr(builtin, "Float8E4M3FNType")
"""Whether this xDSL has the types."""

PACKS_BF16 = TYPE_CHECKING or "pack" in vars(BFloat16Type)
"""Whether this xDSL has dense constants of bf16, and arithmetic on vectors of it."""
_ROUNDS_BF16 = TYPE_CHECKING or (
    PACKS_BF16 and FloatAttr(1 + 2**-8 + 2**-40, BFloat16Type()).value.data > 1
)
"""Whether it rounds to bf16 once: until 0.73 it does so to f32 first."""

DISTINGUISHES_ZEROS = FloatData(0.0) != FloatData(-0.0)
"""Whether attributes of 0.0 and -0.0 are different: since xDSL 0.72."""


def key_of(attribute: Attribute) -> object:
    """Return a key for a table of attributes, which differs for 0.0 and -0.0."""
    if DISTINGUISHES_ZEROS:
        return attribute
    return attribute, isinstance(attribute, FloatAttr) and math.copysign(1.0, attribute.value.data)


def byte_size(type: CompileTimeFixedBitwidthType) -> int:
    """Return how many bytes a value of a type takes; xDSL says so of bf16 since 0.64."""
    return 2 if isinstance(type, BFloat16Type) else type.compile_time_size


def pack(type: AnyFloat, values: Sequence[float]) -> bytes:
    """Return the bytes of numbers of a type."""
    if _ROUNDS_BF16 or not isinstance(type, BFloat16Type):
        return type.pack(values)
    return b"".join(map(_bf16_bytes, values))


def unpack(type: AnyFloat, data: bytes, number: int) -> Sequence[float]:
    """Return the first `number` numbers of a type in their bytes."""
    if _ROUNDS_BF16 or not isinstance(type, BFloat16Type):
        return type.unpack(data, number)
    halves = (data[2 * i : 2 * i + 2] for i in range(number))
    return struct.unpack(f"<{number}f", b"".join(b"\0\0" + half for half in halves))


def rounded(value: float, type: AnyFloat) -> float:
    """Return the number of a type that is nearest to `value`, where `FloatAttr` does not round to
    it: for bf16 until xDSL 0.73.
    """
    if _ROUNDS_BF16 or not isinstance(type, BFloat16Type):
        return value
    return unpack(type, pack(type, (value,)), 1)[0]


def print_float(printer: Printer, value: float, type: AnyFloat) -> None:
    """Print a number as xDSL does, which until 0.63 prints none of bf16."""
    if PACKS_BF16 or not isinstance(type, BFloat16Type):
        return printer.print_float(value, type)
    word = f"{value:.5e}".replace("e", "0e", 1)
    if not math.isfinite(value):
        word = f"0x{pack(type, (value,))[::-1].hex()}"
    elif rounded(float(word), type) != value:
        word = repr(value)
    printer.print_string(word)


def _bf16_bytes(value: float) -> bytes:
    """Return the upper half of the f32 that is the number of bf16 nearest to `value`."""
    if math.isfinite(value):
        exponent = max(math.frexp(value)[1] - 8, -133)  # of the last bit
        nearest = math.ldexp(round(math.ldexp(value, -exponent)), exponent)
        value = math.copysign(nearest if abs(nearest) < 2.0**128 else math.inf, value)
    return struct.pack("<f", value)[2:]


class _AbsentType(ParametrizedAttribute, TypeAttribute):
    """A type that this xDSL does not have."""


if TYPE_CHECKING or hasattr(builtin, "FloatTF32Type"):
    from xdsl.dialects.builtin import FloatTF32Type
else:

    class FloatTF32Type(_AbsentType):
        name = "tf32"


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
