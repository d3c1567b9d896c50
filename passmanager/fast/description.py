"""Descriptions of IR, apart from any printer but that of xDSL's attributes: to compare IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from textwrap import shorten
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.core import OpOperands
from xdsl.utils.exceptions import ParseError

__all__ = ["attempt", "description", "difference", "read", "texts", "values_of"]


def read(reader: Callable[..., ModuleOp], *arguments: object) -> tuple[str, ModuleOp | None]:
    """Return a module as text and itself, or the message with which it is refused, and None."""
    from ..ir.text.syntax_errors import InvalidText, parse_errors

    try:
        module = reader(*arguments)
    except (ParseError, InvalidText) as error:
        return "\n".join(f"{e.span.start}-{e.span.end}: {e.msg}" for e in parse_errors(error)), None
    except Exception as error:
        return f"{type(error).__name__}: {error}", None
    return description(module), module


def attempt(work: Callable[..., str], *arguments: object) -> str:
    """Return the result of some work, or the error with which it fails."""
    try:
        return work(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def description(module: Operation) -> str:
    """Return all that there is of a module: ops, values with their names and uses, attributes."""
    values, blocks, ops = dict[SSAValue, str](), dict[object, str](), dict[Operation, int]()
    for number, op in enumerate(module.walk()):
        ops[op] = number
        for value in values_of(op):
            values[value] = f"%{len(values)}"
        for region in op.regions:
            for block in region.blocks:
                blocks[block] = f"^{len(blocks)}"
    return "\n".join(_lines(module, values, blocks, ops))


def _lines(
    root: Operation,
    values: dict[SSAValue, str],
    blocks: dict[object, str],
    ops: dict[Operation, int],
) -> Iterator[str]:
    for op in root.walk():
        yield " ".join(
            (
                f"{ops[op]} {op.name} {type(op).__name__} in {blocks.get(op.parent)}",
                f"({', '.join(values.get(operand, '?') for operand in op.operands)})",
                f"{[blocks.get(block) for block in op.successors]}",
                f"<{texts(op.properties)}> {{{texts(op.attributes)}}} at {texts(op.location)}",
            )
        )
        for value in values_of(op):
            uses = [(ops.get(use.operation), use.index) for use in value.uses]
            yield f"  {values[value]} {value.name_hint} {texts(value.type)} {uses}"
        for region in op.regions:
            yield f"  {[f'{blocks[b]} {b.name_hint} {len(b.args)}' for b in region.blocks]}"


def values_of(op: Operation) -> list[SSAValue]:
    """Return the results of an op, and the arguments of its blocks."""
    return [*op.results, *(arg for r in op.regions for block in r.blocks for arg in block.args)]


def texts(fields: object) -> str:
    """Return the text of fields of an op, of operations, values and blocks only the class."""
    if isinstance(fields, Attribute):
        if id(fields) not in _KNOWN:  # xDSL needs some 50 us for each
            _KNOWN[id(fields)] = fields, attempt(str, fields)
        return _KNOWN[id(fields)][1]
    if isinstance(fields, SSAValue):
        value = cast(SSAValue, fields)
        return f"{type(value).__name__} {texts(value.type)} {value.name_hint}"
    if isinstance(fields, dict):
        named = cast(dict[str, object], fields)
        return ", ".join([f"{name} = {texts(value)}" for name, value in named.items()])
    if isinstance(fields, tuple | list | OpOperands):
        return ", ".join([texts(value) for value in cast(Sequence[object], fields)])
    return type(fields).__name__


def difference(expected: str, found: str) -> str:
    """Return the first line in which two texts differ, in both."""
    lines = zip_longest(expected.split("\n"), found.split("\n"), fillvalue="nothing")
    one, other = next(pair for pair in lines if pair[0] != pair[1])
    return f"'{shorten(one, 100)}' is '{shorten(other, 100)}'"


_KNOWN: dict[int, tuple[Attribute, str]] = {}
