# pyright: reportPrivateUsage=false
"""Functions as bytes, for a forked process that sends back what it made of them.

Both processes have what was there at the fork: attributes, locations and classes of that time are
sent as their addresses, others are pickled. The rest are numbers, written by `marshal`. A function
that is read is the same as the one sent in all fields, the order of the uses of a value among them.
"""

from __future__ import annotations

import marshal
import pickle
from collections.abc import Iterable, Sequence
from itertools import count, pairwise
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues

from ..ir.changes import ModuleRecord
from ..ir.garbage_collection import paused_collector
from ..ir.walk import walk
from .creation import is_plain, set_operands

__all__ = ["Encoder", "Unsendable", "decode", "known_objects", "restore"]

Known: TypeAlias = dict[int, object]
"""Objects by their address, each kept alive so that the address stays its own."""
Packet: TypeAlias = tuple[bytes, bytes]
"""The numbers of some functions, and the pickled objects that they refer to."""
Node: TypeAlias = Any
"""A nested tuple of numbers and names, as `marshal` reads it."""


class Unsendable(Exception):
    """Raised for a function that cannot be sent: it has an op of a class with methods of its own
    for copies, or an attribute that cannot be pickled."""


def known_objects(module: ModuleOp, record: ModuleRecord) -> Known:
    """Return the attributes, locations and op classes of a module, with its record, by address."""
    known: Known = {}
    for state in (record.top, *record.bodies.values()):
        known.update(zip(map(id, state), state))
        classes = set(map(type, state))
        known.update(zip(map(id, classes), classes))
    for op in walk(module):
        known[id(op.location)] = op.location
    known[id(UNKNOWN_LOC)] = UNKNOWN_LOC
    return known


class Encoder:
    """An encoder of functions, which share a table of the objects that they refer to."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._numbers: dict[int, int] = {}
        """The numbers of objects by address: from 0 on of known ones, from -1 down of others."""
        self._addresses: list[int] = []
        self._others: list[object] = []
        self._nodes: list[Node] = []

    def add(self, func: Operation) -> None:
        """Append a function; `Unsendable` if that is impossible."""
        if func.operands or func.results or func.successors:
            raise Unsendable(f"'{func.name}' has operands or results")
        ops = [*walk(func)]
        for op_class in set(map(type, ops)):
            if not is_plain[op_class]:
                raise Unsendable(f"'{op_class.__name__}' copies itself")
        self._values: dict[int, int] = {}
        self._blocks: dict[int, int] = {}
        shared = self._number_values(func)
        node = self._op(func)
        self._nodes.append((node, self._orders(shared, ops)))

    def packet(self) -> Packet:
        """Return the functions that were added; `Unsendable` if an attribute cannot be pickled."""
        try:
            others = pickle.dumps(self._others, 5)
        except Exception as error:
            raise Unsendable(f"an attribute cannot be pickled: {error}") from error
        return marshal.dumps((self._addresses, self._nodes)), others

    def copies(self) -> list[Operation]:
        """Return copies of the functions that were added, as they were then; for an encoder that
        knows no objects."""
        assert not self._addresses
        return [_Decoder(self._others[::-1]).function(*node) for node in self._nodes]

    def _number_values(self, func: Operation) -> list[SSAValue]:
        """Number values and blocks in the order in which they are read; return the values with
        several uses."""
        values, blocks, shared = self._values, self._blocks, list[SSAValue]()

        def visit(op: Operation) -> None:
            for result in op.results:
                values[id(result)] = len(values)
                if (use := result.first_use) is not None and use._next_use is not None:
                    shared.append(result)
            for region in op.regions:
                block = region.first_block
                while block is not None:
                    blocks[id(block)] = len(blocks)
                    for arg in block._args:
                        values[id(arg)] = len(values)
                        if (use := arg.first_use) is not None and use._next_use is not None:
                            shared.append(arg)
                    inner = block._first_op
                    while inner is not None:
                        visit(inner)
                        inner = inner._next_op
                    block = block.next_block

        visit(func)
        return shared

    def _number(self, item: object) -> int:
        """Return the number of an object, which gets one now if it has none."""
        if (number := self._numbers.get(id(item))) is None:
            if id(item) in self._known:
                number = len(self._addresses)
                self._addresses.append(id(item))
            else:
                self._others.append(item)
                number = -len(self._others)
            self._numbers[id(item)] = number
        return number

    def _op(self, op: Operation) -> Node:
        number, values = self._number, self._values
        try:
            operands = tuple([values[id(operand)] for operand in op._operands])
            successors = tuple([self._blocks[id(block)] for block in op.successors])
        except KeyError:
            raise Unsendable(f"'{op.name}' uses what is outside of its function") from None
        results = tuple([(number(result._type), result._name) for result in op.results])
        properties = tuple([(key, number(value)) for key, value in op.properties.items()])
        attributes = tuple([(key, number(value)) for key, value in op.attributes.items()])
        regions = tuple([self._region(region) for region in op.regions]) if op.regions else ()
        return (
            number(type(op)),
            number(op.location),
            operands,
            results,
            properties,
            attributes,
            successors,
            regions,
        )

    def _region(self, region: Region) -> Node:
        number = self._number
        blocks: list[Node] = []
        block = region.first_block
        while block is not None:
            args = tuple(
                [(number(arg._type), arg._name, number(arg.location)) for arg in block._args]
            )
            ops: list[Node] = []
            op = block._first_op
            while op is not None:
                ops.append(self._op(op))
                op = op._next_op
            blocks.append((block._name, args, ops))
            block = block.next_block
        return blocks

    def _orders(self, shared: Sequence[SSAValue], ops: Sequence[Operation]) -> Node:
        """Return the uses, from the first to the last, of the values whose uses are in another
        order than the one in which they are read: the last op first."""
        positions = dict(zip(map(id, ops), count()))
        orders: list[Node] = []
        for value in shared:
            uses: list[tuple[int, int]] = []
            use = value.first_use
            while use is not None:
                if (position := positions.get(id(use._operation))) is None:
                    raise Unsendable(f"'{use._operation.name}' uses a value of another function")
                uses.append((position, use._index))
                use = use._next_use
            if any(after >= before for before, after in pairwise(uses)):
                orders.append((self._values[id(value)], uses))
        return orders


def decode(packet: Packet, known: Known) -> list[Operation]:
    """Return the functions in a packet, detached."""
    numbers, others = packet
    with paused_collector():
        addresses, nodes = marshal.loads(numbers)
        objects: list[object] = [known[address] for address in addresses]
        objects += reversed(pickle.loads(others))
        return [_Decoder(objects).function(node, orders) for node, orders in nodes]


class _Decoder:
    """A function in the making: all ops first, then their operands, in the order of the text."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self._objects = objects
        self._ops: list[tuple[Operation, Sequence[int]]] = []
        self._branches: list[tuple[Operation, Node]] = []
        self._values: list[SSAValue] = []
        self._blocks: list[Block] = []

    def function(self, node: Node, orders: Node) -> Operation:
        op = self._op(node)
        values: list[SSAValue] = self._values
        for inner, operands in self._ops:
            used: list[SSAValue] = [values[number] for number in operands]
            set_operands(inner, used)
        for inner, successors in self._branches:
            inner.successors = [self._blocks[number] for number in successors]
        for number, uses in orders:
            self._reorder(cast(SSAValue, values[number]), uses)
        return op

    def _op(self, node: Node) -> Operation:
        cls, location, operands, results, properties, attributes, successors, regions = node
        objects = self._objects
        op = cast(Operation, object.__new__(objects[cls]))
        op.location = objects[location]
        op.properties = {key: objects[value] for key, value in properties}
        op.attributes = {key: objects[value] for key, value in attributes}
        if results:
            made: list[OpResult] = []
            for index, (type, name) in enumerate(results):
                result = object.__new__(OpResult)
                result._type = objects[type]
                result.op = op
                result.index = index
                if name is not None:
                    result._name = name
                made.append(result)
            self._values += made
            op.results = SSAValues(made)
        self._ops.append((op, operands))
        if successors:
            self._branches.append((op, successors))
        if regions:
            op.regions = tuple([self._region(region, op) for region in regions])
        return op

    def _region(self, blocks: Node, owner: Operation) -> Region:
        region = object.__new__(Region)
        region.parent = owner
        last: Block | None = None
        for name, args, ops in blocks:
            block = self._block(name, args)
            block.parent = region
            if last is None:
                region._first_block = block
            else:
                last._next_block = block
                block._prev_block = last
            last = block
            self._fill(block, ops)
        region._last_block = last
        return region

    def _block(self, name: str | None, args: Node) -> Block:
        block = object.__new__(Block)
        block._name = name
        block._first_op = block._last_op = None
        made: list[BlockArgument] = []
        for index, (type, hint, location) in enumerate(args):
            objects = self._objects
            place = cast(LocationAttr, objects[location])
            arg = BlockArgument(cast(Attribute, objects[type]), block, index, place)
            arg._name = hint
            made.append(arg)
        block._args = tuple(made)
        self._values += made
        self._blocks.append(block)
        return block

    def _fill(self, block: Block, ops: Iterable[Node]) -> None:
        last: Operation | None = None
        for node in ops:
            op = self._op(node)
            op.parent = block
            if last is None:
                block._first_op = op
            else:
                last._next_op = op
                op._prev_op = last
            last = op
        block._last_op = last

    def _reorder(self, value: SSAValue, uses: Sequence[tuple[int, int]]) -> None:
        """Link the uses of a value in an order, from the first to the last."""
        chained: list[Use] = [
            self._ops[position][0]._operand_uses[index] for position, index in uses
        ]
        value.first_use = chained[0]
        for use, before, after in zip(chained, (None, *chained), (*chained[1:], None)):
            use._prev_use, use._next_use = before, after


def restore(func: Operation, sent: Operation) -> None:
    """Give `func` the contents of `sent`, a detached function of its class: attributes, location,
    and the blocks of its regions."""
    func.location = sent.location
    for ours, theirs in (
        (func.properties, sent.properties),
        (func.attributes, sent.attributes),
    ):
        ours.clear()
        ours.update(theirs)
    for region, other in zip(func.regions, sent.regions, strict=True):
        for block in [*region.blocks]:
            block.parent = None
        region._first_block, region._last_block = other._first_block, other._last_block
        block = region._first_block
        while block is not None:
            block.parent = region
            block = block._next_block
