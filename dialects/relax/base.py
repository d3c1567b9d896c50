"""What the operations of this dialect have in common."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING

from xdsl.irdl import IRDLOperation

from .interfaces import Evaluates

if TYPE_CHECKING:
    from .semantics import RelaxFunctions

__all__ = ["RelaxOp"]


class RelaxOp(Evaluates, IRDLOperation, ABC):
    """An operation that `semantics.py` computes."""

    @classmethod
    def semantics(cls) -> type[RelaxFunctions]:
        from .semantics import RelaxFunctions

        return RelaxFunctions
