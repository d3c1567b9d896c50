"""Records of a module: its whole state as flat lists of references, cheap to make and compare."""

from __future__ import annotations

from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from ...fast.access import read_fields
from ..per_class import OpClasses, PerClass

__all__ = ["Record", "State", "node_kind"]

State: TypeAlias = list[object]
"""A record of ops: a flat list of references, about 7 for each op. No objects are made for ops,
as the garbage collector would have to visit them. The list is a sequence of entries:

    op, operands, results, result types.., property names.., property values..,
        [attribute dict, names.., values..], [successors], [regions]
    block, arguments, argument types..
    region

The entries of the blocks of a region follow the region's entry, and the entries of the ops of a
block follow the block's. The entries of regions nested in these ops come after all of them, so that
deep nesting needs no stack.
Lists compare items by identity first, and values, ops, blocks and regions have no other equality.
"""


class Record:
    """A module and the ops directly in it, and separately the contents of each of these ops.

    Ops that did not change compare equal as whole lists, in C.
    """

    def __init__(self, module: ModuleOp) -> None:
        self.top: State = []
        self.bodies: dict[Operation, State] = {}
        regions: list[Region] = []
        # The module as an op, then the ops in it; the regions of these are recorded as bodies.
        _record_ops(self.top, regions, module, module.next_op)
        _record_regions(self.top, regions, nested=False)
        # An op without regions has no body: all of it is in `top`.
        for region in regions:
            for block in region.blocks:
                self.bodies |= {op: _record_body(op) for op in block.ops if op.regions}

    def same_as(self, other: Record) -> bool:
        """Return whether both record the same state."""
        return self.top == other.top and self.bodies == other.bodies

    def op_classes(self) -> OpClasses:
        """Return the classes of the recorded ops."""
        classes = set(map(type, self.top)).union(*(map(type, b) for b in self.bodies.values()))
        return frozenset(
            cast(type[Operation], cls) for cls in classes if node_kind[cls] is Operation
        )

    def top_level(self) -> list[Operation]:
        """Return the ops directly in the module."""
        nodes = (cast(Operation, item) for item in self.top if node_kind[type(item)] is Operation)
        return [*nodes][1:]


def _node_kind(cls: type[object]) -> type | None:
    # Not `issubclass`, which asks all subclasses of the abstract classes for each other class.
    return next((kind for kind in (Operation, Block, Region) if kind in cls.__mro__), None)


# A look-up takes a quarter of the time of `isinstance`.
node_kind = PerClass[object, type | None](_node_kind)
"""Operation, Block or Region for a subclass of it, None for other classes."""


def _record_body(op: Operation) -> State:
    state: State = []
    _record_regions(state, [*op.regions], nested=True)
    return state


def _record_regions(state: State, regions: list[Region], nested: bool) -> None:
    """Append the entries of `regions`, with `nested` also of all regions nested in them.

    The regions found on the way are appended to `regions`.
    """
    # `regions` grows while it is walked: breadth first, without recursion.
    inner = regions if nested else []
    for region in regions:
        state.append(region)
        block = region.first_block
        while block is not None:
            state.append(block)
            state.append(args := block.args)
            for arg in args:
                state.append(arg.type)
            _record_ops(state, inner, block.first_op, None)
            block = block.next_block


def _record_ops(
    state: State, regions: list[Region], op: Operation | None, end: Operation | None
) -> None:
    """Append the entries of the ops from `op` up to, not including, `end`, and their regions to
    `regions`.
    """
    while op is not end:
        assert op is not None
        state.append(op)
        operands, results, properties, attributes, successors, op_regions, op = read_fields(op)
        state.append(operands)
        state.append(results)
        for result in results:
            state.append(result.type)
        if properties:
            state += properties
            state += properties.values()
        if attributes:
            # The dict keeps attributes apart from properties of the same names and values.
            state.append(attributes)
            state += attributes
            state += attributes.values()
        if successors:
            state.append(successors)
        if op_regions:
            state.append(op_regions)
            regions += op_regions
