"""Types of floats of at most 8 bits, which xDSL has since 0.67.

With an older xDSL no text and no model can have a value of such a type: its class here has no
instances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import builtin

__all__ = [
    "NARROW_FLOATS",
    "Float4E2M1FNType",
    "Float8E4M3FNType",
    "Float8E4M3FNUZType",
    "Float8E5M2FNUZType",
    "Float8E5M2Type",
    "Float8E8M0FNUType",
]

NARROW_FLOATS = hasattr(builtin, "Float8E4M3FNType")
"""Whether this xDSL has the types."""

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
