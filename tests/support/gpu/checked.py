"""Programs for the simulated device, whose blocks are shuffled and checked for races."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

import passline
from passline.compiler.execution import ArrayFunction, returning_results
from passline.compiler.gpu.build import compile_for_device
from passline.compiler.gpu.simulated import SimulatedDevice
from passline.dialects.target import Target

__all__ = ["compile_checked"]


def compile_checked(
    module: ModuleOp, name: str = "main", level: int | None = None, target: str = "sm_90"
) -> ArrayFunction:
    """Return a function of a module, optimized at `level`, as tile programs on numpy: what differs
    between orders of tile blocks, or is not ordered, is an error of the call."""
    with Target(target) as entered:
        lowered = module if level is None else passline.optimize(module, level=level)
        device = SimulatedDevice(target, checked=True)
        return returning_results(compile_for_device(lowered, name, entered, device))
