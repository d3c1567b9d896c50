"""Classes of attributes and constraints that have moved, or changed their name, within xDSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["AnyRange", "BitEnumAttribute", "EnumAttribute", "VerificationContext"]

if TYPE_CHECKING:
    from xdsl.dialects.utils.bit_enum_attribute import BitEnumAttribute
    from xdsl.dialects.utils.enum_attribute import EnumAttribute
    from xdsl.irdl import AnyRange, VerificationContext
else:
    try:
        from xdsl.dialects.utils.enum_attribute import EnumAttribute
    except ImportError:  # moved in xDSL 0.71
        from xdsl.ir import EnumAttribute
    try:
        from xdsl.dialects.utils.bit_enum_attribute import BitEnumAttribute
    except ImportError:  # moved in xDSL 0.60
        from xdsl.ir import BitEnumAttribute
    try:
        from xdsl.irdl import VerificationContext
    except ImportError:  # renamed in xDSL 0.71
        from xdsl.irdl import ConstraintContext as VerificationContext
    try:
        from xdsl.irdl import AnyRange
    except ImportError:  # until xDSL 0.68 it is a range of `AnyAttr`

        class AnyRange:
            """The constraint that every range satisfies."""
