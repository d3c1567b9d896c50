"""The type of the config option `relax.fastmath`."""

from __future__ import annotations

from enum import Enum

__all__ = ["FastMath"]


class FastMath(Enum):
    """What passes may assume of floats, in the words of MLIR's fast-math flags."""

    none = "none"
    """A finite result stays finite."""
    reassoc = "reassoc"
    """Sums and products may be rearranged without regard to the range of floats."""
