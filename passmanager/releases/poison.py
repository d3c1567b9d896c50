"""`ub.poison`, which releases of xDSL before 0.66 lack."""

from __future__ import annotations

from importlib import import_module

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Attribute, Operation

__all__ = ["poison"]


def poison(result: Attribute) -> Operation:
    """Return an operation whose result is an undefined value of type `result`.

    Without `ub.poison` it is a cast of nothing.
    """
    cls: type[Operation] = UnrealizedConversionCastOp
    try:
        cls = getattr(import_module("xdsl.dialects.ub"), "PoisonOp", cls)
    except ImportError:  # xDSL before 0.62
        pass
    return cls.create(result_types=[result])
