"""FoldScaleAxis: multiplications of channels become part of the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import ConstantLike

from ...analysis.traversal import in_order
from ...dialects.relax.binary import MultiplyOp
from ...dialects.relax.constant import ConstantOp, FullOp
from ...dialects.relax.interfaces import Along, Axes, ScaleAxisRule, Scaling
from ...dialects.relax.shapes import Shape
from ...dialects.relax.types import Float, is_ranked, static_shape
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.remarks import Remarks
from ...passmanager.run import Run
from ...passmanager.runner import info_of
from ...passmanager.sequential import Sequential
from .fold_constant import FoldConstant

if TYPE_CHECKING:
    from ..rewriting.scale_parameters import Scale

__all__ = [
    "BackwardFoldScaleAxis",
    "FoldScaleAxis",
    "ForwardFoldScaleAxis",
    "fold_scales_backward",
    "fold_scales_forward",
]

Gate: TypeAlias = Callable[[], bool] | None


def fold_scales_backward(func: Operation, gate: Gate = None, remarks: Remarks | None = None) -> int:
    """Move multiplications by scales to what computes their operands; returns how many.

    A scale is a factor that has size 1 but along some axes of the product, or is a constant. It
    goes into the weights of a convolution or into another scale before it, through operations that
    are a `ScaleAxisRule`, if no value on the way has another use or is used in another block.
    Numbers that are added on the way are scaled; constants that this brings together are added up.
    `gate`, if given, is asked before each multiplication, and may keep it.
    """
    return sum(Backward(ops, gate, remarks).run() for ops in _blocks(func))


def fold_scales_forward(func: Operation, gate: Gate = None, remarks: Remarks | None = None) -> int:
    """Move multiplications by scales to what uses the products; returns how many.

    As `fold_scales_backward`, to the weights of convolutions that use the product, all of them.
    What is added on the way is divided by the scales, which then are constants and not zero.
    """
    return sum(Forward(ops, gate, remarks).run() for ops in _blocks(func))


class Product(NamedTuple):
    """A multiplication by a scale."""

    data: int
    """The index of the other operand."""
    scale: Scale

    @property
    def factor(self) -> int:
        """The index of the scale."""
        return 1 - self.data


class Needs(NamedTuple):
    """What a scale has to be, for operations to take it."""

    positive: bool = False
    first: int = 1 << 62
    """It is there before the operation of that number in the block."""
    dividend: float = 0.0
    """Not zero, if this is not, which is the greatest number that is divided by it."""

    def and_(self, other: Needs) -> Needs:
        return Needs(
            self.positive or other.positive,
            min(self.first, other.first),
            max(self.dividend, other.dividend),
        )


Message: TypeAlias = tuple[SSAValue, Axes]
"""That a value be scaled along some axes."""


class Folding(ABC):
    """The state of moving the scales of one block.

    Three visits of each operation: what is asked of it, in the direction in which scales move; what
    it answers, the other way; the moves themselves.
    """

    def __init__(self, ops: Sequence[Operation], gate: Gate, remarks: Remarks | None) -> None:
        from ..rewriting.scale_parameters import Parameters

        self.ops = ops
        self.block = ops[0].parent if ops else None
        self.gate = gate
        self.remarks = remarks or None
        self.parameters = Parameters()
        self.place = {op: index for index, op in enumerate(ops)}
        self.products: dict[Operation, Product] = {}
        self.visited: list[Operation] = []
        self.asked: dict[SSAValue, dict[Axes, None]] = {}
        """Along what axes a value could be scaled."""
        self.scalings: dict[tuple[Operation, int, Axes], Scaling | None] = {}
        """What operations say of the scales of an operand, or of the result, -1."""
        self.answers: dict[Message, Needs] = {}
        """What of that is possible, and what for."""
        self.pending: dict[SSAValue, Scale] = {}
        """What values are still to be multiplied by."""
        self.moved: list[Operation] = []
        self.erased: dict[Operation, SSAValue] = {}
        """What stands in the place of multiplications."""

    def run(self) -> int:
        self.ask()
        if self.products:
            self.answer()
            self.move()
            self.erase_moved()
            self.finish()
            self.parameters.write_all()
        return len(self.moved)

    @abstractmethod
    def ask(self) -> None:
        """Find the multiplications, and what values their scales could go to."""

    @abstractmethod
    def answer(self) -> None:
        """Find which of these values can be scaled."""

    @abstractmethod
    def move(self) -> None:
        """Move the scales that can move."""

    def finish(self) -> None:
        """What is left to do when all multiplications are gone."""

    def erase_moved(self) -> None:
        """Put the other operand in the place of each multiplication whose scale has moved."""
        for op in sorted(self.moved, key=self.place.__getitem__):
            self.erased[op] = data = op.operands[self.products[op].data]
            op.results[0].replace_all_uses_with(data)
            self.erase(op)

    def erase(self, op: Operation) -> None:
        self.parameters.forget(op)
        op.detach()
        op.drop_all_references()

    def find_product(self, op: MultiplyOp) -> Product | None:
        """How an operation is a multiplication by a scale, if it is."""
        from ..rewriting.scale_parameters import Scale

        type = op.result.type
        if not is_ranked(type) or not isinstance(type.element_type, Float):
            return None
        for index in (1, 0):
            factor, data = op.operands[index], op.operands[1 - index]
            if data.type == type and data is not factor:
                if (axes := _varies_along(factor, type)) is not None:
                    product = Product(1 - index, Scale.of(factor, axes, _sizes(type, axes)))
                    self.products[op] = product
                    return product
        return None

    def note(self, value: SSAValue, axes: Axes) -> None:
        """Ask for a value to be scaled, if its type allows it."""
        if _can_scale(value, axes):
            self.asked.setdefault(value, {})[axes] = None

    def scale_parameters(self, op: Operation, scaling: Scaling, scale: Scale) -> None:
        """Scale the weights of an operation, and divide what is to be divided."""
        for index, along in scaling.weights.items():
            self.scale_parameter(op, index, along, scale)
        for index, axes in scaling.divided.items():
            self.scale_parameter(op, index, Along(axes), scale, divide=True)

    def scale_parameter(
        self, op: Operation, index: int, along: Along, scale: Scale, divide: bool = False
    ) -> None:
        sizes = _sizes(op.operands[index].type, along.axes, along.view)
        if prod(sizes) != prod(scale.sizes):
            sizes = scale.sizes  # a factor or a term that is broadcast
        here = scale.along(along.axes, sizes)
        self.parameters.scale(op, index, along, here, divide)

    def weights_fit(self, op: Operation, scaling: Scaling, like: SSAValue, axes: Axes) -> bool:
        """Whether the weights have elements of that type, and a place for each scale."""
        type, count = like.type, prod(_sizes(like.type, axes))
        assert is_ranked(type)
        return all(
            is_ranked(weight := op.operands[index].type)
            and weight.element_type == type.element_type
            and DYNAMIC_INDEX not in (sizes := _sizes(weight, along.axes, along.view))
            and prod(sizes) == count
            for index, along in scaling.weights.items()
        )

    def may_move(self, op: Operation, scale: Scale, needs: Needs) -> bool:
        """Whether the scale of a multiplication, and of others before it, is what is needed."""
        type = op.results[0].type
        assert is_ranked(type)
        if needs.positive and not scale.is_positive:
            self.missed(op, "NotPositive", "by a scale that is not known to be above zero")
        elif needs.dividend and not scale.divides(needs.dividend, type):
            self.missed(op, "Division", "by a scale that numbers cannot be divided by")
        elif not scale.is_finite:
            self.missed(op, "NotFinite", "by a scale that is infinite or no number")
        elif not all(self.is_before(value, needs.first) for value in scale.values):
            self.missed(op, "TooLate", "by a scale that is computed after what is to take it")
        elif self.gate is None or self.gate():
            if self.remarks is not None:
                self.remarks.passed(op, "Moved", "made part of what takes the scale")
            self.moved.append(op)
            return True
        return False

    def missed(self, op: Operation, name: str, reason: str) -> None:
        if self.remarks is not None:
            self.remarks.missed(op, name, reason)

    def is_before(self, value: SSAValue, index: int) -> bool:
        """Whether a value is there before the operation of that number."""
        owner = value.owner
        return not isinstance(owner, Operation) or self.place.get(owner, -1) < index


class Backward(Folding):
    """Scales move from results to operands."""

    def ask(self) -> None:
        for op in reversed(self.ops):
            results = op.results
            if len(results) != 1:
                continue
            asked = self.asked.get(results[0], {})
            if isinstance(op, MultiplyOp):
                if (product := self.find_product(op)) is not None:
                    self.visited.append(op)
                    own = product.scale.axes
                    for axes in {own: None} | {_join(axes, own): None for axes in asked}:
                        self.want(op.operands[product.data], axes)
            elif asked and isinstance(op, ScaleAxisRule):
                self.visited.append(op)
                for axes in asked:
                    self.scalings[op, -1, axes] = scaling = op.scale_result(axes)
                    for index, inner in scaling.operands.items() if scaling else ():
                        self.want(op.operands[index], inner)

    def want(self, value: SSAValue, axes: Axes | None) -> None:
        """Ask for a value to be scaled where it is computed."""
        owner = value.owner
        if axes is not None and isinstance(owner, Operation) and owner.parent is self.block:
            if value.has_one_use():
                self.note(value, axes)

    def answer(self) -> None:
        for op in reversed(self.visited):
            result = op.results[0]
            for axes in self.asked.get(result, ()):
                needs = self.needs_of(op, result, axes)
                if needs is not None:
                    self.answers[result, axes] = needs

    def needs_of(self, op: Operation, result: SSAValue, axes: Axes) -> Needs | None:
        """What is needed to scale the result of an operation; None if that cannot be done."""
        here = Needs(first=self.place[op])
        if (product := self.products.get(op)) is not None:
            return here if _join(axes, product.scale.axes) is not None else None
        scaling = self.scalings[op, -1, axes]
        if scaling is None or not self.weights_fit(op, scaling, result, axes):
            return None
        needs = here._replace(positive=scaling.positive)
        taken = bool(scaling.weights) and not scaling.operands
        for index, inner in scaling.operands.items():
            operand = op.operands[index]
            if (answer := self.answers.get((operand, inner))) is not None:
                if not _same_sizes(operand, inner, result, axes):
                    return None
                needs = needs.and_(answer)
                taken = True
            elif not _is_parameter(operand, inner, result, axes):
                return None
            elif not scaling.is_sum and _is_constant(operand):
                taken = True  # the other operand of a matrix product
        return needs if taken else None

    def move(self) -> None:
        for op in self.visited:
            scale = self.pending.pop(op.results[0], None)
            if (product := self.products.get(op)) is not None:
                self.move_product(op, product, scale)
            elif scale is not None:
                scaling = self.scalings[op, -1, scale.axes]
                assert scaling is not None
                self.scale_parameters(op, scaling, scale)
                for index, axes in scaling.operands.items():
                    operand = op.operands[index]
                    if (operand, axes) in self.answers:
                        self.pending[operand] = scale.along(axes, _sizes(operand.type, axes))
                    else:
                        self.scale_parameter(op, index, Along(axes), scale)

    def move_product(self, op: Operation, product: Product, scale: Scale | None) -> None:
        """Move the scale of a multiplication on, or let it take the one that has come to it."""
        data = op.operands[product.data]
        total = product.scale if scale is None else product.scale.times(scale)
        needs = self.answers.get((data, total.axes))
        if needs is not None and self.may_move(op, total, needs):
            self.pending[data] = total
        elif scale is not None:
            self.scale_parameter(op, product.factor, Along(scale.axes), scale)

    def finish(self) -> None:
        """Add up constants that are now added one after the other."""
        joined: dict[SSAValue, SSAValue] = {}
        for op in self.moved[::-1]:
            value = self.erased[op]
            value = joined.get(value, value)
            if (outer := self.join_sums(value)) is not None:
                joined[outer.results[0]] = value
                outer.results[0].replace_all_uses_with(value)
                self.erase(outer)

    def join_sums(self, value: SSAValue) -> Operation | None:
        """The operation that adds a constant to `value`, if that has become part of a constant
        that was added before."""
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
        places = {i: Along(a) for i, a in scaling.operands.items()} | dict(scaling.weights)
        for index, along in places.items():
            type = inner.operands[index].type
            if self.parameters.array(inner, index) is not None and (
                prod(static_shape(type) or ()) == 1 or prod(_sizes(type, along.axes)) == term.size
            ):
                self.parameters.add(inner, index, along.axes, term)
                return outer
        return None


class Forward(Folding):
    """Scales move from operands to results."""

    def ask(self) -> None:
        for op in self.ops:
            results = op.results
            if len(results) != 1:
                continue
            if isinstance(op, MultiplyOp) and (product := self.find_product(op)) is not None:
                self.visited.append(op)
                own, asked = product.scale.axes, self.asked.get(op.operands[product.data], {})
                for axes in {own: None} | {_join(axes, own): None for axes in asked}:
                    if axes is not None:
                        self.note(results[0], axes)
            elif not self.asked.keys().isdisjoint(op.operands) and isinstance(op, ScaleAxisRule):
                self.visited.append(op)
                for index, operand in enumerate(op.operands):
                    for axes in self.asked.get(operand, ()):
                        scaling = op.scale_operand(index, axes)
                        self.scalings[op, index, axes] = scaling
                        if scaling is not None and scaling.result is not None:
                            self.note(results[0], scaling.result)

    def answer(self) -> None:
        for op in reversed(self.visited):
            result = op.results[0]
            for axes in self.asked.get(result, ()):
                if (needs := self.needs_of_uses(result, axes)) is not None:
                    self.answers[result, axes] = needs

    def needs_of_uses(self, value: SSAValue, axes: Axes) -> Needs | None:
        """What is needed for all uses of a value to take its scale; None if one cannot."""
        needs = Needs()
        if value.first_use is None:
            return None
        for use in value.uses:
            answer = self.needs_of_use(use.operation, use.index, value, axes)
            if answer is None:
                return None
            needs = needs.and_(answer)
        return needs

    def needs_of_use(self, op: Operation, index: int, value: SSAValue, axes: Axes) -> Needs | None:
        if op.parent is not self.block or len(op.results) != 1:
            return None
        if (product := self.products.get(op)) is not None:
            fits = index == product.data and _join(axes, product.scale.axes) is not None
            return Needs() if fits else None
        scaling = self.scalings.get((op, index, axes))
        if sum(operand is value for operand in op.operands) > 1:
            return None
        if scaling is None or not self.weights_fit(op, scaling, value, axes):
            return None
        needs = Needs(scaling.positive)
        for other, inner in (*scaling.operands.items(), *scaling.divided.items()):
            if not _is_parameter(op.operands[other], inner, value, axes):
                return None
        for other in scaling.divided:
            needs = needs.and_(Needs(dividend=self.parameters.greatest(op, other)))
        if (outer := scaling.result) is not None:
            result = op.results[0]
            answer = self.answers.get((result, outer))
            if answer is None or not _same_sizes(result, outer, value, axes):
                return None
            needs = needs.and_(answer)
        return needs

    def move(self) -> None:
        for op in self.visited:
            if (product := self.products.get(op)) is not None:
                self.move_product(op, product)
            else:
                for index, operand in enumerate(tuple(op.operands)):
                    if (scale := self.pending.get(operand)) is not None:
                        self.move_through(op, index, scale)

    def move_product(self, op: Operation, product: Product) -> None:
        """Move the scale of a multiplication on, or let it take the one that has come to it."""
        scale = self.pending.get(op.operands[product.data])
        total = product.scale if scale is None else scale.times(product.scale)
        needs = self.answers.get((op.results[0], total.axes))
        if needs is not None and self.may_move(op, total, needs):
            self.pending[op.results[0]] = total
        elif scale is not None:
            self.scale_parameter(op, product.factor, Along(scale.axes), scale)

    def move_through(self, op: Operation, index: int, scale: Scale) -> None:
        """Make an operation take a scale that one of its operands has lost."""
        scaling = self.scalings[op, index, scale.axes]
        assert scaling is not None
        self.scale_parameters(op, scaling, scale)
        for other, axes in scaling.operands.items():
            self.scale_parameter(op, other, Along(axes), scale)
        if scaling.result is not None:
            result = op.results[0]
            sizes = _sizes(result.type, scaling.result)
            self.pending[result] = scale.along(scaling.result, sizes)


def _varies_along(factor: SSAValue, type: TensorType[Attribute]) -> Axes | None:
    """The axes along which a factor of a tensor of that type is not of size 1; None if it is no
    scale."""
    shape = static_shape(factor.type)
    if shape is None or not is_ranked(factor.type):
        return None
    if isinstance(factor.owner, FullOp):
        return ()
    if shape == type.get_shape() and not _is_constant(factor):
        return None
    axes = tuple(i - len(shape) for i, size in enumerate(shape) if size != 1)
    return axes if DYNAMIC_INDEX not in _sizes(type, axes) else None


def _is_constant(value: SSAValue) -> bool:
    if isinstance(value.owner, ConstantOp | FullOp):
        return True
    return ConstantLike.get_constant_value(value) is not None


def _is_parameter(value: SSAValue, axes: Axes, like: SSAValue, like_axes: Axes) -> bool:
    """Whether a value is to be scaled itself, along `axes`, as another one is along `like_axes`:
    a constant, or what is of size 1 but along the axes and broadcast."""
    shape, type, like_type = static_shape(value.type), value.type, like.type
    if shape is None or not is_ranked(type) or not is_ranked(like_type):
        return False
    if type.element_type != like_type.element_type:
        return False
    sizes, needed = _sizes(type, axes), _sizes(like_type, like_axes)
    if len(sizes) != len(needed) or any(
        a not in (1, b) for a, b in zip(sizes, needed, strict=True)
    ):
        return False
    if _is_constant(value):
        return True
    small = all(size == 1 or i - len(shape) in axes for i, size in enumerate(shape))
    return small and shape != like_type.get_shape()


def _can_scale(value: SSAValue, axes: Axes) -> bool:
    """Whether a value has floats, and known sizes along some axes."""
    type = value.type
    return (
        is_ranked(type)
        and isinstance(type.element_type, Float)
        and DYNAMIC_INDEX not in _sizes(type, axes)
    )


def _same_sizes(value: SSAValue, axes: Axes, other: SSAValue, other_axes: Axes) -> bool:
    """Whether two values are of one element type and have as many places along some axes."""
    type, other_type = value.type, other.type
    return (
        is_ranked(type)
        and is_ranked(other_type)
        and type.element_type == other_type.element_type
        and prod(_sizes(type, axes)) == prod(_sizes(other_type, other_axes))
    )


def _sizes(type: Attribute, axes: Axes, view: Shape | None = None) -> Shape:
    """The sizes along some axes, 1 where there is no such dimension."""
    if not axes:
        return ()
    assert is_ranked(type)
    if view is not None:
        return tuple(view[axis] for axis in axes)
    dimensions = type.shape.data  # all of `get_shape` is more than is needed
    least = -len(dimensions)
    return tuple([dimensions[axis].data if axis >= least else 1 for axis in axes])


def _join(axes: Axes, other: Axes) -> Axes | None:
    """The axes of the product of two scales, if it is one."""
    if not other or axes == other:
        return axes
    return None if axes else other


def _blocks(root: Operation) -> list[Sequence[Operation]]:
    """The ops of each block nested in `root`, as far as it is not primitive."""
    found: list[Sequence[Operation]] = []
    pending = [root]
    while pending:
        op = pending.pop()
        if "relax.primitive" in op.attributes:
            continue
        for region in op.regions:
            for block in region.blocks:
                ops = tuple(in_order(block))
                found.append(ops)
                pending += [inner for inner in ops if inner.regions]
    return found


@dataclass(frozen=True)
class BackwardFoldScaleAxis(FunctionPass):
    """Move multiplications of channels to what computes the other operand, into its weights;
    source: `relay.BackwardFoldScaleAxis`."""

    name = "backward-fold-scale-axis"
    opt_level = 3
    required = ("infer-type",)
    preserves = ("infer-type",)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("moved", fold_scales_backward(func, ctx.gate(self.name), ctx.remarks))


@dataclass(frozen=True)
class ForwardFoldScaleAxis(FunctionPass):
    """Move multiplications of channels to what uses the product, into its weights; source:
    `relay.ForwardFoldScaleAxis`."""

    name = "forward-fold-scale-axis"
    opt_level = 3
    required = ("infer-type",)
    preserves = ("infer-type",)

    def transform_function(self, func: FuncOp, module: ModuleOp, ctx: PassContext) -> None:
        ctx.count("moved", fold_scales_forward(func, ctx.gate(self.name), ctx.remarks))


class FoldScaleAxis(Sequential):
    """Move multiplications of channels into weights, backward and then forward, and fold what is
    constant; source: `relay.FoldScaleAxis`.

    Called below level 3, at which both directions are left out, it warns (TVM: silent).
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
