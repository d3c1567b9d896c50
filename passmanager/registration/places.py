"""Places of classes: `module:name`, imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

__all__ = ["factory_of", "load_place"]


def load_place(place: str, package: str) -> Any:
    """Import the class or function `place`, given as `module:name`, the module relative to
    `package`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f".{module}", package), name)


def factory_of(place: str, package: str) -> Callable[[], Any]:
    """Return a function that imports the class `place`."""
    return partial(load_place, place, package)
