"""The text of a failed assertion, which all engines report alike."""

from __future__ import annotations

from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from ...dialects.relax.kernels import CallTIRInplaceOp, CallTIROp
from ...dialects.tir.ops import CallOp
from ...passmanager.ir.location import place_text

__all__ = ["CALLS", "AssertionFailed", "assertion_text"]

CALLS: Final[frozenset[type[Operation]]] = frozenset(
    {func.CallOp, CallOp, CallTIROp, CallTIRInplaceOp}
)
"""The operations that call a function by its symbol."""


class AssertionFailed(InterpretationError):
    """The condition of a `cf.assert` does not hold."""


def assertion_text(
    message: str, place: FileLineColLoc | None, call: FileLineColLoc | None = None
) -> str:
    """Return the error message of an assertion with `message` that failed at `place`.

    `call` is the location of the innermost call around it. Equal operations share a kernel, so the
    location of an assertion may be that of another operation; that of the call tells which it is.
    """
    text = "assertion failed" + ("" if place is None else f" at {place_text(place)}")
    called = "" if call in (None, place) else f" (called at {place_text(call)})"
    return f"{text}: {message}{called}"
