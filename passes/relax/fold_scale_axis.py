"""FoldScaleAxis: move scales into weights, backward and then forward."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.elementwise.binary import MultiplyOp
from ...dialects.relax.interfaces import Along, Axes, ScaleAxisRule
from ...dialects.relax.types import static_shape
from ...passmanager.actions import SILENT, Actions
from ...passmanager.context import PassContext
from ...passmanager.run import Run
from ...passmanager.runner import info_of
from ...passmanager.sequential import Sequential
from .fold_constant import FoldConstant
from .scale_axes import is_constant, is_scalable_parameter, joined_axes, same_sizes, sizes_along
from .scale_folder import FoldScales, Product, Requirements, ScaleFolder, foldable_blocks

if TYPE_CHECKING:
    from .scales import Scale


# ForwardFoldScaleAxis: move scales into the weights of the operations that use the product.


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


# BackwardFoldScaleAxis: move scales into the weights of the operation that computes the data.


def fold_scales_backward(func: Operation, actions: Actions = SILENT) -> None:
    """Move each multiplication by a scale in `func` into the operations that compute its data.

    A scale is a constant, or a factor of size 1 except along some axes of the product. It moves
    through operations that implement `ScaleAxisRule`, into the weights of a convolution or matrix
    product, or into another scale, if no value on the way has another use or is used in another
    block. Terms that are added on the way are scaled: `(conv(x, w) + a) * s` becomes
    `conv(x, w * s) + a * s`. Constant terms that this makes adjacent are added up.
    """
    for ops in foldable_blocks(func):
        BackwardScaleFolder(ops, actions).run()


class BackwardScaleFolder(ScaleFolder):
    """Moves scales from results to operands.

    `conv(x, w) * s` becomes `conv(x, w * s)` with `s` along the output channels of `w`.
    """

    def request(self) -> None:
        for op in reversed(self.ops):
            results = op.results
            if len(results) != 1:
                continue
            requests = self.requests.get(results[0], {})
            if isinstance(op, MultiplyOp):
                if (product := self.find_product(op)) is not None:
                    self.visited.append(op)
                    own = product.scale.axes
                    for axes in {own: None} | {joined_axes(axes, own): None for axes in requests}:
                        self.request_operand(op.operands[product.data], axes)
            elif requests and isinstance(op, ScaleAxisRule):
                self.visited.append(op)
                for axes in requests:
                    self.scalings[op, -1, axes] = scaling = op.scale_result(axes)
                    for index, inner in scaling.operands.items() if scaling else ():
                        self.request_operand(op.operands[index], inner)

    def request_operand(self, value: SSAValue, axes: Axes | None) -> None:
        """Request to scale `value` where it is computed, if that is in the block, and the value
        has no other use."""
        owner = value.owner
        if axes is not None and isinstance(owner, Operation) and owner.parent is self.block:
            if value.has_one_use():
                self.request_scale(value, axes)

    def resolve(self) -> None:
        for op in reversed(self.visited):
            result = op.results[0]
            for axes in self.requests.get(result, ()):
                requirements = self.requirements_of(op, result, axes)
                if requirements is not None:
                    self.requirements[result, axes] = requirements

    def requirements_of(self, op: Operation, result: SSAValue, axes: Axes) -> Requirements | None:
        """Return the requirements for scaling `result` of `op` along `axes`; None if that is
        impossible, or if no operand would absorb the scale."""
        here = Requirements(before=self.position[op])
        if (product := self.products.get(op)) is not None:
            fits = joined_axes(axes, product.scale.axes) is not None
            return here.and_(self.requirements_of_product(op, product)) if fits else None
        scaling = self.scalings[op, -1, axes]
        if scaling is None or not self.weights_fit(op, scaling, result, axes):
            return None
        requirements = here._replace(positive=scaling.positive, finite=scaling.finite)
        requirements = requirements.and_(self.constant_requirements(op, scaling))
        absorbed = bool(scaling.weights) and not scaling.operands
        for index, inner in scaling.operands.items():
            operand = op.operands[index]
            if (further := self.requirements.get((operand, inner))) is not None:
                if not same_sizes(operand, inner, result, axes):
                    return None
                requirements = requirements.and_(further)
                absorbed = True
            elif not is_scalable_parameter(operand, inner, result, axes):
                return None
            elif not scaling.is_sum and is_constant(operand):
                absorbed = True  # the other operand of a matrix product
        return requirements if absorbed else None

    def move(self) -> None:
        for op in self.visited:
            scale = self.pending.pop(op.results[0], None)
            if (product := self.products.get(op)) is not None:
                self.move_product(op, product, scale)
            elif scale is not None:
                self.move_through(op, scale)

    def move_product(self, op: Operation, product: Product, scale: Scale | None) -> None:
        """Move the scale of a multiplication, and `scale` that has arrived at its result, on to
        its data; if that is impossible, multiply its factor by `scale`."""
        data = op.operands[product.data]
        total = product.scale if scale is None else product.scale.times(scale)
        requirements = self.requirements.get((data, total.axes))
        if requirements is not None and self.try_move(op, total, requirements):
            self.pending[data] = total
        elif scale is not None:
            self.scale_parameter(op, product.factor, Along(scale.axes), scale)

    def move_through(self, op: Operation, scale: Scale) -> None:
        """Scale the weights and operands of `op` instead of its result."""
        scaling = self.scalings[op, -1, scale.axes]
        assert scaling is not None
        self.scale_parameters(op, scaling, scale)
        for index, axes in scaling.operands.items():
            operand = op.operands[index]
            if (operand, axes) in self.requirements:
                self.pending[operand] = scale.along(axes, sizes_along(operand.type, axes))
            else:
                self.scale_parameter(op, index, Along(axes), scale)

    def finish(self) -> None:
        """Add up constant terms that have become adjacent.

        `(conv + a) * s + b` has become `conv' + a * s + b`: with constants, one sum is enough.
        """
        joined: dict[SSAValue, SSAValue] = {}
        for op in self.moved[::-1]:
            value = self.replacements[op]
            value = joined.get(value, value)
            if (outer := self.join_sums(value)) is not None:
                joined[outer.results[0]] = value
                outer.results[0].replace_all_uses_with(value)
                self.erase(outer)

    def join_sums(self, value: SSAValue) -> Operation | None:
        """Add the constant that the user of `value` adds to a constant that the operation of
        `value` adds; return the user, which is then redundant, or None if that is impossible."""
        inner = value.owner
        if not isinstance(inner, ScaleAxisRule) or not value.has_one_use():
            return None
        use = value.first_use
        assert use is not None
        outer, index = use.operation, use.index
        if not isinstance(outer, ScaleAxisRule) or outer.parent is not self.block:
            return None
        scaling = outer.scale_result(())
        if scaling is None or not scaling.is_sum or len(scaling.operands) != 2:
            return None
        if (term := self.parameters.array(outer, 1 - index)) is None:
            return None
        axes = tuple(a - term.ndim for a, size in enumerate(term.shape) if size != 1)
        scaling = inner.scale_result(axes)
        if outer.results[0].type != value.type or scaling is None or not scaling.is_sum:
            return None
        if self.rounds_elsewhere(outer):
            return None
        terms = {i: Along(a) for i, a in scaling.operands.items()} | dict(scaling.weights)
        for index, along in terms.items():
            type = inner.operands[index].type
            if self.parameters.array(inner, index) is not None and (
                prod(static_shape(type) or ()) == 1
                or prod(sizes_along(type, along.axes)) == term.size
            ):
                return outer if self.parameters.add(inner, index, along.axes, term) else None
        return None


@dataclass(frozen=True)
class BackwardFoldScaleAxis(FoldScales):
    """Move multiplications by scales into the weights of the operations that compute the data.

    Source: `relay.BackwardFoldScaleAxis`.

    Before:

        func.func @main(%x: tensor<1x1x3xf32>) -> tensor<1x2x3xf32> {
          %w = relax.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
          %s = relax.constant dense<[[2.0], [4.0]]> : tensor<2x1xf32>
          %0 = relax.nn.conv1d %x, %w : (tensor<1x1x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3xf32>
          %1 = relax.multiply %0, %s : (tensor<1x2x3xf32>, tensor<2x1xf32>) -> tensor<1x2x3xf32>
          func.return %1 : tensor<1x2x3xf32>
        }

    After:

        func.func @main(%x: tensor<1x1x3xf32>) -> tensor<1x2x3xf32> {
          %w = relax.constant dense<[[[2.0]], [[8.0]]]> : tensor<2x1x1xf32>
          %0 = relax.nn.conv1d %x, %w : (tensor<1x1x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x3xf32>
          func.return %0 : tensor<1x2x3xf32>
        }
    """

    name = "backward-fold-scale-axis"

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        fold_scales_backward(func, ctx.actions)


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
