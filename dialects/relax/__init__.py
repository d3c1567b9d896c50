"""The dialect `relax`: operations on whole tensors, of builtin tensor types."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from xdsl.ir import Dialect, Operation

from .constant import MaterializeConstant
from .device import DeviceAttr

__all__ = ["Relax", "operations"]

FAMILIES = [
    import_module(f".{name}", __package__)
    for name in (
        "annotation",
        "closures",
        "constant",
        "contraction.attention",
        "contraction.convolution",
        "contraction.linear_algebra",
        "data.concatenation",
        "data.creation",
        "data.detection",
        "data.gather",
        "data.image",
        "data.permutation",
        "data.reshape",
        "data.scatter",
        "data.sorting",
        "data.split",
        "data.strided_slice",
        "data.trees",
        "device",
        "dynamic.computation",
        "dynamic.manipulation",
        "elementwise.activation",
        "elementwise.binary",
        "elementwise.broadcast",
        "elementwise.elementwise",
        "elementwise.quantization",
        "elementwise.unary",
        "graph",
        "kernels",
        "reduction.nn",
        "reduction.normalization",
        "reduction.reduction",
        "reduction.scan",
        "tuples",
        "windows.pooling",
    )
]


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


Relax = Dialect(
    "relax",
    [op for family in FAMILIES for op in operations(family)],
    [DeviceAttr],
    [MaterializeConstant()],
)
