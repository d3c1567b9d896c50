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
    with suppress(ImportError):  # there is no such dialect before xDSL 0.62
        if (cls := getattr(import_module("xdsl.dialects.ub"), "PoisonOp", None)) is not None:
            return cls(result)
    return UnrealizedConversionCastOp.create(result_types=[result])
