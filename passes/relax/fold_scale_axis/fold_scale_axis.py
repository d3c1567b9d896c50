"""FoldScaleAxis: move scales into weights, backward and then forward."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ....passmanager.context import PassContext
from ....passmanager.run import Run
from ....passmanager.runner import info_of
from ....passmanager.sequential import Sequential
from ..fold_constant import FoldConstant
from .backward_fold_scale_axis import BackwardFoldScaleAxis
from .forward_fold_scale_axis import ForwardFoldScaleAxis

__all__ = ["FoldScaleAxis"]


class FoldScaleAxis(Sequential):
    """Move multiplications by scales into weights, backward and then forward, and fold constants.

    Warns if it runs below level 3, where both directions are left out (TVM: silent).
    Source: `relay.FoldScaleAxis`.

    Before:

        func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x1x3xf32> {
          %w = relax.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
          %s = relax.constant dense<2.0> : tensor<f32>
          %0 = relax.multiply %x, %s : (tensor<1x2x3xf32>, tensor<f32>) -> tensor<1x2x3xf32>
          %1 = relax.nn.conv1d %0, %w : (tensor<1x2x3xf32>, tensor<1x2x1xf32>) -> tensor<1x1x3xf32>
          %2 = relax.multiply %1, %s : (tensor<1x1x3xf32>, tensor<f32>) -> tensor<1x1x3xf32>
          func.return %2 : tensor<1x1x3xf32>
        }

    After:

        func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x1x3xf32> {
          %w = relax.constant dense<[[[4.0], [8.0]]]> : tensor<1x2x1xf32>
          %0 = relax.nn.conv1d %x, %w : (tensor<1x2x3xf32>, tensor<1x2x1xf32>) -> tensor<1x1x3xf32>
          func.return %0 : tensor<1x1x3xf32>
        }
    """

    name = "fold-scale-axis"

    def __init__(self) -> None:
        passes = (BackwardFoldScaleAxis(), ForwardFoldScaleAxis(), FoldConstant())
        super().__init__(passes, opt_level=3, name=self.name)

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        super().transform(module, ctx)
        *folding, constants = map(info_of, self.passes)
        left_out = [info for info in folding if not ctx.pass_enabled(info)]
        by_level = not any(map(ctx.is_disabled, left_out))
        if left_out == folding and by_level and ctx.pass_enabled(constants):
            names = " and ".join(f"{info.name} ({info.opt_level})" for info in folding)
            Run.current().diagnostics.warning(
                None,
                f"pipeline '{self.info.name}' moves no scales: "
                f"opt_level {ctx.opt_level} is below {names}",
            )
