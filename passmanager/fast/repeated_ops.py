# pyright: reportPrivateUsage=false
"""The reading of operations from bytecode that have the bytes of one before, but for their location
and operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FileLineColLoc, LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, SSAValues, Use

from ..bytecode.encoding import HAS_REGIONS, HAS_SUCCESSORS, HAS_USE_ORDERS, parse_varint
from .acceleration import is_accelerated
from .creation import is_plain

__all__ = ["RepeatedOps"]

_IS_OURS = is_accelerated("creating")
_new = object.__new__


@dataclass(slots=True)
class _Shape:
    """All of an operation but its location and operands."""

    op_class: type[Operation]
    operands: range
    """As long as the operands."""
    result_types: tuple[Attribute, ...]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    has_regions: bool
    by_types: dict[tuple[int, ...], _Shape] | None = field(default=None)
    """If the class makes operations of other classes, the shapes by the identity of the types of
    the operands."""


class RepeatedOps:
    """The operations of a file that were read before, by their bytes: the name (of one byte) with
    the bits that say which parts follow, and, behind the location, all up to the operands.
    """

    def __init__(
        self,
        data: bytes,
        attributes: list[Attribute | None],
        location: Callable[[int, int], LocationAttr],
    ) -> None:
        """`attributes` are those of the file as far as they are decoded; `location` returns a
        location by its number, and the position behind that."""
        self._data = data
        self._attributes = attributes
        self._location = location
        self._known: dict[bytes, list[tuple[int, dict[bytes, _Shape]]]] = {}
        """For each name with bits the lengths of the bytes behind the location, and for each length
        the shapes by these bytes."""

    def learn(
        self,
        start: int,
        parts: tuple[int, int],
        op: Operation,
        op_class: type[Operation],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
    ) -> None:
        """Learn an operation at the position `start` that was read otherwise, with the start and
        the end of the bytes between its location and operands. `op` has its operands, `op_class`
        has made it."""
        data = self._data
        mask = data[start + 1]
        if not _IS_OURS or not data[start] & 1 or mask & (HAS_SUCCESSORS | HAS_USE_ORDERS):
            return
        first, end = parts
        groups = self._known.setdefault(data[start : start + 2], [])
        shapes = next((shapes for length, shapes in groups if length == end - first), None)
        if shapes is None:
            groups.append((end - first, shapes := {}))
        key = data[first:end]
        operands, has_regions = range(len(op._operands)), bool(mask & HAS_REGIONS)
        types = tuple(result._type for result in op.results)
        if is_plain[op_class]:
            shapes[key] = _Shape(op_class, operands, types, properties, attributes, has_regions)
        elif is_plain[type(op)]:
            outer = shapes.setdefault(
                key, _Shape(op_class, operands, types, properties, attributes, has_regions, {})
            )
            assert outer.by_types is not None
            outer.by_types[tuple(id(operand._type) for operand in op._operands)] = _Shape(
                type(op), operands, types, op.properties.copy(), op.attributes.copy(), has_regions
            )

    def read(
        self,
        position: int,
        left: int,
        block: Block,
        values: list[SSAValue | None],
        next_value: int,
    ) -> tuple[int, int, int, Operation | None]:
        """Read operations at the end of a block while each is known, up to one with regions.

        `left` is the number of operations left, `values` are those in scope, None if not defined
        yet, and `next_value` is the number of the next one to be defined. Return the new position,
        `left` and `next_value`, and the operation with regions, if it ends at one.
        """
        data, known, attributes = self._data, self._known, self._attributes
        size, last = len(values), block._last_op
        entered = None
        try:
            while left:
                if (groups := known.get(data[position : position + 2])) is None:
                    break
                # Integers of up to 7, 14 and 21 bits take one, two and three bytes.
                at = position + 3
                if (byte := data[position + 2]) & 1:
                    place = byte >> 1
                elif byte & 2:
                    place = (byte | data[at] << 8) >> 2
                    at += 1
                elif byte & 4:
                    place = (byte | data[at] << 8 | data[at + 1] << 16) >> 3
                    at += 2
                else:
                    break
                location = attributes[place]
                if location.__class__ is not FileLineColLoc:
                    location = self._location(place, at)
                for length, shapes in groups:
                    if (shape := shapes.get(data[at : at + length])) is not None:
                        break
                else:
                    break
                at += length
                operands: list[SSAValue] = []
                for _ in shape.operands:
                    if (byte := data[at]) & 1:
                        value = values[byte >> 1]
                        at += 1
                    elif byte & 2:
                        value = values[(byte | data[at + 1] << 8) >> 2]
                        at += 2
                    else:
                        index, at = parse_varint(data, at)
                        value = values[index]
                    if value is None:
                        return position, left, next_value, None
                    operands.append(value)
                if shape.by_types is not None:
                    key = tuple([id(operand._type) for operand in operands])
                    if (shape := shape.by_types.get(key)) is None:
                        break
                result_types = shape.result_types
                if next_value + len(result_types) > size:
                    break

                # All that follows changes the IR. Not in functions: a call takes 0.1 us.
                op = _new(shape.op_class)
                op.properties = shape.properties.copy()
                op.attributes = shape.attributes.copy()
                op.location = location  # pyright: ignore[reportAttributeAccessIssue]
                if result_types:
                    results: list[OpResult] = []
                    for index, type in enumerate(result_types):
                        result = _new(OpResult)
                        result._type = type
                        result.op = op
                        result.index = index
                        results.append(result)
                        values[next_value] = result
                        next_value += 1
                    op.results = SSAValues(results)
                if operands:
                    uses: list[Use] = []
                    for index, operand in enumerate(operands):
                        use = _new(Use)
                        use._operation = op
                        use._index = index
                        if (first := operand.first_use) is not None:
                            use._next_use = first
                            first._prev_use = use
                        operand.first_use = use
                        uses.append(use)
                    op._operands = SSAValues(operands)
                    op._operand_uses = tuple(uses)
                op.parent = block
                if last is None:
                    block._first_op = op
                else:
                    last._next_op = op
                    op._prev_op = last
                block._last_op = last = op
                position = at
                left -= 1
                if shape.has_regions:
                    entered = op
                    break
        except IndexError:  # cut, or a value that does not exist: no operation is made of it
            pass
        return position, left, next_value, entered
