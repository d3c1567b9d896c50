"""The type of the config option `relax.fastmath`."""

from __future__ import annotations

from enum import Enum

__all__ = ["FastMath"]


class FastMath(Enum):
    """The freedom of passes to rearrange computations on floats; a flag of MLIR's fast-math."""

    none = "none"
    """A finite result stays finite."""
    reassoc = "reassoc"
    """Sums and products may be rearranged without regard to the range of floats."""
