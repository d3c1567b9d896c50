"""Converters of ai.onnx.preview.training: the update rules of optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from ..errors import Unsupported
from ..node import Converter, Converters, Node
from .expression import Expression, inputs

__all__ = ["TRAINING"]

Rule = Callable[[Node, Expression, Expression, list[Expression]], list[Expression]]
"""Returns the new value of one tensor and of its states, from the node, the learning rate, the
step, and the tensor, its gradient and its states."""


def optimizer(rule: Rule, states: int) -> Converter:
    """Return a converter that applies a rule to each tensor; `states` is the number of states of
    each. The inputs are the rate, the step, all tensors, all gradients, all of each state."""

    def convert(node: Node) -> Sequence[SSAValue]:
        rate, step, *others = inputs(node)
        count, rest = divmod(len(others), states + 2)
        if rest:
            raise Unsupported(f"{len(others)} tensors, expected a multiple of {states + 2}")
        updated = [rule(node, rate, step, others[i::count]) for i in range(count)]
        return [tensor.value for kind in zip(*updated, strict=True) for tensor in kind]

    return convert


def regularized(node: Node, x: Expression, gradient: Expression) -> Expression:
    """Add the gradient of the regularization, norm_coefficient / 2 * |x|^2."""
    return gradient + x * node.float("norm_coefficient")


def adagrad(
    node: Node, rate: Expression, step: Expression, tensors: list[Expression]
) -> list[Expression]:
    x, gradient, squares = tensors
    rate = rate / (1.0 + step.cast(x.element) * node.float("decay_factor"))
    gradient = regularized(node, x, gradient)
    squares = squares + gradient * gradient
    return [x - rate * gradient / (squares.op("sqrt") + node.float("epsilon")), squares]


def adam(
    node: Node, rate: Expression, step: Expression, tensors: list[Expression]
) -> list[Expression]:
    x, gradient, mean, squares = tensors
    alpha, beta = node.float("alpha", 0.9), node.float("beta", 0.999)
    gradient = regularized(node, x, gradient)
    mean = mean * alpha + gradient * (1 - alpha)
    squares = squares * beta + gradient * gradient * (1 - beta)
    turn = step.cast(x.element)
    corrected = ((1.0 - x.scalar(beta).op("power", turn)).op("sqrt")) * rate
    corrected = corrected / (1.0 - x.scalar(alpha).op("power", turn))
    rate = (step > 0).where(corrected, rate)
    updated = x - rate * mean / (squares.op("sqrt") + node.float("epsilon"))
    return [updated * (1 - node.float("norm_coefficient_post")), mean, squares]


def momentum(
    node: Node, rate: Expression, step: Expression, tensors: list[Expression]
) -> list[Expression]:
    x, gradient, velocity = tensors
    nesterov = node.choice("mode", {"standard": False, "nesterov": True}, "standard")
    alpha, beta = node.float("alpha"), node.float("beta")
    gradient = regularized(node, x, gradient)
    factor = (step > 0).where(beta, x.scalar(1))
    velocity = velocity * alpha + gradient * factor
    return [x - rate * (gradient + velocity * alpha if nesterov else velocity), velocity]


TRAINING: Converters = {
    "Adagrad": optimizer(adagrad, 1),
    "Adam": optimizer(adam, 2),
    "Momentum": optimizer(momentum, 1),
}
