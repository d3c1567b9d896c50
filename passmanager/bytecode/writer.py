"""The writing of modules as MLIR's bytecode.

Operations are visited twice: to collect what they refer to, and, when that is numbered, to be
written. What is equal for many operations is looked up by its identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import ModuleOp, UnknownLoc, UnregisteredOp
from xdsl.ir import Block, Operation, Region
from xdsl.traits import IsolatedFromAbove

from ..errors import PasslineError
from ..ir.location import place_of
from ..ir.walk import walk
from ..limits import deep_recursion
from .builtin_encoding import dictionary, encode
from .encoding import (
    BYTECODE,
    HAS_ATTRIBUTES,
    HAS_OPERANDS,
    HAS_PROPERTIES,
    HAS_REGIONS,
    HAS_RESULTS,
    HAS_SUCCESSORS,
    PRODUCER,
    VERSION,
    Section,
    Since,
    add_section,
    add_varint,
    varint,
)
from .entries import Entries, OpName, TableEntry, add_fields
from .property_encoding import PropertyFields, encode_properties

__all__ = ["write_bytecode"]


def write_bytecode(module: ModuleOp, ctx: Context, version: int = VERSION) -> bytes:
    """Return a module as bytecode of a version of the format.

    The resources of the dialects that are loaded in `ctx` are part of it. Errors: PasslineError
    for a version that is not known, and for a value that an operation isolated from above uses
    from outside. Source: MLIR's `BytecodeWriter.cpp`.
    """
    if not 0 <= version <= VERSION:
        raise PasslineError(f"no version {version} of bytecode; there are 0 to {VERSION}")
    with deep_recursion():
        return _Writer(version).write(module, ctx)


class _Head(NamedTuple):
    """What is equal for many operations."""

    name: OpName
    attributes: TableEntry | None
    properties: int | None
    kept: tuple[object, ...]
    """What the key has by its identity."""


class _Writer:
    def __init__(self, version: int) -> None:
        self._version = version
        self._entries = Entries(encode)
        self._properties: dict[PropertyFields, int] = {}
        self._heads: dict[object, _Head] = {}
        self._values: dict[int, int] = {}
        """The numbers of values, by the identity of these."""
        self._blocks: dict[int, int] = {}
        self._ops: dict[int, tuple[_Head, TableEntry, list[TableEntry]]] = {}
        """The head, the location and the result types of each operation, by its identity."""

    def write(self, module: ModuleOp, ctx: Context) -> bytes:
        for op in walk(module):
            self._collect(op)
        self._add_declared()
        entries, version = self._entries, self._version
        entries.number()
        content = self._operations(module)
        out = bytearray(BYTECODE)
        out += varint(version) + PRODUCER.encode() + b"\0"
        entries.add_dialects(out, version)
        entries.add_entries(out)
        add_section(out, Section.IR, (content,))
        self._add_resources(out, ctx)
        entries.add_strings(out)
        if version >= Since.PROPERTIES:
            part = bytearray(varint(len(self._properties)))
            for fields in self._properties:
                each = bytearray()
                for field in fields:
                    if isinstance(field, tuple):  # an attribute that may be missing
                        add_varint(each, field[0].number << 1 | 1)
                    else:
                        add_fields(each, (field,))
                part += varint(len(each)) + each
            add_section(out, Section.PROPERTIES, (part,))
        return bytes(out)

    def _add_declared(self) -> None:
        for handle in self._entries.resources:
            self._entries.string(handle)

    # 1. Collecting

    def _head(self, op: Operation) -> _Head:
        """Return the head of an operation, collected when it is first met."""
        properties, attributes = op.properties, op.attributes
        key = (
            op.__class__,
            op.name if attributes else None,
            *[(name, id(value)) for name, value in properties.items()],
            None,
            *[(name, id(value)) for name, value in attributes.items()],
        )
        if (known := self._heads.get(key)) is None:
            known = self._heads[key] = self._new_head(op)
        else:
            known.name.uses += 1
            if known.attributes is not None:
                known.attributes.uses += 1
        return known

    def _new_head(self, op: Operation) -> _Head:
        name, others = op.name, dict(op.attributes)
        if isinstance(op, UnregisteredOp):
            name = op.op_name.data
            others.pop("op_name__", None)
        entries, version = self._entries, self._version
        index = None
        fields, is_registered = None, True
        if version < Since.PROPERTIES:
            others = {**others, **op.properties}
        else:
            fields, is_registered, others = encode_properties(entries, op, name, others, version)
        if fields is not None:
            index = self._properties.setdefault(fields, len(self._properties))
        entry = entries.fields(dictionary(entries, [*others.items()])) if others else None
        kept = (*op.properties.values(), *op.attributes.values())
        return _Head(entries.op_name(name, is_registered), entry, index, kept)

    def _collect(self, op: Operation) -> None:
        """Collect what an operation refers to, without those in its regions."""
        entries = self._entries
        self._ops[id(op)] = (
            self._head(op),
            entries.attribute(op.location),
            [entries.type(result.type) for result in op.results],
        )
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    entries.type(argument.type)
                    entries.attribute(argument.location)

    # 2. Writing

    def _operations(self, module: ModuleOp) -> bytearray:
        """Return the content of the section of operations."""
        out = bytearray(varint(1 << 1))
        outer: list[tuple[bytearray, Iterator[Region], Iterator[Block], Iterator[Operation], int]]
        outer = []
        regions, blocks = iter(list[Region]()), iter(list[Block]())
        ops: Iterator[Operation] = iter((module,))
        count = 0
        while True:
            for op in ops:
                is_isolated = self._add_op(out, op, count)
                if op.regions:
                    outer.append((out, regions, blocks, ops, count))
                    if is_isolated:
                        count = 0
                        if self._version >= Since.REGION_SECTIONS:
                            out = bytearray()
                    regions, blocks, ops = iter(op.regions), iter(()), iter(())
                    break
            else:
                if (block := next(blocks, None)) is not None:
                    self._add_block(out, block)
                    ops = iter(block.ops)
                elif (region := next(regions, None)) is not None:
                    # All regions of an operation number their values from the same one on.
                    count = self._add_region(out, region, self._base(outer, region))
                    blocks = iter(region.blocks)
                elif not outer:
                    return out
                else:
                    inner = out
                    out, regions, blocks, ops, count = outer.pop()
                    if inner is not out:
                        add_section(out, Section.IR, (inner,))

    def _base(self, outer: Sequence[tuple[object, object, object, object, int]], region: Region):
        op = region.parent
        assert op is not None
        return 0 if _is_isolated(op) else outer[-1][4]

    def _add_region(self, out: bytearray, region: Region, base: int) -> int:
        """Append the head of a region, number its values from `base` on, and return the next
        number."""
        count, number, values = 0, base, self._values
        for block in region.blocks:
            self._blocks[id(block)] = count
            count += 1
            for argument in block.args:
                values[id(argument)] = number
                number += 1
            for op in block.ops:
                for result in op.results:
                    values[id(result)] = number
                    number += 1
        add_varint(out, count)
        if count:
            add_varint(out, number - base)
        return number

    def _add_block(self, out: bytearray, block: Block) -> None:
        entries = self._entries
        add_varint(out, sum(1 for _ in block.ops) << 1 | bool(block.args))
        if not block.args:
            return
        add_varint(out, len(block.args))
        for argument in block.args:
            type, location = entries.type(argument.type), argument.location
            if self._version < Since.ELIDED_LOCATIONS:
                add_varint(out, type.number)
            elif isinstance(location, UnknownLoc):
                add_varint(out, type.number << 1)
                continue
            else:
                add_varint(out, type.number << 1 | 1)
            add_varint(out, entries.attribute(location).number)
        if self._version >= Since.USE_ORDERS:
            out.append(0)

    def _add_op(self, out: bytearray, op: Operation, count: int) -> bool:
        """Append an operation without its regions; return whether it is isolated from above."""
        head, location, types = self._ops[id(op)]
        add_varint(out, head.name.number)
        mask_at = len(out)
        mask = 0
        out.append(0)
        add_varint(out, location.number)
        if head.attributes is not None:
            mask |= HAS_ATTRIBUTES
            add_varint(out, head.attributes.number)
        if head.properties is not None:
            mask |= HAS_PROPERTIES
            add_varint(out, head.properties)
        if types:
            mask |= HAS_RESULTS
            add_varint(out, len(types))
            for type in types:
                add_varint(out, type.number)
        if operands := op.operands:
            mask |= HAS_OPERANDS
            add_varint(out, len(operands))
            numbers = self._values
            for operand in operands:
                number = numbers.get(id(operand), count)
                if number >= count:
                    raise PasslineError(f"'{op.name}'{place_of(op)} uses a value out of scope")
                add_varint(out, number)
        if successors := op.successors:
            mask |= HAS_SUCCESSORS
            add_varint(out, len(successors))
            for block in successors:
                add_varint(out, self._blocks[id(block)])
        is_isolated = False
        if op.regions:
            mask |= HAS_REGIONS
            is_isolated = _is_isolated(op)
            add_varint(out, len(op.regions) << 1 | is_isolated)
        out[mask_at] = mask
        return is_isolated

    def _add_resources(self, out: bytearray, ctx: Context) -> None:
        """Append the resources that the module refers to."""
        entries = self._entries
        if not entries.resources:
            return
        interface = None
        for dialect in ctx.loaded_dialects:
            if dialect.name == "builtin":
                interface = dialect.get_interface(OpAsmDialectInterface)
        offsets, content = bytearray(varint(0)), bytearray()
        add_varint(offsets, entries.dialect("builtin"))
        add_varint(offsets, len(entries.resources))
        most = 1
        for handle in entries.resources:
            text = interface.lookup(handle) if interface is not None else None
            start = len(content)
            if text:
                blob = bytes.fromhex(text.removeprefix("0x"))
                alignment = int.from_bytes(blob[:4], "little")
                most = max(most, alignment)
                content += varint(alignment) + varint(len(blob) - 4)
                content += b"\xcb" * (-len(content) % alignment) + blob[4:]
            offsets += varint(entries.string(handle)) + varint(len(content) - start) + b"\0"
        add_section(out, Section.RESOURCE_OFFSETS, (offsets,))
        add_section(out, Section.RESOURCE, (content,), most)


def _is_isolated(op: Operation) -> bool:
    return op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
