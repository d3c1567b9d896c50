"""An edit of a module that makes it smaller."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Edit"]

Edit: TypeAlias = Callable[[], None]
"""Removes one thing from a module; does nothing if an earlier edit removed it already."""
