"""The dialect `cuda_tile`: NVIDIA's CUDA Tile IR, kernels as operations on whole tiles.

Source: https://docs.nvidia.com/cuda/tile-ir.
"""

from __future__ import annotations

from importlib import import_module
from typing import TypeVar

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.utils.hints import isa

from .shape_ops import ConstantOp

MODULES = (
    "attributes",
    "control_ops",
    "debug_info",
    "elementwise_ops",
    "memory_ops",
    "module_ops",
    "reduce_ops",
    "shape_ops",
    "types",
    "view_ops",
)
"""The modules that define operations, attributes and types."""

Base = TypeVar("Base")


def _defined(base: type[Base]) -> list[type[Base]]:
    """Return the classes of the modules that are derived from `base` and named in the dialect."""
    modules = (import_module(f".{name}", __package__) for name in MODULES)
    found = (cls for module in modules for cls in vars(module).values() if isinstance(cls, type))
    named = [cls for cls in found if str(vars(cls).get("name")).startswith("cuda_tile.")]
    return [cls for cls in dict.fromkeys(named) if issubclass(cls, base)]


class MaterializeTile(ConstantMaterializationInterface):
    """The dialect interface through which folders create constants."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        return ConstantOp(value) if isa(value, DenseIntOrFPElementsAttr) else None


CUDA_TILE = Dialect("cuda_tile", _defined(Operation), _defined(Attribute), [MaterializeTile()])
