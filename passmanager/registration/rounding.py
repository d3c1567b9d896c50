"""Rounding: how a pass may change the results of operations on floats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Change", "Rounding"]

Change: TypeAlias = Literal[
    "sign of zero may change",
    "infinite may become finite",
    "infinite may become NaN",
    "NaN may become infinite",
    "finite may become infinite",
    "finite may become NaN",
]
"""A change of a result beyond its last digits."""


@dataclass(frozen=True)
class Rounding:
    """The changes that a pass may make to a result of floats; `rounds` of a pass that may make any.

    An operation may be rounded in another place, by at most `units` units in the last place.
    `changes` are those of special values. The table of `docs/relax.md` says which rewrite of the
    pass makes them.
    """

    units: int = 16
    changes: tuple[Change, ...] = ("sign of zero may change", "infinite may become NaN")

    @staticmethod
    def of(rounds: bool | Rounding) -> Rounding | None:
        """Return the rounding that `rounds` of a pass stands for: the default one for True."""
        return rounds if isinstance(rounds, Rounding) else Rounding() if rounds else None

    @property
    def text(self) -> str:
        """The changes in words."""
        units = f"floats may be rounded in other places, by {self.units} units in the last place"
        return "; ".join([units, *self.changes])

    def joined(self, other: Rounding | None) -> Rounding:
        """Return what one pass after another one may do."""
        if other is None:
            return self
        changes = dict.fromkeys(self.changes + other.changes)
        return Rounding(max(self.units, other.units), (*changes,))
