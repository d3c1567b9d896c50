"""MergeCompositeFunctions: neighbouring composite functions of one back end become one function."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ....passmanager.base import ModulePass
from ....passmanager.context import PassContext
from ...generic.analysis.purity import Purity
from .composites import merge_composites
from .outliner import Outliner, fusible_functions

__all__ = ["MergeCompositeFunctions"]


@dataclass(frozen=True)
class MergeCompositeFunctions(ModulePass):
    """Merge neighbouring composite functions of one back end into functions for `run-codegen`.

    Source: `relax.transform.MergeCompositeFunctions`. A composite function is one with an attribute
    `relax.composite = "backend.pattern"`, as `fuse-ops-by-pattern` makes them.

    Before:

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = func.call @exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }
        func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32>
            attributes {relax.primitive, relax.composite = "vendor.exp"} {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }

    After:

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @vendor_region(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func private @exp(%x: tensor<4xf32>) -> tensor<4xf32>
            attributes {relax.primitive, relax.composite = "vendor.exp"} {
          %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func private @vendor_region(%x: tensor<4xf32>) -> tensor<4xf32>
            attributes {relax.codegen = "vendor"} {
          %0 = func.call @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = func.call @exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %1 : tensor<4xf32>
        }
    """

    name = "merge-composite-functions"
    preserves = ("infer-type",)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        purity = ctx.analyses.get(Purity, module)
        outliner = Outliner(module, lambda _: False, actions=ctx.actions)
        for func in fusible_functions(module):
            merge_composites(func, outliner, purity, actions=ctx.actions)
        outliner.finish()
