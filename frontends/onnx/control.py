"""Converters of control flow: branches and loops over nested graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, i1, i64
from xdsl.dialects.tensor import CastOp, ExtractOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.relax.types import (
    Tensor,
    is_number,
    is_tensor,
    shape_of,
    tensor_type,
    unify,
    with_shape,
)
from .errors import Unsupported
from .node import Converters, Node
from .types import tensor_of

__all__ = ["CONTROL", "selected"]

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
    types = [
        unified(*(value.type for value in pair))
        for pair in zip(*(values for _, values in branches), strict=True)
    ]
    for block, values in branches:
        with node.importer.nested(block):
            node.add(scf.YieldOp(*converted(node, values, types)))
    (taken, _), (other, _) = branches
    return node.add(scf.IfOp(flag, types, Region(taken), Region(other))).results


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
"""What a turn makes of its number and the values that the loop carries: whether to go on, the new
values, and the values that are collected."""


def loop(node: Node) -> Sequence[SSAValue]:
    """Convert Loop to an `scf.while` that carries the iteration number, the condition, the loop-
    carried values, and the collected outputs, which each iteration extends at the end."""
    graph = node.graph("body")
    count = len(graph.input) - 2
    if not graph.output:
        raise Unsupported("its graph has no outputs")

    def body(turn: SSAValue, carried: Sequence[SSAValue]):
        go_on = condition if condition is not None else node.full(1, i1)
        outputs = node.convert_graph("body", [turn, go_on, *carried])
        return outputs[0], outputs[1 : count + 1], outputs[count + 1 :]

    limit = scalar(node, node.input(0)) if node.has(0) else None
    condition = scalar(node, node.input(1)) if node.has(1) else None
    initial = [node.input(i) for i in range(2, len(node.inputs))]
    return while_loop(node, limit, condition, initial, body)


def scan(node: Node) -> Sequence[SSAValue]:
    """Convert Scan to a loop over the slices of its inputs along an axis."""
    if node.opset < 9:
        raise Unsupported("the form before opset 9")
    if not 1 <= (count := node.int("num_scan_inputs")) <= len(node.inputs):
        raise Unsupported(f"num_scan_inputs = {count}")
    states = [node.input(i) for i in range(len(node.inputs) - count)]
    sources = [node.input(i) for i in range(len(states), len(node.inputs))]
    axes = node.per_axis("scan_input_axes", count, 0)
    reversed_ = node.per_axis("scan_input_directions", count, 0)
    sources = [
        node.op("flip", source, axis=[axis]) if backwards else source
        for source, axis, backwards in zip(sources, axes, reversed_, strict=True)
    ]
    turns = node.shape(sources[0])[node.axis(axes[0], sources[0])]
    if turns == DYNAMIC_INDEX:
        raise Unsupported("the length of its inputs is not known")

    def body(turn: SSAValue, carried: Sequence[SSAValue]):
        parts = [
            node.op("take", source, turn, axis=axis, mode="wrap")
            for source, axis in zip(sources, axes, strict=True)
        ]
        values = node.convert_graph("body", [*carried, *parts])
        return None, values[: len(states)], values[len(states) :]

    results = while_loop(node, node.full(turns, i64), None, states, body, turns)
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


def scalar(node: Node, value: SSAValue) -> SSAValue:
    """Reshape a tensor of one element to rank 0."""
    if shape_of(tensor_type(value)) == ():
        return value
    return node.op("reshape", value, newshape=[])


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
    carried = [tensor_type(value) for value in initial]
    for _ in range(MAX_WIDENINGS):
        after = Block(arg_types=[tensor_of(i64, ()), tensor_of(i1, ()), *carried])
        with node.importer.nested(after):
            go_on, values, collected = body(after.args[0], after.args[2:])
        if len(values) != len(carried):
            raise Unsupported(f"carries {len(carried)} values, but its graph returns {len(values)}")
        types = [unified(type, value.type) for type, value in zip(carried, values, strict=True)]
        if types == carried:
            break
        carried = types
        with node.importer.nested(after):
            node.importer.erase_after(None)
    else:
        raise Unsupported("the types of the loop-carried values do not converge")
    return while_op(
        node, limit, condition, initial, carried, after, go_on, values, collected, turns
    )


def while_op(
    node: Node,
    limit: SSAValue | None,
    condition: SSAValue | None,
    initial: Sequence[SSAValue],
    carried: Sequence[Tensor],
    after: Block,
    go_on: SSAValue | None,
    values: Sequence[SSAValue],
    collected: Sequence[SSAValue],
    turns: int,
) -> list[SSAValue]:
    """Build the `scf.while` around the body of a loop."""
    lists = [collection_type(tensor_type(value)) for value in collected]
    index, flag = tensor_of(i64, ()), tensor_of(i1, ())
    types: list[Attribute] = [index, flag, *carried, *lists]
    for type in lists:
        after.insert_arg(type, len(after.args))

    with node.importer.nested(after):
        turn = node.op("add", after.args[0], node.full(1, i64))
        old = after.args[2 + len(carried) :]
        longer = [
            node.op("concatenate", before, node.op("expand_dims", value, axis=[0]))
            for before, value in zip(old, collected, strict=True)
        ]
        flag_value = scalar(node, go_on) if go_on is not None else node.full(1, i1)
        node.add(scf.YieldOp(*converted(node, [turn, flag_value, *values, *longer], types)))

    before = Block(arg_types=types)
    with node.importer.nested(before):
        goes = before.args[1]
        if limit is not None:
            goes = node.op("logical_and", node.op("less", before.args[0], limit), goes)
        node.add(scf.ConditionOp(truth(node, goes), *before.args))

    empty = [node.full(0, number(type), (0, *(shape_of(type) or ())[1:])) for type in lists]
    start = [node.full(0, i64), condition or node.full(1, i1), *initial, *empty]
    arguments = converted(node, start, types)
    op = node.add(scf.WhileOp(arguments, types, Region(before), Region(after)))
    results = list(op.results[2:])
    return [*results[: len(carried)], *sized(node, results[len(carried) :], turns)]


def sized(node: Node, collected: Sequence[SSAValue], turns: int) -> list[SSAValue]:
    """Refine the first dimension of collected outputs to the number of iterations, if it is
    known."""
    if turns == DYNAMIC_INDEX:
        return list(collected)
    types = [
        with_shape(type := tensor_type(value), (turns, *(shape_of(type) or ())[1:]))
        for value in collected
    ]
    return converted(node, collected, types)


def collection_type(type: Tensor) -> Tensor:
    """Return the type of any number of values of `type`, stacked along a new first axis."""
    shape = shape_of(type)
    if shape is None or DYNAMIC_INDEX in shape:
        raise Unsupported(f"collects values of type {type}, whose size is not known")
    return with_shape(type, (DYNAMIC_INDEX, *shape))


def number(type: Tensor):
    element = type.element_type
    assert is_number(element)
    return element


CONTROL: Converters = {"If": if_, "Loop": loop, "Scan": scan}
