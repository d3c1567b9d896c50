"""The reading of modules from MLIR's bytecode.

Operations are made one by one as they are decoded. All that is equal for many of them (class,
properties, attributes, result types) is decoded once. An operation is read here when it is the
first of its kind, and where a value is used before it is defined; `RepeatedOps` reads the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, NoReturn, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..fast.assembly import add_arguments, add_block, create, order_uses, set_regions
from ..fast.repeated_ops import RepeatedOps
from ..ir.garbage_collection import paused_collector
from ..limits import DEFAULT_MAX_ELEMENTS, deep_recursion
from ..output.status import doing
from .builtin_decoding import LOCATIONS
from .container import Container, section_at
from .encoding import (
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_PROPERTIES,
    HAS_REGIONS,
    HAS_RESULTS,
    HAS_SUCCESSORS,
    HAS_USE_ORDERS,
    BytecodeError,
    Section,
    Since,
    parse_varint,
)
from .op_attributes import OpAttributes

__all__ = ["read_bytecode"]


def read_bytecode(
    ctx: Context, data: bytes, name: str, *, max_elements: int = DEFAULT_MAX_ELEMENTS
) -> ModuleOp:
    """Return the module in bytecode, the content of the file `name`; anything but a single module
    is wrapped in one. It is not verified.

    Errors: BytecodeError with the place in bytes. Source: MLIR's `BytecodeReader.cpp`.
    """
    with paused_collector(), deep_recursion(), doing(f"reading {name}"):
        reader = _Reader(Container(ctx, data, name, max_elements))
        ops = reader.read()
    if len(ops) == 1 and isinstance(module := ops[0], ModuleOp):
        return module
    module = ModuleOp(ops)
    module.location = FileLineColLoc(StringAttr(name), IntAttr(0), IntAttr(0))
    return module


class _Template(NamedTuple):
    """All of an operation but its location, operands, successors and regions."""

    op_class: type[Operation]
    result_types: Sequence[Attribute]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


class _Forward:
    """A value that is used before it is defined."""

    value: SSAValue | None = None


class _RegionState:
    """The regions of an operation, while these are read."""

    __slots__ = (
        "base",
        "block",
        "block_index",
        "blocks",
        "end",
        "next_value",
        "ops_left",
        "region_index",
        "regions",
        "values",
    )

    def __init__(self, regions: Sequence[Region], values: list[SSAValue | _Forward | None]) -> None:
        self.regions = regions
        self.region_index = 0
        self.end = 0
        """The end of the section with the regions, if they have one."""
        self.values = values
        """The values in scope, up to an operation that is isolated from above."""
        self.base = self.next_value = len(values)
        """The first value of the current region, and the next one to be defined."""
        self.blocks: list[Block | None] = []
        self.block: Block | None = None
        self.block_index = self.ops_left = 0


class _Reader:
    """The state of reading the operations of a file."""

    def __init__(self, container: Container) -> None:
        self._file = container
        self._data = container.data
        self._table = container.table
        self._version = container.version
        self._op_attributes = OpAttributes(container)
        self._repeated = RepeatedOps(self._data, self._table.values, self._location)
        self._templates: dict[tuple[int, ...], _Template] = {}
        self._pending: list[tuple[Operation, list[SSAValue | _Forward]]] = []
        """Operations without their operands, from the first that uses a value to be defined on. So
        uses are added in the order of the operations."""
        self._undefined = 0
        """The number of values that are used, but not yet defined."""
        self._orders: list[tuple[SSAValue, bool, list[int], int]] = []
        """The orders of uses that differ from those of the operations, and their places."""
        self._claimed = 0
        """The number of values, blocks and regions that the file announces, each of which takes a
        byte of it or more."""

    def fail(self, reason: str, position: int) -> NoReturn:
        raise BytecodeError(self._file.name, position, reason)

    def read(self) -> list[Operation]:
        """Return the operations at the top level."""
        position, end = self._file.sections[Section.IR]
        top = Block()
        try:
            count, position = parse_varint(self._data, position)
            if count & 1:
                self.fail("a top level with arguments", position)
            frame = _RegionState((), [])
            frame.end, frame.block, frame.ops_left = end, top, count >> 1
            self._read_ops(frame, position)
        except IndexError:
            self.fail("the file is cut", len(self._data))
        if self._undefined:
            self.fail("a value that is used is not defined", end)
        self._order_uses()
        ops = [*top.ops]
        for op in ops:
            op.detach()
        return ops

    def _read_ops(self, frame: _RegionState, position: int) -> None:
        """Read the operations of a block, and all that follows in its regions and around."""
        pending, repeated, frames = self._pending, self._repeated, list[_RegionState]()
        block, values, left, is_numbered = frame.block, frame.values, frame.ops_left, False
        assert block is not None
        while True:
            if not left:
                # The next block, the next region, or the operation after those with the regions.
                position = self._next_block(frame, position)
                while frame.block is None:
                    if not frames:
                        return
                    frame = frames.pop()
                    is_numbered = bool(frames)
                    if frame.ops_left:
                        break
                    position = self._next_block(frame, position)
                block, values, left = frame.block, frame.values, frame.ops_left
                assert block is not None
                continue
            if is_numbered and not pending:
                # No value is a `_Forward` now.
                position, left, frame.next_value, op = repeated.read(
                    position, left, block, cast("list[SSAValue | None]", values), frame.next_value
                )
            else:
                op = None
            if op is None:
                if not left:
                    continue
                left -= 1
                op, has_regions, position = self._read_op(frame, block, position, is_numbered)
                if not has_regions:
                    continue
            frame.ops_left = left
            inner, position = self._enter(op, frame, position)
            if inner.regions:
                frames.append(frame)
                frame, left, is_numbered = inner, 0, True

    def _read_op(
        self, frame: _RegionState, block: Block, position: int, is_numbered: bool
    ) -> tuple[Operation, bool, int]:
        """Read an operation without its regions; return it, and whether it has some. Results at the
        top level have no numbers."""
        data, values, pending = self._data, frame.values, self._pending
        start = position
        name, position = parse_varint(data, position)
        mask = data[position]
        place, position = parse_varint(data, position + 1)
        location = self._location(place, position)
        after_location = position
        attributes = properties = count = 0
        if mask & HAS_ATTRIBUTES:
            attributes, position = parse_varint(data, position)
            attributes += 1  # 0 stands for none
        if mask & HAS_PROPERTIES:
            properties, position = parse_varint(data, position)
            properties += 1
        key = (name, attributes, properties)
        if mask & HAS_RESULTS:
            results, position = parse_varint(data, position)
            for _ in range(results):
                type, position = parse_varint(data, position)
                key += (type,)
        if (template := self._templates.get(key)) is None:
            template = self._templates[key] = self._template(key, start)
        if mask & HAS_OPERANDS:
            count, position = parse_varint(data, position)
        before_operands = position
        operands: list[SSAValue | _Forward] = []
        is_ready = not pending
        for _ in range(count):
            index, position = parse_varint(data, position)
            if index >= len(values):
                self.fail(f"there is no value {index}, of {len(values)}", position)
            if (value := values[index]) is None:
                value = values[index] = _Forward()
                self._undefined += 1
            if value.__class__ is _Forward:
                is_ready = False
            operands.append(value)
        op_class, types, own_properties, own_attributes = template
        try:
            op = create(
                block,
                op_class,
                cast("list[SSAValue]", operands) if is_ready else (),
                types,
                own_properties,
                own_attributes,
                location,
            )
        except BytecodeError:
            raise
        except Exception as error:
            self.fail(f"'{op_class.name}': {error}", start)
        if is_ready:
            parts = after_location, before_operands
            self._repeated.learn(start, parts, op, op_class, own_properties, own_attributes)
        elif operands:
            pending.append((op, operands))
        if mask & HAS_SUCCESSORS:
            position = self._read_successors(op, frame, position)
        if mask & HAS_USE_ORDERS and self._version >= Since.USE_ORDERS:
            position = self._read_orders(op.results, position)
        if types and is_numbered:
            self._define(frame, op.results, position)
        return op, bool(mask & HAS_REGIONS), position

    # Regions and blocks

    def _enter(self, op: Operation, frame: _RegionState, position: int) -> tuple[_RegionState, int]:
        """Return the frame of the regions of an operation."""
        found, position = parse_varint(self._data, position)
        count, is_isolated = found >> 1, found & 1
        self._claim(count, "regions", position)
        regions = [Region() for _ in range(count)]
        set_regions(op, regions)
        inner = _RegionState(regions, [] if is_isolated else frame.values)
        if is_isolated and self._version >= Since.REGION_SECTIONS:
            at, limit = position, len(self._data)
            kind, position, inner.end = section_at(self._data, at, limit, self._file.name)
            if kind is not Section.IR:
                self.fail("expected a section of operations", at)
        return inner, position

    def _claim(self, count: int, what: str, position: int) -> None:
        """Check that a file can have as many things as it announces."""
        self._claimed += count
        if self._claimed > len(self._data):
            self.fail(f"{count} {what} are more than the file can have", position)

    def _next_block(self, frame: _RegionState, position: int) -> int:
        """Begin the next block of a frame, which is None at the end."""
        data = self._data
        frame.block_index += 1
        while frame.block is None or frame.block_index >= len(frame.blocks):
            if frame.block is not None:  # the end of a region
                del frame.values[frame.base :]
                frame.region_index += 1
                frame.block = None
            if frame.region_index >= len(frame.regions):
                if frame.end and position != frame.end:
                    self.fail(f"the operations end here, their section at {frame.end}", position)
                return position
            count, position = parse_varint(data, position)
            if not count:
                frame.region_index += 1
                continue
            value_count, position = parse_varint(data, position)
            self._claim(count + value_count, "blocks and values", position)
            frame.base = frame.next_value = len(frame.values)
            frame.values += [None] * value_count
            frame.blocks = [None] * count
            frame.block_index = 0
            break
        block = self._block(frame, frame.block_index)
        frame.block = block
        add_block(frame.regions[frame.region_index], block)
        count, position = parse_varint(data, position)
        frame.ops_left = count >> 1
        if count & 1:
            position = self._read_arguments(frame, block, position)
        return position

    def _block(self, frame: _RegionState, index: int) -> Block:
        if (block := frame.blocks[index]) is None:
            block = frame.blocks[index] = Block()
        return block

    def _read_arguments(self, frame: _RegionState, block: Block, position: int) -> int:
        data, table = self._data, self._table
        count, position = parse_varint(data, position)
        types: list[Attribute] = []
        locations: list[LocationAttr] = []
        for _ in range(count):
            type, position = parse_varint(data, position)
            location, has_location = UNKNOWN_LOC, 1
            if self._version >= Since.ELIDED_LOCATIONS:
                type, has_location = type >> 1, type & 1
            types.append(table.type_at(type, position))
            if has_location:
                place, position = parse_varint(data, position)
                location = self._location(place, position)
            locations.append(location)
        add_arguments(block, types)
        for argument, location in zip(block.args, locations, strict=True):
            argument.location = location
        self._define(frame, block.args, position)
        if self._version >= Since.USE_ORDERS:
            has_orders, position = data[position], position + 1
            if has_orders:
                position = self._read_orders(block.args, position)
        return position

    def _read_successors(self, op: Operation, frame: _RegionState, position: int) -> int:
        count, position = parse_varint(self._data, position)
        successors: list[Block] = []
        for _ in range(count):
            index, position = parse_varint(self._data, position)
            if index >= len(frame.blocks):
                self.fail(f"there is no block {index}, of {len(frame.blocks)}", position)
            successors.append(self._block(frame, index))
        op.successors = successors
        return position

    # Parts of operations

    def _location(self, index: int, position: int) -> LocationAttr:
        table = self._table
        if index >= table.attributes:
            table.attribute_at(index, position)  # raises
        found = table.values[index] or table.place_at(index)
        if not isinstance(found, LOCATIONS):
            self.fail(f"{found.name} where a location is expected", position)
        return found

    def _template(self, key: tuple[int, ...], position: int) -> _Template:
        """Return the template of operations with a name, attributes, properties and types."""
        name_index, attribute_index, property_index, *types = key
        table, file = self._table, self._file
        if name_index >= len(file.op_names):
            self.fail(f"there is no operation name {name_index}, of {len(file.op_names)}", position)
        name, is_registered = file.op_names[name_index]
        op_class = file.ctx.get_optional_op(name)
        if op_class is None:
            self.fail(
                f"operation '{name}' is not registered; --allow-unregistered-dialect allows it",
                position,
            )
        attributes: dict[str, Attribute] = {}
        if attribute_index:
            dictionary = table.attribute_at(attribute_index - 1, position)
            if not isinstance(dictionary, DictionaryAttr):
                self.fail(f"{dictionary.name} where a dictionary is expected", position)
            attributes.update(dictionary.data)
        properties: dict[str, Attribute] = {}
        if property_index:
            properties = self._op_attributes.properties(
                name, is_registered, property_index - 1, position
            )
        properties, attributes = self._op_attributes.of_class(op_class, properties, attributes)
        if issubclass(op_class, UnregisteredOp):
            attributes["op_name__"] = StringAttr(name)
        result_types = tuple(table.type_at(index, position) for index in types)
        return _Template(op_class, result_types, properties, attributes)

    def _define(self, frame: _RegionState, results: Sequence[SSAValue], position: int) -> None:
        """Give the next numbers to values."""
        values, index = frame.values, frame.next_value
        if index + len(results) > len(values):
            self.fail("more values are defined in the region than it announces", position)
        for value in results:
            if (known := values[index]) is not None:
                assert isinstance(known, _Forward)
                known.value = value
                self._undefined -= 1
            values[index] = value
            index += 1
        frame.next_value = index
        if self._pending and not self._undefined:
            self._connect()

    def _connect(self) -> None:
        """Give the operations that wait for values their operands."""
        for op, operands in self._pending:
            op.operands = [
                cast(SSAValue, value.value if isinstance(value, _Forward) else value)
                for value in operands
            ]
        self._pending.clear()

    # The order of uses

    def _read_orders(self, values: Sequence[SSAValue], position: int) -> int:
        """Read the orders of the uses of some results or arguments."""
        data, count = self._data, 1
        if len(values) > 1:
            count, position = parse_varint(data, position)
        for _ in range(count):
            index = 0
            if len(values) > 1:
                index, position = parse_varint(data, position)
            found, position = parse_varint(data, position)
            numbers: list[int] = []
            for _ in range(found >> 1):
                number, position = parse_varint(data, position)
                numbers.append(number)
            if index >= len(values):
                self.fail(f"an order of the uses of value {index}, of {len(values)}", position)
            self._orders.append((values[index], bool(found & 1), numbers, position))
        return position

    def _order_uses(self) -> None:
        """Order the uses of values that have another order than that of the operations."""
        for value, is_in_pairs, numbers, position in self._orders:
            count = sum(1 for _ in value.uses)
            places = [*range(count)] if is_in_pairs else numbers
            if is_in_pairs:
                for before, after in zip(numbers[::2], numbers[1::2], strict=False):
                    if before >= count:
                        self.fail(f"there is no use {before}, of {count}", position)
                    places[before] = after
            if sorted(places) != [*range(count)] or (is_in_pairs and len(numbers) & 1):
                self.fail(f"not an order of {count} uses", position)
            if count > 1:
                order_uses(value, places)
