"""What every dialect whose operations Passline computes has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from xdsl.ir import Operation

if TYPE_CHECKING:
    from xdsl.interpreter import InterpreterFunctions

__all__ = ["Evaluates"]


class Evaluates(Operation, ABC):
    """An operation that numpy can compute (TVM FTVMCompute)."""

    @classmethod
    @abstractmethod
    def semantics(cls) -> type[InterpreterFunctions]:
        """The class that computes it, imported here and not with the dialect."""
