"""The part that both directions of scale folding share: requests, requirements, and moves.

As in Relay's `fold_scale_axis.cc`, each direction has three phases. `request` visits operations in
the direction in which scales move, and records which values could be scaled along which axes
(Relay: `Prep`, `Message`). `resolve` visits them the other way, and finds the requests that can be
satisfied and the requirements on the scale. `move` moves the scales (Relay: `Transform`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from math import inf, prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Operation, SSAValue

from ...dialects.relax.elementwise.binary import MultiplyOp
from ...dialects.relax.interfaces import Along, Axes, Scaling
from ...dialects.relax.types import Float, is_ranked
from ...passmanager.actions import Actions
from ...passmanager.base import FunctionPass
from ...passmanager.fast.edit import erase
from ...passmanager.ir.ordering import in_order
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import Rounding
from .scale_axes import can_scale, scale_axes, sizes_along

if TYPE_CHECKING:
    from .scales import Scale


class Product(NamedTuple):
    """A multiplication of data by a scale."""

    data: int
    """The operand index of the data."""
    scale: Scale

    @property
    def factor(self) -> int:
        """The operand index of the scale."""
        return 1 - self.data


class Requirements(NamedTuple):
    """The conditions on a scale under which operations can absorb it."""

    positive: bool = False
    """Whether all its elements must be above zero."""
    before: int = 1 << 62
    """The position of the first operation that would use the scale: it must be defined earlier."""
    finite: bool = False
    """Whether all its elements must be known to be finite."""
    known: bool = False
    """Whether it must be constant: it is to be moved into constant weights, whose product with
    another scale would be computed in each call, and could not be packed ahead of time."""
    dividend: float = 0.0
    """The maximum known magnitude of the operands that are divided by it, at least 1; 0 if there
    are none. The quotients must be finite, so no element may be zero."""
    factor: float = 0.0
    """The maximum magnitude of the constants that are multiplied by it: the products must be
    finite."""
    minimum: float = inf
    """The minimum magnitude, other than 0, of the scales and weights that it is multiplied with, of
    weights the maximum one of each channel: the products must not be subnormal."""
    summand: float = 0.0
    """The maximum magnitude of the constants in a sum that it scales, 0 if there are none: no
    scaled term may overflow where the scaled sum does not."""
    rounds: bool = False
    """Whether it scales a sum whose constants cancel, or a product that loses digits: these stay
    as they are."""

    def and_(self, other: Requirements) -> Requirements:
        """Return the conjunction of two requirements."""
        pairs = zip(self._fields, self, other, strict=True)
        return self._make((min if name in _LOWER_BOUNDS else max)(pair) for name, *pair in pairs)


_LOWER_BOUNDS = ("before", "minimum")
"""The requirements whose smaller number is the stricter one."""


Request: TypeAlias = tuple[SSAValue, Axes]
"""A request to scale a value along some axes (Relay: Message)."""


class ScaleFolder(ABC):
    """Moves the scales of the multiplications in one block into other operations."""

    def __init__(self, ops: Sequence[Operation], actions: Actions) -> None:
        from .scales import ParameterScaler  # imports numpy

        self.ops = ops
        self.block = ops[0].parent if ops else None
        self.actions = actions
        self.parameters = ParameterScaler()
        self.position = {op: index for index, op in enumerate(ops)}
        self.products: dict[Operation, Product] = {}
        self.visited: list[Operation] = []
        """The multiplications by scales, and the operations that requests reach."""
        self.requests: dict[SSAValue, dict[Axes, None]] = {}
        """The axes along which a value could be scaled."""
        self.scalings: dict[tuple[Operation, int, Axes], Scaling | None] = {}
        """The rules of operations, by the index of the scaled operand, or -1 for the result."""
        self.requirements: dict[Request, Requirements] = {}
        """The requests that can be satisfied."""
        self.pending: dict[SSAValue, Scale] = {}
        """The scales by which values are still to be multiplied."""
        self.moved: list[Operation] = []
        """The multiplications whose scale has moved."""
        self.replacements: dict[Operation, SSAValue] = {}
        """The values that replace the erased multiplications."""

    def run(self) -> None:
        """Move the scales of the block."""
        self.request()
        if self.products:
            self.resolve()
            self.move()
            self.erase_moved()
            self.finish()
            self.parameters.write_all()

    @abstractmethod
    def request(self) -> None:
        """Find the multiplications by scales, and request to scale the values they can reach."""

    @abstractmethod
    def resolve(self) -> None:
        """Find the requests that can be satisfied, and their requirements."""

    @abstractmethod
    def move(self) -> None:
        """Move each scale whose requirements hold."""

    def finish(self) -> None:  # noqa: B027  not every direction has something to clean up
        """Clean up after the multiplications are erased."""

    def erase_moved(self) -> None:
        """Replace each multiplication whose scale has moved by its data."""
        for op in sorted(self.moved, key=self.position.__getitem__):
            self.replacements[op] = data = op.operands[self.products[op].data]
            op.results[0].replace_all_uses_with(data)
            self.erase(op)

    def erase(self, op: Operation) -> None:
        """Erase `op`, and record that its constant operands lose a use."""
        self.parameters.forget(op)
        erase(op)

    def find_product(self, op: MultiplyOp) -> Product | None:
        """Return `op` as a multiplication by a scale, and record it; None if it is not one."""
        from .scales import Scale  # imports numpy

        type = op.result.type
        if not is_ranked(type) or not isinstance(type.element_type, Float):
            return None
        for index in (1, 0):
            factor, data = op.operands[index], op.operands[1 - index]
            if data.type == type and data is not factor:
                if (axes := scale_axes(factor, type)) is not None:
                    product = Product(1 - index, Scale.of(factor, axes, sizes_along(type, axes)))
                    self.products[op] = product
                    return product
        return None

    def request_scale(self, value: SSAValue, axes: Axes) -> None:
        """Request to scale `value` along `axes` if its type allows it."""
        if can_scale(value, axes):
            self.requests.setdefault(value, {})[axes] = None

    def constant_requirements(self, op: Operation, scaling: Scaling) -> Requirements:
        """Return the requirements under which the weights that `scaling` multiplies stay constant,
        and all constants that it multiplies, and sums with them, stay finite and keep their
        digits."""
        constants = {
            index: self.parameters.max_magnitude(op, index)
            for index in (*scaling.weights, *scaling.operands)
            if self.parameters.array(op, index) is not None
        }
        maximum = max(constants.values(), default=0.0)
        given = {i: Along(axes) for i, axes in scaling.operands.items()} | dict(scaling.weights)
        weights = () if scaling.is_sum else given.items()
        channels = [self.parameters.minimum_channel(op, *weight) for weight in weights]
        return Requirements(
            known=not constants.keys().isdisjoint(scaling.weights),
            factor=maximum,
            minimum=min(channels, default=inf),
            summand=maximum if scaling.is_sum else 0.0,
            rounds=self.rounds_elsewhere(op),
        )

    def requirements_of_product(self, op: Operation, product: Product) -> Requirements:
        """Return the requirements under which the scale of a multiplication can be multiplied by
        another: (x * 1e30) * 1e30 may be finite for a small x, but 1e30 * 1e30 is infinite."""
        return Requirements(
            factor=product.scale.maximum,
            minimum=product.scale.minimum,
            rounds=self.rounds_elsewhere(op),
        )

    def rounds_elsewhere(self, op: Operation) -> bool:
        """Return whether more than the last bits may change where the constants around `op` are
        scaled."""
        from ..float_rounding import keeps_rounding  # imports numpy

        return not keeps_rounding(op, self.parameters.array)

    def scale_parameters(self, op: Operation, scaling: Scaling, scale: Scale) -> None:
        """Scale the weights of `op`, and divide the operands that `scaling` lists as divided."""
        for index, along in scaling.weights.items():
            self.scale_parameter(op, index, along, scale)
        for index, axes in scaling.divided.items():
            self.scale_parameter(op, index, Along(axes), scale, divide=True)

    def scale_parameter(
        self, op: Operation, index: int, along: Along, scale: Scale, divide: bool = False
    ) -> None:
        """Multiply operand `index` of `op` by `scale` along `along`, or divide it."""
        sizes = sizes_along(op.operands[index].type, along.axes, along.view)
        if prod(sizes) != prod(scale.sizes):
            sizes = scale.sizes  # the operand is broadcast along the axes
        here = scale.along(along.axes, sizes)
        self.parameters.scale(op, index, along, here, divide)

    def weights_fit(self, op: Operation, scaling: Scaling, like: SSAValue, axes: Axes) -> bool:
        """Return whether the weights of `op` have the element type of `like`, and as many elements
        along their axes as `like` along `axes`."""
        type, count = like.type, prod(sizes_along(like.type, axes))
        assert is_ranked(type)
        return all(
            is_ranked(weight := op.operands[index].type)
            and weight.element_type == type.element_type
            and DYNAMIC_INDEX not in (sizes := sizes_along(weight, along.axes, along.view))
            and prod(sizes) == count
            for index, along in scaling.weights.items()
        )

    def try_move(self, op: Operation, scale: Scale, requirements: Requirements) -> bool:
        """Record that `scale` moves away from `op` if it meets `requirements`; return whether it
        moves. `scale` is the product of the scale of `op` and of scales that have moved to it."""
        type = op.results[0].type
        assert is_ranked(type)
        from ..float_rounding import reassociates  # imports numpy

        missed = self.actions.missed
        if requirements.positive and not scale.is_positive:
            missed(op, "NotPositive", "the scale is not known to be above zero")
        elif requirements.dividend and not scale.divides(requirements.dividend, type):
            missed(op, "Division", "the scale may be zero, or too small to divide by")
        elif not reassociates() and not (
            scale.multiplies(requirements.factor, type)
            and scale.keeps_precision(requirements.minimum, requirements.factor, type)
            and (not requirements.summand or scale.distributes(requirements.summand, type))
        ):
            missed(op, "Range", "a scaled constant or term may be infinite or subnormal")
        elif requirements.rounds:
            missed(op, "Rounding", "more than the last bits of sums and products may change")
        elif not scale.is_finite(type):
            missed(op, "NotFinite", "the scale is infinite or NaN")
        elif requirements.known and scale.values:
            missed(op, "NotConstant", "the weights are constant, and the scale is not")
        elif requirements.finite and scale.values:
            missed(op, "NotFinite", "the scale is not known to be finite, and meets padding")
        elif not all(self.is_before(value, requirements.before) for value in scale.values):
            missed(op, "TooLate", "the scale is computed after the operation that would absorb it")
        elif self.actions.allowed(op):
            self.actions.passed(op, "Moved", "the scale is absorbed by other operations")
            self.actions.count("moved")
            self.moved.append(op)
            return True
        return False

    def is_before(self, value: SSAValue, position: int) -> bool:
        """Return whether `value` is defined before the operation at `position` in the block."""
        owner = value.owner
        return not isinstance(owner, Operation) or self.position.get(owner, -1) < position


class FoldScales(FunctionPass):
    """A pass that moves multiplications by scales in one direction."""

    opt_level = 3
    rounds = Rounding(
        changes=(
            "sign of zero may change",
            "infinite may become finite",
            "infinite may become NaN",
        )
    )
    required = ("infer-type",)
    preserves = ("infer-type",)
    acts_on = (MultiplyOp,)

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        import_module(".scales", __package__)


def foldable_blocks(root: Operation) -> list[Sequence[Operation]]:
    """Return the operations of each block nested in `root`, except in primitive functions."""
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
