"""Converters of recurrent layers: loops over the steps of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import SSAValue

from .....dialects.relax.shapes import Shape
from ...errors import Unsupported
from ...node import Converter, Converters, Node
from ...types import tensor_of
from ..control import length, while_loop
from ..elementwise.activation import exp_minus_1

__all__ = ["RECURRENT"]

Activation = Callable[[SSAValue], SSAValue]
Step = Callable[[SSAValue, Sequence[SSAValue]], list[SSAValue]]
"""What a step makes of the products of its input with the weights and of the old states: the new
states, the output first."""


@dataclass
class Cell:
    """The weights of a layer in one direction; W and R are transposed."""

    node: Node
    hidden: int
    gates: int
    recurrent: SSAValue
    input_bias: SSAValue | None
    recurrent_bias: SSAValue | None
    peepholes: SSAValue | None
    activations: Sequence[Activation]

    def op(self, name: str, *operands: SSAValue) -> SSAValue:
        return self.node.op(name, *operands)

    def part(self, value: SSAValue, gate: int, count: int = 1) -> SSAValue:
        """Return the slice for one gate or several in the last dimension."""
        if count == self.gates and value is not self.peepholes:
            return value
        bounds = gate * self.hidden, (gate + count) * self.hidden
        return self.node.op("strided_slice", value, begin=[bounds[0]], end=[bounds[1]], axes=[-1])

    def of_state(self, state: SSAValue, gate: int, count: int) -> SSAValue:
        """Return the product of the state with the weights of some gates, plus their bias."""
        product = self.op("matmul", state, self.part(self.recurrent, gate, count))
        if self.recurrent_bias is None:
            return product
        return self.op("add", product, self.part(self.recurrent_bias, gate, count))

    def clipped(self, value: SSAValue) -> SSAValue:
        """Clip a value to the range of the attribute `clip`."""
        limit = self.node.opt_float("clip")
        return value if limit is None else self.node.op("clip", value, min=-limit, max=limit)


# One step


def rnn_step(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    total = cell.op("add", x, cell.of_state(states[0], 0, 1))
    return [cell.activations[0](cell.clipped(total))]


def gru_step(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    """Compute a step of a GRU; the gates are update, reset and hidden."""
    (h,) = states
    sigma, g = cell.activations
    both = cell.op("add", cell.part(x, 0, 2), cell.of_state(h, 0, 2))
    both = sigma(cell.clipped(both))
    update, reset = cell.part(both, 0), cell.part(both, 1)
    if cell.node.bool("linear_before_reset"):
        new = cell.op("multiply", reset, cell.of_state(h, 2, 1))
    else:
        new = cell.of_state(cell.op("multiply", reset, h), 2, 1)
    new = g(cell.clipped(cell.op("add", cell.part(x, 2), new)))
    kept = cell.op("multiply", update, cell.op("subtract", h, new))
    return [cell.op("add", new, kept)]


def lstm_step(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    """Compute a step of an LSTM; the gates are input, output, forget and cell, the peepholes
    input, output and forget."""
    h, c = states
    f, g, last = cell.activations
    total = cell.op("add", x, cell.of_state(h, 0, 4))

    def gate(index: int, state: SSAValue | None) -> SSAValue:
        value = cell.part(total, index)
        if cell.peepholes is not None and state is not None:
            seen = cell.op("multiply", cell.part(cell.peepholes, index), state)
            value = cell.op("add", value, seen)
        return cell.clipped(value)

    forgotten = cell.op("multiply", f(gate(2, c)), c)
    added = cell.op("multiply", f(gate(0, c)), g(gate(3, None)))
    new = cell.op("add", forgotten, added)
    return [cell.op("multiply", f(gate(1, new)), last(new)), new]


# The layer

_DIRECTIONS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}


def recurrent(
    gates: int,
    defaults: Sequence[str],
    step: Callable[[Cell, SSAValue, Sequence[SSAValue]], list[SSAValue]],
    states: int = 1,
) -> Converter:
    """Return a converter of a recurrent layer with this number of gates and states, and these
    default activations."""

    def convert(node: Node) -> Sequence[SSAValue]:
        if node.bool("input_forget"):
            raise Unsupported("attribute input_forget = 1")  # nor does onnxruntime compute it
        directions = node.choice("direction", _DIRECTIONS, "forward")
        batch_first = node.bool("layout")
        x = node.narrowed(node.with_rank(node.input(0), 3), sequence_shape(node))
        if batch_first:
            x = node.op("transpose", x, axes=[1, 0, 2])
        ends: list[list[SSAValue]] = []
        for index, backwards in enumerate(directions):
            cell = cell_of(node, index, gates, defaults, len(directions))
            initial = [initial_state(node, x, i, index, cell.hidden) for i in range(states)]

            def advance(
                value: SSAValue, old: Sequence[SSAValue], cell: Cell = cell
            ) -> list[SSAValue]:
                return step(cell, value, old)

            products = input_products(cell, x, index, backwards)
            ends.append(run(node, x, products, initial, advance, backwards))
        columns = zip(*ends, strict=True)
        y, *lasts = (node.op("stack", *values, axis=0) for values in columns)
        if batch_first:
            y = node.op("transpose", y, axes=[2, 1, 0, 3])
            lasts = [node.op("transpose", value, axes=[1, 0, 2]) for value in lasts]
        else:
            y = node.op("transpose", y, axes=[1, 0, 2, 3])
        return [y, *lasts]

    return convert


def cell_of(node: Node, index: int, gates: int, defaults: Sequence[str], count: int) -> Cell:
    """Return the weights of a direction: the inputs W, R, B and, of an LSTM, P."""
    hidden = hidden_size(node)
    recurrent = node.op("transpose", of_direction(node, 2, index))
    bias = of_direction(node, 3, index) if node.has(3) else None
    halves: list[SSAValue | None] = [None, None]
    if bias is not None:
        width = gates * hidden
        halves = [
            node.op("strided_slice", bias, begin=[i * width], end=[(i + 1) * width])
            for i in range(2)
        ]
    peepholes = of_direction(node, 7, index) if node.has(7) else None
    activations = activations_of(node, defaults, index, count)
    return Cell(node, hidden, gates, recurrent, halves[0], halves[1], peepholes, activations)


def hidden_size(node: Node) -> int:
    """Return the number of elements of a state, of the attribute or of the weights R."""
    size = node.opt_int("hidden_size") or node.shape(node.with_rank(node.input(2), 3))[2]
    if size == DYNAMIC_INDEX:
        raise Unsupported("neither the attribute hidden_size nor the size of R is known")
    return size


def sequence_shape(node: Node) -> Shape:
    """Return what is known of the shape of the input from the weights W."""
    columns = node.shape(node.with_rank(node.input(1), 3))[2]
    return DYNAMIC_INDEX, DYNAMIC_INDEX, columns


def of_direction(node: Node, index: int, direction: int) -> SSAValue:
    """Return the slice of an input for a direction, its first dimension."""
    place = node.full(direction, i64)
    return node.op("take", node.input(index), place, axis=0, mode="wrap")


def input_products(cell: Cell, x: SSAValue, index: int, backwards: bool) -> SSAValue:
    """Return the products of all inputs with the weights, plus the bias, in the order of the
    steps."""
    node = cell.node
    if backwards:
        x = turned(node, x)
    products = node.op("matmul", x, node.op("transpose", of_direction(node, 1, index)))
    return products if cell.input_bias is None else node.op("add", products, cell.input_bias)


def turned(node: Node, x: SSAValue) -> SSAValue:
    """Reverse a sequence; each batch has its own number of steps."""
    if node.has(4):
        return node.op(
            "reverse_sequence", x, node.cast(node.input(4), i64), seq_axis=0, batch_axis=1
        )
    return node.op("flip", x, axis=[0])


def initial_state(node: Node, x: SSAValue, number: int, index: int, hidden: int) -> SSAValue:
    """Return the state before the first step, by default zeros."""
    if node.has(5 + number):
        value = node.with_rank(node.input(5 + number), 3)
        if node.bool("layout"):
            value = node.op("transpose", value, axes=[1, 0, 2])
        value = node.narrowed(value, (DYNAMIC_INDEX, DYNAMIC_INDEX, hidden))
        return node.op("take", value, node.full(index, i64), axis=0, mode="wrap")
    element, batch = node.element(x), node.shape(x)[1]
    if batch != DYNAMIC_INDEX:
        return node.full(0, element, (batch, hidden))
    size = node.op("strided_slice", node.op("shape_of", x), begin=[1], end=[2])
    shape = node.op("concatenate", size, node.array([hidden], i64), axis=0)
    zeros = node.op("dyn.full", node.full(0, element), shape)
    return node.retyped(zeros, tensor_of(element, (batch, hidden)))


def run(
    node: Node,
    x: SSAValue,
    products: SSAValue,
    initial: Sequence[SSAValue],
    step: Step,
    backwards: bool,
) -> list[SSAValue]:
    """Return the outputs of all steps, then the final states."""
    steps = node.shape(x)[0]
    limit = length(node, x, 0)
    lengths = node.cast(node.input(4), i64) if node.has(4) else None

    def body(turn: SSAValue, old: Sequence[SSAValue]):
        value = node.op("take", products, turn, axis=0, mode="wrap")
        new = step(value, old)
        output = new[0]
        if lengths is not None:
            goes = node.op("expand_dims", node.op("less", turn, lengths), axis=[1])
            new = [node.op("where", goes, n, o) for n, o in zip(new, old, strict=True)]
            output = node.op("where", goes, output, node.like(0, output))
        return None, new, [output]

    *lasts, outputs = while_loop(node, limit, None, initial, body, steps)
    return [turned(node, outputs) if backwards else outputs, *lasts]


# Activations


def activations_of(
    node: Node, defaults: Sequence[str], index: int, directions: int
) -> list[Activation]:
    """Return the activations of a direction; the attributes alpha and beta list the parameters
    of those that take them, in order."""
    attribute = node.attribute("activations")
    names = [s.decode() for s in attribute.strings] if attribute is not None else []
    names = names or [*defaults] * directions
    alphas = iter(node.floats("activation_alpha") or [])
    betas = iter(node.floats("activation_beta") or [])
    functions = [activation(node, name, alphas, betas) for name in names]
    return functions[index * len(defaults) : (index + 1) * len(defaults)]


_PLAIN = {
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "relu": "nn.relu",
    "softplus": "nn.softplus",
}
"""The operations that are activations without parameters."""


def activation(
    node: Node, name: str, alphas: Iterator[float], betas: Iterator[float]
) -> Activation:
    """Return an activation function by name, with the next of the parameters if it takes any, and
    else with its default ones."""
    kind = name.lower()
    if kind in _PLAIN:
        return lambda x: node.op(_PLAIN[kind], x)

    def scaled(x: SSAValue, factor: float) -> SSAValue:
        return node.op("multiply", x, node.like(factor, x))

    def shifted(x: SSAValue, term: float) -> SSAValue:
        return node.op("add", x, node.like(term, x))

    def parameters(*defaults: float) -> list[float]:
        return [next(*pair) for pair in zip((alphas, betas), defaults, strict=False)]

    match kind:
        case "softsign":
            return lambda x: node.op("divide", x, shifted(node.op("abs", x), 1))
        case "leakyrelu":
            (alpha,) = parameters(0.01)
            return lambda x: node.op("nn.leaky_relu", x, alpha=alpha)
        case "elu":
            (alpha,) = parameters(1.0)
            return lambda x: node.op(
                "where",
                node.op("less", x, node.like(0, x)),
                exp_minus_1(node, x, alpha),
                x,
            )
        case "thresholdedrelu":
            (alpha,) = parameters(1.0)
            return lambda x: node.op(
                "where", node.op("greater", x, node.like(alpha, x)), x, node.like(0, x)
            )
        case "hardsigmoid":
            alpha, beta = parameters(0.2, 0.5)
            return lambda x: node.op("clip", shifted(scaled(x, alpha), beta), min=0.0, max=1.0)
        case "scaledtanh":
            alpha, beta = parameters(1.0, 1.0)
            return lambda x: scaled(node.op("tanh", scaled(x, beta)), alpha)
        case "affine":
            alpha, beta = parameters(1.0, 0.0)
            return lambda x: shifted(scaled(x, alpha), beta)
        case _:
            raise Unsupported(f"activation {name}")


RECURRENT: Converters = {
    "GRU": recurrent(3, ("Sigmoid", "Tanh"), gru_step),
    "LSTM": recurrent(4, ("Sigmoid", "Tanh", "Tanh"), lstm_step, states=2),
    "RNN": recurrent(1, ("Tanh",), rnn_step),
}
