"""Names of constraints that have changed within xDSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["AnyRange", "VerificationContext"]

if TYPE_CHECKING:
    from xdsl.irdl import AnyRange, VerificationContext
else:
    try:
        from xdsl.irdl import VerificationContext
    except ImportError:  # renamed in xDSL 0.71
        from xdsl.irdl import ConstraintContext as VerificationContext
    try:
        from xdsl.irdl import AnyRange
    except ImportError:  # until xDSL 0.68 it is a range of `AnyAttr`

        class AnyRange:
            """The constraint that every range satisfies."""
