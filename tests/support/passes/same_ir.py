"""The comparison of modules down to their locations, name hints, and the order of uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from xdsl.context import Context
from xdsl.dialects.builtin import DenseResourceAttr, ModuleOp, UnregisteredOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError

from passline.passmanager.fast.reading.locating_parser import LocatingParser
from passline.passmanager.fast.reading.memoizing_parser import MemoizingParser
from passline.passmanager.ir.walk import walk

__all__ = ["describe", "parse", "parsed_alike"]


def describe(module: ModuleOp) -> list[object]:
    """Return all of a module as a flat list that is equal for equal modules only."""
    numbers: dict[SSAValue | Block | Operation, int] = {}
    for op in walk(module):
        for node in (op, *op.results, *_blocks(op), *(a for b in _blocks(op) for a in b.args)):
            numbers[node] = len(numbers)
    return [item for op in walk(module) for item in _describe_op(op, numbers)]


def _blocks(op: Operation) -> list[Block]:
    return [block for region in op.regions for block in region.blocks]


def _describe_op(
    op: Operation, numbers: dict[SSAValue | Block | Operation, int]
) -> Iterator[object]:
    # Each unregistered op has a class of its own.
    yield UnregisteredOp if isinstance(op, UnregisteredOp) else type(op)
    yield op.location
    yield [numbers[value] for value in op.operands]
    yield [numbers[block] for block in op.successors]
    yield [(name, _describe_attribute(value)) for name, value in op.properties.items()]
    yield [(name, _describe_attribute(value)) for name, value in op.attributes.items()]
    for result in op.results:
        yield from _describe_value(result, numbers)
    for region in op.regions:
        yield len(region.blocks)
    for block in _blocks(op):
        yield block.name_hint
        yield [numbers[inner] for inner in block.ops]
        for arg in block.args:
            yield arg.location
            yield from _describe_value(arg, numbers)


def _describe_attribute(attribute: Attribute) -> object:
    if isinstance(attribute, DenseResourceAttr):
        # xDSL renames a resource whose name was used before, also in another file.
        handle = re.sub(r"(_[0-9]+)+$", "", attribute.resource_handle.data)
        return handle, attribute.type
    return attribute


def _describe_value(
    value: SSAValue, numbers: dict[SSAValue | Block | Operation, int]
) -> Iterator[object]:
    yield value.type
    yield value.name_hint
    yield [(numbers.get(use.operation), use.index) for use in value.uses]


def parse(parser: LocatingParser) -> list[object]:
    """Return the description of the module, or of the error, that a parser gives."""
    try:
        return describe(parser.parse_module())
    except ParseError as error:
        spans = [error.span]
        if isinstance(error, MultipleSpansParseError):
            spans += [span for span, _ in error.refs]
        return [
            str(error),
            *((span.start, span.end, replace(span, line_offset=0)) for span in spans),
        ]
    except Exception as error:  # xDSL's parsers of types and attributes raise others, too
        return [type(error), str(error)]


def parsed_alike(context: Context, text: str) -> int | None:
    """Return how many lines were read by their shape if the parser that remembers shapes and the
    plain one give the same for a text, None otherwise.
    """
    results: list[list[object]] = []
    lines = 0
    for parser_class in (MemoizingParser, LocatingParser):
        try:
            parser = parser_class(context, text, "a.mlir")
        except ParseError as error:
            results.append([str(error)])
            continue
        results.append(parse(parser))
        if isinstance(parser, MemoizingParser):
            lines = parser.lines_by_shape
            if "before closing string literal" in str(results[0][0]):
                return lines  # xDSL's lexer takes exponential time for such a string
    return lines if results[0] == results[1] else None
