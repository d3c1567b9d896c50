"""Converters of control flow: branches and loops over nested graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, TupleType, i1, i64
from xdsl.dialects.tensor import CastOp, ExtractOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from .....dialects.relax.graph import TupleOp
from .....dialects.relax.shapes import Shape
from .....dialects.relax.types import (
    Tensor,
    is_element,
    is_tensor,
    shape_of,
    static_shape,
    tensor_type,
    unify,
    with_shape,
)
from ..errors import Unsupported
from ..node import Converters, Node
from ..types import tensor_of

MAX_COPIES = 1 << 10
"""The most copies of the graph of a loop that carries a sequence."""

MAX_WIDENINGS = 8
"""How often the types that a loop carries are made less precise before it is given up."""


# Branches


def if_(node: Node) -> Sequence[SSAValue]:
    """Convert If to `scf.if`; if the condition is a constant, convert the taken graph alone."""
    if (condition := node.constant(0)) is not None:
        return node.convert_graph("then_branch" if condition.all() else "else_branch")
    return selected(
        node,
        node.input(0),
        lambda: node.convert_graph("then_branch"),
        lambda: node.convert_graph("else_branch"),
    )


def selected(
    node: Node,
    condition: SSAValue,
    then: Callable[[], Sequence[SSAValue]],
    otherwise: Callable[[], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """Create an `scf.if` with the operations and results of two branches."""
    flag = truth(node, condition)
    branches: list[tuple[Block, Sequence[SSAValue]]] = []
    for branch in (then, otherwise):
        with node.importer.nested(Block()) as block:
            branches.append((block, branch()))
    lengths = [[sequence_length(value) for value in values] for _, values in branches]
    if lengths[0] != lengths[1]:
        raise Unsupported("its graphs return sequences of different lengths")
    flat = [
        (block, [part for value in values for part in parts(value)]) for block, values in branches
    ]
    types = [
        unified(*(value.type for value in pair))
        for pair in zip(*(values for _, values in flat), strict=True)
    ]
    for block, values in flat:
        with node.importer.nested(block):
            node.add(scf.YieldOp(*converted(node, values, types)))
    (taken, _), (other, _) = branches
    results = iter(node.add(scf.IfOp(flag, types, Region(taken), Region(other))).results)
    return [
        next(results) if count is None else node.op("tuple", *islice(results, count))
        for count in lengths[0]
    ]


def sequence_length(value: SSAValue) -> int | None:
    """Return the number of elements of a sequence; None for a tensor."""
    return len(value.type.types) if isinstance(value.type, TupleType) else None


def parts(value: SSAValue) -> Sequence[SSAValue]:
    """Return the elements of a sequence that a graph constructs, or the value itself."""
    return value.owner.operands if isinstance(value.owner, TupleOp) else (value,)


def truth(node: Node, condition: SSAValue) -> SSAValue:
    """Return the element of a tensor with one i1 element."""
    if (type := tensor_type(condition)).element_type != i1:
        raise Unsupported(f"condition of type {type}")
    if shape_of(type) != ():
        condition = node.op("reshape", condition, newshape=[])
    return node.add(ExtractOp(condition, [], i1)).results[0]


def unified(*types: Attribute) -> Tensor:
    """Return the most precise type that includes all of these types."""
    first, *others = types
    result: Attribute | None = first
    for other in others:
        result = unify(result, other) if result is not None else None
    if result is None or not is_tensor(result):
        raise Unsupported(f"no tensor type includes the types {' and '.join(map(str, types))}")
    return result


def converted(node: Node, values: Sequence[SSAValue], types: Sequence[Attribute]) -> list[SSAValue]:
    """Return the values, cast to `types` where their types differ."""
    return [
        value if value.type == type else cast(node, value, type)
        for value, type in zip(values, types, strict=True)
    ]


def cast(node: Node, value: SSAValue, type: Attribute) -> SSAValue:
    return node.add(CastOp.create(operands=[value], result_types=[type])).results[0]


# Loops

Body = Callable[
    [SSAValue, Sequence[SSAValue]], tuple[SSAValue | None, list[SSAValue], list[SSAValue]]
]
"""An iteration, a function from its number and the values that the loop carries to the condition of
the next iteration, the new values, and the values that are collected."""


def loop(node: Node) -> Sequence[SSAValue]:
    """Convert Loop to an `scf.while` that carries the iteration number, the condition, the loop-
    carried values, and the collected outputs, which each iteration extends at the end."""
    graph = node.graph("body")
    count = len(graph.input) - 2
    if not graph.output:
        raise Unsupported("its graph has no outputs")
    if any(node.has(i) and not is_tensor(node.input(i).type) for i in range(2, len(node.inputs))):
        return loop_over_sequences(node)

    def body(turn: SSAValue, carried: Sequence[SSAValue]):
        go_on = condition if condition is not None else node.full(1, i1)
        outputs = node.convert_graph("body", [turn, go_on, *carried])
        return outputs[0], outputs[1 : count + 1], outputs[count + 1 :]

    limit = node.scalar(node.input(0)) if node.has(0) else None
    condition = node.scalar(node.input(1)) if node.has(1) else None
    initial = [node.input(i) for i in range(2, len(node.inputs))]
    return while_loop(node, limit, condition, initial, body)


def loop_over_sequences(node: Node) -> Sequence[SSAValue]:
    """Convert a Loop that carries a sequence, whose length an iteration may change, to copies of
    its graph: the number of iterations has to be known."""
    # Without a limit, the condition alone ends the loop.
    limit, going = known_number(node, 0, MAX_COPIES + 1), known_number(node, 1, 1)
    if limit is None or going is None:
        raise Unsupported("it carries a sequence, and how often it runs is not known")
    carried = [node.input(i) for i in range(2, len(node.inputs))]
    collected: list[Sequence[SSAValue]] = []
    for turn in range(limit if going else 0):
        if turn == MAX_COPIES:
            raise Unsupported(f"it carries a sequence, and runs more than {turn} times")
        go_on = node.full(1, i1)
        first, *outputs = node.convert_graph("body", [node.full(turn, i64), go_on, *carried])
        carried, parts = outputs[: len(carried)], outputs[len(carried) :]
        collected.append(parts)
        if (known := node.importer.array(first)) is None:
            raise Unsupported("it carries a sequence, and how often it runs is not known")
        if not known.item():
            break
    outputs = len(node.graph("body").output) - 1 - len(carried)
    if outputs and not collected:
        raise Unsupported("it carries a sequence, and never runs")
    return [*carried, *(node.op("stack", *column, axis=0) for column in zip(*collected))]


def known_number(node: Node, index: int, default: int) -> int | None:
    """Return an input that is a number; None if it is not known, the default if it is absent."""
    if not node.has(index):
        return default
    return None if (known := node.constant(index)) is None else int(known.item())


def scan(node: Node) -> Sequence[SSAValue]:
    """Convert Scan to a loop over the slices of its inputs along an axis."""
    if node.opset < 9:
        return batched_scan(node)
    if not 1 <= (count := node.int("num_scan_inputs")) <= len(node.inputs):
        raise Unsupported(f"num_scan_inputs = {count}")
    states = [node.input(i) for i in range(len(node.inputs) - count)]
    sources = [node.input(i) for i in range(len(states), len(node.inputs))]
    axes = node.per_axis("scan_input_axes", count, 0)
    reversed_ = node.per_axis("scan_input_directions", count, 0)
    results = scanned(node, states, sources, axes, reversed_)
    collected = results[len(states) :]
    out_axes = node.per_axis("scan_output_axes", len(collected), 0)
    out_reversed = node.per_axis("scan_output_directions", len(collected), 0)
    return [
        *results[: len(states)],
        *(
            arranged(node, value, axis, bool(backwards))
            for value, axis, backwards in zip(collected, out_axes, out_reversed, strict=True)
        ),
    ]


def batched_scan(node: Node) -> Sequence[SSAValue]:
    """Convert Scan of opset 8, whose values have a first axis of batches: a loop over these, of
    loops over the slices."""
    if node.has(0):
        raise Unsupported("sequence_lens of the form before opset 9")
    if not 1 <= (count := node.int("num_scan_inputs")) < len(node.inputs):
        raise Unsupported(f"num_scan_inputs = {count}")
    values = [node.input(i) for i in range(1, len(node.inputs))]
    number = len(values) - count
    reversed_ = node.per_axis("directions", count, 0)

    def body(turn: SSAValue, carried: Sequence[SSAValue]):
        own = [node.op("take", value, turn, axis=0, mode="wrap") for value in values]
        none: list[SSAValue] = []
        return None, none, scanned(node, own[:number], own[number:], [0] * count, reversed_)

    return while_loop(node, length(node, values[0], 0), None, [], body, node.shape(values[0])[0])


def scanned(
    node: Node,
    states: Sequence[SSAValue],
    sources: Sequence[SSAValue],
    axes: Sequence[int],
    reversed_: Sequence[int],
) -> list[SSAValue]:
    """Return the final states of a loop over the slices of the sources along axes, then the values
    that it collects."""
    axis = node.axis(axes[0], sources[0])
    if (turns := node.shape(sources[0])[axis]) == 0:
        raise Unsupported("a scan over sequences of length 0")
    sources = [
        node.op("flip", source, axis=[axis]) if backwards else source
        for source, axis, backwards in zip(sources, axes, reversed_, strict=True)
    ]

    def body(turn: SSAValue, carried: Sequence[SSAValue]):
        parts = [
            node.op("take", source, turn, axis=axis, mode="wrap")
            for source, axis in zip(sources, axes, strict=True)
        ]
        values = node.convert_graph("body", [*carried, *parts])
        return None, values[: len(states)], values[len(states) :]

    limit = length(node, sources[0], axis)
    return while_loop(node, limit, None, states, body, turns)


def length(node: Node, value: SSAValue, axis: int) -> SSAValue:
    """Return the size of a dimension as a scalar; a constant if it is known."""
    if (size := node.shape(value)[axis]) != DYNAMIC_INDEX:
        return node.full(size, i64)
    return node.op("take", node.op("shape_of", value), node.full(axis, i64), axis=0, mode="wrap")


def arranged(node: Node, value: SSAValue, axis: int, backwards: bool) -> SSAValue:
    """Move the first axis, along which outputs were collected, to `axis`; reverse it if
    `backwards`."""
    if backwards:
        value = node.op("flip", value, axis=[0])
    if axis := node.axis(axis, value):
        order = [*range(1, node.rank(value))]
        order.insert(axis, 0)
        value = node.op("transpose", value, axes=order)
    return value


def while_loop(
    node: Node,
    limit: SSAValue | None,
    condition: SSAValue | None,
    initial: Sequence[SSAValue],
    body: Body,
    turns: int = DYNAMIC_INDEX,
) -> list[SSAValue]:
    """Build a loop of at most `limit` iterations that runs while the condition holds; return its
    carried values, then its collected ones."""
    after, go_on, values, collected = stable_iteration(node, initial, body)
    carried = [argument.type for argument in after.args[2:]]
    lists = [collection_type(tensor_type(value)) for value in collected]
    index, flag = tensor_of(i64, ()), tensor_of(i1, ())
    types: list[Attribute] = [index, flag, *carried, *lists]
    for type in lists:
        after.insert_arg(type, len(after.args))

    with node.importer.nested(after):
        turn = node.op("add", after.args[0], node.full(1, i64))
        old = after.args[2 + len(carried) :]
        longer = [
            appended(node, before, value, after.args[0])
            for before, value in zip(old, collected, strict=True)
        ]
        flag_value = node.scalar(go_on) if go_on is not None else node.full(1, i1)
        node.add(scf.YieldOp(*converted(node, [turn, flag_value, *values, *longer], types)))

    before = Block(arg_types=types)
    with node.importer.nested(before):
        goes = before.args[1]
        if limit is not None:
            goes = node.op("logical_and", node.op("less", before.args[0], limit), goes)
        node.add(scf.ConditionOp(truth(node, goes), *before.args))

    empty = [node.full(0, number(type), empty_shape(type)) for type in lists]
    start = [node.full(0, i64), condition or node.full(1, i1), *initial, *empty]
    arguments = converted(node, start, types)
    op = node.add(scf.WhileOp(arguments, types, Region(before), Region(after)))
    results = list(op.results[2:])
    return [*results[: len(carried)], *sized(node, results[len(carried) :], turns)]


def stable_iteration(
    node: Node, initial: Sequence[SSAValue], body: Body
) -> tuple[Block, SSAValue | None, list[SSAValue], list[SSAValue]]:
    """Return an iteration for types of the carried values that hold in all of them, with what
    `body` returns."""
    carried = [tensor_type(value) for value in initial]
    for _ in range(MAX_WIDENINGS):
        after = Block(arg_types=[tensor_of(i64, ()), tensor_of(i1, ()), *carried])
        with node.importer.nested(after):
            go_on, values, collected = body(after.args[0], after.args[2:])
        if len(values) != len(carried):
            raise Unsupported(f"carries {len(carried)} values, but its graph returns {len(values)}")
        types = [unified(type, value.type) for type, value in zip(carried, values, strict=True)]
        if types == carried:
            return after, go_on, values, collected
        carried = types
        with node.importer.nested(after):
            node.importer.erase_after(None)
    raise Unsupported("the types of the loop-carried values do not converge")


def appended(node: Node, values: SSAValue, value: SSAValue, count: SSAValue) -> SSAValue:
    """Append a value to `count` collected ones.

    If the shape of the values is not known, none have been collected in a shape without elements,
    which is made that of the value.
    """
    type = tensor_type(value)
    if static_shape(type) is None:
        number = node.op("expand_dims", count, axis=[0])
        shape = node.op("concatenate", number, node.op("shape_of", value), axis=0)
        values = node.op("dyn.reshape", values, shape, allowzero=True)
        values = node.retyped(values, collection_type(type))
    return node.op("concatenate", values, node.op("expand_dims", value, axis=[0]))


def sized(node: Node, collected: Sequence[SSAValue], turns: int) -> list[SSAValue]:
    """Refine the first dimension of collected outputs to the number of iterations, if it is
    known."""
    if turns == DYNAMIC_INDEX:
        return list(collected)
    types = [
        type if (shape := shape_of(type)) is None else with_shape(type, (turns, *shape[1:]))
        for type in map(tensor_type, collected)
    ]
    return converted(node, collected, types)


def collection_type(type: Tensor) -> Tensor:
    """Return the type of any number of values of `type`, stacked along a new first axis."""
    shape = shape_of(type)
    return with_shape(type, None if shape is None else (DYNAMIC_INDEX, *shape))


def empty_shape(type: Tensor) -> Shape:
    """Return the shape of a collection of no values; unknown sizes are 0, as in onnxruntime."""
    return 0, *(0 if size == DYNAMIC_INDEX else size for size in (shape_of(type) or (0,))[1:])


def number(type: Tensor):
    element = type.element_type
    assert is_element(element)
    return element


CONTROL: Converters = {"If": if_, "Loop": loop, "Scan": scan}
