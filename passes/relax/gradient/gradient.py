"""Gradient: functions that compute the gradient of a function."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ....passmanager.base import ModulePass
from ....passmanager.conditions import no_op_of
from ....passmanager.context import PassContext
from ....passmanager.ir.per_class import OpClasses
from ....passmanager.ir.walk import symbol_of
from ...generic.call_graph import CallGraph
from ..to_a_normal_form import a_normal_form


@dataclass(frozen=True)
class Gradient(ModulePass):
    """Insert a function that computes the gradient of a function, by reverse-mode differentiation.

    `<function>_adjoint` returns the results of the function, then the gradients.
    Source: `relax.Gradient`.

    Before:

        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<f32> {
          %0 = relax.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.sum %0 : (tensor<4xf32>) -> tensor<f32>
          func.return %1 : tensor<f32>
        }

    After {require-grads=x}:

        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<f32> {
          %0 = relax.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.sum %0 : (tensor<4xf32>) -> tensor<f32>
          func.return %1 : tensor<f32>
        }
        func.func @main_adjoint(%x: tensor<4xf32>, %y: tensor<4xf32>)
            -> (tensor<f32>, tensor<4xf32>) {
          %0 = relax.multiply %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.sum %0 : (tensor<4xf32>) -> tensor<f32>
          %2 = relax.full 1.0 : tensor<f32>
          %3 = relax.reshape %2 {newshape = [1]} : (tensor<f32>) -> tensor<1xf32>
          %4 = relax.broadcast_to %3 {shape = [4]} : (tensor<1xf32>) -> tensor<4xf32>
          %5 = relax.multiply %4, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %1, %5 : tensor<f32>, tensor<4xf32>
        }
    """

    name = "gradient"
    required = ("infer-type",)
    before = ("import",)
    # Names of operations: the classes would be imported.
    requires = (a_normal_form, no_op_of("relax.call_tir", "relax.call_tir_inplace"))

    func_name: str = "main"
    """The function, which has one block."""
    require_grads: tuple[str, ...] = ()
    """The parameters whose gradients are computed: their names or numbers; by default, all of
    floating-point numbers."""
    target_index: int = field(default=0, metadata={"minimum": 0})
    """The number of the result that is differentiated, a floating-point scalar."""

    def visited(self, module: ModuleOp) -> list[Operation]:
        return [op for op in module.ops if symbol_of(op) == self.func_name]

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        import_module(".reverse_mode", __package__)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        from .reverse_mode import add_adjoint

        graph = ctx.analyses.get(CallGraph, module)
        add_adjoint(
            module, self.func_name, self.require_grads, self.target_index, graph, ctx.actions
        )
