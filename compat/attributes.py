"""Classes of attributes that have moved within xDSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["BitEnumAttribute", "EnumAttribute"]

if TYPE_CHECKING:
    from xdsl.dialects.utils.bit_enum_attribute import BitEnumAttribute
    from xdsl.dialects.utils.enum_attribute import EnumAttribute
else:
    try:
        from xdsl.dialects.utils.enum_attribute import EnumAttribute
    except ImportError:  # moved in xDSL 0.71
        from xdsl.ir import EnumAttribute
    try:
        from xdsl.dialects.utils.bit_enum_attribute import BitEnumAttribute
    except ImportError:  # moved in xDSL 0.60
        from xdsl.ir import BitEnumAttribute
