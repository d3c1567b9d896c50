"""ForwardFoldScaleAxis: move scales into the weights of the operations that use the product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ....dialects.relax.elementwise.binary import MultiplyOp
from ....dialects.relax.interfaces import Along, Axes, ScaleAxisRule
from ....passmanager.context import PassContext
from ....passmanager.diagnostics.actions import SILENT, Actions
from .scale_axes import (
    is_scalable_parameter,
    joined_axes,
    same_sizes,
    sizes_along,
)
from .scale_folder import FoldScales, Product, Requirements, ScaleFolder, foldable_blocks

if TYPE_CHECKING:
    from .scale import Scale

__all__ = ["ForwardFoldScaleAxis", "fold_scales_forward"]


def fold_scales_forward(func: Operation, actions: Actions = SILENT) -> None:
    """Move each multiplication by a scale in `func` into the operations that use the product.

    Like `fold_scales_backward` in the other direction: into the weights of convolutions and matrix
    products. All uses of the product have to absorb the scale. Terms that are added on the way are
    divided by the scale, which then has to be constant and not zero: `conv(x * s + a, w)` becomes
    `conv(x + a / s, w * s)`.
    """
    for ops in foldable_blocks(func):
        ForwardScaleFolder(ops, actions).run()


class ForwardScaleFolder(ScaleFolder):
    """Moves scales from operands to results.

    `conv(x * s, w)` becomes `conv(x, w * s)` with `s` along the input channels of `w`.
    """

    def request(self) -> None:
        for op in self.ops:
            results = op.results
            if len(results) != 1:
                continue
            if isinstance(op, MultiplyOp) and (product := self.find_product(op)) is not None:
                self.visited.append(op)
                own, requests = product.scale.axes, self.requests.get(op.operands[product.data], {})
                for axes in {own: None} | {joined_axes(axes, own): None for axes in requests}:
                    if axes is not None:
                        self.request_scale(results[0], axes)
            elif not self.requests.keys().isdisjoint(op.operands) and isinstance(op, ScaleAxisRule):
                self.visited.append(op)
                for index, operand in enumerate(op.operands):
                    for axes in self.requests.get(operand, ()):
                        scaling = op.scale_operand(index, axes)
                        self.scalings[op, index, axes] = scaling
                        if scaling is not None and scaling.result is not None:
                            self.request_scale(results[0], scaling.result)

    def resolve(self) -> None:
        for op in reversed(self.visited):
            result = op.results[0]
            for axes in self.requests.get(result, ()):
                if (requirements := self.requirements_of_uses(result, axes)) is not None:
                    self.requirements[result, axes] = requirements

    def requirements_of_uses(self, value: SSAValue, axes: Axes) -> Requirements | None:
        """Return the requirements for all uses of `value` to absorb its scale along `axes`.

        None if a use cannot absorb it, or if `value` has no uses.
        """
        requirements = Requirements()
        if value.first_use is None:
            return None
        for use in value.uses:
            further = self.requirements_of_use(use.operation, use.index, value, axes)
            if further is None:
                return None
            requirements = requirements.and_(further)
        return requirements

    def requirements_of_use(
        self, op: Operation, index: int, value: SSAValue, axes: Axes
    ) -> Requirements | None:
        """Return the requirements for `op` to absorb the scale of its operand `value` at `index`
        along `axes`; None if it cannot."""
        if op.parent is not self.block or len(op.results) != 1:
            return None
        if (product := self.products.get(op)) is not None:
            fits = index == product.data and joined_axes(axes, product.scale.axes) is not None
            return self.requirements_of_product(op, product) if fits else None
        scaling = self.scalings.get((op, index, axes))
        if sum(operand is value for operand in op.operands) > 1:
            return None
        if scaling is None or not self.weights_fit(op, scaling, value, axes):
            return None
        requirements = Requirements(scaling.positive, finite=scaling.finite)
        requirements = requirements.and_(self.constant_requirements(op, scaling))
        for other, inner in (*scaling.operands.items(), *scaling.divided.items()):
            if not is_scalable_parameter(op.operands[other], inner, value, axes):
                return None
        for other in scaling.divided:
            dividend = self.parameters.max_magnitude(op, other)
            requirements = requirements.and_(Requirements(dividend=dividend))
        if (outer := scaling.result) is not None:
            result = op.results[0]
            further = self.requirements.get((result, outer))
            if further is None or not same_sizes(result, outer, value, axes):
                return None
            requirements = requirements.and_(further)
        return requirements

    def move(self) -> None:
        for op in self.visited:
            if (product := self.products.get(op)) is not None:
                self.move_product(op, product)
            else:
                for index, operand in enumerate(tuple(op.operands)):
                    if (scale := self.pending.get(operand)) is not None:
                        self.move_through(op, index, scale)

    def move_product(self, op: Operation, product: Product) -> None:
        """Move the scale of a multiplication, and the scale that has arrived at its data, on to
        the users; if that is impossible, multiply its factor by the latter."""
        scale = self.pending.get(op.operands[product.data])
        total = product.scale if scale is None else scale.times(product.scale)
        requirements = self.requirements.get((op.results[0], total.axes))
        if requirements is not None and self.try_move(op, total, requirements):
            self.pending[op.results[0]] = total
        elif scale is not None:
            self.scale_parameter(op, product.factor, Along(scale.axes), scale)

    def move_through(self, op: Operation, index: int, scale: Scale) -> None:
        """Make up in `op` for the scale that its operand at `index` has lost."""
        scaling = self.scalings[op, index, scale.axes]
        assert scaling is not None
        self.scale_parameters(op, scaling, scale)
        for other, axes in scaling.operands.items():
            self.scale_parameter(op, other, Along(axes), scale)
        if scaling.result is not None:
            result = op.results[0]
            sizes = sizes_along(result.type, scaling.result)
            self.pending[result] = scale.along(scaling.result, sizes)


@dataclass(frozen=True)
class ForwardFoldScaleAxis(FoldScales):
    """Move multiplications by scales into the weights of the operations that use the product.

    Source: `relay.ForwardFoldScaleAxis`.

    Before:

        func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x1x3xf32> {
          %w = relax.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
          %s = relax.constant dense<[[2.0], [4.0]]> : tensor<2x1xf32>
          %0 = relax.multiply %x, %s : (tensor<1x2x3xf32>, tensor<2x1xf32>) -> tensor<1x2x3xf32>
          %1 = relax.nn.conv1d %0, %w : (tensor<1x2x3xf32>, tensor<1x2x1xf32>) -> tensor<1x1x3xf32>
          func.return %1 : tensor<1x1x3xf32>
        }

    After:

        func.func @main(%x: tensor<1x2x3xf32>) -> tensor<1x1x3xf32> {
          %w = relax.constant dense<[[[2.0], [8.0]]]> : tensor<1x2x1xf32>
          %0 = relax.nn.conv1d %x, %w : (tensor<1x2x3xf32>, tensor<1x2x1xf32>) -> tensor<1x1x3xf32>
          func.return %0 : tensor<1x1x3xf32>
        }
    """

    name = "forward-fold-scale-axis"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        fold_scales_forward(func, ctx.actions)
