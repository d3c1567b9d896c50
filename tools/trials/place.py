"""The place of an operation: its name, its function, and its line in the source."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

from ...passmanager.ir.location import location_of, place_text, source_line
from ...passmanager.ir.symbols import name_of, symbol_of
from ...passmanager.ir.walk import top_level_op

__all__ = ["OpPlace", "function_of"]


@dataclass(frozen=True)
class OpPlace:
    """The place of an op in a module, which stays valid when the op is gone."""

    op: str
    """The name of the op."""
    function: str
    """The name of the top-level symbol that holds it, or empty."""
    location: FileLineColLoc | None

    @staticmethod
    def of(op: Operation) -> OpPlace:
        """Return the place of `op` as it is now."""
        return OpPlace(name_of(op), function_of(op), location_of(op))

    @property
    def at(self) -> str:
        """`file:line:col`, or empty."""
        return "" if self.location is None else place_text(self.location)

    @property
    def line(self) -> str:
        """The line in the source, without blanks around it; empty if it cannot be read."""
        if self.location is None or not self.location.line.data:
            return ""
        return source_line(self.location).strip()

    def __str__(self) -> str:
        return f"'{self.op}'" + (f" at {self.at}" if self.at else "")


def function_of(op: Operation) -> str:
    """Return the name of the top-level symbol op that is or holds `op`, or empty."""
    return symbol_of(top_level_op(op))
