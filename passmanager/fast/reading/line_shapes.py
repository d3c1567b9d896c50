"""The shapes of lines of IR: the text of an op without the names of its values.

Lines repeat: `%7 = arith.addf %3, %x : f32` differs from the next one in its names alone. The shape
decides all else of an op: class, properties, attributes, result types, which name is which operand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    DenseArrayBase,
    DenseResourceAttr,
    IntegerType,
    LocationAttr,
    i64,
)
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, TypeAttribute
from xdsl.traits import IsTerminator
from xdsl.utils.lexer import Position

from ...ir.per_class import PerClass
from ..creation import append_op, is_plain, set_operands, set_results
from .lexer import SUFFIX_ID

# pyright: reportPrivateUsage=false


Values: TypeAlias = dict[str, tuple[SSAValue, ...]]
"""The values in scope, by the names in the text; one name stands for all results of an op."""

split_names = re.compile(f"%({SUFFIX_ID})").split
"""Split a line into the texts between the names of values, at even places, and these names."""


def shape_key(parts: Sequence[str]) -> str:
    """Return the text of a line without names, given as `split_names` gives it.

    The texts are joined by a character that no line contains.
    """
    # Names count by their place in the line alone: `addi %a, %b` and `addi %b, %a` have one shape.
    return "\n".join(parts[::2])


def name_columns(parts: Sequence[str]) -> Iterator[int]:
    """Yield where the names of a line start, given as `split_names` gives it."""
    column = 0
    for text, name in zip(parts[::2], parts[1::2], strict=False):
        column += len(text)
        yield column
        column += 1 + len(name)


@dataclass(slots=True)
class BodyShape:
    """The region of an op whose line opens it: `scf.for %i = %a to %b step %c {`.

    It has one block, and nothing of the op follows the brace that closes it.
    """

    arguments: tuple[tuple[int, Attribute], ...]
    """For each argument of the block, the place of its name in the line, and its type."""
    last_op: type[Operation]
    """The class of the terminator."""
    terminator: LineShape | None
    """The terminator that the op adds to a body without one, if it does."""
    regions: int
    """The number of regions; those after the first are empty."""

    def finish(self, block: Block) -> bool:
        """Add a terminator to a block if the op does so; return False if it is not known what the
        op does about the last op of the block.
        """
        last = block.last_op
        if last is not None and last.has_trait(IsTerminator, value_if_unregistered=False):
            return type(last) is self.last_op and not last._operands
        if self.terminator is None:
            return False
        append_op(block, self.terminator.create((), UNKNOWN_LOC))
        return True


@dataclass(slots=True)
class LineShape:
    """The op of a line, but for its values: a prototype from which ops of equal lines are made."""

    op_class: type[Operation]
    operands: tuple[tuple[int, Attribute], ...]
    """For each operand, the place of its name in the line, and its type."""
    names: int
    """The number of names that the line gives to the results: all or none."""
    result_types: tuple[Attribute, ...]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    location: LocationAttr | None
    """The location that the text gives."""
    column: int
    """The start of the op's name in the line, without the names of the results."""
    body: BodyShape | None = None
    """The region of the op, if the line opens one."""
    followers: set[str] = field(default_factory=set[str])
    """The texts that the parser has found after such an op, as `follower` gives them."""

    def operand_values(self, names: Sequence[str], values: Values) -> list[SSAValue] | None:
        """Return the operands in a line with these names; None if one is not a single value in
        scope, or has another type.
        """
        found: list[SSAValue] = []
        try:
            for place, type in self.operands:
                (value,) = values[names[place]]
                # The text of an op may leave a type out that its operands decide: the line of `%c =
                # add %a, %b` is that of another op if these have another type.
                if value._type is not type and value._type != type:
                    return None
                found.append(value)
        except (KeyError, ValueError):
            return None
        return found

    def with_types(
        self, operands: Sequence[Attribute], results: Sequence[Attribute]
    ) -> LineShape | None:
        """Return the shape of the line with other types; None if it has not as many."""
        if len(operands) != len(self.operands) or len(results) != len(self.result_types):
            return None
        places = (place for place, _ in self.operands)
        return replace(self, operands=(*zip(places, operands),), result_types=(*results,))

    def create(self, operands: Sequence[SSAValue], location: LocationAttr) -> Operation:
        """Create the op of a line with these operands."""
        op = object.__new__(self.op_class)
        set_operands(op, operands)
        set_results(op, self.result_types)
        op.properties = self.properties.copy()
        op.attributes = self.attributes.copy()
        op.location = location
        return op


def learn_body(
    op: Operation,
    parts: Sequence[str],
    values: Values,
    column: int,
    locations: Sequence[LocationAttr],
) -> LineShape | None:
    """Return the shape of a line that opens the first region of `op`, which has no results and no
    other region that is not empty; None if the line does not determine it. What is in `parts`,
    `values` and `column` is as in `learn`.

    `locations` are those of the names in the line, by which the block's arguments are found.
    """
    if op.results or not _may_repeat(op):
        return None
    if any(region.first_block is not None for region in op.regions[1:]):
        return None
    if (block := op.regions[0].first_block) is None or block.next_block is not None:
        return None
    names = parts[1::2]
    operands = {place: found[0] for place, name in enumerate(names) if (found := values.get(name))}
    # A name in the line that is not an operand is that of a block argument, if one has its place.
    by_location = {arg.location: arg for arg in block.args}
    arguments = {
        place: by_location.get(location)
        for place, location in enumerate(locations)
        if place not in operands
    }
    places = {value: place for place, value in operands.items()}
    if (
        len({*names}) != len(names)
        or not len(op._operands) == len(operands) == len(places)
        or any(value not in places for value in op._operands)
        or [*arguments.values()] != [*block.args]
        or (last := block.last_op) is None
        or not last.has_trait(IsTerminator, value_if_unregistered=False)
    ):
        return None
    if last._operands or last.results or last.regions:
        return None
    added = None
    if last.location == UNKNOWN_LOC:  # parsed ops have a location
        properties, attributes = last.properties.copy(), last.attributes.copy()
        added = LineShape(type(last), (), 0, (), properties, attributes, None, 0)
    return LineShape(
        type(op),
        tuple((places[value], value._type) for value in op._operands),
        0,
        (),
        op.properties.copy(),
        op.attributes.copy(),
        None,
        column,
        BodyShape(
            tuple(zip(arguments, op.regions[0].block.arg_types, strict=True)),
            type(last),
            added,
            len(op.regions),
        ),
    )


def learn(
    op: Operation, parts: Sequence[str], values: Values, column: int, location: LocationAttr | None
) -> LineShape | None:
    """Return the shape of a line that was parsed as `op`; None if the line does not determine it.

    `parts` is the line as `split_names` gives it, `column` the start of the op's name in it, and
    `location` that in the text.
    """
    if op.regions or not _may_repeat(op):
        return None
    names = parts[1::2]
    results = op.results
    bound = len(names) - len(op._operands)
    # The line binds all results or none (an op may end without `%r =`); a name that occurs twice
    # would be two operands of which one cannot be told from the other.
    if bound not in (0, len(results)) or len({*names}) != len(names):
        return None
    # Each name must be that of one operand: a name elsewhere is not understood.
    places: dict[SSAValue, int] = {}
    for place in range(bound, len(names)):
        if len(found := values.get(names[place], ())) != 1:
            return None
        places[found[0]] = place
    if len(places) != len(op._operands) or any(value not in places for value in op._operands):
        return None
    if [values.get(name) for name in names[:bound]] != [(result,) for result in results[:bound]]:
        return None
    if not bound and any(result._name is not None for result in results):
        return None
    return LineShape(
        type(op),
        tuple((places[value], value._type) for value in op._operands),
        bound,
        tuple(result._type for result in results),
        op.properties.copy(),
        op.attributes.copy(),
        location,
        # Names of other lengths shift the column.
        column - sum(1 + len(name) for name in names[:bound]),
    )


ends_with_type = PerClass[Operation, bool](
    lambda cls: cls is CallOp or getattr(cls.parse, "of_function_type", False) is True
)
"""Whether the text of an op of a class ends with the type of a function from its operands to its
results, and nothing else of the op depends on this type."""


def _may_repeat(op: Operation) -> bool:
    """Return whether an op can stand for others: it has no successors and no state of its class,
    and no resource, whose elements come at the end of the file.
    """
    resources = any(isinstance(value, DenseResourceAttr) for value in op.properties.values())
    return is_plain[type(op)] and not op._successors and not resources


_word = re.compile(r"[a-zA-Z_][a-zA-Z0-9_$.]*").match


def follower(text: str, position: Position) -> str:
    """Return what tells a parser at a position whether an op ends there: a character, or a word
    without a dot; all words with a dot are names of ops, and count as one.
    """
    if (word := _word(text, position)) is None:
        return text[position : position + 1]
    return "." if "." in word[0] else word[0]


def before_clause(parts: list[str]) -> tuple[str, str]:
    """Return the text of a line without names before its last colon, and the text behind it."""
    before, _, text = parts[-1].rpartition(" : ")
    return "\n".join((*parts[:-1:2], before)), text


_list = re.compile(r"\[((?:-?[0-9]{1,18}(?:, -?[0-9]{1,18})*)?)\]")


def around_lists(key: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the texts around the lists of integers in the text of a line, and the numbers in these
    lists."""
    texts = _list.split(key)
    return (*texts[::2],), texts[1::2]


def integers(text: str) -> DenseArrayBase[IntegerType]:
    """Return a list of integers as the property that it is read as."""
    return DenseArrayBase.from_list(i64, [*map(int, text.split(", "))] if text else [])


def any_shape(name: str, element: str, rest: str) -> str:
    """Return the key of types that differ in their shapes alone, from the texts before and after
    the shape. It is no text of a type: a line has no line break."""
    return f"{name}\n{element}{rest}"


class TypesAtEnd(NamedTuple):
    """The types at the end of a line, and its text without names before these types."""

    key: str
    callee: str
    """The name of the function that is called, which is not in the key; empty if none is."""
    operands: list[TypeAttribute]
    results: list[TypeAttribute]


class ScopedValues(dict[str, tuple[SSAValue, ...]]):
    """The values in scope by their names, which xDSL copies at the start of each region: that is
    quadratic. As no name is defined twice, it is enough to forget the ones that came last.
    """

    def copy(self) -> Mark:  # pyright: ignore[reportIncompatibleMethodOverride]
        return Mark(len(self))

    def forget(self, mark: Mark) -> None:
        """Forget the values that were defined after a mark."""
        while len(self) > mark.count:
            self.popitem()


class Mark:
    """The start of a region: the number of values in scope before it."""

    def __init__(self, count: int) -> None:
        self.count = count
