"""Expansion of functions of `math` on f32 to arithmetic, which LLVM can vectorize.

A call of the C library computes one number at a time, and takes ten to thirty times as long.
"""

from __future__ import annotations

from .expansion import expand_math

__all__ = ["expand_math"]
