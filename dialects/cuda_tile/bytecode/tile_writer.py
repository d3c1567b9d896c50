"""The writing of Tile IR bytecode, which NVIDIA's `tileiras` assembles.

A file has a header, and sections of which each but the last has a length: global variables,
entries, constants, debug information, types, producer, strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import accumulate

from xdsl.dialects.builtin import ArrayAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from ....passmanager.errors import InvalidIRError
from ....passmanager.limits import deep_recursion
from ..attributes import OptimizationHintsAttr
from ..module_ops import EntryOp, GlobalOp, ModuleOp
from .fields import STRING, TAGGED, TYPE, FieldEncoder, OutputFile, no_promise, type_of
from .op_formats import FIELDS, VISIBILITY, OpFormat, format_of, since
from .streams import MAGIC, OutputTable, TileOutput
from .type_formats import node_index, write_type

IS_KERNEL, HAS_HINTS = 2, 4
"""The bits of an entry."""
ALWAYS_HINTS = (13, 5)
"""The first version in which each entry has hints, and attributes of its parameters."""
EXTENDED_GLOBALS = PRODUCER = (13, 3)


class TileSection(IntEnum):
    """The kinds of sections."""

    END = 0
    STRING = 1
    FUNCTION = 2
    DEBUG = 3
    CONSTANT = 4
    TYPE = 5
    GLOBAL = 6
    PRODUCER = 7


def write_tile_bytecode(module: ModuleOp, version: tuple[int, int] = (13, 3)) -> bytes:
    """Return a module as Tile IR bytecode of a version, 13.1 to 13.5.

    Locations that are fused with a scope (`debug_info`) are written, and those of calls; others are
    not. Errors: PasslineError for what the version does not have.
    """
    file = OutputFile(version, write_type)
    ops = list(module.body.ops)
    if odd := [op for op in ops if not isinstance(op, EntryOp | GlobalOp)]:
        raise InvalidIRError(
            f"'{odd[0].name}' in cuda_tile.module: bytecode has entries and global variables only",
            odd[0],
        )
    out = TileOutput()
    out.data += MAGIC + bytes((*version, 0, 0))
    with deep_recursion():
        variables = _globals(file, [op for op in ops if isinstance(op, GlobalOp)])
        entries, locations = _entries(file, [op for op in ops if isinstance(op, EntryOp)])
    if variables is not None:
        _section(out, TileSection.GLOBAL, variables)
    _section(out, TileSection.FUNCTION, entries, 8)
    if file.constants.entries:
        _section(out, TileSection.CONSTANT, _table(file.constants), 8)
    if locations:
        _section(out, TileSection.DEBUG, _debug_info(file, locations), 8)
    _section(out, TileSection.TYPE, _table(file.types), 4)
    if module.producer is not None and version >= PRODUCER:
        producer = FieldEncoder(file)
        STRING.put(producer, module.producer)
        _section(out, TileSection.PRODUCER, producer)
    _section(out, TileSection.STRING, _table(file.strings), 4)
    out.data.append(TileSection.END)
    return bytes(out.data)


def _section(out: TileOutput, kind: TileSection, content: TileOutput, alignment: int = 1) -> None:
    out.data.append(kind | (0x80 if alignment > 1 else 0))
    out.varint(len(content.data))
    if alignment > 1:
        out.varint(alignment)
        out.align(alignment)
    out.data += content.data


def _table(table: OutputTable) -> TileOutput:
    out = TileOutput()
    table.write(out)
    return out


def _globals(file: OutputFile, ops: Sequence[GlobalOp]) -> FieldEncoder | None:
    if not ops:
        return None
    out = FieldEncoder(file)
    out.varint(len(ops))
    for op in ops:
        STRING.put(out, op.sym_name)
        TYPE.put(out, type_of(op.value))
        FIELDS["value"].put(out, op.value)
        FIELDS["alignment"].put(out, op.alignment)
        if file.version >= EXTENDED_GLOBALS:
            VISIBILITY.put(out, op.symbol_visibility)
            out.varint(int(op.constant is not None))
        elif op.constant is not None or op.symbol_visibility.data != "public":
            file.require(EXTENDED_GLOBALS, f"global variable @{op.sym_name.data}")
    return out


def _entries(file: OutputFile, ops: Sequence[EntryOp]) -> tuple[FieldEncoder, list[list[int]]]:
    """Return the section of entries, and the locations of those that have some."""
    out, locations = FieldEncoder(file), list[list[int]]()
    out.varint(len(ops))
    for op in ops:
        if found := _EntryWriter(file).write(op, out, len(locations) + 1):
            locations.append(found)
    return out, locations


def _debug_info(file: OutputFile, locations: Sequence[Sequence[int]]) -> TileOutput:
    """Return the section with the locations of the operations of each entry."""
    out = TileOutput()
    out.varint(len(locations))
    out.align(4)
    *starts, total = accumulate(map(len, locations), initial=0)
    for start in starts:
        out.fixed(start, 4)
    out.varint(total)
    out.align(8)
    for index in (index for indices in locations for index in indices):
        out.fixed(index, 8)
    table = file.debug_info
    if not table.entries:  # the readers of NVIDIA accept no empty table
        table.index(UnknownLoc(), lambda: b"\0")
    table.write(out)
    return out


class _EntryWriter:
    """The writer of one entry, with the numbers of the values that are in scope."""

    def __init__(self, file: OutputFile) -> None:
        self.file = file
        self.numbers: dict[SSAValue, int] = {}
        self.locations: list[int] = []
        """The locations of the entry and its operations."""

    def write(self, op: EntryOp, out: FieldEncoder, place: int) -> list[int]:
        """Append the entry, whose locations are those at `place` of the section; return them, none
        if the entry itself has none."""
        hints, is_new = op.optimization_hints, self.file.version >= ALWAYS_HINTS
        hints = hints or (OptimizationHintsAttr({}) if is_new else None)
        self.locations.append(node_index(self.file, op.location))
        body = FieldEncoder(self.file)
        self._define(op.body.block.args)
        for inner in op.body.block.ops:
            self._op(inner, body)
        STRING.put(out, op.sym_name)
        TYPE.put(out, op.function_type)
        out.fixed(IS_KERNEL | (HAS_HINTS if hints and not is_new else 0), 1)
        out.varint(place if self.locations[0] else 0)
        if hints is not None:
            TAGGED.put(out, hints)
        if is_new:
            TAGGED.put(out, ArrayAttr[Attribute](()))  # the attributes of parameters
        out.varint(len(body.data))
        out.data += body.data
        return self.locations if self.locations[0] else []

    def _define(self, values: Sequence[SSAValue]) -> None:
        for value in values:
            self.numbers[value] = len(self.numbers)

    def _op(self, op: Operation, out: FieldEncoder) -> None:
        form = format_of(type(op)) if isinstance(op, IRDLOperation) else None
        if form is None:
            raise InvalidIRError(f"Tile IR bytecode has no operation '{op.name}'", op)
        try:
            self.file.require(form.since, f"'{op.name}'")
            self.locations.append(node_index(self.file, op.location))
            out.varint(form.opcode)
            results = self._results(op, form, out)
            groups = [_group(op, name) for name, _ in form.operands]
            self._properties(op, form, groups, out)
            self._operands(form, groups, out)
        except KeyError as e:
            raise InvalidIRError(f"'{op.name}' uses a value that is not defined", op) from e
        if op.regions:
            out.varint(len(op.regions))
        for region in op.regions:
            out.varint(len(region.blocks))
            for block in region.blocks:
                self._block(block, out)
        self._define(results)

    def _results(self, op: Operation, form: OpFormat, out: FieldEncoder) -> Sequence[SSAValue]:
        """Write the types of the results; return those that this version has."""
        results = op.results
        if form.name == "print_tko" and self.file.version < (needed := since("print_tko", "token")):
            if any(result.uses for result in results):
                self.file.require(needed, f"the result of '{op.name}'")
            results = ()
        if form.counts_results:
            out.varint(len(results))
        for result in results:
            TYPE.put(out, result.type)
        return results

    def _properties(
        self,
        op: Operation,
        form: OpFormat,
        groups: Sequence[Sequence[SSAValue]],
        out: FieldEncoder,
    ) -> None:
        version = self.file.version
        present = {*op.properties, *(o.name for o, group in zip(form.operands, groups) if group)}
        for name, needed in form.flags:
            if name in present:
                self.file.require(needed, f"'{name}' of '{op.name}'")
        if flags := form.flags_in(version):
            out.varint(sum((name in present) << i for i, name in enumerate(flags)))
        for name, codec, is_optional, needed, default in form.properties:
            value = op.properties.get(name)
            if name == "inbounds":
                default = no_promise(len(_group(op, "index")))
                value = value or default
            if value is None and not is_optional:
                raise InvalidIRError(f"'{op.name}' has no property '{name}'", op)
            if needed > version and not is_optional and value != default:
                self.file.require(needed, f"'{name}' of '{op.name}'")
            if needed <= version and value is not None:
                codec.put(out, value)

    def _operands(
        self, form: OpFormat, groups: Sequence[Sequence[SSAValue]], out: FieldEncoder
    ) -> None:
        if form.is_counted:
            out.varint(sum(map(len, groups)))
        for (_, kind), group in zip(form.operands, groups):
            if form.is_segmented and kind == "variadic":
                out.varint(len(group))
            for value in group:
                out.varint(self.numbers[value])

    def _block(self, block: Block, out: FieldEncoder) -> None:
        before = len(self.numbers)
        out.varint(len(block.args))
        for argument in block.args:
            TYPE.put(out, argument.type)
        self._define(block.args)
        out.varint(len(block.ops))
        for op in block.ops:
            self._op(op, out)
        while len(self.numbers) > before:
            self.numbers.popitem()


def _group(op: Operation, name: str) -> Sequence[SSAValue]:
    """Return the operands of a definition."""
    found: SSAValue | Sequence[SSAValue] | None = getattr(op, name)
    return () if found is None else (found,) if isinstance(found, SSAValue) else found
