"""The dialect `relax`: operations on whole tensors, of builtin tensor types."""

from __future__ import annotations

from importlib import import_module
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
    import_module(f".{name}", __package__)
    for name in (
        "closures",
        "constant",
        "contraction.attention",
        "contraction.convolution",
        "contraction.linear_algebra",
        "data.concatenation",
        "data.creation",
        "data.detection",
        "data.indexing",
        "data.manipulation",
        "data.sorting",
        "data.trees",
        "device",
        "dynamic.computation",
        "dynamic.data_movement",
        "elementwise.activation",
        "elementwise.binary",
        "elementwise.elementwise",
        "elementwise.quantization",
        "elementwise.unary",
        "graph",
        "images",
        "kernels",
        "reduction.nn",
        "reduction.normalization",
        "reduction.reduction",
        "reduction.scan",
        "windows",
    )
]
"""The modules of the package that define operations."""

Relax = Dialect(
    "relax",
    [op for family in FAMILIES for op in operations(family)],
    [DeviceAttr],
    [MaterializeConstant()],
)
