"""The dialect `relax`: operations on whole tensors, of builtin tensor types."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from xdsl.ir import Dialect, Operation

from .constant import MaterializeConstant
from .device import DeviceAttr

__all__ = ["Relax", "operations"]


def operations(family: ModuleType) -> list[type[Operation]]:
    """Return the operations that the module `family` defines: its operation classes with a name."""
    return [
        cls
        for cls in vars(family).values()
        if isinstance(cls, type)
        and issubclass(cls, Operation)
        and cls.__module__ == family.__name__
        and "name" in vars(cls)
    ]


FAMILIES = [
    module
    for info in walk_packages(__path__, f"{__name__}.")
    if operations(module := import_module(info.name))
]
"""The modules of the package that define operations."""

Relax = Dialect(
    "relax",
    [op for family in FAMILIES for op in operations(family)],
    [DeviceAttr],
    [MaterializeConstant()],
)
