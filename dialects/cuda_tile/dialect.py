"""The dialect `cuda_tile`: NVIDIA's CUDA Tile IR, kernels as operations on whole tiles.

Source: https://docs.nvidia.com/cuda/tile-ir.
"""

from __future__ import annotations

from types import ModuleType

from xdsl.ir import Attribute, Dialect, Operation

from . import (
    attributes,
    control_ops,
    debug_info,
    elementwise_ops,
    memory_ops,
    module_ops,
    reduce_ops,
    shape_ops,
    types,
    view_ops,
)

__all__ = ["CUDA_TILE"]

FAMILIES = (
    control_ops,
    debug_info,
    elementwise_ops,
    memory_ops,
    module_ops,
    reduce_ops,
    shape_ops,
    view_ops,
)
"""The modules that define operations."""


def _operations(family: ModuleType) -> list[type[Operation]]:
    exported = (getattr(family, name) for name in family.__all__)
    return [cls for cls in exported if issubclass(cls, Operation)]


def _attributes(family: ModuleType) -> list[type[Attribute]]:
    exported = (getattr(family, name) for name in family.__all__)
    return [
        cls
        for cls in exported
        if isinstance(cls, type) and issubclass(cls, Attribute) and "name" in vars(cls)
    ]


CUDA_TILE = Dialect(
    "cuda_tile",
    [op for family in FAMILIES for op in _operations(family)],
    [attribute for family in (attributes, debug_info, types) for attribute in _attributes(family)],
)
