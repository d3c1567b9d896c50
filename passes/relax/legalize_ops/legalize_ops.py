"""LegalizeOps: operations on tensors become kernels, functions on buffers."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.rewriter import Rewriter

from ....dialects.relax.base import TensorOp
from ....dialects.relax.interfaces import FusionPattern
from ....dialects.relax.kernels import CallTIROp
from ....dialects.tir.target import DEFAULT, Target, set_target, target_of
from ....passmanager.actions import SILENT, Actions
from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ....passmanager.ir.walk import walk
from ...rewriting.dead_code import remove_dead_operations
from ...rewriting.outliner import Outliner, fusible_functions, is_scalar_constant
from ..fuse_ops import fuse_operations
from .kernel import kernel_of
from .legalizations import legalization_of
from .no_kernel import NoKernel

__all__ = ["LegalizeOps", "legalize_operations"]


def legalize_operations(
    module: ModuleOp, target: Target = DEFAULT, actions: Actions = SILENT
) -> None:
    """Replace each operation on tensors in `module`, and each primitive function, by the call of a
    kernel that is scheduled for `target`; equal operations or functions share a kernel."""
    outline_operations(module, actions)
    replace_calls(module, build_kernels(module, target, actions))


def outline_operations(module: ModuleOp, actions: Actions) -> None:
    """Move each operation outside of primitive functions into one of its own."""
    functions = fusible_functions(module)
    outliner = Outliner(module, is_scalar_constant)
    for func in functions:
        remove_dead_operations(func)  # plan-memory supports no operation that is not legalized
        fuse_operations(func, outliner, fuse_opt_level=0)
        outline_others(func, outliner)
        for op in walk(func):
            if isinstance(op, TensorOp) and legalization_of(op) is None:
                actions.missed(op, "NoKernel", f"'{op.name}' has no legalization")
    outliner.finish()


def outline_others(func: FuncOp, outliner: Outliner) -> None:
    """Outline the operations that cannot be fused, but have a legalization."""
    for op in [*walk(func)]:
        if legalization_of(op) is not None and not isinstance(op, FusionPattern):
            outliner.outline([op], {"relax.primitive": UnitAttr()})


def build_kernels(module: ModuleOp, target: Target, actions: Actions) -> set[str]:
    """Replace each primitive function by its kernel if it has one; return the kernels' names."""
    kernels: set[str] = set()
    for func in [op for op in module.body.block.ops if isinstance(op, FuncOp)]:
        if "relax.primitive" not in func.attributes:
            continue
        try:
            kernel = kernel_of(func, target)
        except NoKernel as error:
            actions.missed(func, "NoKernel", f"no kernel: {error}")
            continue
        kernels.add(func.sym_name.data)
        Rewriter.replace_op(func, kernel)
        actions.count("kernels")
    return kernels


def replace_calls(module: ModuleOp, kernels: set[str]) -> None:
    """Replace the calls of functions that became kernels by `relax.call_tir`."""
    for op in [op for op in walk(module) if isinstance(op, CallOp)]:
        if op.callee.root_reference.data in kernels:
            call = CallTIROp(op.callee, op.arguments, [r.type for r in op.results])
            call.location = op.location
            Rewriter.replace_op(op, call)


@dataclass(frozen=True)
class LegalizeOps(ModulePass):
    """Convert primitive functions, and each other operation on tensors, to kernels on buffers;
    source: `relax.transform.LegalizeOps`.

    A kernel is called by `relax.call_tir`; equal ones are one function. Views and constants need no
    kernel and stay; so do tensors of unknown shape and operations without a legalization, each with
    a remark.

    Before:

        func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
          %0 = relax.exp %x : (tensor<16xf32>) -> tensor<16xf32>
          func.return %0 : tensor<16xf32>
        }

    After:

        func.func @f(%x: tensor<16xf32>) -> tensor<16xf32> {
          %0 = relax.call_tir @fused_exp(%x) : (tensor<16xf32>) -> tensor<16xf32>
          func.return %0 : tensor<16xf32>
        }
        tir.prim_func private @fused_exp(%x: memref<16xf32>, %0: memref<16xf32>) {
          %1 = arith.constant 0 : index
          %2 = arith.constant 16 : index
          tir.for vectorized %3 = %1 extent %2 {
            %4 = memref.load %x[%3] : memref<16xf32>
            %5 = math.exp %4 : f32
            memref.store %5, %0[%3] : memref<16xf32>
          }
        }
    """

    name = "legalize-ops"
    required = ("infer-type",)

    target: str = ""
    """The processor to schedule kernels for: x86-64, x86-64-v2, -v3, -v4, aarch64 or host, with
    changes in braces, as in x86-64-v3{cores=4}; by default that of the module, or x86-64-v3."""

    def __post_init__(self) -> None:
        if self.target:
            Target.parse(self.target)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        target = Target.parse(self.target) if self.target else target_of(module)
        legalize_operations(module, target, ctx.actions)
        set_target(module, target)
