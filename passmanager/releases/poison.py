"""`ub.poison`, which releases of xDSL before 0.66 lack."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

from xdsl.dialects.builtin import UnrealizedConversionCastOp
from xdsl.ir import Attribute, Operation

__all__ = ["poison"]


def poison(result: Attribute) -> Operation:
    """Return an operation whose result is an undefined value of type `result`.

    Without `ub.poison` it is a cast of nothing.
    """
    cls: type[Operation] = UnrealizedConversionCastOp
    with suppress(ImportError):  # there is no such dialect before xDSL 0.62
        cls = getattr(import_module("xdsl.dialects.ub"), "PoisonOp", cls)
    return cls.create(result_types=[result])
