"""Converters of recurrent layers: loops over the steps of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import Shape
from ..errors import Unsupported
from ..node import Converter, Converters, Node
from ..types import tensor_of
from .control import length, while_loop
from .elementwise import activation_named
from .expression import Expression

Activation = Callable[[Expression], Expression]
Step = Callable[["Cell", Expression, Sequence[Expression]], list[Expression]]
"""A step, a function from the cell, the products of the input with the weights, and the old states
to the new states, the output first."""


@dataclass
class Cell:
    """The weights of a layer in one direction; W and R are transposed."""

    node: Node
    hidden: int
    gates: int
    recurrent: Expression
    input_bias: Expression | None
    recurrent_bias: Expression | None
    peepholes: Expression | None
    activations: Sequence[Activation]

    def part(self, value: Expression, gate: int, count: int = 1) -> Expression:
        """Return the slice for one gate or several in the last dimension."""
        if count == self.gates and value is not self.peepholes:
            return value
        bounds = gate * self.hidden, (gate + count) * self.hidden
        return value.op("strided_slice", begin=[bounds[0]], end=[bounds[1]], axes=[-1])

    def of_state(self, state: Expression, gate: int, count: int) -> Expression:
        """Return the product of the state with the weights of some gates, plus their bias."""
        product = state @ self.part(self.recurrent, gate, count)
        if self.recurrent_bias is None:
            return product
        return product + self.part(self.recurrent_bias, gate, count)

    def clipped(self, value: Expression) -> Expression:
        """Clip a value to the range of the attribute `clip`."""
        limit = self.node.opt_float("clip")
        return value if limit is None else value.op("clip", min=-limit, max=limit)


# One step


def rnn_step(cell: Cell, x: Expression, states: Sequence[Expression]) -> list[Expression]:
    return [cell.activations[0](cell.clipped(x + cell.of_state(states[0], 0, 1)))]


def gru_step(cell: Cell, x: Expression, states: Sequence[Expression]) -> list[Expression]:
    """Compute a step of a GRU; the gates are update, reset and hidden."""
    (h,) = states
    sigma, g = cell.activations
    both = sigma(cell.clipped(cell.part(x, 0, 2) + cell.of_state(h, 0, 2)))
    update, reset = cell.part(both, 0), cell.part(both, 1)
    if cell.node.bool("linear_before_reset"):
        new = reset * cell.of_state(h, 2, 1)
    else:
        new = cell.of_state(reset * h, 2, 1)
    new = g(cell.clipped(cell.part(x, 2) + new))
    return [new + update * (h - new)]


def lstm_step(cell: Cell, x: Expression, states: Sequence[Expression]) -> list[Expression]:
    """Compute a step of an LSTM; the gates are input, output, forget and cell, the peepholes
    input, output and forget."""
    h, c = states
    f, g, last = cell.activations
    total = x + cell.of_state(h, 0, 4)

    def gate(index: int, state: Expression | None) -> Expression:
        value = cell.part(total, index)
        if cell.peepholes is not None and state is not None:
            value = value + cell.part(cell.peepholes, index) * state
        return cell.clipped(value)

    new = f(gate(2, c)) * c + f(gate(0, c)) * g(gate(3, None))
    return [f(gate(1, new)) * last(new), new]


# The layer

_DIRECTIONS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}


def recurrent(gates: int, defaults: Sequence[str], step: Step, states: int = 1) -> Converter:
    """Return a converter of a recurrent layer with this number of gates and states, and these
    default activations."""

    def convert(node: Node) -> Sequence[SSAValue]:
        if node.bool("input_forget"):
            raise Unsupported("attribute input_forget = 1")  # nor does onnxruntime compute it
        directions = node.choice("direction", _DIRECTIONS, "forward")
        batch_first = node.bool("layout")
        x = Expression(node, node.narrowed(node.with_rank(node.input(0), 3), sequence_shape(node)))
        if batch_first:
            x = x.transpose(1, 0, 2)
        ends: list[list[Expression]] = []
        for index, backwards in enumerate(directions):
            cell = cell_of(node, index, gates, defaults, len(directions))
            initial = [initial_state(x, i, index, cell.hidden) for i in range(states)]
            products = input_products(cell, x, index, backwards)
            ends.append(run(x, products, initial, partial(step, cell), backwards))
        columns = zip(*ends, strict=True)
        y, *lasts = (first.op("stack", *others, axis=0) for first, *others in columns)
        if batch_first:
            y = y.transpose(2, 1, 0, 3)
            lasts = [value.transpose(1, 0, 2) for value in lasts]
        else:
            y = y.transpose(1, 0, 2, 3)
        return [value.value for value in (y, *lasts)]

    return convert


def cell_of(node: Node, index: int, gates: int, defaults: Sequence[str], count: int) -> Cell:
    """Return the weights of a direction: the inputs W, R, B and, of an LSTM, P."""
    hidden = hidden_size(node)
    recurrent = of_direction(node, 2, index).op("transpose")
    halves: list[Expression | None] = [None, None]
    if node.has(3):
        bias, width = of_direction(node, 3, index), gates * hidden
        halves = [
            bias.op("strided_slice", begin=[i * width], end=[(i + 1) * width]) for i in range(2)
        ]
    return Cell(
        node,
        hidden,
        gates,
        recurrent=recurrent,
        input_bias=halves[0],
        recurrent_bias=halves[1],
        peepholes=of_direction(node, 7, index) if node.has(7) else None,
        activations=activations_of(node, defaults, index, count),
    )


def hidden_size(node: Node) -> int:
    """Return the number of elements of a state, of the attribute or of the weights R."""
    size = node.opt_int("hidden_size") or node.shape(node.with_rank(node.input(2), 3))[2]
    if size == DYNAMIC_INDEX:
        raise Unsupported("neither the attribute hidden_size nor the size of R is known")
    if size < 1:
        raise Unsupported(f"hidden_size = {size}")
    node.check_size(size, size)  # of the weights R
    return size


def sequence_shape(node: Node) -> Shape:
    """Return what is known of the shape of the input from the weights W."""
    columns = node.shape(node.with_rank(node.input(1), 3))[2]
    return DYNAMIC_INDEX, DYNAMIC_INDEX, columns


def of_direction(node: Node, index: int, direction: int) -> Expression:
    """Return the slice of an input for a direction, its first dimension."""
    return Expression(node, node.input(index)).at(0, direction)


def input_products(cell: Cell, x: Expression, index: int, backwards: bool) -> Expression:
    """Return the products of all inputs with the weights, plus the bias, in the order of the
    steps."""
    x = turned(x) if backwards else x
    products = x @ of_direction(cell.node, 1, index).op("transpose")
    return products if cell.input_bias is None else products + cell.input_bias


def turned(x: Expression) -> Expression:
    """Reverse a sequence; each batch has its own number of steps."""
    node = x.node
    if node.has(4):
        lengths = node.cast(node.input(4), i64)
        return x.op("reverse_sequence", lengths, seq_axis=0, batch_axis=1)
    return x.op("flip", axis=[0])


def initial_state(x: Expression, number: int, index: int, hidden: int) -> Expression:
    """Return the state before the first step, by default zeros."""
    node = x.node
    if node.has(5 + number):
        value = Expression(node, node.with_rank(node.input(5 + number), 3))
        if node.bool("layout"):
            value = value.transpose(1, 0, 2)
        shape = DYNAMIC_INDEX, DYNAMIC_INDEX, hidden
        return Expression(node, node.narrowed(value.value, shape)).at(0, index)
    if (batch := x.shape[1]) != DYNAMIC_INDEX:
        return Expression(node, node.full(0, x.element, (batch, hidden)))
    size = x.op("shape_of").op("strided_slice", begin=[1], end=[2])
    shape = size.op("concatenate", node.array([hidden], i64), axis=0)
    zeros = x.scalar(0).op("dyn.full", shape)
    return Expression(node, node.retyped(zeros.value, tensor_of(x.element, (batch, hidden))))


def run(
    x: Expression,
    products: Expression,
    initial: Sequence[Expression],
    step: Callable[[Expression, Sequence[Expression]], list[Expression]],
    backwards: bool,
) -> list[Expression]:
    """Return the outputs of all steps, then the final states."""
    node, steps = x.node, x.shape[0]
    limit = length(node, x.value, 0)
    lengths = Expression(node, node.input(4)).cast(i64) if node.has(4) else None

    def body(turn: SSAValue, carried: Sequence[SSAValue]):
        old = [Expression(node, value) for value in carried]
        new = step(products.op("take", turn, axis=0, mode="wrap"), old)
        output = new[0]
        if lengths is not None:
            goes = (Expression(node, turn) < lengths).expand(1)
            new = [goes.where(n, o) for n, o in zip(new, old, strict=True)]
            output = goes.where(output, 0)
        return None, [value.value for value in new], [output.value]

    states = [value.value for value in initial]
    *lasts, outputs = (
        Expression(node, value) for value in while_loop(node, limit, None, states, body, steps)
    )
    return [turned(outputs) if backwards else outputs, *lasts]


# Activations


def activations_of(
    node: Node, defaults: Sequence[str], index: int, directions: int
) -> list[Activation]:
    """Return the activations of a direction; the attributes alpha and beta list the parameters
    of those that take them, in order."""
    names = node.strings("activations") or [*defaults] * directions
    alphas = iter(node.floats("activation_alpha") or [])
    betas = iter(node.floats("activation_beta") or [])
    functions = [activation(name, alphas, betas) for name in names]
    return functions[index * len(defaults) : (index + 1) * len(defaults)]


def activation(name: str, alphas: Iterator[float], betas: Iterator[float]) -> Activation:
    """Return an activation function by name, with the next of the parameters if it takes any, and
    else with its default ones."""
    function, defaults = activation_named(name)
    given = [next(*pair) for pair in zip((alphas, betas), defaults, strict=False)]
    return lambda x: function(x, *[*given, 0.0, 0.0][:2])


RECURRENT: Converters = {
    "GRU": recurrent(3, ("Sigmoid", "Tanh"), gru_step),
    "LSTM": recurrent(4, ("Sigmoid", "Tanh", "Tanh"), lstm_step, states=2),
    "RNN": recurrent(1, ("Tanh",), rnn_step),
}
