"""The passes of Passline, name -> `module:Class`, imported when used; and the pipelines made of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass
from xdsl.universe import Universe

from ..dialects import DIALECTS
from ..passmanager.config import register_config_option
from .relax.device_types import DeviceType

__all__ = ["OPTIMIZE", "PASSES", "REPLACEMENTS", "UNIVERSE"]

PASSES = {
    "dead-code-elimination": "relax.dead_code_elimination:DeadCodeElimination",
    "dynamic-to-static": "relax.dynamic_to_static:DynamicToStatic",
    "eliminate-common-subexpr": "relax.eliminate_common_subexpr:EliminateCommonSubexpr",
    "fold-constant": "relax.fold_constant:FoldConstant",
    "infer-type": "relax.infer_type:InferType",
    "lambda-lift": "relax.lambda_lift:LambdaLift",
    "plan-devices": "relax.plan_devices:PlanDevices",
    "print-ir": "builtin.print_ir:PrintIR",
    "print-op-stats": "builtin.print_op_stats:PrintOpStats",
    "to-a-normal-form": "relax.to_a_normal_form:ToANormalForm",
}

OPTIMIZE = (
    "infer-type",
    "fold-constant",
    "eliminate-common-subexpr",
    "dead-code-elimination",  # last: the passes before it leave what they replaced
)
"""The pipeline of `-O0` to `-O3`: the level decides which of these run."""


def _factory(place: str) -> Callable[[], type[ModulePass]]:
    """A function that imports a pass class."""
    module, _, name = place.partition(":")
    return lambda: getattr(import_module(f".{module}", __package__), name)


REPLACEMENTS = {
    "canonicalize": _factory("builtin.canonicalize:Canonicalize"),
    "mlir-opt": _factory("builtin.mlir_opt:MLIROpt"),
}
"""What passline-opt runs in the place of xDSL's passes of these names, which do the same."""

UNIVERSE = Universe(
    all_dialects=DIALECTS, all_passes={name: _factory(place) for name, place in PASSES.items()}
)

register_config_option("relax.fallback_device_type", DeviceType, DeviceType.cpu)
