"""The dialect `cuda_tile`: NVIDIA's CUDA Tile IR, kernels as operations on whole tiles.

Source: https://docs.nvidia.com/cuda/tile-ir.
"""

from __future__ import annotations

from typing import TypeVar

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

MODULES = (
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
"""The modules that define operations, attributes and types."""

Base = TypeVar("Base")


def _defined(base: type[Base]) -> list[type[Base]]:
    """Return the classes of the modules that are derived from `base` and named in the dialect."""
    found = (cls for module in MODULES for cls in vars(module).values() if isinstance(cls, type))
    named = [cls for cls in found if str(vars(cls).get("name")).startswith("cuda_tile.")]
    return [cls for cls in dict.fromkeys(named) if issubclass(cls, base)]


CUDA_TILE = Dialect("cuda_tile", _defined(Operation), _defined(Attribute))
