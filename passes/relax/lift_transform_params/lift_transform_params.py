"""LiftTransformParams: computations on weights become a function of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ....passmanager.ir.symbols import PRIVATE
from ....passmanager.registration.names import did_you_mean
from ...generic.analysis.call_graph import CallGraph
from ...generic.analysis.opaque_functions import is_opaque
from .weight_lifting import SUFFIX, lift_transform_params

__all__ = ["LiftTransformParams"]

NUM_INPUT = "num_input"
"""The attribute of a function with the number of its parameters before the weights, as in TVM."""


@dataclass(frozen=True)
class LiftTransformParams(ModulePass):
    """Move computations that depend on weights alone into a function, to be run once.

    The attribute `num_input` of a function is the number of its parameters before the weights.
    `@<name>_transform_params` takes the weights and returns the last parameters of the function:
    the weights that it still uses, then the computed values; the attribute
    `relax.transform_params` names it. Constants alone are not moved. A
    function that is referenced in the module stays as it is. Source: `relax.LiftTransformParams`.

    Before:

        func.func @main(%x: tensor<5x8xf32>, %w: tensor<4x8xf32>) -> tensor<5x4xf32>
            attributes {num_input = 1} {
          %0 = relax.transpose %w : (tensor<4x8xf32>) -> tensor<8x4xf32>
          %1 = relax.matmul %x, %0 : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          func.return %1 : tensor<5x4xf32>
        }

    After:

        func.func @main_transform_params(%w: tensor<4x8xf32>) -> tensor<8x4xf32> {
          %0 = relax.transpose %w : (tensor<4x8xf32>) -> tensor<8x4xf32>
          func.return %0 : tensor<8x4xf32>
        }
        func.func @main(%x: tensor<5x8xf32>, %w: tensor<8x4xf32>) -> tensor<5x4xf32>
            attributes {num_input = 1, relax.transform_params = @main_transform_params} {
          %0 = relax.matmul %x, %w : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
          func.return %0 : tensor<5x4xf32>
        }
    """

    name = "lift-transform-params"
    preserves = ("infer-type",)

    functions: tuple[str, ...] = ()
    """The functions; by default all public ones with the attribute `num_input`."""
    num_input: int | None = field(default=None, metadata={"minimum": 0})
    """The number of parameters before the weights, of functions without the attribute."""
    shared_transform: bool = False
    """Make one function `@transform_params` of the computations that all functions have, which must
    have the same weights."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        found = dict(self.weighted(module))
        lift_transform_params(
            module, found, shared=self.shared_transform, graph=graph, actions=ctx.actions
        )

    def weighted(self, module: ModuleOp) -> Iterator[tuple[FuncOp, int]]:
        """Yield the functions to transform, with the number of parameters before the weights."""
        functions = {
            op.sym_name.data: op
            for op in module.body.block.ops
            if isinstance(op, FuncOp) and not op.is_declaration
        }
        for name in self.functions:
            if name not in functions:
                hint = did_you_mean(name, functions)
                raise PassFailedException(f"there is no function @{name} with a body{hint}")
        for name, func in functions.items():
            if is_opaque(func) or (self.functions and name not in self.functions):
                continue
            # Without the second condition a second run would lift from what the first one made.
            by_default = func.sym_visibility != PRIVATE and not name.endswith(SUFFIX)
            if not self.functions and not by_default:
                continue
            if (inputs := self.inputs(func)) is not None:
                yield func, inputs

    def inputs(self, func: FuncOp) -> int | None:
        """Return the number of parameters of `func` before the weights; None if it is unknown."""
        name, known = func.sym_name.data, func.attributes.get(NUM_INPUT)
        inputs = known.value.data if isinstance(known, IntegerAttr) else self.num_input
        # Only a function that was named must have it; others are not meant.
        if inputs is None and self.functions:
            raise PassFailedException(
                f"function @{name} has no attribute '{NUM_INPUT}', and there is no option num-input"
            )
        if inputs is not None and not 0 <= inputs <= len(func.args):
            raise PassFailedException(
                f"function @{name} has {len(func.args)} parameters, not {inputs} before its weights"
            )
        return inputs
