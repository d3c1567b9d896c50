"""Templates of the text of operations: all but the names of values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    NoneAttr,
    SymbolRefAttr,
    TensorType,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove

from .signatures import is_of_signature, reads_its_op_alone

LONGEST = 2000
"""Texts that are longer are not kept: large constants are rarely printed twice."""

PRINTS_SIGNATURE = {
    "xdsl.dialects.arith": {"CmpfOp.print", "CmpiOp.print"},
    "xdsl.dialects.memref": {"AllocOp.print"},
    "xdsl.dialects.scf": {"ForOp.print", "IfOp.print", "WhileOp.print"},
    "xdsl.dialects.tensor": {"EmptyOp.print"},
}
"""xDSL's own methods that print what is in the signature of the op alone, by module."""


class OpTemplate(NamedTuple):
    """The text of all ops of a signature."""

    format: str
    """The text for the `%` operator, with a place for each name."""
    slots: tuple[int, ...]
    """The value that is named in each place, as its index among results and operands."""


RegionFlags: TypeAlias = tuple[bool, bool, bool]
"""How a region is printed: the parameters of `print_region`."""


class RegionTemplate(NamedTuple):
    """The text around the regions of all ops of a signature."""

    head: OpTemplate
    regions: tuple[tuple[int, RegionFlags, OpTemplate], ...]
    """Regions in the order of their text: index, flags, and the text behind it."""


def has_template(op_class: type[Operation], generic: bool) -> bool:
    """Return whether the text of an op without regions and successors depends on its signature and
    the names of its values alone.
    """
    return has_region_template(op_class, generic) or (
        not _has_scope(op_class) and _has_format(op_class, is_of_signature)
    )


def has_region_template(op_class: type[Operation], generic: bool) -> bool:
    """Return whether the text of an op around its regions depends on its signature, the first
    blocks of the regions (see `is_of_signature`) and the names of its values alone.
    """
    if _has_scope(op_class):
        return False
    printer = op_class.print
    if generic or printer is Operation.print or is_of_signature(printer):
        return True
    known = PRINTS_SIGNATURE.get(printer.__module__, ())
    return printer.__qualname__ in known and reads_its_op_alone(printer)


def _has_scope(op_class: type[Operation]) -> bool:
    """Return whether the operands of an op are named in a scope of their own."""
    return not issubclass(op_class, UnregisteredOp) and bool(
        op_class.get_traits_of_type(IsolatedFromAbove)
    )


_DIRECTIVES = {("xdsl.dialects.utils.dynamic_index_list", "DynamicIndexList")}
"""xDSL's own directives that print what is in the signature alone, and read no types."""


def has_declarative_format(op_class: type[Operation]) -> bool:
    """Return whether ops are printed from a declarative format that has no directives of its
    author's but those of `_DIRECTIVES`.
    """
    return _has_format(op_class, lambda printer: False)


def _has_format(op_class: type[Operation], is_known: Callable[[object], bool]) -> bool:
    """Return whether ops are printed from a declarative format that has no directives but those of
    `_DIRECTIVES`, and those whose `print` is known."""
    if not issubclass(op_class, IRDLOperation) or op_class.print.__name__ != "print_with_format":
        return False
    # The decorator that sets `print` sets the definition, too: a subclass may have replaced one.
    owners = {_owner(op_class, "print"), _owner(op_class, "get_irdl_definition")}
    definition = op_class.get_irdl_definition()
    if len(owners) > 1 or (format := definition.assembly_format) is None:
        return False
    return all(
        (directive.__module__, directive.__qualname__) in _DIRECTIVES or is_known(directive.print)
        for name, directive in definition.custom_directives.items()
        if f"custom<{name}>" in format
    )


def _owner(op_class: type[Operation], name: str) -> type | None:
    return next((base for base in op_class.__mro__ if name in vars(base)), None)


def make_template(
    values: Sequence[SSAValue], pieces: Sequence[str], named: Sequence[tuple[int, SSAValue]]
) -> OpTemplate | None:
    """Return the template of the text of an op, or None if the text is not fit.

    The op has these `values`, results first. The text is given in pieces, and `named` tells which
    of these is the name of which value. Text of several lines depends on the indentation, and
    other values than the op's own may differ.
    """
    # For `%2 = arith.addi %0, %1 : i32` the format is `%%%s = arith.addi %%%s, %%%s : i32`, and the
    # slots are 0 (the result), 1 and 2.
    text = "".join(pieces)
    if len(text) > LONGEST or "\n" in text:
        return None
    ids = [*map(id, values)]
    slots: list[int] = []
    format, end = "", 0
    for at, value in named:
        if id(value) not in ids:
            return None
        format += "".join(pieces[end:at]).replace("%", "%%") + "%%%s"
        slots.append(ids.index(id(value)))
        end = at + 1
    format += "".join(pieces[end:]).replace("%", "%%")
    return OpTemplate(format, (*slots,))


def repetition(values: Sequence[SSAValue]) -> tuple[int, ...] | None:
    """Return where each value occurs first, or None if all are different.

    Of an op that uses a value twice one cannot tell which operand is printed where. Its template is
    right for ops with the same repetition only.
    """
    ids = [*map(id, values)]
    return tuple(map(ids.index, ids)) if len({*ids}) < len(ids) else None


_plain_name = re.compile(r"[a-zA-Z_][a-zA-Z0-9_$.]*").fullmatch


def shape_text(type: Attribute) -> str | None:
    """Return the text before the element type of a tensor without encoding, or a buffer without
    layout and memory space; None for other types and attributes.
    """
    match type:
        case TensorType(encoding=NoneAttr()):
            name, shape = "tensor", type.get_shape()
        case MemRefType(layout=NoneAttr(), memory_space=NoneAttr()):
            name, shape = "memref", type.get_shape()
        case _:
            return None
    if any(size.bit_length() > 64 for size in shape):  # not valid, but printed, in hexadecimal
        return None
    return f"{name}<{''.join('?x' if size == DYNAMIC_INDEX else f'{size}x' for size in shape)}"


def plain_symbol(callee: Attribute | None) -> str:
    """Return the name of a symbol that is printed without quotes; empty for others."""
    if not isinstance(callee, SymbolRefAttr) or callee.nested_references:
        return ""
    name = callee.root_reference.data
    return name if _plain_name(name) else ""


class TemplateParts:
    """The text of an op that is printed for the first time, around its regions."""

    def __init__(self, op: Operation, values: tuple[SSAValue, ...], start: int) -> None:
        self.start = start
        """Where the current part starts in the pieces of the printer."""
        self.regions: list[tuple[Region, RegionFlags]] = []
        self._op = op
        self._values = values
        self._texts: list[OpTemplate | None] = []

    def cut(self, pieces: list[str], record: list[tuple[int, SSAValue]]) -> None:
        """End the current part."""
        named = [(at - self.start, value) for at, value in record]
        self._texts.append(make_template(self._values, pieces[self.start :], named))

    def template(self) -> RegionTemplate | None:
        """Return the template, or None if a part is not fit."""
        texts = [text for text in self._texts if text is not None]
        own = [*self._op.regions]
        if len(texts) < len(self._texts) or any(r not in own for r, _ in self.regions):
            return None
        rest = zip(self.regions, texts[1:])
        parts = (*((own.index(region), flags, text) for (region, flags), text in rest),)
        return RegionTemplate(texts[0], parts)
