"""`ub.poison`, which releases of xDSL before 0.66 lack."""

from __future__ import annotations

from xdsl.dialects import ub
from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Attribute, Operation

__all__ = ["poison"]


def poison(type: Attribute) -> Operation:
    """Return an operation whose result is an undefined value of `type`."""
    cls = getattr(ub, "PoisonOp", None)
    if cls is None:
        return UnrealizedConversionCastOp.create(result_types=[type])
    return cls.create(result_types=[type])
